"""Bandwidth patterns as a search sees them: a few levels, each for a time, repeated.

A pattern of K levels is 2K numbers in [0, 1]: rates on a logarithmic scale from a twentieth of the
peak to the peak, durations on one from 0.1 s, about a round trip, to 20 s. `simpler` gives the
patterns next to one that are simpler to describe.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["LONGEST_S", "SHORTEST_S", "PathShape"]

SHORTEST_S, LONGEST_S = 0.1, 20.0
LOWEST = 0.05
"""Least rate as a part of the peak."""

ROUND_S = (0.1, 0.2, 0.3, 0.5, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 15.0, 20.0)
ROUND_RATES = (0.05, 0.1, 0.2, 0.3, 0.5, 0.8, 1.0)


@dataclass(frozen=True)
class PathShape:
    """Levels in turn: a rate as a part of the peak, and how long it holds [s]."""

    levels: tuple[tuple[float, float], ...]

    @classmethod
    def of(cls, numbers: Sequence[float]) -> PathShape:
        """Make one of 2K numbers in [0, 1], rates first.

        Parameters
        ----------
        numbers
            From a search.
        """
        half = len(numbers) // 2
        levels = []
        for rate, length in zip(numbers[:half], numbers[half:], strict=True):
            share = LOWEST ** (1.0 - rate)
            seconds = SHORTEST_S * (LONGEST_S / SHORTEST_S) ** length
            levels.append((round(share, 3), round(seconds, 1)))
        return cls(tuple(levels))

    @property
    def period_s(self) -> float:
        """Time after which it repeats [s]."""
        return sum(seconds for _, seconds in self.levels)

    def steps(self, peak_bps: float) -> list[dict[str, Any]]:
        """The steps of one turn as an environment has them.

        Parameters
        ----------
        peak_bps
            Rate per test flow at level 1 [bit/s].
        """
        steps: list[dict[str, Any]] = []
        time_s = 0.0
        for share, seconds in self.levels:
            steps.append({"at": round(time_s, 3), "rate": round(share * peak_bps)})
            time_s += seconds
        return steps

    def simpler(self) -> Iterator[PathShape]:
        """Patterns a step simpler: a level less, or a rate or a time rounded."""
        levels = self.levels
        for i in range(1, len(levels)):
            if levels[i][0] == levels[i - 1][0]:
                merged = (levels[i][0], round(levels[i - 1][1] + levels[i][1], 1))
                yield PathShape((*levels[: i - 1], merged, *levels[i + 1 :]))
        if len(levels) > 1:
            for i in range(len(levels)):
                yield PathShape(levels[:i] + levels[i + 1 :])
        for i, (share, seconds) in enumerate(levels):
            for near in _near(share, ROUND_RATES):
                yield PathShape((*levels[:i], (near, seconds), *levels[i + 1 :]))
            for near in _near(seconds, ROUND_S):
                yield PathShape((*levels[:i], (share, near), *levels[i + 1 :]))

    def describe(self, peak_bps: float) -> str:
        """Describe the pattern in one line.

        Parameters
        ----------
        peak_bps
            Rate per test flow at level 1 [bit/s].
        """
        level_texts = [
            f"{share * peak_bps / 1e6:g} Mbit/s for {seconds:g} s" for share, seconds in self.levels
        ]
        return ", ".join(level_texts) + (", in turn" if len(level_texts) > 1 else "")


def _near(value: float, known: Sequence[float]) -> list[float]:
    """Round values next to one, the nearest first; none if it is round."""
    if any(math.isclose(value, other) for other in known):
        return []
    return sorted(known, key=lambda other: abs(math.log(other / value)))[:2]
