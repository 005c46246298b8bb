"""A figure in the shape that its reader wants: a time window, a size, a title, labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import UnsupportedError
from ackclock.plot.line_names import name_lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Shape"]

_TIME = "time [s]"
_LARGEST_IN = 60.0
"""Inches; beyond, Matplotlib allocates more memory than a figure is worth."""


@dataclass(frozen=True)
class Shape:
    """What a reader changes of a figure; what is None stays as it is.

    Parameters
    ----------
    since_s, until_s
        Ends of the time shown [s], of figures whose horizontal axis is time.
    title
        In place of the figure's.
    width_in, height_in
        Size in inches, more than 0 and at most 60.
    x_label, y_label
        In place of the labels of the axes.

    Raises
    ------
    UnsupportedError
        The window is empty, or the size is out of range.
    """

    since_s: float | None = None
    until_s: float | None = None
    title: str | None = None
    width_in: float | None = None
    height_in: float | None = None
    x_label: str | None = None
    y_label: str | None = None

    def __post_init__(self) -> None:
        since = 0.0 if self.since_s is None else self.since_s
        if self.until_s is not None and not since < self.until_s:
            message = (
                f"the window is from {since:g} s to {self.until_s:g} s; expected its end later"
            )
            raise UnsupportedError(message)
        for name, value in (("width", self.width_in), ("height", self.height_in)):
            if value is not None and not 0 < value <= _LARGEST_IN:
                message = f"the {name} is {value:g} in; expected more than 0 and at most 60 in"
                raise UnsupportedError(message)

    @property
    def window_s(self) -> tuple[float, float] | None:
        """Ends of the time shown [s]; None if it is all."""
        if self.since_s is None and self.until_s is None:
            return None
        return (
            -math.inf if self.since_s is None else self.since_s,
            math.inf if self.until_s is None else self.until_s,
        )

    def apply(self, figure: Figure, name: str, *, is_windowed: bool = False) -> None:
        """Change a figure.

        Parameters
        ----------
        figure
            A figure of this package.
        name
            What it is called, for messages.
        is_windowed
            Whether it has been drawn of the window.

        Raises
        ------
        UnsupportedError
            It has no axis of time, and a window was requested.
        """
        axes = figure.axes[0]
        if self.window_s is not None and not is_windowed:
            of_time = [each for each in figure.axes if each.get_xlabel() == _TIME]
            if not of_time:
                message = f'the figure "{name}" has no axis of time, so it has no window of time'
                raise UnsupportedError(message)
            for each in figure.axes:
                if each in of_time or each.get_shared_x_axes().joined(each, of_time[0]):
                    self._show_window(each)
        if self.title is not None:
            axes.set_title(self.title, loc="left", pad=19 if axes.texts else None)
        if self.x_label is not None:
            figure.axes[-1 if len(figure.axes) == 1 else 0].set_xlabel(self.x_label)
        if self.y_label is not None:
            axes.set_ylabel(self.y_label)
        if self.width_in is not None or self.height_in is not None:
            width, height = figure.get_size_inches()
            figure.set_size_inches(self.width_in or width, self.height_in or height)

    def _show_window(self, axes: Axes) -> None:
        start, end = axes.get_xlim()
        since = start if self.since_s is None else self.since_s
        until = end if self.until_s is None else self.until_s
        axes.set_xlim(since, until)
        highest, lowest = -np.inf, np.inf
        for curve in axes.get_lines():
            if str(curve.get_label()).startswith("_"):
                continue  # a capacity or another line beside the curves
            times, values = (
                np.asarray(coordinates, dtype=float) for coordinates in curve.get_data()
            )
            # A curve in steps comes from the point before.
            first = max(0, int(np.searchsorted(times, since)) - 1)
            inside = values[first:][times[first:] <= until]
            inside = inside[np.isfinite(inside)]
            if inside.size:
                highest, lowest = max(highest, inside.max()), min(lowest, inside.min())
        if np.isfinite(highest) and highest > lowest and axes.get_yscale() == "linear":
            margin = 0.05 * (highest - lowest)
            # Numbers of segments only rise; all other quantities are shown from their zero.
            rises = axes.get_ylabel() == "segment"
            axes.set_ylim(lowest - margin if rises else axes.get_ylim()[0], highest + margin)
        if any(text.get_gid() for text in axes.texts):
            name_lines(axes)
