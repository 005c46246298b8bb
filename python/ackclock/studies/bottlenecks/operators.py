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

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = ["Network", "matrix_problems", "read_demands", "read_network"]


@dataclass(frozen=True)
class Network:
    """A network as its file has it.

    Parameters
    ----------
    title
        What to call it.
    graph
        Nodes and directed links: those of row i are links 2 i and 2 i + 1.
    places
        Longitude and latitude of each node [degrees], ``(n_nodes, 2)``; NaN where not known.
    aliases
        Other names of nodes, such as their ids in the file.
    """

    title: str
    graph: Graph
    places: Floats
    aliases: dict[str, str]


@dataclass
class _Raw:
    """Nodes and links before any check."""

    nodes: dict[str, tuple[str, Any, Any]] = field(default_factory=dict)
    links: list[tuple[str, str, str, Any, Any]] = field(default_factory=list)
    """Where, the two ends, the capacity there and back; none back: the same."""
    lists_nodes: bool = False


def read_network(
    path: str | Path, *, rate: str | None = None, merge_parallel: bool = False
) -> Network:
    """Read a network of full-duplex links.

    Parameters
    ----------
    path
        A folder with ``edges.csv`` and, if wanted, ``nodes.csv``; a CSV file of links (source,
        target, capacity_bps); a GraphML file; or ``topohub:NAME``, a network of that package.
    rate
        Capacity of links for which none is given, with its unit.
    merge_parallel
        Whether links between the same two nodes become one that has the sum of their capacities;
        else they are a problem.

    Raises
    ------
    ScenarioError
        Every unknown node, loop, repeated link, and capacity that is missing, not a number, or not
        above 0.
    """
    from ackclock._util.units import parse, typed_problem

    default = None
    if rate is not None:
        wrong = typed_problem(rate, "rate")
        if wrong:
            raise ScenarioError([Problem("--rate", wrong)])
        default = parse(rate, "rate")
    text = str(path)
    raw = _raw(text)
    names = _names(raw)
    problems: list[Problem] = []
    ends: list[tuple[int, int]] = []
    capacity: list[tuple[float, float]] = []
    number = {name: i for i, name in enumerate(raw.nodes)}
    seen: dict[tuple[int, int], tuple[int, str]] = {}
    bare = [
        where
        for where, _, _, given, back in raw.links
        if default is None and ("" in (given, back) or given is None)
    ]
    for where, a, b, given, back in raw.links:
        unknown = [n for n in dict.fromkeys((a, b)) if n not in number]
        problems += [
            Problem(where, f'there is no node "{n}"; {suggestion(n, number)}', text)
            for n in unknown
        ]
        if where in bare[:1]:  # one sentence for all: many maps have no capacities
            more = f", nor do {len(bare) - 1} other links" if len(bare) > 1 else ""
            message = f"gives no capacity{more}; --rate sets one for such links"
            problems.append(Problem(where, message, text))
        there = _capacity(given, default, where, text, problems)
        value = (
            there,
            there if back is None else _capacity(back, default, f"{where}, back", text, problems),
        )
        if a == b:
            problems.append(Problem(where, f'joins "{a}" to itself', text))
        if unknown or a == b:
            continue
        key = (min(number[a], number[b]), max(number[a], number[b]))
        if key not in seen:
            seen[key] = (len(ends), where)
            ends.append((number[a], number[b]))
            capacity.append(value)
        elif merge_parallel:
            place = seen[key][0]
            if ends[place] != (number[a], number[b]):
                value = value[::-1]
            capacity[place] = (capacity[place][0] + value[0], capacity[place][1] + value[1])
        else:
            message = (
                f"joins {a} and {b} again, after {seen[key][1]}; --merge-parallel adds them up"
            )
            problems.append(Problem(where, message, text))
    if not raw.links:
        problems.append(Problem("links", "there are none; expected one or more", text))
    if problems:
        raise ScenarioError(problems)
    both = [pair for a, b in ends for pair in ((a, b), (b, a))]
    src, dst = np.array(both, dtype=np.uint32).T
    graph = Graph(
        tuple(names.values()),
        np.ascontiguousarray(src),
        np.ascontiguousarray(dst),
        np.array(capacity).ravel(),
    )
    places = np.array([[_float(lon), _float(lat)] for _, lat, lon in raw.nodes.values()])
    return Network(Path(text).stem, graph, places, names)


def _capacity(
    given: Any, default: float | None, where: str, file: str, problems: list[Problem]
) -> float:
    from ackclock._util.units import parse, quantity_problem

    if given is None or given == "":
        return default or 1.0  # without a default it is a problem, and 1.0 is never used
    value = math.nan
    if isinstance(given, str) and quantity_problem(given, "rate") is None:
        value = float(parse(given, "rate"))
    elif _float(given) == _float(given):
        value = _float(given)
    if math.isfinite(value) and value > 0:
        return value
    problems.append(Problem(where, f'has the capacity "{given}"; expected more than 0', file))
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
    if path.suffix.lower() in (".graphml", ".xml"):
        return _from_graphml(path)
    if path.suffix.lower() == ".csv":
        return _from_csv(path, None)
    if not path.exists():
        raise ScenarioError([Problem("", "there is no such file or folder", text)])
    message = "is not understood; expected a folder, .csv, .graphml, or topohub:NAME"
    raise ScenarioError([Problem("", message, text)])


def _rows(path: Path, *needed: tuple[str, ...]) -> list[tuple[str, dict[str, str]]]:
    try:
        return [(f"line {line}", row) for line, row in csv_rows.rows(path, *needed)]
    except csv_rows.CsvError as error:
        where = f"line {error.line}" if error.line else ""
        raise ScenarioError([Problem(where, str(error), str(path))]) from None


def _from_csv(edges: Path, nodes: Path | None) -> _Raw:
    raw = _Raw()
    if nodes is not None and nodes.is_file():
        raw.lists_nodes = True
        for _, row in _rows(nodes, ("id",)):
            raw.nodes[str(row["id"])] = (row.get("name") or "", row.get("lat"), row.get("lon"))
    for where, row in _rows(edges, ("source", "src", "from"), ("target", "dst", "to")):
        a = str(row.get("source", row.get("src", row.get("from"))))
        b = str(row.get("target", row.get("dst", row.get("to"))))
        for node in (a, b):
            if not raw.lists_nodes:
                raw.nodes.setdefault(node, ("", None, None))
        given = row.get("capacity_bps", row.get("capacity"))
        raw.links.append((f"edges, {where}", a, b, given, None))
    return raw


def _from_graphml(path: Path) -> _Raw:
    import xml.etree.ElementTree as ET

    import networkx as nx

    from ackclock.scenario.networks.graphml import open_graphml

    try:
        graph = nx.read_graphml(open_graphml(path))
    except (ET.ParseError, nx.NetworkXError, KeyError, ValueError, IndexError) as error:
        message = f"is not GraphML as understood here: {error}"
        raise ScenarioError([Problem("", message, str(path))]) from None
    return _from_networkx(graph, str(path))


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
    waiting: dict[tuple[str, str], list[Any]] = {}
    for one, other, data in graph.edges(data=True):
        a, b = str(one), str(other)
        rate = first(data, "rate", "capacity_bps", "capacity", "LinkSpeedRaw")
        if not graph.is_directed() or a == b:
            raw.links.append((f"link {a} - {b}", a, b, rate, None))
        elif waiting.get((b, a)):
            there = waiting[b, a].pop(0)
            raw.links.append((f"link {b} - {a}", b, a, there, "" if rate is None else rate))
        else:
            waiting.setdefault((a, b), []).append(rate)
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


def read_demands(
    network: Network, path: str | Path | None, *, scale: float = 1.0, leaves: bool = False
) -> tuple[Traffic, list[Problem]]:
    """Read a traffic matrix for a network, or take all pairs.

    Parameters
    ----------
    network
        The network; the matrix may use names or ids of its nodes.
    path
        CSV with source, target and demand_bps; None: a flow without bound for every pair of nodes.
    scale
        Factor on every demand.
    leaves
        Without a matrix: only pairs of nodes with one neighbour.

    Returns
    -------
    tuple
        The flows, and everything wrong with the matrix.

    Raises
    ------
    ScenarioError
        Fewer than two nodes have one neighbour, where only those are to send.
    """
    from ackclock.engines.fluid.patterns import demands_of, hosts_of, matrix_rows

    graph = network.graph
    if path is None:
        try:
            hosts, between = hosts_of(graph, "leaves" if leaves else "all")
        except ScenarioError as error:
            raise ScenarioError([Problem("--leaves", p.message) for p in error.problems]) from None
        pairs = np.array([(a, b) for a in hosts for b in hosts if a != b], dtype=np.uint32)
        return Traffic(pairs[:, 0].copy(), pairs[:, 1].copy(), ends=between), []
    rows = [
        (where, network.aliases.get(a, a), network.aliases.get(b, b), value)
        for where, a, b, value in matrix_rows(Path(path))
    ]
    demands, problems = demands_of(rows, graph.nodes, "demands", str(path))
    if not demands and not problems:
        problems.append(Problem("demands", "has no demand above 0", str(path)))
    ends = np.array(list(demands), dtype=np.uint32).reshape(-1, 2)
    rate = np.array(list(demands.values()), dtype=np.float64) * scale
    return Traffic(ends[:, 0].copy(), ends[:, 1].copy(), rate), problems


def matrix_problems(path: str | Path) -> list[Problem]:
    """Find what is wrong with a traffic matrix by itself, where its network is not to be had.

    Parameters
    ----------
    path
        As of `read_demands`.
    """
    from ackclock.engines.fluid.patterns import demands_of, matrix_rows

    try:
        rows = matrix_rows(Path(path))
    except ScenarioError as error:
        return list(error.problems)
    named = list(dict.fromkeys(name for _, a, b, _ in rows for name in (a, b)))
    return demands_of(rows, named, "demands", str(path))[1]
