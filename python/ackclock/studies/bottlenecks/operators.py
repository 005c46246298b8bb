"""Reads an operator's network and demands, and reports all problems together."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util import csv_rows
from ackclock.engines.fluid.graph import Graph, Traffic
from ackclock.errors import Problem, ScenarioError, suggestion
from ackclock.scenario.networks.graph_files import is_graph_file

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = ["Network", "all_pairs", "read_network"]


@dataclass(frozen=True)
class Network:
    """A network as its file has it.

    Parameters
    ----------
    title
        What to call it.
    graph
        Nodes and directed links: those of row i are links 2 i and 2 i + 1.
    coordinates
        Longitude and latitude of each node [degrees], ``(n_nodes, 2)``; NaN where not known.
    aliases
        Other names of nodes, such as their ids in the file.
    risk_groups
        Full-duplex links, by row, of each shared-risk group (SRLG) that the file names.
    notes
        What was read in a way that the file does not state, a sentence each.
    """

    title: str
    graph: Graph
    coordinates: Floats
    aliases: dict[str, str]
    risk_groups: dict[str, tuple[int, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def has_weights(self) -> bool:
        """Whether weights differ, so that shortest paths by weight are not those of fewest hops."""
        cost = self.graph.cost
        return cost is not None and bool((cost != cost[0]).any())

    def numbers(self) -> dict[str, int]:
        """Numbers of nodes by name and by what else they are called."""
        number = {name: i for i, name in enumerate(self.graph.nodes)}
        return {alias: number[name] for alias, name in self.aliases.items()} | number


@dataclass
class _Link:
    """A full-duplex link before any check; a value back that is None is that there."""

    where: str
    a: str
    b: str
    capacity: Any
    back: Any = None
    weight: Any = None
    weight_back: Any = None
    risk_groups: Any = None


@dataclass
class _Raw:
    """Nodes and links before any check."""

    nodes: dict[str, tuple[str, Any, Any]] = field(default_factory=dict)
    links: list[_Link] = field(default_factory=list)
    lists_nodes: bool = False
    notes: list[str] = field(default_factory=list)


def read_network(
    path: str | Path, *, rate: str | None = None, merge_parallel: bool = False
) -> Network:
    """Read a network of full-duplex links.

    Parameters
    ----------
    path
        A folder with ``edges.csv`` and, if wanted, ``nodes.csv``; a CSV file of links (source,
        target, capacity_bps and, if wanted, back_capacity_bps, weight, back_weight, srlg); a
        GraphML file with such attributes, also a drawing; a file of SNDlib (XML or native) or
        Repetita (``.graph``); or ``topohub:NAME``, a network of that package.
        ``weight`` is the IGP's, 1 where there is none; ``srlg`` names shared-risk groups, with
        ``;`` between them.
    rate
        Capacity of links for which none is given, with its unit.
    merge_parallel
        Whether links between the same two nodes become one that has the sum of their capacities;
        else they are a problem.

    Raises
    ------
    ScenarioError
        Every unknown node, loop, repeated link, and capacity or weight that is missing, not a
        number, or not above 0.
    """
    default = _default_rate(rate)
    text = str(path)
    raw = _raw(text)
    names = _names(raw)
    problems: list[Problem] = []
    ends: list[tuple[int, int]] = []
    capacity: list[tuple[float, float]] = []
    weights: list[tuple[float, float]] = []
    risk_groups: dict[str, list[int]] = {}
    number = {name: i for i, name in enumerate(raw.nodes)}
    row_of_ends: dict[tuple[int, int], tuple[int, str]] = {}
    bare = [
        link.where
        for link in raw.links
        if default is None and ("" in (link.capacity, link.back) or link.capacity is None)
    ]
    for link in raw.links:
        where, a, b = link.where, link.a, link.b
        if "" in (a, b):
            end = "source" if a == "" else "target"
            problems.append(Problem(where, f"names no {end}; expected the name of a node", text))
            continue
        unknown = [n for n in dict.fromkeys((a, b)) if n not in number]
        problems += [
            Problem(where, f'there is no node "{n}"; {suggestion(n, number)}', text)
            for n in unknown
        ]
        if where in bare[:1]:  # one sentence for all: many maps have no capacities
            more = f", nor do {len(bare) - 1} other links" if len(bare) > 1 else ""
            message = f"gives no capacity{more}; --rate sets one for such links"
            problems.append(Problem(where, message, text))
        value, weight = _values(link, default, text, problems)
        if a == b:
            problems.append(Problem(where, f'joins "{a}" to itself', text))
        if unknown or a == b:
            continue
        key = (min(number[a], number[b]), max(number[a], number[b]))
        if key not in row_of_ends:
            row_of_ends[key] = (len(ends), where)
            ends.append((number[a], number[b]))
            capacity.append(value)
            weights.append(weight)
            for name in _risk_groups(link):
                risk_groups.setdefault(name, []).append(len(ends) - 1)
        elif merge_parallel:
            row = row_of_ends[key][0]
            if ends[row] != (number[a], number[b]):
                value = value[::-1]
            capacity[row] = (capacity[row][0] + value[0], capacity[row][1] + value[1])
        else:
            first = row_of_ends[key][1]
            message = f"joins {a} and {b} again, after {first}; --merge-parallel adds them up"
            problems.append(Problem(where, message, text))
    if not raw.links:
        problems.append(Problem("links", "there are none; expected one or more", text))
    if problems:
        raise ScenarioError(problems)
    return _network(text, raw, names, (ends, capacity, weights), risk_groups)


def _default_rate(rate: float | str | None) -> float | None:
    from ackclock._util.units import parse, typed_problem

    if rate is None:
        return None
    wrong = typed_problem(rate, "rate")
    if wrong:
        raise ScenarioError([Problem("--rate", wrong)])
    return parse(rate, "rate")


def _network(
    text: str,
    raw: _Raw,
    names: dict[str, str],
    links: tuple[list[tuple[int, int]], list[tuple[float, float]], list[tuple[float, float]]],
    risk_groups: dict[str, list[int]],
) -> Network:
    ends, capacity, weights = links
    both = [pair for a, b in ends for pair in ((a, b), (b, a))]
    src, dst = np.array(both, dtype=np.uint32).T
    graph = Graph(
        tuple(names.values()),
        np.ascontiguousarray(src),
        np.ascontiguousarray(dst),
        np.array(capacity).ravel(),
        np.array(weights).ravel(),
    )
    coordinates = np.array([[_float(lon), _float(lat)] for _, lat, lon in raw.nodes.values()])
    groups = {name: tuple(rows) for name, rows in risk_groups.items()}
    # The current folder, ".", says no name.
    source_path = Path(text).resolve() if Path(text).is_dir() else Path(text)
    return Network(source_path.stem, graph, coordinates, names, groups, tuple(raw.notes))


def _values(
    link: _Link, default: float | None, file: str, problems: list[Problem]
) -> tuple[tuple[float, float], tuple[float, float]]:
    """Capacity and weight of a link, there and back."""
    there = _capacity(link.capacity, default, link.where, file, problems)
    back = f"{link.where}, back"
    weight = _weight(link.weight, link.where, file, problems)
    capacities = (
        there,
        there if link.back is None else _capacity(link.back, default, back, file, problems),
    )
    weights = (
        weight,
        weight
        if link.weight_back in (None, "")
        else _weight(link.weight_back, back, file, problems),
    )
    return capacities, weights


def _risk_groups(link: _Link) -> list[str]:
    return [name.strip() for name in str(link.risk_groups or "").split(";") if name.strip()]


def _capacity(
    stated_capacity: Any, default: float | None, where: str, file: str, problems: list[Problem]
) -> float:
    from ackclock._util.units import parse, quantity_problem

    if stated_capacity is None or stated_capacity == "":
        return default or 1.0  # without a default it is a problem, and 1.0 is never used
    value = math.nan
    if isinstance(stated_capacity, str) and quantity_problem(stated_capacity, "rate") is None:
        value = float(parse(stated_capacity, "rate"))
    elif _float(stated_capacity) == _float(stated_capacity):
        value = _float(stated_capacity)
    if math.isfinite(value) and value > 0:
        return value
    problems.append(
        Problem(where, f'has the capacity "{stated_capacity}"; expected more than 0', file)
    )
    return 1.0


def _weight(given: Any, where: str, file: str, problems: list[Problem]) -> float:
    if given is None or given == "":
        return 1.0
    value = _float(given)
    if math.isfinite(value) and value > 0:
        return value
    problems.append(Problem(where, f'has the weight "{given}"; expected more than 0', file))
    return 1.0


def _float(value: Any) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan


def _names(raw: _Raw) -> dict[str, str]:
    """Names of nodes by id: their labels where these are unique."""
    labels = [label for label, _, _ in raw.nodes.values()]
    unique = all(labels) and len(set(labels)) == len(labels)
    return {node: label if unique else node for node, (label, _, _) in raw.nodes.items()}


def _raw(text: str) -> _Raw:
    path = Path(text)
    if text.startswith("topohub:"):
        return _from_topohub(text.removeprefix("topohub:"))
    if path.is_dir():
        return _from_csv(path / "edges.csv", path / "nodes.csv")
    if path.suffix.lower() == ".csv":
        return _from_csv(path, None)
    if not path.exists():
        raise ScenarioError([Problem("", "there is no such file or folder", text)])
    if is_graph_file(path):
        return _from_file(path)
    message = (
        "is not understood; expected a folder, .csv, .graphml, .xml or .txt of SNDlib, .graph of"
        " Repetita, or topohub:NAME"
    )
    raise ScenarioError([Problem("", message, text)])


def _rows(
    path: Path, quantities: dict[str, str], *needed: tuple[str, ...]
) -> list[tuple[str, dict[str, str]]]:
    try:
        read = csv_rows.rows(path, *needed, quantities=quantities)
        return [(f"line {line}", row) for line, row in read]
    except csv_rows.CsvError as error:
        where = f"line {error.line}" if error.line else ""
        raise ScenarioError([Problem(where, str(error), str(path))]) from None


_QUANTITIES = {
    **dict.fromkeys(("capacity_bps", "capacity", "back_capacity_bps", "back_capacity"), "rate"),
    "weight": "number",
    "back_weight": "number",
}


def _from_csv(edges: Path, nodes: Path | None) -> _Raw:
    raw = _Raw()
    if nodes is not None and nodes.is_file():
        raw.lists_nodes = True
        for _, row in _rows(nodes, {"lat": "number", "lon": "number"}, ("id",)):
            attributes = (row.get("name") or "", row.get("lat"), row.get("lon"))
            raw.nodes[str(row["id"]).strip()] = attributes
    ends = ("source", "src", "from"), ("target", "dst", "to")
    for where, row in _rows(edges, _QUANTITIES, *ends):
        a = str(row.get("source", row.get("src", row.get("from")))).strip()
        b = str(row.get("target", row.get("dst", row.get("to")))).strip()
        for node in (a, b):
            if not raw.lists_nodes:
                raw.nodes.setdefault(node, ("", None, None))
        raw.links.append(
            _Link(
                f"edges, {where}",
                a,
                b,
                row.get("capacity_bps", row.get("capacity")),
                row.get("back_capacity_bps", row.get("back_capacity")) or None,
                row.get("weight"),
                row.get("back_weight"),
                row.get("srlg"),
            )
        )
    return raw


def _from_file(path: Path) -> _Raw:
    from ackclock.scenario.networks.graph_files import read_graph_file

    try:
        read = read_graph_file(path)
    except ScenarioError as error:
        # The sentence names the file.
        raise ScenarioError([Problem("", p.message, None) for p in error.problems]) from None
    raw = _from_networkx(read.graph, str(path))
    loops = [link for link in raw.links if link.a == link.b]
    raw.notes = list(read.notes)
    if loops:
        raw.links = [link for link in raw.links if link.a != link.b]
        many = "1 link joins a node" if len(loops) == 1 else f"{len(loops)} links join a node"
        raw.notes.append(f"{many} to itself and is left out")
    return raw


def _from_networkx(graph: Any, file: str) -> _Raw:
    def first(data: dict[str, Any], *keys: str) -> Any:
        return next((data[key] for key in keys if data.get(key) not in (None, "")), None)

    raw = _Raw(lists_nodes=True)
    for node, data in graph.nodes(data=True):
        lon, lat = first(data, "pos") or (
            first(data, "lon", "Longitude"),
            first(data, "lat", "Latitude"),
        )
        raw.nodes[str(node)] = (str(first(data, "name", "label") or ""), lat, lon)
    # Of a directed graph the arcs there and back are one link.
    waiting: dict[tuple[str, str], list[_Link]] = {}
    for source, target, data in graph.edges(data=True):
        a, b = str(source), str(target)
        link = _Link(
            f"link {a} - {b}",
            a,
            b,
            first(data, "rate", "capacity_bps", "capacity", "LinkSpeedRaw"),
            weight=first(data, "weight"),
            risk_groups=first(data, "srlg"),
        )
        if not graph.is_directed() or a == b:
            raw.links.append(link)
        elif waiting.get((b, a)):
            there = waiting[b, a].pop(0)
            there.back = "" if link.capacity is None else link.capacity
            there.weight_back = 1 if link.weight is None else link.weight
            raw.links.append(there)
        else:
            waiting.setdefault((a, b), []).append(link)
    alone = [pair for pair, rates in waiting.items() if rates]
    if alone:
        raise ScenarioError(
            [
                Problem(f"link {a} - {b}", "goes one way only; expected an edge back", file)
                for a, b in alone
            ]
        )
    return raw


def _from_topohub(name: str) -> _Raw:
    import networkx as nx

    from ackclock.scenario.networks.graph_import import topohub_json

    graph = nx.node_link_graph(topohub_json(name), edges="edges")
    return _from_networkx(graph, f"topohub:{name}")


def all_pairs(network: Network, *, leaves: bool = False) -> Traffic:
    """Make a flow without bound for every ordered pair of nodes.

    Parameters
    ----------
    network
        The network.
    leaves
        Only pairs of nodes with one neighbour.

    Raises
    ------
    ScenarioError
        Fewer than two nodes have one neighbour, where only those are to send.
    """
    from ackclock.engines.fluid.patterns import hosts_of

    try:
        hosts, between = hosts_of(network.graph, "leaves" if leaves else "all")
    except ScenarioError as error:
        raise ScenarioError([Problem("--leaves", p.message) for p in error.problems]) from None
    pairs = np.array([(a, b) for a in hosts for b in hosts if a != b], dtype=np.uint32)
    return Traffic(pairs[:, 0].copy(), pairs[:, 1].copy(), ends=between)
