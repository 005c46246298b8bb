"""Pictures of a searched space: parallel coordinates, and pairs of the parameters that decide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.plot import style
from ackclock.reproduce.run.sensitivity import write_value
from ackclock.reproduce.search.search import score
from ackclock.reproduce.search.surrogate import as_number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from ackclock.reproduce.paper import Parameter
    from ackclock.reproduce.search.search import SearchResult

__all__ = ["draw_pairs", "draw_parallel"]

MOST = 4
"""Parameters in a plot of pairs."""

LOW, HIGH, BEST = "#9ca3af", "#0072B2", "#D55E00"


def draw_parallel(result: SearchResult) -> Figure:
    """Draw each point as a line over the parameters; accepted ones in front, the best on top.

    Parameters
    ----------
    result
        What was found.
    """
    import matplotlib as mpl

    parameters = result.space.parameters
    with mpl.rc_context(style.style()["rc"]):
        canvas = style.figure(None, max(5.0, 1.5 + 1.5 * len(parameters)), 4.2)
        axes = canvas.subplots()
        for index in result.valid:
            is_in = index in result.accepted
            heights = _heights(parameters, result.tried[index].values, index)
            axes.plot(heights, color=HIGH if is_in else LOW, linewidth=1.2 if is_in else 0.5,
                      alpha=0.7 if is_in else 0.35, zorder=2 + is_in)  # fmt: skip
        axes.plot(_heights(parameters, result.values, None), color=BEST, linewidth=2.4, marker="o",
                  zorder=5)  # fmt: skip
        axes.plot(_heights(parameters, result.space.defaults, None), color="black", linewidth=1.4,
                  linestyle="--", marker="s", markerfacecolor="white", zorder=4)  # fmt: skip
        for axis, parameter in enumerate(parameters):
            axes.axvline(axis, color="#6b7280", linewidth=0.6, zorder=1)
            for height, label in _ticks(parameter):
                axes.annotate(label, (axis, height), xytext=(4, 0), textcoords="offset points",
                              fontsize=7, va="center", zorder=6)  # fmt: skip
        axes.set_xticks(range(len(parameters)), [p.id for p in parameters], rotation=20)
        axes.set_yticks([])
        axes.set_xlim(-0.2, max(len(parameters) - 1, 0.5) + 0.6)
        handles = [
            mpl.lines.Line2D([], [], color=LOW, label="tried"),
            mpl.lines.Line2D([], [], color=HIGH, label="accepted"),
            mpl.lines.Line2D([], [], color=BEST, marker="o", label="inferred"),
            mpl.lines.Line2D([], [], color="black", linestyle="--", marker="s",
                             markerfacecolor="white", label="defaults"),
        ]  # fmt: skip
        canvas.legend(handles=handles, loc="outside upper center", ncols=4)
    return canvas


def draw_pairs(result: SearchResult) -> Figure:
    """Draw the score over each pair of the parameters that decide most.

    Parameters
    ----------
    result
        What was found.
    """
    import matplotlib as mpl

    order = list(result.surrogate.decides)
    parameters = sorted(
        result.space.parameters,
        key=lambda p: order.index(p.id) if p.id in order else len(order),
    )[:MOST]
    count = len(parameters)
    scores = {
        index: score(result.join_files(result.tried[index].rungs[0]), result.fitted)
        for index in result.valid
    }
    with mpl.rc_context(style.style()["rc"]):
        canvas = style.figure(None, 1.4 + 2.1 * count, 0.8 + 2.0 * count)
        grid = canvas.subplots(count, count, squeeze=False)
        dots = None
        for row, down in enumerate(parameters):
            for column, across in enumerate(parameters):
                axes = grid[row, column]
                if column > row:
                    axes.set_axis_off()
                    continue
                x = [_heights([across], result.tried[p].values, p)[0] for p in scores]
                y = [_heights([down], result.tried[p].values, p + 7)[0] for p in scores]
                values = list(scores.values())
                if row == column:
                    y = values
                dots = axes.scatter(x, y, c=values, s=14, cmap="cividis")
                _label(axes, across, down, is_score=row == column)
        if dots is not None:
            canvas.colorbar(dots, ax=grid, label="mean vote of fitted claims", shrink=0.6)
    return canvas


def _label(axes: Any, across: Parameter, down: Parameter, *, is_score: bool) -> None:
    ticks = _ticks(across)
    axes.set_xticks([at for at, _ in ticks], [text for _, text in ticks], rotation=30, fontsize=7)
    axes.set_xlabel(across.id)
    axes.set_ylabel("mean vote" if is_score else down.id)
    if not is_score:
        ticks = _ticks(down)
        axes.set_yticks([at for at, _ in ticks], [text for _, text in ticks], fontsize=7)


def _ticks(parameter: Parameter) -> list[tuple[float, str]]:
    """Places from 0 to 1 and their labels."""
    if parameter.range:
        unit = parameter.range.get("unit", "")
        return [
            (at, f"{parameter.range[end]:g} {unit}".strip())
            for at, end in ((0.0, "from"), (1.0, "to"))
        ]
    values = _list_values(parameter)
    return [((i + 0.5) / len(values), write_value(value)[:18]) for i, value in enumerate(values)]


def _list_values(parameter: Parameter) -> list[Any]:
    """Plausible values, and the default where it is none of them."""
    values = list(parameter.values)
    return values if parameter.default in values else [*values, parameter.default]


def _heights(
    parameters: Sequence[Parameter], values: Mapping[str, Any], index: int | None
) -> list[float]:
    """Where a point's values are drawn, from 0 to 1; points of one name are spread a little."""
    import math

    heights = []
    for parameter in parameters:
        value = values[parameter.id]
        if parameter.range:
            low, high = float(parameter.range["from"]), float(parameter.range["to"])
            number = as_number(value)
            if parameter.range.get("scale") == "log":
                low, high, number = math.log(low), math.log(high), math.log(number)
            heights.append((number - low) / (high - low))
        else:
            choices = _list_values(parameter)
            spread = 0.0 if index is None else ((index * 0.618) % 1 - 0.5) * 0.5
            heights.append((choices.index(value) + 0.5 + spread) / len(choices))
    return heights
