"""The mean wait at a link to which packets of one size come at random: the queue M/D/1.

F. Pollaczek, "Über eine Aufgabe der Wahrscheinlichkeitstheorie", Mathematische Zeitschrift 32,
1930; L. Kleinrock, "Queueing Systems", volume 1, 1975. With S the time to send a packet and load
rho = arrivals per second × S,

    mean wait = rho S / (2 (1 - rho))

It assumes arrivals that form a Poisson process. Said of FIFO links without drops where all flows
are sources that send one packet at a time, with silences of exponential length between them: bursts
of `exponential-on-off` that are much shorter than a packet. Each silence is much longer than a
packet takes, no flow has waited before, and the load is at most 0.95; near it runs must be long.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ackclock._util.units import parse
from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenFlow, SeenLink, TheoryMeasurements

__all__ = ["LAW", "mean_wait"]

_MOST_LOAD = 0.95
_LEAST_WAIT = 0.1
"""In times of a packet; below it what waits elsewhere is not small beside it."""
_ONE_PACKET = 0.1
"""Longest burst in times of a packet, of which one in exp(-5) has more than one."""
_LONG = 20
"""Least silence in times that a source needs to send a packet."""


def mean_wait(load: float, service_s: float) -> float:
    """Mean waiting time in M/D/1 [s].

    Parameters
    ----------
    load
        Part of the time that the server is busy, below 1.
    service_s
        Time of a service [s].
    """
    return load * service_s / (2 * (1 - load))


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    by_name = {link.name: link for link in measurements.links}
    for link in measurements.links:
        row = link.row
        if row["qdisc"] != "fifo" or row["drops"] or link.explained["varies"] or link.acks:
            continue
        sizes = {_packet_bytes(flow) for flow in link.flows}
        if len(sizes) != 1 or None in sizes:
            continue
        if any(_waited_before(flow, link, by_name) for flow in link.flows):
            continue
        service = 8 * float(sizes.pop() or 0) / row["rate_bps"]
        load = row["window_arrived_packets"] / measurements.run.summary["window_s"] * service
        if not 0 < load <= _MOST_LOAD or mean_wait(load, service) < _LEAST_WAIT * service:
            continue
        wait = mean_wait(load, service)
        yield Prediction(link.name, wait, wait, row["delay_mean_s"], _limit(row, load))


def _packet_bytes(flow: SeenFlow) -> float | None:
    """Size of the packets that a flow sends one at a time [B]; None of any other flow."""
    source = flow.source
    if source is None or source["kind"] != "exponential-on-off" or not flow.goes_on:
        return None
    size = parse(source["packet"], "size")
    interval = 8 * size / parse(source["rate"], "rate")
    if parse(source["burst"], "duration") > _ONE_PACKET * interval:
        return None
    return size if parse(source["idle"], "duration") >= _LONG * interval else None


def _waited_before(flow: SeenFlow, link: SeenLink, by_name: dict[str, SeenLink]) -> bool:
    upstream = flow.links[: flow.links.index(link.name)]
    # A tenth of the accuracy.
    return any(
        by_name[name].row["delay_mean_s"] > 0.01 * link.row["delay_mean_s"] for name in upstream
    )


def _limit(row: dict[str, object], load: float) -> str:
    """How far chance may move the mean: waits are correlated over 1 / (1 - load)^2 packets."""
    independent = float(str(row["window_arrived_packets"])) * (1 - load) ** 2
    error = 3 * math.sqrt(2 / max(independent, 1))
    return (
        f"a run so short that chance moves the mean by {100 * error:.0f} %" if error > 0.1 else ""
    )


LAW = Law(
    "m-d-1",
    "The mean wait of packets of one size that come at random.",
    "Pollaczek 1930; Kleinrock, Queueing Systems 1, 1975",
    "delay_mean_s",
    0.1,
    _predict,
)
