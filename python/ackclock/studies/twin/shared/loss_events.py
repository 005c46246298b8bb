"""Loss events per packet, which the laws of throughput under loss are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.studies.twin.seen import Seen, SeenFlow

__all__ = ["LEAST_EVENTS", "event_ratio", "limit_of"]

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


def limit_of(seen: Seen, flow: SeenFlow) -> str:
    """What a law of congestion avoidance at rest does not know of a flow.

    Parameters
    ----------
    seen
        The run.
    flow
        One of its flows.
    """
    row, run = flow.row, seen.run.summary
    timeouts = int(row["timeouts"])
    if timeouts:
        return f"{timeouts} {'timeout' if timeouts == 1 else 'timeouts'}, which it does not know"
    between = row["sent_packets"] / max(row["recoveries"] + row["ecn_reductions"], 1)
    if between < _LEAST_BETWEEN:
        return f"an event every {between:.0f} packets, where most round trips are of recoveries"
    whole = row["sent_packets"] / (run["duration_s"] - flow.start_s)
    change = row["window_sent_packets"] / run["window_s"] / whole
    if not 1 / _MOST_CHANGE <= change <= _MOST_CHANGE:
        return f"it sent {change:.2g} times as fast in the window as in the whole run"
    return ""


_LEAST_BETWEEN = 50
"""With fewer packets between events windows are below nine segments, and the round trips of the
recoveries, which the laws leave out, weigh more than their accuracy."""

_MOST_CHANGE = 1.25
"""Events are counted over the whole run, rates in the window."""
