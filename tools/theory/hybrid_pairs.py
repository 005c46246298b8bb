"""Pairs of controls in hybrid runs: a few flows of one control among many of another.

`write_hybrid.py` writes the table; `tests/engines/hybrid/test_pairs.py` checks it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import stats

from ackclock.engines.hybrid import HybridCase

__all__ = [
    "CELLS",
    "CONTROLS",
    "LOADS",
    "QUEUES",
    "Load",
    "Ratio",
    "cell",
    "compare",
    "document",
    "rows",
]

CONTROLS = ("aimd", "cubic", "vegas", "bbr3")
QUEUES = {"fifo": "1 bdp", "red": "3 bdp", "fq": "1 bdp"}
"""Queues of the bottleneck, and their buffers."""

PER_FLOW = 2e6
"""Part of the link for each flow [bit/s]."""

JITTER = [{"kind": "jitter", "shape": "uniform", "mean": 5e-4, "spread": 5e-4, "keep_order": False}]


class Load(NamedTuple):
    """How many flows the scenario has, of how many in all."""

    own: int
    every: int


LOADS = (Load(5, 1000), Load(10, 500), Load(100, 500))

CELLS = [
    ("fifo", LOADS[0]),
    ("fifo", LOADS[1]),
    ("red", LOADS[1]),
    ("fq", LOADS[1]),
    ("fq", LOADS[2]),
]
"""Columns of the table; with `LOADS[2]` all flows over a FIFO or RED are packets."""


class Ratio(NamedTuple):
    """Goodput of the scenario's flows in hybrid runs over that in runs of the whole.

    Parameters
    ----------
    mean
        Of the means over seeds.
    half
        Half of its 95 % interval.
    packets
        Most flows of the background that ran as packets.
    """

    mean: float
    half: float
    packets: int


def document(own: str, behind: str, qdisc: str, load: Load, seed: int) -> dict[str, Any]:
    """Write a case: flows of one control among those of another over one link, 40 ms long.

    Parameters
    ----------
    own, behind
        Controls of the scenario's flows and of the background's.
    qdisc
        Queue of the link.
    load
        How many flows.
    seed
        The seed.
    """
    wide = {"rate": 1e12, "delay": 0.005, "buffer": "1000000 pkt", "back_impairments": JITTER}
    rate = PER_FLOW * load.every
    packets = round(float(QUEUES[qdisc].split()[0]) * rate * 0.04 / 12000)
    links = [
        {"a": "r0", "b": "r1", "rate": rate, "delay": 0.01, "qdisc": qdisc}
        | {"buffer": f"{packets} pkt"},
        {"a": "s", "b": "r0", **wide},
        {"a": "d", "b": "r1", **wide},
    ]
    listed = {"kind": "listed", "flows": [["s", "d"]]}
    return {
        "net": {"kind": "graph", "links": links},
        "duration": 25,
        "warmup": 10,
        "seed": seed,
        "flows": [{"src": "s", "dst": "d", "cc": own}] * load.own,
        "background": {
            "traffic": listed,
            "per_pair": load.every - load.own,
            "flow": {"cc": behind},
        },
    }


def compare(own: str, behind: str, qdisc: str, load: Load, seeds: range) -> Ratio:
    """Run a case both ways.

    Parameters
    ----------
    own, behind, qdisc, load
        As of `document`.
    seeds
        At least two.
    """
    hybrid: list[float] = []
    whole: list[float] = []
    packets = 0
    for seed in seeds:
        case = HybridCase(document(own, behind, qdisc, load, seed))
        run = case.execute().summary
        packets = max(packets, run["background"]["as_packets"])
        # With nothing as rates both are one run: a test compares their digests.
        is_whole = run["background"]["as_rates"] == 0
        every = run if is_whole else case.whole().run().summary
        for of, summary in ((hybrid, run), (whole, every)):
            of.append(
                float(np.mean([flow["goodput_bps"] for flow in summary["flows"][: load.own]]))
            )
    mean = float(np.mean(hybrid) / np.mean(whole))
    off = (np.array(hybrid) - mean * np.array(whole)) / np.mean(whole)
    n = len(seeds)
    half = float(stats.t.ppf(0.975, n - 1) * np.std(off, ddof=1) / np.sqrt(n))
    return Ratio(mean, half, packets)


def rows(seeds: range) -> list[list[str]]:
    """Compare all pairs; the rows of the table, the head first.

    Parameters
    ----------
    seeds
        Of the runs.
    """
    head = ["flows", *(f"{qdisc.upper()}, {a} of {b:,}" for qdisc, (a, b) in CELLS)]
    made = [head, ["---"] * len(head)]
    for behind in CONTROLS:
        for own in CONTROLS:
            if own == behind:
                continue
            found = [compare(own, behind, qdisc, load, seeds) for qdisc, load in CELLS]
            pairs = zip(found, CELLS, strict=True)
            cells = [cell(ratio, load) for ratio, (_, load) in pairs]
            made.append([f"{own} in {behind}", *cells])
            print(*made[-1], sep=" | ", flush=True)
    return made


def cell(found: Ratio, load: Load) -> str:
    """Write a ratio; "all" where every flow ran as packets, so that it is 1.

    Parameters
    ----------
    found, load
        Of a cell.
    """
    is_whole = found.packets == load.every - load.own
    return "all" if is_whole else f"{found.mean:.2f} ± {found.half:.2f}"
