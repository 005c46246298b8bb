# Written by `python -m ackclock.stubs`; do not edit.
from ackclock.catalogue import Record

class Reno(Record):
    def __init__(self) -> None: ...

class Newreno(Record):
    def __init__(self) -> None: ...

class Sack(Record):
    def __init__(
        self,
        dup_threshold: int | None = ...,
    ) -> None: ...
