"""The memory of flows that last: refused before it is taken where there is too little."""

from __future__ import annotations

from ackclock.errors import Problem, ScenarioError

__all__ = ["check_flows", "flow_bytes"]

HOP_BYTES = 96.0
"""A hop of a flow: its place in the network both ways, its rates, its part of the books [bytes]."""


def flow_bytes(hops: float) -> float:
    """Predict the memory of flows at rest [bytes].

    Parameters
    ----------
    hops
        Of all flows together.
    """
    return hops * HOP_BYTES


def check_flows(flows: float, hops: float) -> None:
    """Refuse flows that would need more memory than runs may take.

    Parameters
    ----------
    flows
        Their number.
    hops
        Links that they pass, all together; before routes are known, one for each flow.

    Raises
    ------
    ScenarioError
        They would; the message has the numbers.
    """
    from ackclock.scenario.memory import SHARE, allowed_bytes

    needed, allowed = flow_bytes(hops), allowed_bytes()
    if needed <= allowed:
        return
    message = (
        f"the run would need about {needed / 2**30:,.3g} GiB of memory for {flows:,.0f} flows with"
        f" {hops:,.0f} hops, of which {allowed / 2**30:,.3g} GiB may be used (--memory-share,"
        f" {SHARE}); expected fewer flows"
    )
    raise ScenarioError([Problem("traffic", message)])
