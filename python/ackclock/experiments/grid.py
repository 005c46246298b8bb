"""The grid of a sweep: axes of labelled choices, blocks that multiply, points.

A *choice* is a label and the changes that it makes to the case. An *axis* is a named column of
labels. A *block* is a list of rows, one choice per axis of the block; blocks multiply. So one
axis over values is a block of one column, axes that move together are a block of several, and a
list of points is a block too.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util import paths
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Axis", "Block", "Choice", "Label", "Point", "SweepError", "blocks", "points"]

Label = str | int | float | bool | None


class SweepError(AckclockError):
    """The description of a sweep is wrong."""


@dataclass(frozen=True)
class Choice:
    """One place on an axis: its label, and what it changes by path."""

    label: Label
    changes: Mapping[str, Any]


class Axis:
    """An axis with a short name and labels.

    Parameters
    ----------
    path
        What the values are set on, as in ``flows[*].cc``; several paths in a list get the same
        value. None if the values are tables of changes by path.
    values
        The values in order; or a table of label and value.
    labels
        Labels in order; left out: the values, or the names of algorithms.

    Raises
    ------
    SweepError
        There are no values, or labels that do not fit them.

    Examples
    --------
    >>> Axis("flows[*].cc", {"Reno": "aimd", "Vegas": {"kind": "vegas", "alpha": 2}}).labels
    ['Reno', 'Vegas']
    """

    def __init__(
        self,
        path: str | Sequence[str] | None,
        values: Sequence[Any] | Mapping[Any, Any],
        labels: Sequence[Label] | None = None,
    ) -> None:
        from ackclock.catalogue.records import plain

        targets = [path] if isinstance(path, str) else list(path or ())
        if isinstance(values, Mapping):
            if labels is not None:
                raise SweepError("values with names need no labels")
            labels, values = list(values), list(values.values())
        where = f"the axis over {' and '.join(targets)}" if targets else "the axis"
        if isinstance(values, str | bytes) or not isinstance(values, Sequence):
            raise SweepError(f"{where} has {values!r} for values; expected a list")
        if not values:
            raise SweepError(f"{where} has no values; expected at least one")
        plain_values = [plain(value) for value in values]
        axis_labels = list(labels) if labels is not None else _labels(plain_values)
        if len(axis_labels) != len(plain_values):
            raise SweepError(
                f"{where} has {len(plain_values)} values and {len(axis_labels)} labels"
            )
        doubled = sorted({str(label) for label in axis_labels if axis_labels.count(label) > 1})
        if doubled:
            raise SweepError(f'{where} has the label "{doubled[0]}" more than once')
        self.path = path
        self.choices = tuple(
            Choice(label, _changes(targets, value, where))
            for label, value in zip(axis_labels, plain_values, strict=True)
        )

    @property
    def labels(self) -> list[Label]:
        """The labels in order."""
        return [choice.label for choice in self.choices]

    def __repr__(self) -> str:
        return f"Axis({self.path!r}, labels={self.labels!r})"


def _changes(targets: Sequence[str], value: Any, where: str) -> dict[str, Any]:
    if not targets:
        if not isinstance(value, dict) or not value:
            raise SweepError(f"{where} has no path, so each value is a table of changes by path")
        for path in value:
            paths.split(path)
        return value
    return dict.fromkeys(targets, value)


def _labels(values: Sequence[Any]) -> list[Label]:
    """Scalars are their own labels; algorithms and other things get the shortest that differ."""
    if all(isinstance(value, str | int | float | bool) for value in values):
        return list(values)
    short = [_short(value) for value in values]
    if len(set(short)) == len(short):
        return list(short)
    full = [_full(value) for value in values]
    if len(set(full)) == len(full):
        return list(full)
    return [f"{name} {i + 1}" for i, name in enumerate(short)]


def _short(value: Any) -> str:
    if isinstance(value, dict):
        return str(value.get("kind", "table")).rpartition(":")[2]
    if isinstance(value, list):
        return f"{len(value)} entries"
    return str(value)


def _full(value: Any) -> str:
    if isinstance(value, dict) and "kind" in value:
        rest = ", ".join(f"{key}={item}" for key, item in value.items() if key != "kind")
        return f"{_short(value)}({rest})" if rest else _short(value)
    return _short(value)


@dataclass(frozen=True)
class Block:
    """Axes that move together: names, and rows with one choice each."""

    names: tuple[str, ...]
    rows: tuple[tuple[Choice, ...], ...]


@dataclass(frozen=True)
class Point:
    """One place of the grid: its number, labels by axis, and all changes by path."""

    index: int
    labels: Mapping[str, Label]
    changes: Mapping[str, Any]


Over = Mapping[str, Any]


def blocks(over: Over, zipped: Sequence[Over], points: Sequence[Over]) -> tuple[Block, ...]:
    """Make the blocks of a grid.

    Parameters
    ----------
    over
        Axes by path, or by short name if the value is an `Axis` or a table with ``path``.
    zipped
        Groups of such axes, of equal length, that move together.
    points
        Points one by one: values by path, and ``label`` if wanted.

    Raises
    ------
    SweepError
        An axis is empty, or named twice, or a group has axes of different lengths.
    """
    grid_blocks = [
        Block((name,), tuple((choice,) for choice in _axis(name, value).choices))
        for name, value in over.items()
    ]
    for group in zipped:
        grid_blocks += [_zip(group)] if group else []
    grid_blocks += [_list(points)] if points else []
    names = [name for block in grid_blocks for name in block.names]
    for name in names:
        if names.count(name) > 1:
            raise SweepError(f'the axis "{name}" is given more than once')
        if name in ("seed", "replicate", "point"):
            hint = "replications set the seed; request more of them with reps"
            raise SweepError(f'"{name}" cannot be an axis: {hint}')
    return tuple(grid_blocks)


def _axis(name: str, value: Any) -> Axis:
    try:
        if isinstance(value, Axis):
            return value
        if isinstance(value, Mapping):
            wrong = sorted(set(value) - {"path", "paths", "values", "labels"})
            if wrong or "values" not in value:
                trouble = f'"{wrong[0]}" is not a key of an axis' if wrong else "it has no values"
                raise SweepError(f"{trouble}; expected path, values and, if wanted, labels")
            path = value.get("path", value.get("paths"))
            return Axis(path, value["values"], value.get("labels"))
        paths.split(name)
        return Axis(name, value)
    except AckclockError as error:
        text = str(error)
        raise SweepError(text if f"axis over {name}" in text else f"{name}: {text}") from None


def _zip(group: Over) -> Block:
    axes = {name: _axis(name, value) for name, value in group.items()}
    lengths = {name: len(axis.choices) for name, axis in axes.items()}
    if len(set(lengths.values())) > 1:
        text = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise SweepError(f"axes that move together need as many values each: {text}")
    rows = zip(*(axis.choices for axis in axes.values()), strict=True)
    return Block(tuple(axes), tuple(rows))


def _list(entries: Sequence[Over]) -> Block:
    from ackclock.catalogue.records import plain

    for number, entry in enumerate(entries):
        if not isinstance(entry, Mapping):
            raise SweepError(f"point {number + 1} of the list is not a table of values by path")
    has_labels = any("label" in entry for entry in entries)
    point_paths = list(
        dict.fromkeys(path for entry in entries for path in entry if path != "label")
    )
    if has_labels:
        names = [str(entry.get("label", f"point {i + 1}")) for i, entry in enumerate(entries)]
        if len(set(names)) < len(names):
            raise SweepError("two points of the list have the same label")
        rows = []
        for name, entry in zip(names, entries, strict=True):
            changes = {path: plain(value) for path, value in entry.items() if path != "label"}
            rows.append((Choice(name, changes),))
        return Block(("label",), tuple(rows))
    columns = []
    for path in point_paths:
        paths.split(path)
        values = [plain(entry[path]) for entry in entries if path in entry]
        distinct = [value for i, value in enumerate(values) if value not in values[:i]]
        named = list(zip(distinct, _labels(distinct), strict=True))
        column = []
        for entry in entries:
            if path not in entry:
                column.append(Choice(None, {}))
                continue
            value = plain(entry[path])
            label = next(label for other, label in named if other == value)
            column.append(Choice(label, {path: value}))
        columns.append(column)
    return Block(tuple(point_paths), tuple(zip(*columns, strict=True)))


def points(grid: Sequence[Block]) -> Iterator[Point]:
    """Go through the grid, the last block fastest.

    Parameters
    ----------
    grid
        What `blocks` made.
    """
    for index, rows in enumerate(itertools.product(*(block.rows for block in grid))):
        labels: dict[str, Label] = {}
        changes: dict[str, Any] = {}
        for block, row in zip(grid, rows, strict=True):
            for name, choice in zip(block.names, row, strict=True):
                labels[name] = choice.label
                changes.update(choice.changes)
        yield Point(index, labels, changes)
