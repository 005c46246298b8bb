# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class All(Record):
    def __init__(self) -> None: ...

class Fixed(Record):
    def __init__(
        self,
        layers: int | None = ...,
    ) -> None: ...

class Plm(Record):
    def __init__(
        self,
        check: float | str | None = ...,
        timeout: float | str | None = ...,
        loss: float | None = ...,
        blind: float | str | None = ...,
    ) -> None: ...

class Rlm(Record):
    def __init__(
        self,
        join_min: float | str | None = ...,
        join_max: float | str | None = ...,
        alpha: float | None = ...,
        beta: float | None = ...,
        detection: float | str | None = ...,
        loss: float | None = ...,
    ) -> None: ...
