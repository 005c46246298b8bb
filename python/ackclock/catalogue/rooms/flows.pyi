# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record
from ackclock.catalogue.user_types import AnyControl, AnyQueue

class Flow(Record):
    def __init__(
        self,
        id: str | None = ...,
        pair: int | None = ...,
        src: str | None = ...,
        dst: str | None = ...,
        between: Record | str | dict[str, Any] | None = ...,
        hosts: Any = ...,
        route: list[Any] | tuple[Any, ...] | None = ...,
        ack_route: list[Any] | tuple[Any, ...] | None = ...,
        start: float | str | None = ...,
        start_jitter: float | str | None = ...,
        stop: float | str | None = ...,
        size: float | str | None = ...,
        every: float | str | None = ...,
        cc: AnyControl | None = ...,
        recovery: Record | str | dict[str, Any] | None = ...,
        slow_start: Record | str | dict[str, Any] | None = ...,
        source: Record | str | dict[str, Any] | None = ...,
        dscp: int | str | None = ...,
        tcp: Any = ...,
        count: int | None = ...,
        stagger: float | str | None = ...,
    ) -> None: ...

class Group(Record):
    def __init__(
        self,
        id: str | None = ...,
        src: str | None = ...,
        receivers: list[Any] | tuple[Any, ...] | None = ...,
        layers: list[Any] | tuple[Any, ...] | None = ...,
        control: Record | str | dict[str, Any] | None = ...,
        packet: float | str | None = ...,
        start: float | str | None = ...,
        stop: float | str | None = ...,
        stagger: float | str | None = ...,
    ) -> None: ...

class LinkChange(Record):
    def __init__(
        self,
        link: Any,
        rate: float | str | None = ...,
        delay: float | str | None = ...,
        mtu: float | str | None = ...,
        buffer: str | None = ...,
        qdisc: AnyQueue | None = ...,
        weight: float | None = ...,
        loss: float | None = ...,
        schedule: Any = ...,
        drop: list[Any] | tuple[Any, ...] | None = ...,
        impairments: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class TcpOptions(Record):
    def __init__(
        self,
        mss: int | None = ...,
        header: int | None = ...,
        ack_size: int | None = ...,
        initial_window: int | None = ...,
        initial_ssthresh: float | None = ...,
        receiver_window: int | None = ...,
        delayed_ack: int | None = ...,
        delayed_ack_timeout: float | str | None = ...,
        syn: bool | None = ...,
        timestamps: bool | None = ...,
        ecn: bool | None = ...,
        accecn: bool | None = ...,
        dsack: bool | None = ...,
        eifel: bool | None = ...,
        frto: bool | None = ...,
        out_of_profile: bool | None = ...,
        first_priority: int | None = ...,
        aqt: bool | None = ...,
        limited_transmit: bool | None = ...,
        idle_restart: bool | None = ...,
        min_rto: float | str | None = ...,
        max_rto: float | str | None = ...,
        initial_rto: float | str | None = ...,
        tick: float | str | None = ...,
        boot: float | str | None = ...,
        max_burst: int | None = ...,
        ns2: dict[str, Any] | None = ...,
    ) -> None: ...

class Traffic(Record):
    def __init__(
        self,
        generator: Record | str | dict[str, Any],
        flow: Any = ...,
    ) -> None: ...
