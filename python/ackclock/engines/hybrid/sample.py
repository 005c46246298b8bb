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

__all__ = ["draw"]


def draw(mixture: Mixture, found: Allocation, packets: int, rng: np.random.Generator) -> Counts:
    """Draw how many flows of each pair run as packets, ``(n_pairs,)``.

    Parameters
    ----------
    mixture
        All flows.
    found
        What they get.
    packets
        Flows that run as packets at each link that holds one of the scenario's flows back, these
        among them.
    rng
        The source of randomness.
    """
    pairs = mixture.pairs
    nothing = np.zeros(mixture.n_pairs, dtype=np.int64)
    of_hop = np.repeat(np.arange(mixture.n_pairs), lengths(pairs.offsets))
    held = found.pair_link >= 0
    there = np.bincount(pairs.hops[held[of_hop]], minlength=len(found.full)) * mixture.per_pair
    own = np.bincount(found.own_link[found.own_link >= 0], minlength=len(found.full))
    at = np.flatnonzero((own > 0) & (there > 0))
    if not len(at):
        return nothing
    share = float(np.clip(np.max((packets - own[at]) / there[at]), 0.0, 1.0))
    full = found.full & mixture.own_links()
    near = np.zeros(mixture.n_pairs, dtype=bool)
    near[of_hop[full[pairs.hops]]] = True
    near &= held
    # Every 1/share-th flow in the order of the pairs, from a random one on: each has its part.
    ends = np.floor(np.cumsum(np.where(near, mixture.per_pair * share, 0.0)) + rng.random())
    counts: Counts = np.diff(ends, prepend=0.0).astype(np.int64)
    return np.minimum(counts, mixture.per_pair)
