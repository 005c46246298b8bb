# Written by `python tools/write_stubs.py`; do not edit.
from typing import Literal

from ackclock.catalogue.records import Record

class UniformPairs(Record):
    """Uniform pairs without replacement."""
    def __init__(self) -> None: ...

class ExponentialPairs(Record):
    r"""Pairs with exponentially skewed sources.

    exponent: Exponent lambda. Range: at least 0.
    ranks: Over what the exponential runs.
    """
    def __init__(
        self,
        exponent: float | None = 0.01,
        ranks: Literal["index", "fraction"] | None = "index",
    ) -> None: ...

class ZipfPairs(Record):
    r"""Pairs with sources by Zipf's law.

    exponent: Exponent s. Range: at least 0.
    """
    def __init__(
        self,
        exponent: float | None = 1.0,
    ) -> None: ...

class Incast(Record):
    r"""Incast: all to one.

    receiver: Place of the receiver among the hosts, from 0. Range: at least 0.
    """
    def __init__(
        self,
        receiver: int | None = ...,
    ) -> None: ...

class LogNormal(Record):
    r"""Log-normal traffic matrix.

    sigma: Standard deviation of the natural logarithm of a demand. Range: from 0 to 20.
    """
    def __init__(
        self,
        sigma: float | None = 1.74,
    ) -> None: ...
