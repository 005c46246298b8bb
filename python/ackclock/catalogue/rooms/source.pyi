# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record

class Cbr(Record):
    def __init__(
        self,
        rate: float | str | None = ...,
        packet: float | str | None = ...,
        jitter: float | None = ...,
        schedule: list[Any] | tuple[Any, ...] | None = ...,
        periods: list[Any] | tuple[Any, ...] | None = ...,
    ) -> None: ...

class ExponentialOnOff(Record):
    def __init__(
        self,
        rate: float | str | None = ...,
        packet: float | str | None = ...,
        burst: float | str | None = ...,
        idle: float | str | None = ...,
    ) -> None: ...

class ParetoOnOff(Record):
    def __init__(
        self,
        rate: float | str | None = ...,
        packet: float | str | None = ...,
        burst: float | str | None = ...,
        idle: float | str | None = ...,
        shape: float | None = ...,
    ) -> None: ...

class Trace(Record):
    def __init__(
        self,
        packets: list[Any] | tuple[Any, ...] | None = ...,
        packet: float | str | None = ...,
        file: str | None = ...,
    ) -> None: ...

class Tfrc(Record):
    def __init__(
        self,
        packet: float | str | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...
