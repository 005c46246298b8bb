"""What the figures of an audit of late-comers show: points, models, and the fair share."""

from __future__ import annotations

import math

import pytest
from matplotlib.figure import Figure

from ackclock.studies.late_comer import page
from ackclock.studies.late_comer.rows import LateComerRow, predict_ratio


def row(situation, flows, *, overflows=False, shares=(), ratio=2.0, ends=(1.5, 3.0)):
    return LateComerRow(
        situation, flows, overflows, ratio, *ends, None, 0.5, None, 0.25, tuple(shares), True,
        "f0", 0.9, "open",
    )  # fmt: skip


def points(axes):
    """Data of lines that are drawn as points, and of the others."""
    lines = [(list(line.get_xdata()), list(line.get_ydata()), line) for line in axes.lines]
    marked = [(x, y) for x, y, line in lines if line.get_marker() == "o"]
    dashed = [(x, y) for x, y, line in lines if line.get_linestyle() == "--"]
    level = [y[0] for x, y, line in lines if x == [0, 1] and line.get_color() == page.FAIR]
    return marked, dashed, level


@pytest.mark.parametrize(("situation", "drawn"), [("sequential", 4), ("joining", 5)])
def test_shares_are_of_the_most_flows_and_fair_among_all_that_are_there(situation, drawn):
    """A flow that joins four is the fifth."""
    axes = Figure().add_subplot()
    shares = [0.1] * (drawn - 1) + [1 - 0.1 * (drawn - 1)]
    rows = [
        row(situation, 2, shares=[0.5] * 2),
        row(situation, 4, shares=shares),
        row(situation, 4, overflows=True, shares=[1 / drawn] * drawn),
    ]
    page._shares(axes, situation, rows)
    marked, dashed, level = points(axes)
    order = list(range(1, drawn + 1))
    assert marked == [
        (order, pytest.approx([100 * x for x in shares])),
        (order, pytest.approx([100 / drawn] * drawn)),
    ]
    model = predict_ratio(situation, 4)
    assert dashed == [(order, pytest.approx([100 * x for x in model.shares]))]
    assert level == [pytest.approx(100 / drawn)]
    assert sum(dashed[0][1]) == pytest.approx(100)
    assert axes.get_title().endswith("n = 4")


def test_ratios_are_beside_the_model_and_endless_ones_at_the_most():
    axes = Figure().add_subplot()
    rows = [
        row("joining", 1, ratio=2.0, ends=(1.5, 3.0)),
        row("joining", 3, ratio=math.inf, ends=(50.0, math.inf)),
        row("joining", 3, overflows=True, ratio=1.0, ends=(1.0, 1.0)),
    ]
    page._ratios(axes, "joining", rows)
    marked, dashed, level = points(axes)
    assert marked == [([1, 3], [2.0, page.MOST]), ([3], [1.0])]
    (holds, overflows) = [bars.get_segments() for bars in axes.collections]
    assert [list(map(float, bar[:, 1])) for bar in holds] == [[1.5, 3.0], [50.0, page.MOST]]
    assert [list(map(float, bar[:, 1])) for bar in overflows] == [[1.0, 1.0]]
    ((numbers, ratios),) = dashed
    assert numbers == [1, 2, 3]
    assert ratios == [predict_ratio("joining", n).ratio for n in numbers]
    assert level == [1]


def test_a_first_flow_alone_has_no_ratio_in_sequence():
    axes = Figure().add_subplot()
    page._ratios(axes, "sequential", [row("sequential", n) for n in (2, 3)])
    _, dashed, _ = points(axes)
    assert dashed[0][0] == [2, 3]
