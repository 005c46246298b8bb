"""Runs an evaluation and writes what it found."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.command_line import without_places
from ackclock.errors import find_by_name
from ackclock.experiments.store.purpose import runs_of
from ackclock.studies.evaluate_control import grid
from ackclock.studies.evaluate_control.judge import Judgement, judge_results
from ackclock.studies.outcome import StudyOutcome, find_code_hash

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.experiments.result import SweepResult
    from ackclock.experiments.statistics import Mean
    from ackclock.experiments.status_line import Status
    from ackclock.studies.algorithm_argument import Subject

__all__ = ["Evaluation", "evaluate"]

TRIAL_S = 20.0
"""Length of the run that comes first, so that a control that fails does so at once [s]."""


@dataclass(frozen=True)
class Evaluation(StudyOutcome):
    """A finished evaluation. Printing it gives the page."""

    MARKER = "evaluation.json"
    PAGE = "report.html"

    judgement: Judgement
    control: Subject
    tier: str
    alone: SweepResult
    shared: SweepResult

    def __str__(self) -> str:
        from ackclock.studies.evaluate_control.page import page

        return page(self.judgement, self.tier)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON; what is not known is None."""
        judgement = self.judgement

        def row(keys: dict[str, str], **means: Mean) -> dict[str, Any]:
            return {**keys, **{name: mean.to_list() for name, mean in means.items()}}

        return {
            "control": judgement.control,
            "tier": self.tier,
            "seeds": judgement.seeds,
            "runs": judgement.runs,
            "cpu_s": judgement.cpu_s,
            "best": {s: list(names) for s, names in judgement.best.items()},
            "scores": [
                row(
                    {"setting": s, "control": c},
                    D=judgement.rank_d[s, c],
                    C=judgement.rank_c[s, c],
                    **{m: v for (s2, c2, m), v in judgement.metrics.items() if (s2, c2) == (s, c)},
                )
                for s in judgement.settings
                for c in judgement.controls
            ],
            "worst": {
                s: {"environment": e, "behind": other, "gap": gap.to_list()}
                for s, (e, gap, other) in judgement.worst.items()
            },
            "sharing": [
                row({"router": router, "other": other}, share=n.share, kept=n.retained)
                for (router, other), n in judgement.neighbours.items()
            ],
            "user_code_hash": find_code_hash(self.shared.summaries),
        }

    def pages(self, command: str) -> dict[str, str]:
        """The report and the page of text.

        Parameters
        ----------
        command
            What the user typed.
        """
        from ackclock.studies.evaluate_control.report import html

        report = html(
            self.judgement,
            value=without_places(self.control.value),
            tier=self.tier,
            code=find_code_hash(self.shared.summaries),
            command=command,
        )
        return {self.PAGE: report, "page.txt": str(self)}

    def write_files(self, folder: Path, command: str) -> None:
        """Write the scores as CSV.

        Parameters
        ----------
        folder
            The folder.
        command
            What the user typed.
        """
        import pyarrow.csv as pc

        from ackclock._util.arrow import plain_words

        del command
        for name, result in (("alone", self.alone), ("shared", self.shared)):
            pc.write_csv(plain_words(result.tables["environment"]), folder / f"{name}.csv")


def evaluate(
    control: str,
    tier: str = "fast",
    *,
    seed: int = 1,
    reps: int | None = None,
    workers: int | None = None,
    store: str | Path | None = None,
    progress: bool | Callable[[Status], object] = True,
    folder: Path | None = None,
    command: str | None = None,
) -> Evaluation:
    """Evaluate a control beside the four linear ones, CUBIC, BBRv3 and Vegas.

    Parameters
    ----------
    control
        Registry name, ``file.py:Class``, or a table as ``{kind = "aimd", b = 0.7}``.
    tier
        ``fast`` or ``full``.
    seed
        Of the first replicate.
    reps
        Replicates; left out: those of the tier.
    workers, store, progress, command
        As of `ackclock.experiments.Sweep.run`; with a store, an evaluation that was stopped goes on
        where it was.
    folder
        What files are relative to; left out: the current one.

    Raises
    ------
    ScenarioError
        It is no control.
    AckclockError
        There is no such tier; or the control broke its contract.
    KeyboardInterrupt
        It was stopped; what had finished is kept.
    """
    size: grid.ControlTier = find_by_name(tier, grid.TIERS, "tier")
    subject = grid.read_control(control, folder or Path())
    count = reps or size.reps
    _trial(subject, seed)
    results = []
    for study_sweep in (
        grid.alone(subject, size, seed=seed, reps=count),
        grid.make_shared_sweep(subject, size, seed=seed, reps=count),
    ):
        with runs_of("evaluate"):
            result = study_sweep.run(
                workers=workers, store=store, progress=progress, command=command
            )
        if result.interrupted:
            raise KeyboardInterrupt
        results.append(result)
    alone, shared = results
    return Evaluation(judge_results(subject, alone, shared), subject, tier, alone, shared)


def _trial(control: Subject, seed: int) -> None:
    """Run the control once where bandwidth falls to a tenth, in this process."""
    from ackclock.scenario.scenario import Scenario

    size = grid.ControlTier(("sq-high",), (), TRIAL_S, 0.0, 1)
    Scenario.from_data(grid.document(control.value, size, seed=seed)).run()
