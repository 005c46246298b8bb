"""The phase plot of Chiu and Jain: the rate of one flow over that of another."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import UnsupportedError
from ackclock.plot.figures import _axes, _choose_names, _labels, _note, _series
from ackclock.plot.style import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.figure import Figure

    from ackclock.results.run import Run

__all__ = ["phase"]

_MEAN_OVER_S = 1.0
"""Rates are means over about this time, so that the line is not drawn by single packets [s]."""


def phase(
    run: Run,
    *,
    flows: Sequence[int | str] | None = None,
    window: tuple[float, float] | None = None,
) -> Figure:
    """Rate of the second flow over that of the first, time as colour. Needs ``flow_samples``.

    Dashed: equal rates; dotted: rates that fill the slowest link that both may use, taken as the
    busiest link of the run.

    Source: Chiu and Jain, "Analysis of the increase and decrease algorithms for congestion
    avoidance in computer networks", Computer Networks and ISDN Systems 17, 1989, figure 5.

    Parameters
    ----------
    run
        What to draw.
    flows
        Two of them, by number or name; left out: the first two.
    window
        Time shown, from and to [s]; None: all.

    Raises
    ------
    UnsupportedError
        There are not two flows.
    """
    from matplotlib.collections import LineCollection

    names, labels = _choose_names(run, "flows", flows), _labels(run)
    if len(names) < 2 or (flows is not None and len(names) != 2):
        raise UnsupportedError(f"a phase plot is of two flows, not of {len(names)}")
    rates, times = [], np.zeros(0)
    columns = ["time_s", "delivered_bytes"]
    for _, time, delivered in _series(run.table("flow_samples"), "flow", names[:2], columns):
        step = time[1] - time[0] if len(time) > 1 else _MEAN_OVER_S
        apart = max(1, round(_MEAN_OVER_S / step))
        rates.append(8e-6 * (delivered[apart:] - delivered[:-apart]) / (apart * step))
        times = time[apart:]
    in_window = np.ones(len(times), dtype=bool)
    if window is not None:
        in_window = (times >= window[0]) & (times <= window[1])
    if in_window.sum() < 2:
        raise UnsupportedError("a phase plot needs two samples in its window of time")
    x, y = (values[: len(in_window)][in_window] for values in rates)
    chart = figure(run.summary, width=5.6, height=4.6)
    first, second = (labels[name] for name in names[:2])
    axes = _axes(chart, "Phase plot", f"{first} [Mbit/s]", f"{second} [Mbit/s]")
    points = np.column_stack([x, y])
    pieces = np.stack([points[:-1], points[1:]], axis=1)
    curve = LineCollection(list(pieces), cmap="viridis", linewidths=1.4)
    curve.set_array(times[in_window][1:])
    axes.add_collection(curve)
    axes.plot(x[-1:], y[-1:], "o", color="black", markersize=4)
    capacity = max(link["utilisation"] * link["rate_bps"] for link in run.summary["links"]) / 1e6
    most = 1.05 * max(float(x.max()), float(y.max()), capacity)
    axes.plot([0, most], [0, most], "--", color="#57606a", linewidth=1)
    axes.plot([0, capacity], [capacity, 0], ":", color="#57606a", linewidth=1)
    axes.set_xlim(0, most)
    axes.set_ylim(0, most)
    axes.set_aspect("equal")
    chart.colorbar(curve, ax=axes, label="time [s]")
    _note(axes, "means over 1 s; dashed: equal; dotted: a full link; dot: the end")
    return chart
