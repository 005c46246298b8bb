"""Little's law for the packets that wait at a link.

J. D. C. Little, "A proof for the queuing formula L = λW", Operations Research 9(3), 1961
(doi:10.1287/opre.9.3.383).

    mean queue = packets that leave per second × mean waiting time

Exact but for packets that wait at the two ends of the window. A packet that is dropped out of the
queue waits without being counted in the waiting time.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import TheoryMeasurements

__all__ = ["LAW"]

# Below these the ends of the window weigh more than the accuracy.
_LEAST_PACKETS = 2000
_LEAST_QUEUE = 0.5
_DROPPED_WHILE_WAITING = {"pushed-out", "thinned"}
_BY_AQM = {"early", "forced", "unmarkable"}
# AQMs that decide when a packet arrives, so that what they drop has not waited.
_DECIDE_ON_ARRIVAL = {"red", "rio", "pie", "fq-pie", "green", "fred", "blue", "sfb", "sred", "afd"}
_DECIDE_ON_ARRIVAL |= {"rem", "decbit", "core-stateless"}


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    for link in measurements.links:
        row = link.row
        served = row["window_arrived_packets"] - row["window_drops"]
        if served < _LEAST_PACKETS or row["queue_mean_packets"] < _LEAST_QUEUE:
            continue
        mean = served / measurements.run.summary["window_s"] * row["delay_mean_s"]
        reasons = _DROPPED_WHILE_WAITING
        if row["qdisc"] not in _DECIDE_ON_ARRIVAL:
            reasons = reasons | _BY_AQM
        inside = sum(row["drop_reasons"].get(reason, 0) for reason in reasons)
        limit = (
            "packets were dropped while they waited" if inside else _ends(measurements, row, mean)
        )
        yield Prediction(link.name, mean, mean, row["queue_mean_packets"], limit)


def _ends(measurements: TheoryMeasurements, row: dict[str, Any], mean: float) -> str:
    """What packets that waited at an end of the window change, if that is more than the accuracy.

    A queue of q packets that is served at rate C has waited q / (2 C) on average.
    """
    queue = row["queue_p99_packets"]
    rate = row["rate_bps"] / 8 * row["departed_packets"] / row["departed_bytes"]
    window = measurements.run.summary["window_s"]
    if queue**2 / (2 * rate * window) <= LAW.accuracy * mean:
        return ""
    return f"up to {queue:.0f} packets may have waited at an end of the window of {window:g} s"


LAW = Law(
    "little",
    "The mean queue is the rate at which packets leave times their mean waiting time.",
    "Little, Operations Research 9(3), 1961",
    "queue_mean_packets",
    0.03,
    _predict,
)
