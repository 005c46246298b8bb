"""A bucket of tokens: what a flow was given at once beyond the rate that it had afterwards.

A link never delivers faster than its rate. A shaper's bucket is full when a flow begins: so much
more passes at first, and again after a pause, than its rate brings (RFC 2697 and tc-tbf(8) have the
bucket). Answers that come in clumps look alike, but all the time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.captures.calibrate.value import Value

if TYPE_CHECKING:
    from ackclock.captures.calibrate.evidence import Evidence
    from ackclock.captures.trace import Floats

__all__ = ["estimate_bucket"]

_FASTER = 1.01
"""By how much more than the rate is counted, so that no small error of it adds up."""
_LEAST = 3.0
"""Packets from which it is a burst."""
_SHARPER = 2.0
"""By how much it must be larger than what clumps bring at other times."""
_FEWEST = 50
"""Deliveries at other times that show what clumps bring."""
_USED = 1.0
"""Packets of the bucket that the first one takes before any is counted."""


def estimate_bucket(evidence: Evidence, rate_bps: float) -> Value | None:
    """Estimate the bucket of a shaper [bytes on the wire]; None if the flow shows none.

    Parameters
    ----------
    evidence
        What a flow shows, packet by packet.
    rate_bps
        What the bottleneck delivers, on the wire.
    """
    times, delivered = evidence.times_s, evidence.delivered_bytes * evidence.ratio
    if not evidence.has_packets or len(times) < 2 * _FEWEST or not len(evidence.rtts_s):
        return None
    rate = _FASTER * rate_bps / 8
    excess = _exceed(times, delivered, rate)
    number = int(np.argmax(excess))
    trip = float(np.median(evidence.rtts_s))
    if times[number] < (times[0] + times[-1]) / 2:
        other = times > times[number] + trip
    else:
        start = int(np.nonzero(excess[: number + 1] == 0)[0][-1])
        other = times < times[start] - trip
    if other.sum() < _FEWEST:
        return None
    clumps = float(_exceed(times[other], delivered[other], rate).max())
    burst, packet = float(excess[number]), evidence.size_bytes
    if burst < max(_LEAST * packet, _SHARPER * clumps):
        return None
    return Value(burst + _USED * packet, burst, burst * 1.03 + 2.5 * packet + clumps)


def _exceed(times: Floats, delivered: Floats, rate: float) -> Floats:
    """By time the most that was delivered until then beyond what a rate brings [bytes]."""
    above = delivered - rate * times
    result: Floats = above - np.minimum.accumulate(above)
    return result
