"""The form of the documents that dossiers and comparisons write, and the words in them."""

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, TypedDict

from ackclock.catalogue.entries import Key
from ackclock.dossier.profile import LEVELS
from ackclock.reproduce.paper import TIERS

__all__ = ["STANDINGS", "VERDICTS", "ComparisonForm", "DossierForm"]

VERDICTS = {
    "met": "the interval of every number is within its threshold",
    "not met": "the interval of a number is beyond its threshold, by more than chance among all",
    "undecided": "an interval has the threshold inside, after as many seeds as the tier allows, or"
    " too few values are all equal",
    "reported": "there is no threshold",
    "text needed": "only the authors can answer",
    "not applicable": "nothing was measured, for the reason given",
}
"""Verdicts, and what each means."""

STANDINGS = {
    "measured": "numbers of runs decide",
    "argued": "nothing that is measured decides; the author's text is printed",
    "open": "neither was measured nor argued",
}
"""What is behind a requirement's row."""

_LEVEL = Key(enum=list(LEVELS))
_TIER = Key(enum=list(TIERS))


class MeasuredForm(TypedDict):
    """A number that was measured."""

    check: Annotated[str, "Name of the check; empty if it is the only one."]
    part: Annotated[str, "Scenario or pair that the number is of; empty if there is one only."]
    study: Annotated[list[Annotated[str, "Name."]], "Studies that it was measured in."]
    unit: Annotated[str, "Unit."]
    measured: Annotated[float | None, "Mean over replicates."]
    low: Annotated[float | None, "Lower end of the 95 % interval."]
    high: Annotated[float | None, "Upper end."]
    values: Annotated[list[float | None], "One per replicate, in the order of their seeds."]
    expected: Annotated[str, "The threshold, written out."]
    at_least: Annotated[float | None, "Lower bound."]
    at_most: Annotated[float | None, "Upper bound."]
    distance: Annotated[
        float | None,
        "From the nearest bound as a part of it (as it is if the bound is 0); negative: beyond it.",
    ]
    outcome: Literal["met", "missed", "undecided"]
    decides: bool
    exact: NotRequired[
        Annotated[bool, "No chance is behind it: all seeds give one and the same run."]
    ]


class ThresholdForm(TypedDict):
    """What a check expects, and why."""

    check: Annotated[str, "Name."]
    expected: Annotated[str, "The threshold, written out."]
    reason: Annotated[str, "Why this one."]
    source: Annotated[str, "Where it is from."]
    trade: Annotated[str, "What a stricter and a laxer one would change."]


class RowForm(TypedDict):
    """A requirement with its verdict."""

    id: Annotated[str, "Of the requirement."]
    section: Annotated[str, "Of the document."]
    title: Annotated[str, "What it is about."]
    statement: Annotated[str, "What is required."]
    level: Annotated[str, _LEVEL]
    family: Annotated[str, "Group."]
    verdict: Annotated[str, Key(enum=list(VERDICTS))]
    standing: NotRequired[Annotated[str, Key(enum=list(STANDINGS)), "What is behind the verdict."]]
    reason: Annotated[str, "Why."]
    argument: NotRequired[Annotated[str, "What the author argues; empty: nothing."]]
    question: Annotated[str, "What only a person can answer."]
    figures: Annotated[list[Annotated[str, "Id."]], "Figures that show it."]
    thresholds: Annotated[list[ThresholdForm], "One for each check."]
    numbers: Annotated[list[MeasuredForm], "What was measured."]


class OriginForm(TypedDict):
    """What the numbers of a document come from."""

    profile: Annotated[str, "Name of the profile."]
    title: NotRequired[Annotated[str, "Title of the profile."]]
    source: NotRequired[Annotated[str, "The document it follows."]]
    tier: Annotated[str, _TIER]
    against: Annotated[Mapping[str, Any], "Other controls by label."]
    version: Annotated[str, "Of ackclock."]
    seed: NotRequired[int | None]


class DossierForm(OriginForm):
    """`dossier.json`: what was found of a control."""

    dossier: Annotated[int, Key(const=1), "Version of this form."]
    control: Annotated[str, "Label of the control."]
    value: Annotated[Any, "How a scenario says the control."]
    tcp: NotRequired[Annotated[Mapping[str, Any], "TCP settings of its flows that it needs."]]
    flow: NotRequired[Annotated[Mapping[str, Any], "Other settings of its flows that it needs."]]
    user_code_hash: NotRequired[Annotated[str | None, "SHA-256 of its code."]]
    command: NotRequired[Annotated[str, "What gives this again."]]
    counts: Annotated[Mapping[str, Any], "Requirements by verdict."]
    standings: NotRequired[Annotated[Mapping[str, Any], "Requirements by what is behind them."]]
    control_source: NotRequired[
        Annotated[str, "Document, with its version, that the control is of."]
    ]
    runs: NotRequired[int]
    cpu_s: NotRequired[Annotated[float, "Time of one core that the runs took [s]."]]
    studies: Annotated[Mapping[str, Any], "Engine, seeds and hash of each study."]
    audits: NotRequired[Annotated[Mapping[str, Any], "Results of further studies by name."]]
    rows: Annotated[list[RowForm], "One per requirement."]
    chance: NotRequired[Annotated[str, "How many numbers are missed by chance."]]
    regressions: NotRequired[
        Annotated[list[Mapping[str, Any]], "Numbers that are worse than in the baseline."]
    ]


class DifferenceForm(TypedDict):
    """A number that two controls differ in, or do not."""

    id: Annotated[str, "Of the requirement."]
    number: Annotated[str, "Requirement, check and part."]
    family: Annotated[str, "Its family."]
    unit: Annotated[str, "Unit."]
    values: Annotated[list[float], "Means of the first and of the second control."]
    difference: Annotated[float, "Second less first, mean over seeds."]
    low: Annotated[float | None, "Lower end of its 99 % interval; null: one seed."]
    high: Annotated[float | None, "Upper end."]
    size: Annotated[float, "Without its sign, as a part of the larger value or of the threshold."]
    expected: Annotated[str, "The threshold, written out."]
    better: Annotated[str | None, "Label; null: no difference."]


class PairForm(TypedDict):
    """Two controls."""

    controls: Annotated[list[Annotated[str, "Label."]], "The two."]
    compared: Annotated[int, "Numbers that both have.", Key(minimum=0)]
    better: Annotated[Mapping[str, Any], "Numbers that each is better in."]
    sentences: Annotated[list[Annotated[str, "One."]], "What follows from the intervals."]
    differences: Annotated[list[DifferenceForm], "One for each number."]


class ComparisonForm(OriginForm):
    """`comparison.json`: several controls beside each other."""

    comparison: Annotated[int, Key(const=1), "Version of this form."]
    command: Annotated[str, "What gives this again."]
    runs: int
    cpu_s: Annotated[float, "Time of one core that the runs took [s]."]
    pairs: Annotated[list[PairForm], "Every two controls."]
    dossiers: Annotated[list[DossierForm], "Of each control, in order."]
