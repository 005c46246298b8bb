"""A classifier of runs by the queue that a control filled.

Source: Ware, Kothari, Sekar, Sherry and others, "CCAnalyzer: an efficient and nearly-passive
congestion control classifier", SIGCOMM 2024: the queue of the bottleneck over time is enough.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock.course.tasks.source import function_named
from ackclock.course.tasks.task import Item, Measured

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.course.tasks.source import SourceEntry

__all__ = ["ClassifierTask", "confusion", "labelled_runs", "load_function"]

RATES_MBPS = (5, 8, 12, 20)
RTTS_MS = (30, 60, 90, 120)
BUFFERS_BDP = (1, 2, 3)


def scenario(label: str, rate_mbps: float, rtt_ms: float, buffer_bdp: float, seed: int) -> Any:
    """Write the scenario of a run to be recognised.

    Parameters
    ----------
    label
        The control.
    rate_mbps, rtt_ms, buffer_bdp
        Of the path; the buffer in bandwidth-delay products.
    seed
        Of the run.
    """
    return {
        "name": "Which control is it?",
        "duration": "30 s",
        "seed": seed,
        "net": {
            "kind": "dumbbell",
            "pairs": 2,
            "rate": f"{rate_mbps} Mbps",
            "rtt": f"{rtt_ms} ms",
            "buffer": f"{buffer_bdp} bdp",
        },
        "flows": [
            {"id": "unknown", "pair": 0, "cc": label},
            {
                "id": "noise",
                "pair": 1,
                "source": {
                    "kind": "exponential-on-off",
                    "rate": f"{0.1 * rate_mbps} Mbps",
                    "packet": "500 B",
                },
            },
        ],
        "record": {"tables": ["link_samples"], "interval": "20 ms"},
    }


def labelled_runs(labels: Sequence[str], each: int, seed: int) -> list[tuple[str, Any]]:
    """Draw scenarios with the control of each.

    Parameters
    ----------
    labels
        Names of controls.
    each
        Runs of one control.
    seed
        The same number gives the same runs, in the same order.
    """
    draw = random.Random(f"which {seed}").random
    runs = []
    for label in labels:
        for _ in range(each):
            rate, rtt, buffer = (
                choices[int(draw() * len(choices))]
                for choices in (RATES_MBPS, RTTS_MS, BUFFERS_BDP)
            )
            runs.append((draw(), label, scenario(label, rate, rtt, buffer, int(draw() * 1e6))))
    return [
        (label, drawn_scenario) for _, label, drawn_scenario in sorted(runs, key=lambda run: run[0])
    ]


def observe(document: Mapping[str, Any]) -> dict[str, Any]:
    """Run a scenario and keep what one sees at the bottleneck.

    Parameters
    ----------
    document
        As of `scenario`.

    Returns
    -------
    dict
        ``rate_mbps``, ``rtt_ms``, ``buffer_packets``, and lists by time: ``time_s``,
        ``queue_packets``, ``drops`` (since the beginning).
    """
    from ackclock.scenario.scenario import Scenario

    run = Scenario.from_data(dict(document)).run()
    samples = run.tables["link_samples"].to_pylist()
    rows = [row for row in samples if row["link"] == "r0->r1"]
    rate = float(document["net"]["rate"].split()[0])
    rtt = float(document["net"]["rtt"].split()[0])
    product = rate * 1e6 * rtt / 1e3 / 8 / 1500
    return {
        "rate_mbps": rate,
        "rtt_ms": rtt,
        "buffer_packets": round(float(document["net"]["buffer"].split()[0]) * product),
        "time_s": [row["time_s"] for row in rows],
        "queue_packets": [row["queue_packets"] for row in rows],
        "drops": [row["dropped_packets"] for row in rows],
    }


def load_function(file: str, name: str) -> Any:
    """Run a file as a module, without keeping bytecode, and give a function of it.

    Parameters
    ----------
    file
        Of a student.
    name
        Of the function.
    """
    module = _MODULES.get(file)
    if module is None:
        code = compile(Path(file).read_bytes(), file, "exec")
        module = {"__name__": "student", "__file__": file}
        exec(code, module)
        _MODULES[file] = module
    return module[name]


_MODULES: dict[str, dict[str, Any]] = {}


class ClassifierTask:
    """Count how often a student's ``classify(run)`` names the control."""

    FILE: ClassVar = "classify.py"

    def find_entry(self, file: Path) -> SourceEntry:
        """Find ``classify``."""
        return function_named(file, "classify")

    def items(
        self, settings: Mapping[str, Any], seed: int, traces: Path | None, folder: Path
    ) -> tuple[list[Item], list[str]]:
        """Simulate the hidden runs."""
        del traces, folder
        runs = labelled_runs(settings["labels"], settings["hidden_each"], 1000 + seed)
        items = [
            Item(f"run {number + 1}", observe(document), label)
            for number, (label, document) in enumerate(runs)
        ]
        return items, []

    def work(self, file: str, entry: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Classify one run."""
        label = load_function(file, entry)(dict(data))
        if not isinstance(label, str):
            message = f"{entry} returned {label!r:.60}; expected the name of a control as text"
            raise TypeError(message)
        return {"label": label[:40]}

    def share(
        self,
        measured: Measured,
        items: Sequence[Item],
        baselines: Mapping[str, Measured],
        settings: Mapping[str, Any],
    ) -> float:
        """Interpolate between guessing and the accuracy that gives all points."""
        del baselines
        guess, full = 1 / len(settings["labels"]), float(settings["full_points"])
        return min(1.0, max(0.0, (accuracy(measured, items) - guess) / (full - guess)))


def accuracy(measured: Measured, items: Sequence[Item]) -> float:
    """Give the share of runs whose control was named; a run that failed counts as wrong.

    Parameters
    ----------
    measured
        Of a student.
    items
        The runs.
    """
    hits = [measured.results.get(item.name, {}).get("label") == item.answer for item in items]
    return float(sum(hits) / len(hits))


def confusion(measured: Measured, items: Sequence[Item], labels: Sequence[str]) -> list[list[int]]:
    """Count answers by true control (rows) and named control (columns; the last: anything else).

    Parameters
    ----------
    measured, items
        As of `accuracy`.
    labels
        Of rows and columns.
    """
    counts = [[0] * (len(labels) + 1) for _ in labels]
    for item in items:
        named = measured.results.get(item.name, {}).get("label")
        column = labels.index(named) if named in labels else len(labels)
        counts[labels.index(item.answer)][column] += 1
    return counts
