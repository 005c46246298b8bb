"""Choosing the nearest mirror of a server by estimated distances.

**Source**: Francis, Jamin, Jin, Jin, Raz, Shavitt & Zhang, "IDMaps: A global Internet host distance
estimation service", IEEE/ACM Trans. Networking 9(5), 2001 (doi:10.1109/90.958323), section V: a
choice is correct if the mirror chosen is at most twice as far as the nearest.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ackclock.studies.idmaps.distances import Distances
    from ackclock.studies.idmaps.service import IDMaps

    Real = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

__all__ = ["MirrorChoice", "nearest_mirror"]


@dataclass(frozen=True)
class MirrorChoice:
    """Mirrors that clients chose, beside the nearest ones.

    Parameters
    ----------
    clients, choices
        Numbers of hosts, of shape (n,).
    chosen_s, nearest_s
        True round-trip times to the mirror chosen and to the nearest [s], of shape (n,).
    random_s
        Mean over all mirrors of the true round-trip time [s]: what a random choice gets.
    """

    clients: Whole
    choices: Whole
    chosen_s: Real
    nearest_s: Real
    random_s: Real

    @property
    def nearest(self) -> float:
        """Share of the clients that got a nearest mirror."""
        return float((self.chosen_s <= self.nearest_s * (1 + 1e-9)).mean())

    @property
    def correct(self) -> float:
        """Share of the clients whose mirror is at most twice as far as the nearest."""
        return float((self.chosen_s <= 2 * self.nearest_s * (1 + 1e-9)).mean())

    @property
    def excess_s(self) -> float:
        """Mean of what the choice costs beside the nearest mirror [s]."""
        return float((self.chosen_s - self.nearest_s).mean())

    @property
    def random_excess_s(self) -> float:
        """The same of a mirror chosen at random [s]."""
        return float((self.random_s - self.nearest_s).mean())

    def __str__(self) -> str:
        return (
            f"nearest {100 * self.nearest:.0f} %, within twice {100 * self.correct:.0f} %, "
            f"{1e3 * self.excess_s:.1f} ms too far (random {1e3 * self.random_excess_s:.1f} ms)"
        )


def nearest_mirror(distances: Distances, service: IDMaps, mirrors: Sequence[int]) -> MirrorChoice:
    """Let every host that is no mirror choose the one that the estimates say is nearest.

    Of mirrors with equal estimates the first is chosen.

    Parameters
    ----------
    distances
        The truth.
    service
        The estimates.
    mirrors
        Hosts that hold the same content, at least one.

    Raises
    ------
    AckclockError
        There is no mirror, or no host that is none.
    """
    hosts = np.asarray(mirrors, dtype=np.int64)
    clients = np.setdiff1d(np.arange(len(distances)), hosts)
    if not len(hosts) or not len(clients):
        message = (
            f"{len(hosts)} of {len(distances)} hosts are mirrors; expected at least one, not all"
        )
        raise AckclockError(message)
    a, b = np.meshgrid(clients, hosts, indexing="ij")
    best = service.rtt_s(a, b).argmin(axis=1)
    true = distances.rtt_s[np.ix_(clients, hosts)]
    return MirrorChoice(
        clients,
        hosts[best],
        true[np.arange(len(clients)), best],
        true.min(axis=1),
        true.mean(axis=1),
    )
