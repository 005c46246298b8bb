"""Figures of what was read, in the style of those of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.captures.read.measures import goodput_over_time
from ackclock.plot.style import figure, line, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ackclock.captures.trace import Floats, FlowTrace, Trace

__all__ = ["MOST_FLOWS", "draw_all"]

MOST_FLOWS = 6
"""Flows that are drawn, those with most bytes."""
_MOST_POINTS = 4000
"""Points of a curve; beyond, least and most of equal pieces are drawn."""


def draw_all(trace: Trace) -> dict[str, Figure]:
    """Draw sequence numbers, goodput, round trips and flight; what has no data is left out.

    Parameters
    ----------
    trace
        What was read.
    """
    flows = trace.flows[:MOST_FLOWS]
    figures: dict[str, Figure | None] = {
        "goodput": _goodput(flows),
        "rtt": _curves(flows, "Round trips", "round trip [ms]", _rtts),
        "flight": _curves(flows, "Bytes in flight", "in flight [kB]", _flights),
        "window": _curves(flows, "Congestion window", "window [kB]", _windows),
        "sequence": _sequence(flows[0]) if flows else None,
    }
    return {name: picture for name, picture in figures.items() if picture is not None}


def _axes(picture: Figure, title: str, y: str) -> Axes:
    import matplotlib as mpl

    with mpl.rc_context(style()["rc"]):
        axes: Axes = picture.subplots()
    axes.set_title(title)
    axes.set_xlabel("time [s]")
    axes.set_ylabel(y)
    return axes


def _label(flow: FlowTrace) -> str:
    return f"flow {flow.name}" + (f" ({flow.control})" if flow.control else "")


def thin(times: Floats, values: Floats) -> tuple[Floats, Floats]:
    """Reduce a curve to least and most of equal pieces, so that its outline stays.

    Parameters
    ----------
    times, values
        The curve.
    """
    if len(times) <= _MOST_POINTS:
        return times, values
    size = -(-len(times) // (_MOST_POINTS // 2))
    indices: list[int] = []
    for start in range(0, len(times), size):
        piece = values[start : start + size]
        indices += sorted({start + int(piece.argmin()), start + int(piece.argmax())})
    return times[indices], values[indices]


def _rtts(flow: FlowTrace) -> tuple[Floats, Floats]:
    return flow.rtts["time_s"], flow.rtts["rtt_s"] * 1e3


def _flights(flow: FlowTrace) -> tuple[Floats, Floats]:
    return flow.samples["time_s"], flow.samples["flight_bytes"] / 1e3


def _windows(flow: FlowTrace) -> tuple[Floats, Floats]:
    return flow.samples["time_s"], flow.samples["cwnd_bytes"] / 1e3


def _curves(flows: list[FlowTrace], title: str, y: str, series: Any) -> Figure | None:
    curves = []
    for index, flow in enumerate(flows):
        times, values = series(flow)
        is_measured = np.isfinite(values)
        if is_measured.any():
            curves.append((index, _label(flow), *thin(times[is_measured], values[is_measured])))
    if not curves:
        return None
    picture = figure(None)
    axes = _axes(picture, title, y)
    for index, label, times, values in curves:
        axes.plot(times, values, linewidth=0.9, label=label, **line(index))
    axes.set_ylim(bottom=0)
    axes.legend()
    return picture


def _goodput(flows: list[FlowTrace]) -> Figure | None:
    spans = [flow.samples["time_s"] for flow in flows if len(flow.samples["time_s"]) > 1]
    if not spans:
        return None
    length = max(float(times[-1] - times[0]) for times in spans)
    step_s = max(length / 120, 1e-3)
    return _curves(
        flows,
        f"Goodput, means over {step_s:.3g} s",
        "goodput [Mbit/s]",
        lambda flow: _scale_rates(*goodput_over_time(flow, step_s)),
    )


def _scale_rates(times: Floats, rates: Floats) -> tuple[Floats, Floats]:
    return times, rates / 1e6


def _sequence(flow: FlowTrace) -> Figure | None:
    if flow.protocol == "udp" or not len(flow.events["time_s"]):
        return None
    picture = figure(None)
    unit, scale = ("packet", 1.0) if not flow.has_stream else ("byte of the stream [kB]", 1e3)
    axes = _axes(picture, f"Time sequence of flow {flow.name}", unit)
    colours = style()["colours"]
    for kind, marker, colour, column in (
        ("sent", ".", colours[0], "start"),
        ("retransmitted", "s", colours[4], "start"),
        ("reordered", "d", colours[3], "start"),
        ("lost", "x", colours[1], "start"),
    ):
        rows = flow.select(kind)
        if len(rows["time_s"]):
            step = -(-len(rows["time_s"]) // (20 * _MOST_POINTS))
            axes.plot(
                rows["time_s"][::step], rows[column][::step] / scale, marker, markersize=2.5,
                color=colour, label=kind, rasterized=True,
            )  # fmt: skip
    rows = flow.select("acknowledged")
    if len(rows["time_s"]):
        axes.plot(
            *thin(rows["time_s"], rows["end"] / scale), linewidth=0.8, color="#666666",
            label="acknowledged",
        )  # fmt: skip
    axes.set_ylim(bottom=0)
    axes.legend()
    return picture
