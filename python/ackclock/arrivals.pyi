# Written by `python -m ackclock.stubs`; do not edit.
from ackclock.catalogue import Record

class UniformPairs(Record):
    def __init__(
        self,
        n: int | None = ...,
        spread: float | str | None = ...,
    ) -> None: ...
