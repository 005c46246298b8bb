"""The case of the engine ``model``: a named closed form over a grid of its parameters.

engine = "model"
model = "square_root_law"

[params]
loss_ratio = { from = 1e-3, to = 1e-1, points = 21, scale = "log" }
rtt_s = [0.02, 0.1]                # lists multiply: a row of the table per combination
mss_bytes = 1460
"""

from __future__ import annotations

import hashlib
import inspect
import json
import time
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ackclock._util.number_text import number
from ackclock.case import Cost
from ackclock.engines.model import MODELS, model, parameters
from ackclock.engines.model.ranges import problem, ranges_of
from ackclock.errors import Problem, UnsupportedError, suggestion
from ackclock.scenario.document import DocumentCase, locate_problems

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from ackclock.case import Spill

__all__ = ["ModelCase", "ModelOutcome"]

KEYS = ("model", "params", "name")
RANGE = ("from", "to", "points", "scale")
S_PER_POINT = 1e-6
"""Cost of a point, generously [s]."""


class ModelOutcome:
    """Values of a model. One table, ``points``: parameters, then what the model gives."""

    def __init__(self, summary: dict[str, Any], points: pa.Table) -> None:
        self.summary = summary
        self.tables: Mapping[str, pa.Table] = {"points": points}

    def __str__(self) -> str:
        from ackclock._util.text_table import table

        rows = self.tables["points"].to_pylist()
        cells = [[_cell(value) for value in row.values()] for row in rows]
        return table(self.tables["points"].column_names, cells)


def _cell(value: Any) -> str:
    return number(value, 6) if isinstance(value, float) else str(value)


class ModelCase(DocumentCase):
    """A question to a closed form: keys ``model``, ``params``, ``name``. Cannot be changed.

    Parameters
    ----------
    data
        The document.
    file
        Where it came from, for messages.

    Raises
    ------
    ScenarioError
        With every problem at once.
    """

    __slots__ = ()
    engine = "model"
    is_random = False
    holds_lock = False
    recorded = "{}"

    def _fill(
        self, data: dict[str, Any], file: Path | None, typed: Iterable[str] | None = None
    ) -> None:
        # Names of parameters say their units, and values are plain numbers.
        del typed
        if problems := [Problem(path, message) for path, message in _problems(data)]:
            raise locate_problems(problems, file)
        self._freeze(_data=data, _file=file)

    @property
    def seed(self) -> int:
        """Nothing here is random."""
        return 0

    @property
    def engine_version(self) -> str:
        """Version of ackclock and hash of the model's module."""
        from ackclock import _core

        source = inspect.getsource(inspect.getmodule(model(self._data["model"])))  # type: ignore[arg-type]
        return f"{_core.version()}+{hashlib.sha256(source.encode()).hexdigest()[:12]}"

    @property
    def fingerprint(self) -> str:
        """Hash of model and parameters."""
        question = {key: self._data.get(key) for key in ("model", "params")}
        text = json.dumps(question, sort_keys=True, separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    def with_seed(self, seed: int) -> Self:
        """Nothing here is random: the case itself.

        Parameters
        ----------
        seed
            Not used.
        """
        del seed
        return self

    def check(self, *, spills: bool = False) -> None:
        """All is checked when the case is made.

        Parameters
        ----------
        spills
            Has no effect.
        """
        del spills

    def cost(self, *, spills: bool = False, is_rough: bool = False) -> Cost:
        """Predict: points of the grid, and a microsecond for each.

        Parameters
        ----------
        spills
            Has no effect: the tables are small.
        is_rough
            Has no effect.
        """
        del spills, is_rough
        points = float(np.prod([len(values) for values in self._axes().values()], dtype=float))
        return Cost(points, points * S_PER_POINT)

    def execute(
        self,
        progress: Callable[[float, float], object] | None = None,
        spill: Spill | None = None,
    ) -> ModelOutcome:
        """Evaluate.

        Parameters
        ----------
        progress
            Called once, at the end.
        spill
            Has no effect: the tables are small.
        """
        del spill
        began = time.thread_time()
        axes = self._axes()
        mesh = np.meshgrid(*axes.values(), indexing="ij") if axes else []
        parameter_values = {key: grid.ravel() for key, grid in zip(axes, mesh, strict=True)}
        with np.errstate(all="ignore"):
            try:
                result = model(self._data["model"])(**parameter_values)
            except ValueError as error:
                # What no range of one parameter states, a model refuses by itself.
                raise self.locate_problems([Problem("params", str(error))]) from None
        points = _table(parameter_values, result, self._data["model"])
        if progress is not None:
            progress(1.0, 0.0)
        from ackclock import _core

        summary = {
            "engine": self.engine,
            "model": self._data["model"],
            "version": _core.version(),
            "scenario_hash": self.fingerprint,
            "seed": self.seed,
            "totals": {"points": points.num_rows, "cpu_s": time.thread_time() - began},
        }
        return ModelOutcome(summary, points)

    def _axes(self) -> dict[str, Any]:
        """Values of each parameter as an array, defaults included."""
        known = parameters(self._data["model"])
        given = {**known, **self._data.get("params", {})}
        return {key: _values(value) for key, value in given.items()}


def _values(value: Any) -> Any:
    if isinstance(value, dict):
        low, high, points = float(value["from"]), float(value["to"]), int(value["points"])
        if value.get("scale", "linear") == "log":
            return np.geomspace(low, high, points)
        return np.linspace(low, high, points)
    return np.atleast_1d(np.asarray(value))


def _table(parameter_values: dict[str, Any], result: Mapping[str, Any], name: str) -> pa.Table:
    from ackclock._util.arrow import array, table

    columns = {key: np.atleast_1d(np.asarray(values)) for key, values in result.items()}
    rows = len(next(iter(parameter_values.values()))) if parameter_values else 1
    point_of_row = columns.pop("point", np.arange(rows)).astype(np.int64)
    point_columns = {
        key: values[point_of_row] for key, values in parameter_values.items() if key not in columns
    }
    for key, values in columns.items():
        point_columns[key] = np.broadcast_to(values, (len(point_of_row),))
    if any(len(values) != len(point_of_row) for values in point_columns.values()):
        message = f'the model "{name}" gave columns of different lengths'
        raise UnsupportedError(message)
    return table({key: array(_column(values)) for key, values in point_columns.items()})


def _column(values: Any) -> Any:
    return [str(word) for word in values] if values.dtype.kind == "U" else values


def _problems(document: Mapping[str, Any]) -> Any:
    for key in document:
        if key not in KEYS:
            yield key, f'"{key}" is not a key here; {suggestion(key, KEYS)}'
    name = document.get("model")
    if name not in MODELS:
        yield "model", f'there is no model "{name}"; {suggestion(str(name), MODELS)}'
        return
    expected = parameters(str(name))
    stated_values = document.get("params", {})
    if not isinstance(stated_values, dict):
        yield "params", f"{stated_values!r} is not a table of the model's parameters"
        return
    for key, value in stated_values.items():
        if key not in expected:
            yield f"params.{key}", f'{name} has no parameter "{key}"; {suggestion(key, expected)}'
        else:
            wrong = list(_value_problems(value))
            bounds = ranges_of(model(str(name))).get(key)
            if not wrong and bounds is not None:
                message = problem(bounds, _values(value))
                wrong = [] if message is None else [message]
            yield from ((f"params.{key}", message) for message in wrong)
    for key, default in expected.items():
        if default is inspect.Parameter.empty and key not in stated_values:
            yield f"params.{key}", "is missing; it has no default"


def _value_problems(value: Any) -> Any:
    if isinstance(value, dict):
        for key in value:
            if key not in RANGE:
                yield f'"{key}" is not a key of a range; {suggestion(key, RANGE)}'
        ends: list[Any] = [value.get(key) for key in ("from", "to")]
        if not all(_is_number(end) for end in ends):
            yield "a range needs numbers from and to"
        elif value.get("scale", "linear") == "log" and min(ends) <= 0:
            yield "a logarithmic range needs ends above 0"
        points = value.get("points")
        if not (_is_number(points) and isinstance(points, int) and points >= 1):
            yield f"points is {points!r}; expected a whole number, at least 1"
        if value.get("scale", "linear") not in ("linear", "log"):
            yield f'scale is "{value["scale"]}"; expected linear or log'
    else:
        items = value if isinstance(value, list) else [value]
        if not items:
            yield "has no values; expected at least one"
        if not (all(_is_number(v) for v in items) or all(isinstance(v, str) for v in items)):
            yield f"{value!r} is not a number, a list of numbers, or a range"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value)
