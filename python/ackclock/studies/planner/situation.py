"""A network with its routes and demands: what every question of a planner begins from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ackclock import _core
from ackclock.errors import Problem, ScenarioError
from ackclock.studies.bottlenecks.operators import read_network
from ackclock.studies.planner.demands import Demands, gravity, read_series, series_problems

if TYPE_CHECKING:
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.engines.fluid.net import FluidNet
    from ackclock.studies.bottlenecks.operators import Network

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

__all__ = ["Metric", "Situation", "costs", "read_situation"]

Metric = Literal["weight", "hops", "inverse-capacity"]
"""What shortest paths add up: the file's weights; 1 a link; 10^8 bit/s over the capacity, at least
1 and whole, as routers do by default."""

_REFERENCE_BPS = 1e8
_NOTHING: npt.NDArray[np.bool_] = np.empty(0, dtype=np.bool_)


@dataclass(frozen=True)
class Situation:
    """A network, the cost of its links, and what is demanded of it at one time.

    Parameters
    ----------
    network
        Nodes and full-duplex links: row i of the file is directed links 2 i and 2 i + 1.
    cost
        Cost of each directed link.
    demands
        Demands over time.
    time
        Number of the time that is looked at.
    """

    network: Network
    cost: Floats
    demands: Demands
    time: int

    @property
    def volume(self) -> Floats:
        """Demand [bit/s] of each pair at the time that is looked at."""
        volume: Floats = self.demands.volume[self.time]
        return volume

    @property
    def capacity(self) -> Floats:
        """Capacity [bit/s] of each directed link."""
        return self.network.graph.capacity

    @property
    def links(self) -> int:
        """Number of full-duplex links."""
        return len(self.network.graph.src) // 2

    def core(self, volume: Floats | None = None) -> _core.IgpCore:
        """Make the engine's network.

        Parameters
        ----------
        volume
            Demand of each pair; left out: at the time that is looked at.
        """
        graph = self.network.graph
        return _core.IgpCore(
            nodes=len(graph.nodes),
            src=graph.src,
            dst=graph.dst,
            cost=self.cost,
            capacity=graph.capacity,
            source=self.demands.source,
            target=self.demands.target,
            volume=np.ascontiguousarray(self.volume if volume is None else volume),
        )

    @cached_property
    def loads(self) -> Floats:
        """Load offered to each directed link [bit/s]."""
        loads: Floats = self.core().loads(up=_NOTHING)[0]
        return loads

    @property
    def utilisation(self) -> Floats:
        """Load over capacity of each directed link; above 1 it is overloaded."""
        used: Floats = self.loads / self.capacity
        return used

    def routed(self, positive: Flags, volume: Floats, weight: Floats | None = None) -> FluidNet:
        """Make the fluid engine's network, whose flows follow their first shortest path.

        Parameters
        ----------
        positive
            Pairs that are flows, ``(n_pairs,)``.
        volume
            Most that each of these sends [bit/s].
        weight
            Their weights; left out: 1.

        Raises
        ------
        ScenarioError
            Every pair without a path.
        """
        from ackclock.engines.fluid.graph import Traffic
        from ackclock.engines.fluid.net import FluidNet

        ends = self.demands.source[positive], self.demands.target[positive]
        graph = replace(self.network.graph, cost=self.cost)
        try:
            return FluidNet.routed(graph, Traffic(*ends, volume, weight), routing="cost")
        except ScenarioError as error:
            wrong = [Problem("demands", problem.message) for problem in error.problems]
            raise ScenarioError(wrong) from None

    def with_cost(self, cost: Floats) -> Situation:
        """Route by other costs.

        Parameters
        ----------
        cost
            Cost of each directed link.
        """
        return replace(self, cost=cost)

    def link(self, row: int) -> str:
        """Name of a full-duplex link.

        Parameters
        ----------
        row
            Its number.
        """
        graph = self.network.graph
        return f"{graph.nodes[graph.src[2 * row]]} - {graph.nodes[graph.dst[2 * row]]}"

    def direction(self, link: int) -> str:
        """Name of a directed link.

        Parameters
        ----------
        link
            Its number.
        """
        graph = self.network.graph
        return f"{graph.nodes[graph.src[link]]}->{graph.nodes[graph.dst[link]]}"

    def pair(self, number: int) -> str:
        """Name of a pair.

        Parameters
        ----------
        number
            Its number.
        """
        nodes = self.network.graph.nodes
        source, target = self.demands.source[number], self.demands.target[number]
        return f"{nodes[source]}->{nodes[target]}"

    def when(self) -> str:
        """Say at which time, with a comma before it; empty where there is one only."""
        name = self.demands.times[self.time]
        return f", {name}" if name else ""


def costs(network: Network, metric: Metric) -> Floats:
    """Cost of each directed link.

    Parameters
    ----------
    network
        The network.
    metric
        What paths add up.
    """
    graph = network.graph
    if metric == "weight" and graph.cost is not None:
        return graph.cost
    if metric == "inverse-capacity":
        return np.maximum(1.0, np.floor(_REFERENCE_BPS / graph.capacity))
    return np.ones(len(graph.src))


def read_situation(
    network: str | Path,
    *,
    demands: str | Path | None = None,
    gravity_file: str | Path | None = None,
    at: str | None = None,
    metric: Metric = "weight",
    rate: str | None = None,
    merge_parallel: bool = False,
    scale: float = 1.0,
) -> Situation:
    """Read a network and its demands.

    Parameters
    ----------
    network
        As of `ackclock.studies.bottlenecks.operators.read_network`.
    demands
        CSV of one matrix or of several over time.
    gravity_file
        CSV of what nodes send and receive, in place of demands.
    at
        Time to look at; None: at which most is demanded.
    metric
        What shortest paths add up.
    rate
        Capacity of links for which none is given.
    merge_parallel
        Whether parallel links become one.
    scale
        Factor on every demand.

    Raises
    ------
    ScenarioError
        Everything wrong with both files; neither or both of the two files of demands.
    """
    if (demands is None) == (gravity_file is None):
        raise ScenarioError([Problem("", "needs one of --demands and --gravity")])
    if metric not in get_args(Metric):
        message = f'"{metric}" is not one; expected {", ".join(get_args(Metric))}'
        raise ScenarioError([Problem("--metric", message)])
    try:
        made = read_network(network, rate=rate, merge_parallel=merge_parallel)
    except ScenarioError as error:
        # Its matrix may be wrong by itself, too.
        wrong = [] if demands is None else series_problems(demands)
        raise ScenarioError([*error.problems, *wrong]) from None
    if demands is not None:
        found = read_series(made, demands, scale=scale)
    else:
        assert gravity_file is not None, "invariant: one of the two is given"
        found = gravity(made, gravity_file, scale=scale)
    return Situation(made, costs(made, metric), found, found.at(at))
