"""What guests cost: CPU time of an exchange over the pipe, and packets a second of each guest.

``python benchmarks/guests/cost_of_guests.py [COMMAND ...]`` drives each as a guest: one flow for
10 s of 10 Mbit/s. Left out: the template in Python. ``--ten COMMAND`` runs ten connections of it
for 60 s through 100 Mbit/s. A packet costs an exchange with the guest, the work of the stack
included; the floor is what a byte takes to a process and back. CPU times depend on what else the
machine does by much less than the wall's clock does.
"""

from __future__ import annotations

import os
import resource
import shlex
import socket
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import ackclock

if TYPE_CHECKING:
    from collections.abc import Callable

TEMPLATE = Path(__file__).resolve().parents[2] / "examples/guests/python/reno.py"
NET = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "40 pkt"}
TEN = {"kind": "dumbbell", "pairs": 10, "rate": "100 Mbps", "rtt": "40 ms", "buffer": "1 bdp"}
PASSES = 20_000
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


def measure_floor() -> tuple[float, float, float]:
    """Microseconds that a byte takes to a process and back: wall's clock, CPU here and there."""

    def pass_bytes() -> None:
        ours, theirs = socket.socketpair()
        if (child := os.fork()) == 0:
            for _ in range(PASSES):
                theirs.send(theirs.recv(1))
            os._exit(0)
        for _ in range(PASSES):
            ours.send(b"x")
            ours.recv(1)
        os.waitpid(child, 0)

    wall, here, there, _ = use(pass_bytes)
    return wall / PASSES * 1e6, here / PASSES * 1e6, there / PASSES * 1e6


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
    """Print the table."""
    words = sys.argv[1:]
    net, duration_s = (TEN, 60) if words[:1] == ["--ten"] else (NET, 10)
    commands = [word for word in words if word != "--ten"] or [f"{sys.executable} {TEMPLATE}"]
    wall, here, there = measure_floor()
    print(f"a byte to a process and back: {wall:.1f} us, CPU {here:.1f} us here, {there:.1f} there")
    print(f"{HEAD[0]:<40}" + "".join(f"{word:>16}" for word in HEAD[1:]))
    ours = {"transport": "quic", "cc": "reno"}
    flows: list[tuple[str, dict[str, Any]]] = [("ours", ours)]
    flows += [(command, {"guest": {"command": shlex.split(command)}}) for command in commands]
    measure(NET, ours, 10)  # what is imported at the first run is not its time
    for name, flow in flows:
        took, here, there, packets = measure(net, flow, duration_s)
        cells = [f"{took:.2f}", f"{here:.2f}", f"{there:.2f}", f"{packets:,.0f}"]
        cells += [f"{1e6 * each / packets:.2f}" for each in (here, there)]
        print(f"{name[-40:]:<40}" + "".join(f"{cell:>16}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
