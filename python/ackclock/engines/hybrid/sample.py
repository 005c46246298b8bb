"""Which flows of the background run as packets.

A queue of a few flows swings more than one of many. So of the flows that cross a full link of the
scenario's flows the same share runs as packets everywhere, on links that are slower in the same
proportion. That such a sample keeps queueing delays and rates is shown, for drop-tail and RED, in
R. Pan, B. Prabhakar, K. Psounis, D. Wischik, "SHRiNK: a method for scaleable performance prediction
and efficient network simulation", IEEE INFOCOM 2003. With other shares at other links flows that
cross several of them would meet other mixtures there than in the whole.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.engines.hybrid.mixture import lengths

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.engines.hybrid.mixture import Allocation, Mixture

    Counts = npt.NDArray[np.int64]

__all__ = ["draw", "share"]


def share(mixture: Mixture, allocation: Allocation, packets: int) -> float:
    """Find the share of the background's flows that must run as packets, from 0 to 1.

    Parameters
    ----------
    mixture
        All flows.
    allocation
        What they get.
    packets
        Flows that run as packets at each link that holds one of the scenario's flows back, these
        among them.
    """
    pairs = mixture.pairs
    bottlenecked = (allocation.pair_link >= 0)[_pair_of_hop(mixture)]
    there = np.bincount(pairs.hops[bottlenecked], minlength=len(allocation.full)) * mixture.per_pair
    own_flows_at = np.bincount(
        allocation.own_link[allocation.own_link >= 0], minlength=len(allocation.full)
    )
    shared_links = np.flatnonzero((own_flows_at > 0) & (there > 0))
    if not len(shared_links):
        return 0.0
    return float(
        np.clip(np.max((packets - own_flows_at[shared_links]) / there[shared_links]), 0.0, 1.0)
    )


def draw(
    mixture: Mixture, allocation: Allocation, share: float, rng: np.random.Generator
) -> Counts:
    """Draw how many flows of each pair run as packets, ``(n_pairs,)``.

    Parameters
    ----------
    mixture
        All flows.
    allocation
        What they get.
    share
        Share of the flows, of pairs that cross a full link of the scenario's flows.
    rng
        The source of randomness.
    """
    if share == 0:
        return np.zeros(mixture.n_pairs, dtype=np.int64)
    of_hop = _pair_of_hop(mixture)
    full = allocation.full & mixture.own_links()
    near = np.zeros(mixture.n_pairs, dtype=bool)
    near[of_hop[full[mixture.pairs.hops]]] = True
    near &= allocation.pair_link >= 0
    # Every 1/part-th flow in the order of the pairs, from a random one on: each has its part.
    ends = np.floor(np.cumsum(np.where(near, mixture.per_pair * share, 0.0)) + rng.random())
    counts: Counts = np.diff(ends, prepend=0.0).astype(np.int64)
    return np.minimum(counts, mixture.per_pair)


def _pair_of_hop(mixture: Mixture) -> Counts:
    return np.repeat(np.arange(mixture.n_pairs), lengths(mixture.pairs.offsets))
