"""Figures of sweeps: means with intervals along axes, rankings, distributions, trade-offs."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ackclock._util.labels import label_text
from ackclock._util.number_text import engineering, number, unit_of
from ackclock.errors import UnsupportedError, suggestion
from ackclock.plot.figures import _axes, _legend, _note
from ackclock.plot.metric_words import describe_metric
from ackclock.plot.style import figure, line, recipe, style

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure

    Label = str | int | float | bool | None

__all__ = ["Swept", "ecdf", "heatmap", "lines", "pareto", "ranked"]

MOST_NOTES = 2
"""Notes of a table that a figure repeats."""

_DELAY, _THROUGHPUT = "max(links.delay_mean_s)", "mean(flows.goodput_bps)"
_QUANTITY = re.compile(r"\s*([+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)\s*([^\d\s]\S*)\s*")


class Swept(Protocol):
    """Results of a sweep. `ackclock.SweepResult` is one."""

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes."""

    @property
    def metrics(self) -> tuple[str, ...]:
        """Metrics of the sweep."""

    @property
    def recipe(self) -> dict[str, str]:
        """What is needed to make the runs again."""

    def labels(self, axis: str) -> list[Any]:
        """The label of each run on an axis."""

    def summary(self, metric: str, by: Sequence[str] | None = None) -> Any:
        """Means with intervals, a row for each group."""

    def values(self, metric: str) -> Any:
        """A row for each run."""

    def compare(self, metric: str, between: str, by: Sequence[str] | None = None) -> Any:
        """Paired differences between the labels of an axis."""


def _metric(result: Swept, metric: str | None) -> str:
    if metric is not None:
        return metric
    if not result.metrics:
        raise UnsupportedError("the sweep names no metric; give one, as mean(flows.goodput_bps)")
    return result.metrics[0]


def _axis(result: Swept, name: str | None, place: int) -> str | None:
    """An axis by name; left out: the one at a place, if there is one."""
    if name is None:
        return result.axes[place] if place < len(result.axes) else None
    if name not in result.axes:
        raise UnsupportedError(f'there is no axis "{name}"; {suggestion(name, result.axes)}')
    return name


def _need(result: Swept, name: str | None, place: int) -> str:
    found = _axis(result, name, place)
    if found is None:
        message = f"the figure needs {place + 1} axes; the sweep has {len(result.axes)}"
        raise UnsupportedError(message)
    return found


def _order(result: Swept, axis: str) -> list[Label]:
    return list(dict.fromkeys(result.labels(axis)))


def _numbers(labels: Sequence[Label]) -> tuple[list[float], str] | None:
    """Labels as numbers with their common unit; None if they are not all numbers of one unit."""
    if all(isinstance(one, int | float) and not isinstance(one, bool) for one in labels):
        return [float(one) for one in labels if one is not None], ""
    found = [_QUANTITY.fullmatch(one) if isinstance(one, str) else None for one in labels]
    parts = [one.groups() for one in found if one is not None]
    units = {unit for _, unit in parts}
    if len(parts) < len(labels) or len(units) != 1:
        return None
    return [float(value) for value, _ in parts], units.pop()


def _text(label: Label) -> str:
    return number(label) if isinstance(label, float) else str(label)


def _set_unit(axis: Axis, metric: str) -> None:
    """Write the numbers of an axis with the unit of its metric."""
    from matplotlib.ticker import EngFormatter, MaxNLocator

    unit = unit_of(metric)
    axis.set_label_text(describe_metric(metric))
    if unit is not None and unit not in ("%",):
        axis.set_major_locator(MaxNLocator(6))
        axis.set_major_formatter(EngFormatter(unit=unit))


def _write(metric: str, value: float) -> str:
    unit = unit_of(metric)
    return number(value, 3) if unit is None else engineering(value, unit, 3)


def _make_chart(
    result: Swept, title: str, x: str, y: str, height: float = 4.0
) -> tuple[Figure, Axes]:
    made = figure(None, height=height)
    axes = _axes(made, title, x, y)
    recipe(made, **result.recipe)
    return made, axes


def _mean(result: Swept, metric: str, by: Sequence[str]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = result.summary(metric, list(by)).to_pylist()
    for row in rows:
        row["has_interval"] = row["ci_low"] is not None and not math.isnan(row["ci_low"])
        for name in ("ci_low", "ci_high"):
            # One seed has no interval, nor have several that give one and the same run.
            if row[name] is None or math.isnan(row[name]):
                row[name] = row["mean"]
    return rows


def _groups(rows: Sequence[dict[str, Any]], by: str | None) -> dict[Any, list[dict[str, Any]]]:
    found: dict[Any, list[dict[str, Any]]] = {}
    for row in rows:
        found.setdefault(None if by is None else row[by], []).append(row)
    return found


def _describe_averages(result: Swept, used: Sequence[str | None]) -> str:
    """What the figure averages over, for its note."""
    rest = [name for name in result.axes if name not in used]
    return f"; averaged over {', '.join(rest)}" if rest else ""


def lines(
    result: Swept, metric: str | None = None, x: str | None = None, by: str | None = None
) -> Figure:
    """Mean of a metric along an axis, with its 95 % interval as a band.

    Parameters
    ----------
    result
        Of a sweep.
    metric
        One number per run; left out: the first of the sweep.
    x
        Axis of the sweep; left out: the first.
    by
        Axis with a curve for each label; left out: the second, if there is one.
    """
    metric, x = _metric(result, metric), _need(result, x, 0)
    if by is None:
        by = next((name for name in result.axes if name != x), None)
    by = _axis(result, by, len(result.axes))
    rows = _mean(result, metric, [name for name in (x, by) if name is not None])
    has_interval = any(row["has_interval"] for row in rows)
    title = "Mean and 95 % interval" if has_interval else "Mean"
    chart, axes = _make_chart(result, title, x, metric)
    order = _order(result, x)
    scale = _numbers(order)
    position_of_label = dict(zip(order, scale[0] if scale else range(len(order)), strict=True))
    for i, (label, group) in enumerate(_groups(rows, by).items()):
        group.sort(key=lambda row: position_of_label[_same(row[x], position_of_label)])
        x_values = [position_of_label[_same(row[x], position_of_label)] for row in group]
        low, mean, high = ([row[name] for row in group] for name in ("ci_low", "mean", "ci_high"))
        look = line(i)
        axes.plot(x_values, mean, marker=".", label=None if by is None else _text(label), **look)
        axes.fill_between(x_values, low, high, color=look["color"], alpha=0.18, linewidth=0)
    if scale is None:
        axes.set_xticks(range(len(order)), [_text(label) for label in order])
    elif scale[1]:
        axes.set_xlabel(f"{x} [{scale[1]}]")
    _set_unit(axes.yaxis, metric)
    _note(axes, _seeds(rows) + _describe_averages(result, (x, by)))
    _legend(axes)
    return chart


def _same(label: Any, known: dict[Any, Any]) -> Any:
    """The label of a table as the sweep has it: columns of text hold all labels as text."""
    if label in known:
        return label
    return next(one for one in known if label_text(one) == str(label))


def _seeds(rows: Sequence[dict[str, Any]]) -> str:
    counts = sorted({row["seeds"] for row in rows})
    many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    notes = dict.fromkeys(note for row in rows for note in row["note"].split("; ") if note)
    about = "".join(f"; {note}" for note in list(notes)[:MOST_NOTES])
    more = "; and more" if len(notes) > MOST_NOTES else ""
    return f"{many} seed{'s' * (counts[-1] != 1)} a point{about}{more}"


def heatmap(
    result: Swept, metric: str | None = None, x: str | None = None, by: str | None = None
) -> Figure:
    """Mean of a metric over two axes as colours, with its value in each cell.

    Parameters
    ----------
    result
        Of a sweep with two axes or more; others are averaged.
    metric
        One number per run; left out: the first of the sweep.
    x
        Axis of columns; left out: the first.
    by
        Axis of rows; left out: the second.
    """
    from matplotlib.colors import LinearSegmentedColormap

    metric, x = _metric(result, metric), _need(result, x, 0)
    if by is None:
        by = next((name for name in result.axes if name != x), None)
    by = _need(result, by, 1)
    rows = _mean(result, metric, [x, by])
    columns, lines_ = _order(result, x), _order(result, by)
    cells = np.full((len(lines_), len(columns)), np.nan)
    at_x = {label: i for i, label in enumerate(columns)}
    at_y = {label: i for i, label in enumerate(lines_)}
    for row in rows:
        cells[at_y[_same(row[by], at_y)], at_x[_same(row[x], at_x)]] = row["mean"]
    chart, axes = _make_chart(
        result, describe_metric(metric), x, by, height=1.6 + 0.45 * len(lines_)
    )
    colours = LinearSegmentedColormap.from_list("value", style()["map_colours"])
    image = axes.imshow(cells, cmap=colours, aspect="auto", origin="lower")
    axes.grid(visible=False)
    axes.set_xticks(range(len(columns)), [_text(label) for label in columns])
    axes.set_yticks(range(len(lines_)), [_text(label) for label in lines_])
    present = cells[~np.isnan(cells)]
    middle = (present.min() + present.max()) / 2 if present.size else 0.0
    if cells.size <= 100:
        for (row_, column), value in np.ndenumerate(cells):
            if not np.isnan(value):
                axes.text(
                    column, row_, _write(metric, value), ha="center", va="center", fontsize=8,
                    color="white" if value > middle else "black",
                )  # fmt: skip
    bar = chart.colorbar(image, ax=axes)
    _set_unit(bar.ax.yaxis, metric)
    _note(
        axes,
        "mean over " + _seeds(rows).replace(" a point", "") + _describe_averages(result, (x, by)),
    )
    return chart


def ranked(result: Swept, metric: str | None = None, between: str | None = None) -> Figure:
    """Differences of an axis's labels to the one with the largest mean, with 95 % intervals.

    Differences are paired by replicate, which shares its random numbers. A hollow mark is a
    difference whose interval holds 0: the data do not rank it.

    Parameters
    ----------
    result
        Of a sweep; other axes are averaged within a replicate.
    metric
        One number per run; left out: the first of the sweep.
    between
        The axis; left out: the last.
    """
    metric = _metric(result, metric)
    between = _need(result, between, len(result.axes) - 1)
    pairs = result.compare(metric, between, []).pairs
    if not pairs:
        raise UnsupportedError(f'the axis "{between}" has one label; there is nothing to rank')
    means = {p.one: p.mean_one for p in pairs} | {p.other: p.mean_other for p in pairs}
    order = sorted(means, key=lambda label: -means[label])
    best = order[0]
    count = len(order)
    chart, axes = _make_chart(
        result, f"Difference to {_text(best)}", metric, between, 1.6 + 0.3 * count
    )
    for row, label in enumerate(order):
        if label == best:
            axes.plot(0, row, "D", color=line(0)["color"], markersize=5)
            continue
        pair = next(p for p in pairs if {p.one, p.other} == {label, best})
        sign = 1 if pair.one == label else -1
        middle = sign * pair.difference
        ends = sorted(sign * end for end in (pair.low, pair.high))
        if not any(math.isnan(end) for end in ends):
            axes.plot(ends, [row, row], color=line(0)["color"])
        axes.plot(
            middle, row, "o", color=line(0)["color"],
            markerfacecolor=line(0)["color"] if pair.clear else "white",
        )  # fmt: skip
    axes.axvline(0, color="#666666", linewidth=1, linestyle=":")
    axes.set_yticks(
        range(count), [f"{_text(label)}: {_write(metric, means[label])}" for label in order]
    )
    axes.invert_yaxis()
    _set_unit(axes.xaxis, metric)
    _note(
        axes,
        "means at the left; hollow: its interval holds 0" + _describe_averages(result, (between,)),
    )
    return chart


def ecdf(result: Swept, metric: str | None = None, by: str | None = None) -> Figure:
    """Distribution of a metric over runs, a curve for each label of an axis.

    Parameters
    ----------
    result
        Of a sweep.
    metric
        One number per run; left out: the first of the sweep.
    by
        The axis; left out: the last.
    """
    metric = _metric(result, metric)
    by = _axis(result, by, max(0, len(result.axes) - 1))
    chart, axes = _make_chart(
        result, "Distribution over runs", metric, "share of runs at most this"
    )
    rows = [row for row in result.values(metric).to_pylist() if not _missing(row["value"])]
    if not rows:
        raise UnsupportedError(f"no run has a value of {metric}")
    groups = _groups(rows, by)
    for i, (label, group) in enumerate(groups.items()):
        values = [row["value"] for row in group]
        axes.ecdf(values, label=None if by is None else _text(label), **line(i))
    axes.set_ylim(0, 1)
    _set_unit(axes.xaxis, metric)
    counts = sorted({len(group) for group in groups.values()})
    many = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    _note(axes, f"{many} run{'s' * (counts[-1] != 1)} a curve")
    _legend(axes)
    return chart


def _missing(value: float | None) -> bool:
    return value is None or math.isnan(value)


def pareto(
    result: Swept,
    delay: str = _DELAY,
    throughput: str = _THROUGHPUT,
    by: str | None = None,
) -> Figure:
    """Throughput against delay: means with 95 % intervals, and the frontier.

    The frontier joins the points for which no other has both less delay and more throughput.

    Parameters
    ----------
    result
        Of a sweep.
    delay
        Metric in which less is better.
    throughput
        Metric in which more is better.
    by
        Axis with a point for each label, others averaged; left out: a point for each point of the
        sweep.
    """
    axis = None if by is None else _axis(result, by, 0)
    names = list(result.axes) if axis is None else [axis]
    along, across = (_mean(result, metric, names) for metric in (delay, throughput))
    chart, axes = _make_chart(result, "Throughput and delay", delay, throughput)
    points = []
    for i, (x, y) in enumerate(zip(along, across, strict=True)):
        label = ", ".join(_text(x[name]) for name in names)
        bars = ([[row["mean"] - row["ci_low"]], [row["ci_high"] - row["mean"]]] for row in (x, y))
        wide, high = bars
        look = {"color": line(i)["color"], "label": label}
        axes.errorbar(x["mean"], y["mean"], xerr=wide, yerr=high, fmt="o", **look)
        if len(along) > len(style()["colours"]):
            axes.annotate(
                label, (x["mean"], y["mean"]), (4, 4), textcoords="offset points", fontsize=7
            )
        points.append((x["mean"], y["mean"]))
    edge = frontier(points)
    axes.plot(*zip(*edge, strict=True), color="#666666", linewidth=1, linestyle=":", zorder=1)
    for direction, metric in ((axes.xaxis, delay), (axes.yaxis, throughput)):
        _set_unit(direction, metric)
    _note(axes, f"{_seeds(along)}; dotted: no point has less delay and more throughput")
    _legend(axes)
    return chart


def frontier(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Choose the points that no other dominates.

    Parameters
    ----------
    points
        Of a cost, less of which is better, and a gain, more of which is better.

    Returns
    -------
    list
        In the order of the cost.
    """
    best = -math.inf
    efficient = []
    for cost, gain in sorted(points, key=lambda point: (point[0], -point[1])):
        if gain > best:
            efficient.append((cost, gain))
            best = gain
    return efficient
