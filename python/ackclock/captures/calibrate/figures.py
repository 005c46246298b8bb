"""Figures of a calibrated path: rates, round trips beside the replay, alternatives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.captures.read.figures import thin
from ackclock.captures.read.measures import goodput_over_time
from ackclock.plot.style import figure, line, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from ackclock.captures.calibrate.alternatives import Alternative
    from ackclock.captures.calibrate.estimate import PathEstimate
    from ackclock.captures.trace import FlowTrace

__all__ = ["draw_all"]


def _axes(picture: Figure, y: str) -> Axes:
    import matplotlib as mpl

    with mpl.rc_context(style()["rc"]):
        axes: Axes = picture.subplots()
    axes.set_xlabel("time [s]")
    axes.set_ylabel(y)
    return axes


def draw_all(
    path: PathEstimate,
    measured: FlowTrace,
    replayed: FlowTrace | None,
    alternatives: list[Alternative],
) -> dict[str, tuple[str, Figure]]:
    """Draw what there is, by name with title.

    Parameters
    ----------
    path
        The path.
    measured
        The flow from which it was calibrated.
    replayed
        The flow of the replay.
    alternatives
        What others did.
    """
    pictures = {}
    times, rates, busy = path.rates
    if len(times):
        picture = figure(None)
        axes = _axes(picture, "rate on the wire [Mbit/s]")
        axes.plot(times, rates / 1e6, ".", color="#999999", label="delivered")
        mask = busy > 0
        axes.plot(times[mask], rates[mask] / 1e6, ".", label="while the bottleneck was busy")
        if path.rate_bps is not None:
            axes.axhline(path.rate_bps.value / 1e6, linewidth=0.9, **line(1))
        axes.set_ylim(bottom=0)
        axes.legend()
        pictures["rates"] = "Rates by windows", picture
    if replayed is not None and len(measured.rtts["time_s"]):
        picture = figure(None)
        axes = _axes(picture, "round trip [ms]")
        flows = (("measured", measured), ("replayed", replayed))
        for index, (label, flow) in enumerate(flows):
            curve = thin(flow.rtts["time_s"], flow.rtts["rtt_s"] * 1e3)
            axes.plot(*curve, linewidth=0.8, label=label, **line(index))
        axes.set_ylim(bottom=0)
        axes.legend()
        pictures["rtt"] = "Round trips, measured and replayed", picture
    if alternatives:
        picture = figure(None)
        axes = _axes(picture, "goodput [Mbit/s]")
        start, last = measured.samples["time_s"][[0, -1]]
        times, rates = goodput_over_time(measured, max(float(last - start) / 100, 1e-3))
        end = max((float(a.curve[0][-1]) for a in alternatives if len(a.curve[0])), default=0)
        mask = times - start <= end
        axes.plot(times[mask], rates[mask] / 1e6, color="#000000", label="measured")
        for index, other in enumerate(alternatives[:8]):
            axes.plot(
                other.curve[0], other.curve[1] / 1e6, linewidth=0.9,
                label=f"{other.control}, {other.qdisc}", **line(index),
            )  # fmt: skip
        axes.set_ylim(bottom=0)
        axes.legend(fontsize=7)
        pictures["alternatives"] = "The measured flow beside alternatives, on one draw", picture
    return pictures
