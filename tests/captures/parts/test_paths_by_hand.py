"""What closed forms show of a path, from deliveries and round trips that are written by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from ackclock.captures.calibrate import estimate as module
from ackclock.captures.calibrate.estimate import estimate
from ackclock.captures.calibrate.evidence import Evidence

RATE, SIZE, BASE_S = 12e6, 1500, 0.02
"""A packet of 1,500 B a millisecond, 20 ms away."""
TIMES = 1e-3 * np.arange(1, 10_001)


def evidence(times, queues_s, losses=(), **more):
    """Packets that arrive at these times, having met these queues; none was shorter than full."""
    usual = Evidence(
        times_s=np.asarray(times, float),
        delivered_bytes=SIZE * np.arange(1.0, len(times) + 1),
        rtt_times_s=np.asarray(times, float),
        rtts_s=BASE_S + SIZE * 8 / RATE + np.asarray(queues_s, float),
        losses_s=np.asarray(losses, float),
        sent_times_s=np.asarray(times, float),
        size_bytes=float(SIZE), ratio=1.0, handshake_s=np.nan, handshake_bytes=0.0,
        has_packets=True, has_losses=True,
    )  # fmt: skip
    return replace(usual, **more)


def sawtooth(times, period_s=1.0, top_s=0.04):
    """Queues that grow for a period and are gone at its end."""
    return top_s * (np.asarray(times) / period_s % 1)


PEAKS = np.arange(1.0, 10.0) - 0.0015
"""Just before the queues of `sawtooth` are gone."""


def test_tail_drops_at_the_longest_queue_show_the_buffer():
    path = estimate(evidence(TIMES, sawtooth(TIMES), PEAKS))
    assert path.rate_bps.value == pytest.approx(RATE, rel=0.01)
    assert path.rate_bps.low <= RATE <= path.rate_bps.high
    # An acknowledgement passes the bottleneck too, if it is there on the way back.
    assert BASE_S - 1e-4 < path.base_s.value <= BASE_S
    assert path.base_s.low == pytest.approx(path.base_s.value - 0.2e-3, abs=2e-5)
    assert path.drop == "drop-tail"
    # 40 ms at 12 Mbit/s are 60 kB.
    assert path.buffer_bytes.value == pytest.approx(60_000, rel=0.02)
    assert path.buffer_bytes.low <= 60_000 <= path.buffer_bytes.high
    assert path.buffer_bytes.high - path.buffer_bytes.low < 10_000
    assert (path.facts["losses"], path.facts["loss_events"]) == (9, 9)
    assert path.facts["losses_at_short_queues"] == 0
    assert path.loss.value == 0
    assert 0 < path.loss.high < 0.01


def test_losses_within_a_round_trip_are_one_event():
    losses = np.sort(np.concatenate([PEAKS, PEAKS - 0.004]))
    facts = estimate(evidence(TIMES, sawtooth(TIMES), losses)).facts
    assert (facts["losses"], facts["loss_events"]) == (18, 9)


def test_the_spread_of_busy_rates_is_half_of_what_four_of_five_are_within():
    """Nine windows in twenty at 12 Mbit/s, as many at 10.8, the others between."""
    gaps = np.repeat([1.0e-3, 12 / 11.4 * 1e-3, 12 / 10.8 * 1e-3], [4500, 950, 4050])
    times = np.cumsum(gaps)
    queues = np.where(times < 0.1, 0.0, 0.03)
    path = estimate(evidence(times, queues))
    assert path.rate_bps.value == pytest.approx(11.4e6, rel=0.01)
    assert path.varies == pytest.approx(0.6 / 11.4, rel=0.05)
    slower = np.cumsum(np.repeat([1.0e-3, 2.0e-3], [5000, 2500]))
    path = estimate(evidence(slower, np.where(slower < 0.1, 0.0, 0.03)))
    assert path.varies > module.VARIES
    assert any("spread by 49 %" in doubt for doubt in path.doubts)
    assert path.bucket_bytes is None


def test_a_bottleneck_that_is_never_busy_shows_what_was_delivered_alone():
    path = estimate(evidence(TIMES, np.zeros(len(TIMES))))
    assert path.rate_bps is None
    assert path.least_rate_bps == pytest.approx(RATE, rel=0.01)
    assert any("never kept the bottleneck busy" in doubt for doubt in path.doubts)


def test_what_is_missing_is_said():
    few = estimate(evidence(TIMES[:9], np.zeros(9)))
    assert few.doubts == ["fewer than ten deliveries: nothing can be estimated"]
    blind = estimate(evidence(TIMES, [0.0], rtts_s=np.empty(0), rtt_times_s=np.empty(0)))
    assert blind.least_rate_bps == pytest.approx(RATE, rel=0.01)
    assert blind.base_s is None
    assert len(blind.rates[0]) == len(blind.rates[2])
    assert not blind.rates[2].any()
    assert len(blind.doubts) == 2
    still = estimate(evidence(TIMES, sawtooth(TIMES), delivered_bytes=np.full(len(TIMES), 9.0)))
    assert "nothing was delivered: no rate can be estimated" in still.doubts
    short = estimate(evidence(TIMES[:20], sawtooth(TIMES[:20])))
    assert short.least_rate_bps == pytest.approx(RATE, rel=0.1)
    assert any("too short for a rate" in doubt for doubt in short.doubts)


def test_without_a_loss_the_buffer_is_at_least_the_longest_queue():
    path = estimate(evidence(TIMES, sawtooth(TIMES)))
    assert (path.drop, path.buffer_bytes) == ("none", None)
    assert path.least_buffer_bytes == pytest.approx(60_000, rel=0.04)
    # None of 10,000: three in as many at most, 19 times in 20.
    assert (path.loss.value, path.loss.high) == (0, 3 / len(TIMES))
    counters = estimate(evidence(TIMES, sawtooth(TIMES), has_packets=False))
    assert counters.loss is None
    blind = estimate(evidence(TIMES, sawtooth(TIMES), PEAKS, has_losses=False))
    assert (blind.drop, blind.buffer_bytes) == ("not known", None)
    assert "the file has no losses: the buffer is at least the longest queue" in blind.doubts


def test_losses_at_any_queue_are_random():
    losses = np.arange(0.05, 10.0, 0.107)
    path = estimate(evidence(TIMES, sawtooth(TIMES), losses))
    assert path.buffer_bytes is None
    assert path.drop != "drop-tail"
    assert path.loss.value == len(losses) / len(TIMES)
    assert path.loss.low < path.loss.value < path.loss.high


def test_losses_in_bursts_without_a_queue_are_a_policers():
    """Twenty bursts of five; while they last, half of the rate passes."""
    gaps = np.tile(np.repeat([1e-3, 2e-3], [300, 100]), 20)
    times = np.cumsum(gaps)
    begins = times[299::400]
    losses = np.sort(np.concatenate([begins + 0.02 * i for i in range(1, 6)]))
    queues = np.where(np.arange(len(times)) % 7 == 0, 3e-4, 0.0)
    path = estimate(evidence(times, queues, losses))
    assert (path.drop, path.buffer_bytes, path.least_buffer_bytes) == ("policer", None, None)
    assert path.rate_bps.value == pytest.approx(6e6, rel=0.1)
    single = estimate(evidence(times, queues, begins))
    assert (single.drop, single.buffer_bytes) == ("none", None)
    assert single.loss.value == 20 / len(times)


def test_longer_queues_that_lost_nothing_deny_drop_tail():
    """Every second peak has twice the queue and no loss."""
    queues = sawtooth(TIMES) * np.where(TIMES % 2 < 1, 1.0, 2.0)
    path = estimate(evidence(TIMES, queues, PEAKS[::2]))
    assert path.buffer_bytes is None
    assert path.drop != "drop-tail"
    assert path.facts["longer_than_at_losses"] == pytest.approx(0.22, abs=0.03)
    assert any("packets passed longer queues" in doubt for doubt in path.doubts)


@pytest.mark.parametrize(
    ("count", "total", "low", "high"),
    [(10, 100, 0.0552, 0.1744), (0, 20, 0.0, 0.1611), (20, 20, 0.8389, 1.0), (3, 2, 0.4385, 1.0)],
)
def test_a_share_has_wilsons_interval(count, total, low, high):
    """Wilson (1927), JASA 22, as Brown, Cai and DasGupta (2001) write it; 95 %."""
    share = module._share(count, total)
    assert share.value == count / max(count, total)
    assert (share.low, share.high) == pytest.approx((low, high), abs=2e-4)


def test_the_chance_of_random_losses_is_chernoffs_bound():
    """Of 100 packets half met long queues; ten losses that all did have a chance of 2^-10."""
    times = np.arange(100.0)
    queues = np.where(times < 50, 0.0, 1.0)

    def chance(losses):
        return module._chance_of_random(evidence(times, queues, losses), queues, 0.5)

    assert chance(np.arange(60.0, 70.0)) == pytest.approx(2**-10)
    assert chance(np.arange(10.0, 20.0)) == 1
    # Eight of ten: exp(-10 (0.8 ln 1.6 + 0.2 ln 0.4)).
    assert chance([1.0, 2.0, *range(60, 68)]) == pytest.approx(0.1455, abs=1e-3)
