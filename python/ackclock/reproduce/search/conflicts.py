"""Finds minimal sets of claims that are met nowhere together, each with its nearest miss."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = ["Conflict", "find_conflicts"]

LARGEST = 3
"""Claims in a set."""

EXPECTED = 3.0
"""Points that would meet a set by chance; with fewer, that none does says little (5 % at 3)."""


@dataclass(frozen=True)
class Conflict:
    """Claims that are met nowhere together in the space searched, though all but any one are.

    Parameters
    ----------
    claims
        Their ids.
    expected
        Points that would meet all if each were met independently of the others.
    nearest
        Place in the design of the point that comes nearest.
    votes
        Votes there.
    """

    claims: tuple[str, ...]
    expected: float
    nearest: int
    votes: Mapping[str, float]

    def to_dict(
        self, points: Sequence[Mapping[str, Any]], misses: Sequence[Mapping[str, str]]
    ) -> dict[str, Any]:
        """Give it as plain data.

        Parameters
        ----------
        points
            The design.
        misses
            For each point, by claim that is not met there, which numbers miss what.
        """
        return {
            "claims": list(self.claims),
            "expected": self.expected,
            "nearest": dict(points[self.nearest]),
            "votes": dict(self.votes),
            "misses": {
                name: misses[self.nearest][name]
                for name in self.claims
                if name in misses[self.nearest]
            },
        }


def find_conflicts(votes: Sequence[Mapping[str, float]]) -> list[Conflict]:
    """Find minimal sets of two or three claims that no point meets together.

    Parameters
    ----------
    votes
        By claim, one table a point; 1 is met.

    Returns
    -------
    list of Conflict
        Only sets that chance would have met at three points or more. Claims that no point meets
        are no conflict: they fail alone.
    """
    count = len(votes)
    met = {
        name: frozenset(i for i, point_votes in enumerate(votes) if point_votes.get(name) == 1)
        for name in dict.fromkeys(name for point_votes in votes for name in point_votes)
    }
    some = [name for name, where in met.items() if 0 < len(where) < count]
    conflicts: list[Conflict] = []
    for size in range(2, LARGEST + 1):
        for names in itertools.combinations(some, size):
            if any(set(other.claims) <= set(names) for other in conflicts):
                continue
            if frozenset.intersection(*(met[name] for name in names)):
                continue
            expected = float(count)
            for name in names:
                expected *= len(met[name]) / count
            if expected >= EXPECTED:
                conflicts.append(_nearest(names, expected, votes))
    return conflicts


def _nearest(
    names: tuple[str, ...], expected: float, votes: Sequence[Mapping[str, float]]
) -> Conflict:
    def closeness(place: int) -> tuple[float, float]:
        seen = [votes[place].get(name, 0.0) for name in names]
        return min(seen), sum(seen)

    best = max(range(len(votes)), key=closeness)
    return Conflict(names, expected, best, {name: votes[best].get(name, 0.0) for name in names})
