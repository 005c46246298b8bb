"""What guests cost: microseconds an exchange, and a run beside the same flow of ours.

``python benchmarks/guests/cost_of_guests.py [COMMAND ...]`` drives each as a guest: one flow for
10 s of 10 Mbit/s. Left out: the template in Python. A packet costs an exchange with the guest, the
work of the stack included; its floor is what a byte takes to a process and back.
"""

from __future__ import annotations

import os
import shlex
import sys
import time
from pathlib import Path

import ackclock

TEMPLATE = Path(__file__).resolve().parents[2] / "examples/guests/python/reno.py"
NET = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "40 ms", "buffer": "40 pkt"}
PASSES = 20_000


def measure_floor() -> float:
    """Microseconds that a byte takes to a process and back over two pipes."""
    there, here = os.pipe()
    out, back = os.pipe()
    if (child := os.fork()) == 0:
        for _ in range(PASSES):
            os.write(back, os.read(there, 1))
        os._exit(0)
    begin = time.perf_counter()
    for _ in range(PASSES):
        os.write(here, b"x")
        os.read(out, 1)
    took = time.perf_counter() - begin
    os.waitpid(child, 0)
    return took / PASSES * 1e6


def measure(flow: dict[str, object]) -> tuple[float, int, float]:
    """Run a flow: seconds of the wall's clock, packets that reached an end, goodput [Mbit/s]."""
    document = {"net": NET, "flows": [{"pair": 0, **flow}], "duration": "10 s", "seed": 1}
    scenario = ackclock.Scenario.from_data(document)
    begin = time.perf_counter()
    run = scenario.run()
    took = time.perf_counter() - begin
    row = run.flows.to_pylist()[0]
    links = run.links.to_pylist()
    ends = sum(link["departed_packets"] for link in links if link["id"] in ("r0->r1", "r1->r0"))
    return took, ends, row["goodput_bps"] / 1e6


def main() -> None:
    """Print the table."""
    commands = sys.argv[1:] or [f"{sys.executable} {TEMPLATE}"]
    print(f"a byte to a process and back: {measure_floor():.1f} us")
    print(f"{'flow':<50} {'s':>7} {'packets':>8} {'us/packet':>9} {'Mbit/s':>7}")
    ours: dict[str, object] = {"transport": "quic", "cc": "reno"}
    flows: list[tuple[str, dict[str, object]]] = [("ours", ours)]
    flows += [(command, {"guest": {"command": shlex.split(command)}}) for command in commands]
    measure(ours)  # what is imported at the first run is not its time
    for name, flow in flows:
        took, packets, goodput = measure(flow)
        each = took / packets * 1e6
        print(f"{name[-50:]:<50} {took:>7.3f} {packets:>8} {each:>9.1f} {goodput:>7.3f}")


if __name__ == "__main__":
    main()
