"""Paths found by simulation: kinds of queues, traffic of others, senders that nobody names."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ackclock as ac
from ackclock.captures.calibrate.calibration import calibrate
from ackclock.captures.calibrate.candidates import Candidate
from ackclock.captures.calibrate.estimate import PathEstimate, estimate
from ackclock.captures.calibrate.evidence import gather
from ackclock.captures.calibrate.fitting import improve
from ackclock.captures.calibrate.observation import Observation, measure_distances
from ackclock.captures.calibrate.others import _longest_absence
from ackclock.captures.calibrate.scenario import Draw
from ackclock.captures.calibrate.search import NOT_KNOWN, CandidateSender, Fit, FitTrial, search
from ackclock.captures.calibrate.value import EstimatedValue
from ackclock.captures.identify.identification import identify
from ackclock.captures.read.read import read_trace

MBPS = 10e6


def capture(tmp_path, *flows, at="sender", duration="8 s", cc="cubic", **net):
    """Capture the first flow at 10 Mbit/s and 30 ms."""
    net = {"pairs": 3, "rate": "10 Mbps", "rtt": "30 ms", "buffer": "40 pkt", **net}
    scenario = ac.Scenario(
        ac.topology.Dumbbell(**net), [ac.Flow(id="f", pair=0, cc=cc), *flows], duration=duration,
        tcp={"timestamps": True}, record={"tables": ["packets"]},
    )  # fmt: skip
    file = tmp_path / "x.pcapng"
    scenario.run().to_pcapng(file, link="r1->d0" if at == "receiver" else "s0->r0")
    return file


def path_of(file):
    return estimate(gather(read_trace(file).flows[0]))


@pytest.mark.slow
@pytest.mark.parametrize("at", ["sender", "receiver"])
def test_what_others_send_is_what_the_flow_lacks_of_the_link(tmp_path, at):
    other = ac.Flow(id="x", pair=1, source={"kind": "cbr", "rate": "3 Mbps", "packet": "1500 B"})
    path = path_of(capture(tmp_path, other, at=at))
    assert path.others.low <= 0.30 <= path.others.high
    assert path.others.high - path.others.low < 0.06
    assert path.capacity_bps.value == pytest.approx(MBPS, rel=0.01)
    assert path.rate_bps.value == pytest.approx(7e6, rel=0.02)
    # The buffer is filled at the link's rate, by all of them.
    assert path.buffer_bytes.value == pytest.approx(40 * 1512, rel=0.15)


@pytest.mark.slow
def test_alone_on_a_link_there_are_no_others(tmp_path):
    path = path_of(capture(tmp_path))
    assert path.others.value < 0.01 and path.others.high < 0.03
    assert path.capacity_bps is None


@pytest.mark.slow
def test_a_link_whose_rate_changes_is_not_taken_for_others(tmp_path):
    steps = [{"at": "2 s", "rate": "5 Mbps"}, {"at": "9 s", "rate": "10 Mbps"}]
    path = path_of(capture(tmp_path, schedule={"steps": steps}, duration="12 s", buffer="80 pkt"))
    assert path.others is None and path.capacity_bps is None
    assert any("rate may change" in doubt for doubt in path.doubts)


def test_the_longest_run_without_the_links_rate_is_counted():
    count = _longest_absence
    assert [count(np.array(x, bool)) for x in ([1, 1], [0, 0, 1], [1, 0, 1, 0, 0])] == [0, 2, 2]


def fit_of(file, cc="cubic"):
    flow = read_trace(file).flows[0]
    evidence = gather(flow)
    senders = [CandidateSender(cc, "rfc")]
    return search(estimate(evidence), flow, evidence, senders=senders, workers=2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "net"),
    [
        ("drop-tail", {}),
        ("codel", {"qdisc": "codel", "buffer": "300 pkt"}),
    ],
)
def test_the_kind_of_queue_is_the_likeliest(tmp_path, kind, net):
    fit = fit_of(capture(tmp_path, cc="reno", duration="12 s", **net), "reno")
    assert fit.kind == kind
    assert sum(fit.kinds.values()) == pytest.approx(1)
    assert list(fit.kinds.values()) == sorted(fit.kinds.values(), reverse=True)


@pytest.mark.slow
def test_drops_of_pie_are_those_of_pie_or_red(tmp_path):
    fit = fit_of(
        capture(tmp_path, cc="reno", duration="12 s", qdisc="pie", buffer="300 pkt"), "reno"
    )
    assert fit.kinds["pie"] + fit.kinds["red"] > 0.95


def test_without_losses_no_kind_of_queue_is_named(tmp_path):
    fit = fit_of(capture(tmp_path, cc="vegas", buffer="1000 pkt"), "vegas")
    assert fit.kind == NOT_KNOWN
    assert "too few losses" in fit.reason and not fit.runs


def trial(kind, distance, **draw):
    values = {"rate_bps": MBPS, "base_s": 0.03, "buffer_bytes": 6e4, "loss": 0.0, **draw}
    return FitTrial(Candidate(kind, Draw(**values)), distance, {})


def test_the_interval_of_a_number_has_all_candidates_that_are_as_near():
    """0.05 and 0.06 are within 0.02, 0.09 is not; 6 % is half a step between candidates."""
    best = trial("drop-tail", 0.05, buffer_bytes=100.0)
    others = [
        trial("drop-tail", 0.06, buffer_bytes=120.0),
        trial("drop-tail", 0.09, buffer_bytes=200.0),
    ]
    fit = Fit(
        best={"drop-tail": best}, near=[best, *others, trial("pie", 0.05, buffer_bytes=500.0)]
    )
    value = fit.interval(lambda candidate: candidate.draw.buffer_bytes)
    assert (value.value, value.low, value.high) == pytest.approx((100, 94, 127.2))


def test_a_kind_without_a_majority_changes_nothing():
    path = PathEstimate(
        EstimatedValue(MBPS, MBPS, MBPS),
        buffer_bytes=EstimatedValue(6e4, 5e4, 7e4),
        drop="drop-tail",
    )
    fit = Fit({"pie": 0.45, "red": 0.4}, {"pie": trial("pie", 0.1), "red": trial("red", 0.1)})
    assert fit.kind == NOT_KNOWN
    assert improve(path, fit) is path


def test_a_queue_that_drops_early_has_no_buffer_that_was_full():
    path = PathEstimate(
        EstimatedValue(MBPS, MBPS, MBPS),
        buffer_bytes=EstimatedValue(6e4, 5e4, 7e4),
        drop="drop-tail",
    )
    better = improve(path, Fit({"pie": 0.9}, {"pie": trial("pie", 0.1)}))
    assert better.buffer_bytes is None and better.drop == "aqm"
    assert path.buffer_bytes is not None


def observe(rtts, losses):
    grid = np.arange(0, 10, 0.1)
    times = np.linspace(0, 10, len(rtts))
    return Observation(10.0, MBPS, times, np.asarray(rtts), np.asarray(losses), 1000, grid, grid)


def test_a_run_that_is_equal_has_no_distance():
    rtts = 0.03 + 0.02 * np.sin(np.arange(500)) ** 2
    both = observe(rtts, [3.0, 7.0])
    parts = measure_distances(both, both, rate_bps=MBPS, size_bytes=1500, ratio=1.04)
    assert set(parts.values()) == {0.0}
    far = measure_distances(
        both, observe(rtts + 0.02, [3.0, 3.001, 3.002, 7.0]), rate_bps=MBPS, size_bytes=1500,
        ratio=1.04,
    )  # fmt: skip
    # The queue is the same, the delay is not; one loss of two became three.
    assert far["queues"] == pytest.approx(0, abs=1e-9)
    assert far["round trip, median"] > 0.3
    assert far["loss events"] == 0 and far["losses an event"] > 0.2


@pytest.mark.slow
def test_near_the_receiver_the_control_is_identified_too(tmp_path):
    file = capture(tmp_path, at="receiver", duration="15 s", rtt="40 ms", buffer="60 pkt")
    answer = identify(file)
    assert answer.flow.position == "receiver"
    assert answer.answer == "cubic"


@pytest.mark.slow
def test_one_call_says_path_sender_and_queue(tmp_path):
    file = capture(tmp_path, at="receiver", duration="15 s", rtt="40 ms", buffer="60 pkt")
    result = calibrate(file, alternatives=["vegas"], draws=2)
    assert result.control == "cubic" and result.sent_by.startswith("cubic (0.")
    assert result.fit.kind == "drop-tail"
    assert "may be used" in result.verdict
    data = json.loads(json.dumps(result.to_dict()))
    assert data["path"]["queue"] == "drop-tail"
    assert data["path"]["others"]["value"] < 0.01
    text = str(result)
    assert "sent by" in text and "traffic of others" in text
