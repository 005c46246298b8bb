"""Traffic of fluid cases that is drawn by a pattern, or read from a matrix."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Annotated, Any, Required, TypedDict

import numpy as np

from ackclock._util import csv_rows
from ackclock._util.units import bare_or_rate
from ackclock.catalogue.entries import Algorithm, Key, Rate
from ackclock.engines.fluid.generator import Generator
from ackclock.engines.fluid.graph import Traffic, unknown_node
from ackclock.errors import Problem, ScenarioError, suggestion
from ackclock.scenario.matrix_columns import read_matrix
from ackclock.scenario.networks.graph_files import read_foreign_demands

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.engines.fluid.graph import Graph

    Row = tuple[str, str, str, Any]
    """Its place in the document, from, to, demand."""

__all__ = [
    "COLUMNS",
    "MATRIX",
    "PATTERN",
    "TIME",
    "check_demand",
    "demands_of",
    "draw_flows",
    "from_matrix",
    "hosts_of",
    "matrix_rows",
    "plain_traffic",
]


class PatternTraffic(TypedDict, total=False):
    """Flows between hosts drawn by a traffic pattern."""

    between: Required[Annotated[Algorithm, Key(x_room="pattern"), "The pattern."]]
    flows: Annotated[
        int, "How many. Left out: as many as the pattern has by itself.", Key(minimum=1)
    ]
    demand: Annotated[
        Rate,
        "What a flow of weight 1 has to send at most. Left out: no bound.",
        Key(minimum=0, x_bare=True),
    ]
    hosts: Annotated[
        Any,
        'Nodes between which flows go: names, "all", or "leaves" for those with one neighbour. Left'
        " out: the network's hosts, or all nodes where it has none.",
        Key(type=["array", "string"], items={"type": "string"}),
    ]


class MatrixTraffic(TypedDict, total=False):
    """A traffic matrix: a CSV file, or the demands of a network of TopoHub."""

    file: Annotated[str, "CSV with source, target and demand_bps; relative to the case's file."]
    topohub: Annotated[str, "Network there with demands; in Mbit/s."]
    scale: Annotated[float, "Factor on every demand.", Key(exclusiveMinimum=0, default=1.0)]


PATTERN = Generator(PatternTraffic, "ackclock.engines.fluid.patterns:draw_flows", is_random=True)
MATRIX = Generator(MatrixTraffic, "ackclock.engines.fluid.patterns:from_matrix", names_files=True)

COLUMNS = (
    ("source", "src", "from"),
    ("target", "dst", "to", "destination"),
    ("demand_bps", "demand", "bps", "value"),
)
"""Names that the columns of a matrix may have: source, target, demand."""
TIME = ("time", "time_utc")
"""Names of a column with times."""
_QUANTITIES = dict.fromkeys(COLUMNS[2], "rate")


CHOICES = ("all", "leaves")
"""Groups of nodes that ``traffic.hosts`` may name."""


def hosts_of(
    graph: Graph, hosts: str | Sequence[str] | None = None
) -> tuple[npt.NDArray[np.uint32], str]:
    """Find the nodes where flows of a pattern begin and end.

    Parameters
    ----------
    graph
        The network.
    hosts
        Names of nodes; ``all``; ``leaves``, the nodes with one neighbour; None: the network's own
        hosts, or all nodes where it has none.

    Returns
    -------
    tuple
        Numbers of the nodes, and the choice in words.

    Raises
    ------
    ScenarioError
        Every unknown name; there are fewer than two leaves.
    """
    n = len(graph.nodes)
    if hosts is None and graph.hosts is not None:
        return graph.hosts, f"the {len(graph.hosts)} hosts"
    if hosts is None or hosts == "all":
        return np.arange(n, dtype=np.uint32), f"all {n} nodes"
    if hosts == "leaves":
        pairs = {(min(a, b), max(a, b)) for a, b in zip(graph.src, graph.dst, strict=True)}
        ends = np.array(sorted(pairs), dtype=np.int64).reshape(-1)
        leaves = np.flatnonzero(np.bincount(ends, minlength=n) == 1).astype(np.uint32)
        if len(leaves) < 2:
            message = f'is "leaves", but {len(leaves)} of {n} nodes have one neighbour; expected 2'
            raise ScenarioError([Problem("traffic.hosts", message)])
        return leaves, f"the {len(leaves)} leaves, the nodes with one neighbour"
    if isinstance(hosts, str):
        message = f'is "{hosts}"; expected names of nodes, or {suggestion(hosts, CHOICES)}'
        raise ScenarioError([Problem("traffic.hosts", message)])
    number = {name: i for i, name in enumerate(graph.nodes)}
    unknown = [
        Problem(f"traffic.hosts[{i}]", unknown_node(name, number))
        for i, name in enumerate(hosts)
        if name not in number
    ]
    if unknown:
        raise ScenarioError(unknown)
    return np.array([number[name] for name in hosts], dtype=np.uint32), f"{len(hosts)} nodes"


def draw_flows(parameters: dict[str, Any], graph: Graph, seed: int) -> Traffic:
    """Draw flows by a pattern.

    Parameters
    ----------
    parameters
        ``between``, ``flows``, ``demand``, ``hosts``.
    graph
        The network.
    seed
        Other seeds, other flows.

    Raises
    ------
    ScenarioError
        Every unknown host; what the pattern refuses.
    """
    from ackclock import _core
    from ackclock._util.units import parse
    from ackclock.engines.fluid.memory import check_flows

    hosts, ends = hosts_of(graph, parameters.get("hosts"))
    if "flows" in parameters:
        # Each passes a link at least.
        check_flows(parameters["flows"], parameters["flows"])
    spec = json.dumps(parameters["between"])
    try:
        src, dst, weight = _core.pattern(spec, len(hosts), parameters.get("flows"), seed)
    except _core.InputError as error:
        problems = [
            Problem(**{**item, "path": f"traffic.{item['path']}"})
            for item in json.loads(str(error))
        ]
        raise ScenarioError(problems) from None
    demand = None
    if "demand" in parameters:
        demand = parse(parameters["demand"], "rate") * weight
    return Traffic(hosts[src], hosts[dst], demand, ends=ends)


def matrix_rows(path: Path) -> list[Row]:
    """Read a traffic matrix.

    Parameters
    ----------
    path
        CSV with a head line and a row per pair; columns ``source``, ``target``, ``demand_bps``, or
        ``src``, ``dst``, ``demand``. Or demands of SNDlib or Repetita.

    Raises
    ------
    ScenarioError
        The file cannot be read, or lacks a column.
    """
    try:
        foreign = read_foreign_demands(path)
        if foreign is None:
            rows = csv_rows.rows(path, *COLUMNS, quantities=_QUANTITIES)
        else:
            rows = foreign[0]
    except csv_rows.CsvError as error:
        message = f"line {error.line}: {error}" if error.line else str(error)
        raise ScenarioError([Problem("demands", message, str(path))]) from None
    names = rows[0][1] if rows else {}
    column = next((name for name in TIME if name in names), None)
    if column is not None and len({row[column] for _, row in rows}) > 1:
        message = f"has several times; expected one matrix, or one time in the column {column}"
        raise ScenarioError([Problem("demands", message, str(path))])
    if not rows:
        return []
    a, b, demand = (next(name for name in choice if name in names) for choice in COLUMNS)
    return [(f"line {line}", row[a].strip(), row[b].strip(), row[demand]) for line, row in rows]


def plain_traffic(path: Path, number: Mapping[str, int], scale: float) -> Traffic | None:
    """Read a large matrix in which nothing is wrong by column; None for any other.

    Parameters
    ----------
    path
        As of `matrix_rows`.
    number
        Nodes by what the file may call them.
    scale
        Factor on every demand.

    Returns
    -------
    Traffic
        A flow for each pair with a demand above 0, at least one.
    """
    rows = read_matrix(path, number, COLUMNS, TIME)
    if rows is None or len(rows.times) > 1 or rows.repeats():
        return None
    is_demand = (rows.source != rows.target) & (rows.demand > 0)
    if not is_demand.any():
        return None
    ends = rows.source[is_demand].astype(np.uint32), rows.target[is_demand].astype(np.uint32)
    return Traffic(*ends, rows.demand[is_demand] * scale)


def check_demand(
    number: Mapping[str, int], a: str, b: str, demand: float | str
) -> tuple[float, list[str]]:
    """Check a row of a matrix by itself.

    Parameters
    ----------
    number
        Nodes by name.
    a, b
        Names of its ends.
    demand
        Its demand as it was written [bit/s if it has no unit].

    Returns
    -------
    tuple
        The demand [bit/s], and what is wrong: unknown nodes, a demand that is no finite number of 0
        or more, a node that sends to itself.
    """
    wrong = [
        f'there is no node "{name}"; {suggestion(name, number)}'
        for name in dict.fromkeys((a, b))
        if name not in number
    ]
    value = bare_or_rate(demand)
    if not math.isfinite(value) or value < 0:
        wrong.append(f'the demand from {a} to {b} is "{demand}"; expected 0 or more')
    elif not wrong and number[a] == number[b] and value > 0:
        wrong.append(f'"{a}" sends to itself; expected two different nodes')
    return value, wrong


def demands_of(
    rows: Iterable[Row], nodes: Sequence[str], where: str, file: str | None = None
) -> tuple[dict[tuple[int, int], float], list[Problem]]:
    """Check the rows of a matrix against the nodes of a network.

    Parameters
    ----------
    rows
        For each, its place in the document, its ends and its demand.
    nodes
        Names of nodes.
    where
        Path of the matrix in messages.
    file
        File of the matrix in messages.

    Returns
    -------
    tuple
        Demand by pair of node numbers, zero demands left out; every unknown node, pair of a node
        with itself, repeated pair, and demand that is no finite number of 0 or more.
    """
    number = {name: i for i, name in enumerate(nodes)}
    problems: list[Problem] = []
    line_of_pair: dict[tuple[int, int], str] = {}
    demands: dict[tuple[int, int], float] = {}

    def wrong(line: str, message: str) -> None:
        problems.append(Problem(where, f"{line}: {message}", file))

    for line, a, b, demand in rows:
        value, messages = check_demand(number, a, b, demand)
        for message in messages:
            wrong(line, message)
        # A pair is repeated if a row before it counts.
        if messages:
            continue
        pair = number[a], number[b]
        if pair in line_of_pair:
            wrong(line, f"{a} to {b} is there already: {line_of_pair[pair]}")
        line_of_pair[pair] = line
        if pair[0] != pair[1] and value > 0:
            demands[pair] = value
    return demands, problems


def from_matrix(parameters: dict[str, Any], graph: Graph, seed: int) -> Traffic:
    """Take a flow for every pair of a matrix that has a demand.

    Parameters
    ----------
    parameters
        ``file`` or ``topohub``, ``scale``.
    graph
        The network.
    seed
        Has no effect.

    Raises
    ------
    ScenarioError
        Everything wrong with the matrix.
    """
    del seed
    sources = [key for key in ("file", "topohub") if key in parameters]
    if len(sources) != 1:
        message = "needs one of file and topohub"
        raise ScenarioError([Problem("traffic", message)])
    name = None
    if sources == ["file"]:
        path = parameters["_folder"] / parameters["file"]
        number = {name: i for i, name in enumerate(graph.nodes)}
        plain = plain_traffic(path, number, parameters["scale"])
        if plain is not None:
            return plain
        rows, name = matrix_rows(path), str(path)
    else:
        rows = _topohub_rows(parameters["topohub"])
    demands, problems = demands_of(rows, graph.nodes, "traffic", name)
    if not demands and not problems:
        problems = [Problem("traffic", "the matrix has no demand above 0", name)]
    if problems:
        raise ScenarioError(problems)
    ends = np.array(list(demands), dtype=np.uint32)
    rate = np.array(list(demands.values()), dtype=np.float64)
    return Traffic(ends[:, 0].copy(), ends[:, 1].copy(), rate * parameters["scale"])


def _topohub_rows(name: str) -> list[Row]:
    from ackclock.scenario.networks.graph_import import topohub_json

    data = topohub_json(name)
    demands = data["graph"].get("demands")
    if not demands:
        raise ScenarioError([Problem("traffic.topohub", f'"{name}" comes without demands')])
    names = {str(node["id"]): str(node["name"]) for node in data["nodes"]}
    return [
        (f"demands.{a}.{b}", names[a], names[b], 1e6 * value)
        for a, row in demands.items()
        for b, value in row.items()
    ]
