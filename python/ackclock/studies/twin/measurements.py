"""What laws read of a finished run: its flows and links with what the scenario says of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ackclock._util.units import parse
from ackclock.catalogue import schema

if TYPE_CHECKING:
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["SeenFlow", "SeenLink", "TheoryMeasurements"]

_OF_SEGMENTS = {"rfc", "linux", "quic"}


@dataclass(frozen=True)
class SeenFlow:
    """A flow: its row, its route, and its control's parameters.

    Parameters
    ----------
    row
        Its row of the summary.
    links
        Names of the links of its route.
    propagation_s
        Smallest round trip [s].
    parameters
        Of its control; None if they are not known, as those of generated flows.
    source
        Kind and parameters of the source that sends in place of a transport; None if there is none.
    goes_on
        Whether it has no size, no pauses and no end.
    start_s
        When it starts [s].
    tcp
        Its settings of transport over those of the scenario, as given.
    """

    row: dict[str, Any]
    links: tuple[str, ...]
    propagation_s: float
    parameters: dict[str, Any] | None
    source: dict[str, Any] | None
    goes_on: bool
    start_s: float
    tcp: dict[str, Any]

    @property
    def is_endless(self) -> bool:
        """Whether a transport sends all the time."""
        return self.goes_on and self.source is None

    @property
    def name(self) -> str:
        """Its id."""
        return str(self.row["id"])

    @property
    def cc(self) -> str:
        """The registry's name of its control."""
        return schema.registry_name("cc", str(self.row["cc"]))


@dataclass(frozen=True)
class SeenLink:
    """A link: its row, and the flows whose data pass it.

    Parameters
    ----------
    row
        Its row of the summary.
    explained
        Its row of the explanation.
    flows
        Flows whose data pass it.
    acks
        Flows whose acknowledgements pass it.
    """

    row: dict[str, Any]
    explained: dict[str, Any]
    flows: list[SeenFlow] = field(default_factory=list)
    acks: list[SeenFlow] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Its id."""
        return str(self.row["id"])


class TheoryMeasurements:
    """A run as laws read it.

    Parameters
    ----------
    scenario
        What was run.
    run
        What came out.
    """

    def __init__(self, scenario: Scenario, run: Run) -> None:
        self.scenario = scenario
        self.run = run
        self.explained: dict[str, Any] = scenario.explain().data
        self.data: dict[str, Any] = scenario.resolve_files().data

    @property
    def is_of_segments(self) -> bool:
        """Whether the era's rules count segments, as RFCs do; in earlier ones they count ACKs."""
        return self.run.summary["era"] in _OF_SEGMENTS

    def number(self, flow: SeenFlow, path: str, kind: str) -> float:
        """A setting of a flow's transport in SI: its own, the scenario's, or the era's default.

        Parameters
        ----------
        flow
            The flow.
        path
            Key of `tcp`, as ``mss``.
        kind
            Quantity for units, as ``size`` or ``duration``; empty for a count with its unit.

        Returns
        -------
        float
            Infinite if it is unlimited.
        """
        setting = flow.tcp.get(path, self.data.get("tcp", {}).get(path))
        if setting is None:
            rows = self.explained["defaults"]
            setting = next((row["value"] for row in rows if row["path"] == f"tcp.{path}"), None)
        if setting == "unlimited" or setting is None:
            return float("inf")
        return parse(setting, kind) if kind else float(str(setting).split()[0])

    def mss_bytes(self, flow: SeenFlow) -> float:
        """Payload of a flow's segment [B].

        Parameters
        ----------
        flow
            The flow.
        """
        return self.number(flow, "mss", "size")

    def packet_bytes(self, flow: SeenFlow) -> float:
        """A flow's segment with its header [B].

        Parameters
        ----------
        flow
            The flow.
        """
        return self.mss_bytes(flow) + self.number(flow, "header", "size")

    def packet_rate(self, link: SeenLink) -> float | None:
        """Rate of a link in packets of its flows [packets/s]; None if these differ in size.

        Parameters
        ----------
        link
            The link.
        """
        sizes = {self.packet_bytes(flow) for flow in link.flows}
        return float(link.row["rate_bps"]) / (8 * sizes.pop()) if len(sizes) == 1 else None

    @cached_property
    def flows(self) -> list[SeenFlow]:
        """All flows, in order."""
        flows = []
        specs = self._specs()
        rows = {row["id"]: row for row in self.run.summary["flows"]}
        for number, explained in enumerate(self.explained["flows"]):
            # The constant-rate flow of an environment is no flow of the summary.
            row = rows.get(explained["id"], {"id": explained["id"], "cc": explained["cc"]})
            spec = specs[number] if number < len(specs) else {}
            route = explained["route"]
            cc = spec.get("cc", explained["cc"])
            goes_on = not ({"size", "every", "stop"} & spec.keys()) and bool(spec)
            flows.append(
                SeenFlow(
                    row,
                    tuple(f"{a}->{b}" for a, b in pairwise(route)),
                    float(explained["rtt_s"]),
                    _parameters("cc", cc) if spec and "source" not in spec else None,
                    _parameters("source", spec["source"]) if "source" in spec else None,
                    goes_on,
                    float(explained["start_s"]),
                    spec.get("tcp", {}),
                )
            )
        return flows

    @cached_property
    def links(self) -> list[SeenLink]:
        """All links, in order."""
        rows = zip(self.run.summary["links"], self.explained["links"], strict=True)
        links = {row["id"]: SeenLink(row, explained) for row, explained in rows}
        for flow in self.flows:
            for name in flow.links:
                a, b = name.split("->")
                if name in links:
                    links[name].flows.append(flow)
                if (back := f"{b}->{a}") in links:
                    links[back].acks.append(flow)
        return list(links.values())

    def alone(self, flow: SeenFlow) -> SeenLink | None:
        """The narrowest link of a flow that no other flow passes in either direction.

        There is none where packets of the flow wait or are lost on a link that it shares: other
        flows then decide its rate.

        Parameters
        ----------
        flow
            The flow.
        """
        mine = [link for link in self.links if link.name in flow.links]
        narrow = min(mine, key=lambda link: float(link.row["rate_bps"]), default=None)
        if narrow is None or len(narrow.flows) > 1 or narrow.acks:
            return None
        if any(link.explained["varies"] for link in mine):
            return None
        shared = (link for link in mine if len(link.flows) > 1)
        if any(link.row["drops"] or link.row["queue_mean_packets"] >= 1 for link in shared):
            return None
        return narrow

    def queue(self, link: SeenLink) -> dict[str, Any] | None:
        """Kind and parameters of a link's queue discipline; None if they are not those of `net`.

        Parameters
        ----------
        link
            The link.
        """
        qdisc = self.data.get("net", {}).get("qdisc")
        if qdisc is None:
            return None
        parameters = _parameters("qdisc", qdisc)
        return parameters if parameters["kind"] == link.row["qdisc"] else None

    def _specs(self) -> list[dict[str, Any]]:
        """The table of each flow that the scenario names one by one, copies counted."""
        every: list[dict[str, Any]] = []
        for spec in self.data.get("flows", []):
            every += [spec] * int(spec.get("count", 1))
        return every


def _parameters(role: str, kind: Any) -> dict[str, Any]:
    """The parameters of an algorithm with its defaults."""
    given = {"kind": kind} if isinstance(kind, str) else dict(kind)
    entry = schema.entry(role, given["kind"])
    properties = entry["params"].get("properties", {}) if entry else {}
    defaults = {key: rules.get("default") for key, rules in properties.items()}
    return {**defaults, **given, "kind": schema.registry_name(role, given["kind"])}
