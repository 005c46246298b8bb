"""Finds how much of a series is a warm-up, by MSER-5, and whether that moves the mean."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

__all__ = ["WarmUp", "find_warm_up"]

BATCH = 5
"""Values of a batch, whose means the rule looks at."""

FEWEST = 8
"""Batches that a series must have for its truncation to say anything."""

LONG = 10
"""Long batches of what is left, whose means give its standard error."""

LEAST_MOVE = 0.01
"""Relative change of the mean from which on a warm-up is worth saying."""

LEAST_ERRORS = 4.0
"""Standard errors by which what is cut off differs from the rest: of series without a warm-up, 300
values with a correlation of 0.5 from one to the next, 0.8 % are said to have one."""


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
    data = np.asarray(values, dtype=float)
    count = len(data) // BATCH
    if count < FEWEST or not np.isfinite(data).all():
        return None
    batches = data[: count * BATCH].reshape(count, BATCH).mean(axis=1)
    left = count - np.arange(count)
    total, squares = (np.cumsum((batches**power)[::-1])[::-1] for power in (1, 2))
    statistic = (squares - total**2 / left) / left**2
    cut = int(np.argmin(statistic[: count // 2 + 1]))
    if cut == 0:
        return None
    rest = batches[cut:]
    means = float(data.mean()), float(data[cut * BATCH :].mean())
    found = WarmUp(cut * BATCH, *means, is_longer=cut == count // 2)
    if found.mean_after == 0 or abs(found.move) < LEAST_MOVE:
        return None
    # Neighbours in a series are alike, so the error is that of long batches.
    length = max(len(rest) // LONG, 1)
    long = rest[: len(rest) // length * length].reshape(-1, length).mean(axis=1)
    error = float(long.std(ddof=1)) / len(long) ** 0.5
    apart = abs(float(batches[:cut].mean() - rest.mean()))
    return found if apart >= LEAST_ERRORS * error * (1 + len(rest) / cut) ** 0.5 else None
