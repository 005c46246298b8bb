# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record

class Poisson(Record):
    def __init__(
        self,
        rate: float | None = ...,
        load: float | str | None = ...,
        sizes: Any = ...,
        start: float | str | None = ...,
        until: float | str | None = ...,
        count: int | None = ...,
        pairs: int | None = ...,
        schedule: list[Any] | tuple[Any, ...] | None = ...,
        period: float | str | None = ...,
    ) -> None: ...

class Trace(Record):
    def __init__(
        self,
        arrivals: list[Any] | tuple[Any, ...] | None = ...,
        until: float | str | None = ...,
        count: int | None = ...,
        file: str | None = ...,
    ) -> None: ...
