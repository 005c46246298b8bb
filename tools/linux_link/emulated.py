"""Compare cases of one bottleneck with the running kernel, by `ackclock differ`; print a table.

    tools/linux_link/emulated.py --cc reno cubic --flows 1 2 10 --rate 20 100 --buffer 0.5 1 2

The cases are those of `tests/data/linux`, emulated anew: each takes its length in real time, for
each repetition. A row has the verdicts of the flow and of the link, of several flows those of their
sum or mean; quantities that are apart are named with both values. A case that had no valid run is a
row that says so.

Exit status: 0 nothing is apart, 1 something is, 2 the machine refuses.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

import ackclock as ac
from ackclock.studies.differ.differ import QuantityRow, differ
from ackclock.studies.differ.measure import LINK_QUANTITIES, QUANTITIES, judge

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.studies.differ.differ import Peer

OURS = {"reno": "aimd", "cubic": "cubic", "bbr": "bbr"}
WIRE_BYTES = 1500
TOLERANCE = 0.05
HEAD = ("case", "equal", "inside", "apart", "what is apart: here, there", "late: p99, most")


def document(cc: str, flows: int, rate: float, buffer: float, seconds: float) -> dict[str, Any]:
    """Return the scenario of a case: a round trip of 40 ms, flows that begin 0.1 s apart."""
    packets = max(round(buffer * rate * 1e6 * 0.04 / 8 / WIRE_BYTES), 1)
    link = {"a": "sender", "b": "receiver", "rate": rate * 1e6, "delay": 0.02}
    return {
        "name": f"{flows} {cc}, {rate:g} Mbit/s, {packets} packets",
        "era": "linux",
        "duration": seconds,
        "warmup": seconds / 3,
        "net": {"kind": "graph", "links": [{**link, "buffer": f"{packets} pkt"}]},
        "flows": [
            {
                "src": "sender",
                "dst": "receiver",
                "cc": OURS[cc],
                "count": flows,
                "stagger": 0.1,
            }
        ],
    }


def together(rows: Sequence[QuantityRow]) -> list[QuantityRow]:
    """Put several flows together: which of them gets more is chance, and needs many seeds."""
    links = [one for one in rows if one.quantity in LINK_QUANTITIES]
    made = []
    for quantity, put in (("goodput_mbps", np.sum), ("cwnd_mean", np.mean)):
        mine = [one for one in rows if one.quantity == quantity]
        here, there = (
            tuple(float(put(values)) for values in zip(*side, strict=True))
            for side in ([one.here for one in mine], [one.there for one in mine])
        )
        verdict = judge(here, there, TOLERANCE)
        made.append(QuantityRow("all flows", mine[0].controls, quantity, here, there, verdict))
    return [*made, *links]


def row(peer: Peer, name: str) -> tuple[str, ...]:
    """Write what came of a case as cells."""
    flows = {one.flow for one in peer.rows if one.quantity in QUANTITIES}
    rows = list(peer.rows) if len(flows) == 1 else together(peer.rows)
    counts = Counter(one.verdict for one in rows)
    words = {**QUANTITIES, **LINK_QUANTITIES}
    apart = [
        f"{words[one.quantity]}: {one.cells[4].split(' ')[0]}, {one.cells[5].split(' ')[0]}"
        for one in rows
        if one.verdict == "apart"
    ]
    shown = "; ".join(apart[:3]) + (f"; {len(apart) - 3} more" if len(apart) > 3 else "")
    late = peer.release.partition("at most ")[2].replace(" late (p99),", ",").replace(" (all)", "")
    verdicts = [str(counts[verdict]) for verdict in ("equal", "inside", "apart")]
    return name, *verdicts, shown or "-", late


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--cc", nargs="+", choices=sorted(OURS), default=["reno", "cubic"])
    parser.add_argument("--flows", nargs="+", type=int, default=[1, 2, 10])
    parser.add_argument("--rate", nargs="+", type=float, default=[20.0, 100.0], help="Mbit/s")
    parser.add_argument("--buffer", nargs="+", type=float, default=[0.5, 1.0, 2.0], help="BDP")
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--reps", type=int, default=1)
    arguments = parser.parse_args()
    print(f"| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}", flush=True)
    is_apart = False
    for cc, flows, rate, buffer in product(
        arguments.cc, arguments.flows, arguments.rate, arguments.buffer
    ):
        case = document(cc, flows, rate, buffer, arguments.seconds)
        try:
            found = differ(
                ac.Scenario.from_data(case), ["linux"], reps=arguments.reps, tolerance=TOLERANCE
            )
        except ac.UnsupportedError as error:
            print(f"emulated: {error}", file=sys.stderr)
            return 2
        cells = row(found.peers[0], case["name"])
        is_apart = is_apart or bool(found.apart)
        print(f"| {' | '.join(cells)} |", flush=True)
    return 1 if is_apart else 0


if __name__ == "__main__":
    sys.exit(main())
