# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class Naive(Record):
    """Naive fire-hose."""
    def __init__(self) -> None: ...

class FullBalanced(Record):
    """Full-balanced sender."""
    def __init__(self) -> None: ...

class FullShare(Record):
    """Full-share sender."""
    def __init__(self) -> None: ...

class NaiveRatio(Record):
    r"""Naive ratio sender.

    alpha: Fraction by which the demand exceeds the goodput. Range: at least 0.
    """
    def __init__(
        self,
        alpha: float | None = 0.2,
    ) -> None: ...

class LimitedRatio(Record):
    r"""Limited ratio sender.

    alpha: Fraction by which the demand exceeds the goodput. Range: at least 0.
    """
    def __init__(
        self,
        alpha: float | None = 0.2,
    ) -> None: ...

class LossLoad(Record):
    r"""Loss-load sender.

    k: Penalty: the power of a flow's rate to which its loss is proportional. Range: more than 0 and at most 64.
    """
    def __init__(
        self,
        k: float | None = 10.0,
    ) -> None: ...
