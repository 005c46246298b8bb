"""Real networks become a graph of the scenario: distances give delays, stated rules capacities."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from ackclock import links
from ackclock.errors import suggestion
from ackclock.links import SIGNAL_SPEED_M_S, Edge, LinkOptions, Node, great_circle_m, wrong
from ackclock.units import parse

if TYPE_CHECKING:
    import networkx as nx

    from ackclock.catalogue import Record

__all__ = [
    "LinkOptions",
    "from_csv",
    "from_graphml",
    "from_networkx",
    "from_topohub",
    "great_circle_m",
]

Rule = Literal["uniform", "degree"]


def _named(ids: list[str], names: list[str]) -> dict[str, str]:
    """Names where every node has one of its own, ids otherwise."""
    unique = all(names) and len(set(names)) == len(names)
    return dict(zip(ids, names if unique else ids, strict=True))


def _number(value: object) -> float | None:
    if value is None or value == "":
        return None
    return float(str(value))


def _first(table: Any, *keys: str) -> Any:
    return next((table[key] for key in keys if table.get(key) not in (None, "")), None)


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
    ids = [str(node) for node in graph.nodes]
    labels = [str(_first(data, "name", "label") or "") for _, data in graph.nodes(data=True)]
    name = _named(ids, labels)
    nodes = []
    for node, data in graph.nodes(data=True):
        lon, lat = _first(data, "pos") or (
            _first(data, "lon", "Longitude"),
            _first(data, "lat", "Latitude"),
        )
        nodes.append(Node(name[str(node)], _number(lat), _number(lon)))
    if options.weight != LinkOptions.weight:
        found = sorted({str(key) for _, _, data in graph.edges(data=True) for key in data})
        if options.weight not in found:
            hint = suggestion(options.weight, found)
            raise wrong(f'{source} has no edge with the attribute "{options.weight}"; {hint}')
    edges = []
    one_way = graph.is_directed()
    for u, v, data in graph.edges(data=True):
        where = f"{source}: the link {name[str(u)]}{'->' if one_way else ' - '}{name[str(v)]}"
        try:
            rate = _first(data, "rate", "capacity_bps", "LinkSpeedRaw")
            delay = _first(data, "delay_s", "delay")
            length = _number(_first(data, "length_km", "dist"))
            edge = Edge(
                name[str(u)],
                name[str(v)],
                None if rate is None else parse(rate, "rate"),
                None if delay is None else parse(delay, "duration"),
                None if length is None else length * 1000,
                where,
                _number(data.get(options.weight)),
                one_way,
            )
        except (TypeError, ValueError) as error:
            raise wrong(f"{where}: {error}") from None
        edges.append(edge)
    return links.graph(nodes, edges, options)


def graphml_data(path: Path, options: LinkOptions) -> dict[str, Any]:
    """Read a GraphML file into ``kind = "graph"``.

    Parameters
    ----------
    path
        The file.
    options
        What the file does not say.
    """
    import xml.etree.ElementTree as ET

    import networkx as nx

    try:
        graph = nx.read_graphml(path)
    except OSError as error:
        raise wrong(f"cannot read {path}: {error.strerror}") from None
    except ET.ParseError as error:
        line, column = error.position
        raise wrong(f"{path}, line {line}, column {column}: this is not well-formed XML") from None
    except (nx.NetworkXError, KeyError, ValueError, IndexError) as error:
        raise wrong(f"{path} is not GraphML as understood here: {error}") from None
    return networkx_data(graph, options, str(path))


def _rows(path: Path, needed: list[str]) -> list[tuple[int, dict[str, str]]]:
    try:
        with path.open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            missing = [key for key in needed if key not in (reader.fieldnames or [])]
            if missing:
                raise wrong(f"{path}, line 1: there is no column {', '.join(missing)}")
            rows = []
            for row in reader:
                if None in row or None in row.values():
                    count = len(reader.fieldnames or [])
                    raise wrong(f"{path}, line {reader.line_num}: expected {count} values")
                rows.append((reader.line_num, row))
            return rows
    except OSError as error:
        raise wrong(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise wrong(f"{path} is not UTF-8 text") from None


def _cell(path: Path, line: int, row: dict[str, str], key: str) -> float | None:
    try:
        value = _number(row.get(key))
    except ValueError:
        value = math.nan
    if value is not None and (not math.isfinite(value) or (key not in _SIGNED and value < 0)):
        raise wrong(f'{path}, line {line}: {key} is "{row[key]}", expected a number')
    return value


_SIGNED = ("lat", "lon")


def csv_data(folder: Path, options: LinkOptions) -> dict[str, Any]:
    """Read nodes.csv and edges.csv into ``kind = "graph"``.

    Parameters
    ----------
    folder
        Where the two files are.
    options
        What the files do not say.
    """
    path = folder / "nodes.csv"
    rows = _rows(path, ["id"])
    ids = [row["id"] for _, row in rows]
    name = _named(ids, [row.get("name", "") for _, row in rows])
    nodes = [
        Node(name[row["id"]], _cell(path, line, row, "lat"), _cell(path, line, row, "lon"))
        for line, row in rows
    ]
    path = folder / "edges.csv"
    edges = []
    asked = [options.weight] if options.weight != LinkOptions.weight else []
    for line, row in _rows(path, ["source", "target", *asked]):
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
    return links.graph(nodes, edges, options)


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
    import json

    folder = importlib.resources.files("topohub") / "data"
    try:
        if ".." in name:
            raise FileNotFoundError(name)
        data: dict[str, Any] = json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
    except OSError:
        group = name.split("/", maxsplit=1)[0]
        groups = [item.name for item in folder.iterdir() if item.is_dir()]
        if group in groups:
            names = [f"{group}/{f.name[:-5]}" for f in (folder / group).iterdir() if f.is_file()]
            hint = suggestion(name, names) if "/" in name else f"expected {group}/NAME"
        else:
            hint = f"expected GROUP/NAME with one of the groups {', '.join(sorted(groups))}"
        hint = hint if len(hint) < 300 else f"see the networks of group {group} in TopoHub's pages"
        raise wrong(f'TopoHub has no network "{name}"; {hint}') from None
    return data


def _made(data: dict[str, Any]) -> Record:
    from ackclock.catalogue import shape

    return shape()["Graph"](nodes=data["nodes"], links=data["links"])


def _options(
    rate: float | str | None,
    buffer: str,
    qdisc: object,
    signal_speed: float,
    scale: float,
    weight: str = LinkOptions.weight,
) -> LinkOptions:
    from ackclock.catalogue import plain

    return LinkOptions(rate, buffer, plain(qdisc), signal_speed, scale, weight)


def from_networkx(
    graph: nx.Graph[Any],
    *,
    rate: float | str | None = None,
    buffer: str = "1 bdp",
    qdisc: object = "fifo",
    signal_speed: float = SIGNAL_SPEED_M_S,
    scale: float = 1.0,
    weight: str = "weight",
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
        Capacity [bit/s] of edges without one.
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

    Returns
    -------
    Graph
        The network, for `Scenario`.
    """
    options = _options(rate, buffer, qdisc, signal_speed, scale, weight)
    return _made(networkx_data(graph, options, "the graph"))


def from_graphml(
    path: str | Path,
    *,
    rate: float | str | None = None,
    buffer: str = "1 bdp",
    qdisc: object = "fifo",
    signal_speed: float = SIGNAL_SPEED_M_S,
    scale: float = 1.0,
    weight: str = "weight",
) -> Record:
    """Make a network of a GraphML file, as in the Internet Topology Zoo.

    Parameters
    ----------
    path
        The file.
    rate, buffer, qdisc, signal_speed, scale, weight
        As in `from_networkx`.

    Returns
    -------
    Graph
        The network, for `Scenario`.
    """
    return _made(
        graphml_data(Path(path), _options(rate, buffer, qdisc, signal_speed, scale, weight))
    )


def from_csv(
    folder: str | Path,
    *,
    rate: float | str | None = None,
    buffer: str = "1 bdp",
    qdisc: object = "fifo",
    signal_speed: float = SIGNAL_SPEED_M_S,
    scale: float = 1.0,
    weight: str = "weight",
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

    Returns
    -------
    Graph
        The network, for `Scenario`.
    """
    return _made(csv_data(Path(folder), _options(rate, buffer, qdisc, signal_speed, scale, weight)))


def from_topohub(
    name: str,
    *,
    rate: float | str,
    rule: Rule = "uniform",
    buffer: str = "1 bdp",
    qdisc: object = "fifo",
    signal_speed: float = SIGNAL_SPEED_M_S,
    scale: float = 1.0,
) -> Record:
    """Make a network of one in the TopoHub collection (installed with ackclock; no download).

    Parameters
    ----------
    name
        Name there, such as ``topozoo/Geant2009`` or ``sndlib/germany50``.
    rate
        Capacity [bit/s] that the rule starts from; the collection has no capacities.
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
    return _made(topohub_data(name, rule, options))
