# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class MaxMin(Record):
    def __init__(self) -> None: ...

class Proportional(Record):
    def __init__(self) -> None: ...

class LossLoad(Record):
    def __init__(
        self,
        k: float | None = ...,
    ) -> None: ...

class AlphaFair(Record):
    def __init__(
        self,
        alpha: float | None = ...,
    ) -> None: ...
