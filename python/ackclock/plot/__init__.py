"""Figures: functions that take a `Run` or a `SweepResult` and return a matplotlib Figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.plot.figures import cwnd, delay, fairness, network_map, queue, throughput
from ackclock.plot.ledger import ledger
from ackclock.plot.overlay import overlay
from ackclock.plot.registry import find, names
from ackclock.plot.sequence import sequence
from ackclock.plot.states import states
from ackclock.plot.style import save
from ackclock.plot.sweeps import ecdf, heatmap, lines, pareto, ranked

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ackclock.plot.sweeps import Swept
    from ackclock.results.run import Run

__all__ = [
    "KINDS",
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
    "queue",
    "ranked",
    "save",
    "sequence",
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
) -> Figure:
    """Draw a figure of a run by name.

    Parameters
    ----------
    kind
        ``cwnd``, ``throughput``, ``queue``, ``delay``, ``fairness``, ``sequence``, ``states``
        or ``map``.
    run
        What to draw.
    flows
        Which flows, by number or name; left out: all.
    links
        Which links, by number or name; left out: those with the longest mean queues.

    Raises
    ------
    UnsupportedError
        There is no such figure, or the table that it needs was not recorded.
    """
    found = find(kind, "run")
    chosen = {"flows": flows, "links": links}
    return found.draw(run, **{found.selects: chosen[found.selects]} if found.selects else {})


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
    given = {name: value for name, value in options.items() if value is not None}
    known = [name for name in inspect.signature(function).parameters if name != "result"]
    for name in given:
        if name not in known:
            message = f'the figure "{kind}" has no option {name}; it has {", ".join(known)}'
            raise UnsupportedError(message)
    return function(result, **given)
