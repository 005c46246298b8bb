"""Spells out a scenario whose network is an environment: links, cross traffic, test flows.

The core knows no environments. What it gets depends on the scenario's seed, for the bandwidth of
the random environments and the round-trip times are drawn from it.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, Any

from ackclock._util.units import parse
from ackclock.errors import Problem, ScenarioError
from ackclock.scenario.environments.cross import (
    MOST_SOURCES,
    Place,
    available,
    cross_flows,
    sources,
)
from ackclock.scenario.environments.form import Settings, settings
from ackclock.scenario.environments.patterns import Pattern, pattern
from ackclock.scenario.environments.transfers import compiled_transfers

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["bandwidth", "expand", "ring_bandwidths", "round_trips"]

Data = dict[str, Any]

CBR = "cbr"
"""What the names of constant-rate cross flows begin with."""

ACCESS_S = 0.001
"""One-way delay of access links [s]; part of the round trip."""


def expand(data: Data) -> Data:
    """Copy a scenario with its environment spelled out.

    Parameters
    ----------
    data
        The scenario, right in form.

    Raises
    ------
    ScenarioError
        The environment's settings contradict each other.
    """
    chosen = settings(data["net"])
    found = _contradictions(data, chosen)
    if found:
        raise ScenarioError(found)
    rtts = round_trips(data, chosen)
    flows = _singles(data)
    if chosen.environment.has_transfers:
        made = compiled_transfers(data, chosen, rtts, flows)
    elif chosen.topology == "ring":
        made = _ring(data, chosen, rtts, flows)
    else:
        made = _dumbbell(chosen, bandwidth(data, chosen), rtts, flows)
    return {**data, **made}


def _contradictions(data: Data, chosen: Settings) -> list[Problem]:
    found = []
    free = chosen.environment.rule == "steps"
    if free and not chosen.steps:
        found.append(Problem("net.steps", "is missing; the environment steps needs at least one"))
    if free and chosen.steps and chosen.steps[0][0] != 0:
        found.append(Problem("net.steps[0].at", f"is {chosen.steps[0][0]:g} s, but must be 0"))
    if sorted({at for at, _ in chosen.steps}) != [at for at, _ in chosen.steps]:
        found.append(Problem("net.steps", "must be in order of time without repetition"))
    if not free and chosen.steps:
        name = chosen.environment.name
        found.append(Problem("net.steps", f"has no place in {name}; expected the name steps"))
    if chosen.period_s is not None and chosen.steps and chosen.steps[-1][0] >= chosen.period_s:
        found.append(Problem("net.period", "must be more than the last step's time"))
    if chosen.step_s <= 0:
        found.append(Problem("net.step", "is 0 s, but it must be more than 0"))
    if chosen.topology == "ring" and (chosen.environment.has_transfers or chosen.by == "link"):
        message = 'is "ring", which has cross traffic of constant-rate sources only'
        found.append(Problem("net.topology", message))
    if chosen.topology == "ring" and chosen.flows < 5:
        message = f"is {chosen.flows}; a ring of two bottlenecks per flow needs at least 5"
        found.append(Problem("net.flows", message))
    # The shortest path has 4 access delays; the rest is the bottleneck's.
    least = 8 * ACCESS_S
    if chosen.rtt_s * (1 - chosen.rtt_spread) < least:
        message = f"with its spread is below {least * 1e3:g} ms, the delay of the access links"
        found.append(Problem("net.rtt", message))
    found += _flow_problems(data, chosen)
    if not found and chosen.by == "cbr-flows" and not chosen.environment.has_transfers:
        found += _too_many_sources(data, chosen)
    return found


def _flow_problems(data: Data, chosen: Settings) -> list[Problem]:
    found = []
    for number, flow in enumerate(data.get("flows", ())):
        if "pair" not in flow or "source" in flow:
            message = "must be a test flow: TCP, with a pair; cross traffic is the environment's"
            found.append(Problem(f"flows[{number}]", message))
        elif flow["pair"] + flow.get("count", 1) > chosen.flows:
            last = flow["pair"] + flow.get("count", 1) - 1
            message = f"reaches {last}, but the environment has pairs 0 to {chosen.flows - 1}"
            found.append(Problem(f"flows[{number}].pair", message))
    return found


def _too_many_sources(data: Data, chosen: Settings) -> list[Problem]:
    rates = bandwidth(data, chosen).rates_bps
    least = min(rates)
    if least <= 0:
        message = "reaches 0 bit/s, which no number of sources of fixed rate can leave"
        return [Problem("net.steps", message)]
    count = sources(least, chosen.flows, chosen.capacity_bps)
    if count > MOST_SOURCES:
        message = f"requests {count} sources of fixed rate; expected at most {MOST_SOURCES}"
        return [Problem("net.floor", message)]
    return []


def _singles(data: Data) -> list[Data]:
    """Test flows one by one, as the core would count them."""
    made = []
    for flow in data.get("flows", ()):
        count = flow.get("count", 1)
        start = parse(flow.get("start", 0), "duration")
        gap = parse(flow.get("stagger", 0), "duration")
        for copy in range(count):
            one = {k: v for k, v in flow.items() if k not in ("count", "stagger")}
            one |= {"pair": flow["pair"] + copy, "start": start + copy * gap}
            if count > 1 and "id" in flow:
                one["id"] = f"{flow['id']}{copy}"
            made.append(one)
    return made


def bandwidth(data: Data, chosen: Settings, *, link: int | None = None) -> Pattern:
    """The bandwidth that is meant to be available to each test flow.

    Parameters
    ----------
    data
        The scenario, for its seed and length.
    chosen
        Its environment; not one of TCP transfers.
    link
        In a ring, the number of the link, each with separate draws.
    """
    duration = parse(data["duration"], "duration")
    if chosen.environment.rule == "steps":
        steps = []
        turn = 0.0
        while turn < duration:
            steps += [(turn + at, rate) for at, rate in chosen.steps]
            if chosen.period_s is None:
                break
            turn += chosen.period_s
        most = chosen.capacity_bps / chosen.flows
        return Pattern.of([(at, min(rate, most)) for at, rate in steps if at < duration])
    seed = int(data.get("seed", 1))
    return pattern(
        chosen.environment,
        duration_s=duration,
        step_s=chosen.step_s,
        floor=chosen.floor,
        most_bps=chosen.capacity_bps / chosen.flows,
        base_bps=chosen.base_bps,
        seed=seed if link is None else seed * 1_000_003 + link + 1,
    )


def round_trips(data: Data, chosen: Settings) -> list[float]:
    """Round-trip propagation time of each test flow [s], whole microseconds.

    Parameters
    ----------
    data
        The scenario, for its seed.
    chosen
        Its environment.
    """
    draw = random.Random(f"{data.get('seed', 1)}/environment/rtt")
    spread = chosen.rtt_spread
    return [
        round(chosen.rtt_s * (1 + draw.uniform(-spread, spread)), 6) for _ in range(chosen.flows)
    ]


def _dumbbell(chosen: Settings, meant: Pattern, rtts: Sequence[float], flows: list[Data]) -> Data:
    n = chosen.flows
    net: Data = {
        "kind": "dumbbell",
        "pairs": n + 1,
        "rate": round(chosen.capacity_bps),
        "rtts": [*rtts, chosen.rtt_s],
        "access_delay": ACCESS_S,
        "buffer": chosen.buffer,
        "qdisc": chosen.qdisc,
    }
    if chosen.by == "link":
        net["rate"] = round(n * chosen.base_bps)
        net["access_rate"] = round(10 * chosen.capacity_bps)
        steps = [{"at": at, "rate": round(n * rate)} for at, rate in meant.steps()]
        net["schedule"] = {"steps": steps}
        return {"net": net, "flows": flows}
    cross = cross_flows(meant, chosen, Place(n, chosen.capacity_bps, {"pair": n}, CBR))
    return {"net": net, "flows": [*flows, *cross]}


def ring_bandwidths(data: Data, chosen: Settings) -> list[Pattern]:
    """What is meant to be available to each test flow on each link of a ring.

    Parameters
    ----------
    data
        The scenario.
    chosen
        Its environment.
    """
    capacity = 2 * chosen.capacity_bps / chosen.flows
    return [
        available(bandwidth(data, chosen, link=i), 2, capacity, chosen.by)
        for i in range(chosen.flows)
    ]


def _ring(data: Data, chosen: Settings, rtts: Sequence[float], flows: list[Data]) -> Data:
    """Flow i goes from h(i) over r(i), r(i+1), r(i+2) to h(i+2); link i carries flows i and i-1."""
    n = chosen.flows
    capacity = 2 * chosen.capacity_bps / n
    shortest = chosen.rtt_s * (1 - chosen.rtt_spread)
    hop = shortest / 4 - 2 * ACCESS_S
    links: list[Data] = []
    cross: list[Data] = []
    for i, meant in enumerate(ring_bandwidths(data, chosen)):
        after = (i + 1) % n
        links.append(
            {
                "a": f"r{i}",
                "b": f"r{after}",
                "rate": round(capacity),
                "delay": hop,
                "buffer": chosen.buffer,
                "qdisc": chosen.qdisc,
            }
        )
        # What a flow's round trip exceeds the shortest by is on the sender's side.
        links.append(
            {
                "a": f"h{i}",
                "b": f"r{i}",
                "rate": round(10 * capacity),
                "delay": rtts[i] / 2 - 2 * hop - ACCESS_S,
                "buffer": "unlimited",
            }
        )
        links.append(
            {
                "a": f"r{i}",
                "b": f"d{i}",
                "rate": round(10 * capacity),
                "delay": ACCESS_S,
                "buffer": "unlimited",
            }
        )
        ends = {"src": f"h{i}", "dst": f"d{after}"}
        cross += cross_flows(meant, chosen, Place(2, capacity, ends, f"{CBR}-{i}-"))
    test = []
    for flow in flows:
        i = flow["pair"]
        ends = {"src": f"h{i}", "dst": f"d{(i + 2) % n}"}
        test.append({**{k: v for k, v in flow.items() if k != "pair"}, **ends})
    return {"net": {"kind": "graph", "links": links}, "flows": [*test, *cross]}


def meant_available(data: Data, chosen: Settings) -> Pattern:
    """The bandwidth per test flow that cross traffic is made for, on a single bottleneck.

    Parameters
    ----------
    data
        The scenario.
    chosen
        Its environment, on a single bottleneck.
    """
    meant = bandwidth(data, chosen)
    return available(meant, chosen.flows, chosen.capacity_bps, chosen.by)
