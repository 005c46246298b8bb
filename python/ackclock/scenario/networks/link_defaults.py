"""What imported networks have in common: links whose rates and delays are filled in."""

import math
from dataclasses import dataclass
from typing import Annotated, Any, SupportsFloat

from ackclock._util.units import parse, quantity_problem
from ackclock.catalogue.entries import Algorithm, Duration, Key, Rate
from ackclock.errors import Problem, ScenarioError

__all__ = ["SIGNAL_SPEED_M_S", "Edge", "LinkOptions", "Node", "graph", "great_circle_m", "wrong"]

EARTH_RADIUS_M = 6_371_008.8
SIGNAL_SPEED_M_S = 2e8
"""Speed of light in fibre, about two thirds of that in vacuum."""
MOST_BPS, MOST_S = 1e15, 9e6
_RANGE = "1 bit/s to 1000 Tbps"
"""What the core's counters hold, reported here while file and line are known."""


@dataclass(frozen=True)
class LinkOptions:
    """What every link of an imported network gets."""

    rate: Annotated[Rate, "Capacity of links for which the source gives none."] | None = None
    buffer: Annotated[str, Key(x_quantity="buffer size"), "Buffer of every link."] = "1 bdp"
    qdisc: Annotated[Algorithm, Key(x_room="qdisc"), "Queue discipline of every link."] = "fifo"
    signal_speed: Annotated[
        float,
        "Speed in m/s by which length gives delay where none is given.",
        Key(exclusiveMinimum=0),
    ] = SIGNAL_SPEED_M_S
    scale: Annotated[float, "Every capacity is multiplied by this.", Key(exclusiveMinimum=0)] = 1.0
    weight: Annotated[
        str, "What holds the routing weight; where it is not given the weight is 1."
    ] = "weight"
    delay: (
        Annotated[
            Duration,
            "Delay of links for which neither delay nor length nor the places of both ends are"
            " given.",
        ]
        | None
    ) = None

    def __post_init__(self) -> None:
        problems = []
        if self.rate is not None and (message := _rate_problem(self.rate)):
            problems.append(Problem("net.rate", message))
        if self.delay is not None and (message := quantity_problem(self.delay, "duration")):
            problems.append(Problem("net.delay", message))
        for key in ("signal_speed", "scale"):
            value = getattr(self, key)
            if not _positive(value):
                message = f"{value!r} is out of range; expected a number above zero"
                problems.append(Problem(f"net.{key}", message))
        weight: object = self.weight
        if not isinstance(weight, str):
            message = f"{weight!r} is not a name; expected that of an attribute or column"
            problems.append(Problem("net.weight", message))
        if problems:
            raise ScenarioError(problems)


def _positive(value: object) -> bool:
    return isinstance(value, SupportsFloat) and 0 < float(value) < math.inf


def _rate_problem(rate: float | str) -> str | None:
    try:
        number = parse(rate, "rate")
    except (TypeError, ValueError):
        return quantity_problem(rate, "rate")
    return None if number > 0 else f"{rate} is out of range; expected more than zero"


@dataclass
class Node:
    """A node by its name and, where known, its place [degrees]."""

    id: str
    lat: float | None = None
    lon: float | None = None


@dataclass
class Edge:
    """A link as the source gives it; None is what it does not give."""

    a: str
    b: str
    rate: float | None
    delay_s: float | None
    length_m: float | None
    where: str
    weight: float | None = None
    one_way: bool = False


@dataclass
class _Link:
    """A link of the scenario while the edges between its ends are put together."""

    a: str
    b: str
    delay: float
    weight: float | None
    where: str
    rate: float = 0.0
    back_rate: float = 0.0


def great_circle_m(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Length of the shortest way over the earth [m], by the haversine formula.

    Parameters
    ----------
    lat1, lon1
        One place [degrees].
    lat2, lon2
        The other place [degrees].
    """
    p1, p2 = math.radians(lat1), math.radians(lat2)
    half_lon = math.radians(lon2 - lon1) / 2
    h = math.sin((p2 - p1) / 2) ** 2 + math.cos(p1) * math.cos(p2) * math.sin(half_lon) ** 2
    return 2 * EARTH_RADIUS_M * math.asin(min(1.0, math.sqrt(h)))


def wrong(message: str) -> ScenarioError:
    """Make the error of an imported network.

    Parameters
    ----------
    message
        One sentence that names the file or the graph.
    """
    return ScenarioError([Problem("net", message)])


def graph(nodes: list[Node], edges: list[Edge], options: LinkOptions) -> dict[str, Any]:
    """Merge parallel edges, drop loops, and fill in rates and delays.

    Parameters
    ----------
    nodes
        All nodes.
    edges
        All links; their ends are names of nodes.
    options
        What the source does not say.
    """
    node_by_id = {node.id: node for node in nodes}
    default = None if options.rate is None else parse(options.rate, "rate")
    merged: dict[tuple[str, str], _Link] = {}
    for edge in edges:
        if edge.a == edge.b:
            continue
        rate = default if edge.rate is None else edge.rate
        if rate is None:
            raise wrong(f"{edge.where} gives no capacity; the key rate sets one for such links")
        scaled = rate * options.scale
        if not 1 <= scaled <= MOST_BPS:
            after = "" if options.scale == 1 else f", {scaled:g} after the scale {options.scale:g}"
            raise wrong(f"{edge.where} has the capacity {rate:g} bit/s{after}; expected {_RANGE}")
        delay = _delay(edge, node_by_id, options)
        if not 0 <= delay <= MOST_S:
            raise wrong(f"{edge.where} has the delay {delay:g} s; expected 0 s to {MOST_S:.0f} s")
        if edge.weight is not None and not 0 < edge.weight < math.inf:
            raise wrong(
                f"{edge.where} has the {options.weight} {edge.weight:g}; expected more than zero"
            )
        back = (edge.b, edge.a) in merged
        key = (edge.b, edge.a) if back else (edge.a, edge.b)
        link = merged.setdefault(key, _Link(edge.a, edge.b, delay, edge.weight, edge.where))
        if edge.one_way and back and not link.back_rate:
            _check_same("delay", edge, delay, link.delay)
            _check_same("weight", edge, edge.weight or 1.0, link.weight or 1.0)
        if not (edge.one_way and back):
            link.rate += scaled
        if back or not edge.one_way:
            link.back_rate += scaled
    if not merged:
        raise wrong("the network has no links")
    links = [_table(link, options) for link in merged.values()]
    node_tables = [
        {k: v for k, v in (("id", n.id), ("lat", n.lat), ("lon", n.lon)) if v is not None}
        for n in nodes
    ]
    return {"kind": "graph", "nodes": node_tables, "links": links}


def _table(link: _Link, options: LinkOptions) -> dict[str, Any]:
    # Acknowledgements must come back, and at which rate is not ours to invent.
    if not link.back_rate:
        raise wrong(
            f"{link.where} has no way back {link.b}->{link.a}; every link is full duplex, so give"
            " both directions or an undirected graph"
        )
    if (most := max(link.rate, link.back_rate)) > MOST_BPS:
        raise wrong(
            f"{link.where} and those parallel to it have the capacity {most:g} bit/s; expected"
            f" {_RANGE}"
        )
    rate, back_rate = round(link.rate), round(link.back_rate)
    back = {} if back_rate == rate else {"back_rate": back_rate}
    more = {"delay": link.delay, "buffer": options.buffer, "qdisc": options.qdisc}
    weight = {} if link.weight is None else {"weight": link.weight}
    return {"a": link.a, "b": link.b, "rate": rate, **back, **more, **weight}


def _check_same(what: str, edge: Edge, value: float, there: float) -> None:
    if not math.isclose(value, there, rel_tol=1e-9):
        raise wrong(
            f"{edge.where} has the {what} {value:g} and the way back {there:g}; expected the same,"
            f" for a link has one {what}"
        )


def _delay(edge: Edge, node_by_id: dict[str, Node], options: LinkOptions) -> float:
    if edge.delay_s is not None:
        return edge.delay_s
    length = edge.length_m
    if length is None:
        a, b = node_by_id[edge.a], node_by_id[edge.b]
        if a.lat is None or a.lon is None or b.lat is None or b.lon is None:
            if options.delay is not None:
                return parse(options.delay, "duration")
            raise wrong(
                f"{edge.where} gives neither delay nor length, and its ends have no coordinates;"
                " the key delay sets one for such links"
            )
        length = great_circle_m(a.lat, a.lon, b.lat, b.lon)
    return round(length / options.signal_speed, 9)
