"""The service: tracers, prefixes, and the triangulated distance.

**Source**: Francis, Jamin, Jin, Jin, Raz, Shavitt & Zhang, "IDMaps: A global Internet host distance
estimation service", IEEE/ACM Trans. Networking 9(5), 2001 (doi:10.1109/90.958323), as Kapadia,
Thulasidasan & Feng 2002, section IV-A, describe it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ackclock.studies.idmaps.distances import Distances

    Real = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

__all__ = ["IDMaps", "prefixes"]


def prefixes(distances: Distances, radius_s: float = 0.0) -> Whole:
    """Give hosts to address prefixes: all within a round trip of a prefix's first host share it.

    Parameters
    ----------
    distances
        Between all hosts.
    radius_s
        Greatest round trip to the first host [s]; 0: a prefix for each host.

    Returns
    -------
    array
        For each host the number of its prefix's first host.
    """
    prefix_of_host = np.full(len(distances), -1, dtype=np.int64)
    for host in range(len(distances)):
        if prefix_of_host[host] >= 0:
            continue
        near = (distances.rtt_s[host] <= radius_s) & (prefix_of_host < 0)
        prefix_of_host[near] = host
        prefix_of_host[host] = host
    return prefix_of_host


class IDMaps:
    """Estimates of round-trip times from tracers.

    Parameters
    ----------
    distances
        True distances, of which only those of tracers to each other and to prefixes are looked at.
    tracers
        Hosts that are tracers.
    prefix
        For each host the one that stands for its prefix, as `prefixes` gives; left out: itself.

    Raises
    ------
    AckclockError
        There is no tracer.
    """

    def __init__(
        self, distances: Distances, tracers: Sequence[int], prefix: Whole | None = None
    ) -> None:
        if not len(tracers):
            message = "tracers is empty; expected at least one host"
            raise AckclockError(message)
        self.tracers = np.asarray(tracers, dtype=np.int64)
        self.prefix = np.arange(len(distances)) if prefix is None else np.asarray(prefix)
        to_prefix = distances.rtt_s[np.ix_(self.tracers, self.prefix)]
        self._nearest = to_prefix.argmin(axis=0)
        self._access_s: Real = to_prefix[self._nearest, np.arange(len(distances))]
        self._between_s: Real = distances.rtt_s[np.ix_(self.tracers, self.tracers)]

    @property
    def state(self) -> int:
        """Distances that are kept: tracer to tracer, and one per prefix."""
        count = len(self.tracers)
        return count * (count - 1) // 2 + len(set(self.prefix.tolist()))

    def nearest(self, host: int) -> int:
        """Find the tracer nearest to a host's prefix.

        Parameters
        ----------
        host
            Number of the host.
        """
        return int(self.tracers[self._nearest[host]])

    def rtt_s(self, a: npt.ArrayLike, b: npt.ArrayLike) -> Real:
        """Estimate round-trip times [s].

        Parameters
        ----------
        a, b
            Numbers of hosts; arrays of equal shape.
        """
        source, target = np.asarray(a), np.asarray(b)
        between = self._between_s[self._nearest[source], self._nearest[target]]
        return np.asarray(self._access_s[source] + between + self._access_s[target])
