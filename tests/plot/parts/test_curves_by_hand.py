"""Figures of runs and sweeps of a few numbers: what is drawn, labelled and noted."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from ackclock.errors import UnsupportedError
from ackclock.plot import fairness_plane, figures, sweeps, transfers
from ackclock.plot.line_names import _spread
from ackclock.plot.sequence import _collect_events, _split, _window
from ackclock.plot.shape import Shape
from ackclock.scenario.parallelism import Parallelism


def flow(name, **more):
    usual = {"id": name, "src": "a", "dst": "b", "cc": "aimd", "start_s": 0.0,
             "completed_after_s": None, "srtt_mean_s": 0.1}  # fmt: skip
    return usual | more


def link(name, queue=0.0, **more):
    usual = {"id": name, "queue_mean_packets": queue, "utilisation": 0.5, "rate_bps": 8e6,
             "src": "a", "dst": "b"}  # fmt: skip
    return usual | more


class FakeRun:
    """A run of stated numbers."""

    def __init__(self, flows=(), links=(), **tables):
        self.summary = {
            "scenario_hash": "0" * 8, "seed": 1, "version": "1", "duration_s": 10.0,
            "flows": list(flows), "links": list(links),
        }  # fmt: skip
        self.tables = {name: table_of(rows) for name, rows in tables.items()}

    def table(self, name):
        return self.tables[name]


def table_of(rows):
    made = pa.Table.from_pylist(rows)
    for key in ("flow", "link"):
        if key in made.column_names:
            place = made.column_names.index(key)
            made = made.set_column(place, key, made[key].dictionary_encode())
    return made


def text_of(axes):
    return [annotation.get_text().replace("\n", " ") for annotation in axes.texts]


def test_names_are_chosen_by_number_or_name():
    run = FakeRun([flow("x"), flow("y")])
    assert figures._choose_names(run, "flows", None) == ["x", "y"]
    assert figures._choose_names(run, "flows", ["y", 0, 1]) == ["y", "x", "y"]
    assert figures._choose_names(run, "flows", []) == []
    for number in (-1, 2):
        with pytest.raises(UnsupportedError) as error:
            figures._choose_names(run, "flows", [number])
        assert str(error.value) == f"there is no entry {number} among the 2 flows"
    with pytest.raises(UnsupportedError, match=r'^there is no "z" among the flows; '):
        figures._choose_names(run, "flows", ["z"])


def test_a_flow_without_an_id_is_called_by_its_ends_and_several_by_number():
    run = FakeRun([flow("f0"), flow("f1", dst="c"), flow("f2"), flow("mine"), flow("f9", cc=None),
                   flow("aimd")])  # fmt: skip
    assert figures._labels(run) == {
        "f0": "a -> b [0] (aimd)", "f1": "a -> c (aimd)", "f2": "a -> b [2] (aimd)",
        "mine": "mine (aimd)", "f9": "f9", "aimd": "aimd",
    }  # fmt: skip


def test_series_are_those_of_their_name_in_the_order_of_the_table():
    rows = table_of([
        {"flow": "x", "t": 1, "v": 5}, {"flow": "y", "t": 1, "v": 7}, {"flow": "x", "t": 2, "v": 6},
    ])  # fmt: skip
    made = [(name, *[list(v) for v in values]) for name, *values in
            figures._series(rows, "flow", ["y", "none", "x"], ["t", "v"])]  # fmt: skip
    assert made == [("y", [1.0], [7.0]), ("x", [1.0, 2.0], [5.0, 6.0])]


def samples(name, *counts, step=1.0, **more):
    return [
        {"time_s": i * step, "flow": name, "delivered_bytes": count, "received_bytes": 2 * count,
         **{key: values[i] for key, values in more.items()}}
        for i, count in enumerate(counts)
    ]  # fmt: skip


def test_rates_are_bits_over_intervals_at_their_middles(monkeypatch):
    run = FakeRun([flow("x"), flow("y")],
                  flow_samples=[*samples("x", 0, 1000, 1500), *samples("y", 9)])  # fmt: skip
    ((name, middles, rates),) = figures._rates(run, None)
    assert (name, middles.tolist(), rates.tolist()) == ("x", [0.5, 1.5], [8000.0, 4000.0])
    assert figures._rates(run, ["x"], "received_bytes")[0][2].tolist() == [16000.0, 8000.0]
    assert figures._rates(run, ["x"], "no_such")[0][2].tolist() == [8000.0, 4000.0]
    assert figures._interval([(name, middles, rates)]) == ", means over 1 s"
    assert figures._interval([("x", middles[:1], rates[:1])]) == figures._interval([]) == ""
    monkeypatch.setattr(figures, "_MOST_INTERVALS", 2)
    # Three samples in at most two: every second.
    assert figures._rates(run, ["x"])[0][2].tolist() == [6000.0]
    monkeypatch.setattr(figures, "_MOST_INTERVALS", 3)
    assert len(figures._rates(run, ["x"])[0][2]) == 2


def test_the_longest_queues_are_three_that_have_any():
    run = FakeRun([], [link("a", 1), link("b", 4), link("c", 0), link("d", 3), link("e", 2)])
    assert figures.longest_queues(run, ["a", "b", "c", "d", "e"]) == ["b", "d", "e"]
    assert figures.longest_queues(run, ["a", "c"]) == ["a"]
    empty = FakeRun([], [link("a"), link("b")])
    assert figures.longest_queues(empty, ["a", "b"]) == ["a"]


def test_queues_are_noted_where_some_are_left_out():
    rows = [{"time_s": float(t), "link": n, "queue_packets": t} for n in "ab" for t in (0, 3)]
    run = FakeRun([], [link("a", 2.0), link("b")], queues=rows)
    axes = figures.queue(run).axes[0]
    assert (axes.get_title(loc="left"), axes.get_ylabel()) == ("Queue", "queue [packets]")
    assert [(c.get_label(), c.get_xydata().tolist()) for c in axes.lines] == [
        ("a", [[0, 0], [3, 3]])
    ]
    assert "1 of 2 links (each direction is one), those with the longest mean queue" in text_of(
        axes
    )
    axes = figures.queue(run, links=["a", "b"]).axes[0]
    assert [c.get_label() for c in axes.lines] == ["a", "b"]
    assert not any("mean queue" in text for text in text_of(axes))


def rtts(*values):
    return [{"time_s": t, "flow": "x", "rtt_s": v} for t, v in values]


def test_round_trips_in_a_window_include_its_ends():
    run = FakeRun([flow("x")], rtts=rtts((1.0, 0.01), (2.0, 0.02), (3.0, 0.03), (4.0, 0.04)))
    axes = figures.delay(run, window=(2.0, 3.0)).axes[0]
    assert sorted(set(axes.lines[0].get_xdata()[1:].tolist())) == [20.0, 30.0]
    assert "samples from 2 s to 3 s" in text_of(axes)
    axes = figures.delay(run, window=(-math.inf, math.inf)).axes[0]
    assert "samples from 0 s to 10 s" in text_of(axes)
    assert text_of(figures.delay(run).axes[0]) == []
    with pytest.raises(UnsupportedError, match=r"^there is no RTT sample from 5 s to 6 s$"):
        figures.delay(run, window=(5.0, 6.0))


def test_fairness_is_of_the_flows_at_work():
    work = {"in_flight_segments": [1, 1, 1], "sent_packets": [1, 2, 3]}
    done = {"in_flight_segments": [1, 1, 0], "sent_packets": [1, 2, 2]}
    run = FakeRun(
        [flow("x"), flow("y"), flow("z", start_s=1.0)],
        flow_samples=[*samples("x", 0, 1000, 4000, **work), *samples("y", 0, 3000, 3000, **done),
                      *samples("z", 0, 0, 1000, **work)],
    )  # fmt: skip
    at_work = [flags.tolist() for flags in figures._at_work(run, None)]
    # The last sample cannot show that y is done; z begins with the second interval.
    assert at_work == [[True, True], [True, True], [False, True]]
    axes = figures.fairness(run).axes[0]
    # (1 + 3)^2 / (2 * 10), and (3 + 0 + 1)^2 / (3 * 10).
    assert axes.lines[0].get_ydata().tolist() == pytest.approx([0.8, 16 / 30])
    assert axes.lines[1].get_ydata().tolist() == pytest.approx([1 / 2, 1 / 3])
    assert text_of(axes) == [
        "of the n flows active all through an interval, n = 2 to 3 of 3; dotted: 1/n, where one of"
        " them has all"
    ]
    alone = figures.fairness(run, flows=["x"]).axes[0]
    assert text_of(alone)[0].startswith(
        "of the n flows active all through an interval, n = 1 of 1;"
    )
    with pytest.raises(UnsupportedError, match=r"^fewer than two samples were recorded"):
        figures.fairness(FakeRun([flow("x")], flow_samples=samples("x", 1)))


def test_boxes_that_touch_do_not_overlap():
    assert figures._overlap((0, 0, 2, 2), (1, 1, 4, 3)) == 1.0
    assert figures._overlap((0, 0, 2, 2), (2, 0, 4, 2)) == 0.0
    # Apart in both directions is no overlap either.
    assert figures._overlap((0, 0, 1, 1), (5, 5, 6, 6)) == 0.0


def test_names_are_moved_apart_by_as_little_as_needed():
    assert _spread([0.1, 0.5], 0.2) == [0.1, 0.5]
    assert _spread([0.5, 0.5], 0.25) == [0.5, 0.75]
    assert _spread([1.0, 1.0], 0.25) == [0.75, 1.0]
    assert _spread([], 0.25) == []


def test_transfers_are_drawn_over_their_start_and_the_others_noted():
    run = FakeRun([flow("x", start_s=1.0, completed_after_s=2.0), flow("y"),
                   flow("z", start_s=3.0, completed_after_s=0.5)])  # fmt: skip
    axes = transfers.completions(run).axes[0]
    assert axes.lines[0].get_xydata().tolist() == [[1.0, 2.0], [3.0, 0.5]]
    assert text_of(axes) == ["1 of 3 had not ended, or have no end"]
    assert text_of(transfers.completions(run, flows=["x"]).axes[0]) == []
    for draw in (transfers.completions, transfers.slowdown):
        with pytest.raises(UnsupportedError) as error:
            draw(FakeRun([flow("y")]))
        assert str(error.value) == "no transfer of this run ended; a flow with a size does"


def test_slowdown_leaves_jobs_out_where_there_are_others():
    def transfer(name, size, slowdown, **more):
        return flow(name, delivered_bytes=size, slowdown=slowdown, **more)

    run = FakeRun([transfer("x", 10, 1.5), transfer("j", 20, 9.0, job="j")])
    curves = transfers.slowdown(run).axes[0].lines
    assert [(c.get_label(), c.get_xydata().tolist()) for c in curves] == [
        ("50 %", [[10, 1.5]]), ("95 %", [[10, 1.5]]), ("99 %", [[10, 1.5]]),
    ]  # fmt: skip
    assert len(transfers.slowdown(run, flows=["x", "j"]).axes[0].lines[0].get_xdata()) == 2


def test_a_phase_plot_is_of_two_flows():
    run = FakeRun([flow("x"), flow("y"), flow("z")], [link("l"), link("m", rate_bps=2e7)],
                  flow_samples=[*samples("x", 0, 125_000, 375_000),
                                *samples("y", 0, 250_000, 375_000)])  # fmt: skip
    axes = fairness_plane.phase(run).axes[0]
    (pieces,) = axes.collections[0].get_segments()
    # 1 and 2 Mbit/s of x, 2 and 1 of y.
    assert pieces.tolist() == [[1.0, 2.0], [2.0, 1.0]]
    # The busiest link carries 10 Mbit/s; the axes go 5 % beyond.
    assert axes.get_xlim() == (0.0, 10.5)
    assert axes.lines[2].get_xydata().tolist() == [[0, 10], [10, 0]]
    assert axes.get_xlabel() == "x (aimd) [Mbit/s]"
    for chosen, count in ((["x"], 1), (["x", "y", "z"], 3)):
        with pytest.raises(UnsupportedError) as error:
            fairness_plane.phase(run, flows=chosen)
        assert str(error.value) == f"a phase plot is of two flows, not of {count}"
    assert len(fairness_plane.phase(run, window=(1.0, 2.0)).axes[0].collections) == 1
    with pytest.raises(UnsupportedError) as error:
        fairness_plane.phase(run, window=(1.5, 2.0))
    assert str(error.value) == "a phase plot needs two samples in its window of time"


def packet(time_s, event, seq, *, is_ack=False, name="l", **more):
    return {"time_s": time_s, "event": event, "seq": seq, "is_ack": is_ack, "link": name,
            "flow": "x", "flags": 0, **more}  # fmt: skip


def test_events_of_a_sequence_are_those_at_the_sender():
    rows = [
        packet(1.0, "arrival", 1), packet(0.5, "arrival", 0), packet(1.1, "departure", 1),
        packet(1.2, "arrival", 1, name="m"), packet(1.3, "drop", 2, name="m"),
        packet(2.0, "departure", 3, is_ack=True, name="back"),
        packet(2.1, "departure", 4, is_ack=True), packet(2.2, "arrival", 5, is_ack=True),
        packet(0.1, "arrival", 9, flags=2), packet(3.0, "arrival", 1),
    ]  # fmt: skip
    ends = [link("l"), link("m", src="b", dst="c"), link("back", src="b", dst="a")]
    run = FakeRun([flow("x", dst="c")], ends, packets=rows)
    events = _collect_events(run, "x")
    assert {name: points.tolist() for name, points in events.items()} == {
        "sent": [[0.5, 0], [1.0, 1], [3.0, 1]], "dropped": [[1.3, 2]],
        "acknowledged": [[2.0, 3]],
    }  # fmt: skip
    first, again = _split(events["sent"])
    assert (first.tolist(), again.tolist()) == ([[0.5, 0], [1.0, 1]], [[3.0, 1]])


def test_the_window_of_a_sequence_is_around_the_first_that_is_sent_again():
    run = FakeRun([flow("x", srtt_mean_s=0.1)])
    # 36 round trips of 0.1 s are a long run: the first segment sent again is at 2 s.
    sent = np.array([[0.0, 0], [1.5, 1], [1.9, 2], [2.0, 2], [2.5, 3], [3.0, 8], [3.7, 9]])
    assert _window(run, "x", {"sent": sent}) == pytest.approx((1.8, 3.0, 1.7, 8.3))
    assert _window(run, "x", {"sent": sent[:-1]}) is None
    no_rtt = FakeRun([flow("x", srtt_mean_s=None)])
    assert _window(no_rtt, "x", {"sent": sent}) is None


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"until_s": 0.0}, "the window is from 0 s to 0 s; expected its end later"),
        ({"since_s": 2, "until_s": 2}, "the window is from 2 s to 2 s; expected its end later"),
        ({"width_in": 0}, "the width is 0 in; expected more than 0 and at most 60 in"),
        ({"height_in": 60.5}, "the height is 60.5 in; expected more than 0 and at most 60 in"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(changes, message):
    with pytest.raises(UnsupportedError) as error:
        Shape(**changes)
    assert str(error.value) == message


def test_a_window_of_one_end_is_open_at_the_other():
    assert Shape().window_s is None
    assert Shape(since_s=2).window_s == (2, math.inf)
    assert Shape(until_s=3, width_in=60).window_s == (-math.inf, 3)


@pytest.mark.parametrize(
    ("labels", "numbers"),
    [
        ([1, 2.5], ([1.0, 2.5], "")),
        (["1 Mbps", "2.5 Mbps"], ([1.0, 2.5], "Mbps")),
        (["-1e3 ms"], ([-1000.0], "ms")),
        (["1 Mbps", "2 kbps"], None),
        (["1 Mbps", 2], None),
        (["cubic", "1 s"], None),
        ([True, False], None),
        (["5"], None),
    ],
)
def test_labels_are_numbers_if_they_have_one_unit(labels, numbers):
    assert sweeps._numbers(labels) == numbers


def test_the_note_of_seeds_repeats_two_notes():
    def rows(*pairs):
        return [{"seeds": seeds, "note": note} for seeds, note in pairs]

    assert sweeps._seeds(rows((1, ""), (1, ""))) == "1 seed a point"
    assert sweeps._seeds(rows((3, "a"), (1, "a; b"))) == "1 to 3 seeds a point; a; b"
    assert sweeps._seeds(rows((2, "a; b; c"))) == "2 seeds a point; a; b; and more"


def test_the_frontier_has_the_points_that_none_dominates():
    points = [(3.0, 5.0), (1.0, 2.0), (1.0, 4.0), (2.0, 4.0), (4.0, 6.0)]
    assert sweeps.frontier(points) == [(1.0, 4.0), (3.0, 5.0), (4.0, 6.0)]
    assert sweeps.frontier([]) == []


def test_axes_and_metrics_of_a_sweep_are_chosen_or_refused():
    swept = SimpleNamespace(axes=("cc", "rate"), metrics=("m", "n"))
    assert (sweeps._metric(swept, None), sweeps._metric(swept, "n")) == ("m", "n")
    assert [sweeps._axis(swept, None, place) for place in range(3)] == ["cc", "rate", None]
    assert sweeps._need(swept, "rate", 0) == "rate"
    with pytest.raises(UnsupportedError) as error:
        sweeps._need(swept, None, 2)
    assert str(error.value) == "the figure needs 3 axes; the sweep has 2"
    with pytest.raises(UnsupportedError, match=r'^there is no axis "rates"; did you mean "rate"'):
        sweeps._axis(swept, "rates", 0)
    with pytest.raises(UnsupportedError) as error:
        sweeps._metric(SimpleNamespace(metrics=()), None)
    assert str(error.value) == ("the sweep names no metric; give one, as mean(flows.goodput_bps)")
    assert sweeps._describe_averages(swept, ("cc", None)) == "; averaged over rate"
    assert sweeps._describe_averages(swept, ("cc", "rate")) == ""
    assert sweeps._same("true", {True: 0, "x": 1}) is True


PARALLEL = {
    "from_s": 1.0, "until_s": 2.0, "processes": 4, "turns": 100, "steps": 1000,
    "critical_steps": 250, "average_parallelism": 4.0,
    "busiest": {"name": "r0", "share": 0.2}, "critical": {"name": "r1", "share": 0.5},
    "step_s": 1e-6, "sync_s": 2e-6, "crossing_s": 0.5e-6,
    "on_one": {"stretch_s": 0.5, "setup_s": 0.1}, "on_two": {"stretch_s": 0.3, "setup_s": 0.2},
    "not_on_two": None,
    "predicted": [
        {"cores": 2, "speedup": 1.5, "speedup_of_stretch": 2.0, "largest_share": 0.55,
         "crossing": 0.125},
    ],
}  # fmt: skip


def test_parallelism_is_written_with_its_figures():
    assert str(Parallelism("", PARALLEL)) == (
        "scenario: recorded on one thread from 1 s to 2 s of simulated time\n\n"
        "1,000 steps in 100 turns of 4 processes\n"
        "critical path: 250 steps, 25.0% of all\n"
        "average parallelism: 4.00\n"
        "most work: r0, 20.0% of all steps\n"
        "most of the critical path: r1, 50.0% of its steps\n"
        "measured: 1 µs a step, 2 µs a synchronisation of two threads\n"
        "run on one thread and on two: 500 ms and 300 ms, and 100 ms and 200 ms to set up; so a"
        " step that depends on another core takes 500 ns more\n\n"
        "cores  speed-up  without setting up  most on one core  dependencies between cores\n"
        "    2      1.50                2.00             55.0%                       12.5%\n\n"
        "What limits it is the critical path: processes wait for one another, 4.00 at a time.\n"
        "Speed-ups are predicted, for ackclock run --threads N."
    )
    assert repr(Parallelism("", PARALLEL)) == "Parallelism(4 on average)"


def limit(best=2.0, **changes):
    predicted = [PARALLEL["predicted"][0] | {"speedup_of_stretch": best}]
    return Parallelism("s", PARALLEL | {"predicted": predicted} | changes).limit()


def test_what_limits_a_run_is_one_sentence():
    assert limit(processes=1) == (
        "All is one process, r0: delays are short against transmission times. Threads divide it."
    )
    # 0.2 of the work at a parallelism of 4 is 0.8, below 1 / 1.2; 0.21 is above.
    busiest = {"name": "r0", "share": 0.21}
    assert limit(busiest=busiest) == ("What limits it is one process, r0, with 21.0% of the work.")
    assert limit(best=1.9) == (
        "What limits it are synchronisations: a turn has 10.0 steps, a synchronisation costs 2.0,"
        " and a step that depends on another core 1.5."
    )
    assert limit(best=4.0).startswith("What limits it is the critical path")
    assert limit(best=4.1) == (
        "What limits it is how the work can be divided: of the best division one core has 55.0%."
        " Turns of threads are shorter than those of one, and overlap."
    )
