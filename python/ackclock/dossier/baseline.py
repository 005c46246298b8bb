"""Compares numbers of two dossiers of one profile, seed by seed.

Rule::

    difference = value now - value then, for each seed that both have
    worse by   = the difference in the direction away from the threshold
    significant: by Student's t-test of the difference, in Holm's procedure over all numbers at
                 5 % (without chance: any difference; with chance, of one seed: none)
    regression:  significant, worse, and larger than 5 % of the larger value or of the threshold,
                 whichever is larger in size; or a requirement that was met and is not met now, by
                 a number that is significantly worse, has no chance in it, or must always be true

Dossiers of other seeds are refused. Seeds in common make the differences paired: a control that
was not changed has differences of exactly 0; where its draws alone changed, a regression is
reported with at most 5 %. Two values within the threshold are compared too, for a regression begins
there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ackclock._util.foreign_files import read_json
from ackclock._util.number_text import number, percent
from ackclock.errors import AckclockError
from ackclock.experiments.statistics import holm, mean_interval, mean_p_value

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

__all__ = [
    "CONFIDENCE",
    "LEAST",
    "LEVEL",
    "BaselineChange",
    "changes",
    "compare_pair",
    "decide",
    "load_baseline",
]

CONFIDENCE = 0.99
"""Of the interval of a difference that is shown; it decides nothing."""

LEVEL = 0.05
"""Probability that chance makes any number of two dossiers significant."""

LEAST = 0.05
"""Smallest relative change that counts."""

Data = dict[str, Any]


@dataclass(frozen=True)
class BaselineChange:
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
    p_value
        Of no difference; NaN for a verdict.
    away
        How much further from where it should be; negative: nearer.
    is_significant
        Above chance among all numbers that are compared.
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
    p_value: float = math.nan
    away: float = 0.0
    is_significant: bool = False

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


def load_baseline(file: Path, profile: str, tier: str, seed: int | None = None) -> Data:
    """Read a saved dossier.

    Parameters
    ----------
    file
        ``dossier.json``, or the folder that has it.
    profile, tier, seed
        That it must be of; a seed left out is that of the profile.

    Raises
    ------
    AckclockError
        There is none, it is something else, or of another profile, tier or seed.
    """
    from ackclock.catalogue.entries import schema_of
    from ackclock.catalogue.form import parameter_problems
    from ackclock.dossier.form import DossierForm

    path = file / "dossier.json" if file.is_dir() else file
    try:
        data = read_json(path, links=True)
    except OSError as error:
        raise AckclockError(f"{path}: {error.strerror}; expected a dossier.json") from None
    except ValueError:
        raise AckclockError(f"{path} is not JSON; expected a dossier.json") from None
    wrong = parameter_problems(schema_of(DossierForm), data)
    if wrong:
        where = f" at {wrong[0].path}" if wrong[0].path else ""
        message = f"{path} is not a dossier{where}: {wrong[0].message[:120]}"
        raise AckclockError(f"{message}; expected what ackclock evaluate --out writes")
    for key, expected in (("profile", profile), ("tier", tier)):
        if data[key] != expected:
            message = f'{path} is of {key} "{data[key]}"; expected one of "{expected}"'
            raise AckclockError(message)
    if data.get("seed") != seed:
        there = data.get("seed")
        use = "no --seed" if there is None else f"--seed {there}"
        raise AckclockError(f"{path} has other seeds, and is compared seed by seed; use {use}")
    dossier: Data = data
    return dossier


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[BaselineChange]:
    """Compare every number that both dossiers have.

    Parameters
    ----------
    before, after
        Plain data of dossiers of one profile and tier.
    """
    for name, study in after["studies"].items():
        first, second = (
            dossier["studies"].get(name, study).get("seeds", [])[:1] for dossier in (before, after)
        )
        if first != second:
            message = (
                f"study {name}: the baseline's seeds begin at {first}, these at {second}; numbers"
                " are compared seed by seed, so make the baseline again"
            )
            raise AckclockError(message)
    old = {row["id"]: row for row in before["rows"]}
    common = [(old[row["id"]], row) for row in after["rows"] if row["id"] in old]
    numbers = decide([change for pair in common for change in _numbers(*pair)])
    found_changes: list[BaselineChange] = []
    for there, row in common:
        of_row = [change for change in numbers if change.id == row["id"]]
        if there["verdict"] != row["verdict"]:
            found_changes.append(_verdict(there, row, of_row))
        found_changes += of_row
    return found_changes


def decide(compared: Sequence[BaselineChange]) -> list[BaselineChange]:
    """Decide which of all numbers of two dossiers changed by more than chance.

    Parameters
    ----------
    compared
        As `compare_pair` gives them.
    """
    significant = holm([change.p_value for change in compared], LEVEL)
    judged = []
    for change, is_significant in zip(compared, significant, strict=True):
        counts = is_significant and change.size > LEAST
        judged.append(
            replace(
                change,
                is_significant=is_significant,
                is_worse=counts and change.away > 0,
                is_better=counts and change.away < 0,
            )
        )
    return judged


def _title(row: Data) -> str:
    return f"{row['section']} {row['title']}"


def _numbers(old: Data, new: Data) -> Iterator[BaselineChange]:
    numbers = {(n["check"], n["part"]): n for n in old["numbers"]}
    for number_ in new["numbers"]:
        there = numbers.get((number_["check"], number_["part"]))
        if there is not None and number_["decides"]:
            change = compare_pair(new["id"], _title(new), there, number_)
            if change is not None:
                yield change


def _verdict(old: Data, new: Data, numbers: Sequence[BaselineChange]) -> BaselineChange:
    """A verdict that is another; worse if more than chance is behind it."""
    missed = [n for n in new["numbers"] if n["decides"] and n["outcome"] == "missed"]
    is_sure = any(
        n.get("exact") or (n["at_least"] is None and n["at_most"] is None) for n in missed
    )
    is_worse = is_sure or any(change.is_significant and change.away > 0 for change in numbers)
    nan = math.nan
    return BaselineChange(
        new["id"], _title(new), None, None, nan, nan, nan, "",
        is_worse=old["verdict"] == "met" and new["verdict"] == "not met" and is_worse,
        is_better=old["verdict"] == "not met" and new["verdict"] == "met",
        verdicts=(old["verdict"], new["verdict"]),
    )  # fmt: skip


def compare_pair(
    id_: str, title: str, old: Mapping[str, Any], new: Mapping[str, Any]
) -> BaselineChange | None:
    """Compare one number, seed by seed; None where nothing can be compared.

    Whether it changed by more than chance is for `decide` to say.

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
    is_exact = bool(old.get("exact") and new.get("exact"))
    mean, low, high = mean_interval(apart, CONFIDENCE)
    if is_exact:
        low = high = mean
    before = sum(a for a, _ in pairs) / len(pairs)
    after = sum(b for _, b in pairs) / len(pairs)
    ends = [abs(end) for end in (new["at_least"], new["at_most"]) if end is not None]
    scale = max([abs(before), abs(after), *ends])
    words = ": ".join(word for word in (title, new["check"], new["part"]) if word)
    return BaselineChange(
        id_, words, before, after, mean, low, high, new["unit"],
        size=abs(mean) / scale if scale else 0.0,
        p_value=float(mean == 0) if is_exact else mean_p_value(apart),
        away=_away(before, after, new["at_least"], new["at_most"]),
    )  # fmt: skip


def _away(before: float, after: float, least: float | None, most: float | None) -> float:
    """How much further a value is from where it should be; negative: nearer."""
    if least is not None and most is not None:
        middle = (least + most) / 2
        return abs(after - middle) - abs(before - middle)
    if most is not None:
        return after - before
    # Shares of what is true have no bounds: more is better.
    return before - after
