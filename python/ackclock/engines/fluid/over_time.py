"""Runs of fluid cases over time: finite flows, their completion times, the use of links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.units import parse

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import numpy.typing as npt
    import pyarrow as pa

    from ackclock.engines.fluid.arrivals import Transfers
    from ackclock.engines.fluid.net import FluidNet
    from ackclock.engines.fluid.outcome import Routers, Senders

    Floats = npt.NDArray[np.float64]

__all__ = ["ideal_times", "simulate", "tables", "text", "warnings"]


def simulate(
    net: FluidNet,
    transfers: Transfers,
    given: Mapping[str, Any],
    *,
    senders: Senders | None = None,
    routers: Routers | None = None,
    solver: Mapping[str, Any] | None = None,
    progress: Callable[[float, float], object] | None = None,
) -> dict[str, Any]:
    """Run finite flows over a network.

    Parameters
    ----------
    net
        Its flows are the pairs: a finite flow has the route and the weight of its pair.
    transfers
        The finite flows.
    given
        ``duration``, ``drain``, ``peak``, ``interval``, ``reaction`` as of a table ``arrivals``.
    senders
        What senders do; None: rates are the global max-min allocation at all times.
    routers
        What routers do; left out: max-min everywhere.
    solver
        As of `FluidNet.fixed_point`.
    progress
        Called with the part of the arrivals that is done and the time [s].

    Returns
    -------
    dict
        Arrays ``completion`` [s] (not a number: has not ended), ``delivered``, ``(n_transfers,)``;
        ``offered``, ``carried``, amounts per link, ``(n_links,)``; ``samples``,
        ``(n_intervals, n_links)``, and ``sampled_active``, ``(n_intervals,)``; and numbers.
    """
    from ackclock.engines.fluid.net import _problems_of
    from ackclock.engines.fluid.outcome import Routers

    behaviour = None
    if senders is not None:
        routers = routers or Routers()
        reaction = parse(given.get("reaction", 0.0), "duration")
        policies, of_sender = senders.of_link(net.graph)
        behaviour = {
            "policies": policies,
            "of_sender": of_sender,
            "rules": routers.rules(),
            "of_link": routers.of_link(net.graph),
            "reaction": reaction or None,
            "tolerance": 1e-6,
            "damping": 1.0,
            "least_damping": 1 / 64,
            "rounds": 2000,
            "sweep_tolerance": 1e-12,
            "sweep_limit": 2000,
            **(solver or {}),
        }
    peak = np.empty(0)
    if "peak" in given:
        peak = np.full(net.n_flows, parse(given["peak"], "rate"))
    with _problems_of(net):
        found: dict[str, Any] = net._core.simulate(
            time=transfers.time,
            flow=transfers.flow,
            size=transfers.size,
            peak=peak,
            until=parse(given["duration"], "duration") if "duration" in given else math.inf,
            drain=given.get("drain", True),
            interval=parse(given["interval"], "duration") if "interval" in given else None,
            senders=behaviour,
            progress=progress,
        )
    found["samples"] = found["samples"].reshape(-1, net.n_links)
    return found


def ideal_times(net: FluidNet, transfers: Transfers, peak: float = math.inf) -> Floats:
    """Find how long each flow would take alone in the network [s], ``(n_transfers,)``.

    Parameters
    ----------
    net
        Capacities and routes.
    transfers
        The flows.
    peak
        Largest rate of a flow.
    """
    narrowest = np.minimum.reduceat(net.capacity[net.hops], net.offsets[:-1])
    times: Floats = transfers.size / np.minimum(narrowest, peak)[transfers.flow]
    return times


def tables(
    net: FluidNet, transfers: Transfers, given: Mapping[str, Any], found: Mapping[str, Any]
) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Make the tables and totals of a run.

    Parameters
    ----------
    net
        Capacities and routes, with a graph and the ends of pairs.
    transfers
        The flows.
    given
        The table ``arrivals``.
    found
        As `simulate` gave it.
    """
    from ackclock._util.arrow import array, table, words

    assert net.graph is not None, "invariant: a case has a graph"
    assert net.ends is not None, "invariant: a case has flows with ends"
    nodes, links = list(net.graph.nodes), net.graph.link_names()
    peak = parse(given["peak"], "rate") if "peak" in given else math.inf
    ideal = ideal_times(net, transfers, peak)
    sojourn = found["completion"] - transfers.time
    flows = table(
        {
            "id": array(np.arange(len(transfers.time), dtype=np.uint32)),
            "src": words(nodes, net.ends[0][transfers.flow].astype(np.int32)),
            "dst": words(nodes, net.ends[1][transfers.flow].astype(np.int32)),
            "hops": array(np.diff(net.offsets)[transfers.flow].astype(np.uint32)),
            "size": array(transfers.size),
            "arrival_s": array(transfers.time),
            "completed_at_s": array(found["completion"]),
            "sojourn_s": array(sojourn),
            "ideal_s": array(ideal),
            "slowdown": array(sojourn / ideal),
            "delivered": array(found["delivered"]),
        }
    )
    end = found["end"]
    mean = found["carried"] / end if end > 0 else np.zeros(net.n_links)
    pairs = np.repeat(np.bincount(transfers.flow, minlength=net.n_flows), np.diff(net.offsets))
    link_table = table(
        {
            "id": array(links),
            "src": words(nodes, net.graph.src.astype(np.int32)),
            "dst": words(nodes, net.graph.dst.astype(np.int32)),
            "capacity": array(net.capacity),
            "offered": array(found["offered"]),
            "carried": array(found["carried"]),
            "dropped": array(np.maximum(found["offered"] - found["carried"], 0.0)),
            "utilisation": array(mean / net.capacity),
            "flows": array(np.bincount(net.hops, pairs, net.n_links).astype(np.uint32)),
        }
    )
    made = {"flows": flows, "links": link_table}
    if len(found["samples"]):
        made["utilisation"], made["active"] = _series(net, given, found, links)
    totals = _totals(transfers, given, found, sojourn, ideal)
    row = {k: array(np.array([np.nan if v is None else v])) for k, v in totals.items()}
    made["totals"] = table(row)
    return made, totals


def _series(
    net: FluidNet, given: Mapping[str, Any], found: Mapping[str, Any], links: list[str]
) -> tuple[pa.Table, pa.Table]:
    from ackclock._util.arrow import array, table, words

    length = parse(given["interval"], "duration")
    count = len(found["samples"])
    begin = length * np.arange(count)
    series = table(
        {
            "time_s": array(np.repeat(begin, net.n_links)),
            "link": words(links, np.tile(np.arange(net.n_links, dtype=np.int32), count)),
            "utilisation": array((found["samples"] / net.capacity).ravel()),
        }
    )
    active = table({"time_s": array(begin), "flows": array(found["sampled_active"])})
    return series, active


FEW = 1000
"""Flows below which their 99th percentile is too low on average: of lognormal data with a deviation
of 1 by 15 % with 50 flows, by 12 % with 100, by 1 % with 1000."""


def _totals(
    transfers: Transfers,
    given: Mapping[str, Any],
    found: Mapping[str, Any],
    sojourn: Floats,
    ideal: Floats,
) -> dict[str, Any]:
    counts = transfers.time >= parse(given.get("warmup", 0.0), "duration")
    kept = counts & np.isfinite(sojourn)
    slowdown = sojourn[kept] / ideal[kept]
    end = float(found["end"])
    freed = found["freed"]

    def mean(values: Floats) -> float | None:
        return float(values.mean()) if len(values) else None

    return {
        "flows": len(transfers.time),
        "completed": int(np.isfinite(sojourn).sum()),
        "counted": int(kept.sum()),
        "unfinished": int((counts & ~np.isfinite(sojourn)).sum()),
        "mean_sojourn_s": mean(sojourn[kept]),
        "mean_slowdown": mean(slowdown),
        "median_slowdown": float(np.median(slowdown)) if len(slowdown) else None,
        "p99_slowdown": float(np.quantile(slowdown, 0.99)) if len(slowdown) else None,
        "worst_slowdown": float(slowdown.max()) if len(slowdown) else None,
        "delivered": float(found["delivered"].sum()),
        "goodput": float(found["delivered"].sum()) / end if end > 0 else 0.0,
        "dropped": float(np.maximum(found["offered"] - found["carried"], 0.0).sum()),
        "mean_active": found["mean_active"],
        "most_active": found["most_active"],
        "taken_up": found["taken_up"] / freed if freed > 0 else None,
        "end_s": end,
        "events": found["events"],
        "solved_flows": found["solved"],
        "whole_solutions": found["whole"],
        "unsettled": found["unsettled"],
    }


def text(name: str, summary: Mapping[str, Any], links: pa.Table) -> str:
    """Write the summary of a run over time for people.

    Parameters
    ----------
    name
        Of the case.
    summary
        Of the run.
    links
        Its table.
    """
    from ackclock._util.number_text import engineering, number, percent
    from ackclock._util.text_table import table

    totals, unit = summary["totals"], summary["unit"]
    rule = summary["allocation"]
    how = f"{summary['sender']['kind']} senders" if rule == "senders" else f"{rule} rates"

    def shown(key: str) -> str:
        return "unknown" if totals[key] is None else number(totals[key])

    def seconds(key: str) -> str:
        return "unknown" if totals[key] is None else engineering(totals[key], "s")

    def amount(value: float | None, of: str) -> str:
        # Other units, as "flow unit", have no decimal prefix.
        return engineering(value, of) if unit == "bit/s" else number(value)

    # Nearly the greatest of few values, which is less than what one in a hundred exceeds.
    counted = totals["counted"]
    few = f" (of {counted} flows: too low on average)" if 0 < counted < FEW else ""
    rows = [
        ["flows", str(totals["flows"]), f"{totals['completed']} ended by {seconds('end_s')}"],
        ["sojourn", seconds("mean_sojourn_s"), f"mean of {totals['counted']}"],
        [
            "slowdown",
            shown("mean_slowdown"),
            f"median {shown('median_slowdown')}, 99 % {shown('p99_slowdown')}{few}",
        ],
        ["active", shown("mean_active"), f"mean; most {totals['most_active']}"],
        ["goodput", amount(totals["goodput"], unit), "" if unit == "bit/s" else unit],
        [
            "taken up at once",
            "unknown" if totals["taken_up"] is None else percent(totals["taken_up"]),
            "of the rate that flows free when they end",
        ],
    ]
    busiest = links.sort_by([("utilisation", "descending")]).slice(0, 10)
    link_rows = [
        [
            str(row["id"]),
            amount(row["capacity"], unit),
            percent(row["utilisation"]),
            f"{row['flows']}",
            amount(row["dropped"], "bit"),
        ]
        for row in busiest.to_pylist()
    ]
    lines = [
        f"{name or 'case'}: fluid engine over time, {how}",
        table(["measure", "", ""], rows),
        table(["link", "capacity", "used", "flows", "dropped"], link_rows),
        *summary["warnings"],
    ]
    return "\n\n".join(lines)


def warnings(found: Mapping[str, Any], totals: Mapping[str, Any]) -> list[str]:
    """Say what a reader of the means must know.

    Parameters
    ----------
    found
        As `simulate` gave it.
    totals
        As `tables` gave them.
    """
    reported = []
    if totals["unfinished"]:
        reported.append(
            f"{totals['unfinished']} flows had not ended and are not in the means, which favours"
            " short flows; with drain = true the run goes on until all have ended"
        )
    if found["unsettled"]:
        reported.append(f"senders did not settle after {found['unsettled']} events")
    return reported
