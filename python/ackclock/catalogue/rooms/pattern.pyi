# Written by `python tools/write_stubs.py`; do not edit.
from typing import Any, Literal

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
    random: Receiver and senders are drawn at random.
    """
    def __init__(
        self,
        receiver: int | None = ...,
        random: bool | None = False,
    ) -> None: ...

class LogNormal(Record):
    r"""Log-normal traffic matrix.

    sigma: Standard deviation of the natural logarithm of a demand. Range: from 0 to 20.
    """
    def __init__(
        self,
        sigma: float | None = 1.74,
    ) -> None: ...

class RingAllReduce(Record):
    r"""All-reduce in a ring.

    operations: So many operations, one after another: a host takes part in the next when its part of the one before is over. Range: from 1 to 1000000.
    compute: Time that a host computes between the end of its part of an operation and the next. Range: at least 0 s.
    """
    def __init__(
        self,
        operations: int | None = 1,
        compute: float | str | None = 0,
    ) -> None: ...

class TreeAllReduce(Record):
    r"""All-reduce over a binomial tree.

    operations: So many operations, one after another: a host takes part in the next when its part of the one before is over. Range: from 1 to 1000000.
    compute: Time that a host computes between the end of its part of an operation and the next. Range: at least 0 s.
    """
    def __init__(
        self,
        operations: int | None = 1,
        compute: float | str | None = 0,
    ) -> None: ...

class HalvingDoubling(Record):
    r"""All-reduce by halving and doubling.

    operations: So many operations, one after another: a host takes part in the next when its part of the one before is over. Range: from 1 to 1000000.
    compute: Time that a host computes between the end of its part of an operation and the next. Range: at least 0 s.
    """
    def __init__(
        self,
        operations: int | None = 1,
        compute: float | str | None = 0,
    ) -> None: ...

class AllToAll(Record):
    r"""All-to-all in rounds.

    operations: So many operations, one after another: a host takes part in the next when its part of the one before is over. Range: from 1 to 1000000.
    compute: Time that a host computes between the end of its part of an operation and the next. Range: at least 0 s.
    """
    def __init__(
        self,
        operations: int | None = 1,
        compute: float | str | None = 0,
    ) -> None: ...

class Listed(Record):
    r"""Transfers of a list.

    transfers: Transfers, each after those that it waits for.
    file: A connection matrix of htsim (`.cm`) or a schedule in GOAL (`.goal`).
    """
    def __init__(
        self,
        transfers: list[Any] | tuple[Any, ...] | None = ...,
        file: str | None = ...,
    ) -> None: ...
