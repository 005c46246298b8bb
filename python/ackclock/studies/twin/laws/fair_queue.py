"""Max-min shares behind fair queueing.

D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, 1992, section 6.5.2: if each link serves
its flows fairly and each flow always has packets waiting somewhere, rates are max-min fair. The
payload is what headers leave. A flow whose window ends at the receiver's cannot have more than that
window per round trip, which is a demand. A flow that halves its window has packets waiting all the
time if its part of the buffer, B / n behind longest-queue drop, bridges that: with the part b kept,

    b (P + B / n) >= P,   P = its share x its propagation time

Where it does not, it leaves some of its share to the others on its links.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.engines.fluid.alpha import Routed
from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenFlow, SeenLink, TheoryMeasurements

__all__ = ["LAW", "max_min"]

_FAIR = {"fq", "drr", "wf2q-plus"}


def max_min(
    routes: list[tuple[str, ...]], rates: dict[str, float], demands: list[float] | None = None
) -> list[float]:
    """Max-min fair rates, by the flow-level engine.

    Parameters
    ----------
    routes
        Links of each flow.
    rates
        Rate of each link [bit/s].
    demands
        Most that each flow can use [bit/s]; left out: anything.

    Returns
    -------
    list
        Rate of each flow [bit/s].
    """
    numbers = {link: number for number, link in enumerate(rates)}
    hops = [numbers[link] for route in routes for link in route]
    offsets = np.cumsum([0, *map(len, routes)], dtype=np.uint32)
    capacity = np.array(list(rates.values()), dtype=np.float64)
    limits = None if demands is None else np.array(demands, dtype=np.float64)
    got = Routed(capacity, offsets, np.array(hops, dtype=np.uint32), limits).max_min()
    return [float(rate) for rate in got]


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    flows = measurements.flows
    if not flows or not all(flow.is_endless for flow in flows):
        return
    shared = [link for link in measurements.links if len(link.flows) > 1]
    if not shared or not all(link.row["qdisc"] in _FAIR for link in shared):
        return
    if any(link.explained["varies"] for link in measurements.links):
        return
    rates = {link.name: float(link.row["rate_bps"]) for link in measurements.links}
    window = measurements.run.summary["duration_s"] - measurements.run.summary["window_s"]
    late = any(flow.start_s > window for flow in flows)
    demands = [_most(measurements, flow) for flow in flows]
    shares = max_min([flow.links for flow in flows], rates, demands)
    by_name = {link.name: link for link in shared}
    mine = {flow.name: [by_name[name] for name in flow.links if name in by_name] for flow in flows}
    ends = {
        flow.name: _describe_unbridged(measurements, flow, share, mine[flow.name])
        for flow, share in zip(flows, shares, strict=True)
    }
    left = {link.name for flow in flows if ends[flow.name] for link in mine[flow.name]}
    for flow, rate in zip(flows, shares, strict=True):
        timeouts = flow.row["timeouts"]
        limit = ends[flow.name]
        if not limit and any(link.name in left for link in mine[flow.name]):
            limit = "flows beside it cannot fill their share between their losses"
        if late:
            limit = "flows started within the window"
        if timeouts > 2:
            limit = f"{timeouts} timeouts, in which its queue is empty"
        payload_share = measurements.mss_bytes(flow) / measurements.packet_bytes(flow)
        yield Prediction(
            flow.name, rate * payload_share, rate * payload_share, flow.row["goodput_bps"], limit
        )


def _most(seen: TheoryMeasurements, flow: SeenFlow) -> float:
    """What the receiver's window lets through [bit/s]."""
    window = seen.number(flow, "receiver_window", "")
    return window * 8 * seen.packet_bytes(flow) / flow.propagation_s


def _describe_unbridged(
    measurements: TheoryMeasurements, flow: SeenFlow, share_bps: float, links: list[SeenLink]
) -> str:
    """Say so if a flow's part of the buffer at a link that it fills does not bridge a decrease."""
    beta = _KEPT.get(flow.cc)
    if beta is None:
        return ""
    if flow.parameters and isinstance(flow.parameters.get("b"), (int, float)):
        beta = float(flow.parameters["b"])
    product = share_bps * flow.propagation_s / (8 * measurements.packet_bytes(flow))
    for link in links:
        if not link.row["drops"]:
            continue
        packets = link.explained["buffer_packets"]
        buffer_bytes = link.explained["buffer_bytes"]
        if packets is None and buffer_bytes is None:
            continue
        if packets is None:
            packets = buffer_bytes / measurements.packet_bytes(flow)
        buffer_share = packets / len(link.flows)
        if beta * (product + buffer_share) < product:
            return f"{buffer_share:.3g} packets of the buffer do not bridge its decreases"
    return ""


_KEPT = {"aimd": 0.5, "cubic": 0.7}
"""Part of its window that a flow keeps at a loss, where its parameters do not say."""


LAW = Law(
    "max-min",
    "Behind fair queueing flows get max-min fair rates.",
    "Bertsekas and Gallager, Data Networks, 1992, section 6.5.2",
    "goodput_bps",
    0.1,
    _predict,
)
