"""The figure of a pattern of bandwidth, from samples written by hand."""

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from ackclock.experiments.statistics import Mean
from ackclock.studies.adversary import draw
from ackclock.studies.adversary.arena import Arena
from ackclock.studies.adversary.shape import PathShape


class DrawnArena(Arena):
    """An arena whose runs deliver 1 MB a second in all, and whose rates are two levels."""

    def scenario(self, shape, control, seed):
        seen = self.settings["seen"]

        def run(*, record, interval):
            seen.append((control, seed, tuple(record), interval))
            rows = [
                {"time_s": float(t), "flow": flow, "delivered_bytes": t * 5e5}
                for t in range(3) for flow in ("f0", "f1", "cbr0")
            ]  # fmt: skip
            return SimpleNamespace(flow_samples=pa.Table.from_pylist(rows))

        return SimpleNamespace(data={"net": {}}, run=run)


@pytest.fixture
def figure(monkeypatch):
    rates = SimpleNamespace(times_s=np.array([0.0, 2.0]), rates_bps=np.array([1e6, 3e6]))
    monkeypatch.setattr("ackclock.scenario.environments.form.settings", lambda net: net)
    monkeypatch.setattr(
        "ackclock.scenario.environments.expansion.bandwidth", lambda data, settings: rates
    )

    def make(levels, **more):
        seen = []
        arena = DrawnArena(
            {"mine": "aimd", "CUBIC": "cubic"}, flows=2, settings={"seen": seen}, **more
        )
        goodput = {"mine": Mean(0.5, 0.4, 0.6), "CUBIC": Mean(0.75, 0.7, 0.8)}
        return draw.pattern(arena, PathShape(levels), goodput), seen

    return make


def test_a_panel_for_each_control_has_what_was_available_and_what_it_got(figure):
    chart, seen = figure(((0.5, 2.0), (0.1, 1.0)))
    first, second = chart.axes
    assert first.get_title() == "mine: 0.50 of the available"
    assert second.get_title() == "CUBIC: 0.75 of the available"
    assert [call[:3] for call in seen] == [
        ("mine", 1, ("flow_samples",)), ("CUBIC", 1, ("flow_samples",)),
    ]  # fmt: skip
    # 1 MB in each second of the two flows, 8 Mbit/s; what is not of the test is left out.
    (curve,) = first.get_lines()
    assert list(curve.get_xdata()) == [1.0, 2.0]
    assert list(curve.get_ydata()) == [8.0, 8.0]
    (area,) = first.collections
    corners = area.get_paths()[0].vertices
    # 1 and 3 Mbit/s for each of two flows, to the end of the run.
    assert corners[:, 1].max() == 6.0
    assert {2.0, 6.0, 0.0} == set(corners[:, 1])
    assert corners[:, 0].max() == 60.0
    assert (first.get_ylabel(), second.get_xlabel()) == ("Mbit/s", "time [s]")
    assert first.get_ylim()[0] == 0
    (legend,) = chart.legends
    assert [text.get_text() for text in legend.get_texts()] == ["available", "goodput"]


@pytest.mark.parametrize(
    ("levels", "more", "window", "interval"),
    [
        # Eight turns of 3 s from the warm-up on.
        (((0.5, 2.0), (0.1, 1.0)), {}, (10, 34), 0.2),
        # Not less than 4 s, not more than 40 s, not beyond the end.
        (((0.5, 0.2), (0.1, 0.1)), {}, (10, 14), 0.1 / 3),
        (((0.5, 9.0),), {}, (10, 50), 0.2),
        (((0.5, 9.0),), {"duration_s": 20.0}, (5, 20), 0.2),
    ],
)
def test_some_turns_after_the_warm_up_are_shown_with_points_in_the_shortest_level(
    figure, levels, more, window, interval
):
    chart, seen = figure(levels, **more)
    assert chart.axes[0].get_xlim() == window
    assert seen[0][3] == pytest.approx(interval)
