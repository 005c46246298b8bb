"""A bucket of tokens: what a flow was given at once beyond the rate that it has while it waits.

A link never delivers faster than its rate. A shaper's bucket is full when a flow begins and fills
while its queue is empty: so much more passes then than its rate brings (RFC 2697 and tc-tbf(8) have
the bucket). While packets wait the bucket is empty, so that what passes at once there are clumps of
answers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.captures.calibrate.value import EstimatedValue

if TYPE_CHECKING:
    from ackclock.captures.calibrate.evidence import Evidence
    from ackclock.captures.trace import Floats

__all__ = ["estimate_bucket"]

_FASTER = 1.01
"""By how much more than the rate is counted, so that no small error of it adds up."""
_LEAST = 3.0
"""Packets from which it is a burst."""
_SHARPER = 2.0
"""By how much it must be larger than what clumps bring."""
_FEWEST = 50
"""Deliveries while the bottleneck is busy that show what clumps bring."""
_USED = 1.0
"""Packets of the bucket that the first one takes before any is counted."""


def estimate_bucket(
    evidence: Evidence, rate_bps: float, rates: tuple[Floats, Floats, Floats]
) -> EstimatedValue | None:
    """Estimate the bucket of a shaper [bytes on the wire]; None if the flow shows none.

    Parameters
    ----------
    evidence
        What a flow shows, packet by packet.
    rate_bps
        What the bottleneck delivers, on the wire.
    rates
        Ends, rates and whether the bottleneck was busy, by windows.
    """
    times, delivered = evidence.times_s, evidence.delivered_bytes * evidence.ratio
    ends, _, busy = rates
    if not evidence.has_packets or not len(times) or not len(ends):
        return None
    rate = _FASTER * rate_bps / 8
    window = np.clip(np.searchsorted(ends, times), 0, len(ends) - 1)
    is_busy = busy[window] > 0
    if is_busy.sum() < _FEWEST:
        return None
    edges = np.flatnonzero(np.diff(is_busy)) + 1
    clumps = 0.0
    for start, end in zip([0, *edges], [*edges, len(times)], strict=True):
        if is_busy[start]:
            part = slice(start, end)
            clumps = max(clumps, float(_exceed(times[part], delivered[part], rate).max()))
    burst, packet = float(_exceed(times, delivered, rate).max()), evidence.size_bytes
    if burst < max(_LEAST * packet, _SHARPER * clumps):
        return None
    return EstimatedValue(burst + _USED * packet, burst, burst * 1.03 + 2.5 * packet + clumps)


def _exceed(times: Floats, delivered: Floats, rate: float) -> Floats:
    """By time the most that was delivered until then beyond what a rate brings [bytes]."""
    above = delivered - rate * times
    result: Floats = above - np.minimum.accumulate(above)
    return result
