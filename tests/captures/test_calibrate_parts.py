"""Single steps of a calibration, each from numbers by hand."""

from __future__ import annotations

import itertools
import math
from types import SimpleNamespace

import numpy as np
import pytest

from ackclock.captures.calibrate import replay as replaying
from ackclock.captures.calibrate.alternatives import Alternative
from ackclock.captures.calibrate.calibration import Calibration
from ackclock.captures.calibrate.candidates import KINDS as QUEUES
from ackclock.captures.calibrate.estimate import EstimatedValue, PathEstimate, _queues_near
from ackclock.captures.calibrate.evidence import Evidence, gather
from ackclock.captures.calibrate.observation import observe_evidence
from ackclock.captures.calibrate.replay import Distance, score
from ackclock.captures.calibrate.scenario import Draw, draw_from, scenario_of
from ackclock.captures.calibrate.search import NOT_KNOWN
from ackclock.captures.trace import EVENTS, KINDS, FlowTrace, columns

NONE = np.empty(0)


def test_the_base_is_a_round_trip_without_transmission_at_the_bottleneck():
    """1500 B and an acknowledgement of 52 B take 12.416 ms at 1 Mbit/s."""
    evidence = Evidence(
        NONE, NONE, np.array([0.0, 1.0]), np.array([0.07, 0.05]), NONE, NONE, 1500, 1.04, np.nan, 0,
        has_packets=True, has_losses=True,
    )  # fmt: skip
    assert evidence.base_s(1e6) == pytest.approx(0.05 - 0.012416)


def test_a_loss_met_the_queue_that_was_measured_nearest_in_time():
    """Measured at 1, 2 and 4 s; half-way it is that before."""
    evidence = Evidence(
        NONE, NONE, np.array([1.0, 2.0, 4.0]), NONE, NONE, NONE, 1500, 1.0, np.nan, 0,
        has_packets=True, has_losses=True,
    )  # fmt: skip
    times = np.array([0.0, 1.0, 1.4, 1.5, 1.6, 2.0, 2.9, 3.1, 4.0, 9.0])
    met = _queues_near(evidence, np.array([0.01, 0.02, 0.04]), times)
    assert met.tolist() == [0.01] * 4 + [0.02] * 3 + [0.04] * 3


def test_95_of_100_draws_are_within_the_bounds_of_an_alternative():
    alternative = Alternative("cubic", "fifo", {"rtt_p50_s": np.arange(1001.0)})
    assert alternative.interval("rtt_p50_s") == (500, 25, 975)


def test_draws_are_normal_with_95_of_100_within_the_interval():
    """Its half is 1.96 standard deviations: 68 of 100 are within one, 1.02 Mbit/s."""
    path = PathEstimate(
        EstimatedValue(1e7, 0.8e7, 1.2e7),
        base_s=EstimatedValue(0.03, 0.03, 0.03),
        least_buffer_bytes=6e4,
    )
    rates = np.array([draw_from(path, 1512, seed).rate_bps for seed in range(500)])
    assert rates.min() >= 0.8e7 and rates.max() <= 1.2e7
    assert np.mean(np.abs(rates - 1e7) < 2e6 / 1.96) == pytest.approx(0.683, abs=0.06)


@pytest.mark.parametrize("has_timestamps", [False, True])
def test_without_timestamps_nothing_that_needs_them_is_on(has_timestamps):
    flow = FlowTrace("", "tcp", position="sender")
    flow.facts = {"mss": 1400, "has_timestamps": has_timestamps}
    path = PathEstimate(EstimatedValue(1e7, 1e7, 1e7), base_s=EstimatedValue(0.03, 0.03, 0.03))
    scenario = scenario_of(path, flow, Draw(1e7, 0.03, 6e4, 0.0), control="cubic", duration_s=1)
    tcp = scenario.data["tcp"]
    assert (tcp["mss"], tcp["timestamps"]) == (1400, has_timestamps)
    assert tcp.get("eifel", True) is has_timestamps
    scenario.check()


@pytest.mark.parametrize(
    ("goodput", "median", "far"),
    [
        (1.09, 1.14, []),
        (0.91, 0.86, []),
        (1.11, 1.0, ["goodput"]),
        (0.89, 1.0, ["goodput"]),
        (1.0, 1.16, ["round trip, median"]),
        (1.0, 0.84, ["round trip, median"]),
    ],
)
def test_a_replay_is_near_on_both_sides(monkeypatch, goodput, median, far):
    """A tenth for goodput, 15 % for round trips."""
    monkeypatch.setattr(replaying, "figures", lambda figures: figures)
    measured = {"goodput": 1e6, "round trip, median": 0.04, "lost": 0.01}
    replayed = {"goodput": goodput * 1e6, "round trip, median": median * 0.04, "lost": 0.012}
    distances, verdict = replaying.compare(measured, replayed)  # type: ignore[arg-type]
    assert [distance.name for distance in distances if not distance.is_near] == far
    assert verdict.startswith("use the path with care" if far else "the path may be used")


def test_shares_of_losses_are_near_within_a_factor_of_two(monkeypatch):
    monkeypatch.setattr(replaying, "figures", lambda figures: figures)
    for lost, is_near in [(0.02, True), (0.021, False), (0.005, True), (0.0049, False)]:
        distances, _ = replaying.compare({"lost": 0.01}, {"lost": lost})  # type: ignore[arg-type]
        assert distances[0].is_near is is_near, lost


@pytest.mark.parametrize("zero", [0.0, 1000.0])
def test_what_is_observed_does_not_depend_on_when_the_clock_begins(zero):
    """Deliveries and sendings each 0.1 s for 4 s, of which 2 s are compared."""
    sent = np.arange(40) / 10
    evidence = Evidence(
        zero + sent + 0.05, 1000.0 * np.arange(1, 41), zero + sent, np.full(40, 0.05),
        zero + np.array([0.55, 1.95, 2.55]), zero + sent, 1500, 1.0, np.nan, 0,
        has_packets=True, has_losses=True,
    )  # fmt: skip
    observation = observe_evidence(evidence, 0.5, 2.01)
    assert observation.sent == 21
    assert observation.losses_s == pytest.approx([0.55, 1.95])
    assert len(observation.rtts_s) == 21
    # By 0, 0.5, 1, 1.5 and 2 s.
    assert observation.delivered_bytes.tolist() == [0, 5000, 10_000, 15_000, 20_000]
    assert observation.goodput_bps == pytest.approx(8 * 20_600 / 2.01)


def test_a_full_packet_is_that_of_the_largest_payload_however_few_there_are():
    """Two packets of 1000 B of data and three of 100 B, each with a header of 52 B."""
    flow = FlowTrace("1", "tcp", position="sender")
    ends = np.cumsum([0, 1000, 100, 100, 1000, 100]).tolist()
    rows = [
        (float(n), KINDS.index("sent"), start, end, end - start + 52)
        for n, (start, end) in enumerate(itertools.pairwise(ends))
    ]
    flow.events = columns(rows, EVENTS)
    evidence = gather(flow)
    assert evidence.size_bytes == 1052
    assert evidence.ratio == pytest.approx((2300 + 5 * 52) / 2300)


def test_a_distance_is_at_most_one_for_each_quantity():
    """By hand: a tenth off and all of it; losses by their decimal logarithm."""
    tenth = Distance("goodput", 10.0, 9.0, is_near=True)
    far = Distance("round trip, median", 0.1, 5.0, is_near=False)
    unknown = Distance("round trip, p95", None, 0.1, is_near=None)
    assert score([tenth]) == pytest.approx(0.1)
    assert score([tenth, far, unknown]) == pytest.approx(1.1)
    half = Distance("lost", 0.01, 0.02, is_near=True)
    # A hundred-thousandth is added to both, so that none lost has a logarithm.
    assert score([half]) == score([Distance("lost", 0.02, 0.01, is_near=True)])
    assert score([half]) == pytest.approx(math.log10(0.02001 / 0.01001))
    assert score([Distance("lost", 0.0, 0.5, is_near=False)]) == 1
    assert score([Distance("goodput", 0.0, 9.0, is_near=False)]) == 0


def test_a_queue_is_named_or_the_three_that_are_likeliest_are():
    def queue(kind, chances):
        calibration = SimpleNamespace(
            fit=SimpleNamespace(kind=kind, kinds=chances), path=SimpleNamespace(drop="aqm")
        )
        return Calibration._queue(calibration)

    first, second, third, fourth = list(QUEUES)[:4]
    chances = {first: 0.4, second: 0.3, third: 0.2, fourth: 0.1}
    names = [QUEUES[kind] for kind in chances]
    assert queue(first, chances) == f"{names[0]} 0.40"
    likely = f"{names[0]} 0.40, {names[1]} 0.30, {names[2]} 0.20"
    assert queue(NOT_KNOWN, chances) == f"{NOT_KNOWN} ({likely})"
    assert queue(NOT_KNOWN, {}) == f"{NOT_KNOWN} (drops: aqm)"


def test_the_rows_of_a_path_are_in_order_and_a_bucket_is_before_random_loss():
    ten = EstimatedValue(10e6, 9e6, 11e6)
    path = PathEstimate(rate_bps=ten, bucket_bytes=EstimatedValue(3e4, 2e4, 4e4))
    nearest = SimpleNamespace(kind="shaper", burst_bytes=9e4)
    fit = SimpleNamespace(kind="shaper", nearest=nearest, interval=lambda of: of(nearest))
    calibration = SimpleNamespace(
        path=path, fit=fit, sent_by="cubic", _others=lambda: "none", _queue=lambda: "shaper 0.9"
    )
    head, rows = Calibration._path_rows(calibration)
    assert [name for name, _ in rows] == [
        "sent by", "bottleneck rate", "spread of busy rates", "traffic of others",
        "base round trip", "buffer", "queue", "bucket of tokens", "random loss",
    ]  # fmt: skip
    assert dict(rows)["bucket of tokens"].startswith("30 kB")
    assert dict(rows)["random loss"] == "not known"
    assert len(head) == 2
    # Another kind has no bucket; a link that others share has both rates.
    fit.kind = "drop-tail"
    path.capacity_bps = EstimatedValue(20e6, 19e6, 21e6)
    _, rows = Calibration._path_rows(calibration)
    assert [name for name, _ in rows[1:3]] == ["bottleneck rate", "of it this flow had, while busy"]
    assert "bucket of tokens" not in dict(rows)
