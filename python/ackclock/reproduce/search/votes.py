"""One vote a claim: how much of it is met at a point of the space."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.reproduce.run.readings import choose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.reproduce.paper import PaperData
    from ackclock.reproduce.run.judge import Part
    from ackclock.reproduce.run.measure import Evaluated

__all__ = ["count_votes", "describe_misses", "join_votes"]

MOST_MISSES = 3
"""Numbers of a claim that a miss lists."""


def count_votes(paper: PaperData, evaluated: Sequence[Evaluated]) -> dict[str, float]:
    """Count the vote of each claim, under one choice of readings for all.

    A check is the share of its numbers that are met, a claim the mean of its deciding checks: so
    each claim has one vote however many checks it has. A number counts as met by its estimate
    alone, since cheap runs have no useful interval; a printed number of few runs, by its prediction
    interval where there is one.

    Parameters
    ----------
    paper
        Its readings.
    evaluated
        Claims, measured. Those without a value abstain.
    """
    reading = choose(paper, evaluated, _total)
    votes = {evaluation.claim.id: _vote(evaluation, reading) for evaluation in evaluated}
    return {name: vote for name, vote in votes.items() if vote is not None}


def describe_misses(paper: PaperData, evaluated: Sequence[Evaluated]) -> dict[str, str]:
    """Say of each claim that is not met which numbers miss what is expected, and by how much.

    Parameters
    ----------
    paper
        Its readings.
    evaluated
        Claims, measured.
    """
    reading = choose(paper, evaluated, _total)
    misses = {}
    for evaluation in evaluated:
        missed = [
            f"{number.name + ': ' if number.name else ''}{number.measured:.4g},"
            f" expected {number.expected}"
            for check, numbers in evaluation.checks
            if not check.ours and check.counts(reading)
            for number in numbers
            if number.measured is not None and _is_met(number, ran=check.ran) is False
        ]
        if missed:
            more = f"; and {len(missed) - MOST_MISSES} more" if len(missed) > MOST_MISSES else ""
            misses[evaluation.claim.id] = "; ".join(missed[:MOST_MISSES]) + more
    return misses


def join_votes(votes: Mapping[str, float], made_from: Mapping[str, str]) -> dict[str, float]:
    """Join claims that are made from the rows of one file: the file has one vote.

    Parameters
    ----------
    votes
        By claim.
    made_from
        File by claim; empty for claims that are written one by one.
    """
    gathered: dict[str, list[float]] = {}
    for name, vote in votes.items():
        gathered.setdefault(made_from.get(name) or name, []).append(vote)
    return {name: sum(group) / len(group) for name, group in gathered.items()}


def _total(claims: Sequence[Evaluated], choice: Mapping[str, str]) -> tuple[float, ...]:
    return (sum(_vote(claim, choice) or 0.0 for claim in claims),)


def _vote(evaluation: Evaluated, reading: Mapping[str, str]) -> float | None:
    if any(check.counts(reading) for check in evaluation.unmeasured):
        return None
    shares = []
    for check, numbers in evaluation.checks:
        if check.ours or not check.counts(reading):
            continue
        met = [value for number in numbers if (value := _is_met(number, ran=check.ran)) is not None]
        if met:
            shares.append(sum(met) / len(met))
    return sum(shares) / len(shares) if shares else None


def _is_met(part: Part, *, ran: int) -> bool | None:
    """Whether the estimate is on the side that is expected; None if there is none."""
    if part.measured is None:
        return None
    if part.goal is None:
        return part.measured == 1 if part.expected.startswith("always") else part.measured > 0.5
    if ran and part.low is not None:
        return part.outcome != "missed"
    return part.goal.has(part.measured)
