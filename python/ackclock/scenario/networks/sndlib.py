"""Networks and demands of SNDlib (Orlowski et al. 2010), in its XML and its native format.

A link's capacity is the pre-installed one; modules that might be bought are no capacity. A demand
is its value times its routing unit, from its source to its target. Numbers are in the unit that the
file states, Mbit/s where it states none.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any

from ackclock.scenario.networks.link_defaults import wrong

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import networkx as nx

    from ackclock._util.csv_rows import Row

__all__ = ["SndlibFile", "read_native", "read_xml", "to_demands", "to_graph"]

_UNITS = {"BITSPERSEC": 1.0, "BITPERSEC": 1.0, "KBITPERSEC": 1e3, "MBITPERSEC": 1e6,
          "GBITPERSEC": 1e9}  # fmt: skip


@dataclass
class SndlibFile:
    """What a file has, in its unit.

    Parameters
    ----------
    path
        The file, for messages.
    nodes
        Places (x, y) by id.
    is_geographical
        Whether places are degrees.
    links
        Line, the two ends, the pre-installed capacity or None.
    demands
        Line, source, target, value.
    meta
        What the file says of itself.
    has_modules
        Whether links have modules that might be bought.
    """

    path: Path
    nodes: dict[str, tuple[float, float] | None] = field(default_factory=dict)
    is_geographical: bool = True
    links: list[tuple[int, str, str, float | None]] = field(default_factory=list)
    demands: list[tuple[int, str, str, float]] = field(default_factory=list)
    meta: dict[str, str] = field(default_factory=dict)
    has_modules: bool = False

    def unit(self) -> tuple[float, tuple[str, ...]]:
        """Factor of the file's numbers to bit/s, and a note where it states none."""
        stated = self.meta.get("unit")
        if stated is None:
            return 1e6, ("the file states no unit; its numbers are read as Mbit/s",)
        if stated.upper() not in _UNITS:
            known = ", ".join(_UNITS)
            raise wrong(f'{self.path}: the unit is "{stated[:40]}"; expected one of {known}')
        return _UNITS[stated.upper()], ()

    def fail(self, line: int, message: str) -> Any:
        """Refuse the file at a line."""
        raise wrong(f"{self.path}, line {line}: {message}")

    def number(self, line: int, text: str) -> float:
        """Read a number; refuse the file where it is none."""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.fail(line, f'"{text[:40]}" is no number')
        return value

    def check_ends(self) -> None:
        """Refuse links and demands with unknown nodes, and values below 0."""
        for line, a, b, value in [*self.links, *self.demands]:
            for end in (a, b):
                if end not in self.nodes:
                    self.fail(line, f'there is no node "{end[:40]}"')
            if value is not None and value < 0:
                self.fail(line, f"{value:g} is below 0")


def to_graph(file: SndlibFile) -> tuple[nx.MultiGraph[Any], tuple[str, ...]]:
    """Make a graph of a file.

    Parameters
    ----------
    file
        The file.

    Returns
    -------
    tuple
        The graph, and what was read in a way that the file does not state.
    """
    import networkx as nx

    factor, notes = file.unit()
    graph: nx.MultiGraph[Any] = nx.MultiGraph()
    positions = [position for position in file.nodes.values() if position is not None]
    in_degrees = file.is_geographical and all(abs(x) <= 180 and abs(y) <= 90 for x, y in positions)
    for name, position in file.nodes.items():
        is_located = position is not None and in_degrees
        graph.add_node(
            name, **({"lon": position[0], "lat": position[1]} if is_located and position else {})
        )
    bare = 0
    for _, a, b, capacity in file.links:
        bare += not capacity
        graph.add_edge(a, b, **({"capacity_bps": factor * capacity} if capacity else {}))
    if bare and file.has_modules:
        notes += (f"{bare} links have modules to buy, and no capacity that is installed",)
    return graph, notes


def to_demands(file: SndlibFile) -> tuple[list[Row], tuple[str, ...]]:
    """Make rows of a file's demands; those between the same two nodes are added up.

    Parameters
    ----------
    file
        The file.

    Returns
    -------
    tuple
        Rows with ``source``, ``target``, ``demand_bps`` and, where the file has one, ``time``; and
        what was read in a way that the file does not state.
    """
    if not file.demands:
        raise wrong(f"{file.path} has no demands")
    factor, notes = file.unit()
    demands: dict[tuple[str, str], tuple[int, float]] = {}
    for line_number, a, b, value in file.demands:
        if a != b:
            line, before = demands.get((a, b), (line_number, 0.0))
            demands[a, b] = line, before + factor * value
    time = {"time": file.meta["time"]} if "time" in file.meta else {}
    rows = [
        (line, {"source": a, "target": b, "demand_bps": repr(value), **time})
        for (a, b), (line, value) in demands.items()
    ]
    return rows, notes


def read_xml(path: Path, content: IO[bytes]) -> SndlibFile:
    """Read the XML format.

    Parameters
    ----------
    path
        The file, for messages.
    content
        Its text, known to be well-formed and without entities.

    Raises
    ------
    ScenarioError
        It is no such file; with its line.
    """
    from xml.parsers import expat

    reader = _Xml(SndlibFile(path))
    parser = expat.ParserCreate(namespace_separator=" ")
    reader.parser = parser
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.characters
    parser.ParseFile(content)
    reader.file.check_ends()
    if not reader.file.nodes:
        raise wrong(f"{path} has no nodes; expected a network of SNDlib")
    return reader.file


class _Xml:
    """Gathers a file from the events of its parser."""

    parser: Any

    def __init__(self, file: SndlibFile) -> None:
        self.file = file
        self.text = ""
        self.values: dict[str, str] = {}
        self.inside: list[str] = []
        self.line = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        self.inside.append(name)
        self.text = ""
        if name in ("node", "link", "demand"):
            self.values = {"id": attributes.get("id", "")}
            self.line = self.parser.CurrentLineNumber
        elif name == "nodes":
            self.file.is_geographical = attributes.get("coordinatesType") == "geographical"
        elif name == "addModule":
            self.file.has_modules = True

    def characters(self, text: str) -> None:
        self.text += text

    def end(self, tag: str) -> None:
        name = self.inside.pop()
        parent = self.inside[-1] if self.inside else ""
        text, self.text = self.text.strip(), ""
        if parent == "meta":
            self.file.meta[name] = text
        elif name == "capacity" and parent == "preInstalledModule":
            self.values["installed"] = text
        elif parent in ("node", "coordinates", "link", "demand"):
            self.values.setdefault(name, text)
        add = {"node": self._node, "link": self._link, "demand": self._demand}.get(name)
        if add is not None and parent == f"{name}s":
            add()

    def _value(self, key: str) -> str:
        if key not in self.values:
            self.file.fail(self.line, f"{key} is missing")
        return self.values[key]

    def _number(self, key: str) -> float:
        return self.file.number(self.line, self._value(key))

    def _node(self) -> None:
        name = self._value("id")
        if name in self.file.nodes:
            self.file.fail(self.line, f'two nodes have the id "{name[:40]}"')
        has_place = {"x", "y"} <= {*self.values}
        self.file.nodes[name] = (self._number("x"), self._number("y")) if has_place else None

    def _link(self) -> None:
        installed = self._number("installed") if "installed" in self.values else None
        ends = self._value("source"), self._value("target")
        self.file.links.append((self.line, *ends, installed))

    def _demand(self) -> None:
        unit = self._number("routingUnit") if "routingUnit" in self.values else 1.0
        ends = self._value("source"), self._value("target")
        self.file.demands.append((self.line, *ends, unit * self._number("demandValue")))


def read_native(path: Path, text: str) -> SndlibFile:
    """Read the native format.

    Parameters
    ----------
    path
        The file, for messages.
    text
        Its content.

    Raises
    ------
    ScenarioError
        It is no such file; with its line.
    """
    file = SndlibFile(path)
    add = {"NODES": _native_node, "LINKS": _native_link, "DEMANDS": _native_demand}
    for section, line, tokens in _entries(file, text):
        if section == "META":
            key, _, value = " ".join(tokens).partition("=")
            file.meta[key.strip().lower()] = value.strip()
        elif section in add:
            add[section](file, line, tokens)
    file.check_ends()
    if not file.nodes:
        raise wrong(f"{path} has no nodes; expected a network of SNDlib")
    return file


def _entries(file: SndlibFile, text: str) -> Iterator[tuple[str, int, list[str]]]:
    """Each line within a section: the section, the line's number, its words and brackets."""
    section, depth = "", 0
    for number, line in enumerate(text.splitlines(), 1):
        tokens = re.findall(r"[()]|[^\s()]+", line.partition("#")[0])
        if not tokens or tokens[0].startswith("?"):
            continue
        if not depth:
            if len(tokens) != 2 or tokens[1] != "(":
                file.fail(number, f'found "{line.strip()[:40]}"; expected a section, as NODES (')
            section, depth = tokens[0], 1
            continue
        before = depth
        depth += tokens.count("(") - tokens.count(")")
        if before == 1 and depth == 1:
            yield section, number, tokens
        elif depth < 0:
            file.fail(number, "closes a bracket that was not opened")


def _native_node(file: SndlibFile, line: int, words: list[str]) -> None:
    if len(words) not in (1, 5):
        file.fail(line, "is no node; expected NAME ( X Y )")
    if words[0] in file.nodes:
        file.fail(line, f'two nodes have the id "{words[0][:40]}"')
    place = [file.number(line, word) for word in words[2:4]]
    file.nodes[words[0]] = (place[0], place[1]) if place else None


def _native_link(file: SndlibFile, line: int, words: list[str]) -> None:
    if len(words) < 6 or (words[1], words[4]) != ("(", ")"):
        file.fail(line, "is no link; expected NAME ( A B ) CAPACITY and more")
    file.links.append((line, words[2], words[3], file.number(line, words[5]) or None))
    modules = words[words.index("(", 5) :] if "(" in words[5:] else []
    file.has_modules |= len(modules) > 2


def _native_demand(file: SndlibFile, line: int, words: list[str]) -> None:
    if len(words) < 7 or (words[1], words[4]) != ("(", ")"):
        file.fail(line, "is no demand; expected NAME ( A B ) ROUTING_UNIT VALUE and more")
    unit, value = (file.number(line, word) for word in words[5:7])
    file.demands.append((line, words[2], words[3], unit * value))
