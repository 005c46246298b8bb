"""Figures in the shape that a reader requests, round trips and delay over time, names of lines."""

import itertools

import numpy as np
import pytest

import ackclock as ac
from ackclock.cli.main import main
from ackclock.plot import Shape
from ackclock.plot.delays import _percentiles
from ackclock.plot.line_names import name_lines

TEXT = """
duration = "12 s"
net = { kind = "dumbbell", pairs = 2, rate = "5 Mbps", rtt = "40 ms", buffer = "20 pkt" }
flows = [{ id = "a", pair = 0, cc = "reno" }, { id = "b", pair = 1, cc = "cubic", start = "4 s" }]
record = { tables = ["windows", "rtts", "queues", "packets", "flow_samples"] }
"""


@pytest.fixture(scope="module")
def run():
    return ac.load(TEXT).run()


def test_a_window_of_time_is_shown_with_the_scale_of_what_is_in_it(run):
    whole = ac.plot.draw("cwnd", run).axes[0]
    axes = ac.plot.draw("cwnd", run, shape=Shape(since_s=8.0, until_s=10.0)).axes[0]
    assert axes.get_xlim() == (8.0, 10.0)
    rows = run.windows.to_pylist()
    shown = max(row["cwnd_segments"] for row in rows if 8.0 <= row["time_s"] <= 10.0)
    assert shown <= axes.get_ylim()[1] < 1.15 * shown
    assert axes.get_ylim()[1] < whole.get_ylim()[1]
    assert axes.get_ylim()[0] == 0


def test_a_distribution_in_a_window_has_the_samples_of_that_window_only(run):
    axes = ac.plot.draw("delay", run, flows=["a"], shape=Shape(since_s=8.0)).axes[0]
    rows = [row for row in run.rtts.to_pylist() if row["flow"] == "a" and row["time_s"] >= 8.0]
    values = np.asarray(axes.lines[0].get_xdata())
    assert np.nanmax(values) == pytest.approx(1e3 * max(row["rtt_s"] for row in rows))
    with pytest.raises(ac.UnsupportedError, match="no RTT sample"):
        ac.plot.draw("delay", run, shape=Shape(since_s=100.0))


def test_title_size_and_labels_are_those_requested(run):
    shape = Shape(title="Mine", width_in=5.0, height_in=2.5, x_label="t", y_label="segments")
    figure = ac.plot.draw("cwnd", run, shape=shape)
    axes = figure.axes[0]
    assert tuple(figure.get_size_inches()) == (5.0, 2.5)
    titles = axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()
    assert titles == ("Mine", "t", "segments")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"since_s": 5.0, "until_s": 5.0}, "expected its end later"),
        ({"width_in": 0.0}, "at most 60 in"),
        ({"height_in": 1e9}, "at most 60 in"),
    ],
)
def test_a_shape_that_cannot_be_is_refused(options, said):
    with pytest.raises(ac.UnsupportedError, match=said):
        Shape(**options)


def test_a_figure_without_time_refuses_a_window():
    run = ac.load(TEXT.replace('"packets"', '"packets", "ledger"')).run()
    with pytest.raises(ac.UnsupportedError, match="no axis of time"):
        ac.plot.draw("ledger", run, shape=Shape(since_s=1.0))


def test_round_trips_over_time_are_the_samples_of_the_table(run):
    axes = ac.plot.draw("rtt", run, flows=["b"]).axes[0]
    time, value = axes.lines[0].get_data()
    rows = [row for row in run.rtts.to_pylist() if row["flow"] == "b"]
    assert len(rows) < 2000
    assert np.allclose(time, [row["time_s"] for row in rows])
    assert np.allclose(value, [1e3 * row["rtt_s"] for row in rows])


def test_queueing_delay_is_what_a_full_buffer_takes_to_leave(run):
    axes = ac.plot.draw("queue-delay", run, links=["r0->r1"]).axes[0]
    highest = max(axes.lines[0].get_ydata())
    # 20 packets of 1500 B at 5 Mbit/s take 48 ms.
    assert highest == pytest.approx(48.0)
    trace = ac.load(TEXT).replace(
        **{"net.schedule": {"steps": [{"at": "2 s", "rate": "3 Mbps"}]}, "duration": "4.5 s"}
    )
    with pytest.raises(ac.UnsupportedError, match='rate of the link "r0->r1" changes'):
        ac.plot.draw("queue-delay", trace.run(), links=["r0->r1"])


@pytest.mark.slow
def test_a_long_sequence_begins_shortly_before_the_first_segment_that_is_sent_again(run):
    axes = ac.plot.draw("sequence", run).axes[0]
    first, last = axes.get_xlim()
    again = next(line for line in axes.lines if "sent again" in str(line.get_label()))
    assert first < min(again.get_xdata()) < last < 6.0
    whole = ac.plot.draw("sequence", run, shape=Shape(since_s=0.0, until_s=12.0)).axes[0]
    assert whole.get_xlim() == (0.0, 12.0)


def test_names_of_lines_do_not_overlap_and_keep_the_order_of_their_ends():
    from matplotlib.figure import Figure

    axes = Figure(figsize=(6, 4)).add_subplot()
    ends = [1.0, 1.01, 1.02, 9.99, 10.0, 10.0]
    for i, end in enumerate(ends):
        axes.plot([0, 1], [5, end], label=str(i))
    name_lines(axes)
    heights = {text.get_text(): text.get_position()[1] for text in axes.texts}
    assert list(heights) == ["0", "1", "2", "3", "4", "5"]
    gaps = np.diff(sorted(heights.values()))
    assert gaps.min() > 8 / (4 * 72)
    assert max(heights.values()) <= 1.0
    name_lines(axes)
    assert len(axes.texts) == 6
    assert all(low < high for low, high in itertools.pairwise(heights.values()))


def test_a_sequence_is_of_connections_whose_first_link_was_recorded():
    flows = [{"id": "a", "pair": 0}, {"id": "calls", "pair": 1, "source": {"kind": "cbr"}}]
    case = ac.load(TEXT).replace(duration="2 s", flows=flows)
    run = case.run(record=["packets"])
    assert ac.plot.draw("sequence", run).axes[0].lines
    with pytest.raises(ac.UnsupportedError, match='flow "calls" sends datagrams, which have no'):
        ac.plot.draw("sequence", run, flows=["calls"])
    elsewhere = case.replace(**{"record.links": ["r0->r1"]}).run(record=["packets"])
    with pytest.raises(ac.UnsupportedError, match='does not have the first link of flow "a"'):
        ac.plot.draw("sequence", elsewhere)


def test_the_command_takes_window_title_size_and_labels(run, tmp_path, capsys):
    run.save(tmp_path / "run")
    place, out = str(tmp_path / "run"), str(tmp_path / "x.svg")
    shape = ["--since", "2 s", "--until", "4 s", "--title", "Windows at work", "--size", "5x3"]
    assert main(["plot", place, "--kind", "cwnd", "--out", out, *shape]) == 0
    assert "Windows at work" in (tmp_path / "x.svg").read_text()
    for wrong, said in (
        (["--size", "large"], "expected two numbers of inches"),
        (["--since", "4 s", "--until", "2 s"], "expected its end later"),
    ):
        assert main(["plot", place, "--kind", "cwnd", "--out", out, *wrong]) == 2
        assert said in capsys.readouterr().err


def test_every_sample_is_in_an_interval_of_the_percentiles():
    """Of 601 samples each of 300 intervals has two, and the last one the sample at its end."""
    times = np.linspace(0, 1, 601)
    middles, low, median, high = _percentiles(times, np.arange(601.0))
    assert middles == pytest.approx((np.arange(300) + 0.5) / 300)
    assert median == pytest.approx([*(2 * np.arange(299) + 0.5), 599])
    assert low[-1] == pytest.approx(598.1)
    assert high[-1] == pytest.approx(599.9)
