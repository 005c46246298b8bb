"""Judges the numbers of one paper or dossier together: how many may be missed by chance.

One number is missed by chance with at most 5 %. Of a hundred numbers that all hold exactly at their
bounds several would be; so a number is missed only if Holm's procedure over all numbers says so, by
which the probability that chance makes any of them missed is at most 5 %. What one interval alone
would refute is undecided. What is met needs no such rule: a claim is met if all its numbers are.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ackclock.experiments.statistics import holm
from ackclock.reproduce.run.judge import CONFIDENCE

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ackclock.reproduce.run.judge import Part
    from ackclock.reproduce.run.measure import ClaimResult, Evaluated

__all__ = ["control_family", "count_family", "describe_family"]


def control_family(claims: Sequence[Evaluated], reading: Mapping[str, str]) -> list[Evaluated]:
    """Take back what is missed by one number's interval alone.

    Parameters
    ----------
    claims
        All claims that are judged together.
    reading
        Option by reading.
    """
    family = [
        number.p_value
        for claim in claims
        if not claim.unjudged
        for number in claim.parts(reading)
        if _is_member(number)
    ]
    rejected = iter(holm([value for value in family if value is not None], 1 - CONFIDENCE))
    corrected = []
    for claim in claims:
        if claim.unjudged:
            corrected.append(claim)
            continue
        checks = tuple(
            (
                check,
                tuple(
                    _withdraw_miss(number, len(family), is_refuted=next(rejected))
                    if check.counts(reading) and _is_member(number)
                    else number
                    for number in numbers
                ),
            )
            for check, numbers in claim.checks
        )
        corrected.append(replace(claim, checks=checks))
    return corrected


def _is_member(part: Part) -> bool:
    return part.p_value is not None and not part.ours


def _withdraw_miss(part: Part, size: int, *, is_refuted: bool) -> Part:
    if part.outcome != "missed" or is_refuted:
        return part
    why = (
        f"{part.why}; among {size} numbers that hold one may come out so by chance, and more"
        " replicates decide"
    )
    return replace(part, outcome="undecided", why=why)


def count_family(claims: Iterable[ClaimResult]) -> int:
    """Count the numbers that are judged together and that chance may put out of their sets.

    Parameters
    ----------
    claims
        Of one paper or dossier.
    """
    return sum(_is_member(part) for claim in claims for part in claim.results)


def describe_family(size: int) -> str:
    """Say how many numbers are missed by chance, in one sentence; empty without such numbers.

    Parameters
    ----------
    size
        Numbers that are judged together.
    """
    if size == 0:
        return ""
    alone = (1 - CONFIDENCE) / 2 * size
    return (
        f"Chance may change {size} number{'s' * (size != 1)}, judged together: if all held exactly"
        f" at a bound, any would be missed by chance with at most"
        f" {100 * (1 - CONFIDENCE):.0f} % (judged each alone, {alone:.2g} of them)."
    )
