"""Figures: functions that take a `Run` or a `SweepResult` and return a matplotlib Figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.plot.delays import queue_delay, rtt
from ackclock.plot.fairness_plane import phase
from ackclock.plot.figures import cwnd, delay, fairness, network_map, queue, throughput
from ackclock.plot.ledger import ledger
from ackclock.plot.overlay import overlay
from ackclock.plot.registry import find, names
from ackclock.plot.sequence import sequence
from ackclock.plot.shape import Shape
from ackclock.plot.states import states
from ackclock.plot.style import save
from ackclock.plot.sweeps import ecdf, heatmap, lines, pareto, ranked
from ackclock.plot.transfers import completions, slowdown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ackclock.plot.sweeps import Swept
    from ackclock.results.run import Run

__all__ = [
    "KINDS",
    "Shape",
    "completions",
    "cwnd",
    "delay",
    "draw",
    "draw_sweep",
    "ecdf",
    "fairness",
    "heatmap",
    "ledger",
    "lines",
    "network_map",
    "overlay",
    "pareto",
    "phase",
    "queue",
    "queue_delay",
    "ranked",
    "rtt",
    "save",
    "sequence",
    "slowdown",
    "states",
    "throughput",
]


KINDS = names()
"""Names of figures, of runs and of sweeps."""


def draw(
    kind: str,
    run: Run,
    *,
    flows: Sequence[int | str] | None = None,
    links: Sequence[int | str] | None = None,
    shape: Shape | None = None,
) -> Figure:
    """Draw a figure of a run by name; its Matplotlib axes, ``figure.axes``, may be changed further.

    Parameters
    ----------
    kind
        ``cwnd``, ``throughput``, ``queue``, ``queue-delay``, ``rtt``, ``delay``, ``fairness``,
        ``phase``, ``completions``, ``slowdown``, ``sequence``, ``states``, ``ledger`` or ``map``.
    run
        What to draw.
    flows
        Which flows, by number or name; left out: all.
    links
        Which links, by number or name; left out: those with the longest mean queues.
    shape
        Window of time, size, title and labels; left out: the figure's.

    Raises
    ------
    UnsupportedError
        There is no such figure, the table that it needs was not recorded, or it has no window.
    """
    entry = find(kind, "run")
    selection = {"flows": flows, "links": links}
    options: dict[str, Any] = {entry.selects: selection[entry.selects]} if entry.selects else {}
    if shape is not None and entry.takes_window:
        options["window"] = shape.window_s
    chart = entry.draw(run, **options)
    if shape is not None:
        shape.apply(chart, kind, is_windowed=entry.takes_window)
    return chart


def draw_sweep(kind: str, result: Swept, **options: Any) -> Figure:
    """Draw a figure of a sweep by name.

    Parameters
    ----------
    kind
        ``lines``, ``heatmap``, ``ranked``, ``ecdf`` or ``pareto``.
    result
        What to draw; see `ackclock.SweepResult.plot`.
    **options
        Of the function of that name; those that are None are left out.

    Raises
    ------
    UnsupportedError
        There is no such figure, or it has no such option.
    """
    import inspect

    from ackclock.errors import UnsupportedError

    function = find(kind, "sweep").draw
    stated = {name: value for name, value in options.items() if value is not None}
    parameters = [name for name in inspect.signature(function).parameters if name != "result"]
    for name in stated:
        if name not in parameters:
            message = f'the figure "{kind}" has no option {name}; it has {", ".join(parameters)}'
            raise UnsupportedError(message)
    return function(result, **stated)
