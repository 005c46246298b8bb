"""What a background of finite flows leaves of each link over time.

The transfers run over the whole network as a fluid, with the scenario's flows as ones without end.
A share of the transfers, drawn at random, runs as packets: their sizes and times stay, and links
leave them what they have in the fluid.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ackclock.engines.fluid.arrivals import Transfers
from ackclock.engines.fluid.net import FluidNet
from ackclock.engines.fluid.over_time import simulate
from ackclock.engines.hybrid.leftover import Leftover
from ackclock.engines.hybrid.mixture import FIRST, FULL

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.engines.hybrid.mixture import Mixture

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

__all__ = ["draw", "while_flows_come"]

ENDLESS = 1e30
"""Size of a flow that outlasts every run [bits]."""


def draw(transfers: Transfers, share: float, seed: int) -> Flags:
    """Draw which transfers run as packets.

    Parameters
    ----------
    transfers
        All transfers.
    share
        How many of them, from 0 to 1.
    seed
        Of the draw.
    """
    rng = np.random.default_rng([seed, 1])
    as_packets: Flags = rng.random(len(transfers.time)) < share
    return as_packets


def while_flows_come(
    mixture: Mixture,
    transfers: Transfers,
    as_packets: Flags,
    duration_s: float,
    update_s: float,
    wire: float,
    pair_share: Floats,
    own_share: Floats,
) -> Leftover:
    """Share links among transfers and the scenario's flows; rates change at regular times.

    Parameters
    ----------
    mixture
        All flows; its pairs are those of the transfers.
    transfers
        The transfers.
    as_packets
        Which of them run as packets.
    duration_s, update_s
        Length of the run, and of the intervals over which rates are means [s].
    wire
        Bytes on the wire for each that a transfer carries, at least 1.
    pair_share, own_share
        As of `Mixture.allocate`.
    """
    pairs, own_flows = mixture.pairs, mixture.foreground
    n, n_links = pairs.n_flows, len(mixture.graph.capacity)
    # A pair's transfers that are packets cross a wide private link first, as each flow of the
    # scenario does: what these carry is what the packets have.
    routes = [pairs.route(pair) for pair in range(n)]
    ways = [*routes, *routes, *(np.array(flow.route, dtype=np.uint32) for flow in own_flows)]
    private = np.arange(n_links, n_links + n + len(own_flows), dtype=np.uint32)
    ways = [way if i < n else np.append(private[i - n], way) for i, way in enumerate(ways)]
    wide = np.full(n + len(own_flows), mixture.graph.capacity.sum())
    wide[n:] = np.minimum([flow.demand_bps for flow in own_flows], wide[n:])
    weight = np.concatenate([pair_share, pair_share, own_share])
    if pairs.weight is not None:
        weight[: 2 * n] *= np.tile(pairs.weight, 2)
    weight[2 * n :][[not flow.responds for flow in own_flows]] = FIRST
    net = FluidNet.from_routes(
        np.append(mixture.graph.capacity, wide), [way.tolist() for way in ways], weight=weight
    )
    starts = np.array([flow.start_s for flow in own_flows])
    time = np.append(transfers.time, starts)
    order = np.argsort(time, kind="stable")
    flow_of = np.append(transfers.flow + n * as_packets, 2 * n + np.arange(len(own_flows)))
    size = np.append(transfers.size * wire, np.full(len(own_flows), ENDLESS))
    offered = Transfers(time[order], flow_of[order].astype(np.uint32), size[order])
    window = {"duration": duration_s, "drain": False, "interval": update_s}
    simulated = simulate(net, offered, window)
    carried = simulated["samples"]
    of_packets = np.zeros((len(carried), n_links))
    for position, way in enumerate(ways[n:]):
        of_packets[:, way[1:]] += carried[:, n_links + position, None]
    rates = carried[:, :n_links]
    seconds = np.maximum(duration_s - starts, update_s)
    return Leftover(
        times=np.arange(len(carried), dtype=np.float64) * update_s,
        taken=np.maximum(rates - of_packets, 0.0),
        full=(rates >= (1 - FULL) * mixture.graph.capacity).any(axis=0),
        as_packets=np.bincount(transfers.flow[as_packets], minlength=n),
        foreground=carried[:, n_links + n :].sum(axis=0) * update_s / seconds,
        sampled=np.full(n, math.nan),
        own_link=np.full(len(own_flows), -1),
        pair_link=np.full(n, -1),
        share=float(as_packets.mean()) if len(as_packets) else 0.0,
    )
