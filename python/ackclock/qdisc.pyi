# Written by `python -m ackclock.stubs`; do not edit.
from ackclock.catalogue import Record

class Fifo(Record):
    def __init__(self) -> None: ...

class Red(Record):
    def __init__(
        self,
        min_th: float | None = ...,
        max_th: float | None = ...,
        max_p: float | None = ...,
        ecn: bool | None = ...,
        gentle: bool | None = ...,
    ) -> None: ...

class Codel(Record):
    def __init__(
        self,
        target: float | str | None = ...,
        interval: float | str | None = ...,
        ecn: bool | None = ...,
    ) -> None: ...

class Drr(Record):
    def __init__(
        self,
        quantum: int | None = ...,
    ) -> None: ...

class Fq(Record):
    def __init__(self) -> None: ...
