"""Links of ns-3: channels, devices, queue disciplines with their attributes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.peers.written import number_text

if TYPE_CHECKING:
    from ackclock.peers.plan import SimulatorLink, SimulatorPlan
    from ackclock.peers.written import SimulatorLimits

__all__ = ["discipline_lines", "queue_size", "settle_links"]

QUEUES = dict.fromkeys(("fifo", "red", "codel", "fq-codel", "pie", "cobalt"))
"""Disciplines that can be written."""

WRITTEN = {
    "fifo": (),
    "red": ("min_th", "max_th", "max_p", "w_q", "gentle", "wait", "ecn", "bytes", "mean_packet"),
    "codel": ("target", "interval", "ecn", "mtu"),
    "fq-codel": ("queues", "quantum", "target", "interval", "ecn", "drop_batch", "salt"),
    "pie": ("target", "update", "max_burst", "ecn", "mark_ecnth"),
    "cobalt": ("target", "interval", "p_increase", "p_decrease", "ecn"),
}
"""Parameters that have an attribute of ns-3."""

NO_LIMIT = 1_000_000_000


def settle_links(plan: SimulatorPlan, limits: SimulatorLimits) -> None:
    """Note what of the links ns-3 cannot express.

    Parameters
    ----------
    plan
        The compiled scenario.
    limits
        Gets it.
    """
    for link in plan.links:
        if link.number not in plan.used:
            continue
        if link.impaired:
            limits.refuse(f"{link.base_path}.impairments", "none of them is written for ns-3")
        if link.fails:
            limits.refuse("links", "links that fail are not written for ns-3")
        if link.opportunities:
            limits.refuse(f"{link.base_path}.schedule", "delivery opportunities cannot be written")
        if link.drops:
            limits.refuse(f"{link.base_path}.drop", "listed drops cannot be written for ns-3")
        if link.loses:
            limits.refuse(f"{link.base_path}.loss", "random loss is not written for ns-3")
        if link.steps:
            limits.name(f"{link.base_path}.schedule", "a packet that is being sent keeps its rate")
        if link.buffer_packets is not None and link.buffer_bytes is not None:
            limits.refuse(f"{link.base_path}.buffer", "ns-3 limits packets or bytes, not both")
        kind = link.qdisc.kind
        if not limits.offer(link.path, "queue discipline", kind, QUEUES):
            continue
        if kind != "fifo":
            limits.name(link.path, "one packet more waits in ns-3's device, below the discipline")
        if kind == "fq-codel" and link.buffer_packets is None and link.buffer_bytes is not None:
            limits.refuse(
                f"{link.base_path}.buffer", "ns-3's FQ-CoDel counts packets; give packets"
            )
        for key, value in link.qdisc.parameters.items():
            if value is not None and key not in WRITTEN[kind]:
                limits.refuse(f"{link.path}.{key}", f"ns-3's {kind} has no attribute for it")
        if kind == "red" and (
            link.qdisc.parameters.get("min_th") is None
            or link.qdisc.parameters.get("max_th") is None
        ):
            limits.refuse(f"{link.path}.min_th", "is automatic; ns-3 needs min_th and max_th")


def queue_size(link: SimulatorLink) -> str:
    """Write the limit of a queue as ns-3 does.

    Parameters
    ----------
    link
        The link.
    """
    if link.buffer_bytes is not None:
        return f"{link.buffer_bytes}B"
    if link.buffer_packets is not None:
        return f"{link.buffer_packets}p"
    return f"{NO_LIMIT}p"


def discipline_lines(link: SimulatorLink) -> list[str]:
    """Write the discipline of a link that is not a plain FIFO.

    Parameters
    ----------
    link
        The link.
    """
    kind, number = link.qdisc.kind, link.qdisc.number
    parameters = link.qdisc.parameters

    def seconds(key: str, usual: float) -> str:
        return f"TimeValue(Seconds({number_text(number(key, usual, 'duration'))}))"

    def flag(key: str, usual: int) -> str:
        return f"BooleanValue({'true' if number(key, usual) else 'false'})"

    values = {"MaxSize": f'StringValue("{queue_size(link)}")'}
    if kind == "red":
        size = int(number("mean_packet", link.mean_packet))
        unit = size if number("bytes", 0) else 1
        values |= {
            "MinTh": f"DoubleValue({number_text(number('min_th', 0) * unit)})",
            "MaxTh": f"DoubleValue({number_text(number('max_th', 0) * unit)})",
            "LInterm": f"DoubleValue({number_text(1 / number('max_p', 0.1))})",
            # Negative values are automatic, by Floyd's rule as here; -1 is it.
            "QW": f"DoubleValue({number_text(number('w_q', -1))})",
            "Gentle": flag("gentle", 1),
            "Wait": flag("wait", 0),
            "UseEcn": flag("ecn", 0),
            "UseHardDrop": "BooleanValue(false)",
            "MeanPktSize": f"UintegerValue({size})",
            "LinkBandwidth": f"DataRateValue(DataRate({int(link.rate_bps)}U))",
            "LinkDelay": f"TimeValue(Seconds({number_text(link.delay_s)}))",
        }
        return _lines("RedQueueDisc", values)
    if kind == "codel":
        values |= {
            "Target": seconds("target", 0.005),
            "Interval": seconds("interval", 0.1),
            "MinBytes": f"UintegerValue({int(number('mtu', link.mean_packet))})",
            "UseEcn": flag("ecn", 0),
        }
        return _lines("CoDelQueueDisc", values)
    if kind == "fq-codel":
        milliseconds = {
            key: number_text(1e3 * number(key, usual, "duration"))
            for key, usual in (("target", 0.005), ("interval", 0.1))
        }
        values |= {
            "Target": f'StringValue("{milliseconds["target"]}ms")',
            "Interval": f'StringValue("{milliseconds["interval"]}ms")',
            "Flows": f"UintegerValue({int(number('queues', 1024))})",
            "DropBatchSize": f"UintegerValue({int(number('drop_batch', 64))})",
            "Perturbation": f"UintegerValue({int(number('salt', 0))})",
            "UseEcn": flag("ecn", 1),
        }
        quantum = int(number("quantum", 1514, "size"))
        return [*_lines("FqCoDelQueueDisc", values), f"    quantum = {quantum};"]
    if kind == "pie":
        values |= {
            "QueueDelayReference": seconds("target", 0.015),
            "Tupdate": seconds("update", 0.015),
            "MaxBurstAllowance": seconds("max_burst", 0.15),
            "MeanPktSize": f"UintegerValue({link.mean_packet})",
            "UseEcn": flag("ecn", 0),
            "MarkEcnThreshold": f"DoubleValue({number_text(number('mark_ecnth', 0.1))})",
            "UseDequeueRateEstimator": "BooleanValue(true)",
            "UseDerandomization": "BooleanValue(true)",
            "UseCapDropAdjustment": "BooleanValue(true)",
        }
        return _lines("PieQueueDisc", values)
    assert kind == "cobalt" and isinstance(parameters, dict)
    values |= {
        "Target": f'StringValue("{number_text(1e3 * number("target", 0.005, "duration"))}ms")',
        "Interval": f'StringValue("{number_text(1e3 * number("interval", 0.1, "duration"))}ms")',
        "Pinc": f"DoubleValue({number_text(number('p_increase', 1 / 256))})",
        "Pdec": f"DoubleValue({number_text(number('p_decrease', 1 / 4096))})",
        "UseEcn": flag("ecn", 1),
    }
    return _lines("CobaltQueueDisc", values)


def _lines(name: str, values: dict[str, str]) -> list[str]:
    lines = [f'    discipline.SetTypeId("ns3::{name}");']
    return [*lines, *(f'    discipline.Set("{key}", {value});' for key, value in values.items())]
