"""What the background leaves of each link over time.

Between two changes of who is active rates are constant. A link that packets cross has the rate that
the background does not take: on a full link that is what the packets' own flows get of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ackclock.engines.hybrid import sample

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.engines.hybrid.mixture import Allocation, Mixture

    Floats = npt.NDArray[np.float64]
    Counts = npt.NDArray[np.int64]
    Flags = npt.NDArray[np.bool_]

__all__ = ["Leftover", "while_flows_last"]

LEAST = 1e-3
"""Part of a link that packets have in any case: acknowledgements must get through."""


@dataclass(frozen=True)
class Leftover:
    """Rates that packets have of links, and who of the background are packets.

    Parameters
    ----------
    times
        When rates change [s], from 0 on, ``(n_times,)``.
    taken
        What the background that is no packets takes of each link [bit/s], ``(n_times, n_links)``.
    full
        Whether a link is full at some time, ``(n_links,)``.
    as_packets
        Flows of each pair that run as packets, ``(n_pairs,)``.
    foreground
        Mean rate of each of the scenario's flows while it is active [bit/s].
    sampled
        Rate of one flow of each pair [bit/s].
    own_link, pair_link
        As of `Allocation`, while most flows are active.
    share
        Share of the background's flows that run as packets where they meet the scenario's.
    """

    times: Floats
    taken: Floats
    full: Flags
    as_packets: Counts
    foreground: Floats
    sampled: Floats
    own_link: Counts
    pair_link: Counts
    share: float

    def left(self, capacity: Floats) -> Floats:
        """Find the rate that packets have [bit/s], ``(n_times, n_links)``.

        Parameters
        ----------
        capacity
            Of the links [bit/s].
        """
        return np.maximum(capacity - self.taken, LEAST * capacity)

    def mean_over(self, values: Floats, end_s: float) -> Floats:
        """Average rows of `times` until an end.

        Parameters
        ----------
        values
            ``(n_times, n_links)``.
        end_s
            The end [s].
        """
        lengths = np.diff(np.append(np.minimum(self.times, end_s), end_s))
        mean: Floats = lengths @ values / end_s
        return mean


def while_flows_last(
    mixture: Mixture,
    packets: int,
    duration_s: float,
    pair_share: Floats,
    own_share: Floats,
    seed: int,
    least: float = 0.0,
) -> Leftover:
    """Share links among flows that last; rates change when a flow of the scenario starts or stops.

    Parameters
    ----------
    mixture
        All flows.
    packets
        As of `sample.draw`.
    duration_s
        Of the run [s].
    pair_share, own_share
        As of `Mixture.allocate`.
    seed
        Of what is drawn.
    least
        Share of the background that runs as packets at least.
    """
    starts = np.array([flow.start_s for flow in mixture.foreground])
    stops = np.array([min(flow.stop_s, duration_s) for flow in mixture.foreground])
    inside = [t for t in (*starts, *stops) if 0 < t < duration_s]
    times = np.unique([0.0, *inside])
    active = [(starts <= t) & (t < stops) for t in times]
    allocation_of_active: dict[bytes, Allocation] = {}
    for who in active:
        if who.tobytes() not in allocation_of_active:
            allocation_of_active[who.tobytes()] = mixture.allocate(who, pair_share, own_share)
    allocations = [allocation_of_active[who.tobytes()] for who in active]
    most = allocations[int(np.argmax([who.sum() for who in active]))]
    share = max(least, sample.share(mixture, most, packets))
    as_packets = sample.draw(mixture, most, share, np.random.default_rng([seed, 1]))
    share_as_rates = 1 - as_packets / mixture.per_pair
    lengths = np.diff(np.append(times, duration_s))
    seconds = lengths @ np.array(active, dtype=float)
    own_bits = lengths @ np.array([each.foreground for each in allocations])
    return Leftover(
        times=times,
        taken=np.array(
            [mixture.load_of_pairs(each.pairs * share_as_rates) for each in allocations]
        ),
        full=np.any([each.full for each in allocations], axis=0),
        as_packets=as_packets,
        foreground=np.divide(own_bits, seconds, out=np.zeros_like(own_bits), where=seconds > 0),
        sampled=most.pairs / mixture.per_pair,
        own_link=most.own_link,
        pair_link=most.pair_link,
        share=share,
    )
