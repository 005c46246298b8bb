"""A survey of a network: fair rates, bottlenecks, what senders of each kind do to it, upgrades."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.analysis import jain
from ackclock.engines.fluid.net import FluidNet
from ackclock.engines.fluid.outcome import Routers
from ackclock.engines.fluid.tables import bottlenecks, tables
from ackclock.errors import Problem, ScenarioError
from ackclock.studies.bottlenecks.upgrades import least_wanting

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt
    import pyarrow as pa

    from ackclock.studies.bottlenecks.operators import Network
    from ackclock.studies.bottlenecks.upgrades import Upgrade

__all__ = ["SENDERS", "Survey", "survey"]

SENDERS: dict[str, Any] = {
    "naive": "naive",
    "full-balanced": "full-balanced",
    "full-share": "full-share",
    "naive-ratio": {"kind": "naive-ratio", "alpha": 0.2},
    "limited-ratio": {"kind": "limited-ratio", "alpha": 0.2},
}
"""Sender policies of a survey; alpha as in McCullough et al. 2010."""


@dataclass(frozen=True)
class Survey:
    """What a survey found.

    Parameters
    ----------
    network
        The network.
    net
        Its capacities and routed flows.
    rates
        The max-min allocation, ``(n_flows,)``.
    held
        Bottleneck link of each flow in it, -1 for none.
    senders
        Per policy the totals of its outcome.
    flows, links
        Per policy the tables of its outcome.
    fair_at
        Routers that are fair; None: all.
    upgrades
        For the least rate and for the total; empty if not requested.
    factor
        What upgraded links' capacities are multiplied by.
    notes
        What was read in a way that the files do not state, a sentence each.
    time
        Which of several times the demands are of; empty where they have none.
    """

    network: Network
    net: FluidNet
    rates: npt.NDArray[np.float64]
    held: npt.NDArray[np.int64]
    senders: dict[str, dict[str, Any]]
    flows: dict[str, pa.Table]
    links: dict[str, pa.Table]
    fair_at: tuple[str, ...] | None
    upgrades: tuple[Upgrade, ...]
    factor: float
    notes: tuple[str, ...] = ()
    time: str = ""

    def bottleneck_links(self) -> list[tuple[str, float, int, float]]:
        """List bottlenecks: name, capacity [bit/s], flows held back, their rate [bit/s]."""
        bottlenecks = []
        for link in np.unique(self.held[self.held >= 0]):
            mine = self.held == link
            rate = float(self.rates[mine].max())
            bottlenecks.append(
                (
                    self.net.link_name(int(link)),
                    float(self.net.capacity[link]),
                    int(mine.sum()),
                    rate,
                )
            )
        return sorted(bottlenecks, key=lambda row: (-row[2], row[0]))

    def to_data(self) -> dict[str, Any]:
        """Give all numbers as plain data; rates in bit/s."""
        used = np.bincount(
            self.net.hops, np.repeat(self.rates, np.diff(self.net.offsets)), self.net.n_links
        )
        share = used / self.net.capacity
        graph = self.network.graph
        return {
            "network": self.network.title,
            "nodes": len(graph.nodes),
            "links": len(graph.src) // 2,
            "flows": self.net.n_flows,
            "flows_between": self.net.between,
            "time": self.time or None,
            "notes": list(self.notes),
            "routes_by": "weight" if self.network.has_weights() else "hops",
            "fair_at": None if self.fair_at is None else list(self.fair_at),
            "max_min": {
                "total_bps": float(self.rates.sum()),
                "least_bps": float(self.rates.min()),
                "least_wanting_bps": _finite(least_wanting(self.net, self.rates)),
                "jain": jain(self.rates),
                "satisfied_flows": int((self.held < 0).sum()),
                "utilisation_mean": float(share.mean()),
                "utilisation_max": float(share.max()),
            },
            "bottlenecks": [
                {"link": name, "capacity_bps": capacity, "flows": count, "rate_bps": rate}
                for name, capacity, count, rate in self.bottleneck_links()
            ],
            "senders": self.senders,
            "upgrade_factor": self.factor,
            "upgrades": [
                {
                    "goal": u.goal,
                    "links": list(u.links),
                    "least_wanting_bps": _finite(u.least),
                    "total_bps": u.total,
                    "exact": u.exact,
                }
                for u in self.upgrades
            ],
        }


def _finite(value: float) -> float | None:
    """JSON has no infinity."""
    return value if np.isfinite(value) else None


def survey(
    network: str | Path,
    demands: str | Path | None = None,
    *,
    rate: str | None = None,
    merge_parallel: bool = False,
    scale: float = 1.0,
    leaves: bool = False,
    fair_at: Sequence[str] | None = None,
    upgrade: int = 0,
    factor: float = 2.0,
    time_name: str | None = None,
) -> Survey:
    """Survey a network.

    Parameters
    ----------
    network
        As of `read_network`.
    demands
        As of `ackclock.studies.bottlenecks.demands.read_series`; None: a flow without bound for all
        pairs of nodes.
    rate
        Capacity of links for which none is given, with its unit.
    merge_parallel
        Whether parallel links become one.
    scale
        Factor on every demand.
    leaves
        Without demands: only pairs of nodes with one neighbour.
    fair_at
        Nodes whose outgoing links are max-min fair; all others share in proportion to what
        arrives, as FIFO does. None: all are fair.
    upgrade
        How many links to upgrade; 0: none.
    factor
        What their capacity is multiplied by.
    time_name
        Time to look at, of demands over time; None: at which most is demanded.

    Returns
    -------
    Survey
        Rates, bottlenecks, outcomes by sender, upgrades.

    Raises
    ------
    ScenarioError
        Everything wrong with network, demands and routers, pairs without a path among it.
    ConvergenceError
        FIFO links that feed each other did not settle; it names them.
    """
    from ackclock.studies.bottlenecks.demands import check_series, series_problems
    from ackclock.studies.bottlenecks.operators import all_pairs, read_network
    from ackclock.studies.bottlenecks.upgrades import best_upgrades

    try:
        topology = read_network(network, rate=rate, merge_parallel=merge_parallel)
    except ScenarioError as error:
        wrong = [] if demands is None else series_problems(demands)
        raise ScenarioError([*error.problems, *wrong]) from None
    problems: list[Problem] = []
    traffic, notes, when = None, topology.notes, ""
    if demands is None:
        traffic = all_pairs(topology, leaves=leaves)
    else:
        try:
            series, wrong_rows = check_series(topology, demands, scale=scale)
            problems += wrong_rows.list_reported()
            if series is not None:
                time = series.at(time_name)
                traffic, when = series.traffic(time), series.times[time]
                notes = tuple(dict.fromkeys((*notes, *series.notes)))
            elif not problems:
                problems.append(Problem("demands", "has no demand above 0", str(demands)))
        except ScenarioError as error:
            problems += error.problems
    routers = Routers()
    if fair_at is not None:
        fair_nodes = [topology.aliases.get(name, name) for name in fair_at]
        routers = Routers("max-min", "proportional", fair_nodes)
    net = None
    try:
        routers.of_link(topology.graph)
    except ScenarioError as error:
        problems += [Problem("--fair-at", p.message) for p in error.problems]
    try:
        if traffic is None:
            raise ScenarioError(problems)
        net = FluidNet.from_traffic(
            topology.graph, traffic, routing="cost" if topology.has_weights() else "hops"
        )
    except ScenarioError as error:
        # Flows have no numbers in a matrix.
        file = str(network) if demands is None else str(demands)
        if traffic is not None:
            problems += [Problem("demands", p.message, file) for p in error.problems]
    if problems or net is None:
        raise ScenarioError(problems)
    rates = net.max_min()
    senders, flows, links = {}, {}, {}
    for name, policy in SENDERS.items():
        settled = net.fixed_point(policy, routers)
        outcome_tables, senders[name] = tables(net, settled, 1)
        flows[name], links[name] = outcome_tables["flows"], outcome_tables["links"]
    upgrades = best_upgrades(net, upgrade, factor=factor) if upgrade else ()
    return Survey(
        topology,
        net,
        rates,
        bottlenecks(net, rates),
        senders,
        flows,
        links,
        None if fair_at is None else tuple(fair_at),
        upgrades,
        factor,
        notes,
        when,
    )
