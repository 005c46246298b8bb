"""A run of Legout & Biersack's study in ackclock and in ns-2: what it costs, set-up included.

``python benchmarks/legout.py`` runs 1000 Reno flows for 50 s on the tiers network with drop-tail
queues, in each simulator as a whole process from its start to its end, one after the other on one
processor. The network and the flows are those of the study's first replicate; ns-2 gets them as
files and finds the same routes. What counts is the CPU time of the processes, user and system, as
the system accounts for it.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compare import find_ns2
from measure import PEERS, ROOT, BenchmarkError, choose_core, machine
from scenarios import table

if TYPE_CHECKING:
    from collections.abc import Iterable

STUDY = ROOT / "python/ackclock/papers/legout1999/scenarios/thousand.toml"
GOAL = 10.0
PACKET_BITS = 8000


def scenario(seconds: float) -> dict[str, Any]:
    """Return the scenario of the study, with drop-tail queues."""
    document: dict[str, Any] = tomllib.loads(STUDY.read_text(encoding="utf-8"))["scenario"]
    return {**document, "duration": seconds}


def written(path: Path, names: Iterable[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a CSV file."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(names)
        writer.writerows(rows)


def files(document: dict[str, Any], folder: Path) -> None:
    """Write links, flows and paths as ns-2's script reads them."""
    import networkx as nx

    import ackclock as ac

    run = ac.Scenario(**{**document, "duration": 0.001}).run()
    links = run.tables["links"].to_pylist()
    number: dict[str, int] = {}
    graph: nx.DiGraph[int] = nx.DiGraph()
    for link in links:
        for end in (link["src"], link["dst"]):
            number.setdefault(end, len(number))
        graph.add_edge(number[link["src"]], number[link["dst"]], delay=link["propagation_s"])
    written(
        folder / "links.csv",
        ("src", "dst", "bw_bps", "delay_s", "queue"),
        (
            (number[x["src"]], number[x["dst"]], round(x["rate_bps"]), x["propagation_s"], 50)
            for x in links
        ),
    )
    flows = [(number[x["src"]], number[x["dst"]], x["start_s"]) for x in run.flows.to_pylist()]
    written(
        folder / "flows.csv",
        ("flow", "src", "dst", "start_s"),
        ((i, *flow) for i, flow in enumerate(flows)),
    )
    paths = (nx.shortest_path(graph, src, dst, weight="delay") for src, dst, _ in flows)
    written(
        folder / "paths.csv",
        ("flow", "path"),
        ((i, "-".join(map(str, path))) for i, path in enumerate(paths)),
    )


def warmed(own: list[str], case: Path, document: dict[str, Any]) -> None:
    """Start ackclock once, so that its bytecode is there, as it is where pip has installed it."""
    case.write_text(json.dumps({**document, "duration": 0.001}), encoding="utf-8")
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run(own, env=env, stdout=subprocess.DEVNULL, check=True)


def cost(command: list[str], core: int, env: dict[str, str]) -> tuple[str, float]:
    """Run a process on one processor; return what it printed and its CPU time [s]."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=err,
            env=os.environ | env,
            preexec_fn=lambda: os.sched_setaffinity(0, {core}),  # noqa: PLW1509 (no threads here)
        )
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        if process.returncode != 0:
            message = f"{command[0]} ended with {process.returncode}: {err.read()[-2000:]}"
            raise BenchmarkError(message)
        return out.read(), usage.ru_utime + usage.ru_stime


def format_row(name: str, delivered: list[int], sent: int, seconds: float, cpu_s: float) -> str:
    """Say what a run gave and cost."""
    rate = PACKET_BITS / seconds / 1000
    mean = statistics.mean(delivered) * rate
    return (
        f"{name:17} {cpu_s:8.2f} s of CPU; bandwidth {mean:.0f} kbit/s in the mean, deviation "
        f"{statistics.stdev(delivered) * rate:.0f}; {sent / 1e6:.2f} million packets sent"
    )


def main() -> int:
    """Measure, print, and fail where ackclock takes more than a tenth of ns-2's CPU time."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--seconds", type=float, default=50.0, help="simulated time")
    parser.add_argument("--turns", type=int, default=1, help="each simulator runs once in each")
    options = parser.parse_args()
    ns2 = find_ns2()
    if ns2 is None:
        print("legout: ns-2 is not installed (Debian: package ns2)", file=sys.stderr)
        return 1
    core = choose_core()
    peers = {"ns-2": {"PEERS_STOCK": "1"}, "ns-2, few headers": {}}
    ratios: dict[str, list[float]] = {name: [] for name in peers}
    print(f"{machine()}; 1000 Reno flows, FIFO, {options.seconds:g} s; whole processes")
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        document = scenario(options.seconds)
        files(document, folder)
        case = folder / "case.json"
        own = [sys.executable, "-m", "ackclock", "run", str(case), "--json"]
        warmed(own, case, document)
        case.write_text(json.dumps(document), encoding="utf-8")
        flows = folder / "ns2.csv"
        script = PEERS / "ns2" / "hierarchy.tcl"
        peer = [ns2, str(script), place, str(options.seconds), str(flows)]
        for _ in range(options.turns):
            output, ours = cost(own, core, {})
            rows = json.loads(output)["flows"]
            delivered = [row["delivered_packets"] for row in rows]
            sent = sum(row["sent_packets"] for row in rows)
            print(format_row("ackclock", delivered, sent, options.seconds, ours), flush=True)
            for name, how in peers.items():
                _, theirs = cost(peer, core, {"PEERS_TCP": "reno-1999", **how})
                rows = table(flows)
                delivered = [int(row["delivered_packets"]) for row in rows]
                sent = sum(int(row["sent_packets"]) for row in rows)
                print(format_row(name, delivered, sent, options.seconds, theirs), flush=True)
                ratios[name].append(theirs / ours)
    medians = {name: statistics.median(found) for name, found in ratios.items()}
    for name, ratio in medians.items():
        print(f"{name} takes {ratio:.1f} times as much")
    print(f"goal: ns-2 {GOAL:g} times")
    return 0 if medians["ns-2"] >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
