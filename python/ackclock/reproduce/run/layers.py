"""Turns the rows of a figure's queries into what is drawn: means with intervals."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.errors import Problem
from ackclock.reproduce.read.folder import PaperError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ackclock.reproduce.figure import Figure
    from ackclock.reproduce.run.database import Database

__all__ = ["LAYERS", "DrawnLayer", "csv_columns", "layers", "order_values"]

LAYERS = ("data", "model", "printed")
"""Queries of a figure: ours, curves of a model, the paper's values."""

_NEEDED = {
    "line": ("x", "y"),
    "scatter": ("x", "y"),
    "bar": ("x", "y"),
    "matrix": ("x", "y", "value"),
    "map": ("x", "y"),
    "table": (),
}

_KEYS = {
    "line": ("panel", "series", "x"),
    "scatter": ("panel", "series", "x"),
    "bar": ("panel", "series", "x"),
    "matrix": ("panel", "x", "y"),
}
"""Columns by which rows are the same place, so that replicates are joined."""


@dataclass(frozen=True)
class DrawnLayer:
    """One thing that is drawn.

    Parameters
    ----------
    columns
        Columns of the query, with the mean in place of single values.
    low, high
        Interval; NaN if there is none.
    count
        Replicates.
    """

    columns: Mapping[str, Any]
    low: float
    high: float
    count: int

    def __getitem__(self, name: str) -> Any:
        return self.columns.get(name)


def layers(figure: Figure, database: Database) -> dict[str, list[DrawnLayer]]:
    """Run a figure's queries.

    Parameters
    ----------
    figure
        The figure.
    database
        Has the tables of the studies.

    Raises
    ------
    PaperError
        A query is wrong, or lacks a column.
    """
    kind = figure.entry["kind"]
    rows_by_layer = {}
    for layer in LAYERS:
        if layer in figure.entry:
            key_path = f"figure[{figure.id}].{layer}"
            table = database.query(figure.entry[layer], figure.file, key_path)
            missing = [name for name in _NEEDED[kind] if name not in table.column_names]
            if missing:
                names = ", ".join(table.column_names)
                message = f'gives no column "{missing[0]}"; it gives {names}'
                raise PaperError([Problem(key_path, message, str(figure.file))])
            rows = _join_replicates(kind, table.to_pylist())
            _numbers(figure, kind, key_path, rows)
            rows_by_layer[layer] = rows
    return rows_by_layer


def _join_replicates(kind: str, rows: list[dict[str, Any]]) -> list[DrawnLayer]:
    """Rows that differ in their replicate only, as a mean with its interval."""
    from ackclock.experiments.statistics import mean_interval

    mean_of = "value" if kind == "matrix" else "y"
    nan = float("nan")
    if kind not in _KEYS or not rows or "replicate" not in rows[0]:
        return [DrawnLayer(row, _real(row.get("low")), _real(row.get("high")), 1) for row in rows]
    groups: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
    for row in rows:
        groups.setdefault(tuple(row.get(key) for key in _KEYS[kind]), []).append(row)
    joined_rows = []
    for group in groups.values():
        values = [row[mean_of] for row in group]
        first = {key: value for key, value in group[0].items() if key != "replicate"}
        if any(value is None or isinstance(value, str) for value in values):
            joined_rows.append(DrawnLayer(first, nan, nan, len(group)))
            continue
        mean, low, high = mean_interval([float(value) for value in values])
        joined_rows.append(DrawnLayer({**first, mean_of: mean}, low, high, len(group)))
    return joined_rows


def _real(value: Any) -> float:
    return float("nan") if value is None else float(value)


def _numbers(figure: Figure, kind: str, place: str, rows: Iterable[DrawnLayer]) -> None:
    """What is drawn against a scale must be numbers."""
    needed = {"line": ("x", "y"), "scatter": ("x", "y"), "bar": ("y",), "map": ("x", "y")}
    for row in rows:
        for name in needed.get(kind, ()):
            if row[name] is not None and isinstance(row[name], str | bool):
                message = f"column {name} has the value {row[name]!r}; expected a number"
                raise PaperError([Problem(place, message, str(figure.file))])


def order_values(values: Iterable[Any], first: Sequence[Any] = ()) -> list[Any]:
    """Give distinct values: those named first, then the others as they come.

    Parameters
    ----------
    values
        With repetitions.
    first
        The order that is wanted.
    """
    there = list(dict.fromkeys(values))
    named = [value for value in first if value in there]
    return [*named, *(value for value in there if value not in named)]


def csv_columns(
    figure: Figure, rows_by_layer: Mapping[str, Sequence[DrawnLayer]]
) -> list[dict[str, Any]]:
    """Give the rows of the CSV file behind a figure.

    Parameters
    ----------
    figure
        The figure.
    rows_by_layer
        Its layers.
    """
    rows = []
    intervals = any(not math.isnan(row.low) for layer in rows_by_layer.values() for row in layer)
    for layer, content in rows_by_layer.items():
        for row in content:
            out: dict[str, Any] = {"layer": layer} if len(rows_by_layer) > 1 else {}
            out |= {key: value for key, value in row.columns.items() if key not in ("low", "high")}
            if intervals and figure.entry["kind"] in _KEYS:
                ends = (row.low, row.high)
                out["low"], out["high"] = (None if math.isnan(end) else end for end in ends)
                out["replicates"] = row.count
            rows.append(out)
    return rows
