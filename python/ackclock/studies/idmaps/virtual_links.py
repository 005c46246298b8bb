"""Virtual links between tracers, what tracers exchange of them, and estimates over them.

**Source**: Francis, Jamin, Jin, Jin, Raz, Shavitt & Zhang, "IDMaps: A global Internet host distance
estimation service", IEEE/ACM Trans. Networking 9(5), 2001 (doi:10.1109/90.958323): a map of virtual
links, tracer to tracer and tracer to prefix, over which distances are least sums; links between
tracers are thinned out to a t-spanner. The spanner is the greedy one of Althöfer, Das, Dobkin,
Joseph & Soares, "On sparse spanners of weighted graphs", Discrete Comput. Geom. 9, 1993
(doi:10.1007/BF02189308)::

    from the shortest pair of tracers to the longest: keep a link iff the way over the links kept
    so far is longer than t times the pair's distance

The exchange is flooding, as of link states: each round a tracer sends what it learnt in the round
before over each of its virtual links, but to the one from which it learnt it. The paper leaves
open how tracers exchange their distances.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import AckclockError
from ackclock.studies.idmaps.service import IDMaps

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from ackclock.studies.idmaps.distances import Distances

    Real = npt.NDArray[np.float64]
    Whole = npt.NDArray[np.int64]

__all__ = ["VirtualLinks", "spanner"]


def spanner(distance_s: Real, stretch: float) -> Whole:
    """Choose virtual links between tracers.

    Parameters
    ----------
    distance_s
        Symmetric matrix between tracers, of shape (n, n).
    stretch
        t, at least 1: no way over the links is longer than t times the distance; ``inf`` leaves a
        spanning tree.

    Returns
    -------
    array
        Pairs of tracers, of shape (links, 2).
    """
    count = len(distance_s)
    way = np.full((count, count), np.inf)
    np.fill_diagonal(way, 0.0)
    links: list[tuple[int, int]] = []
    a, b = np.triu_indices(count, 1)
    order = np.argsort(distance_s[a, b], kind="stable")
    for i, j in zip(a[order].tolist(), b[order].tolist(), strict=True):
        # Before all are connected the way is infinite, and more than any stretch allows.
        needed = way[i, j] == np.inf or way[i, j] > stretch * distance_s[i, j] * (1 + 1e-12)
        if needed:
            links.append((i, j))
            direct = distance_s[i, j]
            over = np.minimum(
                way[:, i, None] + direct + way[None, j, :],
                way[:, j, None] + direct + way[None, i, :],
            )
            way = np.minimum(way, over)
    return np.array(links, dtype=np.int64).reshape(-1, 2)


class VirtualLinks(IDMaps):
    """Estimates over a map of virtual links, complete or as one tracer knows it.

    Parameters
    ----------
    distances, tracers, prefix
        As of `IDMaps`.
    stretch
        t of the spanner between tracers; 1 keeps every link that is no detour.
    rounds
        Rounds of exchange after which ``viewer`` is looked at; left out: all that is known.
    viewer
        Number of the tracer, in the order of ``tracers``, whose map is used.

    Raises
    ------
    AckclockError
        There is no tracer, no such viewer, a stretch below 1, or rounds below 0.
    """

    def __init__(
        self,
        distances: Distances,
        tracers: Sequence[int],
        prefix: Whole | None = None,
        *,
        stretch: float = 1.0,
        rounds: int | None = None,
        viewer: int = 0,
    ) -> None:
        super().__init__(distances, tracers, prefix)
        if not stretch >= 1:
            message = f"stretch is {stretch:g}; expected at least 1"
            raise AckclockError(message)
        if not 0 <= viewer < len(self.tracers):
            message = f"viewer is {viewer}; expected 0 to {len(self.tracers) - 1}"
            raise AckclockError(message)
        if rounds is not None and rounds < 0:
            message = f"rounds is {rounds}; expected at least 0"
            raise AckclockError(message)
        measured = self._between_s
        self.links = spanner(measured, stretch)
        hops = self._least(np.ones(len(self.links)), self.links)
        self.rounds = int(hops.max()) if len(self.tracers) > 1 else 0
        """Rounds after which every tracer has the whole map."""
        known_links = self.links
        if rounds is not None:
            # Of a link the nearer end learns first what it is; it is one round per hop from there.
            heard = hops[viewer, self.links].min(axis=1) <= rounds
            known_links = self.links[heard]
        self._between_s = self._least(measured[known_links[:, 0], known_links[:, 1]], known_links)

    def _least(self, length: Real, links: Whole) -> Real:
        from scipy.sparse import coo_array
        from scipy.sparse.csgraph import shortest_path

        count = len(self.tracers)
        # A distance of 0 would be no link in a sparse matrix.
        weight = np.maximum(length, 1e-15)
        graph = coo_array((weight, (links[:, 0], links[:, 1])), shape=(count, count))
        return np.asarray(shortest_path(graph.tocsr(), directed=False))

    @property
    def state(self) -> int:
        """Distances that are kept: virtual links between tracers, and one per prefix."""
        return len(self.links) + len(set(self.prefix.tolist()))

    @property
    def messages(self) -> int:
        """Messages of a whole exchange: each tracer's list goes over each link once or twice.

        A tracer sends a list on over all of its links but the one it came by, its own over all:
        2 L - (n - 1) for each of n lists and L links.
        """
        count = len(self.tracers)
        return count * (2 * len(self.links) - (count - 1))
