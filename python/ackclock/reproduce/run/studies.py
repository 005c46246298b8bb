"""Runs the studies of a paper and gives their tables."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ackclock._util import paths
from ackclock.errors import AckclockError, Problem, ScenarioError
from ackclock.reproduce.paper import FIRST
from ackclock.reproduce.read.folder import PaperError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    import pyarrow as pa

    from ackclock.case import Case
    from ackclock.experiments.result import SweepResult
    from ackclock.experiments.sweeps import Sweep
    from ackclock.reproduce.paper import PaperData, Study

__all__ = [
    "RunOptions",
    "StudyResult",
    "cases_of",
    "run_study",
    "sweep_of",
    "tables_of",
]


@dataclass(frozen=True)
class RunOptions:
    """Where and how studies run; as of `ackclock.experiments.sweeps.Sweep.run`."""

    workers: int | None = None
    cluster: object | None = None
    store: Any = None
    progress: Any = True
    command: str | None = None
    report: Callable[[str], object] = field(default=lambda _: None)


@dataclass(frozen=True)
class StudyResult:
    """A study that was run.

    Parameters
    ----------
    study
        Its name.
    tables
        Tidy tables by name, ``runs`` among them.
    is_random
        Whether seeds matter: not where all seeds of a point give one and the same run, at every
        point.
    provenance
        Hashes, seeds, engine and version, for reports.
    fixed_tables
        Of the points alone whose seeds give one and the same run; None if there are none.
    """

    study: str
    tables: Mapping[str, pa.Table]
    is_random: bool
    provenance: Mapping[str, Any]
    fixed_tables: Mapping[str, pa.Table] | None = None


def sweep_of(
    paper: PaperData,
    study: Study,
    tier: str,
    changes: Mapping[str, Any] | None = None,
    *,
    reps: int | None = None,
) -> Sweep:
    """Make the sweep of a study.

    Parameters
    ----------
    paper
        Gives the defaults of what is unstated.
    study
        One of its studies.
    tier
        ``fast``, ``full``, or ``first``, which is ``fast`` where the study does not state it.
    changes
        Values by path, over the defaults.
    reps
        Replicates in place of the tier's; not for studies that stop by precision.

    Raises
    ------
    ScenarioError, SweepError
        The study is wrong.
    PaperError
        An unstated parameter is set on a path that leads nowhere.
    """
    from ackclock.experiments.file_form import from_document

    document = copy.deepcopy(dict(study.document))
    tiers = {
        name: {key: value for key, value in settings.items() if key != "skip"}
        for name, settings in document.get("tiers", {}).items()
    }
    if tiers:
        document["tiers"] = tiers
    if tier == FIRST and FIRST not in tiers:
        tier = "fast"
    parameter_values = {**paper.defaults(study.name), **(changes or {})}
    tier_settings = tiers.get(tier, {})
    try:
        for path in [path for path in parameter_values if _is_of_file(path)]:
            _put(document, tier_settings, path, parameter_values.pop(path), study)
        if reps is not None and "until" not in {**document, **tier_settings}:
            (tier_settings if "reps" in tier_settings else document)["reps"] = reps
        return from_document(
            document, study.file, tier=tier if tier in tiers else None, changes=parameter_values
        )
    except ScenarioError as error:
        raise _name_parameter(paper, study, error) from None


def cases_of(paper: PaperData, tier: str) -> Iterator[tuple[str, Case]]:
    """Make the case of every point of every study, with the first seed alone.

    Parameters
    ----------
    paper
        The paper.
    tier
        As of `sweep_of`.

    Yields
    ------
    tuple
        A label, of study and point, and the case.
    """
    for study in paper.studies.values():
        sweep = sweep_of(paper, study, tier)
        for point in sweep.points:
            point_text = ", ".join(f"{axis} {label}" for axis, label in point.labels.items())
            yield f"{study.name}: {point_text}" if point_text else study.name, sweep.case_at(point)


_OF_FILE = ("scenario", "over", "zip", "list", "reps")
"""Keys of a sweep file that unstated parameters may set; all other paths are in the scenario."""


def _is_of_file(path: str) -> bool:
    return paths.split(path)[0] in _OF_FILE


def _put(
    document: dict[str, Any], tier: dict[str, Any], path: str, value: Any, study: Study
) -> None:
    """Set a value of the study's file; an axis that the tier replaces is set there too."""
    *way, last = paths.split(path)
    holders = [holder for table in (document, tier) for holder in _ends(table, way)]
    if not holders:
        message = "leads nowhere in the study's file; expected an axis that is there"
        raise ScenarioError([Problem(path, message, str(study.file))])
    for holder in holders:
        holder[_key(last)] = copy.deepcopy(value)


def _ends(node: Any, way: list[paths.Step]) -> Iterator[Any]:
    """Tables and lists to which steps lead: none, one, or with ``[*]`` one for each entry."""
    if not way:
        if isinstance(node, dict | list):
            yield node
        return
    step, *deeper_steps = way
    if step is None:
        entries = node if isinstance(node, list) else []
    else:
        try:
            entries = [node[_key(step)]]
        except (KeyError, IndexError, TypeError):
            entries = []
    for entry in entries:
        yield from _ends(entry, deeper_steps)


def _key(step: paths.Step) -> Any:
    return step.name if isinstance(step, paths.Id) else step


def _name_parameter(paper: PaperData, study: Study, error: ScenarioError) -> ScenarioError:
    """Name the unstated parameter behind a wrong path, where there is one."""
    by_path = {
        target.path: parameter
        for parameter in paper.parameters.values()
        for target in parameter.sets
        if target.study == study.name
    }
    reported = []
    for problem in error.problems:
        parameter = by_path.get(problem.path)
        if parameter is None:
            reported.append(problem)
        else:
            message = f"study {study.name}, {problem.path}: {problem.message}"
            reported.append(Problem(f"parameter[{parameter.id}]", message, str(parameter.file)))
    return PaperError(reported)


def run_study(
    paper: PaperData,
    study: Study,
    tier: str,
    options: RunOptions,
    changes: Mapping[str, Any] | None = None,
    sweep: Sweep | None = None,
) -> StudyResult:
    """Run a study, or fetch from the store what is there.

    Parameters
    ----------
    paper, study, tier, changes
        As of `sweep_of`.
    options
        Where and how.
    sweep
        Its sweep, if it is made already.

    Raises
    ------
    AckclockError
        The study is wrong, or a run failed.
    KeyboardInterrupt
        It was stopped; what had finished is in the store.
    """
    from ackclock.experiments.groups import one_run_points
    from ackclock.experiments.result import SweepResult

    sweep = sweep or sweep_of(paper, study, tier, changes)
    try:
        result = sweep.run(
            workers=options.workers,
            cluster=options.cluster,
            store=options.store,
            progress=options.progress,
            command=options.command,
        )
    except ScenarioError:
        raise
    except AckclockError as error:
        if str(study.file) not in str(error):
            # The type stays, and with it what it knows; its constructor may not take a text.
            error.args = (f"{study.file}: {error}",)
        raise
    if result.interrupted:
        raise KeyboardInterrupt
    points = one_run_points(result.slots, result.digests)
    fixed = [slot for slot in result.slots if slot.point in points]
    is_random = sweep.case.is_random and len(fixed) < len(result.slots)
    fixed_tables = None
    if fixed:
        fixed_tables = tables_of(
            SweepResult(result.sweep, fixed, result.keeper, requested=len(fixed))
        )
    return StudyResult(study.name, tables_of(result), is_random, _provenance(result), fixed_tables)


def tables_of(result: SweepResult) -> Mapping[str, pa.Table]:
    """Give the tables that queries find: those of the sweep, and ``runs``.

    Parameters
    ----------
    result
        Of a sweep.
    """
    return _Tables(result)


class _Tables(Mapping[str, "pa.Table"]):
    """Tables of a sweep, and ``runs``: one row per run with the totals of its summary."""

    def __init__(self, result: SweepResult) -> None:
        self._result = result

    @property
    def cpu_s(self) -> float:
        """Time of one core that the runs took [s]."""
        totals = [summary.get("totals", {}) for summary in _read_summaries(self._result)]
        return float(sum(total.get("cpu_s") or 0.0 for total in totals))

    def __iter__(self) -> Iterator[str]:
        yield from self._result.tables
        if "runs" not in self._result.tables:
            yield "runs"

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, name: object) -> bool:
        return name == "runs" or name in self._result.tables

    def __getitem__(self, name: str) -> pa.Table:
        if name in self._result.tables:
            return self._result.tables[name]
        if name != "runs":
            raise KeyError(name)
        return _runs(self._result)


def _runs(result: SweepResult) -> pa.Table:
    import numpy as np

    from ackclock._util.arrow import array

    first = result.places()
    summaries = _read_summaries(result)
    names = dict.fromkeys(
        key
        for summary in summaries
        for key, value in summary.get("totals", {}).items()
        if _is_number(value) and key != "cpu_s"
    )
    for name in names:
        values = [summary.get("totals", {}).get(name) for summary in summaries]
        column = np.array([float(v) if _is_number(v) else np.nan for v in values])
        if name not in first.column_names:
            first = first.append_column(name, array(column))
    return first


def _read_summaries(result: SweepResult) -> list[dict[str, Any]]:
    """Summaries of the slots, without what tables hold: rows as objects would take gigabytes."""
    summaries = result.keeper.summaries(result.keys)
    return [summaries[slot.key] for slot in result.slots]


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _provenance(result: SweepResult) -> dict[str, Any]:
    import hashlib

    summaries = _read_summaries(result)
    first = summaries[0] if summaries else {}
    seeds = sorted({slot.seed for slot in result.slots})
    keys = "\n".join(sorted(result.keys))
    return {
        "engine": result.sweep.case.engine,
        "engine_version": result.sweep.case.engine_version,
        "version": first.get("version"),
        "era": first.get("era"),
        "runs": len(result.slots),
        "points": len(result.sweep.points),
        "replicates": max((slot.replicate for slot in result.slots), default=0) + 1,
        "seeds": [seeds[0], seeds[-1]] if seeds else [],
        "study_hash": hashlib.sha256(keys.encode()).hexdigest(),
        "user_code_hash": first.get("user_code_hash"),
    }
