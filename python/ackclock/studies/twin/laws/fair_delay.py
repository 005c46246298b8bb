"""How long a packet of a constant-rate source waits at most behind fair queueing.

A. K. Parekh, R. G. Gallager, "A generalized processor sharing approach to flow control in
integrated services networks: the single-node case", IEEE/ACM ToN 1(3), 1993: a session whose
traffic is within a bucket of sigma bits at no more than its share g of the link waits at most
sigma / g under processor sharing, and packet by packet at most L_max / C longer. For sources that
send packets of L bits evenly at no more than g = C / n, with sigma = L:

    wait before transmission <= L / g - L / C + L_max / C

Said of links where all flows are such, whose packets have not waited before, so that they are still
even. The mean wait of all cannot be above L_max / g, which is no less than any flow's bound.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.units import parse
from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.measurements import SeenFlow, SeenLink, TheoryMeasurements

__all__ = ["LAW"]

_FAIR = {"fq", "wf2q-plus"}
"""Those that follow processor sharing within a packet; DRR does within a turn of all flows."""


def _predict(measurements: TheoryMeasurements) -> Iterator[Prediction]:
    by_name = {link.name: link for link in measurements.links}
    for link in measurements.links:
        row, flows = link.row, link.flows
        if row["qdisc"] not in _FAIR or not flows or link.acks or link.explained["varies"]:
            continue
        share = row["rate_bps"] / len(flows)
        sizes = [_even_packet(flow, share) for flow in flows]
        if None in sizes or any(_waited_before(flow, link, by_name) for flow in flows):
            continue
        largest = max(8 * float(size or 0) for size in sizes)
        bound = largest / share
        yield Prediction(link.name, 0.0, bound, row["delay_mean_s"])


def _even_packet(flow: SeenFlow, share_bps: float) -> float | None:
    """Packet size [B] of a source that sends evenly within its share; None of any other flow."""
    source = flow.source
    if source is None or source["kind"] != "cbr" or source["schedule"] or source["periods"]:
        return None
    if source["jitter"] or parse(source["rate"], "rate") > share_bps:
        return None
    return parse(source["packet"], "size")


def _waited_before(flow: SeenFlow, link: SeenLink, by_name: dict[str, SeenLink]) -> bool:
    upstream = flow.links[: flow.links.index(link.name)]
    return any(by_name[name].row["delay_mean_s"] > 0 for name in upstream)


LAW = Law(
    "fair-delay",
    "Behind fair queueing a source within its share waits at most a packet's time at that share.",
    "Parekh and Gallager, IEEE/ACM ToN 1(3), 1993",
    "delay_mean_s",
    0.02,
    _predict,
)
