"""The fluid engine on arrays."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock import _core
from ackclock.engines.fluid.outcome import Accounts, Rates, Routers, Senders, Settled
from ackclock.errors import ConvergenceError, Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from ackclock.engines.fluid.graph import Graph, Traffic
    from ackclock.engines.fluid.systems import Systems

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]
    Algorithm = Any

__all__ = ["FluidNet"]

_NOTHING: Floats = np.empty(0)


class FluidNet:
    """Capacities and routed flows, ready for the engine.

    Parameters
    ----------
    capacity
        Capacity of each link, ``(n_links,)``, above 0.
    offsets
        Where each flow's route begins in ``hops``, and the end, ``(n_flows + 1,)``.
    hops
        Link numbers of all routes, one after the other, ``(n_hops,)``.
    demand
        Most that each flow's application has to send, ``(n_flows,)``; left out: no bound.
    weight
        Weight of each flow at max-min links, ``(n_flows,)``; left out: 1.
    graph
        Names and ends of links, for tables and messages.
    ends
        Sources and destinations of flows as node numbers, for tables.
    between
        Between which nodes flows were drawn, in words, for the summary; empty where it is unknown.

    Raises
    ------
    ScenarioError
        Every capacity and weight that is not above 0, every route that is empty, names a link that
        is not there, or crosses one twice, every demand that is negative or not a number.
    """

    def __init__(
        self,
        capacity: npt.ArrayLike,
        offsets: npt.ArrayLike,
        hops: npt.ArrayLike,
        *,
        demand: npt.ArrayLike | None = None,
        weight: npt.ArrayLike | None = None,
        graph: Graph | None = None,
        ends: tuple[Ids, Ids] | None = None,
        between: str = "",
    ) -> None:
        self.capacity = _floats(capacity)
        self.offsets = np.ascontiguousarray(offsets, dtype=np.uint32)
        self.hops = np.ascontiguousarray(hops, dtype=np.uint32)
        self.weight = None if weight is None else _floats(weight)
        self.demand = None if demand is None else _floats(demand)
        self.graph = graph
        self.ends = ends
        self.between = between
        weights = _NOTHING if self.weight is None else self.weight
        problems = _demand_problems(self.demand, len(self.offsets) - 1)
        try:
            self._core = _core.FluidCore(self.capacity, self.offsets, self.hops, weights)
        except _core.InputError as error:
            raise ScenarioError([*_problems(error), *problems]) from None
        if problems:
            raise ScenarioError(problems)

    @classmethod
    def from_routes(
        cls, capacity: npt.ArrayLike, routes: Iterable[Sequence[int]], **options: Any
    ) -> FluidNet:
        """Make a network of routes as lists of link numbers.

        Parameters
        ----------
        capacity
            Capacity of each link.
        routes
            Per flow the links that it crosses, in order.
        **options
            As of the class.
        """
        lists = [np.asarray(route, dtype=np.uint32) for route in routes]
        offsets = np.cumsum([0, *map(len, lists)], dtype=np.uint32)
        hops = np.concatenate(lists) if lists else np.empty(0, dtype=np.uint32)
        return cls(capacity, offsets, hops, **options)

    @classmethod
    def from_traffic(
        cls,
        graph: Graph,
        traffic: Traffic,
        *,
        routing: str = "hops",
        systems: Systems | None = None,
        hash_seed: int | None = None,
    ) -> FluidNet:
        """Make a network whose flows take shortest paths, or the routes given.

        Among paths of equal length the same is taken for the same graph and ends, always; with a
        seed each flow takes the one that its hash chooses.

        Parameters
        ----------
        graph
            Nodes and links.
        traffic
            Flows.
        routing
            ``hops``, ``cost``, ``as-hops`` or ``valley-free``: what routes minimise.
        systems
            Autonomous systems of the nodes, for the last two.
        hash_seed
            Seed of the hash that chooses between equal paths; None: the first is taken.

        Raises
        ------
        ScenarioError
            Every pair without a path, every route over links that are not there, and as of the
            class.
        """
        from ackclock.engines.fluid.routing import routes

        offsets, hops = routes(graph, traffic, routing, systems, hash_seed)
        return cls(
            graph.capacity,
            offsets,
            hops,
            demand=traffic.demand,
            weight=traffic.weight,
            graph=graph,
            ends=(traffic.src, traffic.dst),
            between=traffic.ends,
        )

    @property
    def n_links(self) -> int:
        """Number of links."""
        return len(self.capacity)

    @property
    def n_flows(self) -> int:
        """Number of flows."""
        return len(self.offsets) - 1

    def link_name(self, link: int) -> str:
        """Name of a link; its number where the network has no graph.

        Parameters
        ----------
        link
            Its number.
        """
        if self.graph is None:
            return str(link)
        if self.graph.links:
            return self.graph.links[link]
        u, v = self.graph.src[link], self.graph.dst[link]
        return f"{self.graph.nodes[u]}->{self.graph.nodes[v]}"

    def route(self, flow: int) -> Ids:
        """Links that a flow crosses, in order.

        Parameters
        ----------
        flow
            Its number.
        """
        return self.hops[self.offsets[flow] : self.offsets[flow + 1]]

    def nodes_along(self, flow: int) -> list[str]:
        """Nodes that a flow passes, both ends included; the network must have a graph.

        Parameters
        ----------
        flow
            Its number.
        """
        assert self.graph is not None, "nodes have names in a graph only"
        nodes, links = self.graph.nodes, self.route(flow)
        return [nodes[self.graph.src[links[0]]], *(nodes[self.graph.dst[i]] for i in links)]

    def __repr__(self) -> str:
        return f"FluidNet(links={self.n_links}, flows={self.n_flows}, hops={len(self.hops)})"

    def max_min(self, *, demand: npt.ArrayLike | None = None) -> Floats:
        """Find the global max-min allocation.

        Parameters
        ----------
        demand
            Bound of each flow, infinite for none; left out: that of the network.

        Returns
        -------
        ndarray
            Rate of each flow, ``(n_flows,)``.
        """
        with _problems_of():
            return self._core.max_min(self._limits(demand))

    def clamp(self, *, demand: npt.ArrayLike | None = None) -> Floats:
        """Find the same as `max_min` by the paper's algorithm, one run of the network per flow.

        Parameters
        ----------
        demand
            As of `max_min`.
        """
        with _problems_of():
            return self._core.clamp(self._limits(demand))

    def alpha_fair(self, alpha: float, solver: str = "newton") -> Floats:
        """Find the alpha-fair allocation of Mo and Walrand.

        Parameters
        ----------
        alpha
            0: most in total; 1: proportional fairness; infinity: `max_min`.
        solver
            ``newton`` or ``clarabel``; see `ackclock.engines.fluid.alpha`.

        Returns
        -------
        ndarray
            Rate of each flow, ``(n_flows,)``.

        Raises
        ------
        ScenarioError
            ``alpha`` is out of range, or there is no such solver.
        AckclockError
            The solver did not come to an optimum.
        """
        from ackclock.engines.fluid.alpha import Routed, alpha_fair

        arrays = Routed(self.capacity, self.offsets, self.hops, self.demand, self.weight)
        return alpha_fair(arrays, alpha, solver)

    def evaluate(
        self,
        demand: npt.ArrayLike,
        routers: Routers | None = None,
        *,
        tolerance: float = 1e-12,
        limit: int = 2000,
    ) -> Rates:
        """Find what routers that each see only their own link make of given demands.

        Where all are max-min the answer is exact and takes one pass; else links are swept until
        they settle.

        Parameters
        ----------
        demand
            Rate at which each flow is offered, ``(n_flows,)``, finite.
        routers
            How links share; left out: max-min everywhere.
        tolerance
            Change relative to the capacity below which a link has settled.
        limit
            Most sweeps.

        Raises
        ------
        ConvergenceError
            Links that feed each other in a circle did not settle; it names them.
        """
        offered = _floats(demand)
        with _problems_of(self):
            if routers is None:
                return self._rates(self._core.brick_wall(offered))
            rules, of_link = routers.rules(), routers.of_link(self.graph)
            return self._rates(self._core.sweep(offered, rules, of_link, tolerance, limit))

    def fixed_point(
        self,
        sender: Algorithm | Senders,
        routers: Routers | None = None,
        *,
        tolerance: float = 1e-6,
        damping: float = 1.0,
        least_damping: float | None = 1 / 64,
        rounds: int = 2000,
        sweep_tolerance: float = 1e-12,
        sweep_limit: int = 2000,
    ) -> Settled:
        """Let senders answer what they see until nothing changes.

        Parameters
        ----------
        sender
            Policy of all senders: a class of `ackclock.policy`, its name, or a table with ``kind``;
            or `Senders`, where senders differ.
        routers
            How links share; left out: max-min everywhere.
        tolerance
            Change of a demand, relative to the sender's link, below which it is settled.
        damping
            Part of each change that is taken over; halved when demands oscillate.
        least_damping
            Below this it is not halved; None: never halved.
        rounds
            Most rounds.
        sweep_tolerance, sweep_limit
            As of `evaluate`.

        Returns
        -------
        Settled
            The last rates, and whether they are at rest. An oscillation is reported, not raised.

        Raises
        ------
        ConvergenceError
            Links did not settle for some demands; it names them.
        """
        routers = routers or Routers()
        senders = sender if isinstance(sender, Senders) else Senders(sender)
        policies, of_sender = senders.of_link(self.graph)
        with _problems_of(self):
            rates, how = self._core.fixed_point(
                policies=policies,
                of_sender=of_sender,
                rules=routers.rules(),
                of_link=routers.of_link(self.graph),
                limits=self._limits(None),
                tolerance=tolerance,
                damping=damping,
                least_damping=damping if least_damping is None else least_damping,
                rounds=rounds,
                sweep_tolerance=sweep_tolerance,
                sweep_limit=sweep_limit,
            )
        return Settled(self._rates(rates), **how)

    def take_measured(self, demand: npt.ArrayLike, leaving: npt.ArrayLike) -> Rates:
        """Take over rates that were measured elsewhere, to account for them here.

        Parameters
        ----------
        demand
            Rate at which each flow was offered, ``(n_flows,)``.
        leaving
            Rate at which each flow left each hop, ``(n_hops,)`` in the order of the routes.
        """
        with _problems_of():
            return self._rates(self._core.rates(_floats(demand), _floats(leaving)))

    def account(
        self, rates: Rates, ideal: npt.ArrayLike | None = None, *, access: int = 1
    ) -> Accounts:
        """Count dead flow and zombies.

        Parameters
        ----------
        rates
            What `evaluate` or `fixed_point` found on this network.
        ideal
            The ideal rate of each flow; left out: `max_min`.
        access
            Number of first hops on which a drop is not dead: 1 where sources are routers, 2 where
            they are hosts.
        """
        best = self.max_min() if ideal is None else _floats(ideal)
        with _problems_of():
            return Accounts(**self._core.account(rates._core, best, access))

    def _limits(self, demand: npt.ArrayLike | None) -> Floats:
        if demand is not None:
            return _floats(demand)
        return _NOTHING if self.demand is None else self.demand

    def _rates(self, rates: _core.Rates) -> Rates:
        return Rates(rates.demand, self._core.goodput(rates), rates.sweeps, rates)


def _floats(values: npt.ArrayLike) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float64)


def _demand_problems(demand: Floats | None, flows: int) -> list[Problem]:
    if demand is None:
        return []
    if demand.shape != (flows,):
        return [Problem("demand", f"has the shape {demand.shape}, expected ({flows},)")]
    wrong = np.flatnonzero(np.isnan(demand) | (demand < 0))
    return [Problem(f"demand[{i}]", f"is {demand[i]}, expected 0 or more") for i in wrong]


def _problems(error: Exception) -> list[Problem]:
    return [Problem(**item) for item in json.loads(str(error))]


class _problems_of:  # noqa: N801  (a context, used like a function)
    """Turns the core's errors into the package's."""

    def __init__(self, net: FluidNet | None = None) -> None:
        self.net = net

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, _core.InputError):
            raise ScenarioError(_problems(error)) from None
        if isinstance(error, _core.NotConverged):
            links, change, sweeps = error.args
            names = [self.net.link_name(i) if self.net else str(i) for i in links]
            raise ConvergenceError(names, change, sweeps) from None
