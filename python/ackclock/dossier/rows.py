"""Rows of a dossier: a requirement, what was measured, how far that is from the threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from ackclock.reproduce.check.crosscheck import studies_of

if TYPE_CHECKING:
    from ackclock.dossier.profile import Requirement
    from ackclock.reproduce.paper import PaperData
    from ackclock.reproduce.run.judge import ExpectedRange, Part
    from ackclock.reproduce.run.measure import ClaimResult

__all__ = ["NO_BOUND", "MeasuredNumber", "RequirementRow", "Standing", "Verdict", "make_row"]

Verdict = Literal["met", "not met", "undecided", "reported", "text needed", "not applicable"]

Standing = Literal["measured", "argued", "open"]

_UNMEASURED = "measured nothing here"

NO_BOUND = [-math.inf, math.inf]
"""What a check expects that only reports its value."""


@dataclass(frozen=True)
class MeasuredNumber:
    """One number of a requirement.

    Parameters
    ----------
    check
        Name of its check.
    name
        Of the part; empty if there is one only.
    result
        What was judged.
    unit
        Unit.
    studies
        Studies that it was measured in.
    decides
        Whether the verdict rests on it; else it is only shown.
    """

    check: str
    name: str
    result: Part
    unit: str
    studies: tuple[str, ...]
    decides: bool = True

    @property
    def title(self) -> str:
        """Check and part."""
        return ": ".join(word for word in (self.check, self.name) if word)

    @property
    def key(self) -> tuple[str, str]:
        """What it is found by in another dossier of the same profile."""
        return self.check, self.name

    @property
    def distance(self) -> float | None:
        """Distance from the nearest bound as a part of it, negative beyond; None without a bound.

        Where the bound is 0 it is the distance itself.
        """
        return find_distance(self.result.measured, self.result.goal)

    def to_dict(self) -> dict[str, Any]:
        """The entry of ``dossier.json``."""
        part, goal = self.result, self.result.goal

        def bound(end: float | None) -> float | None:
            return end if end is not None and math.isfinite(end) else None

        return {
            "check": self.check,
            "part": self.name,
            "study": list(self.studies),
            "unit": self.unit,
            "measured": part.measured,
            "low": part.low,
            "high": part.high,
            "values": list(part.values),
            "expected": part.expected,
            "at_least": bound(goal.low if goal else None),
            "at_most": bound(goal.high if goal else None),
            "distance": self.distance,
            "outcome": part.outcome,
            "decides": self.decides,
            "exact": part.is_exact,
        }


@dataclass(frozen=True)
class RequirementRow:
    """A requirement with its verdict and what led to it.

    Parameters
    ----------
    argument
        What the author argues; empty: nothing.
    """

    requirement: Requirement
    verdict: Verdict
    reason: str
    numbers: tuple[MeasuredNumber, ...]
    argument: str = ""

    @property
    def standing(self) -> Standing:
        """What is behind the row: numbers that decide, the author's text, or nothing yet."""
        if self.verdict not in ("text needed", "not applicable"):
            return "measured"
        return "argued" if self.argument else "open"

    @property
    def decisive(self) -> MeasuredNumber | None:
        """The number that decides: the one furthest beyond its threshold, or nearest to it."""
        order = {"missed": 0, "undecided": 1, "met": 2}
        deciding = [n for n in self.numbers if n.decides] or list(self.numbers)
        return min(
            deciding,
            key=lambda n: (order[n.result.outcome], math.inf if n.distance is None else n.distance),
            default=None,
        )

    def to_dict(self) -> dict[str, Any]:
        """The entry of ``dossier.json``."""
        one = self.requirement
        expected = {n.check: n.result.expected for n in reversed(self.numbers)}
        return {
            **{key: getattr(one, key) for key in ("id", "section", "title", "statement", "level")},
            "family": one.family,
            "verdict": self.verdict,
            "standing": self.standing,
            "reason": self.reason,
            "argument": self.argument,
            "question": one.question,
            "figures": list(one.figures),
            "thresholds": [
                {
                    "check": why.name,
                    "expected": expected.get(why.name, ""),
                    "reason": why.reason,
                    "source": why.source,
                    "trade": why.trade,
                }
                for why in one.thresholds
            ],
            "numbers": [number.to_dict() for number in self.numbers],
        }


def find_distance(value: float | None, goal: ExpectedRange | None) -> float | None:
    """Find how far a number is from the nearest bound, as a part of the bound.

    Parameters
    ----------
    value
        The number; None if it is not known.
    goal
        What is expected; None for truth values.

    Returns
    -------
    float or None
        Negative beyond the bound; the distance itself where the bound is 0.
    """
    if value is None or goal is None:
        return None
    ends = []
    for end, inside in ((goal.low, value - goal.low), (goal.high, goal.high - value)):
        if math.isfinite(end):
            ends.append(inside / abs(end) if end else inside)
    return min(ends) if ends else None


def make_row(
    requirement: Requirement, result: ClaimResult, data: PaperData, argument: str = ""
) -> RequirementRow:
    """Make the row of a requirement from its judged claim.

    Parameters
    ----------
    requirement, result
        Of one id.
    data
        The profile's studies.
    argument
        What the author argues.
    """
    checks = {check.name: check for check in result.claim.checks}
    numbers = []
    for part in result.results:
        head, _, rest = part.name.partition(": ")
        name = head if head in checks else ""
        check = checks.get(name) or next(iter(checks.values()))
        where = rest if name else part.name
        studies = tuple(studies_of(data, check.measure))
        is_bounded = check.expect.get("between") != NO_BOUND
        decides = is_bounded and not (part.ours or requirement.is_text)
        shown = part if is_bounded else replace(part, expected="", goal=None)
        numbers.append(MeasuredNumber(name, where, shown, check.unit, studies, decides=decides))
    return RequirementRow(requirement, *_verdict(requirement, result), tuple(numbers), argument)


def _verdict(requirement: Requirement, result: ClaimResult) -> tuple[Verdict, str]:
    if requirement.is_text:
        return "text needed", requirement.question
    if requirement.is_reported and result.outcome == "met":
        return "reported", "there is no threshold"
    if result.outcome == "met":
        return "met", result.reason
    if result.outcome == "missed":
        return "not met", result.reason
    is_open = result.claim.not_checkable or _UNMEASURED in result.reason
    if result.outcome is None and requirement.inapplicable and is_open:
        return "not applicable", requirement.inapplicable
    return "undecided", result.reason
