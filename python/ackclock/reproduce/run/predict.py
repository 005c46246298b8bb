"""What a reproduction would run and what that would take; nothing is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.experiments.plan import share_sample
from ackclock.reproduce.run.reproduction import count_looks, count_most, find_designs, find_limit
from ackclock.reproduce.run.studies import sweep_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ackclock.experiments.store import Keeper
    from ackclock.reproduce.paper import Claim, PaperData
    from ackclock.reproduce.run.studies import RunOptions

__all__ = ["REST", "StudyCost", "predict_rest", "predict_studies"]

REST = "tables, verdicts, figures"
"""Name of the row of what is no run."""

START_S, FIGURES_START_S = 0.9, 1.0
"""CPU time of starting the command, and of loading what draws [s]."""

SWEEP_S, RUN_S = 0.05, 0.004
"""CPU time of Python for a study, and for keeping and reading a run [s]."""

CHECK_S, FIGURE_S = 0.045, 0.75
"""CPU time of a judged check, and of a figure in its three files [s]."""


@dataclass(frozen=True)
class StudyCost:
    """What a study would run, or what comes after the runs.

    Parameters
    ----------
    study
        Its name, or `REST`.
    points, runs, stored
        Points, runs at first, and runs of these that are stored.
    most_runs
        Runs if what is judged stays undecided.
    cpu_s, most_cpu_s
        Time of one core of the runs at first that are not stored, and of all [s].
    looks
        How often its numbers are judged at most.
    """

    study: str
    points: int
    runs: int
    most_runs: int
    stored: int
    cpu_s: float
    most_cpu_s: float
    looks: int = 1

    def seconds(self, workers: int) -> tuple[float, float]:
        """Predict the time until it is done, at first and at most [s].

        Parameters
        ----------
        workers
            Runs at a time; what is no run is on one processor.
        """
        processors = 1 if self.study == REST else workers
        return self.cpu_s / processors, self.most_cpu_s / processors

    def to_row(self) -> dict[str, Any]:
        """Give it as plain data."""
        keys = ("study", "points", "runs", "most_runs", "stored", "cpu_s", "most_cpu_s")
        return {key: getattr(self, key) for key in keys}


def predict_studies(
    paper: PaperData,
    tier: str,
    options: RunOptions,
    opened_store: Keeper | None,
    *,
    studies: Sequence[str],
    claims: Sequence[Claim],
    of: int | None = None,
) -> Iterator[StudyCost]:
    """Predict the runs of studies.

    Parameters
    ----------
    paper, tier
        The paper, and how much of it.
    options
        Where and how.
    opened_store
        Runs that are stored; None: there is no store.
    studies, claims
        Those that are needed, and what is judged.
    of
        Studies that are predicted in all, which share the trials; left out: these.

    Raises
    ------
    PaperError
        A study is wrong.
    """
    limit = find_limit(paper, tier)
    designs = find_designs(paper, claims)
    needed = [paper.studies[name] for name in studies if tier not in paper.studies[name].skipped]
    most_points = share_sample(len(needed) if of is None else of)
    for study in needed:
        sweep = sweep_of(paper, study, tier)
        plan = sweep.plan(options.workers, opened_store, most_points)
        at_first = sweep.replicates.at_first
        is_design = study.name in designs
        more = plan.points * ((at_first if is_design else count_most(sweep, limit)) - at_first)
        each = plan.cpu_s / max(plan.runs - plan.stored, 1)
        yield StudyCost(
            study.name,
            plan.points,
            plan.runs,
            plan.runs + more,
            plan.stored,
            plan.cpu_s,
            plan.cpu_s + more * each,
            1 if is_design else count_looks(sweep, limit),
        )


def predict_rest(costs: Sequence[StudyCost], claims: Sequence[Claim], figures: int) -> StudyCost:
    """Predict what Python takes for starting, tables, verdicts and figures.

    Parameters
    ----------
    costs
        Of the studies.
    claims
        What is judged.
    figures
        How many are drawn.
    """
    checks = sum(len(claim.checks) for claim in claims if not claim.same_as)
    drawing_s = FIGURES_START_S * (figures > 0) + FIGURE_S * figures
    rest_s = START_S + SWEEP_S * len(costs) + drawing_s
    looks = max((cost.looks for cost in costs), default=1)
    least_s = rest_s + CHECK_S * checks + RUN_S * sum(cost.runs for cost in costs)
    most_s = rest_s + CHECK_S * checks * looks + RUN_S * sum(cost.most_runs for cost in costs)
    return StudyCost(REST, 0, 0, 0, 0, least_s, most_s)
