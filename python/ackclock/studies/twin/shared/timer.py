"""The first timeout of a flow, which laws of throughput with timeouts are about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.studies.twin.measurements import SeenFlow, TheoryMeasurements

__all__ = ["first_timeout_s", "ticked_timeout_s"]

_SETTLE, _SAMPLES = 200, 1000
_STEP = (math.sqrt(5) - 1) / 2


def first_timeout_s(measurements: TheoryMeasurements, flow: SeenFlow) -> float:
    """Estimate how long a flow's timer runs before any backoff [s].

    At least the era's minimum, and what the era's estimator gives for the flow's mean round trip.
    How much the round trip varies is not in a summary: four times its variation is taken as one
    round trip. A clock of coarse ticks adds its own variation.

    Parameters
    ----------
    measurements
        The run.
    flow
        The flow.
    """
    rtt = float(flow.row["srtt_mean_s"])
    least = measurements.number(flow, "min_rto", "duration")
    if measurements.run.summary["era"] == "linux":
        # RTO = SRTT + max(4 RTTVAR, min_rto).
        return rtt + max(rtt, least)
    if measurements.is_of_segments:
        return max(least, rtt + max(rtt, measurements.number(flow, "tick", "duration")))
    return max(least, 2 * rtt, ticked_timeout_s(rtt, measurements.number(flow, "tick", "duration")))


def ticked_timeout_s(rtt_s: float, tick_s: float) -> float:
    """Mean timeout [s] of the BSD estimator in whole ticks at a constant round trip.

    Segments leave at any phase of the clock, so samples are the whole ticks below and above the
    round trip, at least 1. SRTT has three fractional bits and RTTVAR two, and divisions drop the
    remainder: V. Jacobson, "Congestion avoidance and control", SIGCOMM 1988, appendix A. With
    samples of one tick RTTVAR rests at half a tick, and the timeout is three ticks.

    Parameters
    ----------
    rtt_s
        Round trip.
    tick_s
        Tick of the clock.
    """
    srtt8 = rttvar4 = 0
    phase = total = 0.0
    for number in range(_SETTLE + _SAMPLES):
        phase = (phase + _STEP) % 1
        sample = max(1, int(phase + rtt_s / tick_s))
        if srtt8:
            error = sample - (srtt8 >> 3)
            srtt8 = max(1, srtt8 + error)
            rttvar4 = max(1, rttvar4 + abs(error) - (rttvar4 >> 2))
        else:
            srtt8, rttvar4 = 8 * sample, 2 * sample
        if number >= _SETTLE:
            total += (8 * rttvar4 + srtt8) >> 3
    return total / _SAMPLES * tick_s
