"""Compares the rungs of a search: whether cheap runs order the points as dear ones do."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ackclock.reproduce.search.design import rungs
from ackclock.reproduce.search.votes import join_votes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.reproduce.search.search import SearchResult

__all__ = ["Agreement", "compare_rungs", "compare_votes"]

FEWEST = 4
"""Points below which a rank correlation says nothing."""


@dataclass(frozen=True)
class Agreement:
    """How far a rung and the next agree, over the points that both have.

    Points that went on are the best of the cheaper rung. Among them it has less to order than
    among all, so that the correlation is a lower bound of what it is over the design.

    Parameters
    ----------
    rung, following
        The two fidelities.
    points
        How many, the defaults among them.
    spearman
        Rank correlation of the mean vote of all claims judged at both; None with fewer than four
        points, or where all are alike.
    alike
        Share of votes that are the same at both.
    """

    rung: str
    following: str
    points: int
    spearman: float | None
    alike: float

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)

    def __str__(self) -> str:
        order = "-" if self.spearman is None else f"{self.spearman:.2f}"
        return (
            f"{self.rung} and {self.following}: {self.alike:.0%} of votes alike, rank correlation"
            f" {order} over {self.points} points"
        )


def compare_rungs(search_result: SearchResult) -> list[Agreement]:
    """Compare each rung of a search with the next.

    Parameters
    ----------
    search_result
        What it found.
    """
    made_from = {claim.id: claim.made_from for claim in search_result.space.claims}
    agreements = []
    for level, (rung, following) in enumerate(
        itertools.pairwise(rungs(search_result.space, search_result.tier))
    ):
        both = [
            point.rungs
            for point in (search_result.defaults, *search_result.tried)
            if len(point.rungs) > level + 1
        ]
        pairs = [
            (join_votes(votes[level], made_from), join_votes(votes[level + 1], made_from))
            for votes in both
        ]
        spearman, alike = compare_votes(pairs)
        agreements.append(Agreement(rung.text, following.text, len(pairs), spearman, alike))
    return agreements


def compare_votes(
    pairs: Sequence[tuple[Mapping[str, float], Mapping[str, float]]],
) -> tuple[float | None, float]:
    """Compute the rank correlation of scores and the share of equal votes.

    Parameters
    ----------
    pairs
        Of each point the votes by unit at both rungs; units that only one has do not count.

    Returns
    -------
    tuple
        The correlation, or None, and the share.
    """
    import numpy as np
    from scipy.stats import spearmanr

    common = [
        [(lower[unit], higher[unit]) for unit in lower if unit in higher] for lower, higher in pairs
    ]
    votes = [pair for point in common for pair in point]
    alike = sum(a == b for a, b in votes) / len(votes) if votes else 0.0
    scores = np.array([np.mean(point, axis=0) for point in common if point])
    if len(scores) < FEWEST or np.ptp(scores[:, 0]) == 0 or np.ptp(scores[:, 1]) == 0:
        return None, alike
    return float(spearmanr(scores[:, 0], scores[:, 1]).statistic), alike
