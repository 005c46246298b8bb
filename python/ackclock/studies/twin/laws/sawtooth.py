"""Utilisation of a link by one AIMD flow over a drop-tail buffer.

The rule of thumb of C. Villamizar and C. Song, "High performance TCP in ANSNET", CCR 24(5), 1994,
worked out for any buffer. The window climbs by a segments per round trip from b W to W, where
W = BDP + buffer. Below the bandwidth-delay product P a round trip takes the propagation time R,
above it w / C:

    packets per cycle = (1 - b^2) W^2 / (2 a)
    length of a cycle = (max(P - b W, 0) R + (W^2 - max(P, b W)^2) / (2 C)) / a
    utilisation = packets / (C × length), 1 if b W >= P

The time of the recovery itself, about a round trip in a cycle, is left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.studies.twin.law import Law, Prediction
from ackclock.studies.twin.shared.loss_events import LEAST_EVENTS, limit_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenFlow, SeenLink, TheoryMeasurements

__all__ = ["LAW", "alone_over_drop_tail", "utilisation"]


def utilisation(product: float, buffer: float, beta: float) -> float:
    """Part of the time that the link sends.

    Parameters
    ----------
    product
        Bandwidth-delay product [packets].
    buffer
        Packets that the buffer holds.
    beta
        Part of the window that is kept after a loss.
    """
    most = product + buffer
    if beta * most >= product:
        return 1.0
    packets = (1 - beta**2) * most**2 / 2
    # In units of the propagation time, in which the link sends `product` packets.
    length = product - beta * most + (most**2 - product**2) / (2 * product)
    return packets / (product * length)


def alone_over_drop_tail(
    measurements: TheoryMeasurements, flow: SeenFlow
) -> tuple[SeenLink, float, float] | None:
    """The drop-tail link that an endless flow has for itself and overflows again and again.

    Parameters
    ----------
    measurements
        The run.
    flow
        One of its flows.

    Returns
    -------
    tuple or None
        The link, its bandwidth-delay product and its buffer [packets]; None if there is none.
    """
    if not flow.is_endless or flow.row["recoveries"] < LEAST_EVENTS:
        return None
    link = measurements.alone(flow)
    if link is None or link.row["qdisc"] != "fifo":
        return None
    if not link.row["drops"] or set(link.row["drop_reasons"]) != {"overflow"}:
        return None
    packet = measurements.packet_bytes(flow)
    rate = link.row["rate_bps"] / (8 * packet)
    in_bytes = (link.explained["buffer_bytes"] or 0) // packet
    return link, rate * flow.propagation_s, float(link.explained["buffer_packets"] or in_bytes)


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    for flow in measurements.flows:
        if flow.cc != "aimd" or flow.parameters is None:
            continue
        bottleneck = alone_over_drop_tail(measurements, flow)
        if bottleneck is None:
            continue
        link, product, buffer = bottleneck
        predicted = utilisation(product, buffer, float(flow.parameters["b"]))
        yield Prediction(
            link.name, predicted, predicted, link.row["utilisation"], limit_of(measurements, flow)
        )


LAW = Law(
    "sawtooth",
    "One AIMD flow keeps a link busy as far as the buffer bridges its halvings.",
    "Villamizar and Song, CCR 24(5), 1994, for any buffer",
    "utilisation",
    0.1,
    _predict,
)
