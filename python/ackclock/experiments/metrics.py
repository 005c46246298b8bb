"""Metrics: one number per run, or one per run and group of rows, read from tidy tables.

===========================  ====================================================================
``mean(flows.goodput_bps)``  the mean of a column of a table, within each run
``flows[f0].goodput_bps``    of the row with that id
``sum(flows[cc=cubic].sent_packets)``  of the rows with that value
``totals.events``            a number of the summary
===========================  ====================================================================

Functions: mean, sum, min, max, median, p95 and p99 (percentiles), std, count, jain, and those that
`register` adds. A metric may also be any function of a run's tables.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.analysis import jain
from ackclock.errors import AckclockError, suggestion
from ackclock.results.old_columns import add_old_columns, rename_columns

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa

__all__ = ["FUNCTIONS", "Metric", "MetricError", "Reader", "parse", "register"]

Reader = Callable[[Mapping[str, "pa.Table"]], float]
"""A function of one run: its tables by name; ``summary`` is the summary as plain data."""

Reduce = Callable[["npt.NDArray[np.float64]"], float]


class MetricError(AckclockError):
    """A metric is not one, or names what the runs do not have."""


def _jain(values: npt.NDArray[np.float64]) -> float:
    return jain(values) if len(values) else float("nan")


FUNCTIONS: dict[str, Reduce] = {
    "mean": lambda v: float(np.mean(v)),
    "sum": lambda v: float(np.sum(v)),
    "min": lambda v: float(np.min(v)),
    "max": lambda v: float(np.max(v)),
    "median": lambda v: float(np.median(v)),
    "p95": lambda v: float(np.percentile(v, 95)),
    "p99": lambda v: float(np.percentile(v, 99)),
    "std": lambda v: float(np.std(v, ddof=1)) if len(v) > 1 else float("nan"),
    "jain": _jain,
}
"""Functions of a column, by the name that metrics use. Unknown values (null) are left out before;
of no values at all the result is NaN. ``std`` is that of a sample, with n - 1; NaN of one value."""


def register(name: str, function: Reduce) -> None:
    """Add a function for metrics.

    Parameters
    ----------
    name
        As in ``name(flows.goodput_bps)``.
    function
        Of an array of at least one number.
    """
    FUNCTIONS[name] = function


_FORM = re.compile(
    r"""^\s*(?:(?P<function>\w+)\(\s*)?
    (?P<table>\w+)(?:\[(?P<filter>[^\]]*)\])?\.(?P<column>[\w.]+)
    \s*(?P<close>\))?\s*$""",
    re.VERBOSE,
)


@dataclass(frozen=True)
class Metric:
    """A metric taken apart."""

    text: str
    function: str | None
    table: str
    where: tuple[tuple[str, str], ...]
    column: str

    def reduce(self, values: npt.NDArray[np.float64], where: str) -> float:
        """Make one number of the values of one run.

        Parameters
        ----------
        values
            NaN where not known.
        where
            What the values belong to, for the message.

        Raises
        ------
        MetricError
            There are several values and no function.
        """
        if self.function == "count":
            return float(np.count_nonzero(~np.isnan(values)))
        if self.function is None:
            if values.size > 1:
                message = (
                    f'"{self.text}" has {values.size} values {where}; say which function joins'
                    f" them, as in mean({self.text}), or keep them apart with by"
                )
                raise MetricError(message)
            return float(values[0]) if values.size else float("nan")
        present = values[~np.isnan(values)]
        return FUNCTIONS[self.function](present) if present.size else float("nan")


def parse(text: str) -> Metric:
    """Take a metric apart.

    Parameters
    ----------
    text
        As in the table above.

    Raises
    ------
    MetricError
        It is not a metric.
    """
    match = _FORM.match(text)
    if match is None or bool(match["function"]) != bool(match["close"]):
        message = (
            f'"{text}" is not a metric; expected something like mean(flows.goodput_bps),'
            " links[r0->r1].utilisation or totals.events"
        )
        raise MetricError(message)
    function = match["function"]
    if function is not None and function not in FUNCTIONS and function != "count":
        hint = suggestion(function, [*FUNCTIONS, "count"])
        raise MetricError(f'"{text}": there is no function "{function}"; {hint}')
    where = []
    for condition in (match["filter"] or "").split(","):
        if condition.strip():
            key, equals, value = condition.partition("=")
            where.append((key.strip(), value.strip()) if equals else ("id", condition.strip()))
    return Metric(text, function, match["table"], tuple(where), match["column"])


RANGES = {"jain": (0.0, 1.0), "count": (0.0, float("inf")), "std": (0.0, float("inf"))}
"""Where a function's values are, whatever the column."""

COLUMN_RANGES = {"utilisation": (0.0, 1.0), "loss_ratio": (0.0, 1.0)}
"""Where a column's values are, and their means, least and greatest."""


def within_range(metric: str | Reader, low: float, high: float) -> tuple[float, float]:
    """Cut an interval to where the metric can be: Jain's index is at most 1, a count at least 0.

    Parameters
    ----------
    metric
        As of `parse`; a function of tables has no known range.
    low, high
        Ends; NaN stays.
    """
    if callable(metric):
        return low, high
    parsed = parse(metric)
    if parsed.function in RANGES:
        least, most = RANGES[parsed.function]
    elif parsed.function in (None, "mean", "min", "max", "median", "p95", "p99"):
        least, most = COLUMN_RANGES.get(parsed.column, (float("-inf"), float("inf")))
    else:
        return low, high
    return (
        low if np.isnan(low) else max(low, least),
        high if np.isnan(high) else min(high, most),
    )


def of_summary(summary: Mapping[str, Any], metric: Metric) -> float:
    """Read a number of a summary.

    Parameters
    ----------
    summary
        Plain data.
    metric
        Its table and column are the keys.

    Raises
    ------
    MetricError
        It is not there, or not a number.
    """
    entry: Any = summary
    for key in (metric.table, *metric.column.split(".")):
        if not isinstance(entry, Mapping) or key not in entry:
            keys = [str(k) for k in entry] if isinstance(entry, Mapping) else []
            message = f'"{metric.text}": runs have no "{key}"; {suggestion(key, keys)}'
            raise MetricError(message)
        entry = entry[key]
    if entry is None:
        return float("nan")
    if isinstance(entry, bool) or not isinstance(entry, int | float):
        raise MetricError(f'"{metric.text}" is {entry!r}, not a number')
    return float(entry)


def select_rows(table: pa.Table, metric: Metric) -> pa.Table:
    """Keep the rows that the metric is about.

    Parameters
    ----------
    table
        Of one or of many runs.
    metric
        Its filter is used.

    Raises
    ------
    MetricError
        The table lacks a column.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from ackclock._util.arrow import array

    keys = (*(key for key, _ in metric.where), metric.column)
    table = add_old_columns(rename_columns(table), keys)
    for key in keys:
        if key not in table.column_names:
            hint = suggestion(key, table.column_names)
            raise MetricError(f'"{metric.text}": {metric.table} has no column "{key}"; {hint}')
    for key, value in metric.where:
        text = pc.cast(table[key], pa.string())
        table = table.filter(pc.is_in(text, array([value])))
    return table


def numbers(table: pa.Table, metric: Metric) -> npt.NDArray[np.float64]:
    """Give the metric's column as numbers, NaN for unknown.

    Parameters
    ----------
    table
        What `select_rows` gave.
    metric
        Whose column.

    Raises
    ------
    MetricError
        The column does not hold numbers.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    from ackclock._util import arrow

    column = table[metric.column]
    kind = column.type
    if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        raise MetricError(f'"{metric.text}": the column {metric.column} does not hold numbers')
    return arrow.numbers(pc.cast(column, pa.float64()))


def of_run(
    metric: str | Reader, summary: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> float:
    """Read a metric of one run.

    Parameters
    ----------
    metric
        Text as above, or a function of the tables.
    summary, tables
        Of the run.

    Raises
    ------
    MetricError
        It is not there, or is more than one number.
    """
    if callable(metric):
        return float(metric({**tables, "summary": summary}))
    parsed = parse(metric)
    if parsed.table not in tables:
        return of_summary(summary, parsed)
    rows = select_rows(tables[parsed.table], parsed)
    return parsed.reduce(numbers(rows, parsed), "in a run")
