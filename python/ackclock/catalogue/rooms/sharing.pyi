# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class MaxMin(Record):
    """Max-min fair link, a brick wall."""
    def __init__(self) -> None: ...

class Proportional(Record):
    """Proportional drops, as in a FIFO queue."""
    def __init__(self) -> None: ...

class LossLoad(Record):
    r"""Loss-load router.

    k: Penalty: the power of a flow's rate to which its loss is proportional. Range: more than 0 and at most 64.
    """
    def __init__(
        self,
        k: float | None = 10.0,
    ) -> None: ...

class AlphaFair(Record):
    r"""Alpha-fair share of one link.

    alpha: Aversion to unequal rates, more than 0. Range: from 0 to 1000000.
    """
    def __init__(
        self,
        alpha: float | None = 1.0,
    ) -> None: ...

class Maxmin(MaxMin):
    """Another name of `MaxMin`."""
