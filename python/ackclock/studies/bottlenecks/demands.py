"""Demands on a network: a matrix, matrices over time, or a gravity model."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ackclock._util import csv_rows
from ackclock._util.units import bare_or_rate
from ackclock.engines.fluid.graph import Traffic
from ackclock.engines.fluid.patterns import COLUMNS, TIME, check_demand
from ackclock.errors import Problem, ScenarioError, suggestion
from ackclock.scenario.matrix_columns import MatrixColumns, number_by_first, read_matrix
from ackclock.scenario.memory import SHARE, excess

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.studies.bottlenecks.operators import Network

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]
    Cells = npt.NDArray[np.int64]

__all__ = ["MOST_FLOWS", "Demands", "FileProblems", "check_memory", "check_series", "gravity",
           "lines_of", "read_series", "series_problems"]  # fmt: skip

_SOURCE, _TARGET, _DEMAND = COLUMNS
_FLOWS = ("flows",)
_QUANTITIES = {
    **dict.fromkeys((*_DEMAND, "out_bps", "volume_bps", "in_bps"), "rate"),
    "flows": "number",
}
MOST_FLOWS = 20_000_000
"""Flows that routers hash: the paths of those to one destination are in memory."""
_MOST_REPORTED = 20


@dataclass(frozen=True)
class Demands:
    """Volumes between pairs of nodes, at one time or several.

    Parameters
    ----------
    source, target
        Node numbers of each pair, ``(n_pairs,)``.
    times
        What each time is called, in the order of the file; one empty name where there is no time.
    volume
        Demand [bit/s] of each pair at each time, ``(n_times, n_pairs)``.
    flows
        Number of flows of each pair at each time, 0 where the file gives none; left out: nowhere.
    file
        The file that they were read from.
    option
        What named the file: ``demands`` or ``gravity``.
    notes
        What was read in a way that the file does not state, a sentence each.
    """

    source: Ids
    target: Ids
    times: tuple[str, ...]
    volume: Floats
    flows: Ids | None = None
    file: Path | None = None
    option: str = "demands"
    notes: tuple[str, ...] = ()

    def traffic(self, time: int) -> Traffic:
        """Take the demands of one time as flows, those of 0 left out.

        Parameters
        ----------
        time
            Its number.
        """
        some = np.flatnonzero(self.volume[time] > 0)
        return Traffic(self.source[some], self.target[some], self.volume[time, some])

    def at(self, time: str | None) -> int:
        """Find a time by its name.

        Parameters
        ----------
        time
            Its name, or the only one that ends in it, such as ``20:00``; None: the time at which
            most is demanded.

        Returns
        -------
        int
            Its number.

        Raises
        ------
        ScenarioError
            There is no such time, or there are several.
        """
        if time is None:
            return int(self.volume.sum(axis=1).argmax())
        matches = [i for i, name in enumerate(self.times) if name == time]
        matches = matches or [
            i for i, name in enumerate(self.times) if name.removesuffix("Z").endswith(time)
        ]
        if len(matches) == 1:
            return matches[0]
        if not any(self.times):
            message = "the demands have no times; expected a file with a column time"
        elif matches:
            message = f'"{time}" is the end of {len(matches)} times; expected one, with its date'
        else:
            message = f'there is no time "{time}"; {suggestion(time, self.times)}'
        raise ScenarioError([Problem("--at", message)])


class FileProblems:
    """Problems of one file by line; a long list is cut and counted.

    Parameters
    ----------
    path
        The file.
    key
        The option that named it.
    """

    def __init__(self, path: Path, key: str) -> None:
        self.path, self.key = path, key
        self.problems: list[Problem] = []
        self.more = 0

    def add(self, line: int, message: str) -> None:
        """Keep a problem.

        Parameters
        ----------
        line
            Its line.
        message
            What is wrong.
        """
        if len(self.problems) < _MOST_REPORTED:
            self.problems.append(Problem(self.key, f"line {line}: {message}", str(self.path)))
        else:
            self.more += 1

    def check(self) -> None:
        """Refuse the file if it has problems.

        Raises
        ------
        ScenarioError
            All of them.
        """
        if found := self.list_reported():
            raise ScenarioError(found)

    def list_reported(self) -> list[Problem]:
        """Those that are reported, and how many there are besides."""
        more = [Problem(self.key, f"and {self.more} more", str(self.path))] if self.more else []
        return [*self.problems, *more]


def _rows(path: Path, key: str, *needed: tuple[str, ...]) -> list[csv_rows.Row]:
    try:
        return csv_rows.rows(path, *needed, quantities=_QUANTITIES)
    except csv_rows.CsvError as error:
        raise ScenarioError([Problem(key, error.of(path))]) from None


def _value(row: dict[str, str], names: tuple[str, ...]) -> str:
    return next((row[name] for name in names if name in row), "")


def read_series(network: Network, path: str | Path, *, scale: float = 1.0) -> Demands:
    """Read demands, for one time or for several.

    Parameters
    ----------
    network
        The network; the file may use names or ids of its nodes.
    path
        CSV with source, target, demand_bps (a number, or text such as ``2 Gbps``), for several
        matrices time, and where routers hash flows their number, flows. A pair that a time does not
        list demands nothing then. Or demands of SNDlib (XML or native; the file of the network has
        them too) or Repetita (``.demands``).
    scale
        Factor on every demand.

    Raises
    ------
    ScenarioError
        The file cannot be read; every unknown node, pair of a node with itself, repeated pair,
        demand that is no finite number of 0 or more, and number of flows that is none, with its
        line.
    """
    demands, problems = check_series(network, path, scale=scale)
    problems.check()
    if demands is None:
        raise ScenarioError([Problem("demands", "has no demand above 0", str(path))])
    return demands


def check_series(
    network: Network, path: str | Path, *, scale: float = 1.0
) -> tuple[Demands | None, FileProblems]:
    """Read the demands in which nothing is wrong.

    Parameters
    ----------
    network, path, scale
        As of `read_series`.

    Returns
    -------
    tuple
        The demands of the rows in which nothing is wrong, None where there are none above 0; and
        what is wrong with the others.

    Raises
    ------
    ScenarioError
        The file cannot be read.
    """
    file = Path(path)
    number = network.numbers()
    plain = read_matrix(file, number, (_SOURCE, _TARGET, _DEMAND), TIME, _FLOWS)
    if plain is not None:
        plain_demands = _plain_series(plain, file, scale)
        if plain_demands is not None:
            return plain_demands, FileProblems(file, "demands")
    rows, notes = _demand_rows(file)
    cells, problems = _cells(rows, number, file)
    if not cells:
        return None, problems
    times: dict[str, int] = {}
    pairs: dict[tuple[int, int], int] = {}
    numbered = [
        (times.setdefault(time, len(times)), pairs.setdefault(pair, len(pairs)), value, flows)
        for time, pair, value, flows in cells
    ]
    time_index, of, values, counts = (np.array(column) for column in zip(*numbered, strict=True))
    if not (values > 0).any():
        return None, problems
    ends = np.array(list(pairs), dtype=np.uint32)
    read_demands = _series(ends, tuple(times), (time_index, of, values * scale, counts), file)
    return replace(read_demands, notes=notes), problems


Cell = tuple[str, tuple[int, int], float, int]
"""Time, pair of nodes, demand, flows."""


def _cells(
    rows: list[csv_rows.Row], number: dict[str, int], file: Path
) -> tuple[list[Cell], FileProblems]:
    """Cells of the rows in which nothing is wrong, and what is wrong with the others."""
    problems = FileProblems(file, "demands")
    line_of_cell: dict[tuple[str, tuple[int, int]], int] = {}
    cells: list[Cell] = []
    for line, row in rows:
        a, b = _value(row, _SOURCE).strip(), _value(row, _TARGET).strip()
        value, messages = check_demand(number, a, b, _value(row, _DEMAND))
        flows = _count(_value(row, _FLOWS))
        if flows is None:
            messages.append(_wrong_count(a, b, row))
        for message in messages:
            problems.add(line, message)
        if messages or number[a] == number[b]:
            continue
        time, pair = _value(row, TIME), (number[a], number[b])
        if (time, pair) in line_of_cell:
            problems.add(line, f"{a} to {b} is there already: line {line_of_cell[time, pair]}")
        line_of_cell[time, pair] = line
        cells.append((time, pair, value, flows or 0))
    return cells, problems


def _demand_rows(path: Path) -> tuple[list[csv_rows.Row], tuple[str, ...]]:
    """Rows of a file of any format, and what was read in a way that it does not state."""
    foreign = _foreign(path)
    return (_rows(path, "demands", _SOURCE, _TARGET, _DEMAND), ()) if foreign is None else foreign


def _foreign(path: Path) -> tuple[list[csv_rows.Row], tuple[str, ...]] | None:
    """Rows of a file in another format than CSV, and notes; None for CSV."""
    from ackclock.scenario.networks.graph_files import read_foreign_demands

    try:
        return read_foreign_demands(path)
    except ScenarioError as error:
        # The sentence names the file.
        raise ScenarioError([Problem("demands", p.message) for p in error.problems]) from None


def _wrong_count(a: str, b: str, row: dict[str, str]) -> str:
    given = _value(row, _FLOWS)
    expected = f"a whole number, 1 to {MOST_FLOWS:,}"
    return f'the flows from {a} to {b} are "{given}"; expected {expected}'


def _count(given: str) -> int | None:
    """Read a number of flows; 0 where it is left out, None where it is none."""
    text = given.strip()
    if not text:
        return 0
    try:
        value = float(text)
    except ValueError:
        return None
    return int(value) if 1 <= value <= MOST_FLOWS and value == int(value) else None


def lines_of(network: Network, demands: Demands, time: int) -> dict[tuple[int, int], int]:
    """Find the line of each pair in the file that demands were read from.

    Parameters
    ----------
    network
        The network.
    demands
        Demands, whose file is read again.
    time
        Number of the time whose lines are sought; of a pair that it does not list, the first.

    Returns
    -------
    dict
        Lines by source and target; of a gravity model that of the source. Empty where there is no
        file, or it is another now.
    """
    if demands.file is None:
        return {}
    number = network.numbers()
    line_of_pair: dict[tuple[int, int], int] = {}
    try:
        foreign = _foreign(demands.file)
        rows = csv_rows.rows(demands.file) if foreign is None else foreign[0]
    except (csv_rows.CsvError, ScenarioError):
        return {}
    if demands.option == "gravity":
        line = {
            number.get(row.get("node", "").strip(), -1): line_number for line_number, row in rows
        }
        pairs = zip(demands.source.tolist(), demands.target.tolist(), strict=True)
        return {(a, b): line[a] for a, b in pairs if a in line}
    for line_number, row in rows:
        a, b = (number.get(_value(row, names).strip(), -1) for names in (_SOURCE, _TARGET))
        if _value(row, TIME) == demands.times[time]:
            line_of_pair[a, b] = line_number
        else:
            line_of_pair.setdefault((a, b), line_number)
    return line_of_pair


def series_problems(path: str | Path) -> list[Problem]:
    """Find what is wrong with a file of demands by itself, where its network is not to be had.

    Parameters
    ----------
    path
        As of `read_series`.
    """
    file = Path(path)
    try:
        rows, _ = _demand_rows(file)
    except ScenarioError as error:
        return list(error.problems)
    number: dict[str, int] = {}
    for _, row in rows:
        for name in (_value(row, _SOURCE).strip(), _value(row, _TARGET).strip()):
            if name:
                number.setdefault(name, len(number))
    return _cells(rows, number, file)[1].list_reported()


def _series(
    ends: Ids, times: tuple[str, ...], cells: tuple[Cells, Cells, Floats, Cells], file: Path
) -> Demands:
    """Make demands of the pairs, and of cells by time and pair: volumes and numbers of flows."""
    check_memory(len(times), len(ends), file)
    volume = np.zeros((len(times), len(ends)))
    volume[cells[0], cells[1]] = cells[2]
    flows = None
    if cells[3].any():
        flows = np.zeros(volume.shape, dtype=np.uint32)
        flows[cells[0], cells[1]] = cells[3]
    positive = volume.any(axis=0)
    if not positive.any():
        raise ScenarioError([Problem("demands", "has no demand above 0", str(file))])
    ends = ends[positive]
    return Demands(
        np.ascontiguousarray(ends[:, 0]),
        np.ascontiguousarray(ends[:, 1]),
        times,
        np.ascontiguousarray(volume[:, positive]),
        None if flows is None else np.ascontiguousarray(flows[:, positive]),
        file,
    )


def check_memory(times: int, pairs: int, file: Path | None) -> None:
    """Refuse a table that does not fit into memory; it is there twice for a moment.

    Parameters
    ----------
    times, pairs
        Its size.
    file
        Where it comes from.

    Raises
    ------
    ScenarioError
        It does not fit.
    """
    if memory := excess(16.0 * times * pairs):
        message = (
            f"has {times:,} times and {pairs:,} pairs, a table that needs {memory} ({SHARE});"
            " expected fewer times or pairs"
        )
        raise ScenarioError([Problem("demands", message, None if file is None else str(file))])


def _plain_series(rows: MatrixColumns, file: Path, scale: float) -> Demands | None:
    """Make demands of a large file in which nothing is wrong; None where a pair is repeated."""
    rows = rows.others()
    if not len(rows.demand) or rows.repeats() or (rows.flows > MOST_FLOWS).any():
        return None
    # A pair of a node with itself counts for nothing, so a time with no other pairs is left out.
    first_rows, time = number_by_first(rows.time)
    pairs, pair = number_by_first(rows.pairs)
    ends = np.stack([pairs >> 32, pairs & 0xFFFFFFFF], axis=1).astype(np.uint32)
    times = tuple(rows.times[i] for i in first_rows.tolist())
    return _series(ends, times, (time, pair, rows.demand * scale, rows.flows), file)


def gravity(network: Network, path: str | Path, *, scale: float = 1.0) -> Demands:
    """Spread what nodes send and receive over pairs: ``out_a in_b / (sum of in - in_a)``.

    Each node's traffic goes to the others in proportion to what these receive, and none to itself.
    What a node sends is met exactly; what it receives follows from the model.

    Parameters
    ----------
    network
        The network.
    path
        CSV with node, out_bps and, where it differs, in_bps.
    scale
        Factor on every demand.

    Raises
    ------
    ScenarioError
        The file cannot be read; every unknown or repeated node and volume that is no finite number
        of 0 or more, with its line; fewer than two nodes send and receive.
    """
    file = Path(path)
    number = network.numbers()
    problems = FileProblems(file, "gravity")
    sent, received = np.zeros(len(network.graph.nodes)), np.zeros(len(network.graph.nodes))
    line_of_node: dict[int, int] = {}
    for line, row in _rows(file, "gravity", ("node",), ("out_bps", "volume_bps")):
        name = row["node"].strip()
        if name not in number:
            problems.add(line, f'there is no node "{name}"; {suggestion(name, number)}')
            continue
        node = number[name]
        if node in line_of_node:
            problems.add(line, f'"{name}" is there already: line {line_of_node[node]}')
        line_of_node[node] = line
        out = _value(row, ("out_bps", "volume_bps"))
        for volume_text, into in ((out, sent), (row.get("in_bps") or out, received)):
            value = bare_or_rate(volume_text)
            if math.isfinite(value) and value >= 0:
                into[node] = value * scale
            else:
                problems.add(line, f'the volume of "{name}" is "{volume_text}"; expected 0 or more')
    problems.check()
    senders, receivers = (np.flatnonzero(of).astype(np.uint32) for of in (sent, received))
    check_memory(1, len(senders) * len(receivers), file)
    source = np.repeat(senders, len(receivers))
    target = np.tile(receivers, len(senders))
    source, target = source[source != target], target[source != target]
    if not len(source):
        message = "has fewer than two nodes that send and receive"
        raise ScenarioError([Problem("gravity", message, str(file))])
    received_by_others = received.sum() - received
    volume = sent[source] * received[target] / received_by_others[source]
    return Demands(source, target, ("",), volume[None, :], None, file, "gravity")
