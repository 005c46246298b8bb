"""Environments 11 to 13: cross traffic of TCP transfers on topology (b).

Source: Akella et al. (2002), section 3.3 and Fig. 3 (b).

Rule::

    sp -- r0 == r1 == r2 -- d       == capacity C; r0 -> r1 has DRR, r1 -> r2 the setting's queue
    s0 .. s(n-1) -- r1 -- dp

    transfers   sp -> d    SACK, AIMD(1, 1/2), Pareto sizes, Poisson arrivals
    place-holders  sp -> dp   n endless flows of the same kind
    test flows  s(i) -> d

DRR at r0 holds the k transfers under way to k / (n + k) of C, for each place-holder stands for a
test flow; at r1 they have priority, and the test flows get what is left.

The paper's text puts the parameters that make RIO a drop-tail queue for test flows "at router R0";
it has to be R1, where RIO is. RIO's curve for high priority is out of reach here, and the physical
buffer is twice the setting's, so that transfers lose nothing at r1. Test flows are judged by the
whole queue: drop-tail is the curve that jumps from 0 to 1 at the setting's buffer without
averaging; RED is RED's own curve and average. Propagation is a sixth of the round trip on each of
the three links of a path, so that test flows and place-holders have ``rtt``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ackclock import _core
from ackclock._util.units import parse
from ackclock.errors import Problem, ScenarioError
from ackclock.scenario.environments.form import Settings, fair_disciplines, kind

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["CROSS", "HOLD", "compiled_transfers", "red_numbers"]

Data = dict[str, Any]

CROSS, HOLD = "cross", "hold"
"""What the names of transfers and of place-holders begin with."""

UNLIMITED_PACKETS = 10_000_000


def compiled_transfers(
    data: Data, settings: Settings, rtts_s: Sequence[float], flows: list[Data]
) -> Data:
    """Spell out the network and its traffic.

    Parameters
    ----------
    data
        The scenario.
    settings
        Its environment.
    rtts_s
        Round-trip time of each test flow [s].
    flows
        The test flows, one by one, with ``pair``.

    Returns
    -------
    dict
        The tables ``net``, ``flows`` and ``traffic``.
    """
    capacity = round(settings.capacity_bps)
    third = settings.rtt_s / 6
    buffer = _packets(settings)
    slow = {"rate": 10 * capacity, "delay": third, "buffer": "unlimited"}
    links = [
        {"a": "sp", "b": "r0", **slow},
        {"a": "r0", "b": "r1", "rate": capacity, "delay": third, "qdisc": "drr"}
        | {"buffer": f"{2 * buffer} pkt"},
        {
            "a": "r1",
            "b": "r2",
            "rate": capacity,
            "delay": third,
            **_make_shared_queue(data, settings, buffer),
        },
        {"a": "r1", "b": "dp", **slow},
        {"a": "r2", "b": "d", **slow},
    ]
    links += [
        {"a": f"s{i}", "b": "r1", **slow, "delay": rtt / 2 - 2 * third}
        for i, rtt in enumerate(rtts_s)
    ]
    tcp = {"cc": {"kind": "aimd", "a": 1.0, "b": 0.5}, "recovery": "sack"}
    holders = [{"id": f"{HOLD}{i}", "src": "sp", "dst": "dp", **tcp} for i in range(settings.flows)]
    generator = {
        "kind": "poisson",
        **_arrivals(settings),
        "sizes": {
            "kind": "pareto",
            "mean": settings.transfer_bytes,
            "shape": settings.transfer_shape,
        },
    }
    cross = {"generator": generator, "flow": {"id": CROSS, "src": "sp", "dst": "d", **tcp}}
    test = []
    for flow in flows:
        ends = {"src": f"s{flow['pair']}", "dst": "d"}
        profile = {"tcp": {**flow.get("tcp", {}), "out_of_profile": True}}
        test.append({**{k: v for k, v in flow.items() if k != "pair"}, **ends, **profile})
    return {
        "net": {"kind": "graph", "links": links},
        "flows": [*test, *holders],
        "traffic": [*data.get("traffic", ()), cross],
    }


def _arrivals(settings: Settings) -> Data:
    low, high = 1 / settings.interval_low_s, 1 / settings.interval_high_s
    if settings.environment.name == "real-sq":
        steps = [{"at": 0, "factor": 1}, {"at": settings.step_s, "factor": high / low}]
        return {"rate": low, "schedule": steps, "period": 2 * settings.step_s}
    return {"rate": high if settings.environment.name == "real-cons-high" else low}


def _packets(settings: Settings) -> int:
    """The buffer in packets; a bandwidth-delay product is that of the test flows."""
    number, unit = _core.buffer_size(settings.buffer)
    if unit == "unlimited":
        return UNLIMITED_PACKETS
    if unit == "packets":
        return int(number)
    seconds = {
        "bdp": number * settings.rtt_s,
        "seconds": number,
        "bytes": 8 * number / settings.capacity_bps,
    }[unit]
    return max(round(seconds * settings.capacity_bps / 8 / settings.packet_bytes), 1)


def _make_shared_queue(data: Data, settings: Settings, buffer: int) -> Data:
    """Queue and buffer of the link that test flows share with the transfers."""
    name = kind(settings.qdisc)
    if name in fair_disciplines():
        return {"qdisc": settings.qdisc, "buffer": f"{2 * buffer} pkt"}
    out_of_reach = {"in_min_th": 20.0 * buffer, "in_max_th": 40.0 * buffer, "in_max_p": 0.01}
    if name == "fifo":
        curve = {"out_min_th": buffer - 0.5, "out_max_th": buffer, "out_max_p": 1.0, "w_q": 1.0}
        rio = {"kind": "rio", **out_of_reach, **curve, "gentle": False, "wait": False}
    elif name == "red":
        red_parameters = settings.qdisc if isinstance(settings.qdisc, dict) else {}
        rio = {
            "kind": "rio",
            **out_of_reach,
            **red_numbers(red_parameters, data.get("era", "rfc"), settings),
        }
    else:
        message = f'is "{name}"; expected fifo, red, or one of: {", ".join(fair_disciplines())}'
        where = f"in the environment {settings.environment.name}"
        raise ScenarioError([Problem("net.qdisc", f"{message} {where}")])
    return {"qdisc": rio, "buffer": f"{2 * buffer} pkt"}


def red_numbers(red_parameters: Data, era: str, settings: Settings) -> Data:
    """RED's parameters as RIO takes them: thresholds as numbers, by the rules of `red`.

    Parameters
    ----------
    red_parameters
        Parameters of RED that the scenario gives.
    era
        Whose defaults hold for the others.
    settings
        Of the environment; its link rate sets the automatic thresholds.
    """
    mean = red_parameters.get("mean_packet") or (settings.packet_bytes if era == "rfc" else 500)
    packets_per_s = settings.capacity_bps / 8 / mean
    target = parse(red_parameters.get("target_delay", "5 ms"), "duration")
    low = 5.0 if era == "1999" else max(5.0, packets_per_s * target / 2)
    low = red_parameters.get("min_th") or low
    delay = max(0.1, 3 * (settings.rtt_s / 6 + 1 / packets_per_s))
    weight = 0.002 if era == "1999" else 1 - math.exp(-1 / (10 * delay * packets_per_s))
    return {
        "out_min_th": low,
        "out_max_th": red_parameters.get("max_th") or 3 * low,
        "out_max_p": red_parameters.get("max_p", 0.1),
        "w_q": red_parameters.get("w_q") or weight,
        "gentle": red_parameters.get("gentle", era != "1999"),
        "wait": red_parameters.get("wait", era != "rfc"),
        "ecn": red_parameters.get("ecn", False),
        "mean_packet": mean,
    }
