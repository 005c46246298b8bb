# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record

class Fifo(Record):
    def __init__(self) -> None: ...

class Red(Record):
    def __init__(
        self,
        min_th: float | None = ...,
        max_th: float | None = ...,
        max_p: float | None = ...,
        w_q: float | None = ...,
        gentle: bool | None = ...,
        wait: bool | None = ...,
        bytes: bool | None = ...,
        adaptive: bool | None = ...,
        ecn: bool | None = ...,
        mark_p: float | None = ...,
        mean_packet: int | None = ...,
        idle_decay: bool | None = ...,
        target_delay: float | str | None = ...,
        interval: float | str | None = ...,
        bottom: float | None = ...,
        top: float | None = ...,
    ) -> None: ...

class Rio(Record):
    def __init__(
        self,
        in_min_th: float | None = ...,
        in_max_th: float | None = ...,
        in_max_p: float | None = ...,
        out_min_th: float | None = ...,
        out_max_th: float | None = ...,
        out_max_p: float | None = ...,
        w_q: float | None = ...,
        gentle: bool | None = ...,
        wait: bool | None = ...,
        ecn: bool | None = ...,
        mean_packet: int | None = ...,
    ) -> None: ...

class Drr(Record):
    def __init__(
        self,
        quantum: float | str | None = ...,
        victim: Any = ...,
        longest: Any = ...,
        aqm: Record | str | dict[str, Any] | None = ...,
    ) -> None: ...

class Fq(Record):
    def __init__(
        self,
        weights: list[Any] | tuple[Any, ...] | None = ...,
        virtual_time: Any = ...,
        victim: Any = ...,
        longest: Any = ...,
        aqm: Record | str | dict[str, Any] | None = ...,
    ) -> None: ...

class Wf2qPlus(Record):
    def __init__(
        self,
        weights: list[Any] | tuple[Any, ...] | None = ...,
        victim: Any = ...,
        longest: Any = ...,
        aqm: Record | str | dict[str, Any] | None = ...,
    ) -> None: ...

class Hpfq(Record):
    def __init__(
        self,
        classes: list[Any] | tuple[Any, ...] | None = ...,
        victim: Any = ...,
        longest: Any = ...,
    ) -> None: ...

class Priority(Record):
    def __init__(
        self,
        classes: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class Wrr(Record):
    def __init__(
        self,
        classes: list[Any] | tuple[Any, ...] | None = ...,
        quantum: float | str | None = ...,
    ) -> None: ...

class CoreStateless(Record):
    def __init__(
        self,
        role: Any = ...,
        weights: list[Any] | tuple[Any, ...] | None = ...,
        k: float | str | None = ...,
        k_link: float | str | None = ...,
        k_congested: float | str | None = ...,
        threshold: float | str | None = ...,
    ) -> None: ...

class Sfq(Record):
    def __init__(
        self,
        buckets: int | None = ...,
        rule: Any = ...,
        salt: int | None = ...,
    ) -> None: ...

class Codel(Record):
    def __init__(
        self,
        target: float | str | None = ...,
        interval: float | str | None = ...,
        mtu: int | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class FqCodel(Record):
    def __init__(
        self,
        queues: int | None = ...,
        quantum: float | str | None = ...,
        target: float | str | None = ...,
        interval: float | str | None = ...,
        ecn: bool | None = ...,
        drop_batch: int | None = ...,
        salt: int | None = ...,
    ) -> None: ...

class Pie(Record):
    def __init__(
        self,
        target: float | str | None = ...,
        update: float | str | None = ...,
        max_burst: float | str | None = ...,
        alpha: float | None = ...,
        beta: float | None = ...,
        delay: Any = ...,
        dq_threshold: float | str | None = ...,
        derandomise: bool | None = ...,
        cap: bool | None = ...,
        ecn: bool | None = ...,
        mark_ecnth: float | None = ...,
        mean_packet: int | None = ...,
    ) -> None: ...

class Green(Record):
    def __init__(
        self,
        c: float | None = ...,
        count: Any = ...,
        window: float | str | None = ...,
        n: float | None = ...,
        rtt: Any = ...,
        draw: Any = ...,
        low: float | None = ...,
        high: float | None = ...,
        lifetime: float | str | None = ...,
        table: list[Any] | tuple[Any, ...] | None = ...,
        scale: float | None = ...,
        mss: int | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class Fred(Record):
    def __init__(
        self,
        min_th: float | None = ...,
        max_th: float | None = ...,
        max_p: float | None = ...,
        w_q: float | None = ...,
        min_q: int | None = ...,
        many_flows: bool | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class Blue(Record):
    def __init__(
        self,
        d1: float | None = ...,
        d2: float | None = ...,
        freeze: float | str | None = ...,
        threshold: int | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class Sfb(Record):
    def __init__(
        self,
        levels: int | None = ...,
        bins: int | None = ...,
        d1: float | None = ...,
        d2: float | None = ...,
        freeze: float | str | None = ...,
        target: int | None = ...,
        max: int | None = ...,
        rehash: float | str | None = ...,
        warmup: float | str | None = ...,
        penalty_rate: float | None = ...,
        penalty_burst: float | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class Sred(Record):
    def __init__(
        self,
        zombies: int | None = ...,
        overwrite: float | None = ...,
        max_p: float | None = ...,
        full: bool | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class Afd(Record):
    def __init__(
        self,
        shadow: int | None = ...,
        sample: float | None = ...,
        target: float | None = ...,
        update: float | str | None = ...,
        alpha: float | None = ...,
        beta: float | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class Rem(Record):
    def __init__(
        self,
        update: float | str | None = ...,
        gamma: float | None = ...,
        alpha: float | None = ...,
        phi: float | None = ...,
        target: float | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class Decbit(Record):
    def __init__(
        self,
        threshold: float | None = ...,
    ) -> None: ...
