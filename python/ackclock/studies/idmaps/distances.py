"""True distances between hosts: measured matrices, and drawn internetworks."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import AckclockError, suggestion

if TYPE_CHECKING:
    import networkx as nx
    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

__all__ = ["INTERNETWORKS", "MATRICES", "Distances", "internetwork", "matrix"]

MATRICES = ("planetlab", "wonderproxy")
"""Measured matrices by name."""
INTERNETWORKS = ("as", "barabasi-albert", "waxman")
"""Generators of internetworks by name."""

BROKEN_SERVER = "LaCeiba"
"""Its pings are faster than light between the places that the list of servers gives."""


@dataclass(frozen=True)
class Distances:
    """Round-trip times between hosts.

    Parameters
    ----------
    rtt_s
        Symmetric matrix [s], zero on the diagonal, of shape (n, n).
    names
        A name for each host.
    degree
        Links of each host, where there is a graph; None where there is none.
    title
        What it is, for reports.
    """

    rtt_s: Real
    names: tuple[str, ...]
    degree: tuple[int, ...] | None
    title: str

    def __len__(self) -> int:
        return len(self.names)

    def violations(self, samples: int = 100_000, seed: int = 1) -> float:
        """Share of sampled triples a, b, c for which a detour over c is shorter than the way a-b.

        Parameters
        ----------
        samples
            Triples of different hosts that are tried.
        seed
            Seed of the sample.
        """
        picked = np.random.default_rng(seed).integers(0, len(self), (samples, 3))
        a, b, c = picked[(picked != np.roll(picked, 1, axis=1)).all(axis=1)].T
        rtt = self.rtt_s
        return float((rtt[a, c] + rtt[c, b] < rtt[a, b] * (1 - 1e-9)).mean())


def matrix(name: str, folder: str | Path | None = None) -> Distances:
    """Read a measured matrix.

    Parameters
    ----------
    name
        ``planetlab``: 490 hosts of PlanetLab (Zhu et al., ToN 2017). ``wonderproxy``: least pings
        between servers in 246 cities, July 2020, without one whose place is wrong.
    folder
        Where the files ``rtt/*.csv`` or ``data/rtt/*.csv`` are; left out: that of
        ``ACKCLOCK_DATA``.

    Raises
    ------
    AckclockError
        There is no such matrix, or its files are not to be found.
    """
    if name not in MATRICES:
        message = f'there is no matrix "{name}"; {suggestion(name, MATRICES)}'
        raise AckclockError(message)
    root = Path(folder if folder is not None else os.environ.get("ACKCLOCK_DATA", ""))
    root = root / "data" / "rtt" if (root / "data" / "rtt").is_dir() else root / "rtt"
    files = {
        "planetlab": ("planetlab490_slice1_ms.csv",),
        "wonderproxy": ("wonderproxy_rtt.csv", "wonderproxy_servers.csv"),
    }[name]
    for file in files:
        if not (root / file).is_file():
            message = f"{root / file} is not there; expected the folder of data in ACKCLOCK_DATA"
            raise AckclockError(message)
    if name == "planetlab":
        raw = np.loadtxt(root / files[0], delimiter=",") / 1e3
        return Distances(_symmetric(raw), _numbers(len(raw)), None, "PlanetLab, 490 hosts")
    return _wonderproxy(root / files[0], root / files[1])


def _wonderproxy(pairs: Path, servers: Path) -> Distances:
    server_rows = np.genfromtxt(servers, delimiter=",", skip_header=1, usecols=(0, 1), dtype=str)
    rows = np.loadtxt(pairs, delimiter=",", skiprows=1)
    row_of_server = {server: row for row, server in enumerate(server_rows[:, 0])}
    raw = np.full((len(row_of_server), len(row_of_server)), np.nan)
    for source, target, least, _ in rows:
        raw[row_of_server[str(int(source))], row_of_server[str(int(target))]] = least / 1e3
    np.fill_diagonal(raw, 0.0)
    keep = server_rows[:, 1] != BROKEN_SERVER
    # Cities between which a ping is missing both ways are left out, those with most first.
    rtt = _symmetric(raw[np.ix_(keep, keep)])
    names = server_rows[keep, 1]
    while np.isnan(rtt).any():
        worst = int(np.isnan(rtt).sum(axis=0).argmax())
        rtt = np.delete(np.delete(rtt, worst, axis=0), worst, axis=1)
        names = np.delete(names, worst)
    return Distances(rtt, tuple(map(str, names)), None, f"WonderProxy, {len(names)} cities")


def _symmetric(raw: Real) -> Real:
    """Smaller of both directions: what queues add, they add to one of them."""
    rtt = np.asarray(np.fmin(raw, raw.T))
    np.fill_diagonal(rtt, 0.0)
    return rtt


def _numbers(count: int) -> tuple[str, ...]:
    return tuple(f"h{i}" for i in range(count))


def internetwork(
    kind: str = "as", nodes: int = 400, seed: int = 1, *, widest_s: float = 0.2
) -> Distances:
    """Draw an internetwork; distances are least sums of propagation.

    Nodes lie in a square; a link takes time in proportion to its length, and half a millisecond.

    Parameters
    ----------
    kind
        ``as``: a hierarchy of autonomous systems (Elmokashfi et al. 2010, as in NetworkX).
        ``barabasi-albert``: two links per node, preferential. ``waxman``: links by nearness.
    nodes
        Number of nodes, at least 10.
    seed
        Seed.
    widest_s
        Round trip over the square's diagonal [s].

    Raises
    ------
    AckclockError
        There is no such generator, or there are too few nodes.
    """
    import networkx as nx

    if kind not in INTERNETWORKS:
        message = f'there is no internetwork "{kind}"; {suggestion(kind, INTERNETWORKS)}'
        raise AckclockError(message)
    if nodes < 10:
        message = f"nodes is {nodes}; expected at least 10"
        raise AckclockError(message)
    graph: nx.Graph[int]
    if kind == "as":
        graph = nx.Graph(nx.random_internet_as_graph(nodes, seed=seed))
    elif kind == "barabasi-albert":
        graph = nx.barabasi_albert_graph(nodes, 2, seed=seed)
    else:
        # About four links a node; islands are joined to the mainland below.
        graph = nx.waxman_graph(nodes, beta=min(1.0, 40 / nodes), alpha=0.15, seed=seed)
    return _measure_distances(graph, seed, widest_s, kind)


def _measure_distances(graph: nx.Graph[int], seed: int, widest_s: float, kind: str) -> Distances:
    import networkx as nx
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import shortest_path

    count = graph.number_of_nodes()
    stated_positions = nx.get_node_attributes(graph, "pos")
    random_positions = np.random.default_rng(seed).uniform(size=(count, 2))
    position = np.array([stated_positions.get(i, random_positions[i]) for i in range(count)])
    islands = sorted(nx.connected_components(graph), key=len, reverse=True)
    mainland = np.array(sorted(islands[0]))
    for island in islands[1:]:
        node = min(island)
        near = int(mainland[((position[mainland] - position[node]) ** 2).sum(axis=1).argmin()])
        graph.add_edge(node, near)
    ends = np.array(graph.edges())
    length = np.hypot(*(position[ends[:, 0]] - position[ends[:, 1]]).T)
    rtt = widest_s * length / np.sqrt(2) + 1e-3
    links = csr_array((rtt, (ends[:, 0], ends[:, 1])), shape=(count, count))
    all_pairs = np.asarray(shortest_path(links, directed=False))
    degree = tuple(int(graph.degree[i]) for i in range(count))
    return Distances(all_pairs, _numbers(count), degree, f"{kind}, {count} nodes, seed {seed}")
