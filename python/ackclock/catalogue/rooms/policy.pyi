# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class Naive(Record):
    def __init__(self) -> None: ...

class FullBalanced(Record):
    def __init__(self) -> None: ...

class FullShare(Record):
    def __init__(self) -> None: ...

class NaiveRatio(Record):
    def __init__(
        self,
        alpha: float | None = ...,
    ) -> None: ...

class LimitedRatio(Record):
    def __init__(
        self,
        alpha: float | None = ...,
    ) -> None: ...

class LossLoad(Record):
    def __init__(
        self,
        k: float | None = ...,
    ) -> None: ...
