"""Maps of networks and curves of several runs, from a few nodes and points."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.errors import UnsupportedError
from ackclock.plot import figures
from ackclock.plot.overlay import overlay
from ackclock.plot.shape import Shape
from ackclock.plot.style import style

NET = {
    "kind": "graph",
    "nodes": [
        {"id": "a", "lat": 0.0, "lon": 0.0}, {"id": "b", "lat": 0.0, "lon": 2.0},
        {"id": "c", "lat": 3.0, "lon": 0.0}, {"id": "lost"},
    ],
    "links": [
        {"a": "a", "b": "b", "rate": "10 Mbps", "delay": "1 ms"},
        {"a": "b", "b": "c", "rate": "2 Mbps", "delay": "1 ms", "id": "cable"},
        {"a": "a", "b": "lost", "rate": "1 Mbps", "delay": "1 ms"},
    ],
}  # fmt: skip
USED = {"a->b": 0.25, "b->a": 0.75, "cable": 0.5, "cable:back": 0.125, "a->lost": 1.0}


def run_on(net, links):
    flows = [{"src": "a", "dst": "b"}]
    scenario = ac.Scenario.from_data({"net": net, "flows": flows, "duration": 1})
    summary = {
        "scenario_hash": "0" * 8, "seed": 1, "version": "1", "duration_s": 1.0, "flows": [],
        "links": [{"id": name, "utilisation": value} for name, value in links.items()],
    }  # fmt: skip
    return SimpleNamespace(scenario=scenario, summary=summary, tables={})


def test_a_map_has_a_line_for_each_link_between_places_coloured_by_its_busier_direction():
    chart = figures.network_map(run_on(NET, USED))
    axes, bar = chart.axes
    first, second, dots = axes.get_lines()
    assert (list(first.get_xdata()), list(first.get_ydata())) == ([0, 2], [0, 0])
    assert (list(second.get_xdata()), list(second.get_ydata())) == ([2, 0], [0, 3])
    # The widest has 10 Mbit/s, the other a fifth of it.
    assert first.get_linewidth() == pytest.approx(4.0)
    assert second.get_linewidth() == pytest.approx(1.2 + 2.8 / 5)
    other = figures.network_map(run_on(NET, {}), {"a->b": 0.75, "cable:back": 0.5})
    assert [x.get_color() for x in other.axes[0].get_lines()[:2]] == [
        first.get_color(), second.get_color(),
    ]  # fmt: skip
    assert first.get_color() != second.get_color()
    idle = figures.network_map(run_on(NET, {}), {"x": 1.0}).axes[0].get_lines()
    assert idle[0].get_color() == idle[1].get_color()
    assert sorted(zip(dots.get_xdata(), dots.get_ydata(), strict=True)) == [(0, 0), (0, 3), (2, 0)]
    assert {note.get_text() for note in axes.texts} == {"a", "b", "c"}
    assert bar.get_ylabel() == "utilisation [1]"
    # At a mean latitude of 1 degree a degree of longitude is as long as one of latitude, almost.
    assert axes.get_aspect() == pytest.approx(1 / np.cos(np.pi / 180))
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("longitude [°]", "latitude [°]")


def test_a_map_needs_places():
    plain = {**NET, "nodes": [{"id": name} for name in ("a", "b", "c", "lost")]}
    with pytest.raises(UnsupportedError) as caught:
        figures.network_map(run_on(plain, {}))
    assert str(caught.value) == "a map needs a network whose nodes have lat and lon"


def test_names_beside_dots_cover_neither_dots_nor_each_other():
    chart = figures.network_map(run_on(NET, USED))
    axes = chart.axes[0]
    chart.draw_without_rendering()
    boxes = [note.get_window_extent() for note in axes.texts]
    for i, box in enumerate(boxes):
        for other in boxes[i + 1 :]:
            assert not box.overlaps(other)
        for x, y in ((0, 0), (2, 0), (0, 3)):
            assert not box.contains(*axes.transData.transform((x, y)))


@pytest.mark.parametrize(
    ("box", "area"),
    [((0, 0, 2, 2), 4), ((1, 1, 3, 3), 1), ((2, 0, 4, 2), 0), ((5, 5, 6, 6), 0),
     ((1, -1, 2, 5), 2)],
)  # fmt: skip
def test_boxes_overlap_by_their_common_area(box, area):
    assert figures._overlap((0, 0, 2, 2), box) == area
    assert figures._overlap(box, (0, 0, 2, 2)) == area


# -- overlays -------------------------------------------------------------------------------------


class FakeRun:
    """A run with windows of two flows, in segments."""

    def __init__(self, hash_, seed, windows):
        self.summary = {
            "scenario_hash": hash_, "seed": seed, "version": "1", "duration_s": 10.0, "links": [],
            "flows": [{"id": name, "cc": "reno", "src": "a", "dst": "b"} for name in windows],
        }  # fmt: skip
        rows = [
            {"time_s": float(t), "flow": name, "cwnd_segments": float(value),
             "ssthresh_segments": 5.0, "in_flight_segments": 1.0}
            for name, values in windows.items() for t, value in enumerate(values)
        ]  # fmt: skip
        made = pa.Table.from_pylist(rows)
        place = made.column_names.index("flow")
        self.tables = {"windows": made.set_column(place, "flow", made["flow"].dictionary_encode())}

    def table(self, name):
        return self.tables[name]


def runs(second_hash="h"):
    return {
        "one": FakeRun("h", 3, {"x": [1, 2, 3], "y": [4, 5, 6]}),
        "two": FakeRun(second_hash, 4, {"x": [2, 3, 4], "y": [5, 6, 7]}),
    }


def test_a_run_has_one_dash_and_a_flow_of_each_run_one_colour():
    chart = overlay("cwnd", runs())
    curves = [c for c in chart.axes[0].get_lines() if not c.get_label().startswith("_")]
    assert [curve.get_label().partition(":")[0] for curve in curves] == ["one", "one", "two", "two"]
    assert [list(curve.get_ydata()) for curve in curves] == [
        [1, 2, 3], [4, 5, 6], [2, 3, 4], [5, 6, 7],
    ]  # fmt: skip
    colours = [curve.get_color() for curve in curves]
    assert colours == [*style()["colours"][:2]] * 2
    dashes = [curve.get_linestyle() for curve in curves]
    assert dashes[0] == dashes[1] != dashes[2]
    assert dashes[2] == dashes[3]
    assert chart.axes[0].get_ylim()[0] == 0
    notes = [note.get_text() for note in chart.axes[0].texts]
    assert "the same scenario, other seeds" in notes
    assert "the same scenario, other seeds" not in [
        note.get_text() for note in overlay("cwnd", runs("other")).axes[0].texts
    ]


def test_an_overlay_is_of_the_named_flows_and_within_the_shape():
    chart = overlay("cwnd", runs(), flows=["y"], shape=Shape(since_s=0.5, until_s=1.5))
    curves = [c for c in chart.axes[0].get_lines() if not c.get_label().startswith("_")]
    assert [list(curve.get_ydata()) for curve in curves] == [[4, 5, 6], [5, 6, 7]]
    assert len({curve.get_color() for curve in curves}) == 1
    assert chart.axes[0].get_xlim() == (0.5, 1.5)


def test_figures_that_cannot_be_overlaid_are_refused_with_those_that_can():
    with pytest.raises(UnsupportedError) as caught:
        overlay("map", runs())
    message = str(caught.value)
    assert message.startswith('the figure "map" cannot be overlaid; these can: ')
    can = message.partition("these can: ")[2].split(", ")
    assert {"cwnd", "throughput", "queue", "rtt", "fairness"} <= set(can)
    assert "map" not in can


@pytest.mark.parametrize(
    ("free", "offset"),
    [
        ("right above", (4, 2)), ("left above", (-8.34, 2)), ("right below", (4, -9)),
        ("left below", (-8.34, -9)), (None, (-2.17, -11)),
    ],
)  # fmt: skip
def test_a_name_is_placed_where_no_other_dot_is(free, offset):
    from matplotlib.figure import Figure

    chart = Figure(figsize=(3, 3))
    axes = chart.add_axes((0, 0, 1, 1))
    # A unit is a point.
    axes.set_xlim(0, 216)
    axes.set_ylim(0, 216)
    others = {
        "right above": (106, 105), "right below": (106, 96), "left above": (94, 105),
        "left below": (94, 96),
    }  # fmt: skip
    short = dict(zip(others, "abcd", strict=True))
    places = {short[name]: at for name, at in others.items() if name != free}
    figures._name_places(chart, axes, {**places, "m": (100, 100)})
    (note,) = [note for note in axes.texts if note.get_text() == "m"]
    # A letter is 4.34 points wide and 7 high; the one over which names follow is taken itself.
    assert note.xyann == pytest.approx(offset)
