"""Routes of flows through a graph."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import numpy as np

from ackclock import _core
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.engines.fluid.graph import Graph, Traffic

    Ids = npt.NDArray[np.uint32]

__all__ = ["routes"]

_TOLD = 20
"""Pairs without a path that are named; the rest is counted."""


def routes(graph: Graph, traffic: Traffic, routing: str = "hops") -> tuple[Ids, Ids]:
    """Find the links that each flow crosses.

    Parameters
    ----------
    graph
        Nodes and links.
    traffic
        Flows; routes given there are kept.
    routing
        ``hops`` or ``cost``: what routes minimise.

    Returns
    -------
    tuple of ndarray
        Where each flow's route begins, ``(n_flows + 1,)``, and all links, route after route.

    Raises
    ------
    ScenarioError
        Every pair without a path, and every given route over links that are not there.
    """
    if routing not in ("hops", "cost"):
        message = f'there is no routing by "{routing}"; expected one of: hops, cost'
        raise ScenarioError([Problem("routing", message)])
    cost = np.empty(0) if routing == "hops" or graph.cost is None else graph.cost
    offsets, hops, missing = _core.shortest_paths(
        len(graph.nodes),
        np.ascontiguousarray(graph.src, dtype=np.uint32),
        np.ascontiguousarray(graph.dst, dtype=np.uint32),
        np.ascontiguousarray(cost, dtype=np.float64),
        np.ascontiguousarray(traffic.src, dtype=np.uint32),
        np.ascontiguousarray(traffic.dst, dtype=np.uint32),
    )
    given = traffic.routes or [None] * len(traffic.src)
    lost = [int(flow) for flow in missing if given[flow] is None]
    problems = [
        Problem(
            f"traffic.flows[{flow}]",
            f"there is no path from {graph.nodes[traffic.src[flow]]}"
            f" to {graph.nodes[traffic.dst[flow]]}",
        )
        for flow in lost[:_TOLD]
    ]
    if len(lost) > _TOLD:
        problems.append(Problem("traffic", f"{len(lost) - _TOLD} more pairs have no path"))
    if traffic.routes is None:
        if problems:
            raise ScenarioError(problems)
        return offsets, hops
    link = {pair: i for i, pair in enumerate(zip(graph.src, graph.dst, strict=True))}
    parts: list[Ids] = []
    for flow, route in enumerate(given):
        if route is None:
            parts.append(hops[offsets[flow] : offsets[flow + 1]])
            continue
        steps = list(itertools.pairwise(route))
        problems += [
            Problem(
                f"traffic.flows[{flow}].route",
                f"there is no link from {graph.nodes[a]} to {graph.nodes[b]}",
            )
            for a, b in steps
            if (a, b) not in link
        ]
        parts.append(np.array([link.get(step, 0) for step in steps], dtype=np.uint32))
    if problems:
        raise ScenarioError(problems)
    ends = np.cumsum([0, *map(len, parts)], dtype=np.uint32)
    return ends, np.concatenate(parts)
