# Written by `python tools/write_stubs.py`; do not edit.
from ackclock.catalogue.records import Record

class All(Record):
    """All layers."""
    def __init__(self) -> None: ...

class Fixed(Record):
    r"""Fixed number of layers.

    layers: Layers to hold. Range: from 1 to 32.
    """
    def __init__(
        self,
        layers: int | None = 1,
    ) -> None: ...

class Plm(Record):
    r"""PLM.

    check: Check interval C: layers are added at most once in this time. Range: at least 1e-6 s.
    timeout: A layer is dropped when no packet arrives for this time. Range: at least 1e-6 s.
    loss: Loss ratio above which a layer is dropped. Range: more than 0 and at most 1.
    blind: Interval of the loss measurement. Range: at least 1e-6 s.
    """
    def __init__(
        self,
        check: float | str | None = 1,
        timeout: float | str | None = 0.5,
        loss: float | None = 0.1,
        blind: float | str | None = 0.5,
    ) -> None: ...

class Rlm(Record):
    r"""RLM.

    join_min: Least join timer and its first value. Range: at least 1e-6 s.
    join_max: Largest join timer, at least `join_min`. Range: at least 0 s.
    alpha: Factor of a join timer after a failed experiment. Range: at least 1.
    beta: Factor of a join timer after a detection time without loss. Range: more than 0 and at most 1.
    detection: First mean of the detection time. Range: at least 1e-6 s.
    loss: Loss ratio above which the measurement drops a layer. Range: more than 0 and less than 1.
    shared: Shared learning: announce experiments, and learn from those of others.
    """
    def __init__(
        self,
        join_min: float | str | None = 5,
        join_max: float | str | None = 600,
        alpha: float | None = 2.0,
        beta: float | None = 0.6666666666666666,
        detection: float | str | None = 2,
        loss: float | None = 0.25,
        shared: bool | None = True,
    ) -> None: ...
