"""Run two bench programs at the same time on one processor and compare their CPU time."""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import scenarios
from measure import BenchmarkError, bench_at_once, choose_core, hierarchy_files

if TYPE_CHECKING:
    from collections.abc import Callable


def hierarchy(flows: int, seconds: float) -> scenarios.Scenario:
    """Return the hierarchy, or the first of its flows."""
    with tempfile.TemporaryDirectory() as folder:
        scenario = scenarios.hierarchy(hierarchy_files(Path(folder)), seconds)
    return {**scenario, "flows": scenario["flows"][:flows]}


def fat_tree(hosts: int, seconds: float) -> scenarios.Scenario:
    """Return a fat tree with DCTCP of at most so many hosts, all of which begin within 80 us."""
    k = 2 * int(((hosts + 0.5) / 2) ** (1 / 3))
    scenario = scenarios.fat_tree(k, seconds, scenarios.MARKING, "dctcp")
    scenario["flows"][0]["stagger"] = 80e-6 / scenario["flows"][0]["count"]
    return scenario


NETWORKS: dict[str, Callable[[int, float], scenarios.Scenario]] = {
    "dumbbell": scenarios.dumbbell,
    "fat-tree": fat_tree,
    "hierarchy": hierarchy,
    "scaled": scenarios.scaled,
    "shared": scenarios.shared,
}


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
    core, scenario = choose_core(), NETWORKS[options.network](options.flows, options.seconds)
    runs = [(program, scenario) for program in (options.old, options.new)]
    ratios = []
    try:
        for _ in range(options.turns):
            old, new = bench_at_once(runs, core, "--repeat", str(options.repeat))
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
