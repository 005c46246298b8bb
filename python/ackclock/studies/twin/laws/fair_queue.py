"""Max-min shares behind fair queueing.

D. Bertsekas, R. Gallager, "Data Networks", 2nd edition, 1992, section 6.5.2: if each link serves
its flows fairly and each flow always has packets waiting somewhere, rates are max-min fair. The
payload is what headers leave; flows that slow down on their own do not fill their share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.engines.fluid.alpha import Routed
from ackclock.studies.twin.law import Law, Prediction

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.studies.twin.seen import Seen

__all__ = ["LAW", "max_min"]

_FAIR = {"fq", "drr", "wf2q-plus"}


def max_min(routes: list[tuple[str, ...]], rates: dict[str, float]) -> list[float]:
    """Max-min fair rates, by the flow-level engine.

    Parameters
    ----------
    routes
        Links of each flow.
    rates
        Rate of each link [bit/s].

    Returns
    -------
    list
        Rate of each flow [bit/s].
    """
    numbers = {link: number for number, link in enumerate(rates)}
    hops = [numbers[link] for route in routes for link in route]
    offsets = np.cumsum([0, *map(len, routes)], dtype=np.uint32)
    capacity = np.array(list(rates.values()), dtype=np.float64)
    got = Routed(capacity, offsets, np.array(hops, dtype=np.uint32)).max_min()
    return [float(rate) for rate in got]


def _predict(seen: Seen) -> Iterator[Prediction]:
    flows = seen.flows
    if not flows or not all(flow.is_endless for flow in flows):
        return
    shared = [link for link in seen.links if len(link.flows) > 1]
    if not shared or not all(link.row["qdisc"] in _FAIR for link in shared):
        return
    if any(link.explained["varies"] for link in seen.links):
        return
    rates = {link.name: float(link.row["rate_bps"]) for link in seen.links}
    window = seen.run.summary["duration_s"] - seen.run.summary["window_s"]
    late = any(flow.start_s > window for flow in flows)
    for flow, rate in zip(flows, max_min([flow.links for flow in flows], rates), strict=True):
        timeouts = flow.row["timeouts"]
        limit = "flows started within the window" if late else ""
        if timeouts > 2:
            limit = f"{timeouts} timeouts, in which its queue is empty"
        part = seen.mss_bytes(flow) / seen.packet_bytes(flow)
        yield Prediction(flow.name, rate * part, rate * part, flow.row["goodput_bps"], limit)


LAW = Law(
    "max-min",
    "Behind fair queueing flows get max-min fair rates.",
    "Bertsekas and Gallager, Data Networks, 1992, section 6.5.2",
    "goodput_bps",
    0.1,
    _predict,
)
