"""Trace files: what a scenario names by a file and the core wants as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util import csv_rows
from ackclock._util.foreign_files import ForeignFileError, read_bytes
from ackclock._util.units import parse, quantity_problem
from ackclock.catalogue import schema
from ackclock.errors import Problem, ScenarioError
from ackclock.scenario.plain_csv import plain_columns

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

__all__ = ["Rows", "delivery", "resolve_replayed", "to_tables"]

_MOST_MS = 9_000_000_000
"""What a scenario may last, in milliseconds."""

_EXACT = 2**53
"""Up to here each whole number is a float."""

_MOST_REPORTED = 20
"""Most problems of a file that are reported."""


class Rows(list[tuple[float, ...]]):
    """Entries of a list as the core takes them too: values in the order of its fields.

    As text they are a third of tables with names, and made in a third of the time.

    Parameters
    ----------
    rows
        The entries.
    names
        Of the fields: the first ones, none left out.
    """

    def __init__(self, rows: Iterable[tuple[float, ...]], names: Sequence[str]) -> None:
        super().__init__(rows)
        self.names = tuple(names)

    def tables(self) -> list[dict[str, float]]:
        """Give the entries as tables, as a person writes them."""
        return [dict(zip(self.names, row, strict=True)) for row in self]


def to_tables(data: schema.Data) -> schema.Data:
    """Copy a scenario with entries that are `Rows` as tables; give it back if it has none.

    Parameters
    ----------
    data
        The scenario; is not changed.
    """

    def change_table(table: schema.Data, key: str) -> schema.Data:
        spec = table.get(key)
        if not isinstance(spec, dict):
            return table
        made = {n: v.tables() for n, v in spec.items() if isinstance(v, Rows)}
        return {**table, key: {**spec, **made}} if made else table

    made = dict(data)
    if "flows" in made:
        made["flows"] = [change_table(flow, "source") for flow in made["flows"]]
    if "traffic" in made:
        made["traffic"] = [
            change_table({**one, "flow": change_table(one["flow"], "source")}, "generator")
            if isinstance(one.get("flow"), dict)
            else change_table(one, "generator")
            for one in made["traffic"]
        ]
    return made


def resolve_replayed(room: str, spec: schema.Data, folder: Path, where: str) -> schema.Data:
    """Copy an algorithm that replays a file as one that replays a list.

    Parameters
    ----------
    room
        Its room.
    spec
        The algorithm with ``file``, a CSV file with a column for each key of an entry; an empty
        cell is a key left out.
    folder
        What the file is relative to.
    where
        Path of the algorithm in the scenario.

    Raises
    ------
    ScenarioError
        The file cannot be read or a value is wrong; the message names file and line.
    """
    key = str(schema.find_replayed_parameter(room, spec["kind"]))
    rest = {name: value for name, value in spec.items() if name != "file"}
    where = f"{where}.file"
    if key in rest:
        message = f"names a list beside {key}; expected one of them"
        raise ScenarioError([Problem(where, message)])
    path = folder / spec["file"]
    entry = schema.entries(room, spec["kind"])
    rules = entry["properties"]
    plain = _plain_entries(path, entry)
    if plain is not None:
        return {**rest, key: plain}
    try:
        quantities = {n: rule.get("x-quantity", "number") for n, rule in rules.items()}
        needed = ((name,) for name in entry["required"])
        rows = csv_rows.rows(path, *needed, quantities=quantities)
    except csv_rows.CsvError as error:
        raise ScenarioError([Problem(where, error.of(path))]) from None
    problems, entries, last = [], [], 0.0
    for line, row in rows:
        one = {name: row[name] for name in rules if row.get(name)}
        reported = ((name, _wrong(name, one, entry)) for name in rules)
        wrong = [f"{name}: {message}" for name, message in reported if message]
        if not wrong:
            values = {name: _value(one[name], rules[name]) for name in one}
            entries.append(values)
            if values["at"] < last:
                wrong = [f"at: {one['at']} is before the line above; expected times in order"]
            last = values["at"]
        problems += [Problem(where, f"{path}, line {line}: {message}") for message in wrong]
    if problems:
        raise ScenarioError(problems[:_MOST_REPORTED])
    return {**rest, key: entries}


def _plain_entries(path: Path, entry: schema.Data) -> Rows | list[dict[str, float]] | None:
    """Read a file in which nothing is wrong and all values are plain numbers, column by column.

    Files of a million lines are of this kind. None for any other, which is read row by row.
    """
    import numpy as np

    rules = entry["properties"]
    quantities = {name: rule.get("x-quantity") for name, rule in rules.items()}
    kinds = {name: float if quantity else int for name, quantity in quantities.items()}
    columns = plain_columns(path, kinds)
    if columns is None or not {*entry["required"]} <= {*columns}:
        return None
    values: dict[str, list[float]] = {}
    for name, column in columns.items():
        quantity = quantities[name]
        if quantity is not None and quantity_problem(float(column.max()), quantity):
            return None
        if name == "at" and bool((np.diff(column) < 0).any()):
            return None
        if quantity == "size":
            if column.max() > _EXACT:
                return None
            values[name] = np.rint(column).astype(np.int64).tolist()
        else:
            values[name] = column.tolist()
    names = [name for name in rules if name in values]
    rows = zip(*(values[name] for name in names), strict=True)
    if names == list(rules)[: len(names)]:
        return Rows(rows, names)
    # A key that is left out has no place in a row.
    return [dict(zip(names, row, strict=True)) for row in rows]


def _wrong(name: str, row: dict[str, str], entry: schema.Data) -> str | None:
    if name not in row:
        return "is empty; expected a value" if name in entry["required"] else None
    quantity = entry["properties"][name].get("x-quantity")
    if quantity is None:
        whole = row[name].strip().isdecimal()
        return None if whole else f'"{row[name]}" is not a whole number'
    return quantity_problem(row[name], quantity)


def _value(text: str, rules: schema.Data) -> float:
    quantity = rules.get("x-quantity")
    if quantity is None:
        return int(text)
    value = parse(text, quantity)
    return round(value) if quantity == "size" else value


def delivery(file: Path, where: str) -> list[int]:
    """Read a Mahimahi packet-delivery trace.

    Parameters
    ----------
    file
        One time in milliseconds per line.
    where
        Path in the scenario, for messages.

    Raises
    ------
    ScenarioError
        The file cannot be read or is no such trace; the message names file and line.
    """

    def wrong(message: str) -> ScenarioError:
        return ScenarioError([Problem(where, message)])

    try:
        lines = read_bytes(file, links=True).decode("ascii").splitlines()
    except OSError as error:
        raise wrong(f"cannot read {file}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise wrong(f"{file} is not text; expected one time in milliseconds per line") from None
    except ForeignFileError as error:
        raise wrong(f"cannot read {file}: {error.reason}") from None
    except ValueError as error:  # a path with a null character
        raise wrong(f"cannot read {file}: {error}") from None
    times: list[int] = []
    for number, line in enumerate(lines, start=1):
        text = line.strip()
        if not text:
            continue
        before = times[-1] if times else 0
        # More digits than any time has; Python refuses to read very many.
        time = int(text[:20]) if text.isdigit() else -1
        if time < before:
            reported = f'{file}, line {number}: "{text[:20]}" is not a whole number of milliseconds'
            raise wrong(f"{reported} that is at least the one before ({before})")
        if time > _MOST_MS:
            reported = f'{file}, line {number}: "{text[:20]}" is out of range'
            raise wrong(f"{reported}; expected at most {_MOST_MS} ms")
        times.append(time)
    if not times or times[-1] == 0:
        raise wrong(f"{file} has no time after 0 ms; expected one time in milliseconds per line")
    return times
