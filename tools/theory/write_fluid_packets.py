"""Writes the page that compares fluid rates with packet runs on real networks.

``python tools/theory/write_fluid_packets.py`` runs a few hundred scenarios (minutes of one core)
and writes the tables of `docs/explanation/fluid-and-packets.md` between two markers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from scipy import stats

import ackclock as ac
from ackclock._util.progress import Bar
from ackclock.studies.bottlenecks.operators import read_network
from ackclock.studies.twin.laws.fair_queue import max_min

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ackclock.scenario.scenario import Scenario

    Floats = npt.NDArray[np.float64]

__all__ = ["Compared", "compared", "filled", "fluid_rates", "main", "scenario"]

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "fluid-and-packets.md"
BEGIN = "<!-- tables: written by tools/theory/write_fluid_packets.py -->"
END = "<!-- end of tables -->"
NETWORKS = {"Abilene": "abilene", "GÉANT": "geant", "Germany": "germany50"}
"""Names, and those in SNDlib by way of TopoHub."""
LOADS = (0.5, 1.0, 2.0, 4.0, 8.0)
"""Flows per node."""
SEEDS = range(1, 6)
NEAR = 0.1


def scenario(network: str, load: float, queue: str, seed: int, *, start: bool) -> Scenario:
    """Endless flows between pairs of nodes that are drawn.

    Parameters
    ----------
    network
        Name in SNDlib.
    load
        Flows per node.
    queue
        Queue discipline.
    seed
        Of pairs and of the run.
    start
        Whether it is of the first second; else of 20 s after 10 s.
    """
    net = {
        "kind": "topohub",
        "name": f"sndlib/{network}",
        "rate": "20 Mbps",
        "buffer": "100 pkt",
        "qdisc": queue,
    }
    nodes = read_network(f"topohub:sndlib/{network}", rate="20 Mbps").graph.nodes
    random = np.random.default_rng(seed)
    flows = []
    for _ in range(round(load * len(nodes))):
        a, b = random.choice(len(nodes), 2, replace=False)
        begin = "0 s" if start else f"{random.uniform(0, 1000):.1f} ms"
        flows.append(ac.Flow(src=nodes[a], dst=nodes[b], start=begin, cc="aimd", recovery="sack"))
    duration, warmup = ("1 s", "0 s") if start else ("30 s", "10 s")
    return ac.Scenario(
        net=net, flows=flows, seed=seed, routing="delay", duration=duration, warmup=warmup
    )


def fluid_rates(case: Scenario) -> tuple[Floats, Floats]:
    """Max-min rates [bit/s], headers included, and smallest round trips [s] of a scenario's flows.

    Parameters
    ----------
    case
        The scenario.
    """
    explained = case.explain().data
    rates = {link["id"]: float(link["rate_bps"]) for link in explained["links"]}
    routes = []
    for flow in explained["flows"]:
        way = flow["route"]
        routes.append(tuple(f"{a}->{b}" for a, b in pairwise(way)))
    trips = np.array([float(flow["rtt_s"]) for flow in explained["flows"]])
    return np.array(max_min(routes, rates)), trips


@dataclass(frozen=True)
class Compared:
    """How packet rates compare with fluid rates in one run.

    Parameters
    ----------
    fluid
        Mean fluid rate [bit/s].
    window
        Median window that a fluid rate needs per round trip without queues [packets].
    total
        Sum of packet rates over that of fluid rates.
    near
        Part of the flows within a tenth of their fluid rate.
    deviation
        Median of a flow's deviation, without its sign, relative.
    bias
        Exponent of the round trip in packet rate over fluid rate: least squares in logarithms.
    scatter
        Standard deviation of the logarithm that the bias leaves.
    timeouts
        Timeouts per flow.
    """

    fluid: float
    window: float
    total: float
    near: float
    deviation: float
    bias: float
    scatter: float
    timeouts: float


def compared(case: Scenario) -> Compared:
    """Run a scenario and compare.

    Parameters
    ----------
    case
        The scenario.
    """
    fluid, trips = fluid_rates(case)
    rows = case.run().summary["flows"]
    packet = _SEGMENT / _PAYLOAD * np.array([row["goodput_bps"] for row in rows])
    ratio = packet / fluid
    seen = np.log(np.maximum(ratio, 1e-3))
    x = np.log(trips) - np.log(trips).mean()
    bias = float(x @ seen / (x @ x))
    rest = seen - seen.mean() - bias * x
    return Compared(
        float(fluid.mean()),
        float(np.median(fluid * trips / (8 * _SEGMENT))),
        float(packet.sum() / fluid.sum()),
        float((np.abs(ratio - 1) <= NEAR).mean()),
        float(np.median(np.abs(ratio - 1))),
        bias,
        float(rest.std()),
        float(np.mean([row["timeouts"] for row in rows])),
    )


_PAYLOAD, _SEGMENT = 1460, 1500


def _mean(found: list[Compared], of: Callable[[Compared], float], digits: int = 2) -> str:
    """Mean over seeds with a 95 % interval of Student's t."""
    values = np.array([of(one) for one in found])
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.{digits}f} ± {half:.{digits}f}"


def tables(*, shown: bool) -> str:
    """Run everything, and write a table for each network.

    Parameters
    ----------
    shown
        Whether progress is.
    """
    parts = []
    done, every = 0, len(NETWORKS) * len(LOADS) * len(SEEDS) * 3
    with Bar(f"{every} runs", is_shown=shown) as update:
        for title, network in NETWORKS.items():
            rates, reasons = [], []
            for load in LOADS:
                found: dict[str, list[Compared]] = {"fq": [], "fifo": [], "start": []}
                for seed in SEEDS:
                    for kind, runs in found.items():
                        queue = "fq" if kind == "start" else kind
                        case = scenario(network, load, queue, seed, start=kind == "start")
                        runs.append(compared(case))
                        done += 1
                        update(done / every)
                fq, fifo, start = found.values()
                rates.append(
                    [
                        f"{load:g}",
                        f"{np.mean([one.fluid for one in fq]) / 1e6:.2f}",
                        f"{np.mean([one.window for one in fq]):.0f}",
                        _mean(fq, lambda one: 100 * one.deviation, 0),
                        _mean(fq, lambda one: 100 * one.near, 0),
                        _mean(fifo, lambda one: 100 * one.deviation, 0),
                        _mean(fifo, lambda one: 100 * one.near, 0),
                    ]
                )
                reasons.append(
                    [
                        f"{load:g}",
                        _mean(start, lambda one: one.total),
                        _mean(fq, lambda one: one.total),
                        _mean(fifo, lambda one: one.total),
                        _mean(fq, lambda one: one.bias),
                        _mean(fifo, lambda one: one.bias),
                        _mean(fq, lambda one: one.scatter),
                        _mean(fifo, lambda one: one.scatter),
                        _mean(fq, lambda one: one.timeouts, 1),
                        _mean(fifo, lambda one: one.timeouts, 1),
                    ]
                )
            parts.append(f"### {title}\n\n{_table(_RATES, rates)}\n{_table(_REASONS, reasons)}")
    return "\n".join(parts)


_RATES = [
    "flows per node",
    "fluid rate, Mbit/s",
    "window, packets",
    "FQ: deviation, %",
    "FQ: within a tenth, %",
    "FIFO: deviation, %",
    "FIFO: within a tenth, %",
]
_REASONS = [
    "flows per node",
    "total, first second, FQ",
    "total, FQ",
    "total, FIFO",
    "RTT exponent, FQ",
    "RTT exponent, FIFO",
    "scatter, FQ",
    "scatter, FIFO",
    "timeouts a flow, FQ",
    "timeouts a flow, FIFO",
]


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def filled(page: str, written: str) -> str:
    """Put tables between the markers of a page.

    Parameters
    ----------
    page
        The page.
    written
        The tables.
    """
    before, rest = page.split(BEGIN)
    after = rest.split(END)[1]
    return f"{before}{BEGIN}\n\n{written}\n{END}{after}"


def main() -> None:
    """Run the program."""
    written = tables(shown=True)
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), written), encoding="utf-8")


if __name__ == "__main__":
    main()
