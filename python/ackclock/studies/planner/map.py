"""The network as a planner sees it: links coloured by utilisation, failures dashed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.studies.bottlenecks.maps import arrange_nodes

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    from matplotlib.figure import Figure

    from ackclock.studies.planner.situation import Situation

    Floats = npt.NDArray[np.float64]

__all__ = ["draw_map"]

_MOST_NAMED = 40
_MARKED = 5


def draw_map(
    situation: Situation,
    utilisation: Floats,
    *,
    title: str,
    down: Sequence[int] = (),
    marked: Sequence[str] = (),
    nodes: Sequence[str] = (),
    label: str = "load over capacity",
) -> Figure:
    """Draw a network.

    Parameters
    ----------
    situation
        The network.
    utilisation
        Load over capacity of each directed link; the busier direction gives the colour.
    title
        Title of the figure.
    down
        Directed links that failed, drawn dashed.
    marked
        Full-duplex links, by name, that are drawn with a border.
    nodes
        Nodes, by name, that are drawn large.
    label
        What the colour is.
    """
    from matplotlib.collections import LineCollection

    from ackclock.plot.notebook import NotebookFigure

    graph = situation.network.graph
    positions = arrange_nodes(graph, situation.network.coordinates)
    used = utilisation.reshape(-1, 2).max(axis=1)
    rows = np.arange(situation.links)
    segments = np.array([(positions[graph.src[2 * r]], positions[graph.dst[2 * r]]) for r in rows])
    width = 1.0 + 3.0 * np.sqrt(graph.capacity[::2] / graph.capacity.max())
    failed = np.isin(2 * rows, down)
    named = np.array([situation.link(r) in marked for r in range(situation.links)], dtype=np.bool_)
    figure = NotebookFigure(figsize=(9, 6), layout="constrained")
    axes = figure.add_subplot()
    if named.any():
        axes.add_collection(
            LineCollection(list(segments[named]), linewidths=width[named] + 4, colors="#D55E00")
        )
    order = rows[~failed][np.argsort(used[~failed], kind="stable")]
    top = max(1.0, float(used[~failed].max(initial=0.0)))
    lines = LineCollection(
        list(segments[order]), linewidths=width[order], array=used[order], cmap="cividis_r",
        clim=(0.0, top),
    )  # fmt: skip
    axes.add_collection(lines)
    axes.add_collection(
        LineCollection(
            list(segments[failed]), linewidths=1.5, linestyles="dashed", colors="#D55E00"
        )
    )
    figure.colorbar(lines, ax=axes, label=label)
    axes.scatter(positions[:, 0], positions[:, 1], s=18, color="black", zorder=3)
    large = np.isin(np.array(graph.nodes), list(nodes))
    if large.any():
        axes.scatter(positions[large, 0], positions[large, 1], s=110, color="#D55E00", zorder=2.5)
    if len(graph.nodes) <= _MOST_NAMED:
        for node, position in zip(graph.nodes, positions, strict=True):
            axes.annotate(node, position, fontsize=7, xytext=(4, 4), textcoords="offset points")
    for row in order[::-1][:_MARKED]:
        middle = segments[row].mean(axis=0)
        axes.annotate(
            f"{100 * used[row]:.0f} %",
            middle,
            fontsize=8,
            ha="center",
            va="center",
            zorder=4,
            bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none"},
        )
    axes.set_title(title)
    axes.set_axis_off()
    axes.autoscale_view()
    return figure
