"""Figures of papers as they are drawn."""

from types import SimpleNamespace

import pytest

from ackclock.reproduce.run.layers import Row
from ackclock.reproduce.write.draw import MARKS, draw


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


def test_a_table_underlines_the_cells_that_a_column_names():
    rows = [
        {"control": "AIMD", "loss": 1.0, "delay": 5.0, "best": "loss"},
        {"control": "AIAD", "loss": 2.0, "delay": 4.0, "best": "delay"},
        {"control": "MIMD", "loss": 3.0, "delay": 6.0, "best": ""},
    ]
    given = [Row({**at, "panel": None}, float("nan"), float("nan"), 1) for at in rows]
    entry = {"kind": "table", "underline": "best"}
    canvas = draw(SimpleNamespace(entry=entry), {"data": given})
    canvas.draw_without_rendering()
    (axes,) = canvas.axes
    (table,) = axes.tables
    assert max(column for _, column in table.get_celld()) == 2  # "best" is not drawn
    lines = [line.get_window_extent() for line in axes.lines]
    for place, box in zip([(1, 1), (2, 2)], sorted(lines, key=lambda b: b.x0), strict=True):
        text = table[place].get_text().get_window_extent()
        assert (box.x0, box.x1) == pytest.approx((text.x0, text.x1), abs=2)
        assert abs((box.y0 + box.y1) / 2 - text.y0) < 3


def test_panels_that_share_an_axis_keep_colours_and_differ_by_dashes():
    rows = [
        {"x": x, "y": y + x, "series": sender, "panel": graph}
        for graph, y in (("ER", 10.0), ("HOT", 5.0))
        for sender in ("clamp", "naive")
        for x in (1.0, 2.0)
    ]
    given = [Row(at, float("nan"), float("nan"), 1) for at in rows]
    entry = {"kind": "line", "overlay": True, "x": {"label": "flows"}}
    (axes,) = draw(SimpleNamespace(entry=entry), {"data": given}).axes
    lines = axes.get_lines()
    assert len(lines) == 4
    colours = [line.get_color() for line in lines]
    assert colours[:2] == colours[2:]
    assert colours[0] != colours[1]
    dashes = [line.get_linestyle() for line in lines]
    assert dashes[0] == dashes[1] != dashes[2] == dashes[3]
    assert [text.get_text() for text in axes.texts] == ["ER", "HOT"]
    _, labels = axes.get_legend_handles_labels()
    assert labels == ["clamp", "naive"]


def test_ten_series_of_a_scatter_have_ten_marks():
    assert len(set(MARKS)) == len(MARKS) >= 10


@pytest.mark.parametrize("series", [("one",), ("one", "two"), ("one", "two", "three")])
def test_bars_of_a_group_are_side_by_side_around_its_name(series):
    rows = [
        {"x": x, "y": 1.0 + number, "series": name, "panel": None}
        for number, name in enumerate(series)
        for x in ("a", "b")
    ]
    canvas = draw(
        SimpleNamespace(entry={"kind": "bar"}), {"data": [Row(at, 0.5, 9.0, 1) for at in rows]}
    )
    (axes,) = canvas.axes
    boxes = [bar for group in axes.containers for bar in getattr(group, "patches", ())]
    centres = sorted(box.get_x() + box.get_width() / 2 for box in boxes)
    assert len(centres) == 2 * len(series)
    for place, middle in enumerate((0.0, 1.0)):
        group = centres[place * len(series) : (place + 1) * len(series)]
        assert sum(group) / len(group) == pytest.approx(middle)
        assert group[-1] - group[0] < 0.8


def test_bars_are_as_high_as_their_values_times_the_factor():
    rows = [{"x": x, "y": y, "series": None, "panel": None} for x, y in (("a", 2e6), ("b", 5e6))]
    entry = {"kind": "bar", "y": {"factor": 1e-6}}
    canvas = draw(SimpleNamespace(entry=entry), {"data": [Row(at, 1e6, 6e6, 9) for at in rows]})
    (axes,) = canvas.axes
    heights = [b.get_height() for g in axes.containers for b in getattr(g, "patches", ())]
    assert heights == pytest.approx([2.0, 5.0])


def test_links_and_nodes_of_a_map_are_as_wide_as_their_sizes():
    place = {"y": 0.0, "y2": 0.0, "value": None, "label": None, "panel": None, "series": None}
    rows = [
        {"x": 0.0, "x2": None, "size": 10.0, **place},
        {"x": 0.0, "x2": 1.0, "size": 40.0, **place},
        {"x": 1.0, "x2": 2.0, "size": 20.0, **place},
        {"x": 2.0, "x2": 3.0, "size": None, **place},
    ]
    canvas = draw(
        SimpleNamespace(entry={"kind": "map"}), {"data": [Row(at, None, None, 1) for at in rows]}
    )
    links, nodes = canvas.axes[0].collections
    # 0.4 points and 2.5 more for the largest of all sizes.
    assert list(links.get_linewidths()) == pytest.approx([2.9, 1.65, 0.4])
    assert list(nodes.get_sizes()) == pytest.approx([4 + 90 / 4])
