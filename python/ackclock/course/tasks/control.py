"""A congestion control over traces of a cellular link: score log(throughput / delay)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock.course.tasks.source import control_class
from ackclock.course.tasks.task import Item, Measured
from ackclock.errors import AckclockError
from ackclock.scenario.paths.cellular import cellular_trace, write_trace

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ackclock.course.tasks.source import SourceEntry

__all__ = ["ControlTask", "mean_score", "measure", "read_traces", "score"]

HIDDEN = 5
"""Traces that are made for grading."""

NOTHING = -10.0
"""Score of a control that delivers nothing on a trace, or fails there."""


def score(throughput_bps: float, delay_s: float) -> float:
    """Compute ln of throughput in Mbit/s over delay in s; `NOTHING` if nothing was delivered.

    Source: Sivaraman et al., "Protocol design contests", CCR 44(3), 2014, section 2. The unit is
    free there; it adds a constant.

    Parameters
    ----------
    throughput_bps
        Delivered [bit/s].
    delay_s
        95th percentile of the round trips [s].
    """
    if not (throughput_bps > 0 and delay_s > 0):
        return NOTHING
    return max(NOTHING, math.log(throughput_bps / 1e6 / delay_s))


def scenario(trace: str, cc: Any) -> dict[str, Any]:
    """Write the scenario of the contest.

    Parameters
    ----------
    trace
        A file of Mahimahi.
    cc
        The control.
    """
    return {
        "name": "A cellular link",
        "duration": "60 s",
        "net": {
            "kind": "dumbbell",
            "pairs": 1,
            "rate": "12 Mbps",
            "rtt": "40 ms",
            "buffer": "1000 pkt",
            "schedule": {"mahimahi_file": trace},
        },
        "flows": [{"id": "control", "pair": 0, "cc": cc, "tcp": {"delayed_ack": 1}}],
        "record": {"tables": ["rtts"]},
    }


def measure(trace: str, cc: Any) -> dict[str, float]:
    """Run a control over a trace.

    Parameters
    ----------
    trace, cc
        As of `scenario`.

    Returns
    -------
    dict
        ``throughput_bps``, ``delay_s`` (95th percentile of round trips), ``score``.
    """
    import numpy as np

    from ackclock._util.arrow import numbers
    from ackclock.scenario.scenario import Scenario

    run = Scenario.from_data(scenario(trace, cc)).run()
    rtts = numbers(run.tables["rtts"]["rtt_s"])
    throughput = float(run.summary["flows"][0]["goodput_bps"])
    delay = float(np.percentile(rtts, 95)) if rtts.size else 0.0
    return {"throughput_bps": throughput, "delay_s": delay, "score": score(throughput, delay)}


def read_traces(folder: Path) -> tuple[list[Path], list[str]]:
    """Find the Mahimahi traces of a file or a folder.

    Parameters
    ----------
    folder
        Of the teacher.

    Returns
    -------
    tuple
        Files of traces, and a sentence for each file that is none.

    Raises
    ------
    AckclockError
        There is no usable trace.
    """
    from ackclock.errors import ScenarioError
    from ackclock.scenario.traces import delivery

    if not folder.exists():
        raise AckclockError(f"{folder}: there is no such file or folder of traces")
    files = sorted(folder.iterdir()) if folder.is_dir() else [folder]
    traces, problems = [], []
    for file in files:
        if not file.is_file() or file.name.startswith("."):
            continue
        try:
            delivery(file, "traces")
            traces.append(file.resolve())
        except ScenarioError as error:
            problems += [problem.message for problem in error.problems]
    if not traces:
        reason = "; ".join(problems) or f"{folder} has no file"
        raise AckclockError(f"there is no trace to grade with: {reason}")
    return traces, problems


class ControlTask:
    """Score a control on every trace."""

    FILE: ClassVar = "control.py"

    def find_entry(self, file: Path) -> SourceEntry:
        """Find the class under ``@ac.control``."""
        return control_class(file)

    def items(
        self, settings: Mapping[str, Any], seed: int, traces: Path | None, folder: Path
    ) -> tuple[list[Item], list[str]]:
        """Give the teacher's traces, or make five from the seed."""
        del settings
        if traces is not None:
            files, problems = read_traces(traces)
            return [Item(file.name, {"file": str(file)}) for file in files], problems
        items = []
        for number in range(1, HIDDEN + 1):
            file = folder / f"hidden-{number}.trace"
            write_trace(file, cellular_trace(seed * HIDDEN + number))
            items.append(Item(f"hidden {number}", {"file": str(file)}))
        return items, []

    def work(self, file: str, entry: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Run the student's control over one trace."""
        return measure(data["file"], f"{file}:{entry}")

    def share(
        self,
        measured: Measured,
        items: Sequence[Item],
        baselines: Mapping[str, Measured],
        settings: Mapping[str, Any],
    ) -> float:
        """Interpolate between the baseline that gives no points and the one that gives all."""
        none, full = (
            mean_score(baselines[settings[key]], items) for key in ("no_points", "full_points")
        )
        return min(1.0, max(0.0, (mean_score(measured, items) - none) / (full - none)))


def mean_score(measured: Measured, items: Sequence[Item]) -> float:
    """Average the scores of all traces; one that failed counts `NOTHING`.

    Parameters
    ----------
    measured
        Of a control.
    items
        The traces.
    """
    scores = [measured.results.get(item.name, {}).get("score", NOTHING) for item in items]
    return float(sum(scores) / len(scores))
