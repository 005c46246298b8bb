"""Autonomous systems of fluid cases: who owns which nodes, and the routes that policy allows.

A route is *valley-free* if it climbs from customers to providers, crosses at most one link between
peers, and descends from providers to customers: nobody carries traffic for which no customer of its
own pays.

References
----------
L. Gao, "On inferring autonomous system relationships in the Internet", IEEE/ACM ToN 9(6), 2001,
doi:10.1109/90.974527. Of the routes allowed, the one over fewest systems is taken, and of these the
one over fewest links; a preference of customers over peers, as BGP's local preference, is left out.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Required, TypedDict

import numpy as np

from ackclock import _core
from ackclock.catalogue.entries import Algorithm, Key
from ackclock.engines.fluid.graph import unknown_node
from ackclock.errors import Problem, ScenarioError, suggestion

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.engines.fluid.graph import Graph, Traffic

    Ids = npt.NDArray[np.uint32]
    Data = dict[str, Any]

__all__ = ["System", "Systems", "policy_routes"]


class System(TypedDict, total=False):
    """An autonomous system."""

    name: Required[Annotated[str, "Name of the system."]]
    nodes: Required[
        Annotated[
            list[str],
            "Its nodes; * and ? stand for any text and any character. A node with one neighbour"
            " that no system names belongs to that of the neighbour.",
        ]
    ]
    providers: Annotated[list[str], "Systems that it pays for transit."]
    peers: Annotated[list[str], "Systems with which it exchanges its own traffic."]
    sharing: Annotated[Algorithm, Key(x_room="sharing"), "Rule of the links that leave its nodes."]
    sender: Annotated[Algorithm, Key(x_room="policy"), "Policy of the senders at its nodes."]


_MOST_REPORTED = 20


@dataclass(frozen=True)
class Systems:
    """Which system each node belongs to, and who is whose provider.

    Parameters
    ----------
    names
        Names of the systems.
    of_node
        System of each node, ``(n_nodes,)``; -1: none.
    relation
        ``relation[a, b]`` is 1 if b is a provider of a, -1 if b is a customer, 0 if they are peers,
        2 if neither was said, ``(n_systems, n_systems)``.
    sharing, sender
        Rules and policies of nodes by the node's name, where systems have their own.
    """

    names: tuple[str, ...]
    of_node: npt.NDArray[np.int64]
    relation: npt.NDArray[np.int8]
    sharing: dict[str, Any]
    sender: dict[str, Any]

    @classmethod
    def read(cls, system_tables: list[Data], graph: Graph) -> Systems:
        """Read the list ``systems`` of a document.

        Parameters
        ----------
        system_tables
            The list, right in form.
        graph
            The network.

        Raises
        ------
        ScenarioError
            Every unknown node or system, node of two systems, and contradiction between systems.
        """
        problems: list[Problem] = []
        names = tuple(system["name"] for system in system_tables)
        number = {name: i for i, name in enumerate(names)}
        if len(number) < len(names):
            problems.append(Problem("systems", "two systems have the same name"))
        of_node = np.full(len(graph.nodes), -1, dtype=np.int64)
        relation = np.full((len(names), len(names)), 2, dtype=np.int8)
        node = {name: i for i, name in enumerate(graph.nodes)}
        for i, system in enumerate(system_tables):
            for j, pattern in enumerate(system["nodes"]):
                path = f"systems[{i}].nodes[{j}]"
                members = [pattern] if pattern in node else fnmatch.filter(graph.nodes, pattern)
                if not members:
                    problems.append(Problem(path, unknown_node(pattern, graph.nodes)))
                for name in members:
                    owner = of_node[node[name]]
                    if owner not in (-1, i):
                        message = f'"{name}" belongs to "{names[owner]}" already'
                        problems.append(Problem(path, message))
                    of_node[node[name]] = i
            for key, value in (("providers", 1), ("peers", 0)):
                for j, other in enumerate(system.get(key, ())):
                    path = f"systems[{i}].{key}[{j}]"
                    if other not in number or other == system["name"]:
                        message = f'there is no other system "{other}"; {suggestion(other, number)}'
                        problems.append(Problem(path, message))
                        continue
                    k = number[other]
                    if relation[i, k] not in (2, value):
                        message = f'"{other}" has another relation to it already'
                        problems.append(Problem(path, message))
                    relation[i, k], relation[k, i] = value, -value
        if problems:
            raise ScenarioError(problems[:_MOST_REPORTED])
        _adopt(of_node, graph)
        sharing: dict[str, Any] = {}
        sender: dict[str, Any] = {}
        for name, owner in zip(graph.nodes, of_node, strict=True):
            if owner >= 0:
                for key, rules in (("sharing", sharing), ("sender", sender)):
                    if key in system_tables[owner]:
                        rules[name] = system_tables[owner][key]
        return cls(names, of_node, relation, sharing, sender)


def _adopt(of_node: npt.NDArray[np.int64], graph: Graph) -> None:
    """Give nodes with one neighbour, and no system, the neighbour's."""
    neighbours: dict[int, set[int]] = {}
    for a, b in zip(graph.src.tolist(), graph.dst.tolist(), strict=True):
        neighbours.setdefault(a, set()).add(b)
        neighbours.setdefault(b, set()).add(a)
    for node, others in neighbours.items():
        if of_node[node] < 0 and len(others) == 1:
            of_node[node] = of_node[next(iter(others))]


def policy_routes(
    graph: Graph, traffic: Traffic, systems: Systems, rule: str
) -> tuple[Ids, Ids, Ids]:
    """Find routes over fewest systems, and of these over fewest links.

    Parameters
    ----------
    graph
        Nodes and links.
    traffic
        Flows.
    systems
        Systems of the nodes.
    rule
        ``as-hops``: any; ``valley-free``: those that are.

    Returns
    -------
    tuple of ndarray
        Where each flow's route begins, ``(n_flows + 1,)``; all links, route after route; flows
        without a route.

    Raises
    ------
    ScenarioError
        Nodes without a system; under ``valley-free`` systems with a link and no relation.
    """
    lost = [name for name, s in zip(graph.nodes, systems.of_node, strict=True) if s < 0]
    if lost:
        more = f" (and {len(lost) - 1} more)" if len(lost) > 1 else ""
        message = f'"{lost[0]}"{more} has no system; routing by systems needs one for each node'
        raise ScenarioError([Problem("systems", message)])
    n = len(graph.nodes)
    src, dst = graph.src.astype(np.int64), graph.dst.astype(np.int64)
    of_src, of_dst = systems.of_node[src], systems.of_node[dst]
    inside = of_src == of_dst
    # More than any number of links: systems count first.
    cost = np.where(inside, 1.0, 2.0 * n + 2.0)
    links = np.arange(len(src))
    if rule == "as-hops":
        edge_sets = [(src, dst, cost, links)]
    else:
        relation = systems.relation[of_src, of_dst]
        unsaid = ~inside & (relation == 2)
        if unsaid.any():
            ends = zip(of_src[unsaid].tolist(), of_dst[unsaid].tolist(), strict=True)
            pairs = sorted({(min(pair), max(pair)) for pair in ends})
            raise ScenarioError(
                [
                    Problem(
                        "systems",
                        f'"{systems.names[a]}" and "{systems.names[b]}" share a link; expected one'
                        " to name the other among its providers or peers",
                    )
                    for a, b in pairs[:_MOST_REPORTED]
                ]
            )
        up, peer, down = (~inside & (relation == r) for r in (1, 0, -1))
        # Nodes twice: on the way up, and on the way down, from which no link leads up again.
        steps = [
            (inside | up, 0, 0),
            (peer | down, 0, n),
            (inside | down, n, n),
        ]
        edge_sets = [(src[k] + a, dst[k] + b, cost[k], links[k]) for k, a, b in steps]
    node = np.arange(n)
    none = np.full(n, -1)
    for layer in range(1 if rule == "as-hops" else 2):
        edge_sets.append((node + layer * n, node + 2 * n, np.zeros(n), none))
    all_src, all_dst, all_cost, number = (
        np.concatenate([np.asarray(edges[i]) for edges in edge_sets]) for i in range(4)
    )
    offsets, hops, missing = _core.shortest_paths(
        3 * n,
        all_src.astype(np.uint32),
        all_dst.astype(np.uint32),
        all_cost.astype(np.float64),
        np.ascontiguousarray(traffic.src, dtype=np.uint32),
        (traffic.dst.astype(np.int64) + 2 * n).astype(np.uint32),
    )
    # Each route ends with the step to its destination's own place.
    real = number[hops] >= 0
    before = np.concatenate([[0], np.cumsum(real)])
    return (
        before[offsets].astype(np.uint32),
        number[hops][real].astype(np.uint32),
        missing,
    )
