"""What a proof reads of a run, and the jitter that it writes into one, by hand."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace

import pyarrow as pa
import pytest

from ackclock.prove.controls import RELATIONS
from ackclock.prove.counterexample import BEGIN, ROUND_TRIP_S, scenario_data
from ackclock.prove.measures import measure_of
from ackclock.prove.properties import read_claim
from ackclock.prove.refine import sample
from ackclock.prove.trace import ModelTrace

NAMES = ("time_s", "link", "event", "is_ack", "flags")


def passing(link, event, times_s, *, is_ack):
    return [dict(zip(NAMES, (time, link, event, is_ack, 0), strict=True)) for time in times_s]


def run_of(packets, *, duration_s=1.0, drops=(), windows=()):
    """A run of 10 segments to a BDP with these tables."""
    rate = 10 * 1500 * 8 / ROUND_TRIP_S
    return SimpleNamespace(
        summary={
            "duration_s": duration_s,
            "flows": [{"rtt_min_s": ROUND_TRIP_S}],
            "links": [{"id": "r0->r1", "rate_bps": rate}],
        },
        packets=pa.Table.from_pylist(packets),
        drops=pa.table(
            {"time_s": list(drops), "is_ack": pa.array([False] * len(drops), pa.bool_())}
        ),
        windows=pa.Table.from_pylist(
            [
                {"time_s": time, "cwnd_segments": cwnd, "in_flight_segments": in_flight}
                for time, cwnd, in_flight in windows
            ]
        ),
    )


def test_a_sample_of_a_step_has_what_is_acknowledged_a_step_later():
    """Steps at 0.5, 0.6, 0.7 and 0.8 s; of five segments one is dropped, and noticed at 0.75 s."""
    packets = passing("s0->r0", "arrival", [0.45, 0.5, 0.55, 0.65, 0.78], is_ack=False)
    packets += passing("r0->s0", "departure", [0.55, 0.65, 0.72, 0.85], is_ack=True)
    windows = [(0.4, 2.0, 1), (0.5, 3.0, 2), (0.65, 4.0, 2), (0.75, 5.0, 0)]
    run = run_of(packets, drops=[0.56], windows=windows)
    samples = sample(run, 0.5, 3, jitter=1, buffer=Fraction(1))
    assert samples.sent == (2, 3, 4, 5)
    # What had been acknowledged at 0.6, 0.7, 0.8 and 0.9 s.
    assert samples.served == (1, 2, 3, 4)
    assert samples.lost == (0, 1, 1, 1)
    # 0.8 s: of five sent three are acknowledged and none is in flight, but only one was dropped.
    assert samples.noticed == (0, 0, 0, 1)
    assert samples.window == (3, 3, 4, 5)
    assert samples.packets == pytest.approx(10)


@pytest.mark.parametrize(
    ("delivered", "end", "longest"),
    [
        ([-3, 1, 2, 4], 5, 4.0),  # since the last before the path begins
        ([-1, 1, 4.5, 5], 6, 3.5),
        ([-1, 1, 2, 3], 8, 5.0),  # until the end of the run
        ([1.5, 3], 4, 1.5),  # since the path begins
    ],
)
def test_a_silence_begins_and_ends_with_a_delivery_or_with_the_run(delivered, end, longest):
    begin = BEGIN + 0.5
    times = [ROUND_TRIP_S * (begin + time) for time in delivered]
    packets = passing("r1->d0", "departure", times, is_ack=False)
    run = run_of(packets, duration_s=ROUND_TRIP_S * (begin + end))
    measure = measure_of(read_claim("no-deadlock=2"))
    assert measure.read(run, 10) == pytest.approx(longest)


@pytest.mark.parametrize(
    ("pause", "rows"),
    [
        ((0, 0), [("0 ms", "100 ms")]),
        (
            (2, 1),
            [("0 ms", "100 ms"), ("200 ms", "0 ms"), ("300 ms", "100 ms"), ("500 ms", "0 ms")],
        ),
        ((1, 2), [("0 ms", "100 ms"), ("100 ms", "0 ms"), ("300 ms", "100 ms")]),
    ],
)
def test_a_pause_is_so_many_round_trips_without_jitter_after_so_many_with(pause, rows):
    # Every other step nothing leaves; what did is held for a step.
    capacity, held, zero = (
        tuple(map(Fraction, curve)) for curve in ((0, 1, 1, 2, 2), (0, 0, 1, 1, 2), (0,) * 5)
    )
    trace = ModelTrace(
        Fraction(1, 10), 2, 1, (held,), (held,), (held,), (zero,), (zero,), (held,), capacity
    )
    assert set(trace.delays()) == {1.0}
    relation = RELATIONS["aimd"]
    data = scenario_data(relation, relation.parameters, trace, None, pause)
    (impairment,) = data["net"]["impairments"]
    steps = [(row["at"], row["extra"]) for row in impairment["steps"]]
    assert steps[: len(rows)] == rows
    assert (len(steps) == 1) == (pause == (0, 0))
