"""Varies what a claim leaves unstated, and finds where the claim holds."""

from __future__ import annotations

import functools
import itertools
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.errors import UnsupportedError, suggestion
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.run.database import Database
from ackclock.reproduce.run.measure import ClaimResult, evaluate
from ackclock.reproduce.run.readings import choose
from ackclock.reproduce.run.studies import RunOptions, StudyResult, run_study, sweep_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from ackclock.reproduce.paper import Claim, PaperData, Parameter

__all__ = ["Sensitivity", "Trial", "pick_value", "plausible", "sensitivity", "write_value"]


@dataclass(frozen=True)
class Trial:
    """One choice of values: those that differ from the defaults, and the claim's verdict."""

    values: Mapping[str, Any]
    result: ClaimResult

    @property
    def label(self) -> str:
        """The values in words."""
        return written(self.values)


def written(values: Mapping[str, Any]) -> str:
    """Write a choice of values; of none, that all are defaults.

    Parameters
    ----------
    values
        By parameter.
    """
    return ", ".join(f"{key} = {write_value(value)}" for key, value in values.items()) or "defaults"


def write_value(value: Any) -> str:
    """Write a value as a scenario file has it.

    Parameters
    ----------
    value
        Plain data.
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True)
class Sensitivity:
    """What came out. Printing it gives a table and the region where the claim holds.

    Parameters
    ----------
    paper, claim, tier
        What was requested.
    trials
        The defaults first.
    parameters
        Those that were varied.
    fixed
        Those that could not be, with the reason.
    """

    paper: PaperData
    claim: Claim
    tier: str
    trials: tuple[Trial, ...]
    parameters: tuple[Parameter, ...]
    fixed: Mapping[str, str]

    @property
    def region(self) -> dict[str, dict[str, list[Any]]]:
        """Per parameter, values by verdict, all others at their defaults."""
        base = self.trials[0]
        regions: dict[str, dict[str, list[Any]]] = {}
        for parameter in self.parameters:
            by: dict[str, list[Any]] = {}
            for value in _with_default(parameter):
                verdict = base.result.verdict
                for trial in self.trials[1:]:
                    if trial.values == {parameter.id: value}:
                        verdict = trial.result.verdict
                by.setdefault(verdict, []).append(value)
            regions[parameter.id] = by
        return regions

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, for JSON."""
        keys = ("measured", "ci_low", "ci_high", "verdict", "reason")
        return {
            "paper": self.paper.name,
            "claim": self.claim.id,
            "tier": self.tier,
            "trials": [
                {"values": dict(trial.values), **{key: entry[key] for key in keys}}
                for trial in self.trials
                for entry in [trial.result.to_dict()]
            ],
            "region": self.region,
            "fixed": dict(self.fixed),
        }

    def __str__(self) -> str:
        from ackclock._util.text_table import table
        from ackclock.reproduce.run.wording import write_measured

        rows = [[t.label, t.result.verdict, write_measured(t.result)] for t in self.trials]
        reported = []
        for name, by in self.region.items():
            holds = by.get("reproduced", [])
            every = sum(len(values) for values in by.values())
            where = ", ".join(write_value(value) for value in holds) or "no value tried"
            where = "every value tried" if len(holds) == every else where
            reported.append(f"holds for {name}: {where}")
        reported += [f"not varied, {name}: {reason}" for name, reason in self.fixed.items()]
        head = f"{self.paper.name} {self.claim.id}, tier {self.tier}: {self.claim.statement}"
        body = table(["values", "verdict", "measured [95 %]"], rows, most=1000)
        return "\n\n".join([head, body, "\n".join(reported)])


def _with_default(parameter: Parameter) -> list[Any]:
    values = plausible(parameter)
    return values if parameter.default in values else [parameter.default, *values]


def plausible(parameter: Parameter) -> list[Any]:
    """Values to try: those listed, or both ends and the middle of a range.

    Parameters
    ----------
    parameter
        The parameter.
    """
    if not parameter.range:
        return list(parameter.values)
    return [pick_value(parameter, share) for share in (0.0, 0.5, 1.0)]


def pick_value(parameter: Parameter, share: float) -> Any:
    """The plausible value at a share of the way through a parameter's values.

    Parameters
    ----------
    parameter
        The parameter.
    share
        From 0 to 1.
    """
    from ackclock._util.number_text import number

    if not parameter.range:
        count = len(parameter.values)
        return parameter.values[min(int(share * count), count - 1)]
    low, high = float(parameter.range["from"]), float(parameter.range["to"])
    is_log = parameter.range.get("scale") == "log"
    value = low * (high / low) ** share if is_log else low + (high - low) * share
    # Three digits: a run is named by its values, and settings are read by people.
    rounded = float(f"{value:.3g}")
    unit = parameter.range.get("unit")
    return f"{number(rounded, 3)} {unit}" if unit else rounded


def sensitivity(
    paper: PaperData,
    claim: str,
    *,
    tier: str = "fast",
    options: RunOptions | None = None,
    pairs: bool = False,
) -> Sensitivity:
    """Judge a claim with its unstated parameters at other values.

    Parameters
    ----------
    paper
        The paper.
    claim
        Id of the claim.
    tier
        ``fast`` or ``full``.
    options
        Where and how studies run.
    pairs
        Besides one parameter at a time, every pair of parameters at all their values.

    Raises
    ------
    UnsupportedError
        There is no such claim, it cannot be checked, or rests on nothing that can be varied.
    """
    options = options or RunOptions()
    if claim not in paper.claims:
        raise UnsupportedError(
            f'the paper has no claim "{claim}"; {suggestion(claim, paper.claims)}'
        )
    entry = paper.claims[claim]
    if entry.not_checkable:
        raise UnsupportedError(f"{claim} is not checkable: {entry.not_checkable}")
    needed = studies_of(paper, *(check.measure for check in entry.checks))
    parameters, fixed = _find_varied(paper, entry)
    if not parameters:
        named = "; ".join(f"{name}: {why}" for name, why in fixed.items())
        message = f"{claim} rests on no unstated parameter that can be varied"
        raise UnsupportedError(f"{message}: {named}" if named else message)
    choices = list(_choices(parameters, pairs=pairs))
    # All sweeps are made first: a value that cannot be is reported before anything runs.
    for values in choices:
        for study in needed:
            sweep_of(paper, paper.studies[study], tier, _changes(parameters, study, values))
    database = Database(paper)
    cached_studies: dict[str, StudyResult] = {}
    trials = []
    for number, values in enumerate(choices, start=1):
        reported = f"trial {number} of {len(choices)}, {written(values)}"
        run = functools.partial(
            _study, paper, parameters, values, tier, options, cached_studies, reported
        )
        result = _judge_trial(paper, entry, needed, tier, database, run)
        trials.append(Trial(values, result))
    return Sensitivity(paper, entry, tier, tuple(trials), tuple(parameters), fixed)


def _find_varied(paper: PaperData, claim: Claim) -> tuple[list[Parameter], dict[str, str]]:
    varied, fixed = [], {}
    for name in claim.unstated:
        parameter = paper.parameters[name]
        if parameter.not_settable:
            fixed[name] = parameter.not_settable
        else:
            varied.append(parameter)
    return varied, fixed


def _choices(parameters: Sequence[Parameter], *, pairs: bool) -> Iterator[dict[str, Any]]:
    yield {}
    others = {p.id: [v for v in plausible(p) if v != p.default] for p in parameters}
    for name, values in others.items():
        for value in values:
            yield {name: value}
    if pairs:
        for one, two in itertools.combinations(others, 2):
            for a, b in itertools.product(others[one], others[two]):
                yield {one: a, two: b}


def _changes(
    parameters: Sequence[Parameter], study: str, values: Mapping[str, Any]
) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for parameter in parameters:
        if parameter.id in values:
            made |= parameter.changes(study, values[parameter.id])
    return made


def _study(
    paper: PaperData,
    parameters: Sequence[Parameter],
    values: Mapping[str, Any],
    tier: str,
    options: RunOptions,
    cached_studies: dict[str, StudyResult],
    reported: str,
    name: str,
) -> StudyResult:
    """Run a study at other values; studies that these values do not touch are run once."""
    changes = _changes(parameters, name, values)
    key = f"{name} {json.dumps(changes, sort_keys=True)}"
    if key not in cached_studies:
        options.report(f"{reported}: study {name}")
        cached_studies[key] = run_study(paper, paper.studies[name], tier, options, changes)
    return cached_studies[key]


def _judge_trial(
    paper: PaperData,
    claim: Claim,
    needed: Sequence[str],
    tier: str,
    database: Database,
    run: Callable[[str], StudyResult],
) -> ClaimResult:
    random, missing = {}, {}
    for name in needed:
        skipped = paper.studies[name].skipped
        if tier in skipped:
            missing[name] = skipped[tier]
        else:
            result = run(name)
            database.add(name, result.tables)
            random[name] = result.is_random
    evaluation = evaluate(claim, database, random, missing, tier)
    return evaluation.result(choose(paper, [evaluation]))
