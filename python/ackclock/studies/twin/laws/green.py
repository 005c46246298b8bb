"""What GREEN drops of flows whose round trips it knows.

A. Kapadia, S. Thulasidasan, W. Feng, "GREEN + IDMaps: A practical solution for ensuring fairness
in a biased Internet", 2002, section II:

    p = min(1, (N S c / (L R))^2)   for each arrival of a flow with round-trip time R

N is the number of flows, S the segment size, L the link's rate, c = 0.93. The link's loss is the
mean of p over what arrives; overflow comes on top, and means that the drops do not hold the queue.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import TheoryMeasurements

__all__ = ["LAW"]

_LEAST_DROPS = 200
"""Fewer scatter by more than the accuracy."""


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    for link in measurements.links:
        queue = measurements.queue(link)
        if queue is None or queue["kind"] != "green" or queue["ecn"] or queue["rtt"] != "ideal":
            continue
        flows = link.flows
        if not flows or not all(flow.is_endless for flow in flows) or queue["count"] == "hits":
            continue
        if link.acks or link.row["window_drops"] < _LEAST_DROPS:
            continue
        share = len(flows) if queue["n"] is None else float(queue["n"])
        rate = link.row["rate_bps"] / (8 * share * float(queue["c"]))
        sizes = [float(queue["mss"] or measurements.packet_bytes(flow)) for flow in flows]
        trips = [flow.propagation_s * float(queue["scale"]) for flow in flows]
        drops = [
            min(1.0, (size / (rate * trip)) ** 2) for size, trip in zip(sizes, trips, strict=True)
        ]
        sent = [flow.row["window_sent_packets"] for flow in flows]
        loss = sum(p * n for p, n in zip(drops, sent, strict=True)) / sum(sent)
        overflows = link.row["drop_reasons"].get("overflow", 0)
        limit = f"{overflows} packets overflowed the buffer" if overflows else ""
        if not limit and queue["count"] == "window":
            limit = "flows that wait for a timeout are not counted as active"
        yield Prediction(link.name, loss, loss, link.row["loss_ratio"], limit)


LAW = Law(
    "green",
    "GREEN drops each flow's packets by the square-root law at its fair share.",
    "Kapadia, Thulasidasan, Feng, 2002, section II",
    "loss_ratio",
    0.1,
    _predict,
)
