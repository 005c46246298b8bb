"""A leaf for each end of each flow, to drive the traffic of a real network past its capacity.

McCullough et al. 2010, section 8: leaves are attached to each flow's origin and destination, each
for one flow. All leaves of a node together have the node's own capacity, each the share that its
flow has of the node's traffic in that direction; demands are a multiple of the leaves' capacities.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Required, TypedDict

import numpy as np

from ackclock.catalogue.entries import Key
from ackclock.engines.fluid.generator import Generator
from ackclock.engines.fluid.graph import Graph, Traffic
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["NET", "TRAFFIC", "attach_leaves", "between_leaves"]


class Leaves(TypedDict, total=False):
    """A network with one leaf for each end of each flow, by the shares of its traffic."""

    net: Required[Annotated[Mapping[str, Any], "The network, of any kind."]]
    traffic: Required[Annotated[Mapping[str, Any], "Its traffic, of any kind, with demands."]]
    seed: Annotated[int, "Seed of that traffic, where it is drawn.", Key(minimum=0, default=1)]


class FlowsOfLeaves(TypedDict, total=False):
    """One flow between each pair of leaves of a network with leaves."""

    scale: Annotated[
        float,
        "What a flow has to send, in capacities of its leaf.",
        Key(exclusiveMinimum=0, default=50.0),
    ]


NET = Generator(Leaves, "ackclock.engines.fluid.leaves:attach_leaves", nests=True)
TRAFFIC = Generator(FlowsOfLeaves, "ackclock.engines.fluid.leaves:between_leaves")


def attach_leaves(parameters: dict[str, Any]) -> Graph:
    """Attach a leaf to both ends of each flow.

    The leaf of the flow from a to b is ``a>b`` at a, and ``b<a`` at b.

    Parameters
    ----------
    parameters
        ``net``, ``traffic``, ``seed``, and ``_make``, which makes the graph and the flows of them.

    Raises
    ------
    ScenarioError
        Every problem of the network or the traffic; traffic without demands.
    """
    graph, flows = parameters["_make"](parameters)
    if flows.demand is None or not np.isfinite(flows.demand).all():
        message = "has flows without a demand; expected demands, whose shares size the leaves"
        raise ScenarioError([Problem("net.traffic", message)])
    n = len(graph.nodes)
    out = _shares(flows.src, flows.demand, graph.src, graph)
    into = _shares(flows.dst, flows.demand, graph.dst, graph)
    names, count = list(graph.nodes), len(flows.src)
    pairs = [(names[a], names[b]) for a, b in zip(flows.src, flows.dst, strict=True)]
    first = np.arange(n, n + count, dtype=np.uint32)
    last = first + np.uint32(count)
    nodes = (*names, *(f"{a}>{b}" for a, b in pairs), *(f"{b}<{a}" for a, b in pairs))
    links = graph.link_names()
    added = [
        f"{nodes[a]}->{nodes[b]}"
        for ends in (zip(first, flows.src, strict=True), zip(flows.dst, last, strict=True))
        for a, b in ends
    ]
    cost = np.ones(len(graph.src)) if graph.cost is None else graph.cost
    return Graph(
        nodes,
        np.concatenate([graph.src, first, flows.dst]).astype(np.uint32),
        np.concatenate([graph.dst, flows.src, last]).astype(np.uint32),
        np.concatenate([graph.capacity, out, into]),
        np.concatenate([cost, np.ones(2 * count)]),
        (*links, *added),
        np.concatenate([first, last]),
    )


def _shares(
    node_of_flow: npt.NDArray[np.uint32],
    demand: npt.NDArray[np.float64],
    ends: npt.NDArray[np.uint32],
    graph: Graph,
) -> npt.NDArray[np.float64]:
    """Each flow's part of the capacity of the node where it begins or ends."""
    n = len(graph.nodes)
    capacity = np.bincount(ends, graph.capacity, n)
    total = np.bincount(node_of_flow, demand, n)
    shares: npt.NDArray[np.float64] = capacity[node_of_flow] * demand / total[node_of_flow]
    return shares


def between_leaves(parameters: dict[str, Any], graph: Graph, seed: int) -> Traffic:
    """Make the flows between the leaves of a network.

    Parameters
    ----------
    parameters
        ``scale``.
    graph
        A network with leaves ``a>b`` and ``b<a``.
    seed
        Has no effect.

    Raises
    ------
    ScenarioError
        The network has no such leaves.
    """
    del seed
    number = {name: i for i, name in enumerate(graph.nodes)}
    capacity = np.zeros(len(graph.nodes))
    capacity[graph.src] = graph.capacity
    first, last = [], []
    for name, node in number.items():
        a, mark, b = name.partition(">")
        if mark and f"{b}<{a}" in number:
            first.append(node)
            last.append(number[f"{b}<{a}"])
    if not first:
        message = 'the network has no leaves; expected net = { kind = "leaves", ... }'
        raise ScenarioError([Problem("traffic", message)])
    src = np.array(first, dtype=np.uint32)
    demand = parameters["scale"] * capacity[src]
    return Traffic(src, np.array(last, dtype=np.uint32), demand)
