"""A network with its routes and demands: what every question of a planner begins from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from ackclock import _core
from ackclock.errors import Problem, ScenarioError
from ackclock.studies.bottlenecks.demands import (
    Demands,
    gravity,
    lines_of,
    read_series,
    series_problems,
)
from ackclock.studies.bottlenecks.operators import read_network
from ackclock.studies.planner.given import DemandParts, read_paths

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.engines.fluid.graph import Graph
    from ackclock.engines.fluid.net import FluidNet
    from ackclock.studies.bottlenecks.operators import Network
    from ackclock.studies.planner.given import GivenPaths
    from ackclock.studies.planner.hashing import Hashing

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]
    Flags = npt.NDArray[np.bool_]

__all__ = ["Metric", "Situation", "costs", "read_situation"]

Metric = Literal["weight", "hops", "inverse-capacity"]
"""What shortest paths add up: the file's weights; 1 a link; a reference bandwidth over the
capacity, at least 1 and whole, as routers do."""

_MOST_REPORTED = 20
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
    hashing
        How routers hash flows to equal next hops; None: they divide traffic in equal parts.
    paths
        Paths that demands are given; they are routed only when a link of their path fails.
    metric
        What shortest paths add up.
    reference_bps
        Reference bandwidth of inverse capacities [bit/s]; left out: the capacity of the largest
        link.
    """

    network: Network
    cost: Floats
    demands: Demands
    time: int
    hashing: Hashing | None = None
    paths: GivenPaths | None = None
    metric: Metric = "weight"
    reference_bps: float | None = None

    @property
    def reference(self) -> float:
        """Reference bandwidth of inverse capacities [bit/s]."""
        return _reference(self.network, self.reference_bps)

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
            Demand of each pair; left out: at the time that is looked at. Flows are those of that
            time.
        """
        graph, hashing, demand_parts = self.network.graph, self.hashing, self.demand_parts
        of_pair = self.volume if volume is None else volume
        flows, first = (None, None) if hashing is None else demand_parts.flows(self.flows())
        return _core.IgpCore(
            nodes=len(graph.nodes),
            src=graph.src,
            dst=graph.dst,
            cost=self.cost,
            capacity=graph.capacity,
            source=self.demands.source[demand_parts.owner],
            target=self.demands.target[demand_parts.owner],
            volume=of_pair[demand_parts.owner] * demand_parts.share,
            flows=flows,
            first=first,
            seed=1 if hashing is None else hashing.seed,
            same=False if hashing is None else hashing.same,
            given=demand_parts.on_given_paths,
        )

    @cached_property
    def demand_parts(self) -> DemandParts:
        """What the engine routes: each demand, or its parts if it is given paths."""
        return DemandParts(len(self.demands.source), self.paths)

    def find_arriving(
        self, up: Flags = _NOTHING, volume: Floats | None = None, *, rounds: int
    ) -> tuple[Floats, bool]:
        """Find what arrives where overloaded links drop in proportion.

        Parameters
        ----------
        up
            Which directed links work; left out: all.
        volume
            Demand of each pair; left out: at the time that is looked at.
        rounds
            How many at most.

        Returns
        -------
        tuple
            Part of each demand that arrives, and whether the rates came to rest.
        """
        arriving_share, _, settled = self.core(volume).kept(up=up, rounds=rounds)
        return self.demand_parts.by_pair(arriving_share), settled

    def flows(self) -> Ids:
        """Number of flows of each pair at the time that is looked at, where routers hash them."""
        assert self.hashing is not None, "invariant: only hashed demands consist of flows"
        given = self.demands.flows
        return self.hashing.flows(self.volume, None if given is None else given[self.time])

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

    def route(
        self, positive: Flags, volume: Floats, weight: Floats | None = None
    ) -> tuple[FluidNet, Ids]:
        """Make the fluid engine's network.

        Flows follow the paths that their demand is given, or its first shortest path. Where routers
        hash flows, those of a demand that take the same path are one. Each has its part of volume
        and weight.

        Parameters
        ----------
        positive
            Pairs that are flows, ``(n_pairs,)``.
        volume
            Most that each of these sends [bit/s].
        weight
            Their weights; left out: 1.

        Returns
        -------
        tuple
            The network, and which of the pairs each of its flows is of.

        Raises
        ------
        ScenarioError
            Every pair without a path.
        """
        from ackclock.engines.fluid.net import FluidNet

        self.check_paths(positive)
        source, target = self.demands.source[positive], self.demands.target[positive]
        graph, demand_parts = replace(self.network.graph, cost=self.cost), self.demand_parts
        row_of_pair = np.cumsum(positive) - 1
        if self.hashing is None:
            of = np.flatnonzero(positive[demand_parts.owner])
            owner, share = (
                row_of_pair[demand_parts.owner[of]].astype(np.uint32),
                demand_parts.share[of],
            )
            offsets, hops = self._hops(graph, of)
        else:
            core = self.core(np.where(positive, 1.0, 0.0))
            part_of_path, count, offsets, hops, _ = core.paths(each=False)
            owner = row_of_pair[demand_parts.owner[part_of_path]].astype(np.uint32)
            share = (
                demand_parts.share[part_of_path]
                * count
                / demand_parts.flows(self.flows())[0][part_of_path]
            )
        weights = np.ones(len(source)) if weight is None else weight
        fluid_net = FluidNet(
            graph.capacity,
            offsets,
            hops,
            demand=volume[owner] * share,
            weight=weights[owner] * share,
            graph=graph,
            ends=(source[owner], target[owner]),
        )
        return fluid_net, owner

    def _hops(self, graph: Graph, of: npt.NDArray[np.intp]) -> tuple[Ids, Ids]:
        """Find the links of parts: those given, or of the first shortest path."""
        from ackclock.engines.fluid.graph import Traffic
        from ackclock.engines.fluid.routing import routes

        demand_parts, demands = self.demand_parts, self.demands
        ends = demands.source[demand_parts.owner[of]], demands.target[demand_parts.owner[of]]
        offsets, hops = routes(graph, Traffic(*ends), "cost")
        if demand_parts.on_given_paths is None:
            return offsets, hops
        rows = np.split(hops, offsets[1:-1])
        parts_on_paths, begins, links = demand_parts.on_given_paths
        row_of_part = {int(part_id): i for i, part_id in enumerate(of)}
        for path, part_id in enumerate(parts_on_paths.tolist()):
            if part_id in row_of_part:
                rows[row_of_part[part_id]] = links[begins[path] : begins[path + 1]]
        return np.cumsum([0, *map(len, rows)], dtype=np.uint32), np.concatenate(rows)

    def without_path(self, positive: Flags) -> list[int]:
        """List pairs that have no path.

        Parameters
        ----------
        positive
            Pairs that are looked at, ``(n_pairs,)``.
        """
        # Of the first round all arrives but what has no path.
        divided = replace(self, hashing=None)
        arriving_share, _ = divided.find_arriving(volume=np.where(positive, 1.0, 0.0), rounds=1)
        return [int(pair) for pair in np.flatnonzero(positive & (arriving_share == 0))]

    def check_paths(self, positive: Flags) -> None:
        """Refuse pairs that have no path.

        Parameters
        ----------
        positive
            Pairs that are looked at, ``(n_pairs,)``.

        Raises
        ------
        ScenarioError
            Every one, with file and line; a long list is cut and counted.
        """
        lost = self.without_path(positive)
        if not lost:
            return
        line_numbers = self.lines(lost[:_MOST_REPORTED])
        nodes, file = self.network.graph.nodes, self.demands.file
        where = None if file is None else str(file)
        problems = []
        for pair, line in zip(lost, line_numbers, strict=False):
            a, b = (nodes[ends[pair]] for ends in (self.demands.source, self.demands.target))
            location = f"line {line}: " if line else ""
            problems.append(
                Problem(self.demands.option, f"{location}there is no path from {a} to {b}", where)
            )
        if len(lost) > _MOST_REPORTED:
            message = f"and {len(lost) - _MOST_REPORTED} more pairs have no path"
            problems.append(Problem(self.demands.option, message, where))
        raise ScenarioError(problems)

    def lines(self, pairs: Sequence[int]) -> list[int]:
        """Lines of pairs in the file of demands; 0 where they are not known.

        Parameters
        ----------
        pairs
            Their numbers.
        """
        line_of_pair = lines_of(self.network, self.demands, self.time)
        ends = self.demands.source, self.demands.target
        return [line_of_pair.get((int(ends[0][i]), int(ends[1][i])), 0) for i in pairs]

    def with_cost(self, cost: Floats) -> Situation:
        """Route by other costs.

        Parameters
        ----------
        cost
            Cost of each directed link.
        """
        return replace(self, cost=cost)

    def with_seeds(self, count: int) -> list[Situation]:
        """Make the situation with as many seeds of the hash, its own first.

        Parameters
        ----------
        count
            How many.

        Raises
        ------
        ScenarioError
            Routers do not hash flows.
        """
        if self.hashing is None:
            raise ScenarioError([Problem("--hashes", "needs --ecmp hash")])
        first = self.hashing.seed
        hashings = (replace(self.hashing, seed=first + i) for i in range(count))
        return [replace(self, hashing=hashing) for hashing in hashings]

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


def _reference(network: Network, reference_bps: float | None) -> float:
    return float(network.graph.capacity.max()) if reference_bps is None else reference_bps


def costs(network: Network, metric: Metric, reference_bps: float | None = None) -> Floats:
    """Cost of each directed link.

    Parameters
    ----------
    network
        The network.
    metric
        What paths add up.
    reference_bps
        Reference bandwidth of inverse capacities [bit/s]; left out: the capacity of the largest
        link.
    """
    graph = network.graph
    if metric == "weight" and graph.cost is not None:
        return graph.cost
    if metric == "inverse-capacity":
        return np.maximum(1.0, np.floor(_reference(network, reference_bps) / graph.capacity))
    return np.ones(len(graph.src))


def read_situation(
    network: str | Path,
    *,
    demands: str | Path | None = None,
    gravity_file: str | Path | None = None,
    time: str | None = None,
    metric: Metric = "weight",
    rate: str | None = None,
    merge_parallel: bool = False,
    scale: float = 1.0,
    hashing: Hashing | None = None,
    paths: str | Path | None = None,
    reference: str | float | None = None,
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
    time
        Time to look at; None: at which most is demanded.
    metric
        What shortest paths add up.
    rate
        Capacity of links for which none is given.
    merge_parallel
        Whether parallel links become one.
    scale
        Factor on every demand.
    hashing
        How routers hash flows to equal next hops; None: they divide traffic in equal parts.
    paths
        CSV of paths that demands are given, as of `ackclock.studies.planner.given.read_paths`.
    reference
        Reference bandwidth of inverse capacities, with its unit; left out: the capacity of the
        largest link.

    Raises
    ------
    ScenarioError
        Everything wrong with the files; neither or both of the two files of demands.
    """
    if (demands is None) == (gravity_file is None):
        raise ScenarioError([Problem("", "needs one of --demands and --gravity")])
    if metric not in get_args(Metric):
        message = f'"{metric}" is not one; expected {", ".join(get_args(Metric))}'
        raise ScenarioError([Problem("--metric", message)])
    reference_bps = _read_reference(reference)
    try:
        topology = read_network(network, rate=rate, merge_parallel=merge_parallel)
    except ScenarioError as error:
        # Its matrix may be wrong by itself, too.
        wrong = [] if demands is None else series_problems(demands)
        raise ScenarioError([*error.problems, *wrong]) from None
    if demands is not None:
        series = read_series(topology, demands, scale=scale)
    else:
        assert gravity_file is not None, "invariant: one of the two is given"
        series = gravity(topology, gravity_file, scale=scale)
    cost = costs(topology, metric, reference_bps)
    given_paths = None if paths is None else read_paths(topology, cost, series, paths)
    return Situation(
        topology, cost, series, series.at(time), hashing, given_paths, metric, reference_bps
    )


def _read_reference(given: str | float | None) -> float | None:
    from ackclock._util.units import bare_or_rate

    if given is None:
        return None
    found = bare_or_rate(given)
    if not 0 < found < float("inf"):
        message = f'is "{given}"; expected a rate above 0, such as 100 Gbps'
        raise ScenarioError([Problem("--reference-bandwidth", message)])
    return found
