"""Runs an evaluation of a queue and writes what it found."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import find_by_name
from ackclock.experiments.groups import describe_one_run, one_run_points
from ackclock.experiments.store.purpose import runs_of
from ackclock.studies.evaluate_queue.scenarios import (
    SCENARIOS,
    TIERS,
    QueueTier,
    document,
    queues,
    read_queue,
)
from ackclock.studies.evaluate_queue.score import METRICS, Scores, score_runs
from ackclock.studies.outcome import StudyOutcome, find_code_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from ackclock.experiments.status_line import Status
    from ackclock.studies.algorithm_argument import Subject

__all__ = ["QueueEvaluation", "evaluate_queue"]


@dataclass(frozen=True)
class QueueEvaluation(StudyOutcome):
    """A finished evaluation. Printing it gives the page."""

    MARKER = "queue-evaluation.json"
    PAGE = "report.html"

    queue: Subject
    tier: str
    seeds: int
    runs: int
    scores: Mapping[str, Scores]
    user_code_hash: str | None
    one_run: str = ""
    """How many points have one run for all seeds, in a sentence."""

    def __str__(self) -> str:
        from ackclock.studies.evaluate_queue.page import page

        text = page(self.scores, self.tier, self.runs, self.seeds)
        return "\n\n".join(filter(None, [text, textwrap.fill(self.one_run, 100)]))

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON; what is not known is None."""
        return {
            "queue": self.queue.label,
            "tier": self.tier,
            "seeds": self.seeds,
            "runs": self.runs,
            "user_code_hash": self.user_code_hash,
            "scores": [
                {
                    "scenario": name,
                    "queue": queue,
                    **{metric: queue_scores.mean(queue, metric).to_list() for metric in METRICS},
                }
                for name, queue_scores in self.scores.items()
                for queue in queue_scores.queues
            ],
        }

    def pages(self, command: str) -> dict[str, str]:
        """The report and the page of text.

        Parameters
        ----------
        command
            What the user typed.
        """
        from ackclock.studies.evaluate_queue.report import html

        report = html(
            self.queue,
            self.scores,
            tier=self.tier,
            seeds=self.seeds,
            runs=self.runs,
            code=self.user_code_hash,
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
        import csv

        del command
        with (folder / "scores.csv").open("w", encoding="utf-8", newline="") as file:
            write = csv.writer(file, lineterminator="\n")
            write.writerow(["scenario", "queue", "metric", "replicate", "value"])
            for name, queue_scores in self.scores.items():
                for (queue, metric), values in queue_scores.values.items():
                    for number, value in enumerate(values):
                        write.writerow([name, queue, metric, number, repr(float(value))])


def evaluate_queue(
    queue: str,
    tier: str = "fast",
    *,
    seed: int = 1,
    reps: int | None = None,
    workers: int | None = None,
    store: str | Path | None = None,
    progress: bool | Callable[[Status], object] = True,
    folder: Path | None = None,
    command: str | None = None,
) -> QueueEvaluation:
    """Evaluate a queue discipline beside drop tail and others, in the scenarios of RFC 7928.

    Parameters
    ----------
    queue
        Registry name, ``file.py:Class``, or a table as ``{kind = "red", max_p = 0.2}``.
    tier
        ``fast`` or ``full``.
    seed, reps, workers, store, progress, folder, command
        As of `ackclock.studies.evaluate_control.run.evaluate`.

    Raises
    ------
    ScenarioError
        It is no queue discipline.
    AckclockError
        There is no such tier; or the discipline broke its contract.
    KeyboardInterrupt
        It was stopped; what had finished is kept.
    """
    from ackclock.experiments.grid import Axis
    from ackclock.experiments.sweeps import sweep
    from ackclock.scenario.scenario import Scenario

    size: QueueTier = find_by_name(tier, TIERS, "tier")
    subject = read_queue(queue, folder or Path())
    count = reps or size.reps
    # First in this process: a class that fails does so at once, with its own error.
    Scenario.from_data(document(subject.value, SCENARIOS["capacity"], size, seed=seed)).run()
    scores: dict[str, Scores] = {}
    runs = one_run = points = 0
    code: str | None = None
    compared = queues(subject, size)
    for name, scene in SCENARIOS.items():
        study_sweep = sweep(
            Scenario.from_data(document(subject.value, scene, size, seed=seed)),
            {"queue": Axis("net.qdisc", compared)},
            reps=count,
            name=f"RFC 7928, {scene.title}",
        )
        with runs_of("evaluate-queue"):
            result = study_sweep.run(
                workers=workers, store=store, progress=progress, command=command
            )
        if result.interrupted:
            raise KeyboardInterrupt
        runs += result.requested
        one_run += len(one_run_points(result.slots, result.digests))
        points += len(study_sweep.points)
        code = code or find_code_hash(result.summaries)
        scores[name] = score_runs(result, name, _mean_rate(name, size.duration_s))
    equal = describe_one_run(one_run, points)
    return QueueEvaluation(subject, tier, count, runs, scores, code, equal)


def _mean_rate(scene: str, duration_s: float) -> float:
    """Mean rate of the link while it is measured, over its full rate."""
    # It is a quarter for the middle third; the first 5 s are not measured.
    whole = duration_s - 5.0
    return (whole - 0.75 * duration_s / 3) / whole if scene == "capacity" else 1.0
