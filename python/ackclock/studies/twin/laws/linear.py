"""Utilisation of a link by one flow of a linear control over a drop-tail buffer.

The fixed point of the rules of A. Akella, S. Seshan, S. Shenker, I. Stoica, "Exploring Congestion
Control", CMU-CS-02-139, 2002, sections 3.2 and 5.1, for one flow, whose loss comes when the window
exceeds W = bandwidth-delay product + buffer:

    after a loss  w = a_d + b_d W,   per round trip  w <- a_i + b_i w,   until w exceeds W

A round trip takes the propagation time, or w / C where that is longer. The time of the recovery
itself is left out. AIMD has its closed form: `sawtooth`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.studies.twin.law import Law, Prediction
from ackclock.studies.twin.laws.sawtooth import alone_over_drop_tail
from ackclock.studies.twin.shared.loss_events import limit_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ackclock.studies.twin.measurements import TheoryMeasurements

__all__ = ["LAW", "cycle_utilisation"]

_RULES: dict[str, Callable[[Mapping[str, float]], tuple[float, float, float, float]]] = {
    "aiad": lambda p: (p["a"], 1.0, -p["d"], 1.0),
    "mimd": lambda p: (0.0, p["a"], 0.0, p["b"]),
    "miad": lambda p: (0.0, p["a"], -p["d"], 1.0),
    "aimad": lambda p: (p["a_i"], 1.0, p["a_d"], p["b_d"]),
    "maimd": lambda p: (p["a_i"], p["b_i"], 0.0, p["b_d"]),
}
"""a_i, b_i, a_d and b_d of each named rule, from its parameters."""

_MOST_ROUNDS = 1_000_000


def cycle_utilisation(
    rule: tuple[float, float, float, float], product: float, buffer: float
) -> float | None:
    """Part of the time that the link sends, over one cycle.

    Parameters
    ----------
    rule
        a_i, b_i, a_d and b_d.
    product
        Bandwidth-delay product [packets].
    buffer
        Packets that the buffer holds.

    Returns
    -------
    float or None
        None if the window never comes back to where it was.
    """
    add, times, less, beta = rule
    most = product + buffer
    window = max(less + beta * most, 1.0)
    sent = time = 0.0
    for _ in range(_MOST_ROUNDS):
        if window > most:
            return sent / (product * time) if time else 1.0
        sent += window
        # In units of the propagation time, in which the link sends `product` packets.
        time += max(1.0, window / product)
        grown = add + times * window
        if grown <= window:
            return None
        window = grown
    return None


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    for flow in measurements.flows:
        if flow.cc not in _RULES or flow.parameters is None:
            continue
        bottleneck = alone_over_drop_tail(measurements, flow)
        if bottleneck is None:
            continue
        link, product, buffer = bottleneck
        predicted = cycle_utilisation(_RULES[flow.cc](flow.parameters), product, buffer)
        if predicted is not None:
            measured = link.row["utilisation"]
            yield Prediction(
                link.name, predicted, predicted, measured, limit_of(measurements, flow)
            )


LAW = Law(
    "linear",
    "One flow of a linear control keeps a link busy as far as the buffer bridges its decreases.",
    "Akella et al., CMU-CS-02-139, 2002, sections 3.2 and 5.1",
    "utilisation",
    0.1,
    _predict,
)
