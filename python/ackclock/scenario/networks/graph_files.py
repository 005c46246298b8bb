"""Files of graphs in the formats of public collections, as NetworkX graphs: which format it is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.foreign_files import describe_bytes
from ackclock.errors import suggestion
from ackclock.scenario.networks import repetita, sndlib
from ackclock.scenario.networks.graphml import open_graphml, read_content
from ackclock.scenario.networks.link_defaults import wrong

if TYPE_CHECKING:
    from pathlib import Path
    from xml.etree.ElementTree import Element

    import networkx as nx

    from ackclock._util.csv_rows import Row

__all__ = ["GraphFile", "is_graph_file", "read_foreign_demands", "read_graph_file", "read_graphml"]


@dataclass(frozen=True)
class GraphFile:
    """A network as a file draws it.

    Parameters
    ----------
    graph
        With the attributes that `ackclock.scenario.networks.graph_import.networkx_data` reads.
    notes
        What was read in a way that the file does not state, a sentence each.
    """

    graph: nx.Graph[Any]
    notes: tuple[str, ...] = ()


def is_graph_file(path: Path) -> bool:
    """Whether a file's name says that it is one of a format that is read here.

    Parameters
    ----------
    path
        The file.
    """
    name = path.name.lower().removesuffix(".gz").removesuffix(".bz2")
    return name.endswith((".graphml", ".xml", ".graph", ".txt", ".native"))


def read_graph_file(path: Path) -> GraphFile:
    """Read a network: GraphML, SNDlib (XML or native), or Repetita (``.graph``).

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ScenarioError
        It cannot be read, or is not of its format; with the line where there is one.
    """
    network = _sndlib(path)
    if network is not None:
        graph, notes = sndlib.to_graph(network)
        return GraphFile(graph, notes)
    if path.suffix.lower() == ".graph":
        return GraphFile(*repetita.read_graph(path, _text(path)))
    if path.suffix.lower() in (".txt", ".native"):
        message = 'is not understood; expected the native format of SNDlib, which begins "?SNDlib"'
        raise wrong(f"{path} {message}")
    return read_graphml(path)


def read_foreign_demands(path: Path) -> tuple[list[Row], tuple[str, ...]] | None:
    """Read demands in another format than CSV: SNDlib (XML or native), or Repetita (``.demands``).

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    tuple
        Rows with ``source``, ``target`` and ``demand_bps``, and of SNDlib's matrices ``time``; and
        what was read in a way that the file does not state. None for a file of another name.

    Raises
    ------
    ScenarioError
        It cannot be read, or is not of its format.
    """
    if path.suffix.lower() == ".demands":
        return repetita.read_demands(path, _text(path))
    if not is_graph_file(path) or path.suffix.lower() == ".graph":
        return None
    network = _sndlib(path)
    if network is None:
        raise wrong(f"{path} has no demands that are read; expected CSV, SNDlib or Repetita")
    return sndlib.to_demands(network)


def _sndlib(path: Path) -> sndlib.SndlibFile | None:
    """The file if it is one of SNDlib."""
    if not is_graph_file(path) or path.suffix.lower() == ".graph":
        return None
    content = read_content(path)
    if content.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"?SNDlib"):
        return sndlib.read_native(path, _decode(path, content))
    if b"sndlib.zib.de" in content[:4096]:
        return sndlib.read_xml(path, open_graphml(path))
    return None


def _text(path: Path) -> str:
    return _decode(path, read_content(path))


def _decode(path: Path, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise wrong(f"{path} is {describe_bytes(content)}") from None


def read_graphml(path: Path) -> GraphFile:
    """Read GraphML; the lines of a drawing are links, whichever way they were drawn.

    A drawing is a directed graph in which no arc has a way back, or one of yEd in which not every
    arc has.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    ScenarioError
        It cannot be read, or is not GraphML.
    """
    import warnings
    import xml.etree.ElementTree as ET

    import networkx as nx

    file = open_graphml(path)
    try:
        with warnings.catch_warnings():
            # NetworkX warns of ports, which no link needs, with the path of its source.
            warnings.simplefilter("ignore", UserWarning)
            root = ET.parse(file).getroot()
            _check_ids(root, path)
            file.seek(0)
            graph: nx.Graph[Any] = nx.read_graphml(file)
    except (ET.ParseError, nx.NetworkXError, LookupError, ValueError) as error:
        why = f"unknown type or value {error}" if isinstance(error, KeyError) else error
        raise wrong(f"{path} is not GraphML as understood here: {why}") from None
    by_yed = any("yfiles.type" in key.attrib for key in root.findall("{*}key"))
    if not _is_drawing(graph, by_yed=by_yed):
        return GraphFile(graph)
    lines: nx.Graph[Any] = nx.MultiGraph()
    lines.add_nodes_from(graph.nodes(data=True))
    lines.add_edges_from(graph.edges(data=True))
    note = "the file is a drawing with arrows; each of its lines is read as a link of both ways"
    return GraphFile(lines, (note,))


def _is_drawing(graph: nx.Graph[Any], *, by_yed: bool) -> bool:
    if not graph.is_directed():
        return False
    arcs = [(a, b) for a, b in graph.edges() if a != b]
    alone = [(a, b) for a, b in arcs if graph.number_of_edges(b, a) < graph.number_of_edges(a, b)]
    none_back = not any(graph.has_edge(b, a) for a, b in arcs)
    return bool(arcs) and (none_back or (by_yed and bool(alone)))


def _check_ids(root: Element, path: Path) -> None:
    """Report what NetworkX accepts: duplicate ids, and edges to unknown nodes."""
    graph = root.find("{*}graph")
    if graph is None:
        return
    ids: set[str] = set()
    for node in graph.findall(".//{*}node"):
        name = str(node.get("id"))
        if name in ids:
            raise wrong(f'{path}: two nodes have the id "{name[:60]}"; expected unique ids')
        ids.add(name)
    for edge in graph.findall("{*}edge"):
        ends = [str(edge.get("source")), str(edge.get("target"))]
        for end in ends:
            if end not in ids:
                hint = suggestion(end, ids)
                more = f"; {hint}" if hint.startswith("did") else ""
                between = f'the edge "{ends[0][:60]}" - "{ends[1][:60]}"'
                raise wrong(
                    f'{path}: {between} needs a node "{end[:60]}", which is not there{more}'
                )
