"""Where RED's average queue comes to rest under AIMD flows.

V. Firoiu, M. Borden, "A study of active queue management for congestion control", INFOCOM 2000: the
point where RED's line meets the queue that the flows make at a probability of loss. With the
square-root law for n flows of round-trip propagation R_i over a link of C packets per second:

    p(q) = probability of a drop or mark at an average queue q
    sum over i of sqrt(a_i (1 + b_i) / (2 (1 - b_i) p(q))) / (R_i + q / C) = C

The line gives p_b, and drops are spread over the arrivals between two of them: intervals uniform
on 1 to 1 / p_b make p = 2 p_b / (1 + p_b), and with `wait`, uniform on 1 / p_b to 2 / p_b,
p = 2 p_b / 3 (Floyd and Jacobson 1993, section VII). Said where thresholds are given, `max_p` is
fixed, and the point is between the thresholds.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scipy.optimize import brentq

from ackclock.studies.twin.law import Law, Prediction
from ackclock.studies.twin.shared.aimd_window import window_constant

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenFlow, TheoryMeasurements

__all__ = ["LAW", "point"]

_LEAST_SIGNALS = 100


def point(
    flows: list[tuple[float, float]],
    rate: float,
    thresholds: tuple[float, float],
    max_p: float,
    *,
    wait: bool,
) -> float | None:
    """Average queue at which the flows just fill the link.

    Parameters
    ----------
    flows
        Of each flow: the mean window times the root of the probability, and the propagation [s].
    rate
        Of the link [packets/s].
    thresholds
        `min_th` and `max_th` [packets].
    max_p
        Probability at `max_th`.
    wait
        Whether no packet is dropped before 1 / p_b have passed.

    Returns
    -------
    float or None
        The queue [packets]; None if the point is not between the thresholds.
    """
    low, high = thresholds

    def excess(queue: float) -> float:
        line = max_p * (queue - low) / (high - low)
        drop = 2 * line / 3 if wait else 2 * line / (1 + line)
        return sum(k / math.sqrt(drop) / (trip + queue / rate) for k, trip in flows) - rate

    nearest = low + (high - low) / 100
    if excess(nearest) <= 0 or excess(high) >= 0:
        return None
    return float(brentq(excess, nearest, high))


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    for link in measurements.links:
        queue = measurements.queue(link)
        if queue is None or queue["kind"] != "red" or queue["adaptive"] or queue["w_q"] == 1:
            continue
        if queue["min_th"] is None or queue["max_th"] is None or link.explained["varies"]:
            continue
        flows = link.flows
        constants = [window_constant(measurements, flow) for flow in flows]
        windows = [
            (constant, flow.propagation_s)
            for constant, flow in zip(constants, flows, strict=True)
            if constant is not None
        ]
        if not flows or len(windows) < len(flows):
            continue
        if link.row["marks"] + link.row["drops"] < _LEAST_SIGNALS:
            continue
        rate = measurements.packet_rate(link)
        if rate is None:
            continue
        wait = not measurements.is_of_segments if queue["wait"] is None else queue["wait"]
        thresholds = (float(queue["min_th"]), float(queue["max_th"]))
        mean_queue = point(windows, rate, thresholds, float(queue["max_p"]), wait=bool(wait))
        if mean_queue is not None:
            yield Prediction(
                link.name, mean_queue, mean_queue, link.row["queue_mean_packets"], _limit(flows)
            )


def _limit(flows: list[SeenFlow]) -> str:
    timeouts = sum(int(flow.row["timeouts"]) for flow in flows)
    if timeouts:
        return f"{timeouts} timeouts, which it does not know"
    if len(flows) < _FEW:
        return f"{len(flows)} flows, whose saw-teeth move the queue beyond the thresholds"
    return ""


_FEW = 10


LAW = Law(
    "red",
    "RED's average queue is where its line meets the square-root law of its flows.",
    "Firoiu and Borden, INFOCOM 2000",
    "queue_mean_packets",
    0.3,
    _predict,
)
