"""Numbers of captures and of calibrations, each from a few samples written by hand."""

import math

import numpy as np
import pytest

from ackclock.captures.calibrate import estimate, search
from ackclock.captures.calibrate.estimate import EstimatedValue, PathEstimate
from ackclock.captures.calibrate.evidence import Evidence
from ackclock.captures.calibrate.observation import Observation, measure_distances, observe_run
from ackclock.captures.calibrate.replay import _is_near
from ackclock.captures.calibrate.search import Fit, _refuse
from ackclock.captures.read.measures import goodput_over_time, measure
from ackclock.captures.trace import EVENTS, KINDS, SAMPLES, FlowTrace, columns


def evidence(**changes):
    plain = {
        "times_s": np.empty(0), "delivered_bytes": np.empty(0), "rtt_times_s": np.empty(0),
        "rtts_s": np.empty(0), "losses_s": np.empty(0), "sent_times_s": np.empty(0),
        "size_bytes": 1500.0, "ratio": 1.0, "handshake_s": math.nan, "handshake_bytes": 0,
        "has_packets": True, "has_losses": True,
    }  # fmt: skip
    arrays = {name: np.array(value, dtype=float) if isinstance(value, list) else value
              for name, value in changes.items()}  # fmt: skip
    return Evidence(**{**plain, **arrays})


def flow_of(events, samples, rtts=(), **more):
    rows = [(time_s, KINDS.index(kind), 0, 0, 0) for time_s, kind in events]
    samples = columns(
        [(time_s, delivered, 0, flight, *[math.nan] * 4) for time_s, delivered, flight in samples],
        dict.fromkeys(SAMPLES, np.float64),
    )
    trips = columns(list(rtts), {"time_s": np.float64, "rtt_s": np.float64})
    return FlowTrace("1", "tcp", events=columns(rows, EVENTS), samples=samples, rtts=trips, **more)


def test_a_flow_is_measured_from_its_first_event_to_its_last():
    flow = flow_of(
        [(1.0, "sent"), (1.5, "sent"), (2.0, "lost"), (2.5, "retransmitted"), (2.6, "reordered"),
         (2.7, "duplicated"), (3.0, "spurious"), (3.0, "marked"), (3.0, "acknowledged")],
        [(2.0, 1000, 500), (3.0, 4000, 1500), (5.0, 5000, math.nan)],
        [(2.0, 0.1), (3.0, 0.3), (4.0, 0.2)], ends=("a", "b"), control="cubic",
        facts={"largest_payload_bytes": 1448},
    )  # fmt: skip
    found = measure(flow)
    assert (found["start_s"], found["duration_s"]) == (1.0, 4.0)
    # 4000 more bytes in four seconds: a log may begin when much had been delivered.
    assert (found["delivered_bytes"], found["goodput_bps"]) == (5000, 8000.0)
    assert (found["sent_packets"], found["retransmitted_packets"]) == (5, 1)
    kinds = ("lost_packets", "spurious_retransmissions", "reordered_packets", "duplicated_packets",
             "marked_packets")  # fmt: skip
    assert [found[kind] for kind in kinds] == [1] * 5
    assert (found["rtt_min_s"], found["rtt_p50_s"], found["rtt_samples"]) == (0.1, 0.2, 3)
    assert found["rtt_p95_s"] == pytest.approx(0.29)
    assert (found["flight_p50_bytes"], found["flight_max_bytes"]) == (1000, 1500)
    assert (found["mss_bytes"], found["ends"], found["cc"]) == (1448, ["a", "b"], "cubic")


def test_what_a_log_does_not_show_is_not_known():
    flow = flow_of([], [(2.0, math.nan, math.nan)],
                   facts={"retransmitted_packets": 7, "least_rtt_s": 0.05, "mss": 536,
                          "largest_payload_bytes": 9})  # fmt: skip
    found = measure(flow)
    assert (found["sent_packets"], found["lost_packets"], found["marked_packets"]) == (None,) * 3
    assert (found["retransmitted_packets"], found["rtt_min_s"], found["mss_bytes"]) == (
        7,
        0.05,
        536,
    )
    assert (found["delivered_bytes"], found["goodput_bps"], found["ends"]) == (None,) * 3
    assert (found["rtt_p50_s"], found["flight_max_bytes"], found["duration_s"]) == (None, None, 0.0)
    empty = measure(flow_of([], []))
    assert (empty["start_s"], empty["duration_s"], empty["rtt_samples"]) == (0.0, 0.0, 0)


def test_rates_of_delivery_are_of_the_last_sample_before_each_end():
    flow = flow_of([], [(1.0, 0, 0), (1.5, 1000, 0), (2.0, 3000, 0), (2.75, math.nan, 0),
                        (3.25, 4000, 0), (3.75, 9000, 0)])  # fmt: skip
    ends, rates = goodput_over_time(flow, 1.0)
    assert ends.tolist() == [2.0, 3.0]
    assert rates.tolist() == [24000.0, 0.0]
    ends, rates = goodput_over_time(flow, 0.5)
    assert ends.tolist() == [1.5, 2.0, 2.5, 3.0, 3.5]
    assert rates.tolist() == [16000.0, 32000.0, 0.0, 0.0, 16000.0]
    for few in ([(1.0, 5, 0)], [(1.0, 0, 0), (1.0, 9, 0)], []):
        assert [len(part) for part in goodput_over_time(flow_of([], few), 1.0)] == [0, 0]


def test_windows_go_from_delivery_to_delivery_and_leave_out_short_ones():
    shown = evidence(
        times_s=[0.0, 0.5, 1.1, 1.9, 3.4, 3.6], delivered_bytes=[0, 500, 1000, 1500, 2500, 3000],
        ratio=1.5,
    )  # fmt: skip
    starts, ends, rates = estimate._windows(shown, 1.0)
    # Edges at 0, 1, 2, 3 and 4 s: the last deliveries by then are at 0, 0.5, 1.9, 1.9 and 3.6 s;
    # from 0 to 0.5 s is no more than half a window.
    assert starts.tolist() == [0.5, 1.9]
    assert ends.tolist() == [1.9, 3.6]
    assert rates.tolist() == pytest.approx([12000 / 1.4, 18000 / 1.7])


def test_the_least_round_trip_of_a_window_is_unknown_where_it_has_none():
    shown = evidence(rtt_times_s=[0.0, 0.5, 1.0, 3.0], rtts_s=[0.4, 0.2, 0.1, 0.3])
    floor = estimate._queue_floor(shown, np.array([0.0, 1.0, 2.0]), np.array([1.0, 2.0, 3.0]))
    assert floor[:2].tolist() == [0.2, 0.1]
    assert math.isnan(floor[2])


def test_few_busy_windows_are_none_if_far_more_passed_in_others():
    rates = np.array([1.0, 1.0, 1.0, 4.0, 4.0, 4.0])
    busy = np.array([True, True, True, False, False, False])
    assert estimate._contradicts(rates, busy)
    assert not estimate._contradicts(rates, ~busy)
    assert not estimate._contradicts(np.array([2.0, 2.0, 2.0, 4.0, 4.0, 4.0]), busy)
    # Six are not few.
    assert not estimate._contradicts(np.tile(rates, 2), np.tile(busy, 2))
    assert estimate._contradicts(np.tile(rates, 2)[1:], np.tile(busy, 2)[1:])


def test_losses_nearer_than_a_round_trip_are_one_event():
    groups = estimate._clusters(np.array([1.0, 1.5, 2.5, 2.75, 9.0]), 0.5)
    assert [group.tolist() for group in groups] == [[1.0, 1.5], [2.5, 2.75], [9.0]]
    assert estimate._clusters(np.empty(0), 0.5) == []
    observed = Observation(10.0, 0.0, np.array([1.0]), np.array([0.5]), groups[0], 1, np.empty(0),
                           np.empty(0))  # fmt: skip
    assert [event.tolist() for event in observed.loss_events()] == [[1.0, 1.5]]


def test_the_peak_before_a_loss_is_within_its_reach():
    shown = evidence(rtt_times_s=[1.0, 2.0, 3.0], rtts_s=[0.3, 0.2, 0.9])
    assert estimate._peak(shown, 1.0, 3.0) == 0.3
    assert estimate._peak(shown, 1.5, 3.5) == 0.9
    assert math.isnan(estimate._peak(shown, 1.25, 1.75))


def test_shares_have_the_interval_of_wilson():
    # Wilson 1927: of 10, 3: 0.108 to 0.603; of 20, none: 0 to 0.161.
    assert estimate._share(3, 10) == EstimatedValue(
        0.3, pytest.approx(0.10779, abs=1e-4), pytest.approx(0.60323, abs=1e-4)
    )
    assert estimate._share(0, 20) == EstimatedValue(0.0, 0.0, pytest.approx(0.16113, abs=1e-4))
    assert estimate._share(5, 3).value == 1.0
    assert estimate._share(5, 3).high == 1.0


def test_random_losses_meet_long_queues_as_often_as_packets_do():
    """Chernoff: of n losses that all meet what a share s of queues are, s ** n."""
    queues = np.array([0.0, 0.0, 0.0, 0.1])
    shown = evidence(rtt_times_s=[0.0, 1.0, 2.0, 3.0], losses_s=[3.0, 3.0, 3.0])
    assert estimate._chance_of_random(shown, queues, 0.1) == pytest.approx(0.25**3)
    half = evidence(rtt_times_s=[0.0, 1.0, 2.0, 3.0], losses_s=[3.0, 0.0])
    # exp(-2 (ln 2 / 2 + ln(2 / 3) / 2)) = 1 / (2 * 2 / 3).
    assert estimate._chance_of_random(half, queues, 0.1) == pytest.approx(0.75)
    early = evidence(rtt_times_s=[0.0, 1.0, 2.0, 3.0], losses_s=[0.0, 1.0, 2.0, 3.0])
    assert estimate._chance_of_random(early, queues, 0.1) == 1.0
    groups = [np.array([0.0, 3.0]), np.array([3.0]), np.array([1.0])]
    counts = estimate._losses_at_empty(shown, groups, np.array([False, False, True]), queues, 0.05)
    # The first of each event that met no full queue; three of four queues are empty.
    assert counts == (1.0, pytest.approx(1.5))


def test_what_a_policer_passes_is_the_rate_of_windows_with_losses():
    path = PathEstimate()
    ends = np.array([1.0, 2.0, 3.0, 4.0, 5.0])
    path.rates = ends, np.array([9e6, 1e6, 1.1e6, 0.9e6, 7e6]), np.zeros(5)
    # Two losses in each of the second to the fourth, one in the last.
    losses = [1.5, 1.6, 2.5, 2.6, 3.5, 3.6, 4.5]
    estimate._rate_of_policer(evidence(losses_s=losses), path)
    half = 1.96 * 1.25 * 1.4826 * 1e5 / 3**0.5 + 1e4
    assert path.rate_bps == EstimatedValue(
        1e6, pytest.approx(1e6 - half), pytest.approx(1e6 + half)
    )
    for few in (losses[2:], []):
        path.rate_bps = None
        estimate._rate_of_policer(evidence(losses_s=few), path)
        assert path.rate_bps is None


def steady(rtts, *, rate_bps=1.2e6, seconds=12.0):
    """Packets of 1500 bytes at a rate, with a round trip of each in turn."""
    times = np.arange(0, seconds, 12000 / rate_bps)
    trips = np.resize(np.array(rtts), len(times))
    return evidence(times_s=times, delivered_bytes=1500.0 * np.arange(len(times)),
                    rtt_times_s=times, rtts_s=trips, sent_times_s=times)  # fmt: skip


def test_a_rate_is_known_only_from_windows_that_wait_longer_than_the_least():
    path = PathEstimate()
    shown = steady([0.2])
    shown.rtts_s[:100] = 0.05
    estimate._estimate_rate(shown, path)
    assert path.rate_bps is not None
    assert path.rate_bps.value == pytest.approx(1.2e6, rel=1e-3)
    assert path.rate_bps.high - path.rate_bps.value == pytest.approx(0.002 * 1.2e6, rel=0.05)
    idle = PathEstimate()
    estimate._estimate_rate(steady([0.05, 0.06]), idle)
    assert idle.rate_bps is None
    assert idle.least_rate_bps == pytest.approx(1.2e6, rel=1e-3)
    blind = PathEstimate()
    deliveries = evidence(times_s=shown.times_s, delivered_bytes=shown.delivered_bytes)
    estimate._estimate_rate(deliveries, blind)
    assert blind.least_rate_bps == pytest.approx(1.2e6, rel=1e-3)
    assert "without round trips" in blind.doubts[0]
    short = PathEstimate()
    estimate._estimate_rate(steady([0.2], seconds=0.2), short)
    assert short.doubts == ["too short for a rate: only what was delivered is known"]


def observation(**changes):
    plain = {"duration_s": 10.0, "goodput_bps": 1e6, "rtt_times_s": np.array([0.0, 1.0, 2.4, 3.0]),
             "rtts_s": np.array([0.1, 0.2, 0.2, 0.3]), "losses_s": np.array([2.5]), "sent": 1000,
             "grid_s": np.arange(3.0), "delivered_bytes": np.array([0.0, 1e5, 2e5])}  # fmt: skip
    return Observation(**{**plain, **changes})


def test_distances_of_equals_are_0_and_each_grows_with_its_quantity_alone():
    def distances(**changes):
        found = measure_distances(
            observation(), observation(**changes), rate_bps=1e6, size_bytes=1250, ratio=1.0
        )
        return {name: value for name, value in found.items() if value > 1e-9}

    assert distances() == {}
    assert distances(goodput_bps=1.25e6) == {"goodput": pytest.approx(0.25)}
    # A decade is one, of events a factor of four.
    assert distances(sent=500)["lost"] == pytest.approx(np.log10(2.01e-3 / 1.01e-3))
    assert distances(losses_s=np.empty(0))["queues at losses"] == 1.0
    both = distances(losses_s=np.array([2.5, 2.5, 2.5, 2.5]))
    assert both["losses an event"] == pytest.approx(np.log(4) / np.log(8))
    assert both["lost"] == pytest.approx(np.log10(4.01e-3 / 1.01e-3))
    shifted = distances(rtts_s=np.array([0.15, 0.25, 0.25, 0.35]))
    # The whole is longer, the queues are not.
    assert set(shifted) == {"round trip, median", "round trip, p95", "round trips"}
    assert shifted["round trip, median"] == pytest.approx(0.25)
    assert shifted["round trips"] == pytest.approx(0.25)
    assert distances(rtts_s=np.empty(0)) == {"round trips": 1.0}
    # Ten packets are 12,500 bytes; in the first second as many came beyond the rate.
    burst = distances(delivered_bytes=np.array([0.0, 138_750.0, 238_750.0]))
    assert burst == {"excess": pytest.approx(0.5)}


class Recorded:
    """A run with the tables of an observation."""

    def __init__(self, **tables):
        self.summary = {"flows": [{"id": "f", "sent_packets": 9}], "duration_s": 4.0}
        self.tables = tables

    def table(self, name):
        import pyarrow as pa

        names, rows = self.tables[name]
        return pa.table(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))


@pytest.mark.parametrize(
    ("position", "times", "trips"),
    [("receiver", [1.0, 2.0], [0.9, 0.25]), ("sender", [0.1, 1.75], [0.9, 0.25])],
)
def test_a_run_is_observed_by_when_its_packets_met_the_queue(position, times, trips):
    run = Recorded(
        rtts=(("flow", "time_s", "rtt_s"),
              [("f", 0.5, 9.0), ("f", 1.0, 0.9), ("g", 1.5, 7.0), ("f", 2.0, 0.25)]),
        drops=(("flow", "time_s", "is_ack"),
               [("f", 3.0, False), ("f", 2.0, True), ("g", 1.0, False), ("f", 1.0, False)]),
        flow_samples=(("flow", "time_s", "received_bytes"),
                      [("f", 0.0, 0), ("g", 1.0, 9), ("f", 4.0, 5000)]),
    )  # fmt: skip
    found = observe_run(run, position)
    # The round trip of the handshake does not count.
    assert found.rtt_times_s.tolist() == pytest.approx(times)
    assert found.rtts_s.tolist() == trips
    assert found.losses_s.tolist() == [1.0, 3.0]
    assert (found.goodput_bps, found.sent, found.duration_s) == (10_000.0, 9, 4.0)


def test_a_kind_of_queue_is_said_only_if_it_is_sure():
    assert Fit().kind == search.NOT_KNOWN
    assert Fit(kinds={"red": 0.3, "fifo": 0.5, "pie": 0.2}).kind == "fifo"
    assert Fit(kinds={"red": 0.3, "fifo": 0.49, "pie": 0.21}).kind == search.NOT_KNOWN
    assert Fit().nearest is None


def test_a_search_is_refused_where_nothing_can_be_distinguished():
    path = PathEstimate(EstimatedValue(1e6, 1e6, 1e6), base_s=EstimatedValue(0.1, 0.1, 0.1))
    shown = steady([0.1])
    losses = np.arange(5.0)
    lossy = evidence(rtts_s=shown.rtts_s, losses_s=losses)
    assert _refuse(path, lossy) == ""
    assert "too few losses" in _refuse(path, evidence(rtts_s=shown.rtts_s, losses_s=losses[1:]))
    assert "counters" in _refuse(path, evidence(has_packets=False, losses_s=losses))
    assert "round trips" in _refuse(path, evidence(losses_s=losses))
    assert "round trips" in _refuse(PathEstimate(path.rate_bps), lossy)
    assert "without a rate" in _refuse(PathEstimate(base_s=path.base_s), lossy)
    assert _refuse(PathEstimate(base_s=path.base_s, least_rate_bps=1.0), lossy) == ""


@pytest.mark.parametrize(
    ("name", "measured", "replayed", "is_near"),
    [
        ("goodput", 100.0, 110.0, True), ("goodput", 100.0, 89.9, False),
        ("rtt_p50", 1.0, 1.15, True), ("rtt_p50", 1.0, 1.16, False), ("rtt_p50", 1.0, 0.84, False),
        ("lost", 0.004, 0.008, True), ("lost", 0.008, 0.004, True), ("lost", 0.004, 0.0081, False),
        # Of next to no losses any number is near.
        ("lost", 0.0, 0.0019, True), ("lost", 0.0, 0.002, False),
        ("lost", None, 0.1, None), ("goodput", 0.1, None, None),
    ],
)  # fmt: skip
def test_a_replay_is_near_up_to_its_bound(name, measured, replayed, is_near):
    assert _is_near(name, measured, replayed) is is_near
