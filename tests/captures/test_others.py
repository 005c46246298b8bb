"""Traffic of others beside a flow, from deliveries by hand."""

from __future__ import annotations

import numpy as np
import pytest

from ackclock.captures.calibrate.estimate import EstimatedValue
from ackclock.captures.calibrate.evidence import Evidence
from ackclock.captures.calibrate.others import estimate_others

NONE = np.empty(0)
CAPACITY_BPS, FLOW_BPS = 10e6, 5e6
PACKET_BYTES = 1250


def estimate(at_link_rate: list[bool]):
    """Read busy windows of a second, half of each for others.

    Packets follow each other at the link's rate where `at_link_rate` says so. Elsewhere others are
    between any two, which arrive at 0.3 to 0.78 of it.
    """
    times, count = [], 40
    for second, is_near in enumerate(at_link_rate):
        shares = np.ones(count) if is_near else np.linspace(0.3, 0.78, count)
        gaps = PACKET_BYTES * 8 / (CAPACITY_BPS * shares)
        times += list(second + 0.1 + np.cumsum(gaps))
    arrived = PACKET_BYTES * np.arange(1.0, len(times) + 1)
    evidence = Evidence(
        np.array(times), arrived, NONE, NONE, NONE, NONE, PACKET_BYTES, 1.0, np.nan, 0,
        has_packets=True, has_losses=True,
    )  # fmt: skip
    windows = len(at_link_rate)
    rates = np.arange(1.0, windows + 1), np.full(windows, FLOW_BPS), np.ones(windows)
    return estimate_others(evidence, EstimatedValue(FLOW_BPS, FLOW_BPS, FLOW_BPS), rates)


@pytest.mark.parametrize("place", range(5))
def test_one_window_of_five_at_the_links_rate_shows_it(place):
    link, others, why = estimate([window % 5 == place for window in range(25)])
    assert not why
    assert link.value == pytest.approx(CAPACITY_BPS, rel=1e-3)
    assert others.value == pytest.approx(1 - FLOW_BPS / CAPACITY_BPS)


def test_a_rate_that_is_not_there_in_two_of_five_spans_may_have_changed():
    link, others, why = estimate([window % 5 == 4 and window < 15 for window in range(25)])
    assert (link, others, why) == (None, None, "the link's rate may change")
