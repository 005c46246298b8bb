"""Measure what queue disciplines cost beside drop-tail, and drop-tail beside ns-2.

The network is that of "GREEN + IDMaps" (papers/green2002): 155 Mb/s, round trips of 64 to 1062 ms,
420 s. Everything runs on one processor, in turns. For ns-2 the CPU time of the whole process
counts, set-up included, on both sides.

``--only instructions`` counts instructions under callgrind in place of time, on one overloaded link
with 100 to 10,000 classes: what a packet costs in a run twice as long less one, so without set-up.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import scenarios
from check import instructions
from compare import find_ns2
from measure import PEERS, BenchmarkError, bench, build, choose_core, machine, measured

if TYPE_CHECKING:
    from collections.abc import Sequence

    from measure import Command


def by_digit(kind: str) -> dict[str, Any]:
    """Return ten classes of flows, by the last digit of their names."""
    return {"kind": kind, "classes": [{"takes": {"flows": [f"*{digit}"]}} for digit in range(10)]}


def in_tree(levels: int) -> dict[str, Any]:
    """Return H-PFQ with ten classes a level, by the first digits of flows named by numbers."""

    def below(digits: str) -> list[dict[str, Any]]:
        inner = [f"{digits}{digit}" for digit in range(10)]
        if len(digits) < levels - 1:
            return [{"classes": below(name)} for name in inner]
        return [{"takes": {"flows": [f"{name}*"]}, "split": True} for name in inner]

    return {"kind": "hpfq", "classes": below("")}


QUEUES: dict[str, Any] = {
    "fifo": "fifo",
    "green": {"kind": "green", "count": "known"},
    "green, estimated": {"kind": "green", "count": "known", "rtt": "estimate"},
    "green, N counted": "green",
    "fred": "fred",
    "sfb": "sfb",
    "fq": "fq",
    "drr": "drr",
    "afd": "afd",
    "sred": "sred",
    "red": "red",
    "codel": "codel",
    "fq-codel": "fq-codel",
    "pie": "pie",
    "wf2q-plus": "wf2q-plus",
    "hpfq, flat": "hpfq",
    "wrr, 10 classes": by_digit("wrr"),
    "priority, 10 classes": by_digit("priority"),
    "core-stateless": "core-stateless",
}
# Disciplines whose instructions are counted, and with how many flows.
COUNTED: list[tuple[str, Any, int]] = [
    ("drop-tail", "fifo", 1000),
    ("red", "red", 1000),
    ("priority, 10 classes", by_digit("priority"), 1000),
    ("wrr, 10 classes", by_digit("wrr"), 1000),
    ("drr", "drr", 1000),
    ("fq", "fq", 1000),
    *(("wf2q-plus", "wf2q-plus", n) for n in (100, 1000, 10_000)),
    ("hpfq, flat", "hpfq", 1000),
    ("hpfq, 10 x 100", in_tree(1), 1000),
    ("hpfq, 10 x 10 x 10", in_tree(2), 1000),
    ("core-stateless", "core-stateless", 1000),
]
# Packets of the shorter run.
PACKETS = 30_000
PROMISED = ("green", "green, estimated", "fred", "sfb", "fq")
MOST_TIMES_FIFO = 1.5
LEAST_TIMES_NS2 = 10.0


def queues(program: Path, flows: int, seconds: float, repeat: int, core: int) -> bool:
    """Print CPU time per packet-hop of each discipline; return whether promises are kept."""
    cost: dict[str, list[float]] = {name: [] for name in QUEUES}
    ratios: dict[str, list[float]] = {name: [] for name in QUEUES}
    hops: dict[str, int] = {}

    def measure(qdisc: Any) -> tuple[float, int]:
        report = bench(program, "run", scenarios.green(flows, seconds, qdisc), core)
        return 1e9 * report["run_cpu_median_s"] / report["packet_hops"], report["packet_hops"]

    for turn in range(repeat):
        for name, qdisc in QUEUES.items():
            # Drop-tail just before, so that a machine that is slow for a while is slow for both.
            beside, _ = measure(QUEUES["fifo"])
            nanoseconds, hops[name] = measure(qdisc)
            cost[name].append(nanoseconds)
            ratios[name].append(nanoseconds / beside)
        print(f"turn {turn + 1} of {repeat}", file=sys.stderr)
    print(f"\n{flows} flows, {seconds:g} s, median of {repeat} turns; {machine()}\n")
    print(f"{'queue':18} {'ns a hop':>9} {'times fifo':>11} {'Mhops':>7}")
    good = True
    for name, values in cost.items():
        ratio = statistics.median(ratios[name])
        note = ""
        if name in PROMISED:
            kept = ratio <= MOST_TIMES_FIFO
            good = good and kept
            note = f"  {'at' if kept else 'MORE THAN'} most {MOST_TIMES_FIFO}"
        middle = statistics.median(values)
        print(f"{name:18} {middle:9.1f} {ratio:11.2f} {hops[name] / 1e6:7.1f}{note}")
    return good


def against_ns2(program: Path, flows: int, seconds: float, repeat: int, core: int) -> bool:
    """Print ns-2's CPU time over ackclock's, whole processes; return whether it is enough."""
    ns2 = find_ns2()
    if ns2 is None:
        print("ns-2 is not installed (Debian: package ns2)")
        return True
    ratios = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        file = folder / "scenario.json"
        file.write_text(json.dumps(scenarios.green(flows, seconds)), encoding="utf-8")
        for _ in range(repeat):
            own, said = _process([program, "run", file], core)
            tcl: list[str | Path] = [
                ns2,
                PEERS / "ns2" / "green.tcl",
                str(flows),
                str(seconds),
                folder / "out.csv",
            ]
            theirs, note = _process(tcl, core)
            ratios.append(theirs / own)
            report = json.loads(said)
            delivered = sum(
                int(row["delivered_packets"]) for row in scenarios.table(folder / "out.csv")
            )
            print(
                f"ackclock {own:.2f} s, {report['delivered_packets']} packets delivered; "
                f"ns-2 {theirs:.2f} s, {delivered}: {theirs / own:.1f} times"
            )
            print(note.strip(), file=sys.stderr)
    ratio = statistics.median(ratios)
    kept = ratio >= LEAST_TIMES_NS2
    print(
        f"\ndrop-tail, {flows} flows, {seconds:g} s, set-up included: ns-2 takes {ratio:.1f} times"
        f" the CPU time ({'goal' if kept else 'BELOW THE GOAL OF'} {LEAST_TIMES_NS2:g})"
    )
    return kept


def count_instructions(program: Path) -> None:
    """Print instructions a packet of disciplines at a link that is overloaded by a quarter."""
    print(f"{'queue':22} {'flows':>6} {'instructions a packet':>22}")
    with tempfile.TemporaryDirectory() as name:
        for title, qdisc, flows in COUNTED:
            spent, packets = [], []
            for times in (1, 2):
                scenario = scenarios.overloaded(flows, times * max(PACKETS, 12 * flows), qdisc)
                count, report = instructions(program, scenario, Path(name))
                spent.append(count)
                packets.append(report["packet_hops"])
            each = (spent[1] - spent[0]) / (packets[1] - packets[0])
            print(f"{title:22} {flows:6} {each:22.0f}", flush=True)


def _process(command: Command, core: int) -> tuple[float, str]:
    """Run a command; its CPU time, user and system together, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    output = measured(command, core).output
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, output


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    add = parser.add_argument
    add("--flows", type=int, default=500, help="number of flows")
    add("--seconds", type=float, default=420.0, help="simulated time")
    add("--repeat", type=int, default=3, help="turns: everything runs once in each")
    add("--only", choices=("queues", "ns2", "instructions"), help="one table")
    add("--program", type=Path, help="the bench program; left out: it is built")
    options = parser.parse_args(arguments)
    good = True
    try:
        program = options.program or build()
        if options.only == "instructions":
            count_instructions(program)
            return 0
        given = (program, options.flows, options.seconds, options.repeat, choose_core())
        if options.only != "ns2":
            good = queues(*given)
        if options.only != "queues":
            good = against_ns2(*given) and good
    except BenchmarkError as error:
        print(f"queues: {error}", file=sys.stderr)
        return 1
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
