# Written by `python -m ackclock.stubs`; do not edit.
from ackclock.catalogue import Record

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
