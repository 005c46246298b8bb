# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any

from ackclock.catalogue.records import Record

class UniformPairs(Record):
    def __init__(self) -> None: ...

class ExponentialPairs(Record):
    def __init__(
        self,
        exponent: float | None = ...,
        ranks: Any = ...,
    ) -> None: ...

class ZipfPairs(Record):
    def __init__(
        self,
        exponent: float | None = ...,
    ) -> None: ...

class LogNormal(Record):
    def __init__(
        self,
        sigma: float | None = ...,
    ) -> None: ...
