"""Curves of several runs in one figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.errors import UnsupportedError
from ackclock.plot.figures import _axes, _legend, _note
from ackclock.plot.registry import FIGURES, find
from ackclock.plot.style import figure, line, recipe, style

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.figure import Figure

    from ackclock.plot.shape import Shape
    from ackclock.results.run import Run

__all__ = ["overlay"]


def overlay(
    kind: str,
    runs: Mapping[str, Run],
    *,
    flows: Sequence[int | str] | None = None,
    links: Sequence[int | str] | None = None,
    shape: Shape | None = None,
) -> Figure:
    """Draw the same figure of several runs over each other.

    A run has one dash, and the same flow or link of each run the same colour.

    Parameters
    ----------
    kind
        ``cwnd``, ``throughput``, ``queue``, ``queue-delay``, ``rtt``, ``delay``, ``fairness`` or
        ``completions``.
    runs
        By the names of the legend.
    flows, links, shape
        As of `draw`.

    Raises
    ------
    UnsupportedError
        The figure cannot be overlaid, or a run lacks its table.
    """
    entry = find(kind, "run")
    if not entry.overlays:
        overlayable = ", ".join(
            figure_kind.name for figure_kind in FIGURES.values() if figure_kind.overlays
        )
        raise UnsupportedError(f'the figure "{kind}" cannot be overlaid; these can: {overlayable}')
    options: dict[str, Any] = {entry.selects: {"flows": flows, "links": links}[entry.selects]}
    if shape is not None and entry.takes_window:
        options["window"] = shape.window_s
    single = {name: entry.draw(run, **options).axes[0] for name, run in runs.items()}
    first = next(iter(single.values()))
    chart = figure(None)
    axes = _axes(chart, _title(first.get_title(loc="left")), first.get_xlabel(), first.get_ylabel())
    dashes, colours = style()["dashes"], style()["colours"]
    number_of_label: dict[str, int] = {}
    for number, (name, single_axes) in enumerate(single.items()):
        for curve in single_axes.get_lines():
            label = str(curve.get_label())
            if label.startswith("_") and kind != "fairness":
                continue  # a capacity or another line beside the curves
            if kind == "fairness" and curve is not single_axes.get_lines()[0]:
                continue
            alone = label.startswith("_")
            index = number_of_label.setdefault(label, len(number_of_label))
            look = line(number) if alone else {
                "color": colours[index % len(colours)], "linestyle": dashes[number % len(dashes)]
            }  # fmt: skip
            axes.plot(
                *curve.get_data(),
                drawstyle=curve.get_drawstyle(),
                label=name if alone else f"{name}: {label}",
                **look,
            )
    axes.set_ylim(bottom=0)
    if len({str(run.summary["scenario_hash"]) for run in runs.values()}) == 1:
        _note(axes, "the same scenario, other seeds")
    _legend(axes)
    recipe(
        chart,
        scenario=" ".join(f"{name} {run.summary['scenario_hash']}" for name, run in runs.items()),
        seeds=" ".join(dict.fromkeys(str(run.summary["seed"]) for run in runs.values())),
        version=" ".join(dict.fromkeys(str(run.summary["version"]) for run in runs.values())),
    )
    if shape is not None:
        shape.apply(chart, kind, is_windowed=entry.takes_window)
    return chart


def _title(title: str) -> str:
    """The first line of a title: what is said below it is of one run."""
    return title.split("\n", 1)[0]
