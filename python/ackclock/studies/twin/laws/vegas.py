"""Vegas keeps between alpha and beta packets of each flow in the queue.

L. Brakmo, L. Peterson, "TCP Vegas: end to end congestion avoidance on a global Internet", IEEE JSAC
13(8), 1995, section III-B. Flows that took a queue for propagation keep more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.studies.twin.law import Law, Prediction
from ackclock.studies.twin.shared.standing_queue import standing_queues

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenFlow, TheoryMeasurements

__all__ = ["LAW"]


_DEFAULTS = {"alpha": (2.0, 1.0), "beta": (4.0, 3.0)}
"""What the control's parameters are in eras of segments, and in the others."""


def _read_parameter(seen: TheoryMeasurements, flow: SeenFlow, key: str) -> float:
    given = (flow.parameters or {}).get(key)
    by_era = _DEFAULTS[key][not seen.is_of_segments]
    return by_era if given is None else float(given)


def _predict(seen: TheoryMeasurements) -> Iterator[Prediction]:
    for link, limit in standing_queues(seen, "vegas"):
        low, high = (
            sum(_read_parameter(seen, flow, key) for flow in link.flows) for key in _DEFAULTS
        )
        yield Prediction(link.name, low, high, link.row["queue_mean_packets"], limit)


LAW = Law(
    "vegas",
    "Each Vegas flow keeps between alpha and beta packets waiting.",
    "Brakmo and Peterson, IEEE JSAC 13(8), 1995, section III-B",
    "queue_mean_packets",
    0.25,
    _predict,
)
