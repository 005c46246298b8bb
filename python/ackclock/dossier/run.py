"""Runs a profile for a control and gives its dossier."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ackclock.dossier.audits import predict_audits, run_audits
from ackclock.dossier.rows import RequirementRow, make_row
from ackclock.dossier.task import DossierTask
from ackclock.errors import AckclockError, UnsupportedError, suggestion
from ackclock.experiments.store.purpose import runs_of
from ackclock.reproduce.run.reproduction import Reproduction, find_wanted, reproduce

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.dossier.audits import Audited
    from ackclock.dossier.profile import Profile, Requirement
    from ackclock.reproduce.paper import PaperData
    from ackclock.reproduce.run.studies import RunOptions

__all__ = [
    "DossierPlan",
    "DossierResults",
    "DossierTask",
    "choose_requirements",
    "evaluate",
    "predict",
]


@dataclass(frozen=True)
class DossierResults:
    """An evaluated control.

    Parameters
    ----------
    task
        What was evaluated.
    rows
        One per requirement.
    reproduction
        Studies and figures.
    cpu_s
        Time of one core that the runs of the studies took [s]; audits are not counted.
    audits
        Further studies by name.
    """

    task: DossierTask
    rows: tuple[RequirementRow, ...]
    reproduction: Reproduction
    cpu_s: float
    audits: Mapping[str, Audited] = field(default_factory=dict)

    def count(self, verdict: str) -> int:
        """Count the requirements of a verdict.

        Parameters
        ----------
        verdict
            One of `ackclock.dossier.form.VERDICTS`.
        """
        return sum(row.verdict == verdict for row in self.rows)

    def count_standing(self, standing: str) -> int:
        """Count the requirements of a standing.

        Parameters
        ----------
        standing
            One of `ackclock.dossier.form.STANDINGS`.
        """
        return sum(row.standing == standing for row in self.rows)

    @property
    def runs(self) -> int:
        """Runs in all."""
        return sum(int(study.provenance["runs"]) for study in self.reproduction.studies.values())

    @property
    def code_hash(self) -> str | None:
        """SHA-256 of user-defined code; None if there is none."""
        hashes = {
            study.provenance["user_code_hash"] for study in self.reproduction.studies.values()
        }
        return next((str(one) for one in hashes if one), None)


@dataclass(frozen=True)
class DossierPlan:
    """What an evaluation would run.

    Parameters
    ----------
    rows
        By study: points, runs at first, runs at most, runs that are stored, predicted time of one
        core at first and at most [s]; then the same of what is no run.
    workers
        Runs at a time.
    """

    rows: tuple[Mapping[str, Any], ...]
    workers: int

    @property
    def cpu_s(self) -> float:
        """Predicted time of one core [s]."""
        return float(sum(row["cpu_s"] for row in self.rows))

    @property
    def most_cpu_s(self) -> float:
        """The same if all that is judged stays undecided [s]."""
        return float(sum(row["most_cpu_s"] for row in self.rows))

    @property
    def seconds(self) -> float:
        """Predicted time until the end [s]."""
        return float(sum(row["cpu_s"] / (self.workers if row["runs"] else 1) for row in self.rows))

    def __str__(self) -> str:
        from ackclock._util.number_text import working_time
        from ackclock._util.text_table import table

        cells = [
            [str(row[k]) if row["runs"] or k == "study" else ""
             for k in ("study", "points", "runs", "most_runs", "stored")]
            + [working_time(row["cpu_s"])]
            for row in self.rows
        ]  # fmt: skip
        head = ["study", "points", "runs", "at most", "stored", "one core"]
        return f"{table(head, cells, most=1000)}\n\n{self.sentence}"

    @property
    def sentence(self) -> str:
        """The whole in one sentence."""
        from ackclock._util.number_text import number, working_time

        runs, most, stored = (
            sum(row[key] for row in self.rows) for key in ("runs", "most_runs", "stored")
        )
        kept = f", {number(stored)} of them stored already" if stored else ""
        longer = ""
        if most > runs:
            longer = (
                f"; if all that is judged stays undecided, {number(most)} runs and"
                f" {working_time(self.most_cpu_s)}"
            )
        return (
            f"{number(runs)} runs{kept}: predicted {working_time(self.cpu_s)} of one core, about"
            f" {working_time(self.seconds)} on {self.workers}{longer}"
        )


def choose_requirements(
    profile: Profile, only: Sequence[str], *, is_coupled: bool = False
) -> list[Requirement]:
    """Choose requirements by their ids, sections or families.

    Parameters
    ----------
    profile
        The profile.
    only
        Names; none: all.
    is_coupled
        Whether the control couples the subflows of a connection.

    Raises
    ------
    UnsupportedError
        A name is none of these.
    """
    other = "uncoupled" if is_coupled else "coupled"
    every = [one for one in profile.requirements.values() if one.of != other]
    known = [name for one in every for name in (one.id, one.section, one.family)]
    for name in only:
        if name not in known:
            message = f'the profile has no requirement "{name}"; {suggestion(name, known)}'
            raise UnsupportedError(message)
    if not only:
        return every
    return [one for one in every if {one.id, one.section, one.family} & set(only)]


def predict(task: DossierTask, options: RunOptions, *, is_written: bool = False) -> DossierPlan:
    """Predict what an evaluation would run; nothing is run.

    Parameters
    ----------
    task
        What is to be evaluated.
    options
        Where and how.
    is_written
        Whether a folder with figures is written.

    Raises
    ------
    ScenarioError
        A study does not fit the control.
    """
    from ackclock.experiments.executors.local import cores
    from ackclock.experiments.store import look
    from ackclock.reproduce.run.predict import predict_rest, predict_studies

    opened_store = None if options.store is False else look(options.store)
    data = _with_limit(task.data, task.profile, task)
    wanted = choose_requirements(task.profile, task.only, is_coupled=task.control.is_coupled)
    ids, figure_ids = _list_wanted(wanted)
    figures, claims, needed = find_wanted(data, figure_ids, ids)
    costs = list(
        predict_studies(data, task.tier, options, opened_store, studies=needed, claims=claims)
    )
    rest = predict_rest(costs, claims, len(figures) if is_written else 0)
    audits = predict_audits(task, options, opened_store)
    rows = [
        *(cost.to_row() for cost in costs),
        *({**row, "most_runs": row["runs"], "most_cpu_s": row["cpu_s"]} for row in audits),
        rest.to_row(),
    ]
    return DossierPlan(tuple(rows), options.workers or cores())


def _list_wanted(wanted: Sequence[Requirement]) -> tuple[list[str], list[str]]:
    """Ids of requirements, and of the figures that they are shown in."""
    figures = list(dict.fromkeys(name for one in wanted for name in one.figures))
    return [one.id for one in wanted], figures


@runs_of("evaluate")
def evaluate(task: DossierTask, options: RunOptions) -> DossierResults:
    """Evaluate a control.

    Parameters
    ----------
    task
        What is to be evaluated.
    options
        Where and how.

    Raises
    ------
    AckclockError
        There is no such tier, or the control broke its contract.
    KeyboardInterrupt
        It was stopped; runs that had finished are in the store.
    """
    profile = task.profile
    if task.tier not in profile.about["tiers"]:
        known = ", ".join(profile.about["tiers"])
        raise AckclockError(f'the profile {profile.name} has no tier "{task.tier}"; it has {known}')
    wanted = choose_requirements(profile, task.only, is_coupled=task.control.is_coupled)
    ids, figures = _list_wanted(wanted)
    data = _with_limit(task.data, profile, task)
    made = reproduce(data, tier=task.tier, claims=ids, figures=figures, options=options)
    by_id = {result.claim.id: result for result in made.claims}
    rows = tuple(
        make_row(one, by_id[one.id], data, task.arguments.get(one.id, "")) for one in wanted
    )
    cpu_s = sum(_cpu_s(study.tables) for study in made.studies.values())
    return DossierResults(task, rows, made, cpu_s, run_audits(task, options))


def _with_limit(data: PaperData, profile: Profile, task: DossierTask) -> PaperData:
    """Undecided requirements get more replicates, unless their number was given."""
    if task.reps is None:
        return data
    tiers = {
        name: {key: value for key, value in tier.items() if key != "replicates"}
        for name, tier in profile.about["tiers"].items()
    }
    return replace(data, about={**profile.about, "tiers": tiers})


def _cpu_s(tables: Mapping[str, Any]) -> float:
    import math

    used = getattr(tables, "cpu_s", math.nan)
    return 0.0 if math.isnan(used) else float(used)
