"""Chooses how a paper is read where it can be read in several ways: once for all its claims."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ackclock.reproduce.paper import PaperData
    from ackclock.reproduce.run.measure import Evaluated

    Score = Callable[[Sequence[Evaluated], Mapping[str, str]], tuple[float, ...]]

__all__ = ["choose"]


def choose(
    paper: PaperData, evaluated: Sequence[Evaluated], score: Score | None = None
) -> dict[str, str]:
    """Choose an option for each reading, under which most claims are met.

    A reading that is chosen for one claim is chosen for all that depend on it. Readings that some
    claim joins are chosen together. Between choices under which as many are met, the one under
    which fewer are missed is taken, then the one whose options are first in the file.

    Parameters
    ----------
    paper
        Its readings.
    evaluated
        Claims, measured.
    score
        What is made greatest, for claims under a choice; left out: as above.
    """
    score = score or _score
    options = {name: next(iter(reading.options)) for name, reading in paper.readings.items()}
    for names in _join_readings(evaluated):
        claims = [evaluation for evaluation in evaluated if names & set(evaluation.claim.readings)]
        scores = [(score(claims, choice), choice) for choice in _choices(paper, sorted(names))]
        options |= max(scores, key=lambda pair: pair[0])[1]
    return options


def _choices(paper: PaperData, names: Sequence[str]) -> Iterator[dict[str, str]]:
    options = [paper.readings[name].options for name in names]
    for choice in itertools.product(*options):
        yield dict(zip(names, choice, strict=True))


def _score(claims: Sequence[Evaluated], choice: Mapping[str, str]) -> tuple[float, ...]:
    outcomes = [claim.outcome(choice) for claim in claims]
    # What a reading leaves unmeasured, as in a tier, counts like what it misses.
    unmeasured = sum(
        outcome is None and not claim.unjudged
        for outcome, claim in zip(outcomes, claims, strict=True)
    )
    return outcomes.count("met"), -outcomes.count("missed") - unmeasured


def _join_readings(evaluated: Sequence[Evaluated]) -> list[set[str]]:
    """Sets of readings that claims depend on together."""
    groups: list[set[str]] = []
    for evaluation in evaluated:
        names = set(evaluation.claim.readings)
        if not names or evaluation.unjudged:
            continue
        touched = [group for group in groups if group & names]
        groups = [group for group in groups if group not in touched]
        groups.append(names.union(*touched))
    return groups
