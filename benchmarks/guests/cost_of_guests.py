"""What guests cost: CPU time of a turn between two processes, of an exchange, packets a second.

``python benchmarks/guests/cost_of_guests.py [COMMAND ...]`` drives each as a guest: one flow of 10
Mbit/s, for 2 s and for 32 s, of which the difference counts, so that starting the programs and
their handshakes do not. Left out: the template in Python. ``--ten COMMAND`` runs ten connections of
it for 60 s through 100 Mbit/s, all included. A packet costs an exchange with the guest, the work
of the stack included; the floor is what a turn takes that passes to a process and back (turns.c,
median of five). CPU times depend on what else the machine does by much less than the wall's clock
does.
"""

from __future__ import annotations

import os
import resource
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ackclock

if TYPE_CHECKING:
    from collections.abc import Callable

HERE = Path(__file__).resolve().parent
TEMPLATE = HERE.parents[1] / "examples/guests/python/reno.py"
TURNS = HERE / "turns.c"
NET = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "40 pkt"}
TEN = {"kind": "dumbbell", "pairs": 10, "rate": "100 Mbps", "rtt": "40 ms", "buffer": "1 bdp"}
PACKET_BYTES = 1200
WAYS = (
    ("Unix sockets, one processor", "sockets", "one", 30_000, 0),
    ("pipes and poll, one processor: guests", "pipes", "one", 30_000, 0),
    ("pipes alone, one processor", "bare", "one", 30_000, 0),
    ("shared memory and futex, one processor", "memory", "one", 30_000, 0),
    ("pipes and poll, two processors", "pipes", "two", 3_000, 0),
    ("pipes and poll, as the scheduler likes", "pipes", "any", 30_000, 0),
    ("shared memory and 2000 looks, two processors", "memory", "two", 30_000, 2000),
)
"""Ways of a turn: what it is, way and processors of turns.c, turns, looks before a wait."""
HEAD = ("flow", "wall s", "CPU s here", "CPU s there", "packets", "us/packet here", "there")


def use(work: Callable[[], Any]) -> tuple[float, float, float, Any]:
    """Seconds of the wall's clock, CPU seconds here and of children that ended, and the result."""
    kinds = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)

    def spent() -> list[float]:
        return [sum(resource.getrusage(kind)[:2]) for kind in kinds]

    begin, before = time.perf_counter(), spent()
    result = work()
    here, there = (now - then for now, then in zip(spent(), before, strict=True))
    return time.perf_counter() - begin, here, there, result


def print_turns() -> None:
    """Print what a turn costs that passes to a process and back, in each way."""
    compiler = shutil.which("cc")
    if compiler is None:
        print("turns between processes are left out: there is no C compiler (cc)")
        return
    processors = sorted(os.sched_getaffinity(0))
    places = {"one": processors[:1] * 2, "two": processors[:2], "any": [-1, -1]}
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "turns"
        subprocess.run([compiler, "-O2", "-o", program, TURNS], check=True)
        print(f"{'a turn there and back':<48}{'wall us':>10}{'CPU here':>10}{'there':>10}")
        for what, way, where, turns, spins in WAYS:
            if len(places[where]) < 2:
                continue
            words = [way, PACKET_BYTES, *places[where], turns, spins]
            command = [str(program), *map(str, words)]
            texts = [subprocess.check_output(command, text=True).split() for _ in range(5)]
            medians = [statistics.median(map(float, column)) for column in zip(*texts, strict=True)]
            print(f"{what:<48}" + "".join(f"{each:>10.2f}" for each in medians), flush=True)


def measure(net: dict[str, Any], flow: dict[str, Any], duration_s: int) -> list[float]:
    """Run flows: wall's clock, CPU here and there [s], packets that reached an end."""
    flows = [{**flow, "pair": pair} for pair in range(net["pairs"])]
    document = {"net": net, "flows": flows, "duration": f"{duration_s} s", "seed": 1}
    scenario = ackclock.Scenario.from_data(document)
    wall, here, there, run = use(scenario.run)
    links = run.links.to_pylist()
    ends = sum(link["departed_packets"] for link in links if link["id"] in ("r0->r1", "r1->r0"))
    return [wall, here, there, ends]


def main() -> None:
    """Print the tables."""
    words = sys.argv[1:]
    has_ten = words[:1] == ["--ten"]
    commands = [word for word in words if word != "--ten"] or [f"{sys.executable} {TEMPLATE}"]
    print_turns()
    print(f"{HEAD[0]:<40}" + "".join(f"{word:>16}" for word in HEAD[1:]))
    ours = {"transport": "quic", "cc": "reno"}
    flows: list[tuple[str, dict[str, Any]]] = [("ours", ours)]
    flows += [(command, {"guest": {"command": shlex.split(command)}}) for command in commands]
    measure(NET, ours, 10)  # what is imported at the first run is not its time
    for name, flow in flows:
        if has_ten:
            figures = measure(TEN, flow, 60)
        else:
            start, whole = (measure(NET, flow, duration_s) for duration_s in (2, 32))
            figures = [end - begin for begin, end in zip(start, whole, strict=True)]
        took, here, there, packets = figures
        cells = [f"{took:.2f}", f"{here:.2f}", f"{there:.2f}", f"{packets:,.0f}"]
        cells += [f"{1e6 * each / packets:.2f}" for each in (here, there)]
        print(f"{name[-40:]:<40}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
