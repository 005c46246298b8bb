"""The figure of a comparison: windows over each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.plot.notebook import NotebookFigure

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.studies.differ.measure import Parting, PeerTrace

__all__ = ["draw_windows"]

FLOWS = 4
"""Flows that are drawn."""


def draw_windows(
    traces: Mapping[str, tuple[PeerTrace, PeerTrace]], partings: Mapping[str, Parting]
) -> NotebookFigure | None:
    """Draw the windows of the first few flows.

    Parameters
    ----------
    traces
        By flow, our window and the peer's.
    partings
        By flow, where they part.

    Returns
    -------
    NotebookFigure or None
        None if no flow has a window.
    """
    first_traces = list(traces.items())[:FLOWS]
    if not first_traces:
        return None
    figure = NotebookFigure(figsize=(9, 2.4 * len(first_traces)), layout="constrained")
    all_axes = figure.subplots(len(first_traces), 1, squeeze=False)[:, 0]
    for axes, (flow, pair) in zip(all_axes, first_traces, strict=True):
        for trace, colour in zip(pair, ("#0072B2", "#D55E00"), strict=True):
            axes.step(trace.time_s, trace.cwnd, where="post", color=colour, linewidth=0.9)
        tenth = partings[flow].tenth
        if tenth is not None:
            axes.axvline(tenth.time_s, color="#777777", linestyle=":", linewidth=1)
        axes.set_ylabel(f"{flow}: cwnd [packets]")
        axes.set_ylim(bottom=0)
    all_axes[-1].set_xlabel("time [s]")
    return figure
