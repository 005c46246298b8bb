"""What the full grid of Akella et al. costs: measured on a sample, in ackclock and in ns-2.

The grid is the study ``appendix`` of the paper: 36 instances x 8 settings x 13 environments x 5
seeds of 100 s. The sample has one run from each setting and environment, or several, with instances
in turn; the total is the sample's mean times the number of runs, with the interval of a stratified
mean.

ns-2 runs the drop-tail and RED settings with SACK and AIMD(1, 0.8), which it has, in three
environments; its CPU time beside that of ackclock in the same scenario, one after the other, gives
the factor by which the grid's time is multiplied.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compare import find_ns2
from measure import PEERS, machine, measured

if TYPE_CHECKING:
    from ackclock.experiments.sweeps import Sweep

COMPARED = ("cons-low", "sq-high", "rd-high")
QUEUES = {"DROPTAIL": "DropTail", "RED": "RED"}

Stratum = tuple[str, str, str]
"""Recovery, router and environment, of which a sample is drawn."""


def grid() -> Sweep:
    """Return the sweep of the whole appendix."""
    from ackclock.reproduce.read.folder import read
    from ackclock.reproduce.run.studies import sweep_of

    paper = read("akella2002")
    return sweep_of(paper, paper.studies["appendix"], "full")


def sampled(sweep: Sweep, each: int) -> dict[Stratum, list[tuple[float, float]]]:
    """Run ``each`` instances of every stratum; give CPU time [s] and packet-hops of each run."""
    strata: dict[Stratum, list[Any]] = {}
    for point in sweep.points:
        labels = point.labels
        key = (str(labels["recovery"]), str(labels["router"]), str(labels["environment"]))
        strata.setdefault(key, []).append(point)
    costs: dict[Stratum, list[tuple[float, float]]] = {}
    for number, (key, points) in enumerate(strata.items()):
        # Steps of seven meet every family and, over the strata, every instance.
        chosen = [points[(7 * (number + k * len(strata))) % len(points)] for k in range(each)]
        for point in chosen:
            totals = sweep.case_at(point).execute().summary["totals"]
            costs.setdefault(key, []).append((totals["cpu_s"], totals["packet_hops"]))
        if sys.stderr.isatty():
            print(f"\r{number + 1} of {len(strata)}", end="", file=sys.stderr)
    return costs


def total(costs: dict[Stratum, list[tuple[float, float]]], which: int, runs: int) -> str:
    """Extrapolate to all runs: mean of the strata, and its 95 % interval if there is one."""
    means = [statistics.fmean(run[which] for run in found) for found in costs.values()]
    middle = runs * statistics.fmean(means)
    errors = [
        statistics.variance(run[which] for run in found) / len(found)
        for found in costs.values()
        if len(found) > 1
    ]
    if len(errors) < len(means):
        return f"{middle:.3g}"
    half = 1.96 * runs * math.sqrt(sum(errors)) / len(means)
    return f"{middle:.3g} ± {half:.1g}"


def tcl(case: Any, queue: str) -> str:
    """Write a scenario for ``peers/ns2/environment.tcl``."""
    from ackclock.scenario.environments.expansion import expand

    net = expand(case.data)["net"]
    cross = [flow for flow in expand(case.data)["flows"] if "source" in flow]
    capacity, rtts = net["rate"], net["rtts"]
    shortest = min(rtts)
    steps = cross[0]["source"]["schedule"] if cross else []
    words = " ".join(f"{step['at']} {step['rate']}" for step in steps)
    return (
        f"set capacity {capacity}\nset buffer {round(capacity * shortest / 8000)}\n"
        f"set queue {queue}\nset rtts {{{' '.join(map(str, rtts[:-1]))}}}\n"
        f"set cbr_rtt {rtts[-1]}\nset cbr {{{words}}}\nset a 1\nset b 0.8\n"
    )


def against_ns2(sweep: Sweep, seconds: float) -> list[tuple[str, float, float, float]]:
    """Run the same here and in ns-2: name, our CPU time, that of ns-2 [s], packet-hops."""
    program = find_ns2()
    if program is None:
        return []
    rows = []
    for point in sweep.points:
        labels = {name: str(label) for name, label in point.labels.items()}
        wanted = labels["environment"] in COMPARED and labels["router"] in QUEUES
        if not wanted or labels["recovery"] != "SACK" or labels["instance"] != "AIMD(1, 0.8)":
            continue
        case = sweep.case_at(point).replace(duration=seconds)
        totals = case.execute().summary["totals"]
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "scenario.tcl"
            file.write_text(tcl(case, QUEUES[labels["router"]]), encoding="utf-8")
            script = PEERS / "ns2" / "environment.tcl"
            out = Path(folder) / "flows.csv"
            said = measured([program, script, file, str(seconds), out], None).output
        fields = dict(word.split("=", 1) for word in said.split() if "=" in word)
        name = f"{labels['environment']}, {labels['router']}"
        rows.append((name, totals["cpu_s"], float(fields["run_cpu_s"]), totals["packet_hops"]))
    return rows


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--each", type=int, default=1, help="runs of each of the 104 strata")
    parser.add_argument("--seconds", type=float, default=100.0, help="of the runs beside ns-2")
    options = parser.parse_args()
    sweep = grid()
    runs = len(sweep.points) * sweep.replicates.at_first
    print(machine())
    print(f"{runs} runs: {len(sweep.points)} points, {sweep.replicates.at_first} seeds")
    costs = sampled(sweep, options.each)
    count = sum(map(len, costs.values()))
    print(f"sample: {count} runs of the grid, its first seed")
    print(f"packet-hops of the grid: {total(costs, 1, runs)}")
    print(f"CPU time of the grid: {total(costs, 0, runs)} s")
    hops = sum(run[1] for found in costs.values() for run in found)
    cpu = sum(run[0] for found in costs.values() for run in found)
    print(f"{1e9 * cpu / hops:.1f} ns a packet-hop")
    own = peer = 0.0
    for name, ours, theirs, _ in against_ns2(sweep, options.seconds):
        own, peer = own + ours, peer + theirs
        print(f"{name}: ackclock {ours:.2f} s, ns-2 {theirs:.2f} s, {theirs / ours:.1f} times")
    if own:
        middle = runs * statistics.fmean(
            statistics.fmean(run[0] for run in found) for found in costs.values()
        )
        hours = peer / own * middle / 3600
        print(
            f"ns-2 for the grid, projected: {peer / own:.1f} times, {hours:.1f} hours of one core"
        )
    else:
        print("ns-2 is not installed (Debian: package ns2)")


if __name__ == "__main__":
    main()
