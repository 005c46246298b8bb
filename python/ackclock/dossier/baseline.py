"""Compares numbers of two dossiers of one profile, seed by seed.

Rule::

    difference = value now - value then, for each seed that both have
    worse by   = the difference in the direction away from the threshold
    significant: the 99 % Student-t interval of the difference excludes 0 (of a
                 number without chance: any difference)
    regression:  significant, worse, and larger than 5 % of the larger value or of the threshold,
                 whichever is larger in size; or a requirement that was met and is not met now

Seeds in common make the differences paired: a control that was not changed has differences of
exactly 0. Two values within the threshold are compared too, for a regression begins there.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import number, percent
from ackclock.errors import AckclockError
from ackclock.experiments.statistics import mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = ["CONFIDENCE", "LEAST", "Change", "changes", "load_baseline", "paired"]

CONFIDENCE = 0.99
"""Of the interval of a difference."""

LEAST = 0.05
"""Smallest relative change that counts."""

Data = dict[str, Any]


@dataclass(frozen=True)
class Change:
    """What changed of one number, or of one verdict.

    Parameters
    ----------
    id
        Of the requirement.
    title
        Requirement, check and part.
    before, after
        Means; for a verdict None.
    difference, low, high
        Of the mean, with its interval; NaN for a verdict.
    unit
        Unit.
    is_worse
        Away from the threshold, significantly, by at least `LEAST`.
    is_better
        As much, towards the threshold or further inside.
    verdicts
        Verdict before and after, where it changed.
    size
        Difference without its sign, as a part of the larger value or of the threshold.
    """

    id: str
    title: str
    before: float | None
    after: float | None
    difference: float
    low: float
    high: float
    unit: str
    is_worse: bool = False
    is_better: bool = False
    verdicts: tuple[str, str] | None = None
    size: float = math.nan

    @property
    def is_regression(self) -> bool:
        """Whether it is worse."""
        return self.is_worse

    def __str__(self) -> str:
        if self.verdicts:
            return f"{self.title}: {self.verdicts[0]} before, {self.verdicts[1]} now"
        unit = f" {self.unit}" if self.unit else ""
        size = ""
        if self.before:
            size = f" ({percent(self.difference / abs(self.before), sign=True)})"
        return (
            f"{self.title}: {number(self.before)}{unit} before, {number(self.after)}{unit} now;"
            f" difference {number(self.difference, sign=True)}{size},"
            f" {percent(CONFIDENCE, 0)} interval {number(self.low)} to {number(self.high)}"
        )

    def to_dict(self) -> Data:
        """Plain data."""
        return {
            "id": self.id,
            "title": self.title,
            "before": self.before,
            "after": self.after,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "unit": self.unit,
            "verdicts": list(self.verdicts) if self.verdicts else None,
        }


def load_baseline(file: Path, profile: str, tier: str) -> Data:
    """Read a saved dossier.

    Parameters
    ----------
    file
        ``dossier.json``, or the folder that has it.
    profile, tier
        That it must be of.

    Raises
    ------
    AckclockError
        There is none, it is something else, or of another profile or tier.
    """
    from jsonschema import Draft7Validator

    from ackclock.dossier.form import DOSSIER

    at = file / "dossier.json" if file.is_dir() else file
    try:
        data = json.loads(at.read_text(encoding="utf-8"))
    except OSError as error:
        raise AckclockError(f"{at}: {error.strerror}; expected a dossier.json") from None
    except ValueError:
        raise AckclockError(f"{at} is not JSON; expected a dossier.json") from None
    wrong = next(Draft7Validator(DOSSIER).iter_errors(data), None)
    if wrong is not None:
        place = ".".join(str(step) for step in wrong.absolute_path)
        where = f" at {place}" if place else ""
        message = f"{at} is not a dossier{where}: {wrong.message[:120]}"
        raise AckclockError(f"{message}; expected what ackclock evaluate --out writes")
    for key, expected in (("profile", profile), ("tier", tier)):
        if data[key] != expected:
            message = f'{at} is of {key} "{data[key]}"; expected one of "{expected}"'
            raise AckclockError(message)
    found: Data = data
    return found


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Compare every number that both dossiers have.

    Parameters
    ----------
    before, after
        Plain data of dossiers of one profile and tier.
    """
    old = {row["id"]: row for row in before["rows"]}
    found: list[Change] = []
    for row in after["rows"]:
        if row["id"] in old:
            found += _of_row(old[row["id"]], row)
    return found


def _of_row(old: Data, new: Data) -> Iterator[Change]:
    title = f"{new['section']} {new['title']}"
    if old["verdict"] != new["verdict"]:
        nan = math.nan
        yield Change(
            new["id"], title, None, None, nan, nan, nan, "",
            is_worse=old["verdict"] == "met" and new["verdict"] == "not met",
            is_better=old["verdict"] == "not met" and new["verdict"] == "met",
            verdicts=(old["verdict"], new["verdict"]),
        )  # fmt: skip
    numbers = {(n["check"], n["part"]): n for n in old["numbers"]}
    for number_ in new["numbers"]:
        there = numbers.get((number_["check"], number_["part"]))
        if there is not None and number_["decides"]:
            change = paired(new["id"], title, there, number_)
            if change is not None:
                yield change


def paired(id_: str, title: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Change | None:
    """Compare one number, seed by seed; None where nothing can be compared.

    Parameters
    ----------
    id_, title
        Of the requirement.
    old, new
        Entries of ``numbers``.
    """
    pairs = [
        (a, b)
        for a, b in zip(old["values"], new["values"], strict=False)
        if a is not None and b is not None
    ]
    if not pairs:
        return None
    apart = [b - a for a, b in pairs]
    mean, low, high = _interval(apart)
    before = sum(a for a, _ in pairs) / len(pairs)
    after = sum(b for _, b in pairs) / len(pairs)
    ends = [abs(end) for end in (new["at_least"], new["at_most"]) if end is not None]
    scale = max([abs(before), abs(after), *ends])
    size = abs(mean) / scale if scale else 0.0
    significant = size > LEAST and (low > 0 or high < 0)
    away = _away(before, after, new["at_least"], new["at_most"])
    words = ": ".join(word for word in (title, new["check"], new["part"]) if word)
    return Change(
        id_, words, before, after, mean, low, high, new["unit"],
        is_worse=significant and away > 0,
        is_better=significant and away < 0,
        size=size,
    )  # fmt: skip


def _interval(apart: Sequence[float]) -> tuple[float, float, float]:
    if max(apart) == min(apart):
        # The same difference for every seed, or a number without chance: nothing to estimate.
        return apart[0], apart[0], apart[0]
    mean, low, high = mean_interval(apart, CONFIDENCE)
    return mean, low, high


def _away(before: float, after: float, least: float | None, most: float | None) -> float:
    """How much further a value is from where it should be; negative: nearer."""
    if least is not None and most is not None:
        middle = (least + most) / 2
        return abs(after - middle) - abs(before - middle)
    if most is not None:
        return after - before
    # Shares of what is true have no bounds: more is better.
    return before - after
