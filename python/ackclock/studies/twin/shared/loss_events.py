"""Loss events per packet, which the laws of throughput under loss are about."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ackclock._util.number_text import percent
from ackclock.studies.twin.law import Prediction

if TYPE_CHECKING:
    from ackclock.studies.twin.measurements import SeenFlow, TheoryMeasurements

__all__ = ["LEAST_EVENTS", "event_ratio", "limit_of", "predict_goodput"]

LEAST_EVENTS = 10
"""With fewer events the mean is of a few saw-teeth, and slow start counts."""


def event_ratio(flow: SeenFlow) -> float:
    """Recoveries, timeouts and ECN reductions per packet sent; 0 if there are too few.

    Flows that do not send all the time have none.

    Parameters
    ----------
    flow
        The flow.
    """
    row = flow.row
    if not flow.is_endless:
        return 0.0
    events = row["recoveries"] + row["timeouts"] + row["ecn_reductions"]
    if events < LEAST_EVENTS or not row["sent_packets"] or not row["srtt_mean_s"]:
        return 0.0
    return float(events / row["sent_packets"])


def limit_of(measurements: TheoryMeasurements, flow: SeenFlow) -> str:
    """What a law of congestion avoidance at rest does not know of a flow.

    Parameters
    ----------
    measurements
        The run.
    flow
        One of its flows.
    """
    row, run = flow.row, measurements.run.summary
    timeouts = int(row["timeouts"])
    if timeouts:
        return f"{timeouts} {'timeout' if timeouts == 1 else 'timeouts'}, which it does not know"
    events = int(row["recoveries"] + row["ecn_reductions"])
    between = row["sent_packets"] / max(events, 1)
    if between < _LEAST_BETWEEN:
        return f"an event every {between:.0f} packets, where most round trips are of recoveries"
    window = row["window_sent_packets"] / run["window_s"] * row["srtt_mean_s"]
    if window < _LEAST_WINDOW:
        return f"windows of {window:.1f} segments on average, where whole segments count"
    trips = row["retransmits"] / max(events, 1) if row["recovery"] in _A_LOSS_A_TRIP else 1.0
    if trips**2 * _LEAST_BETWEEN > between:
        return f"a recovery repairs {trips:.1f} losses on average, one a round trip"
    mean_rate = row["sent_packets"] / (run["duration_s"] - flow.start_s)
    change = row["window_sent_packets"] / run["window_s"] / mean_rate
    if not 1 / _MOST_CHANGE <= change <= _MOST_CHANGE:
        return f"it sent {change:.2g} times as fast in the window as in the whole run"
    return ""


def predict_goodput(measurements: TheoryMeasurements, flow: SeenFlow, window: float) -> Prediction:
    """Predict the goodput of a flow whose mean window a law of its loss events gives.

    Parameters
    ----------
    measurements
        The run.
    flow
        One of its flows.
    window
        The mean window [segments].
    """
    rate = 8 * measurements.mss_bytes(flow) * window / flow.row["srtt_mean_s"]
    limit = limit_of(measurements, flow) or _few_events(flow, rate)
    return Prediction(flow.name, rate, rate, flow.row["goodput_bps"], limit)


def _few_events(flow: SeenFlow, predicted_bps: float) -> str:
    """Say so if events are so few that chance explains a rate's deviation from a law of them.

    n events give their probability with a relative standard error of up to n^(-1/2), and a rate by
    the probability's root with half of that. Three of these are allowed.
    """
    events = int(flow.row["recoveries"] + flow.row["timeouts"] + flow.row["ecn_reductions"])
    error = 1.5 / math.sqrt(events)
    if abs(flow.row["goodput_bps"] / predicted_bps - 1) > error:
        return ""
    return f"{events} loss events, which leave a rate open by {percent(error)}"


_LEAST_WINDOW = 9
"""Of smaller windows, in segments, the part that is no whole segment, which is not sent, and the
round trips of recoveries, which the laws leave out, together weigh as much as their accuracy."""

_LEAST_BETWEEN = 50
"""With fewer packets between events windows are that small. A saw-tooth takes a number of round
trips that grows with the root of the packets: recoveries of n round trips need n^2 times as many.
"""

_A_LOSS_A_TRIP = {"reno", "newreno"}
"""Recoveries that repair one loss per round trip."""

_MOST_CHANGE = 1.25
"""Events are counted over the whole run, rates in the window."""
