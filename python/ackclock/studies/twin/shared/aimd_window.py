"""The mean window of AIMD under loss events of a given probability, which two laws are about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.studies.twin.measurements import SeenFlow, TheoryMeasurements

__all__ = ["acks_per_increase", "window_constant"]


def window_constant(measurements: TheoryMeasurements, flow: SeenFlow) -> float | None:
    """Mean window times the root of the probability of a loss event [segments].

    That is sqrt(a (1 + b) / (2 (1 - b))): S. Floyd, M. Handley, J. Padhye, "A comparison of
    equation-based and AIMD congestion control", 2000, section 2. b is the part that is kept.

    Parameters
    ----------
    measurements
        The run.
    flow
        One of its flows.

    Returns
    -------
    float or None
        None if the flow is not an endless AIMD flow with known parameters.
    """
    parameters = flow.parameters
    if flow.cc != "aimd" or not flow.is_endless or parameters is None:
        return None
    beta, increase = float(parameters["b"]), float(parameters["a"])
    increase /= acks_per_increase(measurements, flow)
    return math.sqrt(increase * (1 + beta) / (2 * (1 - beta)))


def acks_per_increase(measurements: TheoryMeasurements, flow: SeenFlow) -> float:
    """Segments that one increase of AIMD takes: 1, or those of an ACK where it counts ACKs.

    Parameters
    ----------
    measurements
        The run.
    flow
        One of its AIMD flows.
    """
    count = (flow.parameters or {}).get("count")
    counts_acks = not measurements.is_of_segments if count is None else count == "acks"
    return measurements.number(flow, "delayed_ack", "") if counts_acks else 1.0
