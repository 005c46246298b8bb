"""Tables and totals of a fluid outcome."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.number_text import without_rounding
from ackclock.analysis import jain

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import pyarrow as pa

    from ackclock.engines.fluid.net import FluidNet
    from ackclock.engines.fluid.outcome import Accounts, Rates, Routers, Settled
    from ackclock.engines.fluid.systems import Systems

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]

__all__ = ["bottlenecks", "fair_shares", "routers", "tables", "text"]

_SAME = 1e-9
"""Rates nearer than this, relative to the larger, are the same."""


def routers(data: dict[str, Any], systems: Systems | None = None) -> Routers:
    """Read the table ``routers`` of a document.

    Parameters
    ----------
    data
        The document.
    systems
        Autonomous systems, whose rules come before those of the table.
    """
    from ackclock.engines.fluid.outcome import Routers

    table = data.get("routers", {})
    of_node = {} if systems is None else systems.sharing
    rules = table.get("sharing", "max-min"), table.get("elsewhere"), table.get("at")
    return Routers(*rules, of_node)


def fair_shares(net: FluidNet) -> Floats:
    """Find what each flow would get if all flows on its links were greedy.

    It is the least, over the links of its route, of capacity divided by flows (by weight): what
    max-min routers grant it whatever others do.

    Parameters
    ----------
    net
        Capacities and routes.
    """
    lengths = np.diff(net.offsets)
    weight = np.ones(net.n_flows) if net.weight is None else net.weight
    total = np.bincount(net.hops, np.repeat(weight, lengths), net.n_links)
    with np.errstate(divide="ignore"):
        level = net.capacity / total
    least: Floats = np.minimum.reduceat(level[net.hops], net.offsets[:-1])
    return least * weight


def bottlenecks(net: FluidNet, rates: Floats) -> npt.NDArray[np.int64]:
    """Find the bottleneck of each flow in the max-min allocation, ``(n_flows,)``.

    It is the first link of its route that is full and on which no flow has more (by weight); -1
    where there is none, because the flow has all that it requests.

    Parameters
    ----------
    net
        Capacities and routes.
    rates
        As `FluidNet.max_min` gave them.
    """
    lengths = np.diff(net.offsets)
    weight = np.ones(net.n_flows) if net.weight is None else net.weight
    used = np.bincount(net.hops, np.repeat(rates, lengths), net.n_links)
    per_weight = rates / weight
    most = np.zeros(net.n_links)
    level = np.repeat(per_weight, lengths)
    np.maximum.at(most, net.hops, level)
    full = used >= net.capacity * (1 - _SAME)
    is_one = full[net.hops] & (level >= most[net.hops] * (1 - _SAME))
    position = np.where(is_one, np.arange(len(net.hops)), len(net.hops))
    first = np.minimum.reduceat(position, net.offsets[:-1])
    has_bottleneck = first < len(net.hops)
    bottleneck = np.full(net.n_flows, -1, dtype=np.int64)
    bottleneck[has_bottleneck] = net.hops[first[has_bottleneck]]
    return bottleneck


def tables(
    net: FluidNet, settled: Settled, access: int
) -> tuple[dict[str, pa.Table], dict[str, Any]]:
    """Make the tables and totals of an outcome.

    Parameters
    ----------
    net
        Capacities and routes, with a graph and the ends of flows.
    settled
        The outcome.
    access
        As of `FluidNet.account`.
    """
    from ackclock._util.arrow import array, table, words

    assert net.graph is not None, "invariant: a case has a graph"
    assert net.ends is not None, "invariant: a case has flows with ends"
    ideal, rates = net.max_min(), settled.rates
    books = _without_rounding(net, net.account(rates, ideal, access=access), rates)
    bottleneck_of_flow = bottlenecks(net, ideal)
    nodes, links = list(net.graph.nodes), net.graph.link_names()
    lengths = np.diff(net.offsets)
    unbounded = np.full(net.n_flows, np.inf)
    flows = table(
        {
            "id": array(np.arange(net.n_flows, dtype=np.uint32)),
            "src": words(nodes, net.ends[0].astype(np.int32)),
            "dst": words(nodes, net.ends[1].astype(np.int32)),
            "hops": array(lengths.astype(np.uint32)),
            "limit": array(unbounded if net.demand is None else net.demand),
            "demand": array(rates.demand),
            "goodput": array(rates.goodput),
            "max_min": array(ideal),
            "fair_share": array(fair_shares(net)),
            "bottleneck": _links_or_null(links, bottleneck_of_flow),
            "dead": array(without_rounding(rates.demand - rates.goodput, rates.demand)),
            "dead_beyond_access": array(books.flow_dead),
            "zombies_suffered": array(books.suffered),
            "zombies_caused": array(books.caused),
            "zombies_caused_edge": array(books.caused_edge),
        }
    )
    per_link = np.bincount(net.hops, minlength=net.n_links)
    by_bottleneck = np.bincount(bottleneck_of_flow[bottleneck_of_flow >= 0], minlength=net.n_links)
    ideal_load = np.bincount(net.hops, np.repeat(ideal, lengths), net.n_links)
    link_table = table(
        {
            "id": array(links),
            "src": words(nodes, net.graph.src.astype(np.int32)),
            "dst": words(nodes, net.graph.dst.astype(np.int32)),
            "capacity": array(net.capacity),
            "offered": array(books.offered),
            "carried": array(books.carried),
            "utilisation": array(books.carried / net.capacity),
            "max_min_carried": array(ideal_load),
            "dead": array(books.dead),
            "zombies": array(books.zombies),
            "zombies_edge": array(books.zombies_edge),
            "flows": array(per_link.astype(np.uint32)),
            "bottlenecked_flows": array(by_bottleneck.astype(np.uint32)),
        }
    )
    totals = _totals(settled, ideal, books)
    row = {k: array(np.array([np.nan if v is None else v])) for k, v in totals.items()}
    return {"flows": flows, "links": link_table, "totals": table(row)}, totals


def _without_rounding(net: FluidNet, books: Accounts, rates: Rates) -> Accounts:
    """Replace rounding errors of sums and differences of rates by zeros: they are no drops."""
    # A flow's rates are those of the links that it crosses.
    largest = np.maximum.reduceat(net.capacity[net.hops], net.offsets[:-1])
    of_flow = np.maximum(largest, np.where(np.isfinite(rates.demand), rates.demand, 0.0))
    largest_capacity = float(net.capacity.max())
    of_link = net.capacity
    return replace(
        books,
        dead=without_rounding(books.dead, of_link),
        zombies=without_rounding(books.zombies, of_link),
        zombies_edge=without_rounding(books.zombies_edge, of_link),
        flow_dead=without_rounding(books.flow_dead, of_flow),
        suffered=without_rounding(books.suffered, of_flow),
        caused=without_rounding(books.caused, of_flow),
        caused_edge=without_rounding(books.caused_edge, of_flow),
        uncaused=without_rounding(books.uncaused, largest_capacity),
        uncaused_edge=without_rounding(books.uncaused_edge, largest_capacity),
    )


def _links_or_null(names: list[str], numbers: npt.NDArray[np.int64]) -> pa.Array:
    import pyarrow as pa

    indices = pa.array(numbers.astype(np.int32), mask=numbers < 0)
    return pa.DictionaryArray.from_arrays(indices, pa.array(names))


def _totals(settled: Settled, ideal: Floats, books: Any) -> dict[str, Any]:
    demand, goodput = settled.rates.demand, settled.rates.goodput
    best, got = float(ideal.sum()), float(goodput.sum())
    size = np.maximum(ideal, goodput)
    return {
        "flows": len(goodput),
        "offered": float(demand.sum()),
        "goodput": got,
        "clamp_goodput": best,
        "fraction_of_clamp": got / best if best > 0 else 1.0,
        "dead": float(without_rounding(demand - goodput, demand).sum()),
        "dead_beyond_access": float(books.flow_dead.sum()),
        "zombies": float(books.zombies.sum()),
        "zombies_edge": float(books.zombies_edge.sum()),
        "uncaused": books.uncaused,
        "uncaused_edge": books.uncaused_edge,
        "unasked": float(without_rounding(np.maximum(ideal - demand, 0), size).sum()),
        "above": float(without_rounding(np.maximum(goodput - ideal, 0), size).sum()),
        "least_goodput": float(goodput.min()),
        "jain": jain(goodput),
        "clamp_jain": jain(ideal),
        "converged": settled.converged,
        "rounds": settled.rounds,
        "change": settled.change,
        "period": settled.period,
        "damping": settled.damping,
    }


def text(name: str, summary: Mapping[str, Any], links: pa.Table) -> str:
    """Write the summary of a run for people.

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

    s = summary
    totals, unit = s["totals"], s["unit"]
    sender = {key: value for key, value in s["sender"].items() if key != "kind"}
    how = ", ".join(f"{key} {number(value)}" for key, value in sender.items())
    who = f"{s['sender']['kind']} senders{f' ({how})' if how else ''}"
    if s["allocation"] != "senders":
        who = f"{s['allocation']} rates"
    head = f"{name or 'case'}: fluid engine, {who}"
    if s.get("flows_between"):
        head += f"; {totals['flows']} flows between {s['flows_between']}"

    def rate(value: float) -> str:
        # Other units, as "flow unit", have no decimal prefix.
        return engineering(value, unit) if unit == "bit/s" else number(value)

    def amount(key: str) -> str:
        return rate(totals[key])

    rows = [
        ["offered", amount("offered"), ""],
        ["goodput", amount("goodput"), f"{percent(totals['fraction_of_clamp'], 2)} of max-min"],
        ["max-min goodput", amount("clamp_goodput"), f"Jain {totals['clamp_jain']:.4f}"],
        ["dead", amount("dead"), f"{amount('dead_beyond_access')} beyond access routers"],
        ["zombies", amount("zombies"), f"{amount('zombies_edge')} by the formula per link"],
    ]
    settled = (
        f"settled in {totals['rounds']} rounds" if totals["converged"] else "; ".join(s["warnings"])
    )
    fair = f"Jain {totals['jain']:.4f}, least goodput {amount('least_goodput')}"
    worst = links.sort_by([("zombies", "descending"), ("dead", "descending")]).slice(0, 10)
    link_rows = [
        [
            str(row["id"]),
            rate(row["capacity"]),
            percent(row["utilisation"]),
            f"{row['flows']}",
            f"{row['bottlenecked_flows']}",
            rate(row["dead"]),
            rate(row["zombies"]),
        ]
        for row in worst.to_pylist()
    ]
    link_head = ["link", "capacity", "used", "flows", "holds back", "dead", "zombies"]
    lines = [
        head,
        table(["total", unit, ""], rows),
        f"{fair}; {settled}",
        table(link_head, link_rows),
    ]
    return "\n\n".join(lines)
