"""What a scenario means, before it runs."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import TYPE_CHECKING, Any

from ackclock._util import paths
from ackclock._util.html_table import fragment, html_table
from ackclock._util.number_text import engineering, working_time
from ackclock._util.text_table import table
from ackclock.catalogue import schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Sized

__all__ = ["Explanation", "left_out"]


def left_out(data: schema.Data) -> list[schema.Data]:
    """List what a scenario is silent on outside of ``tcp``: path, value, source.

    Elements of a list that are silent on the same are reported together.

    Parameters
    ----------
    data
        The scenario as the user wrote it.
    """
    found: dict[tuple[str, str, str], list[list[paths.Step]]] = {}
    counts: Counter[str] = Counter()
    for steps, given, rules, more in _places(data):
        counts[paths.text([*_star_indices(steps)])] += 1
        for key, (value, source) in {**_defaults(rules), **more}.items():
            if key not in given:
                pattern = paths.text([*_star_indices(steps), key])
                found.setdefault((pattern, value, source), []).append([*steps, key])
    lines = []
    for (pattern, value, source), places in found.items():
        path = paths.text(places[0]) if len(places) == 1 else pattern
        every = counts[paths.text([*_star_indices(places[0][:-1])])]
        part = f" ({len(places)} of {every})" if 1 < len(places) < every else ""
        lines.append({"path": path, "value": value + part, "source": source})
    return lines


def _star_indices(steps: list[paths.Step]) -> list[paths.Step]:
    return [None if isinstance(step, int) else step for step in steps]


_Lines = dict[str, tuple[str, str]]
_Place = tuple[list[paths.Step], schema.Data, schema.Data, _Lines]


def _places(data: schema.Data) -> Iterator[_Place]:
    """Tables of a scenario: where, what is given, the schema's rules, defaults beside these."""
    era = data.get("era", "rfc")
    yield [], data, schema.scenario()["properties"], {}
    net = data["net"]
    rules = schema.net_kinds()[net["kind"]]["properties"]
    derived = {}
    for key, rule in rules.items():
        _, mark, text = rule.get("description", "").partition("Left out: ")
        if mark:
            derived[key] = (text.split(". ")[0].rstrip("."), "every era")
    yield ["net"], net, rules, derived
    if net["kind"] == "graph":
        for i, link in enumerate(net.get("links", ())):
            yield ["net", "links", i], link, schema.definition("LinkSpec")["properties"], {}
    flows: list[tuple[list[paths.Step], schema.Data]] = []
    flows += [(["flows", i], flow) for i, flow in enumerate(data.get("flows", ()))]
    for i, traffic in enumerate(data.get("traffic", ())):
        flows.append((["traffic", i, "flow"], traffic.get("flow", {})))
    for steps, flow in flows:
        # An unresponsive source has no TCP.
        tcp = {} if "source" in flow else _tcp_of(era)
        yield steps, flow, schema.definition("Flow")["properties"], tcp


def _defaults(rules: schema.Data) -> _Lines:
    found = {}
    for key, rule in rules.items():
        value = rule.get("default")
        if isinstance(value, str | int | float):
            text = value if isinstance(value, str) else json.dumps(value)
            unit = "" if isinstance(value, str) else rule.get("x-unit", "")
            found[key] = (f"{text} {unit}".rstrip(), "every era")
    return found


@cache
def _tcp_of(era: str) -> _Lines:
    """The control, recovery and slow start of an era's flows, as the core has them."""
    from ackclock import _core

    net = {"kind": "dumbbell", "pairs": 1, "rate": 1e6, "rtt": 0.1}
    requested = {"net": net, "flows": [{"pair": 0}], "duration": 1, "era": era}
    (flow,) = json.loads(_core.explain(json.dumps(requested)))["flows"]
    return {key: (str(flow[key]), f"era {era}") for key in ("cc", "recovery", "slow_start")}


def _buffer(link: dict[str, Any]) -> str:
    """A buffer's limits; a link may have both."""
    limits = []
    if link["buffer_packets"] is not None:
        limits.append(f"{link['buffer_packets']} pkt")
    if link["buffer_bytes"] is not None:
        limits.append(engineering(link["buffer_bytes"], "B"))
    return " and ".join(limits) or "unlimited"


def _count(things: Sized, name: str) -> str:
    return f"{len(things)} {name}{'' if len(things) == 1 else 's'}"


class Explanation:
    """Routes, bandwidth-delay products, defaults used and predicted cost of a scenario.

    Parameters
    ----------
    name
        The scenario's name.
    data
        As the core gave it: era, flows, links, defaults, predicted; see `left_out`.
    """

    def __init__(self, name: str, data: dict[str, Any]) -> None:
        self.name = name
        self.data = data

    def __repr__(self) -> str:
        return f"Explanation({len(self.data['flows'])} flows, {len(self.data['links'])} links)"

    def _head(self) -> str:
        data = self.data
        return (
            f"{self.name or 'scenario'}: {_count(data['flows'], 'flow')},"
            f" {_count(data['links'], 'link')}, era {data['era']}"
        )

    def _tables(self) -> list[tuple[list[str], list[list[str]]]]:
        """Heads and rows of flows, links and, where there are some, defaults."""
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
        made = [
            (head, flows),
            (["link", "rate", "delay", "buffer", "when full", "qdisc", "flows"], links),
        ]
        if data.get("defaults"):
            defaults = [[d["path"], str(d["value"]), d["source"]] for d in data["defaults"]]
            made.append((["default used", "value", "source"], defaults))
        return made

    def _notes(self) -> list[str]:
        """Warnings and the predicted cost."""
        parts = [f"warning: {warning}" for warning in self.data.get("warnings", ())]
        cost = self.data.get("predicted")
        if cost:
            parts.append(
                f"predicted: {cost['packet_hops']:,.0f} packet hops, {cost['events']:,.0f} events,"
                f" about {working_time(cost['cpu_s'])} of one core"
            )
        return parts

    def __str__(self) -> str:
        flows, links, *defaults = self._tables()
        tables = [table(*flows), table(*links), *(table(*rows, most=80) for rows in defaults)]
        return "\n\n".join([self._head(), *tables, *self._notes()])

    def _repr_html_(self) -> str:
        notes = [[note] for note in self._notes()]
        tables = [html_table(*rows) for rows in self._tables()]
        return fragment(self._head(), *tables, *([html_table(["notes"], notes)] if notes else []))
