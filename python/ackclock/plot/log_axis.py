"""Logarithmic axes whose ticks are plain numbers: 0.2, 1, 5, 20 and not 2 x 10^-1."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from matplotlib.ticker import (
    FuncFormatter,
    LogFormatterMathtext,
    LogLocator,
    NullFormatter,
    NullLocator,
)

if TYPE_CHECKING:
    from typing import Literal

    from matplotlib.axes import Axes

__all__ = ["make_logarithmic"]

FEW_DECADES = 2.0
"""On an axis of fewer, 2 and 5 times each power of ten have a label too."""
PLAIN = (1e-4, 1e5)
"""Powers of ten outside of this are written as such."""


def make_logarithmic(axes: Axes, which: Literal["x", "y"]) -> None:
    """Make an axis logarithmic, after what it shows has been drawn.

    Parameters
    ----------
    axes
        Where the axis is.
    which
        The axis.
    """
    (axes.set_xscale if which == "x" else axes.set_yscale)("log")
    axis = axes.xaxis if which == "x" else axes.yaxis
    low, high = axes.get_xlim() if which == "x" else axes.get_ylim()
    if low > 0 and math.log10(high / low) < FEW_DECADES:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_minor_locator(NullLocator())
    powers = LogFormatterMathtext()
    powers.set_axis(axis)

    def write(value: float, position: int | None) -> str:
        return f"{value:g}" if PLAIN[0] <= value < PLAIN[1] else powers(value, position)

    axis.set_major_formatter(FuncFormatter(write))
    axis.set_minor_formatter(NullFormatter())
