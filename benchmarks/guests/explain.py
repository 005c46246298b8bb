"""Why two stacks fill a buffer: each as it is, beside ours, and with a few lines changed.

``python benchmarks/guests/explain.py ngtcp2 COMMAND [COMMAND ...]`` and the same with ``quinn``:
commands of guests, as 'target/guests/ngtcp2 bbr', the changed ones after the others. The changes
are in ``patches``: ``patch -p1`` in a folder of ngtcp2 1.25.0, then ``make guests NGTCP2=FOLDER``;
in one of quinn-proto 0.11.19, then in crates/ackclock-stacks ``cargo build --release --bin
connection-guest --config 'patch.crates-io.quinn-proto.path="FOLDER"'``.
"""

from __future__ import annotations

import shlex
import sys
from collections import Counter
from typing import Any

import ackclock

NARROW = {"rate": "128 kbps", "rtt": "20 ms", "buffer": "50 pkt", "access_rate": "1 Gbps"}
"""Case 4 of ``ackclock conform bbr guest:COMMAND``."""
WIDE = {"rate": "10 Mbps", "rtt": "100 ms", "buffer": "167 pkt"}
"""BBR beside the kernel's, of beside_kernel.py."""
WIDE_BPS, WIDE_RTT_S = 10e6, 0.1
SLOT_S = 0.1


def run(net: dict[str, str], subject: str, datagram: int, times: dict[str, str]) -> ackclock.Run:
    """One flow, a control of ours or the command of a guest, with what is needed recorded."""
    words = shlex.split(subject)
    flow: dict[str, Any] = {"pair": 0, "quic": {"max_datagram": datagram}}
    if len(words) > 1:
        flow["guest"] = {"command": words}
    else:
        flow |= {"transport": "quic", "cc": subject}
    document = {
        "net": {"kind": "dumbbell", "pairs": 1, **net},
        "flows": [flow],
        "seed": 1,
        "record": {"tables": ["windows", "packets", "drops"]},
        **times,
    }
    return ackclock.Scenario.from_data(document).run()


def list_sends(results: ackclock.Run, since_s: float) -> list[dict[str, Any]]:
    """What the sender hands to its first link from then on."""
    rows = results.packets.to_pylist()
    rows = [row for row in rows if row["event"] == "arrival" and row["link"] == "s0->r0"]
    return [row for row in rows if row["time_s"] >= since_s]


def count_drops(results: ackclock.Run, since_s: float) -> int:
    """Packets dropped from then on."""
    return sum(row["time_s"] >= since_s for row in results.drops.to_pylist())


def explain_ngtcp2(subject: str) -> str:
    """The window in Startup, and what it does to the buffer."""
    datagram = 1200
    results = run(NARROW, subject, datagram, {"duration": "40 s"})
    windows = results.windows.to_pylist()
    largest = max(windows, key=lambda row: row["cwnd_segments"])
    early = max(row["cwnd_segments"] for row in windows if row["time_s"] < 5)
    most = largest["cwnd_segments"]
    return (
        f"window at most {early * datagram:,.0f} bytes until 5 s, {most * datagram:,.0f} at"
        f" {largest['time_s']:.1f} s; {count_drops(results, 5)} dropped after 5 s"
    )


def explain_quinn(subject: str) -> str:
    """The window in BDP, how the sending rate varies, the queue."""
    datagram, since_s = 1472, 5.0
    results = run(WIDE, subject, datagram, {"duration": "30 s", "warmup": f"{since_s} s"})
    windows = [row for row in results.windows.to_pylist() if row["time_s"] >= since_s]
    bdp = WIDE_BPS / 8 * WIDE_RTT_S
    in_bdp = sorted(row["cwnd_segments"] * datagram / bdp for row in windows)
    slots: Counter[int] = Counter()
    for row in list_sends(results, since_s):
        slots[int(row["time_s"] / SLOT_S)] += row["size_bytes"]
    rates = sorted(count * 8 / SLOT_S / WIDE_BPS for count in slots.values())
    low, high = (rates[int(share * len(rates))] for share in (0.05, 0.95))
    bottleneck = next(row for row in results.links.to_pylist() if row["id"] == "r0->r1")
    mean = sum(rates) / len(rates)
    return (
        f"window {in_bdp[len(in_bdp) // 2]:.2f} BDP; sends at {low:.2f} to {high:.2f} of the path's"
        f" rate (5 % and 95 % of all 100 ms), {mean:.2f} on average; queue"
        f" {bottleneck['delay_mean_s'] * 1000:.1f} ms, {count_drops(results, since_s)} dropped"
    )


KINDS = {"ngtcp2": (explain_ngtcp2, "bbr3"), "quinn": (explain_quinn, "bbr")}


def main() -> None:
    """Print a line for ours and one for each command."""
    if len(sys.argv) < 3 or sys.argv[1] not in KINDS:
        sys.exit(f"explain.py takes one of {', '.join(KINDS)} and commands of guests")
    explain, ours = KINDS[sys.argv[1]]
    for subject in (ours, *sys.argv[2:]):
        print(f"{subject}: {explain(subject)}", flush=True)


if __name__ == "__main__":
    main()
