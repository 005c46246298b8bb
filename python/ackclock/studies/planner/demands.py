"""Demands on a network: a matrix, matrices over time, or a gravity model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ackclock._util import csv_rows
from ackclock._util.units import bare_or_rate
from ackclock.engines.fluid.patterns import check_demand
from ackclock.errors import Problem, ScenarioError, suggestion
from ackclock.scenario.matrix_columns import MatrixColumns, number_by_first, read_matrix
from ackclock.scenario.memory import SHARE, excess

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.studies.bottlenecks.operators import Network

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]
    Cells = npt.NDArray[np.int64]

__all__ = ["MOST_FLOWS", "Demands", "FileProblems", "check_memory", "gravity", "lines_of",
           "read_series", "series_problems"]  # fmt: skip

_TIME = ("time", "time_utc")
_SOURCE, _TARGET = ("source", "src", "from"), ("target", "dst", "to")
_DEMAND = ("demand_bps", "demand")
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
    """

    source: Ids
    target: Ids
    times: tuple[str, ...]
    volume: Floats
    flows: Ids | None = None
    file: Path | None = None
    option: str = "demands"

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
        found = [i for i, name in enumerate(self.times) if name == time]
        found = found or [
            i for i, name in enumerate(self.times) if name.removesuffix("Z").endswith(time)
        ]
        if len(found) == 1:
            return found[0]
        if not any(self.times):
            message = "the demands have no times; expected a file with a column time"
        elif found:
            message = f'"{time}" is the end of {len(found)} times; expected one, with its date'
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
        self.found: list[Problem] = []
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
        if len(self.found) < _MOST_REPORTED:
            self.found.append(Problem(self.key, f"line {line}: {message}", str(self.path)))
        else:
            self.more += 1

    def check(self) -> None:
        """Refuse the file if it has problems.

        Raises
        ------
        ScenarioError
            All of them.
        """
        if self.more:
            self.found.append(Problem(self.key, f"and {self.more} more", str(self.path)))
        if self.found:
            raise ScenarioError(self.found)


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
        list demands nothing then.
    scale
        Factor on every demand.

    Raises
    ------
    ScenarioError
        The file cannot be read; every unknown node, pair of a node with itself, repeated pair,
        demand that is no finite number of 0 or more, and number of flows that is none, with its
        line.
    """
    file = Path(path)
    number = network.numbers()
    plain = read_matrix(file, number, (_SOURCE, _TARGET, _DEMAND), _TIME, _FLOWS)
    if plain is not None:
        made = _plain_series(plain, file, scale)
        if made is not None:
            return made
    rows = _rows(file, "demands", _SOURCE, _TARGET, _DEMAND)
    problems = FileProblems(file, "demands")
    times: dict[str, int] = {}
    pairs: dict[tuple[int, int], int] = {}
    seen: dict[tuple[int, int], int] = {}
    cells: list[tuple[int, int, float, int]] = []
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
        time = times.setdefault(_value(row, _TIME), len(times))
        pair = pairs.setdefault((number[a], number[b]), len(pairs))
        if (time, pair) in seen:
            problems.add(line, f"{a} to {b} is there already: line {seen[time, pair]}")
        seen[time, pair] = line
        cells.append((time, pair, value, flows or 0))
    if not cells and not problems.found:
        raise ScenarioError([Problem("demands", "has no demand above 0", str(file))])
    problems.check()
    at, of, values, counts = (np.array(column) for column in zip(*cells, strict=True))
    ends = np.array(list(pairs), dtype=np.uint32)
    return _series(ends, tuple(times), (at, of, values * scale, counts), file)


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
    found: dict[tuple[int, int], int] = {}
    try:
        rows = csv_rows.rows(demands.file)
    except csv_rows.CsvError:
        return {}
    if demands.option == "gravity":
        line = {number.get(row.get("node", "").strip(), -1): at for at, row in rows}
        pairs = zip(demands.source.tolist(), demands.target.tolist(), strict=True)
        return {(a, b): line[a] for a, b in pairs if a in line}
    for at, row in rows:
        a, b = (number.get(_value(row, names).strip(), -1) for names in (_SOURCE, _TARGET))
        if _value(row, _TIME) == demands.times[time]:
            found[a, b] = at
        else:
            found.setdefault((a, b), at)
    return found


def series_problems(path: str | Path) -> list[Problem]:
    """Find what is wrong with a file of demands by itself, where its network is not to be had.

    Parameters
    ----------
    path
        As of `read_series`.
    """
    file = Path(path)
    try:
        rows = _rows(file, "demands", _SOURCE, _TARGET, _DEMAND)
    except ScenarioError as error:
        return list(error.problems)
    ends = [(_value(row, _SOURCE).strip(), _value(row, _TARGET).strip()) for _, row in rows]
    number: dict[str, int] = {}
    for name in (name for pair in ends for name in pair if name):
        number.setdefault(name, len(number))
    problems = FileProblems(file, "demands")
    for (a, b), (line, row) in zip(ends, rows, strict=True):
        for message in check_demand(number, a, b, _value(row, _DEMAND))[1]:
            problems.add(line, message)
        if _count(_value(row, _FLOWS)) is None:
            problems.add(line, _wrong_count(a, b, row))
    return problems.found


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
    at, time = number_by_first(rows.time)
    pairs, pair = number_by_first(rows.pairs)
    ends = np.stack([pairs >> 32, pairs & 0xFFFFFFFF], axis=1).astype(np.uint32)
    times = tuple(rows.times[i] for i in at.tolist())
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
    seen: dict[int, int] = {}
    for line, row in _rows(file, "gravity", ("node",), ("out_bps", "volume_bps")):
        name = row["node"].strip()
        if name not in number:
            problems.add(line, f'there is no node "{name}"; {suggestion(name, number)}')
            continue
        node = number[name]
        if node in seen:
            problems.add(line, f'"{name}" is there already: line {seen[node]}')
        seen[node] = line
        out = _value(row, ("out_bps", "volume_bps"))
        for given, into in ((out, sent), (row.get("in_bps") or out, received)):
            value = bare_or_rate(given)
            if math.isfinite(value) and value >= 0:
                into[node] = value * scale
            else:
                problems.add(line, f'the volume of "{name}" is "{given}"; expected 0 or more')
    problems.check()
    senders, receivers = (np.flatnonzero(of).astype(np.uint32) for of in (sent, received))
    check_memory(1, len(senders) * len(receivers), file)
    source = np.repeat(senders, len(receivers))
    target = np.tile(receivers, len(senders))
    source, target = source[source != target], target[source != target]
    if not len(source):
        message = "has fewer than two nodes that send and receive"
        raise ScenarioError([Problem("gravity", message, str(file))])
    others = received.sum() - received
    volume = sent[source] * received[target] / others[source]
    return Demands(source, target, ("",), volume[None, :], None, file, "gravity")
