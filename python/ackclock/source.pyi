# Written by `python -m ackclock.stubs`; do not edit.
from ackclock.catalogue import Record

class Cbr(Record):
    def __init__(
        self,
        rate: float | str | None = ...,
        size: float | str | None = ...,
    ) -> None: ...
