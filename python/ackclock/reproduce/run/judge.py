"""Decides from an interval whether a claim is met; docs/explanation/verdicts.md states the rule.

An interval that lies in what is expected supports the claim; one that lies outside refutes it; one
that does both decides nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ackclock._util.number_text import number as short
from ackclock.experiments.statistics import (
    equal_values,
    mean_p_value,
    most_differing,
)
from ackclock.reproduce.run.estimates import Estimate, Spread, prediction, prediction_p_value

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "CONFIDENCE",
    "ExpectedRange",
    "Outcome",
    "Part",
    "Verdict",
    "compare",
    "confidence_of",
    "join",
    "judge",
    "target",
]

Verdict = Literal["reproduced", "deviates", "not-checkable"]
"""What a claim is in the end."""

Outcome = Literal["met", "missed", "undecided"]
"""What one number says."""

CONFIDENCE = 0.95
"""Level of every interval that is looked at once; of all looks together where there are more."""

MAJORITY = 0.5
"""Share of runs that may have another value, from which on equal values decide nothing."""

WIDEST = 1.6
"""A prediction interval supports a claim only if it is at most this many times as wide as that of
endless replicates; six replicates are enough for a number of one run."""

NARROW = "; more replicates narrow it"
"""What an interval that decides nothing needs."""

SLACK = 1e-12
"""Relative rounding that no bound minds."""


class ExpectedRange(NamedTuple):
    """The set of numbers that is expected, and how it is written."""

    low: float
    high: float
    is_open: bool
    text: str

    def has(self, value: float) -> bool:
        """Whether a number is in the set.

        Parameters
        ----------
        value
            The number.
        """
        if self.is_open:
            within = self.low <= value <= self.high
            return within and not self.is_below(value) and not self.is_above(value)
        slack = SLACK * max([1.0, *(abs(end) for end in self.ends)])
        return self.low - slack <= value <= self.high + slack

    def is_below(self, value: float) -> bool:
        """Whether a number is below all of the set.

        Parameters
        ----------
        value
            The number. An end that is infinite bounds nothing: an endless value is above any.
        """
        return value < self.low or (self.is_open and value == self.low > -math.inf)

    def is_above(self, value: float) -> bool:
        """Whether a number is above all of the set.

        Parameters
        ----------
        value
            The number.
        """
        return value > self.high or (self.is_open and value == self.high < math.inf)

    @property
    def within(self) -> str:
        """How one says that a number is in the set."""
        return f"within {self.text}" if 0 < self.high - self.low < math.inf else self.text

    @property
    def ends(self) -> list[float]:
        """Ends that are finite."""
        return [end for end in (self.low, self.high) if math.isfinite(end)]


@dataclass(frozen=True)
class Part:
    """What was measured for one number of a claim, and what it says.

    Parameters
    ----------
    name
        Of the part; empty if there is one only.
    measured
        Mean over replicates; for truth values the share that is true. None if unknown.
    low, high
        Ends of the interval; None if there is none, as for one replicate of a random study.
    count
        Replicates.
    expected
        What was expected, written out.
    outcome
        What follows.
    why
        One sentence.
    goal
        What was expected; None for truth values.
    ours
        The paper does not say it: it is shown and does not decide.
    values
        What was measured, one per replicate; None where not known.
    p_value
        Level at which the interval ends at the nearest bound, times the looks; None for what is
        exact or has no bound.
    is_exact
        Nothing random is behind it.
    is_design
        The values are all points of a design, whose range takes the place of an interval.
    """

    name: str
    measured: float | None
    low: float | None
    high: float | None
    count: int
    expected: str
    outcome: Outcome
    why: str
    goal: ExpectedRange | None = None
    ours: bool = False
    values: tuple[float | None, ...] = ()
    p_value: float | None = None
    is_exact: bool = False
    is_design: bool = False

    @property
    def is_right(self) -> bool:
        """Whether the estimate is where it is expected, whatever its interval."""
        if self.measured is None:
            return False
        if self.goal is None:
            return self.measured == 1 if self.expected.startswith("always") else self.measured > 0.5
        return self.outcome == "met" or self.goal.has(self.measured)


def target(expect: Mapping[str, Any], columns: Mapping[str, Any]) -> ExpectedRange:
    """Write out what is expected, for numbers.

    Parameters
    ----------
    expect
        As in ``claims.toml``.
    columns
        Values of columns that it may name.

    Raises
    ------
    KeyError
        It names a column that there is not, or whose value is no number.
    """

    def number(key: str) -> float:
        bound = expect[key]
        if isinstance(bound, str):
            bound = columns[bound]
            if bound is None or isinstance(bound, str | bool):
                raise KeyError(expect[key])
        return float(bound)

    if "equals" in expect:
        centre, tolerance = number("equals"), expect["tolerance"]
        if isinstance(tolerance, str):
            half = abs(centre) * float(tolerance.rstrip("% ")) / 100
        else:
            half = float(tolerance)
        written = tolerance if isinstance(tolerance, str) else short(tolerance)
        text = f"{short(centre)} ± {written}" if half else short(centre)
        return ExpectedRange(centre - half, centre + half, is_open=False, text=text)
    if "between" in expect:
        low, high = (float(end) for end in expect["between"])
        return ExpectedRange(low, high, is_open=False, text=f"{short(low)} to {short(high)}")
    for key, phrase in (("at_least", "at least"), ("above", "above")):
        if key in expect:
            bound = number(key)
            return ExpectedRange(bound, math.inf, key == "above", f"{phrase} {short(bound)}")
    for key, phrase in (("at_most", "at most"), ("below", "below")):
        if key in expect:
            bound = number(key)
            return ExpectedRange(-math.inf, bound, key == "below", f"{phrase} {short(bound)}")
    return ExpectedRange(-math.inf, math.inf, is_open=False, text=f"{expect['holds']} true")


def judge(
    name: str,
    values: Sequence[float | bool | None],
    expect: Mapping[str, Any],
    columns: Mapping[str, Any],
    *,
    is_exact: bool,
    query_interval: tuple[float, float] | None = None,
    method: str = "t",
    ran: int = 0,
    spread: Spread | None = None,
    looks: int = 1,
    is_design: bool = False,
) -> Part:
    """Judge one number of a claim.

    Parameters
    ----------
    name
        Of the part.
    values
        One per replicate; None where not known.
    expect, columns
        As of `target`.
    is_exact
        Nothing random is behind the values: a single one is all there is to know.
    query_interval
        Ends of an interval that the query computed itself.
    method
        ``t`` or ``bootstrap``.
    ran
        Runs whose mean the expected number is: then the prediction interval judges it; 0: the
        number is no outcome of runs.
    spread
        Deviation between runs, pooled by the query; left out: that of the values.
    looks
        How often the number may be judged, with more replicates each time: the error is divided
        among them.
    is_design
        The values are all points of a design, and no sample: their range judges them. A single
        point of a random study still decides nothing.
    """
    goal = target(expect, columns)
    is_design = is_design and len(values) > 1
    is_whole = is_exact or is_design
    defined = [value for value in values if value is not None and not math.isnan(value)]
    if len(defined) < len(values) or not defined:
        lost = len(values) - len(defined)
        why = f"the measure has no value in {lost} of {len(values)} replicates"
        return Part(name, None, None, None, len(defined), goal.text, "undecided", why)
    if "holds" in expect:
        judgement = _truth(name, defined, expect["holds"], goal, is_exact=is_whole, looks=looks)
        return _of_design(judgement) if is_design else judgement
    numbers = [float(value) for value in defined]
    differing = most_differing(len(numbers), confidence_of(looks))
    is_few = equal_values(numbers) and differing >= MAJORITY
    if query_interval is None and goal.ends and not is_whole and is_few:
        most = f"{100 * differing:.0f} %"
        why = f"all {len(numbers)} values are equal, and up to {most} of runs may differ; run more"
        mean = numbers[0]
        return Part(name, mean, None, None, len(defined), goal.text, "undecided", why, goal)
    endless = sum(math.isinf(value) for value in numbers)
    if endless and not is_whole and query_interval is None and not equal_values(numbers):
        why = f"{endless} of {len(numbers)} replicates are infinite, and so have no interval"
        return Part(name, None, None, None, len(defined), goal.text, "undecided", why, goal)
    if ran and not is_whole and query_interval is None:
        return _judge_prediction(name, numbers, goal, ran, spread, looks)
    confidence = confidence_of(looks)
    estimate = Estimate(*_interval(numbers, method, query_interval, confidence, is_whole=is_whole))
    if is_design:
        return _of_design(replace(compare(name, estimate, len(defined), goal), is_exact=is_exact))
    if is_exact:
        judgement = compare(name, estimate, len(defined), goal)
        one_run = (
            f" ({len(numbers)} seeds, one run)"
            if len(numbers) > 1 and estimate.low == estimate.high
            else ""
        )
        return replace(judgement, is_exact=True, p_value=None, why=judgement.why + one_run)
    p_value = None
    if query_interval is None and goal.ends:
        p_value = looks * mean_p_value(numbers, nearest(estimate.value, goal))
    return compare(name, estimate, len(defined), goal, looks, p_value)


def _of_design(part: Part) -> Part:
    """Say of a number that its values are all that there are: nothing is left to chance."""
    why = part.why.replace("the interval", "the range").replace(NARROW, "")
    why = f"{why} (all {part.count} points of a design; no sampling interval)"
    return replace(part, is_design=True, p_value=None, why=why)


def confidence_of(looks: int) -> float:
    """Level of an interval that is looked at several times.

    Parameters
    ----------
    looks
        How often, at least 1.

    Returns
    -------
    float
        Such that all these intervals hold the truth with `CONFIDENCE`.
    """
    return 1 - (1 - CONFIDENCE) / looks


def nearest(value: float, goal: ExpectedRange) -> float:
    """The bound that a number outside of a set passed; the number itself inside.

    Parameters
    ----------
    value
        The number.
    goal
        The set.
    """
    return min(max(value, goal.low), goal.high)


def _judge_prediction(
    name: str, values: list[float], goal: ExpectedRange, ran: int, spread: Spread | None, looks: int
) -> Part:
    """Judge a printed number by the interval in which the mean of what the paper ran lies."""
    (mean, low, high), width = prediction(values, ran, confidence_of(looks), spread)
    p_value = looks * prediction_p_value(values, ran, nearest(mean, goal), spread)
    runs = "one run" if ran == 1 else f"a mean of {ran} runs"
    if math.isnan(low):
        why = "one replicate of a random study has no interval; run more"
        return Part(name, mean, None, None, len(values), goal.text, "undecided", why, goal)
    where = f"the prediction interval of {runs}, {short(low, 4)} to {short(high, 4)},"
    if high < goal.low or low > goal.high:
        why = f"{where} does not reach {goal.text}"
        return Part(
            name, mean, low, high, len(values), goal.text, "missed", why, goal, p_value=p_value
        )
    if width > WIDEST:
        why = f"{where} is {short(width, 3)} times as wide as with endless replicates; run more"
        return Part(
            name, mean, low, high, len(values), goal.text, "undecided", why, goal, p_value=p_value
        )
    why = f"{where} reaches {goal.text}"
    return Part(name, mean, low, high, len(values), goal.text, "met", why, goal, p_value=p_value)


def compare(
    name: str,
    estimate: Estimate,
    count: int,
    goal: ExpectedRange,
    looks: int = 1,
    p_value: float | None = None,
) -> Part:
    """Judge an estimate by its interval.

    Parameters
    ----------
    name
        Of the part.
    estimate
        The estimate.
    count
        Replicates behind it.
    goal
        What is expected.
    looks
        How often it may be judged.
    p_value
        As of `Part`; left out: that of a normal estimate with this interval.
    """
    mean, low, high = estimate
    if math.isnan(mean):
        why = "it has no value here"
        return Part(name, None, None, None, count, goal.text, "undecided", why, goal)
    if math.isnan(low) or math.isnan(high):
        few = "one replicate" if count == 1 else f"{count} replicates"
        why = f"{few} of a random study has no interval; run more"
        return Part(name, mean, None, None, count, goal.text, "undecided", why, goal)
    outcome = _compare(low, high, goal)
    measured = short(mean, 4)
    if low != high:
        measured = f"the interval {short(low, 4)} to {short(high, 4)}"
    relation = {
        "met": f"is {goal.within}",
        "missed": f"is not {goal.within}",
        "undecided": f"is not all {goal.within}, nor all out of it{NARROW}",
    }[outcome]
    if p_value is None and low != high and goal.ends:
        p_value = looks * _normal_p_value(estimate, nearest(mean, goal), looks)
    return Part(
        name, mean, low, high, count, goal.text, outcome, f"{measured} {relation}", goal,
        p_value=p_value,
    )  # fmt: skip


def _normal_p_value(found: Estimate, bound: float, looks: int) -> float:
    """The level at which a normal interval ends at a bound, from one with known ends."""
    from scipy.special import ndtr, ndtri

    side = found.value - found.low if bound < found.value else found.high - found.value
    if bound == found.value or side <= 0:
        return 1.0 if bound == found.value else 0.0
    at = float(ndtri(0.5 + confidence_of(looks) / 2)) * abs(bound - found.value) / side
    return float(2 * ndtr(-at))


def _interval(
    values: list[float],
    method: str,
    query_interval: tuple[float, float] | None,
    confidence: float,
    *,
    is_whole: bool,
) -> tuple[float, float, float]:
    from ackclock.experiments.statistics import interval

    if query_interval is not None:
        return (sum(values) / len(values), *query_interval)
    if is_whole:
        # Values of a designed grid are all there is: their range, no interval of a mean.
        return sum(values) / len(values), min(values), max(values)
    return interval(values, confidence, "bootstrap" if method == "bootstrap" else "t")


def _compare(low: float, high: float, goal: ExpectedRange) -> Outcome:
    if goal.has(low) and goal.has(high):
        return "met"
    below, above = goal.is_below(high), goal.is_above(low)
    if goal.is_open or not (goal.has(low) or goal.has(high)):
        return "missed" if below or above else "undecided"
    return "undecided"


def _truth(
    name: str,
    values: Sequence[float | bool],
    holds: str,
    goal: ExpectedRange,
    *,
    is_exact: bool,
    looks: int,
) -> Part:
    """Share of replicates in which something is true, with its Clopper-Pearson interval."""
    from scipy.stats import binomtest

    count, true = len(values), sum(bool(value) for value in values)
    share = true / count
    if is_exact:
        all_true = true == count
        outcome: Outcome = "met" if all_true or (holds == "mostly" and share > 0.5) else "missed"
        why = f"true in {share:.0%}"
        return Part(name, share, share, share, count, goal.text, outcome, why, is_exact=True)
    low, high = binomtest(true, count).proportion_ci(confidence_of(looks), method="exact")
    # A counter-example refutes what is always so: chance has no part in that.
    p_value = None if holds == "always" else looks * float(binomtest(true, count).pvalue)
    if holds == "always" and true < count:
        outcome = "missed"
    elif low > 0.5:
        outcome = "met"
    else:
        outcome = "missed" if high < 0.5 else "undecided"
    why = f"true in {true} of {count} replicates"
    if outcome == "undecided":
        why += ", which does not show that it is more often true than not"
    return Part(name, share, low, high, count, goal.text, outcome, why, p_value=p_value)


def join(outcomes: Sequence[Outcome]) -> Outcome:
    """Join the outcomes of all numbers of a claim: all must be met; one missed is enough.

    Parameters
    ----------
    outcomes
        At least one.
    """
    if "missed" in outcomes:
        return "missed"
    return "undecided" if "undecided" in outcomes else "met"
