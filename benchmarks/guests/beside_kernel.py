"""Shipped stacks beside the running kernel: the same control through the same bottleneck.

``python benchmarks/guests/beside_kernel.py`` emulates each case with the kernel's TCP (real time,
repeated until the machine was in time), runs it with ours in era linux, and with each guest that
is built, whose datagrams are as long as the kernel's packets. It writes
``docs/reference/beside-kernel.json`` and the table of ``docs/reference/shipped-stacks.md``.
``--guests`` runs guests and ours anew and keeps what the kernel did, ``--page`` runs none. What an
emulation needs is on the page docs/howto/emulate.md.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from shipped_stacks import PAGE, STACKS, fill_page, read

import ackclock

DATA = PAGE.with_name("beside-kernel.json")
WIRE_BYTES, IP_UDP_BYTES = 1500, 28
DURATION_S, WARMUP_S = 30, 5
TRIES = 12
NET = {"kind": "dumbbell", "pairs": 1, "rate": "10 Mbps", "rtt": "100 ms"}
CUBICS = [name for name in STACKS if name.endswith(" CUBIC")]
BBRS = ["quinn BBR", "TQUIC BBR"]
LOSS = {"links": [{"link": "r0->r1", "loss": 0.002}]}
CASES: dict[str, tuple[str, str, list[str], dict[str, Any]]] = {
    "CUBIC, 42 packets": ("cubic", "42 pkt", CUBICS, {}),
    "CUBIC, 83 packets": ("cubic", "83 pkt", CUBICS, {}),
    "CUBIC, 83 packets, 0.2 % lost": ("cubic", "83 pkt", CUBICS, LOSS),
    "BBR, 167 packets": ("bbr", "167 pkt", BBRS, {}),
}
"""Control, buffer, guests and what else the scenario has, by the name of the case."""


def seeds(case: str) -> tuple[int, ...]:
    """More of them where packets are lost at random."""
    return (1, 2, 3) if CASES[case][3] else (1, 2)


def write_document(case: str, flow: dict[str, Any], seed: int) -> dict[str, Any]:
    """The scenario of a case."""
    _, buffer, _, more = CASES[case]
    times = {"duration": f"{DURATION_S} s", "warmup": f"{WARMUP_S} s", "seed": seed}
    net = {**NET, "buffer": buffer}
    return {"era": "linux", "net": net, "flows": [{"pair": 0, **flow}], **times, **more}


def emulate(case: str, seed: int) -> dict[str, Any]:
    """What the kernel does in a run that is valid, or that `TRIES` runs were late."""
    scenario = ackclock.Scenario.from_data(write_document(case, {"cc": CASES[case][0]}, seed))
    for _ in range(TRIES):
        run = ackclock.emulate(scenario)
        late_ms = 1e3 * run.summary["emulation"]["lateness"]["max_s"]
        print(f"{case}, seed {seed}: kernel, at most {late_ms:.2f} ms late", flush=True)
        if run.is_valid:
            kernel = run.summary["emulation"]["kernel"]
            return read(run) | {"late_ms": late_ms, "kernel": kernel}
    sys.exit(f"{case}: packets were late in each of {TRIES} runs; try it on a quieter machine")


def simulate(case: str, name: str, seed: int) -> dict[str, Any]:
    """What ours or a guest does."""
    flow: dict[str, Any] = {"cc": CASES[case][0]}
    if name != "ours":
        flow = {"cc": f"guest:{STACKS[name]}", "transport": "quic"}
        flow["quic"] = {"max_datagram": WIRE_BYTES - IP_UDP_BYTES}
    return read(ackclock.Scenario.from_data(write_document(case, flow, seed)).run())


def write_table(data: dict[str, Any]) -> str:
    """The table of the page."""
    lines = ["| case | who | goodput, Mbit/s | dropped | queueing delay, ms |"]
    lines.append("| --- | --- | --- | --- | --- |")
    for case, rows in data.items():
        for number, (name, runs) in enumerate(rows.items()):
            cells = [show([run[key] for run in runs], form) for key, form in COLUMNS.items()]
            lines.append(f"| {'' if number else case} | {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


COLUMNS = {"goodput_mbps": ".2f", "drops": ".0f", "queue_ms": ".1f"}


def show(values: list[float], form: str) -> str:
    """A number, or the least and the most of several."""
    words = sorted({format(value, form) for value in values}, key=float)
    return words[0] if len(words) == 1 else f"{words[0]} to {words[-1]}"


def main() -> None:
    """Run the cases, and write data and page."""
    options = set(sys.argv[1:])
    old = json.loads(DATA.read_text(encoding="utf-8")) if DATA.exists() else {}
    data: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for case in [] if "--page" in options else CASES:
        kernel = old.get(case, {}).get("kernel") if "--guests" in options else None
        rows = {"kernel": kernel or [emulate(case, seed) for seed in seeds(case)]}
        built = [name for name in CASES[case][2] if Path(STACKS[name].split()[0]).exists()]
        for name in ["ours", *built]:
            rows[name] = [simulate(case, name, seed) for seed in seeds(case)]
            print(f"{case}: {name}", flush=True)
        data[case] = rows
        DATA.write_text(json.dumps({**old, **data}, indent=1) + "\n", encoding="utf-8")
    fill_page({"kernel": write_table(data or old)})


if __name__ == "__main__":
    main()
