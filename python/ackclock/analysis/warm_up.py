"""Finds how much of a series is a warm-up, by MSER-5, and whether that moves the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ackclock import _core

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import numpy.typing as npt

__all__ = ["WarmUp", "find_warm_up"]


class WarmUp(NamedTuple):
    """A warm-up that was found in a series.

    Parameters
    ----------
    length
        Values to leave out.
    mean
        Of all values.
    mean_after
        Of those that are left.
    is_longer
        It is half of the series, the most that is looked at: it may be longer.
    """

    length: int
    mean: float
    mean_after: float
    is_longer: bool = False

    @property
    def move(self) -> float:
        """How far the mean lies from that of the values that are left, relative to it."""
        return (self.mean - self.mean_after) / abs(self.mean_after)


def find_warm_up(values: Sequence[float] | npt.NDArray[np.float64]) -> WarmUp | None:
    """Find a warm-up by MSER-5: the truncation with the least standard error of the mean.

    Parameters
    ----------
    values
        Of one run, at equal intervals.

    Returns
    -------
    WarmUp or None
        None where nothing is to be cut off, where the mean moves by less than 1 %, or where what is
        cut off differs by less than four standard errors.

    References
    ----------
    K. P. White, "An effective truncation heuristic for bias reduction in simulation output",
    Simulation 69 (1997), 323-334; K. P. White, M. J. Cobb and S. C. Spratt, "A comparison of five
    steady-state truncation heuristics for simulation", Winter Simulation Conference 2000, 755-760.
    """
    found = _core.find_warm_up([float(value) for value in values])
    return None if found is None else WarmUp(*found)
