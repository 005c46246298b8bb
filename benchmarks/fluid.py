"""The fluid engine: global max-min beside SimGrid's solver, growth with size, senders on HOT.

All runs on one processor, one after another, in turns. ackclock's time is from arrays (capacities,
routes) to rates, checks and transposition included; SimGrid's is `System::solve()` alone, without
the building of its system. Loads of all links are compared: a solver that is fast because it is
wrong shows.
"""

from __future__ import annotations

import argparse
import csv
import datetime as dt
import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from measure import (
    BENCHMARKS,
    PEERS,
    BenchmarkError,
    Command,
    build,
    choose_core,
    machine,
    measured,
)

PEER_SIZES = ((1_000, 10_000), (1_000, 100_000), (10_000, 100_000))
GROWTH = ((10_000, 10_000), (10_000, 100_000), (10_000, 1_000_000), (10_000, 10_000_000))
PEER_GOALS = {(1_000, 100_000): 3.0, (10_000, 100_000): 25.0}
TIME_GOALS = {(10_000, 100_000): 0.08, (10_000, 1_000_000): 1.5, (10_000, 10_000_000): 20.0}
BYTES_GOAL = 40.0
EVALUATE_GOAL, LIMITED_GOAL = 0.010, 1.0
ARRIVALS_GOAL = 60.0
LOADS = (50, 90)
SEED = 1


@dataclass(frozen=True)
class Figure:
    """One measured number."""

    what: str
    nodes: int
    flows: int
    value: float
    unit: str
    goal: str = ""
    ok: bool | None = None


def report(command: Command, core: int) -> dict[str, Any]:
    """Run a program that prints one line of JSON."""
    found: dict[str, Any] = json.loads(measured(command, core).output)
    return found


def simgrid(folder: Path) -> Path | None:
    """Compile the peer; None, with a printed reason, where SimGrid or a compiler is missing."""
    compiler = shutil.which("g++")
    if compiler is None:
        print("SimGrid is left out: there is no g++", file=sys.stderr)
        return None
    program = folder / "maxmin"
    source = PEERS / "simgrid" / "maxmin.cc"
    command = [compiler, "-O2", "-std=c++17", "-o", str(program), str(source), "-lsimgrid"]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        last = done.stderr.strip().splitlines()[-1:]
        print(f"SimGrid is left out (apt-get install libsimgrid-dev): {last}", file=sys.stderr)
        return None
    return program


def same_loads(ours: Path, theirs: Path) -> float:
    """Return the largest difference of two solutions' loads, relative to the larger."""
    pairs = zip(ours.read_text().split(), theirs.read_text().split(), strict=True)
    numbers = [(float(a), float(b)) for a, b in pairs]
    return max(abs(a - b) / max(a, b, 1e-300) for a, b in numbers)


def beside_simgrid(program: Path, peer: Path, folder: Path, core: int, turns: int) -> list[Figure]:
    """Solve the same networks with both, in turns."""
    figures = []
    for nodes, flows in PEER_SIZES:
        net = folder / f"{nodes}-{flows}.bin"
        report([program, "fluid-net", str(nodes), str(flows), str(SEED), net], core)
        ours, theirs = folder / "ours.csv", folder / "theirs.csv"
        own, other = [], []
        for _ in range(turns):
            own.append(report([program, "fluid", net, "3", ours], core)["total_s"])
            other.append(report([peer, net, "1", theirs], core)["solve_s"])
        apart = same_loads(ours, theirs)
        if apart > 1e-6:
            message = f"the two solutions of {nodes} nodes, {flows} flows differ by {apart:.3g}"
            raise BenchmarkError(message)
        ratio = statistics.median(b / a for a, b in zip(own, other, strict=True))
        goal = PEER_GOALS.get((nodes, flows))
        figures += [
            Figure("max-min, SimGrid", nodes, flows, statistics.median(other), "s"),
            Figure(
                "SimGrid's time by ackclock's",
                nodes,
                flows,
                ratio,
                "times",
                "" if goal is None else f">= {goal:g}",
                None if goal is None else ratio >= goal,
            ),
        ]
    return figures


def memory_goal(nodes: int, flows: int, each: float) -> tuple[str, bool | None]:
    """Say whether memory keeps to the goal, which is for many flows on few links."""
    return ("< 40", each < BYTES_GOAL) if flows >= 10 * nodes else ("", None)


def growth(program: Path, folder: Path, core: int, largest: int) -> list[Figure]:
    """Time and memory as the number of flows grows."""
    figures = []
    for nodes, flows in GROWTH:
        if flows > largest:
            continue
        net = folder / "growth.bin"
        report([program, "fluid-net", str(nodes), str(flows), str(SEED), net], core)
        found = report([program, "fluid", net, "5" if flows <= 1_000_000 else "1"], core)
        goal = TIME_GOALS.get((nodes, flows))
        total, each = found["total_s"], found["bytes_per_hop"]
        limit = ("", None) if goal is None else (f"<= {goal:g}", total <= goal)
        figures += [
            Figure("max-min, arrays to rates", nodes, flows, total, "s", *limit),
            Figure("of these, filling", nodes, flows, found["solve_s"], "s"),
            Figure("route hops", nodes, flows, found["hops"] / 1e6, "million"),
            Figure("time a hop", nodes, flows, total / found["hops"] * 1e9, "ns"),
            # With few flows it is the links that take the memory.
            Figure("memory a hop", nodes, flows, each, "B", *memory_goal(nodes, flows, each)),
        ]
        net.unlink()
    return figures


def arrivals(program: Path, folder: Path, core: int) -> list[Figure]:
    """Finite flows that arrive and leave, rates solved anew at each event."""
    figures = []
    nodes, routes, count = 1_000, 10_000, 100_000
    net = folder / "dynamics.bin"
    report([program, "fluid-net", str(nodes), str(routes), str(SEED), net], core)
    for percent in LOADS:
        found = report([program, "fluid-dynamics", net, str(count), str(percent), str(SEED)], core)
        what = f"arrivals at a load of {percent} %"
        cpu = found["cpu_s"]
        figures += [
            Figure(what, nodes, count, cpu, "s", f"<= {ARRIVALS_GOAL:g}", cpu <= ARRIVALS_GOAL),
            Figure(f"{what}, mean number active", nodes, count, found["mean_active"], "flows"),
            Figure(f"{what}, solved per event", nodes, count, found["solved_per_event"], "flows"),
        ]
    return figures


def senders(program: Path, core: int) -> list[Figure]:
    """Evaluation and fixed points on the HOT graph."""
    found = report([program, "fluid-hot", "10000", str(SEED), "5"], core)
    nodes, flows = 939, found["flows"]
    once, limited = found["evaluate_s"], found["senders"]["limited-ratio"]["cpu_s"]
    figures = [
        Figure(
            "one brick-wall evaluation, HOT",
            nodes,
            flows,
            once * 1e3,
            "ms",
            "<= 10",
            once <= EVALUATE_GOAL,
        ),
        Figure(
            "limited-ratio fixed point, HOT",
            nodes,
            flows,
            limited,
            "s",
            "<= 1",
            limited <= LIMITED_GOAL,
        ),
    ]
    for name, settled in found["senders"].items():
        if not settled["converged"]:
            message = f"{name} senders did not settle on HOT"
            raise BenchmarkError(message)
        figures.append(Figure(f"rounds of {name}, HOT", nodes, flows, settled["rounds"], "rounds"))
    return figures


def main() -> int:
    """Measure, print a table and write it to a file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--largest", type=int, default=10_000_000, help="flows of the growth curve")
    parser.add_argument("--program", type=Path, default=None, help="ackclock-bench, if built")
    parser.add_argument("--out", type=Path, default=None, help="CSV file")
    options = parser.parse_args()
    core = choose_core()
    try:
        program = options.program or build()
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            figures = growth(program, folder, core, options.largest)
            peer = simgrid(folder)
            if peer is not None:
                figures += beside_simgrid(program, peer, folder, core, options.turns)
            figures += arrivals(program, folder, core)
            figures += senders(program, core)
    except BenchmarkError as error:
        print(f"fluid.py: {error}", file=sys.stderr)
        return 1
    print(f"{machine()}\n\n| what | nodes | flows | value | unit | goal | |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for f in figures:
        verdict = "" if f.ok is None else ("met" if f.ok else "missed")
        row = [f.what, f.nodes, f.flows, f"{f.value:.4g}", f.unit, f.goal, verdict]
        print("| " + " | ".join(map(str, row)) + " |")
    today = dt.datetime.now(dt.UTC).date()
    out = options.out or BENCHMARKS / "results" / f"{today}-fluid.csv"
    out.parent.mkdir(parents=True, exist_ok=True)
    with out.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(asdict(figures[0])))
        writer.writeheader()
        writer.writerows(asdict(figure) for figure in figures)
    print(f"\nwritten to {out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
