"""What a scenario means, before it runs."""

from __future__ import annotations

from typing import Any

from ackclock.tabular import engineering, table

__all__ = ["Explanation"]


def _buffer(link: dict[str, Any]) -> str:
    """A buffer's limits; a link may have both."""
    limits = []
    if link["buffer_packets"] is not None:
        limits.append(f"{link['buffer_packets']} pkt")
    if link["buffer_bytes"] is not None:
        limits.append(engineering(link["buffer_bytes"], "B"))
    return " and ".join(limits) or "unlimited"


class Explanation:
    """Routes, bandwidth-delay products, defaults used and predicted cost of a scenario.

    Parameters
    ----------
    name
        The scenario's name.
    data
        As the core gave it: era, flows, links, defaults, predicted.
    """

    def __init__(self, name: str, data: dict[str, Any]) -> None:
        self.name = name
        self.data = data

    def __repr__(self) -> str:
        return f"Explanation({len(self.data['flows'])} flows, {len(self.data['links'])} links)"

    def __str__(self) -> str:
        data = self.data
        flows = [
            [
                str(flow["id"]),
                f"{flow['src']} -> {flow['dst']}",
                str(flow.get("cc") or "-"),
                str(flow.get("recovery") or "-"),
                engineering(flow.get("rtt_s"), "s"),
                engineering(flow.get("bottleneck_bps"), "bit/s"),
                engineering(flow.get("bdp_bytes"), "B"),
                " ".join(map(str, flow.get("route", []))),
            ]
            for flow in data["flows"]
        ]
        links = [
            [
                str(link["id"]),
                engineering(link["rate_bps"], "bit/s"),
                engineering(link["delay_s"], "s"),
                _buffer(link),
                engineering(link["buffer_s"], "s"),
                str(link["qdisc"]),
                str(link["flows"]),
            ]
            for link in data["links"]
        ]
        head = ["flow", "ends", "cc", "recovery", "rtt", "bottleneck", "bdp", "route"]
        parts = [
            f"{self.name or 'scenario'}: {len(flows)} flows, {len(links)} links, era {data['era']}",
            table(head, flows),
            table(["link", "rate", "delay", "buffer", "when full", "qdisc", "flows"], links),
        ]
        if data.get("defaults"):
            defaults = [[d["path"], str(d["value"]), d["source"]] for d in data["defaults"]]
            parts.append(table(["default used", "value", "source"], defaults, most=80))
        parts.extend(f"warning: {warning}" for warning in data.get("warnings", ()))
        cost = data.get("predicted")
        if cost:
            parts.append(
                f"predicted: {cost['packet_hops']:,.0f} packet hops, {cost['events']:,.0f} events,"
                f" about {engineering(cost['cpu_s'], 's')} of one core"
            )
        return "\n\n".join(parts)
