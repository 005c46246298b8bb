"""What is measured in packets of a property, and rows of a path, by hand."""

import math
from fractions import Fraction
from types import SimpleNamespace

import pyarrow as pa
import pytest

from ackclock.prove import measures
from ackclock.prove.measures import Measure
from ackclock.prove.trace import ModelTrace


def test_a_standing_queue_is_the_least_of_the_second_half_of_the_bottleneck():
    rows = [(1.0, "r0->r1", 0), (3.9, "r0->r1", 2), (4.0, "r0->r1", 30), (5.0, "r0->r1", 20),
            (6.0, "r0->r1", 40), (5.0, "r1->d0", 1)]  # fmt: skip
    times, links, queues = zip(*rows, strict=True)
    samples = pa.table({"time_s": times, "link": links, "queue_packets": queues})
    run = SimpleNamespace(summary={"duration_s": 8.0}, link_samples=samples)
    assert measures._standing(run, 10) == 2.0


def drops(*rows):
    times, acks = zip(*rows, strict=True) if rows else ((), ())
    return pa.table({"time_s": pa.array(times, pa.float64()), "is_ack": pa.array(acks, pa.bool_())})


def test_the_least_window_at_a_loss_is_that_of_the_last_change_by_then():
    windows = pa.table({"time_s": [1.0, 2.0, 3.0], "cwnd_segments": [50.0, 20.0, 5.0]})

    def least(*rows):
        return measures.least_window_at_loss(
            SimpleNamespace(windows=windows, drops=drops(*rows)), 10
        )

    assert least((1.5, False)) == 5.0
    # At the time of a change it is the new one.
    assert least((2.0, False), (1.0, False)) == 2.0
    assert least((2.5, False), (3.5, True)) == 2.0
    assert least((0.5, False), (1.5, False)) == 5.0
    assert least((3.5, True)) == math.inf
    assert least() == math.inf


def test_the_ratio_of_flows_is_of_the_least_to_the_most_and_0_of_nothing():
    def ratio(*goodputs):
        flows = [{"goodput_bps": goodput} for goodput in goodputs]
        return measures.ratio_of_flows(SimpleNamespace(summary={"flows": flows}), 1)

    assert ratio(4e6, 1e6, 2e6) == 0.25
    assert ratio(0.0, 0.0) == 0.0


def test_utilisation_is_of_the_bottleneck():
    links = [{"id": "s0->r0", "utilisation": 0.1}, {"id": "r0->r1", "utilisation": 0.7}]
    assert measures._utilisation(SimpleNamespace(summary={"links": links}), 1) == 0.7


@pytest.mark.parametrize(
    ("least", "value", "shown", "json_value"),
    [(True, 0.49, True, 0.49), (True, 0.5, False, 0.5), (False, 0.51, True, 0.51),
     (False, 0.5, False, 0.5), (True, math.inf, False, None), (False, math.inf, True, None),
     (True, math.nan, False, None)],
)  # fmt: skip
def test_a_violation_is_beyond_the_bound_and_not_at_it(least, value, shown, json_value):
    measure = Measure(lambda run, packets: 0.0, 0.5, "BDP", least=least, none="nothing was lost")
    found, plain, sentence = measure.judge(value)
    assert (found, plain) == (shown, json_value)
    assert sentence.startswith("the violation is there") == shown
    if value == math.inf:
        assert sentence.endswith(": nothing was lost")


def test_the_value_nearer_to_a_violation_is_less_or_more_and_none_never_is():
    least = Measure(lambda run, packets: 0.0, 0.5, "")
    assert least.is_nearer(0.3, 0.4)
    assert not least.is_nearer(0.4, 0.4)
    assert not least._replace(least=False).is_nearer(0.3, 0.4)
    assert least.is_nearer(0.3, None)
    assert not least.is_nearer(None, 0.3)
    assert not least.is_nearer(None, None)


def curves(*flows):
    return tuple(tuple(map(Fraction, flow)) for flow in flows)


def test_rows_of_a_path_are_step_by_step_with_each_flow():
    trace = ModelTrace(
        segment=Fraction(1, 4), period=0, jitter=1, sent=curves([1, 2], [3, 4]),
        served=curves([5, 6], [7, 8]), passed=curves([9, 10], [11, 12]),
        lost=curves([13, 14], [15, 16]), noticed=curves([17, 18], [19, 20]),
        window=curves([21, 22], [23, 24]), capacity=(Fraction(1, 2), Fraction(3, 2)),
    )  # fmt: skip
    rows = trace.rows()
    assert [(row["step"], row["flow"]) for row in rows] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert rows[1] == {"step": 0, "flow": 1, "sent": 3.0, "served": 7.0, "lost": 15.0,
                       "known_lost": 19.0, "window": 23.0, "capacity": 0.5}  # fmt: skip
    from dataclasses import replace

    assert replace(trace, access_jitter=1).rows()[2]["passed"] == 10.0


def claim(name, value):
    return SimpleNamespace(kind=SimpleNamespace(name=name), value=Fraction(value))


@pytest.mark.parametrize(
    ("name", "value", "read", "facts"),
    [
        ("utilisation", "1/2", measures._utilisation, (0.5, (), True, False)),
        ("standing-queue", "2", measures._standing, (2.0, ("link_samples",), False, True)),
        ("loss-above", "3/2", measures.least_window_at_loss,
         (1.5, ("windows", "drops"), True, False)),
        ("no-starvation", "1/10", measures.ratio_of_flows, (0.1, (), True, True)),
        ("no-deadlock", "8", measures._longest_silence, (8.0, ("packets",), False, False)),
    ],
)  # fmt: skip
def test_each_property_has_its_measure_with_what_it_records(name, value, read, facts):
    measure = measures.measure_of(claim(name, value))
    assert measure.read is read
    assert (measure.bound, measure.tables, measure.least, measure.begins_small) == facts


def test_a_recovery_is_a_half_of_the_capacity_at_the_end_of_its_round_trips():
    measure = measures.measure_of(claim("recovery", 12))
    assert (measure.bound, measure.least) == (0.5, True)
    assert measure.tables == ("packets", "windows")
    assert measure.judge(0.4)[2] == (
        "the violation is there: 0.4 of the capacity in the last two of 12 round trips"
    )


def delivered(monkeypatch, *trips, windows=((0.0, 50.0),), end=20.0):
    """A run whose data leave the path so many round trips after the solver's path begins."""
    base = measures.ROUND_TRIP_S
    times = [(measures.BEGIN + 0.5 + trip) * base for trip in trips]
    monkeypatch.setattr(measures, "times_of", lambda *_, **__: pa.array(times).to_numpy())
    when, cwnd = zip(*windows, strict=True)
    return SimpleNamespace(
        packets=None, windows=pa.table({"time_s": when, "cwnd_segments": cwnd}),
        summary={"duration_s": (measures.BEGIN + 0.5 + end) * base},
    )  # fmt: skip


def test_what_recovered_is_what_was_delivered_in_the_last_two_round_trips(monkeypatch):
    run = delivered(monkeypatch, 7.9, 8.1, 8.5, 9.0, 9.9, 10.2)
    # Four packets of 5 a round trip in those from 8 to 10.
    assert measures._recovered(run, 5, 10) == pytest.approx(0.4)
    # The window must be two BDP when the solver's path begins.
    begin = measures.BEGIN * measures.ROUND_TRIP_S
    for windows, is_known in (
        ([(0.0, 10.0)], True), ([(0.0, 9.9)], False),
        ([(0.0, 50.0), (begin, 9.0)], False), ([(0.0, 9.0), (begin, 50.0)], True),
        ([(0.0, 50.0), (begin + 1, 9.0)], True), ([(begin + 1, 50.0)], False),
    ):  # fmt: skip
        run = delivered(monkeypatch, 8.5, windows=windows)
        assert math.isnan(measures._recovered(run, 5, 10)) is not is_known


def test_the_longest_silence_counts_from_the_delivery_before_and_to_the_end(monkeypatch):
    assert measures._longest_silence(delivered(monkeypatch, 1, 4, 6, end=8), 1) == pytest.approx(3)
    assert measures._longest_silence(delivered(monkeypatch, 1, 2, end=8), 1) == pytest.approx(6)
    # The last one before the path begins counts, earlier ones do not.
    silence = measures._longest_silence(delivered(monkeypatch, -9, -2, 1.5, 2, end=4), 1)
    assert silence == pytest.approx(3.5)
    assert measures._longest_silence(delivered(monkeypatch, 5, 6, end=7), 1) == pytest.approx(5)
