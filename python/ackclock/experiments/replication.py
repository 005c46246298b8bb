"""Runs a scenario with several seeds on all cores and gives means with confidence intervals."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.number_text import engineering, percent
from ackclock._util.text_table import table
from ackclock.catalogue.class_loading import before_run
from ackclock.experiments.executors.local import Threads, cores
from ackclock.experiments.executors.task import Finished, Request, Task
from ackclock.experiments.groups import JITTER, RunMetric, balance
from ackclock.experiments.statistics import mean_interval
from ackclock.results.run import FEW_LINKS, count_idle, is_busy
from ackclock.scenario.threads import count_threads

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from ackclock._util.table_type import Table
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["Replication", "cores", "mean_interval", "replicate", "run_all"]


class Replication:
    """Runs of one scenario under different seeds.

    Parameters
    ----------
    scenario
        What was run.
    runs
        The finished runs in order of their seeds.
    planned
        How many runs were wanted.
    confidence
        Level of the intervals.
    """

    def __init__(
        self, scenario: Scenario, runs: Sequence[Run], planned: int, confidence: float
    ) -> None:
        self.scenario = scenario
        self.runs = tuple(runs)
        self.planned = planned
        self.confidence = confidence

    @property
    def interrupted(self) -> bool:
        """Whether fewer runs finished than were wanted."""
        return len(self.runs) < self.planned

    def _values(self) -> Iterator[tuple[int, str, str, str, float]]:
        for run in self.runs:
            for kind in ("flow", "link"):
                for item in run.summary[f"{kind}s"]:
                    for metric, value in item.items():
                        if isinstance(value, int | float) and not isinstance(value, bool):
                            yield run.summary["seed"], kind, str(item["id"]), metric, float(value)

    @property
    def distinct_runs(self) -> int:
        """How many of the runs differ in more than their seed."""
        return len({run.summary["digest"] for run in self.runs})

    @property
    def note(self) -> str:
        """What a reader of the means must know besides; empty if there is nothing."""
        if len(self.runs) > 1 and self.distinct_runs == 1:
            return (
                f"the {len(self.runs)} seeds give one and the same run, so there is no interval"
                f" ({JITTER})"
            )
        return ""

    @property
    def warnings(self) -> list[str]:
        """What the means may mislead about: warm-ups of runs that are measured from 0 s."""
        from ackclock.results.warm_up import describe_warm_ups

        return describe_warm_ups(run.summary for run in self.runs)

    def _means(self) -> list[dict[str, Any]]:
        groups: dict[tuple[str, str, str], dict[int, RunMetric]] = {}
        digests = {run.summary["seed"]: run.summary["digest"] for run in self.runs}
        for seed, kind, name, metric, value in self._values():
            of = groups.setdefault((kind, name, metric), {})
            of[seed] = RunMetric(value, digests[seed])
        rows = []
        for (kind, name, metric), of in groups.items():
            # What has a value under some seeds alone lacks it under the others.
            all_seeds = {
                seed: of.get(seed, RunMetric(math.nan, digest)) for seed, digest in digests.items()
            }
            group = balance({(): all_seeds})
            mean, low, high = group.interval(self.confidence, "t")
            rows.append(
                {
                    "kind": kind, "id": name, "metric": metric, "mean": mean, "ci_low": low,
                    "ci_high": high, "n": len(of), "note": group.note(self.confidence),
                }
            )  # fmt: skip
        return rows

    @property
    def observations(self) -> Table:
        """Tidy table of single values: seed, kind (flow or link), id, metric, value."""
        from ackclock._util.arrow import array, table

        seeds, kinds, names, metrics, values = [*zip(*self._values(), strict=True)] or [()] * 5
        return table(
            {
                "seed": array(np.array(seeds, dtype=np.uint64)),
                "kind": array(kinds),
                "id": array(names),
                "metric": array(metrics),
                "value": array(np.array(values, dtype=float)),
            }
        )

    @property
    def means(self) -> Table:
        """Tidy table of means: kind, id, metric, mean, ci_low, ci_high, n, note.

        The ends of the interval are null for fewer than two values, and where all seeds give one
        and the same run. ``n`` counts the runs that have a value.
        """
        from ackclock._util.arrow import array, table

        rows = self._means()
        text = {key: array([row[key] for row in rows]) for key in ("kind", "id", "metric")}
        real = {
            key: array(np.array([row[key] for row in rows], dtype=float))
            for key in ("mean", "ci_low", "ci_high")
        }
        counts = array(np.array([row["n"] for row in rows], dtype=np.int64))
        return table({**text, **real, "n": counts, "note": array([row["note"] for row in rows])})

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, for JSON; an interval that is not known is None."""
        first = self.runs[0].summary if self.runs else {}
        means = [
            {k: None if isinstance(v, float) and np.isnan(v) else v for k, v in row.items()}
            for row in self._means()
        ]
        return {
            "scenario_hash": first.get("scenario_hash"),
            "version": first.get("version"),
            "engine": first.get("engine"),
            "era": first.get("era"),
            "replications": len(self.runs),
            "interrupted": self.interrupted,
            "distinct_runs": self.distinct_runs,
            "note": self.note,
            "warnings": self.warnings,
            "confidence": self.confidence,
            "seeds": [run.summary["seed"] for run in self.runs],
            "means": means,
            "runs": [run.summary for run in self.runs],
        }

    def _idle_links(self) -> set[tuple[str, str]]:
        """Of more than a few links, those that carry next to nothing in all runs."""
        links = [link for run in self.runs for link in run.summary["links"]]
        names = {str(link["id"]) for link in links}
        busy = {str(link["id"]) for link in links if is_busy(link)}
        return {("link", name) for name in names - busy} if len(names) > FEW_LINKS else set()

    def __str__(self) -> str:
        title_of_metric: dict[str, tuple[str, Callable[[float], str]]] = {
            "goodput_bps": ("goodput", lambda value: engineering(value, "bit/s")),
            "utilisation": ("used", percent),
            "delay_mean_s": ("queueing delay", lambda value: engineering(value, "s")),
        }
        idle = self._idle_links()
        rows = [
            [
                f"{row['kind']} {row['id']}",
                title,
                *(written(row[key]) for key in ("mean", "ci_low", "ci_high")),
            ]
            for row in self._means()
            if row["metric"] in title_of_metric and (row["kind"], row["id"]) not in idle
            for title, written in [title_of_metric[row["metric"]]]
        ]
        level = f"{100 * self.confidence:g} %"
        count = f"{len(self.runs)} of {self.planned}" if self.interrupted else f"{len(self.runs)}"
        name = self.scenario.name or "scenario"
        head = f"{name}: {count} replications, {level} Student-t intervals"
        if self.note:
            head = f"{name}: {count} replications: {self.note}"
        of_some = sum(
            row["metric"] in title_of_metric and row["n"] < len(self.runs) for row in self._means()
        )
        blocks = [head, table(["", "", "mean", "low", "high"], rows)]
        if idle:
            blocks.append(f"{count_idle(len(idle))}; --json and `means` have all")
        if of_some:
            blocks.append(
                f"note: {of_some} of these means are over the runs alone that have a value"
            )
        if warnings := self.warnings:
            blocks.append("\n".join(f"warning: {warning}" for warning in warnings))
        return "\n\n".join(blocks)


def run_all(
    scenarios: Sequence[Scenario],
    *,
    workers: int | None = None,
    threads: int | None = None,
    progress: Callable[[float], object] | None = None,
    on_finish: Callable[[int, Run], object] | None = None,
) -> dict[int, Run]:
    """Run scenarios on threads (the core releases the interpreter's lock).

    Large recorded tables are in a temporary folder as long as one of the runs is used.

    Parameters
    ----------
    scenarios
        What to run.
    workers
        Cores to use; left out: all.
    threads
        Of each run; left out: one, or more where fewer runs are left than cores and they are
        predicted to pay.
    progress
        Called from the calling thread with the fraction of all work done.
    on_finish
        Called from the calling thread with the index and the run.

    Returns
    -------
    dict
        Finished runs by index. After Ctrl-C, those that had finished: compare the lengths.
    """
    from ackclock._util.arrow import Tables
    from ackclock._util.output_folder import ScratchFolder
    from ackclock.results.run import Run

    finished: dict[int, Run] = {}

    def take(task: Finished) -> None:
        index = task.task.number
        for record in task.records:
            finished[index] = Run(scenarios[index], record.summary_json, record.tables)
            if isinstance(record.tables, Tables):
                record.tables.hold(scratch)
            if on_finish is not None:
                on_finish(index, finished[index])

    before_run()
    scratch = ScratchFolder()
    with Threads(workers or cores(), scratch.path, threads) as works:
        for index, scenario in enumerate(scenarios):
            request = Request(str(index), scenario, scenario.seed)
            works.submit(Task(index, (request,), len(scenarios) - 1 - index))
        try:
            while len(finished) < len(scenarios):
                for task in works.ready(0.2):
                    take(task)
                    if task.error is not None:
                        raise task.error
                if progress is not None:
                    progress((len(finished) + works.doing()) / len(scenarios))
        except KeyboardInterrupt:
            for task in works.stop():
                take(task)
    return finished


def replicate(
    scenario: Scenario,
    reps: int = 10,
    *,
    workers: int | None = None,
    threads: int | str = "auto",
    confidence: float = 0.95,
    progress: Callable[[float], object] | None = None,
    on_finish: Callable[[int, Run], object] | None = None,
) -> Replication:
    """Run a scenario under several seeds, on all cores.

    Parameters
    ----------
    scenario
        Run with its own seed and the ``reps - 1`` that follow.
    reps
        Number of runs, at least 1.
    workers
        Cores to use; left out: all.
    threads
        Of each run, or ``"auto"``: one, or more where fewer runs are left than cores and they are
        predicted to pay. Results do not depend on it.
    confidence
        Level of the intervals, in (0, 1).
    progress
        Called with the fraction of all work done.
    on_finish
        Called with index and run as each finishes.

    Returns
    -------
    Replication
        Single values and means as tidy Arrow tables.
    """
    if reps < 1:
        raise ValueError("reps must be at least 1")
    if not 0 < confidence < 1:
        raise ValueError("confidence must be between 0 and 1")
    thread_count = count_threads(threads)
    scenario.check(spills=True)
    seeds = range(scenario.seed, scenario.seed + reps)
    runs = run_all(
        [scenario.replace(seed=seed) for seed in seeds],
        workers=workers,
        threads=None if thread_count.is_chosen else thread_count.most,
        progress=progress,
        on_finish=on_finish,
    )
    return Replication(scenario, [runs[index] for index in sorted(runs)], reps, confidence)
