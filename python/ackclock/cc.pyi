# Written by `python -m ackclock.stubs`; do not edit.
from typing import Any

from ackclock.catalogue import Record

class Aimd(Record):
    def __init__(
        self,
        a: float | None = ...,
        b: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
    ) -> None: ...

class Aiad(Record):
    def __init__(
        self,
        a: float | None = ...,
        d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
    ) -> None: ...

class Mimd(Record):
    def __init__(
        self,
        a: float | None = ...,
        b: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
    ) -> None: ...

class Miad(Record):
    def __init__(
        self,
        a: float | None = ...,
        d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
    ) -> None: ...

class Aimad(Record):
    def __init__(
        self,
        a_i: float | None = ...,
        a_d: float | None = ...,
        b_d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
    ) -> None: ...

class Maimd(Record):
    def __init__(
        self,
        a_i: float | None = ...,
        b_i: float | None = ...,
        b_d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
    ) -> None: ...

class Linear(Record):
    def __init__(
        self,
        a_i: float | None = ...,
        b_i: float | None = ...,
        a_d: float | None = ...,
        b_d: float | None = ...,
        count: Any = ...,
        first_cut: Any = ...,
    ) -> None: ...

class Cubic(Record):
    def __init__(
        self,
        c: float | None = ...,
        beta: float | None = ...,
        fast_convergence: bool | None = ...,
        reno_friendly: bool | None = ...,
    ) -> None: ...

class Vegas(Record):
    def __init__(
        self,
        alpha: float | None = ...,
        beta: float | None = ...,
        gamma: float | None = ...,
        loss_factor: float | None = ...,
    ) -> None: ...
