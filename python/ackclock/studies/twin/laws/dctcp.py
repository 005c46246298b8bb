"""The queue of DCTCP flows over a link that marks above K packets.

M. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010, section 3.3: N synchronised flows fill
the queue to K + N, and it falls by A = sqrt(2 N (C RTT + K)) / 2, so its mean is between.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenLink, TheoryMeasurements

__all__ = ["LAW"]


def _step(qdisc: Any) -> float | None:
    """The threshold of a RED that marks by the instantaneous queue, in packets."""
    if not isinstance(qdisc, dict) or qdisc.get("kind") != "red" or qdisc.get("w_q") != 1:
        return None
    low, high = qdisc.get("min_th"), qdisc.get("max_th")
    if not isinstance(low, (int, float)) or not isinstance(high, (int, float)) or high - low > 2:
        return None
    return float(low)


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    threshold = _step(measurements.data.get("net", {}).get("qdisc"))
    if threshold is None:
        return
    for link in measurements.links:
        if _is_served(link) and link.row["marks"] and not link.row["window_drops"]:
            flows = len(link.flows)
            rate = measurements.packet_rate(link)
            if rate is None:
                continue
            trip = min(flow.propagation_s for flow in link.flows)
            swing = math.sqrt(2 * flows * (rate * trip + threshold)) / 2
            high = threshold + flows
            yield Prediction(link.name, max(high - swing, 0), high, link.row["queue_mean_packets"])


def _is_served(link: SeenLink) -> bool:
    return bool(link.flows) and all(flow.cc == "dctcp" and flow.is_endless for flow in link.flows)


LAW = Law(
    "dctcp",
    "DCTCP's queue moves below the threshold plus a packet a flow.",
    "Alizadeh et al., SIGCOMM 2010, section 3.3",
    "queue_mean_packets",
    0.15,
    _predict,
)
