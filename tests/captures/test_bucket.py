"""A shaper's bucket: what passed at once beyond the rate, against clumps and links."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ackclock as ac
from ackclock.captures.calibrate.bucket import estimate_bucket
from ackclock.captures.calibrate.estimate import estimate
from ackclock.captures.calibrate.evidence import Evidence, gather
from ackclock.captures.read.read import read_trace

RATE = 12e6
"""A packet a millisecond [bit/s]."""


def evidence_of(times, packets):
    none = np.empty(0)
    return Evidence(
        np.asarray(times, float), np.asarray(packets, float) * 1500, none, np.full(9, 0.02), none,
        none, 1500.0, 1.0, np.nan, 0.0, has_packets=True, has_losses=False,
    )  # fmt: skip


def bucket_of(times, packets):
    """The bottleneck is busy from 50 ms on."""
    ends = np.arange(0.05, times[-1] + 0.05, 0.05)
    rates = ends, ends, (ends > 0.05).astype(float)
    return estimate_bucket(evidence_of(times, packets), RATE, rates)


def test_what_passes_at_first_beyond_the_rate_is_the_bucket():
    burst = np.arange(30) * 1e-4
    rest = burst[-1] + 1e-3 * np.arange(1, 500)
    bucket = bucket_of([*burst, *rest], range(1, 530))
    # The first packet is counted by none; while 29 pass, the rate brings three.
    assert bucket.low == pytest.approx(26 * 1500, rel=0.03)
    assert bucket.low <= 27 * 1500 <= bucket.high


def test_behind_the_bottleneck_the_base_is_not_below_zero():
    evidence = evidence_of(1e-3 * np.arange(9), range(9))
    evidence = replace(evidence, handshake_s=5e-5, handshake_bytes=112.0)
    assert evidence.base_s(10e6) == 0


def test_a_link_has_none():
    assert bucket_of(1e-3 * np.arange(500), range(1, 501)) is None


def test_clumps_all_the_time_are_no_bucket():
    times = np.repeat(0.02 * np.arange(1, 30), 20)
    packets = np.arange(1, len(times) + 1)
    assert bucket_of(times, packets) is None


@pytest.mark.parametrize("is_first", [True, False])
def test_clumps_of_any_busy_time_are_what_a_bucket_must_exceed(is_first):
    """Busy for a second with clumps of 20 packets, idle for half of one, busy with single ones."""
    clumps, single = np.repeat(0.02 * np.arange(1, 50), 20), 1e-3 * np.arange(1000)
    parts = (clumps, single) if is_first else (single, clumps)
    times = np.concatenate([0.5 + parts[0], [1.7], 2.0 + parts[1]])
    ends = np.array([0.4, 1.5, 1.9, 3.1])
    rates = ends, ends, np.array([0.0, 1.0, 0.0, 1.0])
    evidence = evidence_of(times, np.arange(1, len(times) + 1))
    assert estimate_bucket(evidence, RATE, rates) is None


@pytest.mark.slow
@pytest.mark.parametrize(("qdisc", "is_shaper"), [("shaper", True), ("fifo", False)])
def test_a_capture_shows_the_bucket_of_a_shaper_and_none_of_a_link(tmp_path, qdisc, is_shaper):
    tokens = {"kind": "shaper", "rate": "10 Mbps", "burst": "40 kB"}
    net = ac.topology.Dumbbell(
        pairs=1, rate="100 Mbps" if is_shaper else "10 Mbps", rtt="30 ms", buffer="40 pkt",
        qdisc=tokens if is_shaper else qdisc,
    )  # fmt: skip
    scenario = ac.Scenario(
        net, [ac.Flow(id="f", pair=0, cc="cubic")], duration="8 s", tcp={"timestamps": True},
        record={"tables": ["packets"]},
    )  # fmt: skip
    file = tmp_path / "x.pcapng"
    scenario.run().to_pcapng(file, link="s0->r0")
    bucket = estimate(gather(read_trace(file).flows[0])).bucket_bytes
    if not is_shaper:
        assert bucket is None
        return
    assert bucket.value == pytest.approx(40_000, rel=0.1)
    assert bucket.low <= 40_000 <= bucket.high
