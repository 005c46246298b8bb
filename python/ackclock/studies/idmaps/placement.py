"""Placement of tracers.

**Source**: Jamin, Jin, Jin, Raz, Shavitt & Zhang, "On the placement of Internet instrumentation",
INFOCOM 2000 (doi:10.1109/INFCOM.2000.832199), whose heuristics are minimum k-centre, k-HST, and
transit nodes against stubs and mixes; the first by Gonzalez 1985
(doi:10.1016/0304-3975(85)90224-5), the trees of the second by Bartal 1996. The text could not be
had; the algorithms are those of these names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import AckclockError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.studies.idmaps.distances import Distances

    Rng = np.random.Generator

__all__ = ["PLACEMENTS", "place"]


def place(distances: Distances, tracers: int, how: str = "k-centre", seed: int = 1) -> list[int]:
    """Choose the hosts that are tracers.

    Parameters
    ----------
    distances
        Between all hosts.
    tracers
        How many, from 1 to the number of hosts.
    how
        A key of `PLACEMENTS`.
    seed
        Seed of what the heuristic draws.

    Returns
    -------
    list
        Numbers of different hosts, in the order in which they were chosen.

    Raises
    ------
    AckclockError
        There is no such heuristic, or it cannot serve here.
    """
    if how not in PLACEMENTS:
        message = f'there is no placement "{how}"; {suggestion(how, PLACEMENTS)}'
        raise AckclockError(message)
    if not 1 <= tracers <= len(distances):
        message = f"tracers is {tracers}; expected 1 to {len(distances)}"
        raise AckclockError(message)
    return PLACEMENTS[how](distances, tracers, np.random.default_rng(seed))


def _random(distances: Distances, tracers: int, rng: Rng) -> list[int]:
    return [int(i) for i in rng.permutation(len(distances))[:tracers]]


def _k_centre(distances: Distances, tracers: int, rng: Rng) -> list[int]:
    """Farthest first: at most twice the least possible greatest distance to a tracer."""
    rtt = distances.rtt_s
    chosen = [int(rng.integers(len(distances)))]
    nearest = rtt[chosen[0]].copy()
    while len(chosen) < tracers:
        nearest[chosen] = -1.0
        chosen.append(int(nearest.argmax()))
        nearest = np.minimum(nearest, rtt[chosen[-1]])
    return chosen


def _k_median(distances: Distances, tracers: int, rng: Rng) -> list[int]:
    """Greedy: each next tracer lowers the mean distance to the nearest one most."""
    del rng
    rtt = distances.rtt_s
    nearest = np.full(len(distances), np.inf)
    tracer_hosts: list[int] = []
    for _ in range(tracers):
        cost = np.minimum(nearest[None, :], rtt).sum(axis=1)
        cost[tracer_hosts] = np.inf
        tracer_hosts.append(int(cost.argmin()))
        nearest = np.minimum(nearest, rtt[tracer_hosts[-1]])
    return tracer_hosts


def _k_hst(distances: Distances, tracers: int, rng: Rng) -> list[int]:
    """A 2-HST: parts are cut into parts of half the radius; the widest part is cut first.

    A tracer is placed at the node from which its part was grown.
    """
    rtt = distances.rtt_s
    everyone = np.arange(len(distances))
    first = int(rng.choice(everyone))
    clusters = [(float(rtt[first].max()), first, everyone)]
    while len(clusters) < tracers:
        widest = max(
            range(len(clusters)), key=lambda i: clusters[i][0] if len(clusters[i][2]) > 1 else -1.0
        )
        radius, _, members = clusters.pop(widest)
        # Hosts at the same place are cut apart one by one.
        half = radius / 2 if radius > 0 else -1.0
        children = []
        while len(members):
            root = int(rng.choice(members))
            inside = (rtt[root, members] <= half) | (members == root)
            reach = float(rtt[root, members[inside]].max())
            children.append((reach, root, members[inside]))
            members = members[~inside]
        clusters += sorted(children, key=lambda cluster: -len(cluster[2]))
    return [root for _, root, _ in clusters[:tracers]]


def _by_degree(distances: Distances, sign: int, name: str) -> list[int]:
    if distances.degree is None:
        message = f'placement "{name}" needs a graph; {distances.title} is a matrix of distances'
        raise AckclockError(message)
    return sorted(range(len(distances)), key=lambda i: (sign * distances.degree[i], i))  # type: ignore[index]


def _transit(distances: Distances, tracers: int, rng: Rng) -> list[int]:
    """Nodes with most links first."""
    del rng
    return _by_degree(distances, -1, "transit")[:tracers]


def _stub(distances: Distances, tracers: int, rng: Rng) -> list[int]:
    """At random among nodes with the fewest links, more where there are not enough."""
    ordered = _by_degree(distances, 1, "stub")
    least = distances.degree[ordered[0]] if distances.degree else 0
    edge = [i for i in ordered if distances.degree and distances.degree[i] == least]
    return ([int(i) for i in rng.permutation(edge)] + ordered[len(edge) :])[:tracers]


def _place_mixed(distances: Distances, tracers: int, rng: Rng) -> list[int]:
    """Half by most links, half at random among the others."""
    ordered = _by_degree(distances, -1, "mixed")
    half = (tracers + 1) // 2
    return ordered[:half] + [int(i) for i in rng.permutation(ordered[half:])[: tracers - half]]


PLACEMENTS: dict[str, Callable[[Distances, int, Rng], list[int]]] = {
    "random": _random,
    "k-centre": _k_centre,
    "k-median": _k_median,
    "k-hst": _k_hst,
    "transit": _transit,
    "stub": _stub,
    "mixed": _place_mixed,
}
"""Heuristics by name; the last three need a graph."""
