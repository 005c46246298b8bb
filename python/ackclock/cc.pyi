# Written by `python -m ackclock.stubs`; do not edit.
from ackclock.catalogue import Record

class Aimd(Record):
    def __init__(
        self,
        increase: float | None = ...,
        decrease: float | None = ...,
    ) -> None: ...

class Vegas(Record):
    def __init__(
        self,
        alpha: float | None = ...,
        beta: float | None = ...,
    ) -> None: ...

class Cubic(Record):
    def __init__(
        self,
        c: float | None = ...,
        beta: float | None = ...,
    ) -> None: ...

class Fast(Record):
    def __init__(
        self,
        alpha: float | None = ...,
        gamma: float | None = ...,
        interval: float | str | None = ...,
    ) -> None: ...
