# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record

class Jitter(Record):
    def __init__(
        self,
        shape: Any = ...,
        mean: float | str | None = ...,
        spread: float | str | None = ...,
        tail: float | None = ...,
        samples: list[Any] | tuple[Any, ...] | None = ...,
        keep_order: bool | None = ...,
    ) -> None: ...

class Wifi(Record):
    def __init__(
        self,
        jitter: float | str | None = ...,
        keep_order: bool | None = ...,
        steps: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class DelaySteps(Record):
    def __init__(
        self,
        steps: list[Any] | tuple[Any, ...] | None = ...,
        keep_order: bool | None = ...,
    ) -> None: ...

class Reorder(Record):
    def __init__(
        self,
        probability: float | None = ...,
        extent: float | str | None = ...,
    ) -> None: ...

class Duplicate(Record):
    def __init__(
        self,
        probability: float | None = ...,
    ) -> None: ...

class GilbertElliott(Record):
    def __init__(
        self,
        to_bad: float | None = ...,
        to_good: float | None = ...,
        loss_good: float | None = ...,
        loss_bad: float | None = ...,
    ) -> None: ...

class Arq(Record):
    def __init__(
        self,
        loss: float | None = ...,
        turnaround: float | str | None = ...,
        attempts: int | None = ...,
        in_order: bool | None = ...,
    ) -> None: ...

class Aggregation(Record):
    def __init__(
        self,
        interval: float | str | None = ...,
        thin_acks: bool | None = ...,
    ) -> None: ...
