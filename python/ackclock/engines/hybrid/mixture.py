"""All flows of a hybrid case as a fluid: who shares which link, and what each gets.

Rates are weighted max-min: flows that a link holds back share it in proportion to their weights,
which are 1 or fall with the round-trip time. A flow that does not respond takes what it sends
first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from ackclock.engines.fluid.net import FluidNet

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.engines.fluid.graph import Graph

    Floats = npt.NDArray[np.float64]
    Counts = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

__all__ = ["Allocation", "Mixture", "Own", "lengths"]

FULL = 1e-6
"""A link is full if what it has left is less than this part of it."""

FIRST = 1e9
"""Weight of a flow that does not respond to losses."""


@dataclass(frozen=True)
class Own:
    """A flow of the scenario itself, which runs as packets.

    Parameters
    ----------
    route, back
        Links that its data and its acknowledgements cross.
    rtt_s
        Round-trip time without queues [s].
    demand_bps
        What it sends at most [bit/s]; infinite for no bound.
    responds
        Whether it slows down when packets are lost.
    start_s, stop_s
        When it sends [s].
    control
        Its control; "" for that of the background.
    """

    route: tuple[int, ...]
    back: tuple[int, ...]
    rtt_s: float
    demand_bps: float
    responds: bool
    start_s: float
    stop_s: float
    control: str = ""


@dataclass(frozen=True)
class Allocation:
    """What all flows get while the same flows are active.

    Parameters
    ----------
    pairs
        Rate of each pair of the background [bit/s], all its flows together.
    foreground
        Rate of each of the scenario's flows [bit/s]; 0 while it is not active.
    full
        Whether each link is full.
    pair_link, own_link
        The full link that holds each back; -1 where it gets all that it wants.
    """

    pairs: Floats
    foreground: Floats
    full: Flags
    pair_link: Counts
    own_link: Counts


class Mixture:
    """The background's pairs and the scenario's own flows on one network.

    Parameters
    ----------
    graph
        The network, capacities in bit/s.
    pairs
        The background's pairs with their routes, weights and demands.
    per_pair
        Flows of each pair.
    foreground
        The scenario's flows.
    """

    def __init__(self, graph: Graph, pairs: FluidNet, per_pair: int, own_flows: list[Own]) -> None:
        self.graph = graph
        self.pairs = pairs
        self.per_pair = per_pair
        self.foreground = own_flows
        routes = [np.array(flow.route, dtype=np.uint32) for flow in own_flows]
        counts = np.array([len(route) for route in routes], dtype=np.int64)
        hops, offsets = np.concatenate(routes), np.cumsum(counts)
        self._hops = np.concatenate([pairs.hops, hops])
        ends = pairs.offsets[-1] + offsets
        self._offsets = np.concatenate([pairs.offsets, ends]).astype(np.uint32)

    @property
    def n_pairs(self) -> int:
        """Pairs of the background."""
        return self.pairs.n_flows

    @cached_property
    def opposite(self) -> Counts:
        """The opposite direction of each link; -1 where there is none."""
        ends = list(zip(self.graph.src.tolist(), self.graph.dst.tolist(), strict=True))
        at = {pair: link for link, pair in enumerate(ends)}
        return np.array([at.get((b, a), -1) for a, b in ends], dtype=np.int64)

    def own_links(self) -> Flags:
        """Links that the scenario's flows cross, with data or acknowledgements."""
        found = np.zeros(len(self.graph.capacity), dtype=bool)
        for flow in self.foreground:
            found[[*flow.route, *flow.back]] = True
        return found

    def allocate(self, active: Flags, pair_share: Floats, own_share: Floats) -> Allocation:
        """Find the weighted max-min rates.

        Parameters
        ----------
        active
            Which of the scenario's flows send, ``(n_own,)``.
        pair_share, own_share
            What a flow of each pair, and each own flow, gets relative to others at one bottleneck.
        """
        pairs, n = self.pairs, self.n_pairs
        weights = np.empty(n + len(self.foreground))
        demand = np.full(n + len(self.foreground), np.inf)
        weights[:n] = self.per_pair * pair_share
        if pairs.weight is not None:
            weights[:n] *= pairs.weight
        if pairs.demand is not None:
            demand[:n] = pairs.demand
        weights[n:] = [
            share if flow.responds else FIRST
            for flow, share in zip(self.foreground, own_share, strict=True)
        ]
        demand[n:] = [
            flow.demand_bps if sends else 0.0
            for flow, sends in zip(self.foreground, active, strict=True)
        ]
        net = FluidNet(
            self.graph.capacity, self._offsets, self._hops, demand=demand, weight=weights
        )
        rates = net.max_min()
        counts = lengths(self._offsets)
        load = np.bincount(self._hops, np.repeat(rates, counts), len(self.graph.capacity))
        full = load >= (1 - FULL) * self.graph.capacity
        bottleneck = _bottlenecks(self._hops, self._offsets, rates, weights, demand, full)
        return Allocation(rates[:n], rates[n:], full, bottleneck[:n], bottleneck[n:])

    def load_of_pairs(self, rates: Floats) -> Floats:
        """Add rates of pairs up, link by link [bit/s].

        Parameters
        ----------
        rates
            Of each pair [bit/s].
        """
        counts = lengths(self.pairs.offsets)
        load = np.bincount(self.pairs.hops, np.repeat(rates, counts), len(self.graph.capacity))
        return load.astype(np.float64, copy=False)


def lengths(offsets: npt.NDArray[np.uint32]) -> Counts:
    """Count the links of each route.

    Parameters
    ----------
    offsets
        Where routes begin, and the end of the last.
    """
    ends = offsets.astype(np.int64)
    counts: Counts = ends[1:] - ends[:-1]
    return counts


def _bottlenecks(
    hops: npt.NDArray[np.uint32],
    offsets: npt.NDArray[np.uint32],
    rates: Floats,
    weights: Floats,
    demand: Floats,
    full: Flags,
) -> Counts:
    """The first full link of each flow where no other flow has more for its weight; else -1."""
    counts = lengths(offsets)
    level = np.repeat(rates / weights, counts)
    wants = np.repeat(rates < (1 - FULL) * demand, counts)
    most = np.zeros(len(full))
    np.maximum.at(most, hops, np.where(wants, level, 0.0))
    here = full[hops] & wants & (level >= (1 - FULL) * most[hops])
    bottleneck = np.full(len(counts), -1, dtype=np.int64)
    flow = np.repeat(np.arange(len(counts)), counts)
    candidates = np.flatnonzero(here)[::-1]
    bottleneck[flow[candidates]] = hops[candidates]
    return bottleneck
