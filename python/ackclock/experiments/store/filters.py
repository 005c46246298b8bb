"""Filters over runs: ``NAME=VALUE``, compared as what the values are, with their units.

==================  ================================================  ====================
value               is                                                compared by
==================  ================================================  ====================
``4 Mbps``          a rate, and so for times and sizes                its number of bit/s
``20 pkt``          a buffer in packets, ``1 bdp`` one in bdp         its number
``20e6``            a number; beside a quantity, one of SI units      itself
``true``            true or false                                     ``=``, ``!=`` only
anything else       text                                              ``=``, ``!=`` only
==================  ================================================  ====================

A comparison that cannot be made, as ``<`` of a rate with a time, is refused: a filter also chooses
what is deleted.
"""

from __future__ import annotations

import json
import math
import operator
import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from ackclock._util import paths
from ackclock.errors import AckclockError
from ackclock.experiments.store.names import StoreError
from ackclock.experiments.store.pack import COLUMNS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Filter", "FilterValue", "read_filter", "read_value"]

_FORM = re.compile(r"^\s*([^!<>=]+?)\s*(!=|<=|>=|=|<|>)\s*(.*?)\s*$")

_SI = {"rate": "bit/s", "duration": "s", "size": "B"}
_SAME = 1e-12
"""Numbers that differ relatively by less are one: 0.1 s and 100 ms."""

_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}

_PREFIXED = ("key", "scenario_hash")
_COLUMN_KINDS = {"seed": "number", "cpu_s": "duration", "finished_at": "date"}
"""Columns that are not text."""


@dataclass(frozen=True)
class FilterValue:
    """A value of a filter or of a run.

    Parameters
    ----------
    text
        As it is written.
    kind
        ``number``, ``rate``, ``duration``, ``size``, ``packets``, ``bdp``, ``unlimited``, ``truth``
        or ``text``.
    number
        In bit/s, s, B or as written; NaN for text.
    """

    text: str
    kind: str
    number: float | int = math.nan

    def __str__(self) -> str:
        return json.dumps(self.text, ensure_ascii=False) if self.kind == "text" else self.text


def read_value(text: str) -> FilterValue:
    """Read a value as what it is.

    Parameters
    ----------
    text
        As typed, or as a scenario has it.
    """
    return _read_value(text.strip())


@lru_cache(maxsize=4096)
def _read_value(text: str) -> FilterValue:
    from ackclock import _core

    if text in ("true", "false"):
        return FilterValue(text, "truth", text == "true")
    for number in (int, float):
        try:
            return FilterValue(text, "number", number(text))
        except ValueError:
            continue
    for quantity in _SI:
        try:
            return FilterValue(text, quantity, _core.quantity(text, quantity))
        except ValueError:
            continue
    try:
        size, unit = _core.buffer_size(text)
    except ValueError:
        return FilterValue(text, "text")
    return FilterValue(text, unit, size)


def _value_of(data: Any, quantities: frozenset[str] = frozenset()) -> FilterValue | None:
    """A value of a run; None for what no filter can name, a table or a list.

    A plain number of a key that takes quantities is one of SI units.
    """
    if isinstance(data, dict):
        # An algorithm or a network is known by its name, one in Python by its class.
        name = data.get("class") if data.get("kind") == "python" else data.get("kind")
        return FilterValue(name, "text") if isinstance(name, str) else None
    if isinstance(data, bool):
        return FilterValue(str(data).lower(), "truth", data)
    if not isinstance(data, int | float | str):
        return None
    value = read_value(data) if isinstance(data, str) else FilterValue(repr(data), "number", data)
    (quantity,) = quantities if len(quantities) == 1 else ("",)
    if value.kind == "number" and quantity in _SI:
        return FilterValue(f"{value.text} {_SI[quantity]}", quantity, value.number)
    return value


@dataclass
class Filter:
    """A condition on runs.

    Parameters
    ----------
    text
        As typed, for messages.
    name
        A column, an axis of the sweep, or a path of the scenario.
    sign
        ``=``, ``!=``, ``<``, ``<=``, ``>`` or ``>=``.
    value
        What is compared with.
    """

    text: str
    name: str
    sign: str
    value: FilterValue
    _steps: list[paths.Step] | None = field(default=None, repr=False)
    _quantities: frozenset[str] = field(default=frozenset(), repr=False)
    _is_present: bool = field(default=False, repr=False)
    _is_comparable: bool = field(default=False, repr=False)
    _example: FilterValue | None = field(default=None, repr=False)

    def needs_document(self) -> bool:
        """Whether the scenarios of runs are needed."""
        return self._steps is not None

    def is_known(self) -> bool:
        """Whether a run that was looked at has a key of this name."""
        return self._is_present

    def check(self) -> None:
        """Look whether a comparison was possible with one of the runs at least.

        Raises
        ------
        StoreError
            All had values of another kind.
        """
        if self._is_present and not self._is_comparable and self._example is not None:
            raise self._incomparable(self._example, "of every run is")

    def holds(
        self,
        row: Mapping[str, Any],
        labels: Mapping[str, Any],
        document: Mapping[str, Any],
    ) -> bool:
        """Say whether a run passes; one without such a key does not.

        Parameters
        ----------
        row
            Columns of the run.
        labels
            Its place on the axes of its sweep.
        document
            Its scenario; empty where `needs_document` is false.

        Raises
        ------
        StoreError
            The values cannot be compared.
        """
        if self.name in COLUMNS and self.name not in ("labels", "tables"):
            return self._column_holds(row[self.name])
        within = [] if self._steps is None else list(_entries(document, self._steps))
        values = [value for entry in within if (value := _value_of(entry, self._quantities))]
        label = _value_of(labels.get(self.name), self._quantities if values else frozenset())
        if label is not None or values:
            self._is_present = True
        if self.sign == "=":
            return any(self._is_same(value) for value in [*values, *([label] if label else [])])
        if self.sign == "!=":
            # A label is another name of what the scenario has, so neither may be the value.
            same = label is not None and self._is_same(label)
            differs = [not self._is_same(value) for value in values]
            return not same and (any(differs) if differs else label is not None)
        if not values and label is not None:
            values = [label]
        # All of them: one that cannot be compared is refused wherever it is in the list.
        passes = [self._is_in_order(value) for value in values]
        return any(passes)

    def _column_holds(self, cell: Any) -> bool:
        self._is_present = True
        kind = _COLUMN_KINDS.get(self.name)
        if kind is not None:
            column_value = FilterValue(
                str(cell), "number", int(cell) if self.name == "seed" else cell
            )
            expected = self.value
            if kind == "date" and expected.kind == "text":
                expected = FilterValue(expected.text, "number", _seconds(self))
            if expected.kind not in ("number", kind):
                raise self._incomparable(column_value, "of a run is")
            number = FilterValue(expected.text, "number", expected.number)
            if self.sign in _ORDERS:
                return _in_order(self.sign, column_value.number, number.number)
            return _is_equal(column_value, number) == (self.sign == "=")
        self._is_comparable = True
        if self.name == "version" and "+" not in self.value.text:
            return self._version_holds(str(cell).partition("+")[0])
        if self.sign in _ORDERS:
            raise self._incomparable(FilterValue(str(cell), "text"), "of a run is")
        text = self.value.text
        same = str(cell).startswith(text) if self.name in _PREFIXED else cell == text
        return same == (self.sign == "=")

    def _version_holds(self, version: str) -> bool:
        """Without what follows a plus, the hash of the engine."""
        if self.sign not in _ORDERS:
            return (version == self.value.text) == (self.sign == "=")
        mine, other = _release(version), _release(self.value.text)
        if mine is None or other is None:
            raise self._incomparable(FilterValue(version, "text"), "of a run is")
        longest = max(len(mine), len(other))
        release_numbers = [[*release, *[0] * (longest - len(release))] for release in (mine, other)]
        rank = (release_numbers[0] > release_numbers[1]) - (release_numbers[0] < release_numbers[1])
        return _ORDERS[self.sign](rank, 0)

    def _is_same(self, value: FilterValue) -> bool:
        wanted = self.value
        if value.kind == wanted.kind == "text" or "unlimited" in (value.kind, wanted.kind):
            self._is_comparable = True
            return value.text == wanted.text
        if not self._is_like(value):
            self._example = value
            return False
        self._is_comparable = True
        return _is_equal(value, wanted)

    def _is_in_order(self, value: FilterValue) -> bool:
        wanted = self.value
        buffers = {"packets", "bdp", "size", "duration"}
        is_open = "unlimited" in (value.kind, wanted.kind) and {value.kind, wanted.kind} & buffers
        is_number = value.kind not in ("text", "truth", "unlimited") or is_open
        if not is_number or not (is_open or self._is_like(value)):
            raise self._incomparable(value, "of a run is")
        self._is_comparable = True
        return _in_order(self.sign, value.number, wanted.number)

    def _is_like(self, value: FilterValue) -> bool:
        """Whether a value can be compared."""
        if value.kind == self.value.kind:
            return True
        # Beside a quantity a number is in SI units; a buffer needs its unit always.
        is_si = value.kind in _SI and "buffer size" not in self._quantities
        return self.value.kind == "number" and is_si

    def _incomparable(self, value: FilterValue, where: str) -> StoreError:
        which = ""
        if self.sign in _ORDERS and {value.kind, self.value.kind} & {"text", "truth"}:
            which = "; of text only = and != can be"
        return StoreError(
            f'the filter "{self.text}" cannot be applied: {self.name} {where} {value}, which cannot'
            f" be compared with {self.value}{which}; nothing is selected"
        )


def _is_equal(value: FilterValue, wanted: FilterValue) -> bool:
    if isinstance(value.number, int) and isinstance(wanted.number, int):
        return value.number == wanted.number
    return math.isclose(value.number, wanted.number, rel_tol=_SAME, abs_tol=0.0)


def _in_order(sign: str, value: float, wanted: float) -> bool:
    exact = isinstance(value, int) and isinstance(wanted, int)
    if not exact and math.isclose(value, wanted, rel_tol=_SAME, abs_tol=0.0):
        return sign in ("<=", ">=")
    return _ORDERS[sign](value, wanted)


def _seconds(given: Filter) -> float:
    from datetime import datetime

    try:
        return datetime.fromisoformat(given.value.text).timestamp()
    except ValueError:
        raise StoreError(
            f'the filter "{given.text}" cannot be applied: {given.value} is no time; expected a'
            " date, as 2026-11-27 or 2026-11-27 15:30, or seconds since 1970"
        ) from None


def _release(text: str) -> list[int] | None:
    parts = text.split(".")
    return [int(part) for part in parts] if all(map(str.isdecimal, parts)) else None


def _entries(data: Any, steps: list[paths.Step]) -> Iterator[Any]:
    """What is at a path; for ``[*]`` each entry of the list."""
    if not steps:
        yield data
        return
    step, deeper_steps = steps[0], steps[1:]
    if isinstance(step, str):
        if isinstance(data, dict) and step in data:
            yield from _entries(data[step], deeper_steps)
        return
    if not isinstance(data, list):
        return
    if isinstance(step, paths.Id):
        position = paths.position(data, step)
        positions = [] if position is None else [position]
    else:
        positions = list(range(len(data))) if step is None else [step]
    for i in positions:
        if i < len(data):
            yield from _entries(data[i], deeper_steps)


def read_filter(text: str) -> Filter:
    """Read a filter.

    Parameters
    ----------
    text
        ``NAME=VALUE`` (also ``!=``, ``<``, ``<=``, ``>``, ``>=``): a column of the runs (engine,
        seed, name, sweep, version, ...), an axis of the sweep, or a path of the scenario such as
        ``net.buffer``, ``flows[*].cc`` or ``flows[bulk].cc`` (by id). ``[*]`` is any entry.

    Raises
    ------
    StoreError
        It is none of these.
    """
    from ackclock.catalogue.schema import quantities

    match = _FORM.match(text)
    if match is None:
        raise StoreError(f'"{text}" is not a filter; expected NAME=VALUE, as in net.buffer="1 bdp"')
    name, sign, value_text = match.groups()
    if len(value_text) > 1 and value_text[0] == value_text[-1] == '"':
        value_text = value_text[1:-1]
    value = read_value(value_text)
    if name in COLUMNS and name not in ("labels", "tables"):
        if name in _COLUMN_KINDS:
            return Filter(text, name, sign, value)
        return Filter(text, name, sign, FilterValue(value_text, "text"))
    try:
        steps = paths.split(name)
    except AckclockError:
        # An axis may have any name.
        return Filter(text, name, sign, value)
    return Filter(text, name, sign, value, steps, quantities(steps))
