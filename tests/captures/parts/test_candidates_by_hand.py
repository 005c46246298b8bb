"""Paths that a flow may have had, from a path and an observation written by hand."""

import numpy as np
import pytest

from ackclock.captures.calibrate.candidates import FAST, Candidate, list_candidates, vary
from ackclock.captures.calibrate.estimate import EstimatedValue, PathEstimate
from ackclock.captures.calibrate.observation import Observation
from ackclock.captures.calibrate.scenario import Draw, centre
from ackclock.errors import AckclockError

DRAW = Draw(8e6, 0.04, 50_000.0, 0.01)


def path(**more):
    """8 Mbit/s and 40 ms; nothing is known of the buffer."""
    found = PathEstimate()
    found.rate_bps = EstimatedValue(8e6, 7.9e6, 8.1e6)
    found.base_s = EstimatedValue(0.04, 0.039, 0.041)
    found.least_buffer_bytes = 20_000.0
    for name, value in more.items():
        setattr(found, name, value)
    return found


def observation(**more):
    """Round trips of 40 ms and, one in two, 60 ms: a queue of 20 kB."""
    plain = {
        "duration_s": 10.0, "goodput_bps": 7e6, "rtt_times_s": np.arange(1000.0),
        "rtts_s": np.array([0.04, 0.06] * 500), "losses_s": np.arange(5.0), "sent": 100,
        "grid_s": np.arange(0.0, 4.0), "delivered_bytes": np.array([0.0, 1e6, 3e6, 4e6]),
    }  # fmt: skip
    return Observation(**{**plain, **more})


def by_kind(candidates):
    kinds = {}
    for candidate in candidates:
        kinds.setdefault(candidate.kind, []).append(candidate)
    return kinds


def test_each_kind_of_queue_has_candidates_from_what_was_seen():
    kinds = by_kind(list_candidates(path(), observation(), 1000.0, 1.0))
    assert set(kinds) == {"random", "drop-tail", "codel", "pie", "red", "policer"}
    # The longest queue is 20 ms of 8 Mbit/s, and some more of it.
    buffers = [one.draw.buffer_bytes for one in kinds["drop-tail"]]
    assert buffers == pytest.approx([20_000, 22_000, 26_000, 40_000])
    assert {one.draw.loss for one in kinds["drop-tail"]} == {0.0}
    # Of 100 packets 5 were lost.
    assert [one.draw.loss for one in kinds["random"]] == pytest.approx([0.04, 0.05])
    # Deep buffers are 8 times the longest of queue, bandwidth-delay product and 100 packets.
    for kind in ("random", "codel", "pie", "red", "policer"):
        assert {one.draw.buffer_bytes for one in kinds[kind]} == {800_000}
    for kind in ("codel", "pie"):
        targets = [float(one.parameters["target"].removesuffix(" ms")) for one in kinds[kind]]
        assert targets == sorted(targets)
    assert kinds["codel"][0].parameters == {"target": "5 ms"}
    assert kinds["pie"][0].parameters == {"target": "15 ms"}
    for one in kinds["random"] + kinds["codel"]:
        assert (one.draw.rate_bps, one.draw.base_s) == (8e6, 0.04)


def test_what_is_known_of_buffer_loss_and_bucket_is_taken():
    known = path(buffer_bytes=EstimatedValue(30_000.0, 2e4, 4e4),
                 loss=EstimatedValue(0.02, 0.01, 0.03))  # fmt: skip
    kinds = by_kind(list_candidates(known, observation(), 1000.0, 1.0))
    assert [(one.draw.buffer_bytes, one.draw.loss) for one in kinds["drop-tail"]] == [
        (30_000, 0.0), (30_000, 0.02),
    ]  # fmt: skip
    known.loss = EstimatedValue(0.02, 0.0, 0.03)
    assert len(by_kind(list_candidates(known, observation(), 1000.0, 1.0))["drop-tail"]) == 1
    known.bucket_bytes = EstimatedValue(64_000.0, 6e4, 7e4)
    kinds = by_kind(list_candidates(known, observation(), 1000.0, 1.0))
    # A link does not deliver faster than its rate.
    assert set(kinds) == {"shaper", "policer"}
    assert kinds["shaper"][0].parameters == {"burst": "64000 B"}
    assert kinds["shaper"][0].draw.buffer_bytes == 30_000


def test_the_bucket_of_a_policer_is_what_passed_beyond_its_rate():
    policers = by_kind(list_candidates(path(), observation(), 1000.0, 1.0))["policer"]
    # At 8 Mbit/s, a hundredth more, 1.01 MB a second: in the second second 2 MB came.
    at_rate = [one.burst_bytes for one in policers if one.draw.rate_bps == 8e6]
    assert at_rate == pytest.approx([x * 990_000 for x in (0.6, 0.8, 1.0, 1.25)], abs=1)
    # At twice the rate, 20 kB less than came: nothing beyond it, so three packets.
    twice = [one.burst_bytes for one in policers if one.draw.rate_bps == 16e6]
    assert twice == [3000, 3000]
    assert sorted({one.draw.rate_bps / 8e6 for one in policers}) == pytest.approx(
        [1, 1.2, 1.5, 2, 3, 5]
    )


def test_red_has_its_own_rules_and_thresholds_around_the_mean_queue():
    rtts = np.array([0.04] + [0.06] * 999)
    reds = by_kind(list_candidates(path(), observation(rtts_s=rtts), 1000.0, 1.0))["red"]
    assert [one.parameters for one in reds[:2]] == [{"adaptive": False}, {"adaptive": True}]
    # The middle is 20 packets.
    assert [one.parameters for one in reds[2:]] == [
        {"min_th": 8.0, "max_th": 24.0, "max_p": 0.02},
        {"min_th": 8.0, "max_th": 24.0, "max_p": 0.1},
        {"min_th": 16.0, "max_th": 48.0, "max_p": 0.02},
        {"min_th": 16.0, "max_th": 48.0, "max_p": 0.1},
    ]  # fmt: skip
    short = np.array([0.04] * 999 + [0.06])
    reds = by_kind(list_candidates(path(), observation(rtts_s=short), 1000.0, 1.0))["red"]
    assert {one.parameters.get("min_th") for one in reds} == {None, 3.0}


def target_of(candidate):
    """Target of an AQM [ms]."""
    return float(candidate.parameters["target"].removesuffix(" ms"))


@pytest.mark.parametrize(
    ("candidate", "value"),
    [
        (Candidate("drop-tail", DRAW), lambda one: one.draw.buffer_bytes),
        (Candidate("shaper", DRAW, {"burst": "9000 B"}), lambda one: one.draw.buffer_bytes),
        (Candidate("policer", DRAW, {"burst": "9000 B"}),
         lambda one: one.burst_bytes * one.draw.rate_bps),
        (Candidate("codel", DRAW, {"target": "5 ms"}), target_of),
        (Candidate("pie", DRAW, {"target": "20 ms"}), target_of),
        (Candidate("red", DRAW, {"min_th": 5.0, "max_th": 15.0, "max_p": 0.1}),
         lambda one: one.parameters["min_th"]),
    ],
)  # fmt: skip
def test_neighbours_are_within_a_half_to_either_side(candidate, value):
    own = value(candidate)
    near = sorted(value(one) / own for one in vary(candidate))
    assert all(0.65 < ratio < 1.5 and ratio != 1 for ratio in near)
    # As many below as above.
    assert sum(ratio < 1 for ratio in near) * 2 == len(near)
    assert {one.kind for one in vary(candidate)} == {candidate.kind}


def test_neighbours_change_one_thing_only():
    for one in vary(Candidate("policer", DRAW, {"burst": "9000 B"})):
        assert (one.burst_bytes == 9000) != (one.draw.rate_bps == 8e6)
    (low, high) = vary(Candidate("red", DRAW, {"min_th": 5.0, "max_th": 15.0, "max_p": 0.1}))
    assert low.parameters["max_th"] / low.parameters["min_th"] == pytest.approx(3)
    assert high.parameters["max_p"] == 0.1
    assert vary(Candidate("red", DRAW, {"adaptive": True})) == []
    assert vary(Candidate("random", DRAW)) == []


def test_a_candidate_is_a_queue_of_a_scenario():
    assert Candidate("drop-tail", DRAW).qdisc == "fifo"
    assert Candidate("random", DRAW).qdisc == "fifo"
    assert Candidate("pie", DRAW, {"target": "20 ms"}).qdisc == {"kind": "pie", "target": "20 ms"}
    policer = Candidate("policer", DRAW, {"burst": "9000 B"})
    assert policer.qdisc == {"kind": "policer", "rate": "8e+06 bps", "burst": "9000 B"}
    assert (policer.burst_bytes, Candidate("pie", DRAW).burst_bytes) == (9000, None)
    assert (policer.link_factor, Candidate("red", DRAW).link_factor) == (FAST, 1.0)


def test_the_most_likely_values_are_those_of_the_path():
    assert centre(path(), 1000.0) == Draw(8e6, 0.04, 20_000, 0.0)
    assert centre(path(least_buffer_bytes=None), 1000.0).buffer_bytes == 2000
    assert centre(path(drop="policer"), 1000.0).buffer_bytes == 2000
    half = path(capacity_bps=EstimatedValue(16e6, 1e6, 2e7))
    # The flow's part of the link has as long a queue.
    assert centre(half, 1000.0).buffer_bytes == 10_000
    lossy = path(loss=EstimatedValue(0.02, 0.01, 0.03))
    assert centre(lossy, 1000.0).loss == 0.02
    lossy.drop = "policer"
    assert centre(lossy, 1000.0).loss == 0.0
    with pytest.raises(AckclockError, match="it needs deliveries and round trips"):
        centre(path(base_s=None), 1000.0)
    with pytest.raises(AckclockError, match="not known well enough"):
        centre(path(rate_bps=None), 1000.0)
