"""Draws a paper's figure with the paper's axes: one function per kind of figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util import number_text
from ackclock.plot import style
from ackclock.reproduce.run.layers import DrawnLayer, order_values

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas
    from matplotlib.text import Text

    from ackclock.reproduce.figure import Figure

    Layers = Mapping[str, Sequence[DrawnLayer]]
    Look = dict[str, Any]

__all__ = ["draw"]

MOST_ROWS = 40
"""Of a table; the CSV file has all."""

MARKS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "h")
DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.5)), (0, (5, 1.5, 1, 1.5)))
"""Of panels that share one axis, in their order."""
MOST_INSIDE = 6
"""Entries of a legend that find room between curves."""


def draw(figure: Figure, layers: Layers) -> Canvas:
    """Draw a figure.

    Parameters
    ----------
    figure
        The entry of ``figures.toml``.
    layers
        What its queries gave.
    """
    import matplotlib as mpl

    entry = figure.entry
    everything = [row for layer in layers.values() for row in layer]
    named = {panel["key"]: panel for panel in entry.get("panel", ())}
    panels = order_values((row["panel"] for row in everything), list(named)) or [None]
    if entry.get("overlay"):
        return _overlay(entry, layers, panels, named)
    columns = min(entry.get("columns", 2), len(panels))
    rows = math.ceil(len(panels) / columns)
    each = 5.4 if entry["kind"] == "map" else 4.6
    width = each * columns if columns > 1 else 6.4
    with mpl.rc_context(style.style()["rc"]):
        canvas = style.figure(None, width, _height(entry, everything, rows))
        grid = canvas.subplots(rows, columns, squeeze=False).ravel()
        for axes in grid[len(panels) :]:
            axes.set_axis_off()
        for number, (axes, panel) in enumerate(zip(grid, panels, strict=False)):
            inside = {
                name: [row for row in layer if row["panel"] == panel]
                for name, layer in layers.items()
            }
            _KINDS[entry["kind"]](axes, entry, inside, layers)
            if number == 0 and entry["kind"] in ("line", "scatter", "bar"):
                _legend(axes, layers, outside=entry["kind"] == "bar")
            panel_entry = named.get(panel, {})
            if entry["kind"] in ("line", "scatter", "bar"):
                for which in ("x", "y"):
                    _axis(
                        axes,
                        which,
                        {**entry.get(which, {}), **panel_entry.get(which, {})},
                        entry["kind"],
                    )
            if panel is not None:
                axes.set_title(str(panel_entry.get("title", panel)))
    return canvas


def _overlay(
    entry: Mapping[str, Any], layers: Layers, panels: Sequence[Any], named: Mapping[Any, Any]
) -> Canvas:
    """Draw panels of lines in one axis: series keep their colours, panels differ by dashes."""
    import matplotlib as mpl

    with mpl.rc_context(style.style()["rc"]):
        canvas = style.figure(None, 6.4, 4.6)
        axes = canvas.subplots()
        for number, panel in enumerate(panels):
            inside = {
                name: [row for row in layer if row["panel"] == panel]
                for name, layer in layers.items()
            }
            before = len(axes.get_lines())
            _curves(axes, entry, inside, layers)
            lines = axes.get_lines()[before:]
            for line in lines:
                line.set_linestyle(DASHES[number % len(DASHES)])
                if number:
                    line.set_label("_again")
            ends = [
                (float(np.asarray(line.get_xdata())[-1]), float(np.asarray(line.get_ydata())[-1]))
                for line in lines
            ]
            if ends:
                title = str(named.get(panel, {}).get("title", panel))
                top = max(ends, key=lambda end: end[1])
                axes.annotate(title, top, xytext=(-4, 6), textcoords="offset points", ha="right")
        _legend(axes, layers, outside=True)
        for which in ("x", "y"):
            _axis(axes, which, entry.get(which, {}), entry["kind"])
    return canvas


def _height(entry: Mapping[str, Any], everything: Sequence[DrawnLayer], rows: int) -> float:
    """Height of the figure [inch]; a table needs as much as its rows."""
    if entry["kind"] == "table":
        return 0.5 + 0.22 * (1 + min(len(everything), MOST_ROWS))
    return (4.2 if entry["kind"] == "map" else 3.6) * rows


def _axis(axes: Axes, which: str, settings: Mapping[str, Any], kind: str) -> None:
    setter = axes.set_xlabel if which == "x" else axes.set_ylabel
    setter(_label(settings))
    if kind == "bar" and which == "x":
        return
    if "limits" in settings:
        low, high = settings["limits"]
        (axes.set_xlim if which == "x" else axes.set_ylim)(low, high)
    if settings.get("scale") == "log":
        from ackclock.plot.log_axis import make_logarithmic

        make_logarithmic(axes, "x" if which == "x" else "y")
    elif "scale" in settings:
        (axes.set_xscale if which == "x" else axes.set_yscale)(settings["scale"])
    elif which == "x" and not settings.get("unit"):
        _whole_ticks(axes)


def _whole_ticks(axes: Axes) -> None:
    """Counts have no halves: ticks at whole numbers if all that is drawn is there."""
    from matplotlib.ticker import MaxNLocator

    drawn = [np.asarray(line.get_xdata(), dtype=float) for line in axes.get_lines()]
    x = np.concatenate(drawn) if drawn else np.zeros(0)
    x = x[np.isfinite(x)]
    if x.size and np.all(x == np.round(x)) and np.ptp(x) >= 2:
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _label(settings: Mapping[str, Any]) -> str:
    label, unit = settings.get("label", ""), settings.get("unit")
    return f"{label} [{unit}]" if unit else str(label)


def _factor(entry: Mapping[str, Any], which: str) -> float:
    return float(entry.get(which, {}).get("factor", 1.0))


def _series(entry: Mapping[str, Any], layers: Layers) -> dict[Any, tuple[int, str]]:
    """Number, which is its colour, and label of each series found; the same in all panels.

    Series that the entry names keep their numbers where one of them has no data: figures that name
    the same series then have the same colours.
    """
    named = {item["key"]: item.get("label", str(item["key"])) for item in entry.get("series", ())}
    keys = order_values((row["series"] for layer in layers.values() for row in layer), list(named))
    unnamed_keys = [key for key in keys if key not in named]
    numbers = {key: i for i, key in enumerate([*named, *unnamed_keys])}
    return {key: (numbers[key], named.get(key, "" if key is None else str(key))) for key in keys}


def _points(
    rows: Sequence[DrawnLayer], key: Any, entry: Mapping[str, Any]
) -> tuple[Any, Any, Any, Any]:
    """Arrays x, y, low, high of one series, in order of x."""
    mine = [row for row in rows if row["series"] == key and row["y"] is not None]
    mine = sorted((row for row in mine if row["x"] is not None), key=lambda row: row["x"])
    x = np.array([row["x"] for row in mine], dtype=float) * _factor(entry, "x")
    factor = _factor(entry, "y")
    y = np.array([row["y"] for row in mine], dtype=float) * factor
    low = np.array([row.low for row in mine], dtype=float) * factor
    high = np.array([row.high for row in mine], dtype=float) * factor
    return x, y, low, high


def _curves(
    axes: Axes,
    entry: Mapping[str, Any],
    inside: Layers,
    layers: Layers,
) -> None:
    """Lines or points with intervals; model curves dashed; printed values hollow."""
    scattered = entry["kind"] == "scatter"
    steps: Look = {"drawstyle": "steps-post"} if entry.get("steps") else {}
    for key, (number, label) in _series(entry, layers).items():
        look = style.line(number)
        colour, mark = look["color"], MARKS[number % len(MARKS)]
        x, y, low, high = _points(inside.get("data", ()), key, entry)
        band = bool(entry.get("band", True)) and len(x) > 0 and not np.isnan(low).all()
        if not len(x):
            pass
        elif scattered:
            error = [np.nan_to_num(y - low), np.nan_to_num(high - y)] if band else None
            axes.errorbar(
                x, y, yerr=error, fmt=mark, color=colour, markersize=4, capsize=2, label=label
            )
        else:
            few = mark if len(x) <= 40 and not steps else None
            axes.plot(x, y, marker=few, markersize=4, label=label, **look, **steps)
            if band:
                step: Any = "post" if steps else None
                axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0, step=step)
        has_data = len(x) > 0
        x, y, _, _ = _points(inside.get("model", ()), key, entry)
        if len(x):
            # A series that only the model has says so in the legend by its dashes.
            legend_label = label if not has_data else "_model"
            axes.plot(
                x,
                y,
                color=colour,
                linewidth=0.9,
                linestyle=(0, (4, 2)),
                zorder=1,
                label=legend_label,
            )
        x, y, _, _ = _points(inside.get("printed", ()), key, entry)
        if len(x):
            hollow: Look = {"markerfacecolor": "none", "markeredgecolor": colour}
            axes.plot(x, y, linestyle="", marker=mark, markersize=8, zorder=4, **hollow)


def _legend(axes: Axes, layers: Layers, *, outside: bool) -> None:
    """Series, and what hollow marks and dashed lines are."""
    from matplotlib.lines import Line2D

    handles, labels = axes.get_legend_handles_labels()
    pairs = [(h, text) for h, text in zip(handles, labels, strict=True) if text]
    data_series = {row["series"] for row in layers.get("data", ())}
    if any(row["series"] in data_series for row in layers.get("model", ())):
        pairs.append((Line2D([], [], color="#555555", lw=0.9, ls=(0, (4, 2))), "model"))
    if layers.get("printed"):
        hollow: Look = {"markerfacecolor": "none", "markeredgecolor": "#555555"}
        pairs.append((Line2D([], [], ls="", marker="o", markersize=8, **hollow), "as printed"))
    if len(pairs) < 2 and not (pairs and pairs[0][1]):
        return
    legend = [h for h, _ in pairs], [text for _, text in pairs]
    if outside:
        # Bars begin at the axis, side by side: there is no free place inside.
        axes.figure.legend(*legend, loc="outside upper center", ncols=min(len(pairs), 6))
    else:
        # Many would cover the curves, so they are placed beside them.
        many = len(pairs) > MOST_INSIDE and len(axes.figure.axes) == 1
        anchor: Look = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if many else {}
        axes.legend(*legend, **anchor)


def _bars(
    axes: Axes,
    entry: Mapping[str, Any],
    inside: Layers,
    layers: Layers,
) -> None:
    """Bars beside each other, one group per x; printed values hollow."""
    groups = order_values(
        (row["x"] for layer in layers.values() for row in layer),
        entry.get("x", {}).get("order", ()),
    )
    names = _series(entry, layers)
    width = 0.8 / len(names)
    factor = _factor(entry, "y")
    axes.set_axisbelow(True)
    for slot, (key, (number, label)) in enumerate(names.items()):
        shift = (slot - (len(names) - 1) / 2) * width
        colour = style.line(number)["color"]
        for name in ("data", "model", "printed"):
            rows = [
                row for row in inside.get(name, ()) if row["series"] == key and row["y"] is not None
            ]
            x = np.array([groups.index(row["x"]) for row in rows]) + shift
            y = np.array([row["y"] for row in rows], dtype=float) * factor
            if name == "data":
                low, high = (np.array([getattr(r, end) for r in rows]) for end in ("low", "high"))
                axes.bar(x, y, width * 0.92, color=colour, label=label)
                if rows and entry.get("band", True) and not np.isnan(low).all():
                    error = [np.nan_to_num(y - low * factor), np.nan_to_num(high * factor - y)]
                    axes.errorbar(x, y, yerr=error, fmt="none", ecolor="#222222", capsize=2)
            elif rows:
                mark = {"printed": "D", "model": "_"}[name]
                hollow: Look = {"markerfacecolor": "none", "markeredgecolor": "#000000"}
                axes.plot(x, y, linestyle="", marker=mark, markersize=7, **hollow)
    _names(axes, groups)
    axes.grid(visible=False, axis="x")


def _names(axes: Axes, names: Sequence[Any]) -> None:
    """Write the categories below the axis, slanted if they would run into each other."""
    words = [str(name) for name in names]
    axes.set_xticks(range(len(words)), words)
    if sum(map(len, words)) > 48:
        axes.tick_params(axis="x", labelrotation=35, labelsize=8)
        for label in axes.get_xticklabels():
            label.set_horizontalalignment("right")
            label.set_rotation_mode("anchor")


def _matrix(
    axes: Axes,
    entry: Mapping[str, Any],
    inside: Layers,
    layers: Layers,
) -> None:
    """Cells with their values, shaded if they are numbers; printed values in brackets.

    A column ``note`` is written behind a number.
    """
    from matplotlib.colors import LinearSegmentedColormap

    del layers
    rows = [row for layer in inside.values() for row in layer]
    labels_of_axis = {
        which: order_values((row[which] for row in rows), entry.get(which, {}).get("order", ()))
        for which in ("x", "y")
    }
    factor = _factor(entry, "value")
    shade = np.full((len(labels_of_axis["y"]), len(labels_of_axis["x"])), np.nan)
    texts: dict[tuple[int, int], str] = {}
    for name in ("data", "printed"):
        for row in inside.get(name, ()):
            cell = labels_of_axis["y"].index(row["y"]), labels_of_axis["x"].index(row["x"])
            value = row["value"]
            if isinstance(value, int | float) and not isinstance(value, bool):
                text = f"{number_text.number(value * factor, 3)}{row['note'] or ''}"
                if name == "data":
                    shade[cell] = value * factor
            else:
                text = "" if value is None else str(value)
            texts[cell] = text if name == "data" else f"{texts.get(cell, '')} ({text})".strip()
    scale = LinearSegmentedColormap.from_list("ackclock", style.style()["map_colours"])
    finite = shade[~np.isnan(shade)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    axes.imshow(shade, cmap=scale, vmin=low, vmax=high, aspect="auto")
    for (y, x), text in texts.items():
        darkness = (shade[y, x] - low) / (high - low) if high > low else 0.0
        axes.text(x, y, text, ha="center", va="center", fontsize=8,
                  color="white" if darkness > 0.55 else "black")  # fmt: skip
    _names(axes, labels_of_axis["x"])
    axes.set_yticks(range(len(labels_of_axis["y"])), [str(value) for value in labels_of_axis["y"]])
    axes.set_xlabel(_label(entry.get("x", {})))
    axes.set_ylabel(_label(entry.get("y", {})))
    axes.grid(visible=False)


def _map(
    axes: Axes,
    entry: Mapping[str, Any],
    inside: Layers,
    layers: Layers,
) -> None:
    """A network: links as lines, nodes as dots; width and area by size, shade by value.

    Nodes and links have separate scales: they are different quantities. Labels of links are
    at their middles.
    """
    from matplotlib.cm import ScalarMappable
    from matplotlib.collections import LineCollection
    from matplotlib.colors import LinearSegmentedColormap, Normalize

    del layers
    rows = inside.get("data", ())
    links = [row for row in rows if row["x2"] is not None]
    nodes = [row for row in rows if row["x2"] is None]
    scale = LinearSegmentedColormap.from_list("ackclock", style.style()["map_colours"])
    sizes = [float(row["size"]) for row in rows if row["size"] is not None]
    most = max(sizes, default=1.0) or 1.0

    def shades(kind: Sequence[DrawnLayer], key: str) -> list[Any]:
        # Each panel has separate scales: what is small in one would vanish on that of another.
        values = [float(row["value"]) for row in kind if row["value"] is not None]
        axis = entry.get(key, {})
        low, high = axis.get("limits", (min(values, default=0.0), max(values, default=1.0) or 1.0))
        norm = Normalize(low, high)
        if values:
            bar = axes.figure.colorbar(ScalarMappable(norm, scale), ax=axes, shrink=0.6)
            bar.set_label(_label(axis))
        plain = "#9aa5ab"
        return [plain if r["value"] is None else scale(norm(float(r["value"]))) for r in kind]

    ends = [[(row["x"], row["y"]), (row["x2"], row["y2"])] for row in links]
    widths = [0.4 + 2.5 * float(row["size"] or 0) / most for row in links]
    axes.add_collection(
        LineCollection(ends, colors=shades(links, "links"), linewidths=widths, zorder=1)
    )
    areas = [4 + 90 * float(row["size"] or 0) / most for row in nodes]
    axes.scatter(
        [row["x"] for row in nodes],
        [row["y"] for row in nodes],
        s=areas,
        c=shades(nodes, "value"),
        edgecolors="#444444",
        linewidths=0.3,
        zorder=3,
    )
    font_pt = 8 if len(nodes) <= _FEW_NODES else 6
    for row in nodes:
        if row["label"]:
            axes.annotate(str(row["label"]), (row["x"], row["y"]), fontsize=font_pt,
                          xytext=(3, 3), textcoords="offset points", zorder=4)  # fmt: skip
    for row in links:
        if row["label"]:
            middle = ((row["x"] + row["x2"]) / 2, (row["y"] + row["y2"]) / 2)
            axes.annotate(str(row["label"]), middle, fontsize=font_pt - 1, ha="center", va="center",
                          bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none",
                                "alpha": 0.8}, zorder=2)  # fmt: skip
    axes.autoscale_view()
    axes.margins(0.12)
    axes.set_aspect("equal")
    axes.set_axis_off()


_FEW_NODES = 40
"""Nodes up to which their names are written larger."""


def _table(
    axes: Axes,
    entry: Mapping[str, Any],
    inside: Layers,
    layers: Layers,
) -> None:
    """The rows as they come, up to forty; the CSV file has all.

    The column ``underline`` of the entry names those of each row that are underlined.
    """
    del layers
    rows = [row.columns for row in inside.get("data", ())][:MOST_ROWS]
    axes.set_axis_off()
    if rows:
        names = [name for name in rows[0] if name not in ("panel", entry.get("underline"))]
        cells = [[_cell(row[name]) for name in names] for row in rows]
        drawn_table = axes.table(cells, colLabels=names, loc="center", cellLoc="right")
        drawn_table.auto_set_font_size(value=False)
        drawn_table.set_fontsize(8)
        drawn_table.auto_set_column_width(list(range(len(names))))
        # How wide the words are is known only to the one who draws them; the figure then makes
        # room for the table, not the layout.
        drawn_table.set_in_layout(False)
        if (canvas := axes.get_figure(root=True)) is not None:
            canvas.draw_without_rendering()
            wide = drawn_table.get_window_extent().width / canvas.dpi + 0.4
            canvas.set_figwidth(max(canvas.get_figwidth(), wide))
            canvas.draw_without_rendering()
            marked = [str(row.get(entry.get("underline", ""), "")).split(", ") for row in rows]
            for line, columns in enumerate(marked, 1):
                for name in set(columns).intersection(names):
                    _underline(axes, drawn_table[line, names.index(name)].get_text())


def _underline(axes: Axes, text: Text) -> None:
    """Draw a line below a text whose place is known."""
    from matplotlib.lines import Line2D

    box = text.get_window_extent().transformed(axes.transAxes.inverted())
    line = Line2D([box.x0, box.x1], [box.y0, box.y0], color="#222222", lw=0.9,
                  transform=axes.transAxes, clip_on=False)  # fmt: skip
    line.set_in_layout(False)
    axes.add_line(line)


def _cell(value: Any) -> str:
    return (
        number_text.number(value)
        if isinstance(value, float)
        else ""
        if value is None
        else str(value)
    )


_KINDS = {
    "line": _curves,
    "scatter": _curves,
    "bar": _bars,
    "matrix": _matrix,
    "map": _map,
    "table": _table,
}
