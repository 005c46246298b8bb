"""Round-trip times and queueing delay over time."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import UnsupportedError
from ackclock.plot.figures import (
    _axes,
    _choose_names,
    _labels,
    _name_or_list,
    _note,
    _series,
    longest_queues,
)
from ackclock.plot.style import figure, line

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.figure import Figure

    from ackclock.results.run import Run

    Values = npt.NDArray[np.float64]

__all__ = ["queue_delay", "rtt"]

_MOST_POINTS = 2000
"""Samples of a curve beyond which it is drawn as ranges."""
_INTERVALS = 300


def rtt(run: Run, *, flows: Sequence[int | str] | None = None) -> Figure:
    """Round-trip times over time. Needs the table ``rtts``, or ``flow_samples`` (smoothed RTTs).

    Of more than 2000 samples of a flow the medians of 300 intervals are drawn, with the range from
    the 5th to the 95th percentile as a band.

    Parameters
    ----------
    run
        What to draw.
    flows
        Which flows, by number or name; left out: all.
    """
    is_each = "rtts" in run.tables
    table, column = ("rtts", "rtt_s") if is_each else ("flow_samples", "srtt_s")
    chart = figure(run.summary)
    title = "Round-trip times" if is_each else "Smoothed round-trip times"
    axes = _axes(chart, title, "time [s]", "round-trip time [ms]")
    names, labels = _choose_names(run, "flows", flows), _labels(run)
    has_ranges = False
    for i, (name, time, sample) in enumerate(
        _series(run.table(table), "flow", names, ["time_s", column])
    ):
        is_sample = np.isfinite(sample) & (sample > 0)
        times, values = time[is_sample], sample[is_sample] * 1e3
        look = line(i)
        if len(values) > _MOST_POINTS:
            has_ranges = True
            middles, low, median, high = _percentiles(times, values)
            axes.fill_between(middles, low, high, color=look["color"], alpha=0.18, linewidth=0)
            axes.plot(middles, median, label=labels[name], **look)
        else:
            axes.plot(times, values, label=labels[name], **look)
    axes.set_ylim(bottom=0)
    if has_ranges:
        _note(axes, "medians of 300 intervals; band: 5th to 95th percentile")
    _name_or_list(axes)
    return chart


def _percentiles(times: Values, values: Values) -> tuple[Values, Values, Values, Values]:
    edges = np.linspace(times[0], times[-1], _INTERVALS + 1)
    bounds = np.searchsorted(times, edges)
    bounds[-1] = len(times)
    rows = [
        ((edges[i] + edges[i + 1]) / 2, *np.percentile(values[first:last], (5, 50, 95)))
        for i, (first, last) in enumerate(pairwise(bounds))
        if last > first
    ]
    middles, low, median, high = np.array(rows).T
    return middles, low, median, high


def queue_delay(run: Run, *, links: Sequence[int | str] | None = None) -> Figure:
    """Queueing delay over time: bytes queued over the link's rate.

    Needs the table ``queues`` or ``link_samples``. It is what a packet that arrives then waits if
    the queue serves in order of arrival.

    Parameters
    ----------
    run
        What to draw.
    links
        Which links of a constant rate, by number or name; left out: of those the three with the
        longest mean queue.

    Raises
    ------
    UnsupportedError
        A link's rate changes.
    """
    varying = {str(link["id"]) for link in run.scenario.explain().data["links"] if link["varies"]}
    names = _choose_names(run, "links", links)
    if links is None:
        names = longest_queues(run, [name for name in names if name not in varying])
    for name in names:
        if name in varying:
            message = f'the rate of the link "{name}" changes; the figure "queue" shows its packets'
            raise UnsupportedError(message)
    if not names:
        raise UnsupportedError("the rates of all links change; the figure queue shows packets")
    chart = figure(run.summary)
    axes = _axes(chart, "Queueing delay", "time [s]", "bytes queued over the rate [ms]")
    rates = {str(link["id"]): float(link["rate_bps"]) for link in run.summary["links"]}
    rows = run.table("queues" if "queues" in run.tables else "link_samples")
    for i, (name, time, size) in enumerate(_series(rows, "link", names, ["time_s", "queue_bytes"])):
        delay_ms = size * 8e3 / rates[name]
        axes.plot(time, delay_ms, drawstyle="steps-post", label=name, **line(i))
    axes.set_ylim(bottom=0)
    count = len(run.summary["links"])
    if len(names) < count:
        _note(axes, f"{len(names)} of {count} links (each direction is one)")
    _name_or_list(axes)
    return chart
