"""Figures that a notebook shows by themselves, with or without pyplot."""

from __future__ import annotations

import io

from matplotlib.figure import Figure

__all__ = ["NotebookFigure"]


class NotebookFigure(Figure):
    """A matplotlib figure that is shown as the value of a cell."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=110)
        return file.getvalue()
