"""Maps of fluid outcomes: networks drawn by capacity, shaded by dead traffic and by zombies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.number_text import without_rounding

if TYPE_CHECKING:
    import numpy.typing as npt
    import pyarrow as pa
    from matplotlib.figure import Figure

    from ackclock.engines.fluid.graph import Graph

    Floats = npt.NDArray[np.float64]

__all__ = ["arrange_nodes", "draw"]


def arrange_nodes(graph: Graph, known_positions: Floats | None = None) -> Floats:
    """Give every node a place in the plane, ``(n_nodes, 2)``.

    Parameters
    ----------
    graph
        The network.
    known_positions
        Longitude and latitude; used where all nodes have them.

    Returns
    -------
    ndarray
        The places given; else those that keep shortest paths in proportion (Kamada and Kawai) for
        routers, and leaves in a circle around their router. The same for the same network.
    """
    import networkx as nx

    if known_positions is not None and len(known_positions) and np.isfinite(known_positions).all():
        return known_positions
    network: Any = nx.Graph()
    network.add_nodes_from(range(len(graph.nodes)))
    network.add_edges_from(zip(graph.src.tolist(), graph.dst.tolist(), strict=True))
    leaves = {n for n in network if network.degree(n) == 1}
    core = network.subgraph([n for n in network if n not in leaves])
    if len(core) < 2:
        core, leaves = network, set()
    positions = np.zeros((len(graph.nodes), 2))
    for node, position in nx.kamada_kawai_layout(core).items():
        positions[node] = position
    spread = 0.5 * _nearest(np.array([positions[n] for n in core]))
    for node in core:
        mine = [n for n in network[node] if n in leaves]
        for i, leaf in enumerate(mine):
            angle = 2 * np.pi * i / len(mine)
            positions[leaf] = positions[node] + spread * np.array([np.cos(angle), np.sin(angle)])
    return positions


def _nearest(places: Floats) -> float:
    """Median distance from a place to the nearest other."""
    apart = np.hypot(*(places[:, None, :] - places[None, :, :]).transpose(2, 0, 1))
    np.fill_diagonal(apart, np.inf)
    return float(np.median(apart.min(axis=1)))


def draw(
    graph: Graph,
    links: pa.Table,
    known_positions: Floats | None = None,
    *,
    title: str = "",
    unit: str = "",
) -> Figure:
    """Draw a network twice: nodes shaded by the dead traffic dropped there, and by zombies.

    A node's size and a link's width grow with capacity; a link's shade is its utilisation.

    Parameters
    ----------
    graph
        The network.
    links
        Table of its links' outcome, as of a fluid run.
    known_positions
        Where nodes are; see `arrange_nodes`.
    title
        Title of the figure.
    unit
        Unit of rates.
    """
    from matplotlib.collections import LineCollection

    from ackclock.plot.notebook import NotebookFigure

    positions = arrange_nodes(graph, known_positions)
    n = len(graph.nodes)
    capacity = np.bincount(graph.src, graph.capacity, n)
    size = 8 + 150 * capacity / capacity.max()
    width = 0.4 + 3 * np.sqrt(graph.capacity / graph.capacity.max())
    used = links["utilisation"].to_numpy()
    figure = NotebookFigure(figsize=(11, 5.2), layout="constrained")
    if title:
        figure.suptitle(title)
    panels = figure.subplots(1, 2)
    segments = [(positions[a], positions[b]) for a, b in zip(graph.src, graph.dst, strict=True)]
    # The busier direction of a full-duplex link is drawn last, on top.
    order = np.argsort(used)
    for axes, column, name in zip(panels, ("dead", "zombies"), ("dead", "zombie"), strict=True):
        lines = LineCollection(
            [segments[i] for i in order],
            linewidths=width[order],
            array=used[order],
            cmap="Greys",
            clim=(-0.3, 1.0),
            zorder=1,
        )
        axes.add_collection(lines)
        # Drops happen at the router that a link leaves.
        dropped = np.bincount(graph.src, links[column].to_numpy(), n).astype(np.float64)
        # A rounding error must not become the darkest shade of a map.
        value = without_rounding(dropped, capacity.astype(np.float64))
        top = value.max() if value.max() > 0 else 1.0
        dots = axes.scatter(
            *positions.T, s=size, c=value, cmap="viridis_r", vmin=0, vmax=top, edgecolors="black",
            linewidths=0.3, zorder=2,
        )  # fmt: skip
        figure.colorbar(
            dots, ax=axes, label=f"{name} traffic dropped{f' [{unit}]' if unit else ''}"
        )
        axes.set_title(f"{name} traffic")
        axes.set_axis_off()
        axes.autoscale_view()
        if n <= 40:
            for node, position in zip(graph.nodes, positions, strict=True):
                axes.annotate(node, position, fontsize=6, xytext=(4, 4), textcoords="offset points")
    return figure
