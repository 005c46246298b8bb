"""Figures of papers as they are drawn."""

import math
from types import SimpleNamespace

import pytest

from ackclock.reproduce.run.layers import DrawnLayer
from ackclock.reproduce.write.draw import MARKS, draw


@pytest.mark.parametrize("words", ["few", "many words in one cell, more than a page is wide " * 3])
def test_a_table_lies_in_its_figure_whole(words):
    at = {"what": words, "count": 3.0, "panel": None}
    rows = [DrawnLayer(at, float("nan"), float("nan"), 1)]
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
    given = [DrawnLayer({**at, "panel": None}, float("nan"), float("nan"), 1) for at in rows]
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
    given = [DrawnLayer(at, float("nan"), float("nan"), 1) for at in rows]
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
        SimpleNamespace(entry={"kind": "bar"}),
        {"data": [DrawnLayer(at, 0.5, 9.0, 1) for at in rows]},
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
    canvas = draw(
        SimpleNamespace(entry=entry), {"data": [DrawnLayer(at, 1e6, 6e6, 9) for at in rows]}
    )
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
        SimpleNamespace(entry={"kind": "map"}),
        {"data": [DrawnLayer(at, None, None, 1) for at in rows]},
    )
    links, nodes = canvas.axes[0].collections
    # 0.4 points and 2.5 more for the largest of all sizes.
    assert list(links.get_linewidths()) == pytest.approx([2.9, 1.65, 0.4])
    assert list(nodes.get_sizes()) == pytest.approx([4 + 90 / 4])


def drawn(entry, **layers):
    """A figure of rows without intervals unless they have them."""
    given = {
        name: [
            DrawnLayer(
                {"panel": None, "series": None, **row},
                row.get("low", math.nan),
                row.get("high", math.nan),
                1,
            )
            for row in rows
        ]
        for name, rows in layers.items()
    }
    canvas = draw(SimpleNamespace(entry=entry), given)
    canvas.draw_without_rendering()
    return canvas


def line(*pairs, **more):
    return [{"x": x, "y": y, **more} for x, y in pairs]


@pytest.mark.slow
def test_panels_are_in_columns_and_the_page_grows_with_them():
    def size(count, kind="line", **more):
        rows = [row for i in range(count) for row in line((1, 2), (2, 3), panel=i, x2=None,
                size=None, value=None, label=None)]  # fmt: skip
        canvas = drawn({"kind": kind, **more}, data=rows)
        return (
            tuple(round(float(inch), 6) for inch in canvas.get_size_inches()),
            len([axes for axes in canvas.axes if axes.axison or kind == "map"]),
        )

    # One column is 6.4 inches wide; two are 4.6 each, and a row is 3.6 high.
    assert size(1) == ((6.4, 3.6), 1)
    assert size(2) == ((9.2, 3.6), 2)
    assert size(3) == ((9.2, 7.2), 3)
    assert size(3, columns=3) == ((13.8, 3.6), 3)
    assert size(2, columns=1) == ((6.4, 7.2), 2)
    # Maps are larger.
    assert size(1, "map")[0] == (6.4, 4.2)
    assert size(2, "map")[0] == (10.8, 4.2)


def test_titles_and_axes_of_panels_are_their_own():
    entry = {
        "kind": "line",
        "panel": [{"key": "b", "title": "second", "y": {"limits": [0, 9], "scale": "linear"}}],
        "x": {"label": "rate", "unit": "Mbit/s", "limits": [1, 100], "scale": "log"},
        "y": {"label": "loss"},
    }
    canvas = drawn(entry, data=[*line((1, 2), panel="a"), *line((2, 3), panel="b")])
    # The named panel comes first.
    first, second = canvas.axes
    assert [axes.get_title("left") for axes in canvas.axes] == ["second", "a"]
    assert (first.get_xlabel(), first.get_ylabel()) == ("rate [Mbit/s]", "loss")
    assert first.get_xscale() == "log"
    assert first.get_xlim() == (1, 100)
    assert first.get_ylim() == (0, 9)
    assert second.get_ylim() != (0, 9)


def test_whole_numbers_have_whole_ticks():
    def ticks(*x, **settings):
        (axes,) = drawn({"kind": "line", "x": settings}, data=line(*((v, 1) for v in x))).axes
        return all(tick == round(tick) for tick in axes.get_xticks())

    assert ticks(1, 2, 3)
    assert ticks(1, 3)
    assert not ticks(1.5, 2, 3)
    assert not ticks(1, 2)
    assert not ticks(1, 2, 3, unit="s")


def test_curves_are_in_order_of_x_with_their_factors_and_bands():
    entry = {"kind": "line", "x": {"factor": 10}, "y": {"factor": 0.5}}
    rows = [
        {"x": 2, "y": 8, "low": 6, "high": 12},
        {"x": 1, "y": 4, "low": 2, "high": 6},
        {"x": 3, "y": None},
        {"x": None, "y": 7},
    ]
    (axes,) = drawn(entry, data=rows).axes
    (curve,) = axes.get_lines()
    assert curve.get_xydata().tolist() == [[10, 2], [20, 4]]
    (band,) = axes.collections
    box = band.get_paths()[0].get_extents()
    assert (box.x0, box.x1, box.y0, box.y1) == (10, 20, 1, 6)
    (axes,) = drawn({**entry, "band": False}, data=rows).axes
    assert not axes.collections
    (axes,) = drawn(entry, data=line((1, 2), (2, 3))).axes
    assert not axes.collections


def test_forty_points_have_marks_and_more_are_a_line():
    for count, marked in ((40, True), (41, False)):
        (axes,) = drawn({"kind": "line"}, data=line(*((i, i) for i in range(count)))).axes
        assert (axes.get_lines()[0].get_marker() in MARKS) == marked
    (axes,) = drawn({"kind": "line", "steps": True}, data=line((1, 2), (2, 1))).axes
    (curve,) = axes.get_lines()
    assert (curve.get_marker() in MARKS, curve.get_drawstyle()) == (False, "steps-post")


def test_models_are_dashed_and_printed_values_hollow_in_the_colour_of_their_series():
    data = [*line((1, 2), (2, 3), series="a"), *line((1, 5), (2, 6), series="b")]
    canvas = drawn(
        {"kind": "line", "series": [{"key": "b", "label": "Bee"}]},
        data=data,
        model=line((1, 2), (2, 2), series="a"),
        printed=line((1, 4), series="b"),
    )
    (axes,) = canvas.axes
    curves = {curve.get_label(): curve for curve in axes.get_lines()}
    assert curves["_model"].get_color() == curves["a"].get_color() != curves["Bee"].get_color()
    assert curves["_model"].is_dashed()
    assert not curves["a"].is_dashed()
    (hollow,) = [curve for curve in axes.get_lines() if curve.get_markerfacecolor() == "none"]
    assert hollow.get_markeredgecolor() == curves["Bee"].get_color()
    assert hollow.get_linestyle() == "None"
    assert hollow.get_zorder() > curves["a"].get_zorder() > curves["_model"].get_zorder()
    legend = [text.get_text() for text in axes.get_legend().get_texts()]
    assert legend == ["Bee", "a", "model", "as printed"]


def test_a_series_of_the_model_alone_is_in_the_legend():
    (axes,) = drawn({"kind": "line"}, model=line((1, 2), (2, 3), series="law")).axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["law"]
    (axes,) = drawn({"kind": "line"}, data=line((1, 2), (2, 3))).axes
    assert axes.get_legend() is None


def test_a_legend_of_more_than_six_is_beside_the_curves():
    for count, beside in ((6, False), (7, True)):
        rows = [row for i in range(count) for row in line((1, i), (2, i), series=f"s{i}")]
        (axes,) = drawn({"kind": "line"}, data=rows).axes
        box, place = axes.get_legend().get_window_extent(), axes.get_window_extent()
        assert (box.x0 >= place.x1) == beside


def test_points_of_a_scatter_have_error_bars_of_their_intervals():
    rows = [{"x": 1, "y": 4, "low": 3, "high": 6}, {"x": 2, "y": 5}]
    (axes,) = drawn({"kind": "scatter"}, data=rows).axes
    (bars,) = axes.collections
    ends = [segment[:, 1].tolist() for segment in bars.get_segments()]
    assert ends == [[3, 6], [5, 5]]


def test_bars_have_their_intervals_and_marks_of_the_other_layers():
    canvas = drawn(
        {"kind": "bar", "x": {"order": ["b", "a"]}, "y": {"factor": 2}},
        data=[{"x": "a", "y": 2, "low": 1, "high": 4}, {"x": "b", "y": 3, "low": 2, "high": 5}],
        printed=[{"x": "a", "y": 5}],
        model=[{"x": "b", "y": 6}],
    )
    (axes,) = canvas.axes
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["b", "a"]
    boxes = [bar for group in axes.containers for bar in getattr(group, "patches", ())]
    assert sorted((round(b.get_x() + b.get_width() / 2, 6), b.get_height()) for b in boxes) == [
        (0.0, 6),
        (1.0, 4),
    ]
    assert boxes[0].get_width() == pytest.approx(0.8 * 0.92)
    ends = [s[:, 1].tolist() for c in axes.collections for s in c.get_segments()]
    assert sorted(ends) == [[2, 8], [4, 10]]
    marks = {curve.get_marker(): curve.get_xydata().tolist() for curve in axes.get_lines()}
    assert marks["D"] == [[1, 10]]
    assert [0, 12] in marks["_"]


def test_long_names_of_categories_are_slanted():
    for length, angle in ((24, 0), (25, 35)):
        rows = [{"x": letter * length, "y": 1} for letter in "ab"]
        (axes,) = drawn({"kind": "bar"}, data=rows).axes
        assert {tick.get_rotation() for tick in axes.get_xticklabels()} == {angle}


def test_cells_of_a_matrix_have_their_values_notes_and_what_was_printed():
    def cell(x, y, value, note=None):
        return {"x": x, "y": y, "value": value, "note": note}

    canvas = drawn(
        {"kind": "matrix", "x": {"order": ["q", "p"], "label": "of"}, "value": {"factor": 100}},
        data=[cell("p", "a", 0.1), cell("q", "a", 0.4, "*"), cell("p", "b", "none"),
              cell("q", "b", True)],
        printed=[cell("p", "a", 0.12)],
    )  # fmt: skip
    (axes,) = canvas.axes
    found = {text.get_position(): text.get_text() for text in axes.texts}
    assert found == {(1, 0): "10 (12)", (0, 0): "40*", (1, 1): "none", (0, 1): "True"}
    (image,) = axes.images
    assert image.get_clim() == (10, 40)
    assert image.get_array()[0].tolist() == pytest.approx([40, 10])
    # The darkest cell has white letters.
    colours = {text.get_text(): text.get_color() for text in axes.texts}
    assert colours == {"10 (12)": "black", "40*": "white", "none": "black", "True": "black"}
    assert axes.get_xlabel() == "of"
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["a", "b"]


def test_letters_are_white_from_a_little_above_half_of_the_scale_on():
    rows = [
        {"x": i, "y": 0, "value": value, "note": None}
        for i, value in enumerate((0.0, 55.0, 56.0, 100.0))
    ]
    (axes,) = drawn({"kind": "matrix"}, data=rows).axes
    assert [text.get_color() for text in axes.texts] == ["black", "black", "white", "white"]
    (axes,) = drawn({"kind": "matrix"}, data=rows[:1]).axes
    assert axes.texts[0].get_color() == "black"


def test_a_map_has_a_bar_for_links_and_for_nodes_and_names_at_their_places():
    def row(x, x2=None, value=None, label=None, y2=None):
        return {"x": x, "y": 1.0, "x2": x2, "y2": y2, "value": value, "label": label, "size": None}

    rows = [row(0.0, value=1.0, label="A"), row(2.0, value=3.0), row(0.0, 2.0, 0.5, "AB", 2.0)]
    entry = {"kind": "map", "links": {"label": "used", "limits": [0, 1]}, "value": {"unit": "ms"}}
    canvas = drawn(entry, data=rows)
    axes, *bars = canvas.axes
    places = {text.get_text(): (text.xy, text.get_fontsize()) for text in axes.texts}
    # A link's name is at its middle, and smaller than those of nodes.
    assert places == {"A": ((0.0, 1.0), 8), "AB": ((1.0, 1.5), 7)}
    assert [bar.get_ylabel() for bar in bars] == ["used", " [ms]"]
    assert [bar.get_ylim() for bar in bars] == [(0, 1), (1, 3)]
    many = [row(float(i), label=str(i)) for i in range(41)]
    assert {text.get_fontsize() for text in drawn(entry, data=many).axes[0].texts} == {6}
    assert {text.get_fontsize() for text in drawn(entry, data=many[:40]).axes[0].texts} == {8}
    assert len(drawn(entry, data=many).axes) == 1


def test_a_table_has_forty_rows_at_most():
    rows = [{"n": i, "x": 0.123456, "none": None} for i in range(45)]
    canvas = drawn({"kind": "table"}, data=rows)
    (table,) = canvas.axes[0].tables
    cells = {place: cell.get_text().get_text() for place, cell in table.get_celld().items()}
    assert max(row for row, _ in cells) == 40
    names = [cells[0, column] for column in range(max(column for _, column in cells) + 1)]
    assert [cells[40, names.index(name)] for name in ("n", "x", "none")] == ["39", "0.1235", ""]
    assert "panel" not in names
    # A head and forty rows of 0.22 inch each, and half an inch.
    assert canvas.get_size_inches()[1] == pytest.approx(0.5 + 0.22 * 41)
    assert drawn({"kind": "table"}, data=rows[:3]).get_size_inches()[1] == pytest.approx(1.38)


def test_the_title_of_an_overlaid_panel_is_at_its_highest_end():
    rows = [
        *line((1, 5), (2, 1), series="a", panel="p"),
        *line((1, 1), (2, 3), series="b", panel="p"),
    ]
    entry = {"kind": "line", "overlay": True, "panel": [{"key": "p", "title": "Pee"}],
             "y": {"label": "of"}}  # fmt: skip
    (axes,) = drawn(entry, data=rows).axes
    (title,) = axes.texts
    assert (title.get_text(), title.xy) == ("Pee", (2, 3))
    assert axes.get_ylabel() == "of"
