"""Loss events per packet, which the laws of throughput under loss are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.studies.twin.seen import SeenFlow

__all__ = ["LEAST_EVENTS", "event_ratio", "limit_of"]

LEAST_EVENTS = 10
"""With fewer events the mean is of a few saw-teeth, and slow start counts."""


def event_ratio(flow: SeenFlow) -> float:
    """Recoveries, timeouts and ECN reductions per packet sent; 0 if there are too few.

    Parameters
    ----------
    flow
        The flow.
    """
    row = flow.row
    events = row["recoveries"] + row["timeouts"] + row["ecn_reductions"]
    if events < LEAST_EVENTS or not row["sent_packets"] or not row["srtt_mean_s"]:
        return 0.0
    return float(events / row["sent_packets"])


def limit_of(flow: SeenFlow) -> str:
    """What a law without timeouts does not know of a flow.

    Parameters
    ----------
    flow
        The flow.
    """
    timeouts = int(flow.row["timeouts"])
    if not timeouts:
        return ""
    return f"{timeouts} {'timeout' if timeouts == 1 else 'timeouts'}, which it does not know"
