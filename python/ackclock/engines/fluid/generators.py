"""What makes the networks and the traffic of fluid cases: two kinds of values, two registries.

A network is a `Graph`: nodes and directed links with capacities. Any network of a packet scenario
is one too; `NETS` holds those that only fluids know. Traffic is a `Traffic`: who sends to whom.
To add a generator: a function in a module of its own, and one line in `NETS` or `TRAFFIC`.
"""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ackclock.errors import Problem, ScenarioError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]

__all__ = ["NETS", "TRAFFIC", "Generator", "Graph", "Traffic", "linked", "listed", "unknown_node"]


@dataclass(frozen=True)
class Graph:
    """A network: nodes, and directed links with capacities.

    Parameters
    ----------
    nodes
        Names, unique.
    src, dst
        Ends of each link as node numbers, ``(n_links,)``.
    capacity
        Capacity of each link, ``(n_links,)``, above 0.
    cost
        What routes by ``cost`` add up, ``(n_links,)``; left out: 1 everywhere.
    links
        Names of links; left out: ``a->b``.
    hosts
        Nodes where flows of a pattern begin and end; left out: those with one neighbour, or all
        nodes where fewer than two have one.
    """

    nodes: tuple[str, ...]
    src: Ids
    dst: Ids
    capacity: Floats
    cost: Floats | None = None
    links: tuple[str, ...] = field(default=())
    hosts: Ids | None = None

    def link_names(self) -> list[str]:
        """Names of the links, ``a->b`` where they have none."""
        if self.links:
            return list(self.links)
        return [
            f"{self.nodes[u]}->{self.nodes[v]}" for u, v in zip(self.src, self.dst, strict=True)
        ]


@dataclass(frozen=True)
class Traffic:
    """Who sends to whom.

    Parameters
    ----------
    src, dst
        Ends of each flow as node numbers, ``(n_flows,)``.
    demand
        What each flow's application has to send at most, ``(n_flows,)``; left out: no bound.
    weight
        Weight of each flow where routers weigh, ``(n_flows,)``; left out: 1.
    routes
        Node numbers along the way of each flow, both ends included, ``None`` for a shortest path;
        left out: shortest paths for all.
    """

    src: Ids
    dst: Ids
    demand: Floats | None = None
    weight: Floats | None = None
    routes: Sequence[Sequence[int] | None] | None = None


class Generator(NamedTuple):
    """A generator in a registry.

    Parameters
    ----------
    title
        One sentence.
    home
        ``module:function``. A network's function takes the parameters (a dict that has passed
        ``rules``) and gives a `Graph`; that of traffic takes the parameters, the `Graph` and a seed
        and gives a `Traffic`.
    rules
        JSON Schema ``properties`` of the parameters.
    required
        Parameters that must be given.
    is_random
        Whether the seed counts.
    names_files
        Whether parameters name files; a function then finds the scenario file's folder under the
        parameter ``_folder``.
    """

    title: str
    home: str
    rules: dict[str, Any]
    required: tuple[str, ...] = ()
    is_random: bool = False
    names_files: bool = False

    def make(self, *arguments: Any) -> Any:
        """Call the function.

        Parameters
        ----------
        *arguments
            What it takes.
        """
        return pkgutil.resolve_name(self.home)(*arguments)


NETS: dict[str, Generator] = {
    "links": Generator(
        "Links one by one.",
        "ackclock.engines.fluid.generators:linked",
        {
            "links": {
                "type": "array",
                "description": "Links as [from, to, capacity]; capacities are numbers or rates"
                ' such as "10 Gbps".',
            },
            "nodes": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Nodes that no link names, or the order of all.",
            },
            "directed": {
                "type": "boolean",
                "default": False,
                "description": "Whether a link is one direction; else it has both.",
            },
        },
        ("links",),
    ),
}
"""Networks that only fluid cases know, by ``kind``."""

TRAFFIC: dict[str, Generator] = {
    "listed": Generator(
        "Flows one by one.",
        "ackclock.engines.fluid.generators:listed",
        {
            "flows": {
                "type": "array",
                "description": "Flows as [from, to], or as tables with src, dst and, if wanted,"
                " demand, weight, and route, a list of nodes.",
            },
        },
        ("flows",),
    ),
}
"""Traffic of fluid cases by ``kind``."""


_FEW = 12
"""Nodes that a message lists."""


def unknown_node(name: object, nodes: Iterable[str]) -> str:
    """Say that there is no such node, and which may have been meant.

    Parameters
    ----------
    name
        What was found.
    nodes
        The names that there are.
    """
    known = list(nodes)
    hint = suggestion(str(name), known)
    if len(known) > _FEW and not hint.startswith("did you mean"):
        hint = f"none of {len(known)} is like it"
    return f'there is no node "{name}"; {hint}'


class _Names:
    """Node names and their numbers; unknown ones become problems."""

    def __init__(self, nodes: Sequence[str]) -> None:
        self.number = {name: i for i, name in enumerate(nodes)}

    def of(self, name: object, path: str, problems: list[Problem]) -> int:
        number = self.number.get(name) if isinstance(name, str) else None
        if number is None:
            problems.append(Problem(path, unknown_node(name, self.number)))
            return 0
        return number


def _amount(value: object, path: str, problems: list[Problem], *, least: str = "above 0") -> float:
    """A capacity, demand or weight: a number, or text with a unit of rate."""
    import math

    from ackclock._util.units import parse, quantity_problem

    if isinstance(value, str) and quantity_problem(value, "rate") is None:
        value = parse(value, "rate")
    right = isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
    if right:
        number = float(value)  # type: ignore[arg-type]
        if number > 0 or (number == 0 and least != "above 0"):
            return number
    shown = f'"{value}"' if isinstance(value, str) else value
    problems.append(Problem(path, f"{shown} is not a finite number {least}"))
    return 1.0


def linked(parameters: dict[str, Any]) -> Graph:
    """Make a network of a list of links.

    Parameters
    ----------
    parameters
        ``links``, ``nodes``, ``directed``.

    Raises
    ------
    ScenarioError
        Every loop, repeated link and capacity that is no positive number.
    """
    problems: list[Problem] = []
    nodes = list(dict.fromkeys(parameters.get("nodes", ())))
    names = dict.fromkeys(nodes)
    ends: list[tuple[str, str]] = []
    capacity: list[float] = []
    both = not parameters.get("directed", False)
    first: dict[tuple[str, str], int] = {}
    for i, link in enumerate(parameters["links"]):
        path = f"net.links[{i}]"
        if not (isinstance(link, list | tuple) and len(link) == 3):
            problems.append(Problem(path, f"{link!r} is not a link; expected [from, to, capacity]"))
            continue
        a, b, amount = link
        if not (isinstance(a, str) and isinstance(b, str)):
            problems.append(Problem(path, f"{link!r} does not name two nodes"))
            continue
        value = _amount(amount, f"{path}[2]", problems)
        if a == b:
            problems.append(Problem(path, f'joins "{a}" to itself'))
            continue
        pairs = [(a, b), (b, a)] if both else [(a, b)]
        if (a, b) in first:
            message = f"{a} to {b} is there already: net.links[{first[a, b]}]"
            problems.append(Problem(path, message))
            continue
        for pair in pairs:
            first[pair] = i
            ends.append(pair)
            capacity.append(value)
        names.update({a: None, b: None})
    if problems:
        raise ScenarioError(problems)
    number = {name: i for i, name in enumerate(names)}
    return Graph(
        tuple(names),
        np.array([number[a] for a, _ in ends], dtype=np.uint32),
        np.array([number[b] for _, b in ends], dtype=np.uint32),
        np.array(capacity, dtype=np.float64),
    )


def listed(parameters: dict[str, Any], graph: Graph, seed: int) -> Traffic:
    """Take flows as they are listed.

    Parameters
    ----------
    parameters
        ``flows``.
    graph
        The network.
    seed
        Has no effect.

    Raises
    ------
    ScenarioError
        Every unknown node, flow to itself and wrong demand, weight or route.
    """
    del seed
    problems: list[Problem] = []
    names = _Names(graph.nodes)
    rows: list[tuple[int, int, float, float, list[int] | None]] = []
    for i, given in enumerate(parameters["flows"]):
        path = f"traffic.flows[{i}]"
        flow = given
        if isinstance(given, list | tuple) and len(given) == 2:
            flow = {"src": given[0], "dst": given[1]}
        if not (isinstance(flow, dict) and {"src", "dst"} <= flow.keys()):
            message = f"{given!r} is not a flow; expected [from, to] or a table with src and dst"
            problems.append(Problem(path, message))
            continue
        known = ("src", "dst", "demand", "weight", "route")
        problems += [
            Problem(f"{path}.{key}", f"is not a key of a flow; {suggestion(str(key), known)}")
            for key in flow
            if key not in known
        ]
        ends = [names.of(flow[key], f"{path}.{key}", problems) for key in ("src", "dst")]
        if flow["src"] == flow["dst"]:
            problems.append(Problem(path, f'goes from "{flow["src"]}" to itself'))
        demand, weight = np.inf, 1.0
        if "demand" in flow:
            demand = _amount(flow["demand"], f"{path}.demand", problems, least="of 0 or more")
        if "weight" in flow:
            weight = _amount(flow["weight"], f"{path}.weight", problems)
        route = flow.get("route")
        if route is not None:
            route = [names.of(node, f"{path}.route", problems) for node in route]
            if len(route) < 2 or [route[0], route[-1]] != ends:
                problems.append(Problem(f"{path}.route", "does not lead from src to dst"))
        rows.append((ends[0], ends[1], demand, weight, route))
    if not rows and not problems:
        problems.append(Problem("traffic.flows", "is empty; expected one flow or more"))
    if problems:
        raise ScenarioError(problems)
    src, dst, demands, weights, routes = zip(*rows, strict=True)
    wanted = np.array(demands, dtype=np.float64)
    weigh = np.array(weights, dtype=np.float64)
    return Traffic(
        np.array(src, dtype=np.uint32),
        np.array(dst, dtype=np.uint32),
        None if np.isinf(wanted).all() else wanted,
        None if (weigh == 1).all() else weigh,
        None if all(route is None for route in routes) else routes,
    )


def _register() -> None:
    """Add the generators that have modules of their own."""
    from ackclock.engines.fluid import leaves, patterns

    NETS["leaves"] = leaves.NET
    TRAFFIC.update(pattern=patterns.PATTERN, matrix=patterns.MATRIX, leaves=leaves.TRAFFIC)


_register()
