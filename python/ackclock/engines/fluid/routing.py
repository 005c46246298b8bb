"""Routes of flows through a graph."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

import numpy as np

from ackclock import _core
from ackclock._util import csv_rows
from ackclock.engines.fluid.graph import unknown_node
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.engines.fluid.graph import Graph, Traffic
    from ackclock.engines.fluid.systems import Systems

    Ids = npt.NDArray[np.uint32]
    Paths = dict[tuple[int, int], list[int]]

__all__ = [
    "ROUTING",
    "PathsTable",
    "check_path",
    "listed_paths",
    "path_rows",
    "routes",
    "with_paths",
]

ROUTING = ("hops", "cost", "as-hops", "valley-free")
"""What routes minimise: links, the sum of their weights, or systems and then links."""


class PathsTable(TypedDict, total=False):
    """Routes of pairs, for any traffic."""

    file: Annotated[
        str,
        "CSV with a column path, names of nodes with ; between them; relative to the case's file.",
    ]
    listed: Annotated[list[list[str]], "Paths as lists of nodes, both ends included."]


_MOST_REPORTED = 20
"""Pairs without a path that are named; the rest is counted."""


def path_rows(paths: Mapping[str, Any], folder: Path) -> list[tuple[str, list[str]]]:
    """Read the table ``paths``.

    Parameters
    ----------
    paths
        The table, right in form.
    folder
        What a file is relative to.

    Returns
    -------
    list of tuple
        Place of each path in the document, and its nodes.

    Raises
    ------
    ScenarioError
        Neither or both of ``file`` and ``listed``; the file cannot be read.
    """
    if ("file" in paths) == ("listed" in paths):
        raise ScenarioError([Problem("paths", "needs one of file and listed")])
    if "listed" in paths:
        return [(f"paths.listed[{i}]", list(path)) for i, path in enumerate(paths["listed"])]
    path = folder / paths["file"]
    try:
        rows = csv_rows.rows(path, ("path",))
    except csv_rows.CsvError as error:
        raise ScenarioError([Problem("paths.file", error.of(path))]) from None
    return [
        (f"paths.file: {path}, line {line}", [name.strip() for name in row["path"].split(";")])
        for line, row in rows
    ]


def listed_paths(rows: Sequence[tuple[str, list[str]]], graph: Graph) -> Paths:
    """Check paths against a network.

    Parameters
    ----------
    rows
        As `path_rows` gave them.
    graph
        The network.

    Returns
    -------
    dict
        Node numbers of each path by its two ends.

    Raises
    ------
    ScenarioError
        Every path with fewer than two nodes, an unknown node, a node twice, a missing link, or
        the ends of another.
    """
    number = {name: i for i, name in enumerate(graph.nodes)}
    links = set(zip(graph.src.tolist(), graph.dst.tolist(), strict=True))
    problems: list[Problem] = []
    paths: Paths = {}
    for where, names in rows:
        nodes, messages = check_path(names, number, links, graph.nodes)
        problems += [Problem(where, message) for message in messages]
        if not nodes:
            continue
        if (nodes[0], nodes[-1]) in paths:
            problems.append(Problem(where, f"{names[0]} to {names[-1]} has a path already"))
        paths[nodes[0], nodes[-1]] = nodes
    if problems:
        raise ScenarioError(problems[:_MOST_REPORTED])
    return paths


def check_path(
    names: Sequence[str],
    number: Mapping[str, int],
    links: Container[tuple[int, int]],
    nodes: Sequence[str],
) -> tuple[list[int], list[str]]:
    """Check one path.

    Parameters
    ----------
    names
        Its nodes.
    number
        Numbers of nodes by name.
    links
        Has the two ends of every directed link.
    nodes
        What nodes are called in messages.

    Returns
    -------
    tuple
        Numbers of its nodes, none if it is no path, and what is wrong: unknown nodes, fewer than
        two, a node twice, or missing links.
    """
    unknown = [name for name in dict.fromkeys(names) if name not in number]
    if unknown:
        return [], [unknown_node(name, number) for name in unknown]
    path = [number[name] for name in names]
    if len(path) < 2 or len(set(path)) < len(path):
        return [], ["is no path; expected two or more different nodes"]
    missing = [step for step in itertools.pairwise(path) if step not in links]
    return path, [f"there is no link from {nodes[a]} to {nodes[b]}" for a, b in missing]


def with_paths(traffic: Traffic, paths: Paths, graph: Graph) -> Traffic:
    """Give flows the paths of their pairs.

    A flow that has a route keeps it. Where an end is a node with one link, such as a host or a
    leaf, and the pair has no explicit path, the path between the nodes behind is taken.

    Parameters
    ----------
    traffic
        The flows.
    paths
        As `listed_paths` gave them.
    graph
        The network.
    """
    from dataclasses import replace

    leads_to: dict[int, list[int]] = {}
    comes_from: dict[int, list[int]] = {}
    for a, b in zip(graph.src.tolist(), graph.dst.tolist(), strict=True):
        leads_to.setdefault(a, []).append(b)
        comes_from.setdefault(b, []).append(a)
    stated_routes = traffic.routes or [None] * len(traffic.src)
    new_routes: list[Sequence[int] | None] = []
    for a, b, stated_route in zip(
        traffic.src.tolist(), traffic.dst.tolist(), stated_routes, strict=True
    ):
        route = stated_route if stated_route is not None else paths.get((a, b))
        if route is None:
            out, into = leads_to.get(a, []), comes_from.get(b, [])
            starts = [([a], out[0])] if len(out) == 1 else []
            ends = [([b], into[0])] if len(into) == 1 else []
            for before, first in [([], a), *starts]:
                for after, last in [([], b), *ends]:
                    if route is None and (first, last) in paths:
                        route = [*before, *paths[first, last], *after]
        new_routes.append(route)
    return replace(traffic, routes=new_routes)


def routes(
    graph: Graph,
    traffic: Traffic,
    routing: str = "hops",
    systems: Systems | None = None,
    hash_seed: int | None = None,
) -> tuple[Ids, Ids]:
    """Find the links that each flow crosses.

    Parameters
    ----------
    graph
        Nodes and links.
    traffic
        Flows; routes given there are kept.
    routing
        One of `ROUTING`: what routes minimise.
    systems
        Systems of the nodes, for the last two.
    hash_seed
        Of equal paths each flow takes the one that its hash by this seed chooses; None: the first.

    Returns
    -------
    tuple of ndarray
        Where each flow's route begins, ``(n_flows + 1,)``, and all links, route after route.

    Raises
    ------
    ScenarioError
        Every pair without a path, and every given route over links that are not there.
    """
    if routing not in ROUTING:
        message = f'there is no routing by "{routing}"; expected one of: {", ".join(ROUTING)}'
        raise ScenarioError([Problem("routing", message)])
    if routing in ("as-hops", "valley-free"):
        if hash_seed is not None:
            message = f'"hash" has no meaning with routing by "{routing}"; expected "first"'
            raise ScenarioError([Problem("equal_paths", message)])
        from ackclock.engines.fluid.systems import policy_routes

        if systems is None:
            message = f'"{routing}" needs the autonomous systems of the nodes; expected systems'
            raise ScenarioError([Problem("routing", message)])
        offsets, hops, missing = policy_routes(graph, traffic, systems, routing)
    elif hash_seed is not None:
        offsets, hops, missing = _hashed_routes(graph, traffic, routing, hash_seed)
    else:
        cost = np.empty(0) if routing == "hops" or graph.cost is None else graph.cost
        offsets, hops, missing = _core.shortest_paths(
            len(graph.nodes),
            np.ascontiguousarray(graph.src, dtype=np.uint32),
            np.ascontiguousarray(graph.dst, dtype=np.uint32),
            np.ascontiguousarray(cost, dtype=np.float64),
            np.ascontiguousarray(traffic.src, dtype=np.uint32),
            np.ascontiguousarray(traffic.dst, dtype=np.uint32),
        )
    stated_routes = traffic.routes or [None] * len(traffic.src)
    lost = [int(flow) for flow in missing if stated_routes[flow] is None]
    which = "valley-free path" if routing == "valley-free" else "path"
    problems = [
        Problem(
            f"traffic.flows[{flow}]",
            f"there is no {which} from {graph.nodes[traffic.src[flow]]}"
            f" to {graph.nodes[traffic.dst[flow]]}",
        )
        for flow in lost[:_MOST_REPORTED]
    ]
    if len(lost) > _MOST_REPORTED:
        problems.append(
            Problem("traffic", f"{len(lost) - _MOST_REPORTED} more pairs have no {which}")
        )
    if traffic.routes is None:
        if problems:
            raise ScenarioError(problems)
        return offsets, hops
    link = {pair: i for i, pair in enumerate(zip(graph.src, graph.dst, strict=True))}
    hops_of_flow: list[Ids] = []
    for flow, route in enumerate(stated_routes):
        if route is None:
            hops_of_flow.append(hops[offsets[flow] : offsets[flow + 1]])
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
        hops_of_flow.append(np.array([link.get(step, 0) for step in steps], dtype=np.uint32))
    if problems:
        raise ScenarioError(problems)
    ends = np.cumsum([0, *map(len, hops_of_flow)], dtype=np.uint32)
    return ends, np.concatenate(hops_of_flow)


def _hashed_routes(graph: Graph, traffic: Traffic, routing: str, seed: int) -> tuple[Ids, Ids, Ids]:
    """Hash each flow to one of its equal shortest paths, node by node.

    The flows of a pair are numbered in their order, so that each has a hash of its number.
    """
    if routing == "hops" or graph.cost is None:
        cost = np.ones(len(graph.src))
    else:
        cost = np.asarray(graph.cost, dtype=np.float64)
    if (cost <= 0).any():
        message = '"hash" needs weights above 0; expected them, or "first"'
        raise ScenarioError([Problem("equal_paths", message)])
    ends = np.stack([traffic.src, traffic.dst]).astype(np.int64)
    code = ends[0] * len(graph.nodes) + ends[1]
    pairs, first, of, counts = np.unique(
        code, return_index=True, return_inverse=True, return_counts=True
    )
    core = _core.IgpCore(
        nodes=len(graph.nodes),
        src=np.ascontiguousarray(graph.src, dtype=np.uint32),
        dst=np.ascontiguousarray(graph.dst, dtype=np.uint32),
        cost=np.ascontiguousarray(cost),
        capacity=np.ones(len(graph.src)),
        source=np.ascontiguousarray(ends[0, first], dtype=np.uint32),
        target=np.ascontiguousarray(ends[1, first], dtype=np.uint32),
        volume=np.ones(len(pairs)),
        flows=counts.astype(np.uint32),
        seed=seed,
    )
    pair_of_path, _, offsets, hops, _ = core.paths(each=True)
    has_path = np.isin(np.arange(len(pairs)), pair_of_path)
    # Paths are in the order of pairs, then of flows: so are flows when sorted by pair.
    order = np.argsort(of, kind="stable")
    taken = order[has_path[of[order]]]
    lengths = np.zeros(len(code), dtype=np.int64)
    lengths[taken] = np.diff(offsets)
    begins = np.r_[0, np.cumsum(lengths)]
    routed = np.empty(begins[-1], dtype=np.uint32)
    begin_of_flow = np.repeat(begins[taken], lengths[taken])
    routed[begin_of_flow + np.arange(len(hops)) - np.repeat(offsets[:-1], lengths[taken])] = hops
    missing = np.flatnonzero(~has_path[of])
    return begins.astype(np.uint32), routed, missing.astype(np.uint32)
