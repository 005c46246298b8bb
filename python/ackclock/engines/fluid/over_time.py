"""Runs of fluid cases over time: finite flows, their completion times, the use of links."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.units import parse
from ackclock.catalogue.entries import defaults_of, schema_of
from ackclock.engines.fluid.document import Settling

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
    arrivals: Mapping[str, Any],
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
    arrivals
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
        reaction = parse(arrivals.get("reaction", 0.0), "duration")
        policies, of_sender = senders.of_link(net.graph)
        behaviour = {
            "policies": policies,
            "of_sender": of_sender,
            "rules": routers.rules(),
            "of_link": routers.of_link(net.graph),
            "reaction": reaction or None,
            **defaults_of(schema_of(Settling)),
            **(solver or {}),
        }
    peak = np.empty(0)
    if "peak" in arrivals:
        peak = np.full(net.n_flows, parse(arrivals["peak"], "rate"))
    with _problems_of(net):
        simulated: dict[str, Any] = net._core.simulate(
            time=transfers.time,
            flow=transfers.flow,
            size=transfers.size,
            peak=peak,
            until=parse(arrivals["duration"], "duration") if "duration" in arrivals else math.inf,
            drain=arrivals.get("drain", True),
            interval=parse(arrivals["interval"], "duration") if "interval" in arrivals else None,
            senders=behaviour,
            progress=progress,
        )
    simulated["samples"] = simulated["samples"].reshape(-1, net.n_links)
    return simulated


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
    net: FluidNet, transfers: Transfers, arrivals: Mapping[str, Any], simulated: Mapping[str, Any]
) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Make the tables and totals of a run.

    Parameters
    ----------
    net
        Capacities and routes, with a graph and the ends of pairs.
    transfers
        The flows.
    arrivals
        The table ``arrivals``.
    simulated
        As `simulate` gave it.
    """
    from ackclock._util.arrow import array, table, words

    assert net.graph is not None, "invariant: a case has a graph"
    assert net.ends is not None, "invariant: a case has flows with ends"
    nodes, links = list(net.graph.nodes), net.graph.link_names()
    peak = parse(arrivals["peak"], "rate") if "peak" in arrivals else math.inf
    ideal = ideal_times(net, transfers, peak)
    sojourn = simulated["completion"] - transfers.time
    flows = table(
        {
            "id": array(np.arange(len(transfers.time), dtype=np.uint32)),
            "src": words(nodes, net.ends[0][transfers.flow].astype(np.int32)),
            "dst": words(nodes, net.ends[1][transfers.flow].astype(np.int32)),
            "hops": array(np.diff(net.offsets)[transfers.flow].astype(np.uint32)),
            "size": array(transfers.size),
            "arrival_s": array(transfers.time),
            "completed_at_s": array(simulated["completion"]),
            "sojourn_s": array(sojourn),
            "ideal_s": array(ideal),
            "slowdown": array(sojourn / ideal),
            "delivered": array(simulated["delivered"]),
        }
    )
    end = simulated["end"]
    mean = simulated["carried"] / end if end > 0 else np.zeros(net.n_links)
    pairs = np.repeat(np.bincount(transfers.flow, minlength=net.n_flows), np.diff(net.offsets))
    link_table = table(
        {
            "id": array(links),
            "src": words(nodes, net.graph.src.astype(np.int32)),
            "dst": words(nodes, net.graph.dst.astype(np.int32)),
            "capacity": array(net.capacity),
            "offered": array(simulated["offered"]),
            "carried": array(simulated["carried"]),
            "dropped": array(np.maximum(simulated["offered"] - simulated["carried"], 0.0)),
            "utilisation": array(mean / net.capacity),
            "flows": array(np.bincount(net.hops, pairs, net.n_links).astype(np.uint32)),
        }
    )
    result_tables = {"flows": flows, "links": link_table}
    if len(simulated["samples"]):
        result_tables["utilisation"], result_tables["active"] = _series(
            net, arrivals, simulated, links
        )
    totals = _totals(transfers, arrivals, simulated, sojourn, ideal)
    row = {k: array(np.array([np.nan if v is None else v])) for k, v in totals.items()}
    result_tables["totals"] = table(row)
    return result_tables, totals


def _series(
    net: FluidNet, arrivals: Mapping[str, Any], simulated: Mapping[str, Any], links: list[str]
) -> tuple[pa.Table, pa.Table]:
    from ackclock._util.arrow import array, table, words

    length = parse(arrivals["interval"], "duration")
    count = len(simulated["samples"])
    begin = length * np.arange(count)
    series = table(
        {
            "time_s": array(np.repeat(begin, net.n_links)),
            "link": words(links, np.tile(np.arange(net.n_links, dtype=np.int32), count)),
            "utilisation": array((simulated["samples"] / net.capacity).ravel()),
        }
    )
    active = table({"time_s": array(begin), "flows": array(simulated["sampled_active"])})
    return series, active


FEW = 1000
"""Flows below which their 99th percentile is too low on average: of lognormal data with a deviation
of 1 by 15 % with 50 flows, by 12 % with 100, by 1 % with 1000."""


def _totals(
    transfers: Transfers,
    arrivals: Mapping[str, Any],
    simulated: Mapping[str, Any],
    sojourn: Floats,
    ideal: Floats,
) -> dict[str, Any]:
    counts = transfers.time >= parse(arrivals.get("warmup", 0.0), "duration")
    counted = counts & np.isfinite(sojourn)
    slowdown = sojourn[counted] / ideal[counted]
    end = float(simulated["end"])
    freed = simulated["freed"]

    def mean(values: Floats) -> float | None:
        return float(values.mean()) if len(values) else None

    return {
        "flows": len(transfers.time),
        "completed": int(np.isfinite(sojourn).sum()),
        "counted": int(counted.sum()),
        "unfinished": int((counts & ~np.isfinite(sojourn)).sum()),
        "mean_sojourn_s": mean(sojourn[counted]),
        "mean_slowdown": mean(slowdown),
        "median_slowdown": float(np.median(slowdown)) if len(slowdown) else None,
        "p99_slowdown": float(np.quantile(slowdown, 0.99)) if len(slowdown) else None,
        "worst_slowdown": float(slowdown.max()) if len(slowdown) else None,
        "delivered": float(simulated["delivered"].sum()),
        "goodput": float(simulated["delivered"].sum()) / end if end > 0 else 0.0,
        "dropped": float(np.maximum(simulated["offered"] - simulated["carried"], 0.0).sum()),
        "mean_active": simulated["mean_active"],
        "most_active": simulated["most_active"],
        "taken_up": simulated["taken_up"] / freed if freed > 0 else None,
        "end_s": end,
        "events": simulated["events"],
        "solved_flows": simulated["solved"],
        "whole_solutions": simulated["whole"],
        "unsettled": simulated["unsettled"],
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

    def format_total(key: str) -> str:
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
            format_total("mean_slowdown"),
            f"median {format_total('median_slowdown')}, 99 % {format_total('p99_slowdown')}{few}",
        ],
        ["active", format_total("mean_active"), f"mean; most {totals['most_active']}"],
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


def warnings(simulated: Mapping[str, Any], totals: Mapping[str, Any]) -> list[str]:
    """Say what a reader of the means must know.

    Parameters
    ----------
    simulated
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
    if simulated["unsettled"]:
        reported.append(f"senders did not settle after {simulated['unsettled']} events")
    return reported
