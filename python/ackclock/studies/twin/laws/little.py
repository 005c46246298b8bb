"""Little's law for the packets that wait at a link.

J. D. C. Little, "A proof for the queuing formula L = λW", Operations Research 9(3), 1961
(doi:10.1287/opre.9.3.383).

    mean queue = packets that leave per second × mean waiting time

Exact but for packets that wait at the two ends of the window. A packet that is dropped out of the
queue waits without being counted in the waiting time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.seen import Seen

__all__ = ["LAW"]

# Below these the ends of the window weigh more than the accuracy.
_LEAST_PACKETS = 2000
_LEAST_QUEUE = 0.5
_DROPPED_WHILE_WAITING = {"pushed_out", "forced", "early"}


def _predict(seen: Seen) -> Iterator[Prediction]:
    for link in seen.links:
        row = link.row
        served = row["window_arrived_packets"] - row["window_drops"]
        if served < _LEAST_PACKETS or row["queue_mean_packets"] < _LEAST_QUEUE:
            continue
        mean = served / seen.run.summary["window_s"] * row["delay_mean_s"]
        inside = sum(row["drop_reasons"].get(reason, 0) for reason in _DROPPED_WHILE_WAITING)
        limit = "packets were dropped while they waited" if inside else ""
        yield Prediction(link.name, mean, mean, row["queue_mean_packets"], limit)


LAW = Law(
    "little",
    "The mean queue is the rate at which packets leave times their mean waiting time.",
    "Little, Operations Research 9(3), 1961",
    "queue_mean_packets",
    0.03,
    _predict,
)
