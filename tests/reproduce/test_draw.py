"""Figures of papers as they are drawn."""

from types import SimpleNamespace

import pytest

from ackclock.reproduce.run.layers import Row
from ackclock.reproduce.write.draw import draw


@pytest.mark.parametrize("words", ["few", "many words in one cell, more than a page is wide " * 3])
def test_a_table_lies_in_its_figure_whole(words):
    at = {"what": words, "count": 3.0, "panel": None}
    rows = [Row(at, float("nan"), float("nan"), 1)]
    canvas = draw(SimpleNamespace(entry={"kind": "table"}), {"data": rows})
    canvas.draw_without_rendering()
    (axes,) = canvas.axes
    (table,) = axes.tables
    inside, whole = table.get_window_extent(), canvas.bbox
    assert 0 <= inside.x0 < inside.x1 <= whole.x1
    assert 0 <= inside.y0 < inside.y1 <= whole.y1
