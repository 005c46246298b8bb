"""FAST keeps alpha packets of each flow in the queue.

C. Jin, D. Wei, S. Low, "FAST TCP: motivation, architecture, algorithms, performance", INFOCOM 2004,
section III. Flows that took a queue for propagation keep more (L. Tan, C. Yuan, M. Zukerman, "FAST
TCP: fairness and queuing issues", IEEE Communications Letters 9(8), 2005).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.studies.twin.law import Law, Prediction
from ackclock.studies.twin.shared.standing_queue import standing_queues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import TheoryMeasurements

__all__ = ["LAW"]


def _predict(seen: TheoryMeasurements) -> Iterator[Prediction]:
    for link, limit in standing_queues(seen, "fast"):
        sought = sum(float(flow.parameters["alpha"]) for flow in link.flows if flow.parameters)
        yield Prediction(link.name, sought, sought, link.row["queue_mean_packets"], limit)


LAW = Law(
    "fast",
    "Each FAST flow keeps alpha packets waiting.",
    "Jin, Wei, Low, INFOCOM 2004, section III",
    "queue_mean_packets",
    0.1,
    _predict,
)
