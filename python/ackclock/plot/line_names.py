"""Names beside the ends of lines, in the place of a legend that a reader has to match by colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

__all__ = ["name_lines"]

_FONT_PT = 8.5
_MARK = "ackclock line name"
"""Group id of the texts, by which they are found again."""


def name_lines(axes: Axes) -> None:
    """Write the label of each line beside its last point, in its colour; texts do not overlap.

    A second call moves the names to the ends of what is shown then.

    Parameters
    ----------
    axes
        With lines that have labels; those whose label begins with ``_`` have no name.
    """
    for text in [text for text in axes.texts if text.get_gid() == _MARK]:
        text.remove()
    ends = [
        (end, line)
        for line in axes.get_lines()
        if not str(line.get_label()).startswith("_") and (end := _end(axes, line)) is not None
    ]
    ends.sort(key=lambda item: item[0])
    figure = axes.get_figure()
    assert figure is not None
    # The axes are about four fifths of the figure's height, before the layout is known.
    gap = 1.3 * _FONT_PT / (0.8 * 72 * figure.get_figheight())  # type: ignore[union-attr]
    heights = _spread([end for end, _ in ends], gap)
    for (end, line), height in zip(ends, heights, strict=True):
        arrow: dict[str, Any] = {
            "arrowstyle": "-", "color": line.get_color(), "linestyle": line.get_linestyle(),
            "shrinkA": 0, "shrinkB": 0, "linewidth": 1.2,
        }  # fmt: skip
        axes.annotate(
            str(line.get_label()), (1.0, end), (1.03, height), "axes fraction", "axes fraction",
            fontsize=_FONT_PT, color=line.get_color(), va="center", annotation_clip=False,
            arrowprops=arrow, gid=_MARK,
        )  # fmt: skip


def _end(axes: Axes, line: Line2D) -> float | None:
    """Height of the last point of a line that is shown, as a share of the axes; None if none is."""
    times, values = (np.asarray(part, dtype=float) for part in line.get_data())
    first, last = axes.get_xlim()
    shown = np.isfinite(values) & (times <= last)
    if not shown.any() or (times[shown][-1] < first and line.get_drawstyle() == "default"):
        return None
    value = values[shown][-1]
    height = axes.transAxes.inverted().transform(axes.transData.transform((last, value)))[1]
    return float(np.clip(height, 0.0, 1.0))


def _spread(targets: list[float], gap: float) -> list[float]:
    """Move heights apart, by as little as keeps them in order, at least a gap from each other."""
    heights = list(targets)
    for i in range(1, len(heights)):
        heights[i] = max(heights[i], heights[i - 1] + gap)
    # What was pushed beyond the top comes down, and pushes what is below it.
    limit = max(1.0, (len(heights) - 1) * gap)
    for i in reversed(range(len(heights))):
        heights[i] = min(heights[i], limit)
        limit = heights[i] - gap
    return heights
