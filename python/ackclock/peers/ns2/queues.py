"""Queues of ns-2: how each link's discipline and buffer are set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.peers.ns2.tcl import put

if TYPE_CHECKING:
    from ackclock.peers.plan import SimulatorLink, SimulatorPlan
    from ackclock.peers.written import SimulatorLimits

__all__ = [
    "QUEUES",
    "node_numbers",
    "queue_class",
    "queue_lines",
    "replayed_seeds",
    "replayed_skips",
    "settle_links",
]

QUEUES = {"fifo": "DropTail", "red": "RED", "drr": "DRR", "sfq": "SFQ"}
"""Classes of ns-2 by discipline."""

NO_LIMIT = 1_000_000_000

HASHED_BY_SIXTEEN = 16
"""DRR of ns-2 gives a node whose number is a multiple of this the queue of the node before it."""


def settle_links(plan: SimulatorPlan, limits: SimulatorLimits) -> None:
    """Note what of the links ns-2 cannot express.

    Parameters
    ----------
    plan
        The compiled scenario.
    limits
        Gets it.
    """
    ends: dict[tuple[int, int], int] = {}
    for link in plan.links:
        if link.number not in plan.used:
            continue
        other = ends.setdefault((link.source, link.target), link.number)
        if other != link.number:
            limits.refuse(link.base_path, "ns-2 has one link from a node to another, here are two")
        if link.impaired:
            limits.refuse(f"{link.base_path}.impairments", "ns-2 has none of them")
        if link.fails:
            limits.refuse("links", "links that fail are not written for ns-2")
        if link.opportunities:
            limits.refuse(f"{link.base_path}.schedule", "delivery opportunities cannot be written")
        if link.steps:
            limits.name(
                f"{link.base_path}.schedule",
                "a packet that is being sent when the rate changes keeps its old rate in ns-2",
            )
        if link.loses:
            limits.name(f"{link.base_path}.loss", "ns-2 draws its own random numbers")
        if limits.offer(link.path, "queue discipline", link.qdisc.kind, QUEUES):
            _settle_queue(plan, link, limits)
    if len(replayed_seeds(plan)) > 1:
        limits.refuse("ns2_seed", "ns-2's queues share one generator; expected one seed for all")
    if len(replayed_skips(plan)) > 1:
        limits.refuse("ns2_skip", "ns-2's queues share one generator; expected one value for all")
    if plan.classes == "flow" and _fair(plan):
        limits.refuse("classes", 'is "flow"; ns-2\'s fair queues go by addresses')


def replayed_seeds(plan: SimulatorPlan) -> set[int]:
    """Find the seeds of ns-2's generator that RED queues replay.

    Parameters
    ----------
    plan
        The compiled scenario.
    """
    given = [
        link.qdisc.parameters.get("ns2_seed") for link in plan.links if link.number in plan.used
    ]
    return {int(seed) for seed in given if seed is not None}


def replayed_skips(plan: SimulatorPlan) -> set[int]:
    """Find how many of ns-2's first random numbers RED queues pass over.

    Parameters
    ----------
    plan
        The compiled scenario.
    """
    given = [link.qdisc.parameters for link in plan.links if link.number in plan.used]
    return {int(g.get("ns2_skip") or 0) for g in given if g.get("ns2_seed") is not None}


def _fair(plan: SimulatorPlan) -> list[SimulatorLink]:
    return [link for link in plan.links if link.qdisc.kind in ("drr", "sfq")]


def _settle_queue(plan: SimulatorPlan, link: SimulatorLink, limits: SimulatorLimits) -> None:
    kind, buffer_path = link.qdisc.kind, f"{link.base_path}.buffer"
    if link.buffer_packets is not None and link.buffer_bytes is not None:
        limits.refuse(buffer_path, "ns-2 limits packets or bytes, not both")
    if kind == "drr":
        if link.buffer_bytes is None:
            limits.refuse(buffer_path, "ns-2's DRR shares a buffer of bytes; give it in bytes")
        if link.qdisc.parameters.get("aqm"):
            limits.refuse(f"{link.path}.aqm", "ns-2's DRR has none")
        if link.qdisc.parameters.get("longest", "bytes") != "bytes":
            limits.refuse(f"{link.path}.longest", "the longest queue of ns-2's DRR is by bytes")
        default = "head" if plan.is_of_ns2 else "tail"
        if link.qdisc.parameters.get("victim", default) != "head":
            limits.refuse(f"{link.path}.victim", 'is "tail", ns-2\'s DRR drops the head')
    elif kind == "sfq":
        if link.buffer_packets is None:
            limits.refuse(buffer_path, "ns-2's SFQ has a buffer of packets; give it in packets")
        limits.name(link.path, "which flows share a queue differs: ns-2 hashes addresses")
        default = "share" if plan.is_of_ns2 else "longest"
        if link.qdisc.parameters.get("rule", default) != "share":
            limits.refuse(f"{link.path}.rule", 'is "longest", ns-2\'s SFQ drops by "share"')
    elif kind == "red":
        if "ns2_seed" not in link.qdisc.parameters:
            reason = "ns-2 draws its own random numbers for early drops; ns2_seed replays them"
            limits.name(link.path, reason)
        if link.buffer_bytes is not None:
            limits.refuse(buffer_path, "ns-2's RED has a buffer of packets; give it in packets")
        for key, usual in (("idle_decay", True),):
            if link.qdisc.parameters.get(key, usual) != usual:
                limits.refuse(f"{link.path}.{key}", "ns-2's RED always has it")
    if kind in ("drr", "sfq") and plan.classes == "stream" and _is_mixed(plan, link):
        limits.refuse(
            "classes",
            f'is "stream", but several streams of one host pass {link.id}; ns-2\'s {kind.upper()}'
            ' goes by addresses: use "source" or one host a flow',
        )
    if kind == "drr" and plan.classes == "pair":
        limits.refuse("classes", 'is "pair"; ns-2\'s DRR goes by source addresses')
    if kind == "sfq" and plan.classes == "source":
        limits.refuse("classes", 'is "source"; ns-2\'s SFQ goes by both addresses')


def _is_mixed(plan: SimulatorPlan, link: SimulatorLink) -> bool:
    """Whether two streams with the same source pass a link."""
    sources = [
        source
        for flow in plan.flows
        for source, route in ((flow.source, flow.route), (flow.target, flow.ack_route))
        if link.number in route and not (flow.kind == "source" and route is flow.ack_route)
    ]
    return len(sources) != len(set(sources))


def node_numbers(plan: SimulatorPlan) -> tuple[int, ...]:
    """Number the nodes as ns-2 will.

    Parameters
    ----------
    plan
        The compiled scenario.

    Returns
    -------
    tuple of int
        Numbers by node of the plan, ascending; with DRR no multiples of 16.
    """
    numbers: list[int] = []
    spare = any(link.qdisc.kind == "drr" for link in plan.links)
    following = 0
    for _ in plan.nodes:
        if spare and following % HASHED_BY_SIXTEEN == 0:
            following += 1
        numbers.append(following)
        following += 1
    return tuple(numbers)


def queue_class(link: SimulatorLink) -> str:
    """Name ns-2's class of a link's queue.

    Parameters
    ----------
    link
        The link.
    """
    return QUEUES[link.qdisc.kind]


def queue_lines(plan: SimulatorPlan, link: SimulatorLink) -> str:
    """Set the queue ``$q`` of a link.

    Parameters
    ----------
    plan
        The compiled scenario.
    link
        One of its links.
    """
    values = {"fifo": _fifo, "red": _red_values, "drr": _drr, "sfq": _sfq}[link.qdisc.kind](
        plan, link
    )
    return put("$q", values)


def _fifo(plan: SimulatorPlan, link: SimulatorLink) -> dict[str, float]:
    # ns-2's limit counts the arrival; that of all other eras does not.
    more = 0 if plan.era == "ns2" else 1
    if link.buffer_bytes is not None:
        limit = link.buffer_bytes + more
        return {"queue_in_bytes": 1, "mean_pktsize": 1, "limit": min(limit, NO_LIMIT)}
    if link.buffer_packets is None:
        return {"limit": NO_LIMIT}
    return {"limit": min(link.buffer_packets + more, NO_LIMIT)}


def _red_values(plan: SimulatorPlan, link: SimulatorLink) -> dict[str, float]:
    discipline = link.qdisc
    recent = plan.era in ("2007", "ns2")
    old = plan.era == "1999"
    number = discipline.number
    is_in_bytes = bool(number("bytes", recent))
    mark = discipline.parameters.get("mark_p", 0.1 if recent else None)
    values = {
        "limit": NO_LIMIT if link.buffer_packets is None else link.buffer_packets,
        "bytes": is_in_bytes,
        "queue_in_bytes": is_in_bytes,
        "mean_pktsize": number("mean_packet", 500 if plan.is_of_ns2 else link.mean_packet),
        "thresh": number("min_th", 5 if old else 0),
        "maxthresh": number(
            "max_th", 15 if old and discipline.parameters.get("min_th") is None else 0
        ),
        "q_weight": number("w_q", 0.002 if old else -1),
        "gentle": bool(number("gentle", not old)),
        "wait": bool(number("wait", plan.is_of_ns2)),
        "linterm": 1 / number("max_p", 0.1),
        "setbit": bool(number("ecn", 0)),
        "use_mark_p": mark is not None,
        "mark_p": 1.0 if mark is None else float(mark),
        "targetdelay": number("target_delay", 0.005, "duration"),
        "adaptive": bool(number("adaptive", 0)),
        "interval": number("interval", 0.5, "duration"),
        "top": number("top", 0.5),
        "bottom": number("bottom", 0),
        "drop_tail": 1,
    }
    return {key: float(value) for key, value in values.items()}


def _drr(plan: SimulatorPlan, link: SimulatorLink) -> dict[str, float]:
    usual = 250 if plan.is_of_ns2 else link.mean_packet
    return {
        "buckets": max(node_numbers(plan)) + 2,
        "blimit": NO_LIMIT if link.buffer_bytes is None else link.buffer_bytes,
        "quantum": link.qdisc.number("quantum", usual, "size"),
    }


def _sfq(plan: SimulatorPlan, link: SimulatorLink) -> dict[str, float]:
    assert link.buffer_packets is not None
    usual = 16 if plan.is_of_ns2 else 128
    return {
        "maxqueue": link.buffer_packets,
        "buckets": link.qdisc.number("buckets", usual),
    }
