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

__all__ = ["Seen", "SeenFlow", "SeenLink"]


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
    is_endless
        Whether it sends all the time: no size, no pauses, not from a source.
    start_s
        When it starts [s].
    """

    row: dict[str, Any]
    links: tuple[str, ...]
    propagation_s: float
    parameters: dict[str, Any] | None
    is_endless: bool
    start_s: float

    @property
    def name(self) -> str:
        """Its id."""
        return str(self.row["id"])

    @property
    def cc(self) -> str:
        """Name of its control."""
        return str(self.row["cc"])


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


class Seen:
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
        self.data: dict[str, Any] = scenario.expanded().data

    def setting(self, path: str) -> Any:
        """A value of the scenario's `tcp` in SI, or the era's default.

        Parameters
        ----------
        path
            Key of `tcp`, as ``mss``.
        """
        given = self.data.get("tcp", {}).get(path)
        if given is None:
            rows = self.explained["defaults"]
            given = next((row["value"] for row in rows if row["path"] == f"tcp.{path}"), None)
        return given

    def number(self, path: str, kind: str) -> float:
        """A number of the scenario's `tcp` in SI; infinite if it is unlimited.

        Parameters
        ----------
        path
            Key of `tcp`.
        kind
            Quantity for units, as ``size`` or ``duration``; empty for a count with its unit.
        """
        given = self.setting(path)
        if given == "unlimited" or given is None:
            return float("inf")
        return parse(given, kind) if kind else float(str(given).split()[0])

    @property
    def mss_bytes(self) -> float:
        """Payload of a segment [B]."""
        return self.number("mss", "size")

    @property
    def packet_bytes(self) -> float:
        """Segment with its header [B]."""
        return self.mss_bytes + self.number("header", "size")

    @cached_property
    def flows(self) -> list[SeenFlow]:
        """All flows, in order."""
        made = []
        specs = self._specs()
        for at, (row, explained) in enumerate(
            zip(self.run.summary["flows"], self.explained["flows"], strict=True)
        ):
            spec = specs[at] if at < len(specs) else {}
            route = explained["route"]
            cc = spec.get("cc", explained["cc"])
            busy = not ({"size", "every", "stop", "source"} & spec.keys()) and bool(spec)
            made.append(
                SeenFlow(
                    row,
                    tuple(f"{a}->{b}" for a, b in pairwise(route)),
                    float(explained["rtt_s"]),
                    _parameters(cc) if spec and "source" not in spec else None,
                    busy,
                    float(explained["start_s"]),
                )
            )
        return made

    @cached_property
    def links(self) -> list[SeenLink]:
        """All links, in order."""
        rows = zip(self.run.summary["links"], self.explained["links"], strict=True)
        found = {row["id"]: SeenLink(row, explained) for row, explained in rows}
        for flow in self.flows:
            for name in flow.links:
                a, b = name.split("->")
                if name in found:
                    found[name].flows.append(flow)
                if (back := f"{b}->{a}") in found:
                    found[back].acks.append(flow)
        return list(found.values())

    def alone(self, flow: SeenFlow) -> SeenLink | None:
        """The narrowest link of a flow that no other flow passes in either direction.

        Parameters
        ----------
        flow
            The flow.
        """
        mine = [link for link in self.links if flow in link.flows]
        narrow = min(mine, key=lambda link: float(link.row["rate_bps"]), default=None)
        if narrow is None or len(narrow.flows) > 1 or narrow.acks:
            return None
        if narrow.explained["varies"] or any(link.explained["varies"] for link in mine):
            return None
        return narrow

    def _specs(self) -> list[dict[str, Any]]:
        """The table of each flow that the scenario names one by one, copies counted."""
        every: list[dict[str, Any]] = []
        for spec in self.data.get("flows", []):
            every += [spec] * int(spec.get("count", 1))
        return every


def _parameters(cc: Any) -> dict[str, Any]:
    """The parameters of a control with its defaults."""
    given = {"kind": cc} if isinstance(cc, str) else dict(cc)
    entry = schema.entry("cc", given["kind"])
    properties = entry["params"].get("properties", {}) if entry else {}
    defaults = {key: rules.get("default") for key, rules in properties.items()}
    return {**defaults, **given}
