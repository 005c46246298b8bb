"""What other controls and queues would have done on a calibrated path."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.captures.calibrate.scenario import draw_from, scenario_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ackclock.captures.calibrate.candidates import Candidate
    from ackclock.captures.calibrate.estimate import PathEstimate
    from ackclock.captures.trace import Floats, FlowTrace

__all__ = ["METRICS", "Alternative", "try_alternatives"]

METRICS = ("goodput_bps", "rtt_p50_s", "rtt_p95_s", "loss_ratio")
"""What is reported of each alternative."""


@dataclass
class Alternative:
    """A control and a queue, with what they did on paths drawn from the intervals.

    Parameters
    ----------
    control, qdisc
        Names.
    values
        By metric the values of the draws.
    curve
        Times and goodput of the first draw [bit/s].
    """

    control: str
    qdisc: str
    values: dict[str, Floats] = field(default_factory=dict)
    curve: tuple[Floats, Floats] = field(default_factory=lambda: (np.empty(0), np.empty(0)))

    def interval(self, metric: str) -> tuple[float, float, float]:
        """Mean, and the bounds between which 95 % of the draws are.

        Parameters
        ----------
        metric
            One of `METRICS`.
        """
        values = self.values[metric]
        low, high = np.percentile(values, [2.5, 97.5])
        return float(np.mean(values)), float(low), float(high)


def try_alternatives(
    path: PathEstimate,
    flow: FlowTrace,
    controls: Sequence[str],
    qdiscs: Sequence[str],
    *,
    own: Candidate | None,
    size_bytes: float,
    duration_s: float,
    era: str = "linux",
    draws: int = 20,
    workers: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> list[Alternative]:
    """Run each control with each queue on the same draws of the path.

    Parameters
    ----------
    path
        The path.
    flow
        The flow from which it was calibrated.
    controls, qdiscs
        Names of algorithms; each is also tried with the path's queue.
    own
        The path's queue, as a search found it; None: FIFO.
    size_bytes
        A full packet on the wire.
    duration_s
        Simulated time of each run [s].
    era
        Whose defaults senders have.
    draws
        Paths drawn from the intervals.
    workers
        Runs at a time; left out: one per core.
    progress
        Called with the share of runs that are finished.
    """
    queue = "fifo" if own is None or own.kind in ("drop-tail", "random") else own.kind
    names = list(dict.fromkeys([queue, *qdiscs]))
    pairs = [(control, name) for name in names for control in controls]
    jobs = []
    for control, name in pairs:
        is_own = own is not None and name == queue
        for number in range(draws):
            draw = draw_from(path, size_bytes, number)
            if own is not None and is_own and path.buffer_bytes is None:
                draw = replace(draw, buffer_bytes=own.draw.buffer_bytes, loss=own.draw.loss)
            scenario = scenario_of(
                path, flow, draw, control=control,
                qdisc=replace(own, draw=draw).qdisc if own is not None and is_own else name,
                duration_s=duration_s, seed=number + 1, era=era,
                link_factor=own.link_factor if own is not None and is_own else 1.0,
            )  # fmt: skip
            jobs.append((scenario, number == 0))
    results: list[dict[str, Any]] = []
    with ThreadPoolExecutor(workers) as pool:
        for result in pool.map(_run, jobs):
            results.append(result)
            if progress is not None:
                progress(len(results) / len(jobs))
    alternatives = []
    for index, (control, qdisc) in enumerate(pairs):
        rows = results[index * draws : (index + 1) * draws]
        values = {name: np.array([row[name] for row in rows], float) for name in METRICS}
        alternatives.append(Alternative(control, qdisc, values, rows[0]["curve"]))
    return alternatives


def _run(job: tuple[Any, bool]) -> dict[str, Any]:
    scenario, is_first = job
    record = ["flow_samples"] if is_first else []
    run = scenario.run(record=record)
    row = {name: run.summary["flows"][0][name] for name in METRICS}
    row["curve"] = np.empty(0), np.empty(0)
    if is_first:
        samples = run.table("flow_samples")
        times = samples["time_s"].to_numpy()
        size = samples["received_bytes"].to_numpy()
        step = max(1, len(times) // 100)
        times, size = times[::step], size[::step]
        if len(times) > 2:
            row["curve"] = times[1:], np.diff(size) * 8 / np.diff(times)
    return row
