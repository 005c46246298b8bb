"""Networks and traffic of fluid cases that are listed one by one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Required, TypedDict

import numpy as np

from ackclock.catalogue.entries import Key
from ackclock.engines.fluid.generator import Generator
from ackclock.engines.fluid.graph import Graph, Traffic, unknown_node
from ackclock.errors import Problem, ScenarioError, suggestion

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["FLOWS", "LINKS", "make_network", "read_listed_flows"]


class ListedLinks(TypedDict, total=False):
    """Links one by one."""

    links: Required[
        Annotated[
            list[Any],
            "Links as [from, to, capacity], or [from, to, capacity, cost] where routes add up"
            ' costs; capacities are numbers or rates such as "10 Gbps".',
        ]
    ]
    nodes: Annotated[list[str], "Nodes that no link names, or the order of all."]
    directed: Annotated[
        bool, "Whether a link is one direction; else it has both.", Key(default=False)
    ]


class ListedFlows(TypedDict):
    """Flows one by one."""

    flows: Annotated[
        list[Any],
        "Flows as [from, to], or as tables with src, dst and, if wanted, demand, weight, and route,"
        " a list of nodes.",
    ]


LINKS = Generator(ListedLinks, "ackclock.engines.fluid.listed:make_network")
FLOWS = Generator(ListedFlows, "ackclock.engines.fluid.listed:read_listed_flows")


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
    quoted = f'"{value}"' if isinstance(value, str) else value
    problems.append(Problem(path, f"{quoted} is not a finite number {least}"))
    return 1.0


def make_network(parameters: dict[str, Any]) -> Graph:
    """Make a network of a list of links.

    Parameters
    ----------
    parameters
        ``links``, ``nodes``, ``directed``.

    Raises
    ------
    ScenarioError
        Every loop, repeated link and capacity or cost that is no positive number.
    """
    problems: list[Problem] = []
    nodes = list(dict.fromkeys(parameters.get("nodes", ())))
    names = dict.fromkeys(nodes)
    ends: list[tuple[str, str]] = []
    capacity: list[float] = []
    cost: list[float] = []
    both = not parameters.get("directed", False)
    has_costs = False
    first: dict[tuple[str, str], int] = {}
    for i, link in enumerate(parameters["links"]):
        path = f"net.links[{i}]"
        if not (isinstance(link, list | tuple) and len(link) in (3, 4)):
            expected = "expected [from, to, capacity] or [from, to, capacity, cost]"
            problems.append(Problem(path, f"{link!r} is not a link; {expected}"))
            continue
        a, b, amount, *own_cost = link
        if not (isinstance(a, str) and isinstance(b, str)):
            problems.append(Problem(path, f"{link!r} does not name two nodes"))
            continue
        value = _amount(amount, f"{path}[2]", problems)
        of_link = _amount(own_cost[0], f"{path}[3]", problems) if own_cost else 1.0
        has_costs |= bool(own_cost)
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
            cost.append(of_link)
        names.update({a: None, b: None})
    if problems:
        raise ScenarioError(problems)
    number = {name: i for i, name in enumerate(names)}
    return Graph(
        tuple(names),
        np.array([number[a] for a, _ in ends], dtype=np.uint32),
        np.array([number[b] for _, b in ends], dtype=np.uint32),
        np.array(capacity, dtype=np.float64),
        np.array(cost, dtype=np.float64) if has_costs else None,
    )


def read_listed_flows(parameters: dict[str, Any], graph: Graph, seed: int) -> Traffic:
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
    for i, entry in enumerate(parameters["flows"]):
        path = f"traffic.flows[{i}]"
        flow = entry
        if isinstance(entry, list | tuple) and len(entry) == 2:
            flow = {"src": entry[0], "dst": entry[1]}
        if not (isinstance(flow, dict) and {"src", "dst"} <= flow.keys()):
            message = f"{entry!r} is not a flow; expected [from, to] or a table with src and dst"
            problems.append(Problem(path, message))
            continue
        flow_keys = ("src", "dst", "demand", "weight", "route")
        problems += [
            Problem(f"{path}.{key}", f"is not a key of a flow; {suggestion(str(key), flow_keys)}")
            for key in flow
            if key not in flow_keys
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
    demand_of_flow = np.array(demands, dtype=np.float64)
    weigh = np.array(weights, dtype=np.float64)
    return Traffic(
        np.array(src, dtype=np.uint32),
        np.array(dst, dtype=np.uint32),
        None if np.isinf(demand_of_flow).all() else demand_of_flow,
        None if (weigh == 1).all() else weigh,
        None if all(route is None for route in routes) else routes,
    )
