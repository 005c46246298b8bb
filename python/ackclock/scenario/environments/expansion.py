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
    options = settings(data["net"])
    problems = _contradictions(data, options)
    if problems:
        raise ScenarioError(problems)
    rtts = round_trips(data, options)
    flows = _singles(data)
    if options.environment.has_transfers:
        expanded = compiled_transfers(data, options, rtts, flows)
    elif options.topology == "ring":
        expanded = _ring(data, options, rtts, flows)
    else:
        expanded = _dumbbell(options, bandwidth(data, options), rtts, flows)
    return {**data, **expanded}


def _contradictions(data: Data, options: Settings) -> list[Problem]:
    problems = []
    free = options.environment.rule == "steps"
    if free and not options.steps:
        problems.append(
            Problem("net.steps", "is missing; the environment steps needs at least one")
        )
    if free and options.steps and options.steps[0][0] != 0:
        problems.append(Problem("net.steps[0].at", f"is {options.steps[0][0]:g} s, but must be 0"))
    if sorted({time_s for time_s, _ in options.steps}) != [time_s for time_s, _ in options.steps]:
        problems.append(Problem("net.steps", "must be in order of time without repetition"))
    if not free and options.steps:
        name = options.environment.name
        problems.append(Problem("net.steps", f"has no place in {name}; expected the name steps"))
    if options.period_s is not None and options.steps and options.steps[-1][0] >= options.period_s:
        problems.append(Problem("net.period", "must be more than the last step's time"))
    if options.step_s <= 0:
        problems.append(Problem("net.step", "is 0 s, but it must be more than 0"))
    if options.topology == "ring" and (options.environment.has_transfers or options.by == "link"):
        message = 'is "ring", which has cross traffic of constant-rate sources only'
        problems.append(Problem("net.topology", message))
    if options.topology == "ring" and options.flows < 5:
        message = f"is {options.flows}; a ring of two bottlenecks per flow needs at least 5"
        problems.append(Problem("net.flows", message))
    # The shortest path has 4 access delays; the rest is the bottleneck's.
    least = 8 * ACCESS_S
    if options.rtt_s * (1 - options.rtt_spread) < least:
        message = f"with its spread is below {least * 1e3:g} ms, the delay of the access links"
        problems.append(Problem("net.rtt", message))
    problems += _flow_problems(data, options)
    if not problems and options.by == "cbr-flows" and not options.environment.has_transfers:
        problems += _too_many_sources(data, options)
    return problems


def _flow_problems(data: Data, options: Settings) -> list[Problem]:
    problems = []
    for number, flow in enumerate(data.get("flows", ())):
        if "pair" not in flow or "source" in flow:
            message = "must be a test flow: TCP, with a pair; cross traffic is the environment's"
            problems.append(Problem(f"flows[{number}]", message))
        elif flow["pair"] + flow.get("count", 1) > options.flows:
            last = flow["pair"] + flow.get("count", 1) - 1
            message = f"reaches {last}, but the environment has pairs 0 to {options.flows - 1}"
            problems.append(Problem(f"flows[{number}].pair", message))
    return problems


def _too_many_sources(data: Data, options: Settings) -> list[Problem]:
    rates = bandwidth(data, options).rates_bps
    least = min(rates)
    if least <= 0:
        message = "reaches 0 bit/s, which no number of sources of fixed rate can leave"
        return [Problem("net.steps", message)]
    count = sources(least, options.flows, options.capacity_bps)
    if count > MOST_SOURCES:
        message = f"requests {count} sources of fixed rate; expected at most {MOST_SOURCES}"
        return [Problem("net.floor", message)]
    return []


def _singles(data: Data) -> list[Data]:
    """Test flows one by one, as the core would count them."""
    singles = []
    for flow in data.get("flows", ()):
        count = flow.get("count", 1)
        start = parse(flow.get("start", 0), "duration")
        gap = parse(flow.get("stagger", 0), "duration")
        for copy in range(count):
            single = {k: v for k, v in flow.items() if k not in ("count", "stagger")}
            single |= {"pair": flow["pair"] + copy, "start": start + copy * gap}
            if count > 1 and "id" in flow:
                single["id"] = f"{flow['id']}{copy}"
            singles.append(single)
    return singles


def bandwidth(data: Data, options: Settings, *, link: int | None = None) -> Pattern:
    """The bandwidth that is meant to be available to each test flow.

    Parameters
    ----------
    data
        The scenario, for its seed and length.
    options
        Its environment; not one of TCP transfers.
    link
        In a ring, the number of the link, each with separate draws.
    """
    duration = parse(data["duration"], "duration")
    if options.environment.rule == "steps":
        steps = []
        turn = 0.0
        while turn < duration:
            steps += [(turn + time_s, rate) for time_s, rate in options.steps]
            if options.period_s is None:
                break
            turn += options.period_s
        most = options.capacity_bps / options.flows
        return Pattern.of(
            [(time_s, min(rate, most)) for time_s, rate in steps if time_s < duration]
        )
    seed = int(data.get("seed", 1))
    return pattern(
        options.environment,
        duration_s=duration,
        step_s=options.step_s,
        floor=options.floor,
        most_bps=options.capacity_bps / options.flows,
        base_bps=options.base_bps,
        seed=seed if link is None else seed * 1_000_003 + link + 1,
    )


def round_trips(data: Data, options: Settings) -> list[float]:
    """Round-trip propagation time of each test flow [s], whole microseconds.

    Parameters
    ----------
    data
        The scenario, for its seed.
    options
        Its environment.
    """
    draw = random.Random(f"{data.get('seed', 1)}/environment/rtt")
    spread = options.rtt_spread
    return [
        round(options.rtt_s * (1 + draw.uniform(-spread, spread)), 6) for _ in range(options.flows)
    ]


def _dumbbell(options: Settings, meant: Pattern, rtts: Sequence[float], flows: list[Data]) -> Data:
    n = options.flows
    net: Data = {
        "kind": "dumbbell",
        "pairs": n + 1,
        "rate": round(options.capacity_bps),
        "rtts": [*rtts, options.rtt_s],
        "access_delay": ACCESS_S,
        "buffer": options.buffer,
        "qdisc": options.qdisc,
    }
    if options.by == "link":
        net["rate"] = round(n * options.base_bps)
        net["access_rate"] = round(10 * options.capacity_bps)
        steps = [{"at": time_s, "rate": round(n * rate)} for time_s, rate in meant.steps()]
        net["schedule"] = {"steps": steps}
        return {"net": net, "flows": flows}
    cross = cross_flows(meant, options, Place(n, options.capacity_bps, {"pair": n}, CBR))
    return {"net": net, "flows": [*flows, *cross]}


def ring_bandwidths(data: Data, options: Settings) -> list[Pattern]:
    """What is meant to be available to each test flow on each link of a ring.

    Parameters
    ----------
    data
        The scenario.
    options
        Its environment.
    """
    capacity = 2 * options.capacity_bps / options.flows
    return [
        available(bandwidth(data, options, link=i), 2, capacity, options.by)
        for i in range(options.flows)
    ]


def _ring(data: Data, options: Settings, rtts: Sequence[float], flows: list[Data]) -> Data:
    """Flow i goes from h(i) over r(i), r(i+1), r(i+2) to h(i+2); link i carries flows i and i-1."""
    n = options.flows
    capacity = 2 * options.capacity_bps / n
    shortest = options.rtt_s * (1 - options.rtt_spread)
    hop = shortest / 4 - 2 * ACCESS_S
    links: list[Data] = []
    cross: list[Data] = []
    for i, meant in enumerate(ring_bandwidths(data, options)):
        after = (i + 1) % n
        links.append(
            {
                "a": f"r{i}",
                "b": f"r{after}",
                "rate": round(capacity),
                "delay": hop,
                "buffer": options.buffer,
                "qdisc": options.qdisc,
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
        cross += cross_flows(meant, options, Place(2, capacity, ends, f"{CBR}-{i}-"))
    test = []
    for flow in flows:
        i = flow["pair"]
        ends = {"src": f"h{i}", "dst": f"d{(i + 2) % n}"}
        test.append({**{k: v for k, v in flow.items() if k != "pair"}, **ends})
    return {"net": {"kind": "graph", "links": links}, "flows": [*test, *cross]}


def meant_available(data: Data, options: Settings) -> Pattern:
    """The bandwidth per test flow that cross traffic is made for, on a single bottleneck.

    Parameters
    ----------
    data
        The scenario.
    options
        Its environment, on a single bottleneck.
    """
    meant = bandwidth(data, options)
    return available(meant, options.flows, options.capacity_bps, options.by)
