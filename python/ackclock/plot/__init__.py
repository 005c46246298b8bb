"""Figures of runs: functions that take a `Run` and return a matplotlib Figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.plot.figures import cwnd, delay, fairness, network_map, queue, throughput
from ackclock.plot.style import save

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ackclock.results.run import Run

__all__ = [
    "KINDS",
    "cwnd",
    "delay",
    "draw",
    "fairness",
    "network_map",
    "queue",
    "save",
    "throughput",
]


KINDS = ("cwnd", "throughput", "queue", "delay", "fairness", "map")
"""Names of figures that `draw` makes."""


def draw(
    kind: str,
    run: Run,
    *,
    flows: Sequence[int | str] | None = None,
    links: Sequence[int | str] | None = None,
) -> Figure:
    """Draw a figure by name.

    Parameters
    ----------
    kind
        ``cwnd``, ``throughput``, ``queue``, ``delay``, ``fairness`` or ``map``.
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
    from ackclock.errors import UnsupportedError, suggestion

    if kind == "queue":
        return queue(run, links=links)
    if kind == "map":
        return network_map(run)
    by_flow = {"cwnd": cwnd, "throughput": throughput, "delay": delay, "fairness": fairness}
    if kind not in by_flow:
        hint = suggestion(kind, KINDS)
        message = f'there is no figure "{kind}"; {hint}'
        raise UnsupportedError(message)
    return by_flow[kind](run, flows=flows)
