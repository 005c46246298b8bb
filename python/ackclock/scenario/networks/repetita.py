"""Networks and demands in the format of Repetita (Gay, Schaus, Vissicchio 2017).

A ``.graph`` has a section NODES (label x y) and a section EDGES (label src dest weight bw delay),
a ``.demands`` one section DEMANDS (label src dest bw). Ends are numbers of nodes, bandwidths are in
kbit/s: an OC-192 is 9953280. An edge is one direction.
Delays are not read. They are documented as microseconds; but in the sets of the Topology Zoo they
are 1.67 a kilometre, where light in vacuum takes 3.34 us, and those of Rocketfuel are milliseconds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ackclock.scenario.networks.link_defaults import wrong

if TYPE_CHECKING:
    from pathlib import Path

    import networkx as nx

    from ackclock._util.csv_rows import Row

__all__ = ["read_demands", "read_graph"]

_BPS = 1e3
"""What bandwidths count."""

Line = tuple[int, list[str]]


def read_graph(path: Path, text: str) -> tuple[nx.MultiDiGraph[Any], tuple[str, ...]]:
    """Read a ``.graph``.

    Parameters
    ----------
    path
        The file, for messages.
    text
        Its content.

    Returns
    -------
    tuple
        The graph, whose nodes are their numbers as text, and what was not read.

    Raises
    ------
    ScenarioError
        It is no such file; with its line.
    """
    import networkx as nx

    lines = _lines(text)
    nodes = _section(path, lines, "NODES", 3)
    edges = _section(path, lines, "EDGES", 6)
    graph: nx.MultiDiGraph[Any] = nx.MultiDiGraph()
    positions = [
        tuple(_number(path, line_number, cell) for cell in cells[1:])
        for line_number, cells in nodes
    ]
    # Where places are not known they are all 0.
    is_located = len(set(positions)) > 1
    for number, ((_, cells), (x, y)) in enumerate(zip(nodes, positions, strict=True)):
        position = {"lon": x, "lat": y} if is_located and abs(x) <= 180 and abs(y) <= 90 else {}
        graph.add_node(str(number), name=cells[0], **position)
    for line_number, (_, src, dst, weight, bw, _) in edges:
        ends = [_node(path, line_number, end, len(nodes)) for end in (src, dst)]
        cost, capacity = _number(path, line_number, weight), _number(path, line_number, bw)
        graph.add_edge(*ends, weight=cost, capacity_bps=_BPS * capacity)
    return graph, ("delays of Repetita are not read: their unit differs between its sets",)


def read_demands(path: Path, text: str) -> tuple[list[Row], tuple[str, ...]]:
    """Read a ``.demands``; demands between the same two nodes are added up.

    Parameters
    ----------
    path
        The file, for messages.
    text
        Its content.

    Returns
    -------
    tuple
        Rows with ``source``, ``target`` (numbers of nodes) and ``demand_bps``, and what was left
        out.

    Raises
    ------
    ScenarioError
        It is no such file; with its line.
    """
    demands: dict[tuple[str, str], tuple[int, float]] = {}
    to_itself = 0
    for line_number, (_, src, dst, bw) in _section(path, _lines(text), "DEMANDS", 4):
        a, b = (_node(path, line_number, end, None) for end in (src, dst))
        value = _BPS * _number(path, line_number, bw)
        if value < 0:
            raise wrong(f'{path}, line {line_number}: the demand is "{bw}"; expected 0 or more')
        if a == b:
            to_itself += 1
            continue
        line, before = demands.get((a, b), (line_number, 0.0))
        demands[a, b] = line, before + value
    rows = [
        (line_number, {"source": a, "target": b, "demand_bps": repr(value)})
        for (a, b), (line_number, value) in demands.items()
    ]
    left = f"{to_itself} demands from a node to itself were left out"
    return rows, (left,) if to_itself else ()


def _lines(text: str) -> list[Line]:
    return [(n, line.split()) for n, line in enumerate(text.splitlines(), 1) if line.strip()]


def _section(path: Path, lines: list[Line], name: str, columns: int) -> list[Line]:
    """Take a section off the lines: its number of rows, the head below, the rows."""
    line_number, cells = lines.pop(0) if lines else (1, [])
    if len(cells) != 2 or cells[0] != name or not cells[1].isdecimal():
        head_text = " ".join(cells)[:40]
        raise wrong(
            f'{path}, line {line_number}: found "{head_text}"; expected {name} and their number'
        )
    count = int(cells[1][:9])
    del lines[:1]
    rows = lines[:count]
    del lines[:count]
    if len(rows) < count:
        raise wrong(f"{path}, line {line_number}: states {count} {name}, and has {len(rows)}")
    for line, row in rows:
        if len(row) != columns:
            message = f"has {len(row)} values; expected {columns}"
            raise wrong(f"{path}, line {line}: {message}")
    return rows


def _number(path: Path, line: int, text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise wrong(f'{path}, line {line}: "{text[:40]}" is no number')
    return number


def _node(path: Path, line: int, text: str, count: int | None) -> str:
    if text.isdecimal() and (count is None or int(text[:9]) < count):
        return text
    expected = "the number of one" if count is None else f"a number below {count}"
    raise wrong(f'{path}, line {line}: there is no node "{text[:40]}"; expected {expected}')
