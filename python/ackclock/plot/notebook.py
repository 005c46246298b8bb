"""Figures that a notebook shows by themselves, with or without pyplot; their names are text."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from matplotlib.figure import Figure
from matplotlib.text import Text

from ackclock._util.text_table import printable

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["NotebookFigure"]


class NotebookFigure(Figure):
    """A matplotlib figure that is shown as the value of a cell.

    Names come from scenarios and stores, perhaps of others: a ``$`` in one begins no formula, and a
    control character is written as an escape.
    """

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi=110)
        return file.getvalue()

    def draw(self, renderer: Any) -> None:
        """Draw, names as they are.

        Parameters
        ----------
        renderer
            What is drawn on.
        """
        numbers = set(map(id, self._number_labels()))
        for text in self.findobj(Text):
            assert isinstance(text, Text), "invariant: findobj gives texts"
            if id(text) in numbers:
                continue
            text.set_parse_math(False)
            visible = printable(text.get_text())
            if visible != text.get_text():
                text.set_text(visible)
        super().draw(renderer)

    def _number_labels(self) -> Iterator[Text]:
        """Labels of ticks that Matplotlib writes, powers of ten as formulas."""
        from matplotlib.ticker import FixedFormatter

        for axes in self.axes:
            for axis in axes.xaxis, axes.yaxis:
                # Those that the axis will need; `majorTicks` has what was made until now.
                for formatter, ticks in (
                    (axis.get_major_formatter(), axis.get_major_ticks()),
                    (axis.get_minor_formatter(), axis.get_minor_ticks()),
                ):
                    if isinstance(formatter, FixedFormatter):
                        # Names, which it gives again for each drawing.
                        formatter.seq = [printable(str(name)) for name in formatter.seq]
                        continue
                    if not formatter.__class__.__name__.startswith("StrCategory"):
                        for tick in ticks:
                            yield from (tick.label1, tick.label2)
                yield axis.get_offset_text()
