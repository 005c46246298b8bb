"""Routes by destination, which is how other simulators find a way."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.peers.plan import Flow, SimulatorPlan
    from ackclock.peers.written import SimulatorLimits

__all__ = ["find_routes"]


def find_routes(
    plan: SimulatorPlan, limits: SimulatorLimits, destination: Callable[[Flow, bool], int]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Find the next link by node and destination.

    Parameters
    ----------
    plan
        The compiled scenario.
    limits
        Gets flows whose way is not one by destination.
    destination
        What the packets of a flow are routed by; true: its acknowledgements.

    Returns
    -------
    dict
        By node and destination, the number of the link and the node at its end.
    """
    routes: dict[tuple[int, int], tuple[int, int]] = {}
    for flow in plan.flows:
        ways = [(flow.target, flow.route, False)]
        if flow.kind != "source":
            ways.append((flow.source, flow.ack_route, True))
        for to, way, are_acks in ways:
            for i in way:
                link = plan.links[i]
                key = (link.source, destination(flow, are_acks))
                if routes.setdefault(key, (i, link.target))[0] != i:
                    limits.refuse(
                        f"{flow.path}.route",
                        f"goes from {plan.nodes[link.source]} to {plan.nodes[to]} by another link"
                        f" than other flows do; {limits.simulator} routes by destination",
                    )
                    return routes
    return routes
