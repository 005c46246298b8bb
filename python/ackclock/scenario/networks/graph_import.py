"""Real networks become a graph of the scenario: distances give delays, stated rules capacities."""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ackclock._util import csv_rows
from ackclock._util.units import bare_problem, parse
from ackclock.errors import Problem, ScenarioError, suggestion
from ackclock.scenario.networks import link_defaults
from ackclock.scenario.networks.csv_columns import read_graph
from ackclock.scenario.networks.graph_files import read_graph_file, read_graphml
from ackclock.scenario.networks.link_defaults import (
    SIGNAL_SPEED_M_S,
    Edge,
    LinkOptions,
    Node,
    great_circle_m,
    wrong,
)

if TYPE_CHECKING:
    import networkx as nx

    from ackclock.catalogue.records import Record

__all__ = [
    "LinkOptions",
    "from_csv",
    "from_graph_file",
    "from_networkx",
    "from_topohub",
    "great_circle_m",
]

Rule = Literal["uniform", "degree"]


def _choose_names(ids: list[str], names: list[str]) -> list[str]:
    """Names where these are unique, ids otherwise."""
    unique = all(names) and len(set(names)) == len(names)
    return names if unique else ids


def _quote(value: object) -> str:
    return json.dumps(str(value)[:60], ensure_ascii=False)


def _number(value: object, quantity: str, where: str, *, signed: bool = False) -> float | None:
    if value is None or str(value) == "":
        return None
    try:
        number = float(str(value))
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise wrong(f"{where}: {quantity} is {_quote(value)}, expected a number")
    if number < 0 and not signed:
        raise wrong(
            f"{where}: {quantity} is {_quote(value)}, expected a number that is not negative"
        )
    return number


def _quantity(value: object, what: str, where: str, quantity: str) -> float | None:
    if not isinstance(value, str):
        return _number(value, what, where)
    try:
        return parse(value, quantity)
    except ValueError as error:
        raise wrong(f"{where}: {what}: {error}") from None


def _first(table: Any, *keys: str) -> tuple[Any, str]:
    """Value and name of the first key that has a value."""
    given = ((table.get(key), key) for key in keys)
    # Compared as text: an array compared with "" is an array.
    return next(((v, key) for v, key in given if v is not None and str(v) != ""), (None, keys[0]))


def _node(name: str, data: Any, source: str) -> Node:
    where = f"{source}: the node {name}"
    pos, _ = _first(data, "pos")
    if pos is None:
        lat = _number(*_first(data, "lat", "Latitude"), where, signed=True)
        return Node(name, lat, _number(*_first(data, "lon", "Longitude"), where, signed=True))
    try:
        lon, lat = pos
    except (TypeError, ValueError):
        raise wrong(f"{where}: pos is {_quote(pos)}, expected (lon, lat)") from None
    lat = _number(lat, "the lat of pos", where, signed=True)
    return Node(name, lat, _number(lon, "the lon of pos", where, signed=True))


def networkx_data(graph: nx.Graph[Any], options: LinkOptions, source: str) -> dict[str, Any]:
    """Turn a NetworkX graph into ``kind = "graph"``.

    Parameters
    ----------
    graph
        Attributes read: of nodes ``name``/``label``, ``lat``/``Latitude``, ``lon``/``Longitude``
        or ``pos`` (lon, lat); of edges ``rate``/``capacity_bps``/``LinkSpeedRaw`` [bit/s],
        ``delay_s``/``delay`` [s], ``length_km``/``dist`` [km], ``weight``. The two arcs
        between two nodes of a directed graph are the two directions of one link.
    options
        What the graph does not say.
    source
        What to call the graph in messages.
    """
    labels = [str(_first(data, "name", "label")[0] or "") for _, data in graph.nodes(data=True)]
    names = _choose_names([str(node) for node in graph.nodes], labels)
    twice = next((node_name for node_name, count in Counter(names).items() if count > 1), None)
    if twice is not None:
        raise wrong(f'{source} has two nodes that are written "{twice}"; expected different names')
    name = dict(zip(graph.nodes, names, strict=True))
    nodes = [_node(name[node], data, source) for node, data in graph.nodes(data=True)]
    if options.weight != LinkOptions.weight:
        attribute_names = sorted(
            {str(key) for _, _, data in graph.edges(data=True) for key in data}
        )
        if options.weight not in attribute_names:
            hint = suggestion(options.weight, attribute_names)
            raise wrong(f'{source} has no edge with the attribute "{options.weight}"; {hint}')
    edges = []
    one_way = graph.is_directed()
    for u, v, data in graph.edges(data=True):
        where = f"{source}: the link {name[u]}{'->' if one_way else ' - '}{name[v]}"
        length = _number(*_first(data, "length_km", "dist"), where)
        rate = _first(data, "rate", "capacity_bps", "LinkSpeedRaw")
        edges.append(
            Edge(
                name[u],
                name[v],
                _quantity(*rate, where, "rate"),
                _quantity(*_first(data, "delay_s", "delay"), where, "duration"),
                None if length is None else length * 1000,
                where,
                _number(data.get(options.weight), options.weight, where),
                one_way,
            )
        )
    return link_defaults.graph(nodes, edges, options)


def graphml_data(path: Path, options: LinkOptions) -> dict[str, Any]:
    """Read a GraphML file into ``kind = "graph"``.

    Parameters
    ----------
    path
        The file.
    options
        What the file does not say.
    """
    return networkx_data(read_graphml(path).graph, options, str(path))


def graph_file_data(path: Path, options: LinkOptions) -> dict[str, Any]:
    """Read a file of GraphML, SNDlib or Repetita into ``kind = "graph"``.

    Parameters
    ----------
    path
        The file.
    options
        What the file does not say.
    """
    return networkx_data(read_graph_file(path).graph, options, str(path))


def _rows(path: Path, needed: list[str], quantities: dict[str, str]) -> list[csv_rows.Row]:
    try:
        return csv_rows.rows(path, *((name,) for name in needed), quantities=quantities)
    except csv_rows.CsvError as error:
        raise wrong(error.of(path)) from None


def _cell(path: Path, line: int, row: dict[str, str], key: str) -> float | None:
    return _number(row.get(key), key, f"{path}, line {line}", signed=key in ("lat", "lon"))


def csv_data(folder: Path, options: LinkOptions) -> dict[str, Any]:
    """Read nodes.csv and edges.csv into ``kind = "graph"``.

    Parameters
    ----------
    folder
        Where the two files are.
    options
        What the files do not say.
    """
    plain_graph = read_graph(folder, options)
    if plain_graph is not None:
        return plain_graph
    path = folder / "nodes.csv"
    rows = _rows(path, ["id"], {"lat": "number", "lon": "number"})
    ids = [row["id"] for _, row in rows]
    lines: dict[str, int] = {}
    for line, row in rows:
        before = lines.setdefault(row["id"], line)
        if before != line:
            text = f"the id {_quote(row['id'])} is that of line {before}; expected unique ids"
            raise wrong(f"{path}, line {line}: {text}")
    names = _choose_names(ids, [row.get("name", "") for _, row in rows])
    name = dict(zip(ids, names, strict=True))
    nodes = [
        Node(name[row["id"]], _cell(path, line, row, "lat"), _cell(path, line, row, "lon"))
        for line, row in rows
    ]
    path = folder / "edges.csv"
    edges = []
    requested = [options.weight] if options.weight != LinkOptions.weight else []
    quantities = {"capacity_bps": "rate", "delay_s": "duration", "length_km": "length"}
    quantities[options.weight] = "number"
    for line, row in _rows(path, ["source", "target", *requested], quantities):
        for end in ("source", "target"):
            if row[end] not in name:
                raise wrong(f'{path}, line {line}: {end} "{row[end]}" is not in nodes.csv')
        length = _cell(path, line, row, "length_km")
        edges.append(
            Edge(
                name[row["source"]],
                name[row["target"]],
                _cell(path, line, row, "capacity_bps"),
                _cell(path, line, row, "delay_s"),
                None if length is None else length * 1000,
                f"{path}, line {line}",
                _cell(path, line, row, options.weight),
            )
        )
    return link_defaults.graph(nodes, edges, options)


def topohub_data(name: str, rule: Rule, options: LinkOptions) -> dict[str, Any]:
    """Fetch a network of the installed TopoHub package as ``kind = "graph"``.

    Parameters
    ----------
    name
        Name there, such as ``topozoo/Geant2009``.
    rule
        ``uniform``: every link has ``options.rate``; ``degree``: that rate times the smaller
        number of links at the two ends.
    options
        Rate, buffer and queue discipline of the links.
    """
    import networkx as nx

    if rule not in get_args(Rule):
        raise wrong(f"there is no rule {_quote(rule)}; {suggestion(str(rule), get_args(Rule))}")
    data = topohub_json(name)
    graph: Any = nx.node_link_graph(data, edges="edges")
    if rule == "degree":
        if options.rate is None:
            raise wrong("the rule degree needs a rate")
        base = parse(options.rate, "rate")
        for u, v in graph.edges:
            graph.edges[u, v]["rate"] = base * min(graph.degree[u], graph.degree[v])
    return networkx_data(graph, options, f"TopoHub {name}")


def topohub_json(name: str) -> dict[str, Any]:
    """Read a network of the installed TopoHub package.

    Parameters
    ----------
    name
        Name there, such as ``sndlib/geant``.

    Raises
    ------
    ScenarioError
        There is no such network.
    """
    import importlib.resources

    folder = importlib.resources.files("topohub") / "data"
    try:
        if ".." in name:
            raise FileNotFoundError(name)
        data: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        group = name.split("/", maxsplit=1)[0]
        groups = [item.name for item in folder.iterdir() if item.is_dir()]
        if group in groups:
            names = [f"{group}/{f.name[:-5]}" for f in (folder / group).iterdir() if f.is_file()]
            hint = suggestion(name, names) if "/" in name else f"expected {group}/NAME"
        else:
            hint = f"expected GROUP/NAME with one of the groups {', '.join(sorted(groups))}"
        hint = hint if len(hint) < 300 else f"see the networks of group {group} in TopoHub's pages"
        raise wrong(f"TopoHub has no network {_quote(name)}; {hint}") from None
    return data


def _make_graph(data: dict[str, Any]) -> Record:
    from ackclock.catalogue.records import shape

    return shape()["Graph"].of_program({"nodes": data["nodes"], "links": data["links"]})


def _options(
    rate: float | str | None,
    buffer: str,
    qdisc: object,
    signal_speed: float,
    scale: float,
    weight: str = LinkOptions.weight,
    delay: str | None = None,
) -> LinkOptions:
    from ackclock.catalogue.records import plain

    options = LinkOptions(rate, buffer, plain(qdisc), signal_speed, scale, weight, delay)
    for key, value, quantity in (("rate", rate, "rate"), ("delay", delay, "duration")):
        if (message := bare_problem(value, quantity)) is not None:
            raise ScenarioError([Problem(f"net.{key}", message)])
    return options


def from_networkx(
    graph: nx.Graph[Any],
    *,
    rate: str | None = None,
    buffer: str = LinkOptions.buffer,
    qdisc: object = LinkOptions.qdisc,
    signal_speed: float = SIGNAL_SPEED_M_S,
    scale: float = LinkOptions.scale,
    weight: str = LinkOptions.weight,
    delay: str | None = None,
) -> Record:
    """Make a network of a NetworkX graph.

    Parameters
    ----------
    graph
        Attributes read: of nodes ``name``/``label``, ``lat``/``Latitude``, ``lon``/``Longitude``
        or ``pos`` (lon, lat); of edges ``rate``/``capacity_bps``/``LinkSpeedRaw`` [bit/s],
        ``delay_s``/``delay`` [s], ``length_km``/``dist`` [km], ``weight``. Parallel edges
        are merged: their rates are added, the first one's delay and weight stay. Loops are
        dropped. The arcs a->b and b->a of a directed graph are the directions of one link: each
        has its own rate, both the same delay and weight; an arc without the other is an error.
    rate
        Capacity of edges without one, with its unit.
    buffer
        Buffer of every link, with its unit.
    qdisc
        Queue discipline of every link.
    signal_speed
        Speed [m/s] by which length gives delay where none is given; the length, where it is not
        given either, is that of the great circle.
    scale
        Factor on every capacity.
    weight
        Attribute of edges that holds the weight for ``routing = "weight"``; where an edge has
        none it is 1.
    delay
        Delay of links, with its unit, where neither delay nor length nor the places of both ends
        are given; left out: such a link is an error.

    Returns
    -------
    Graph
        The network, for `Scenario`.
    """
    import networkx as nx

    if not isinstance(graph, nx.Graph):
        raise wrong(f"expected a NetworkX graph, not {type(graph).__name__}")
    options = _options(rate, buffer, qdisc, signal_speed, scale, weight, delay)
    return _make_graph(networkx_data(graph, options, "the graph"))


def from_graph_file(
    path: str | Path,
    *,
    rate: str | None = None,
    buffer: str = LinkOptions.buffer,
    qdisc: object = LinkOptions.qdisc,
    signal_speed: float = SIGNAL_SPEED_M_S,
    scale: float = LinkOptions.scale,
    weight: str = LinkOptions.weight,
    delay: str | None = None,
) -> Record:
    """Make a network of a file of GraphML, SNDlib (XML or native) or Repetita (``.graph``).

    Parameters
    ----------
    path
        The file. SNDlib's capacities are those that are installed, in the unit that the file
        states, Mbit/s where it states none; Repetita's are in kbit/s, and its delays, which have no
        unit, are not read.
    rate, buffer, qdisc, signal_speed, scale, weight, delay
        As in `from_networkx`.

    Returns
    -------
    Graph
        The network, for `Scenario`.
    """
    options = _options(rate, buffer, qdisc, signal_speed, scale, weight, delay)
    return _make_graph(graph_file_data(Path(path), options))


def from_csv(
    folder: str | Path,
    *,
    rate: str | None = None,
    buffer: str = LinkOptions.buffer,
    qdisc: object = LinkOptions.qdisc,
    signal_speed: float = SIGNAL_SPEED_M_S,
    scale: float = LinkOptions.scale,
    weight: str = LinkOptions.weight,
    delay: str | None = None,
) -> Record:
    """Make a network of nodes.csv and edges.csv.

    Parameters
    ----------
    folder
        Holds ``nodes.csv`` (id, name, lat, lon) and ``edges.csv`` (source, target, capacity_bps,
        delay_s, length_km, weight); an empty cell is not known. One row is one full-duplex link,
        so that a row for the way back is a second, parallel link.
    rate, buffer, qdisc, signal_speed, scale
        As in `from_networkx`.
    weight
        Column that holds the weight for ``routing = "weight"``; an empty cell is 1.
    delay
        As in `from_networkx`.

    Returns
    -------
    Graph
        The network, for `Scenario`.
    """
    options = _options(rate, buffer, qdisc, signal_speed, scale, weight, delay)
    return _make_graph(csv_data(Path(folder), options))


def from_topohub(
    name: str,
    *,
    rate: str,
    rule: Rule = "uniform",
    buffer: str = LinkOptions.buffer,
    qdisc: object = LinkOptions.qdisc,
    signal_speed: float = SIGNAL_SPEED_M_S,
    scale: float = LinkOptions.scale,
) -> Record:
    """Make a network of one in the TopoHub collection (installed with ackclock; no download).

    Parameters
    ----------
    name
        Name there, such as ``topozoo/Geant2009`` or ``sndlib/germany50``.
    rate
        Capacity that the rule starts from, with its unit; the collection has no capacities.
    rule
        ``uniform``: every link has the rate; ``degree``: the rate times the smaller number of
        links at the two ends, so that links between hubs are wider.
    buffer, qdisc, signal_speed, scale
        As in `from_networkx`.

    Returns
    -------
    Graph
        The network, for `Scenario`.
    """
    options = _options(rate, buffer, qdisc, signal_speed, scale)
    return _make_graph(topohub_data(name, rule, options))
