"""The flows of a hybrid case's scenario: route, round trip, and what each sends at most."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, Any

from ackclock._util.units import parse
from ackclock.engines.hybrid.mixture import Own
from ackclock.errors import Problem

if TYPE_CHECKING:
    from ackclock.scenario.scenario import Scenario

__all__ = ["read_own"]

PLAIN = ("media", "streams", "every", "app", "between", "multipath", "credits")
"""Keys of flows whose rate the fluid could not know."""


def read_own(
    scenario: Scenario, explained: list[dict[str, Any]], number: dict[str, int]
) -> list[Own]:
    """Read the scenario's flows.

    Parameters
    ----------
    scenario
        The packet scenario without the background.
    explained
        Its flows as it explains them.
    number
        Of each link, by name.

    Raises
    ------
    ScenarioError
        Every flow whose rate the fluid could not know.
    """
    flow_tables = scenario.data["flows"]
    own_flows: list[Own] = []
    problems: list[Problem] = []
    unknown = "is not for hybrid cases: its rate is not known before"
    if len(explained) != len(flow_tables):
        problems.append(Problem("flows", "are drawn; expected flows with both ends"))
    for i, (flow, means) in enumerate(zip(flow_tables, explained, strict=False)):
        problems += [
            Problem(f"flows[{i}].{key}", unknown) for key in PLAIN if flow.get(key) is not None
        ]
        source = flow.get("source")
        demand, responds = math.inf, True
        if source is not None:
            if source.get("kind") != "cbr":
                message = "is not for hybrid cases; expected TCP, QUIC or a source of kind cbr"
                problems.append(Problem(f"flows[{i}].source", message))
                continue
            demand, responds = parse(source["rate"], "rate"), False
        nodes = [str(node) for node in means["route"]]
        steps = list(itertools.pairwise(nodes))
        own_flows.append(
            Own(
                route=tuple(number[f"{a}->{b}"] for a, b in steps),
                back=tuple(number[f"{b}->{a}"] for a, b in steps if f"{b}->{a}" in number),
                rtt_s=float(means["rtt_s"]),
                demand_bps=demand,
                responds=responds,
                start_s=float(means.get("start_s", 0.0)),
                stop_s=parse(flow["stop"], "duration") if flow.get("stop") else math.inf,
            )
        )
    if problems:
        raise scenario.locate_problems(problems)
    return own_flows
