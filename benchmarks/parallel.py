"""Measure one run on one thread and on two, beside the speed-up that `explain --parallel` predicts.

``python benchmarks/parallel.py`` runs each scenario on one thread and on two in turns, every other
turn the other way round, by the bench program: wall time from the compiled scenario to the results,
with dividing and building. The digests must be equal. Then the stretch that ``ackclock explain
--parallel`` records gives the predicted speed-up for 2 to 64 cores, and ``--threads auto`` says how
many threads it takes. Each needs both processors for itself; ``--real-time`` runs it in the
real-time class, before all else on the machine (Linux, root).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

import legout
import scenarios
from measure import ROOT, BenchmarkError, Command, build, hierarchy_files, machine, measured

import ackclock as ac

if TYPE_CHECKING:
    from collections.abc import Callable


def fat_tree() -> dict[str, Any]:
    """Return the data centre of the examples."""
    return tomllib.loads((ROOT / "examples" / "fat-tree.toml").read_text(encoding="utf-8"))


def hierarchy() -> dict[str, Any]:
    """Return the hierarchy of 1000 flows, 10 s of it."""
    with tempfile.TemporaryDirectory() as folder:
        return scenarios.hierarchy(hierarchy_files(Path(folder)), 10)


SCENARIOS: dict[str, Callable[[], dict[str, Any]]] = {
    "fat-tree": fat_tree,
    "hierarchy": hierarchy,
    "tiers": lambda: legout.scenario(15),
    "wan": lambda: scenarios.wan(1000, 4),
    "scaled-20000": lambda: scenarios.scaled(20_000, 1),
    "scaled-100000": lambda: scenarios.scaled(100_000, 0.5),
    "dumbbell-50": lambda: scenarios.dumbbell(50, 30),
}


def compare(program: Path, document: dict[str, Any], turns: int) -> None:
    """Run a scenario in turns, and print what each turn took."""
    scenario = ac.Scenario.from_data(document)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(scenario.resolve_files().data, file)
        file.flush()

        def run(threads: str) -> dict[str, Any]:
            command: Command = [program, "run", file.name, "--threads", threads]
            report: dict[str, Any] = json.loads(measured(command, None).output)
            return report

        ratios, one_s, two_s, cpu = [], [], [], []
        for turn in range(turns):
            order = ["1", "2"] if turn % 2 == 0 else ["2", "1"]
            one, two = sorted((run(n) for n in order), key=lambda report: report["threads"])
            if one["digest"] != two["digest"]:
                raise BenchmarkError(f"{scenario.name}: digests differ")
            one_s.append(one["run_wall_s"][0])
            two_s.append(two["run_wall_s"][0])
            ratios.append(one_s[-1] / two_s[-1])
            cpu.append(two["run_cpu_s"][0] / one["run_cpu_s"][0])
            memory = two["peak_kib"] / one["peak_kib"]
        chosen = run("auto")
    middle = statistics.median
    print(
        f"  one {middle(one_s):.2f} s, two {middle(two_s):.2f} s, speed-up {middle(ratios):.2f}"
        f" ({min(ratios):.2f} to {max(ratios):.2f}), CPU {middle(cpu):.2f} times, memory"
        f" {memory:.2f} times; auto: {chosen['threads']}, {chosen['reason']}",
        flush=True,
    )


def predict(document: dict[str, Any]) -> None:
    """Print the predicted speed-ups."""
    data = ac.Scenario.from_data(document).parallelism().data
    curve = ", ".join(f"{on['cores']}: {on['speedup']:.2f}" for on in data["predicted"])
    print(
        f"  predicted {curve} ({1e9 * data['step_s']:.0f} ns a step,"
        f" {1e9 * data['crossing_s']:.0f} ns more if it depends on another core,"
        f" {1e9 * data['sync_s']:.0f} ns a synchronisation)",
        flush=True,
    )


def main() -> int:
    """Measure and predict."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--only", nargs="*", choices=SCENARIOS, default=list(SCENARIOS))
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--real-time", action="store_true")
    parser.add_argument("--program", type=Path, help="the bench program, if it is built")
    options = parser.parse_args()
    print(machine())
    program = options.program or build()
    if options.real_time:
        # What it starts inherits the class.
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    for name in options.only:
        print(name, flush=True)
        document = SCENARIOS[name]()
        compare(program, document, options.turns)
        predict(document)
    return 0


if __name__ == "__main__":
    sys.exit(main())
