"""Run two bench programs at the same time on one processor and compare their CPU time.

A machine that is busy changes its speed twofold within seconds. Two programs that take turns every
few milliseconds meet the same moments, so their ratio holds where times hold nothing. It tells what
one costs beside the other: each has half of the caches.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scenarios
from measure import BenchmarkError, choose_core, hierarchy_files

if TYPE_CHECKING:
    from collections.abc import Callable


def hierarchy(flows: int, seconds: float) -> scenarios.Scenario:
    """Return the hierarchy, or the first of its flows."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = scenarios.hierarchy(hierarchy_files(Path(folder)), seconds)
    return {**scenario, "flows": scenario["flows"][:flows]}


NETWORKS: dict[str, Callable[[int, float], scenarios.Scenario]] = {
    "dumbbell": scenarios.dumbbell,
    "hierarchy": hierarchy,
    "scaled": scenarios.scaled,
    "shared": scenarios.shared,
}


def at_once(programs: list[Path], file: Path, repeat: int) -> list[dict[str, Any]]:
    """Run all programs on a scenario at the same time and return their reports."""
    command = ["run", str(file), "--repeat", str(repeat)]
    running = [
        subprocess.Popen([str(program), *command], stdout=subprocess.PIPE, text=True)
        for program in programs
    ]
    outputs = [process.communicate()[0] for process in running]
    for process in running:
        if process.returncode != 0:
            raise BenchmarkError(f"a program ended with {process.returncode}")
    return [json.loads(output) for output in outputs]


def main() -> int:
    """Measure and print the ratios."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("old", type=Path, help="a bench program of before (ackclock-bench)")
    parser.add_argument("new", type=Path, help="the one of now")
    parser.add_argument("--network", choices=NETWORKS, default="scaled")
    parser.add_argument("--flows", type=int, default=100_000)
    parser.add_argument("--seconds", type=float, default=5.0, help="simulated time")
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--repeat", type=int, default=1, help="runs of each in a turn")
    options = parser.parse_args()
    os.sched_setaffinity(0, {choose_core()})
    ratios = []
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(NETWORKS[options.network](options.flows, options.seconds), file)
        file.flush()
        try:
            for _ in range(options.turns):
                programs = [options.old, options.new]
                old, new = at_once(programs, Path(file.name), options.repeat)
                before, after = old["run_cpu_median_s"], new["run_cpu_median_s"]
                ratios.append(after / before)
                same = "same digest" if old["digest"] == new["digest"] else "DIGESTS DIFFER"
                print(f"{before:.3f} s, {after:.3f} s: {ratios[-1]:.3f}, {same}", flush=True)
        except (BenchmarkError, OSError) as error:
            print(f"versus: {error}", file=sys.stderr)
            return 1
    print(f"median {statistics.median(ratios):.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
