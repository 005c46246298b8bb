"""Values of a group of runs, balanced: replicates that every point of the group has.

A mean over points whose replicates differ in number would weigh a point by how often it was
repeated, and a difference of two such means may have the wrong sign. So a replicate counts only
where every point of the group has it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ackclock.experiments.statistics import Method, equal_values, interval, most_differing

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.experiments.plan import Slot

__all__ = [
    "JITTER",
    "Cells",
    "Group",
    "RunMetric",
    "balance",
    "balance_pair",
    "describe_one_run",
    "one_run_points",
]

JITTER = 'start_jitter = "100 ms" in the flows starts them at random times'
"""What makes runs differ by their seeds."""


FEWEST_OF_BOOTSTRAP = 10
"""Values below which the BCa interval holds the mean less often than Student's t, also of normal
data (87.5 % of five values, where t has 95.7 %)."""


class RunMetric(NamedTuple):
    """A metric of one run, and what the run is known by: equal runs have equal digests."""

    value: float
    digest: str = ""


Cells = dict[Any, dict[int, RunMetric]]
"""Values of a group by point and replicate."""


@dataclass(frozen=True)
class Group:
    """Values over replicates, each the mean over the points of the group.

    Parameters
    ----------
    values
        By replicate; NaN where a point has no value.
    runs
        How many of the replicates differ in any digest of a run.
    unused
        Runs left out, for not every point has their replicate.
    points
        Points averaged over.
    middle
        Mean of the means of points, where no replicate is common to all; else None.
    """

    values: Mapping[int, float]
    runs: int
    unused: int = 0
    points: int = 1
    middle: float | None = None

    @property
    def measured(self) -> list[float]:
        """Values that are known."""
        return [value for value in self.values.values() if not math.isnan(value)]

    @property
    def is_one_run(self) -> bool:
        """Whether several replicates gave one and the same run, so that there is no interval."""
        return self.runs == 1 and len(self.values) > 1

    def interval(self, confidence: float, method: Method) -> tuple[float, float, float]:
        """Mean and ends of its interval; NaN where there is none.

        Parameters
        ----------
        confidence, method
            As of `ackclock.experiments.statistics.interval`.
        """
        if self.middle is not None:
            return self.middle, math.nan, math.nan
        if self.is_one_run:
            return interval(self.measured[:1], confidence, method)
        return interval(self.measured, confidence, method)

    def note(self, confidence: float = 0.95, method: Method = "t") -> str:
        """What a reader of the mean must know besides; empty if there is nothing.

        Parameters
        ----------
        confidence, method
            Of the interval.
        """
        reported = []
        count, present = len(self.values), self.measured
        if self.middle is not None:
            reported.append(
                "no replicate is common to all points: the mean of their means, without an interval"
            )
        elif self.unused:
            reported.append(
                f"{self.unused} run{'s' * (self.unused != 1)} left out: not every point has the"
                " replicate"
            )
        if len(present) < count:
            reported.append(f"{len(present)} of {count} have a value: the mean is of these alone")
        if self.is_one_run:
            reported.append(
                f"the {count} seeds give one and the same run, so there is no interval ({JITTER})"
            )
        elif equal_values(present):
            reported.append(
                f"all {len(present)} are equal: up to"
                f" {100 * most_differing(len(present), confidence):.0f} % of runs may differ"
            )
        if method == "bootstrap" and 2 <= len(present) < FEWEST_OF_BOOTSTRAP:
            reported.append(
                f"the bootstrap of {len(present)} values is too narrow; Student's t (method = t)"
                " errs less"
            )
        return "; ".join(reported)


def balance(cells: Cells, within: Sequence[int] | None = None) -> Group:
    """Average over points within each replicate that all points have.

    Parameters
    ----------
    cells
        Values by point and replicate.
    within
        Replicates that may count; left out: all.
    """
    common = set.intersection(*(set(of_point) for of_point in cells.values()))
    if within is not None:
        common &= set(within)
    replicates = sorted(common)
    values = {r: float(np.mean([of[r].value for of in cells.values()])) for r in replicates}
    runs = len({tuple(of[r].digest or str(r) for of in cells.values()) for r in replicates})
    unused = sum(r not in common for of in cells.values() for r in of)
    middle = None
    if not replicates and within is None:
        of_points = [
            [v.value for v in of.values() if not math.isnan(v.value)] for of in cells.values()
        ]
        middle = float(np.mean([np.mean(of) if of else math.nan for of in of_points]))
    return Group(values, runs, unused, len(cells), middle)


def balance_pair(first_cells: Cells, second_cells: Cells) -> tuple[Group, Group]:
    """Balance two groups over the same points and the same replicates.

    Parameters
    ----------
    one, other
        Values by point and replicate. Points that only one of them has are left out, unless none is
        common: then each side is averaged over its points.
    """
    common = [point for point in first_cells if point in second_cells]
    first = {point: first_cells[point] for point in common} if common else first_cells
    second = {point: second_cells[point] for point in common} if common else second_cells
    both = set.intersection(*(set(of) for of in (*first.values(), *second.values())))
    return balance(first, sorted(both)), balance(second, sorted(both))


def one_run_points(slots: Sequence[Slot], digests: Mapping[str, str]) -> set[int]:
    """Find the points of which several seeds give one and the same run.

    Parameters
    ----------
    slots
        Of a sweep.
    digests
        Of its runs, by their keys.
    """
    by_point: dict[int, list[str]] = {}
    for slot in slots:
        by_point.setdefault(slot.point, []).append(digests[slot.key])
    return {point for point, of in by_point.items() if len(of) > 1 and len(set(of)) == 1}


def describe_one_run(one_run: int, points: int) -> str:
    """Say how many points have one run, in one sentence; empty if none has.

    Parameters
    ----------
    one_run
        Points of which several seeds give one and the same run.
    points
        Points in all.
    """
    if not one_run:
        return ""
    which = "all points" if one_run == points else f"{one_run} of {points} points"
    return (
        f"At {which} all seeds give one and the same run: nothing in it is random, and intervals of"
        f" it have no width ({JITTER})."
    )
