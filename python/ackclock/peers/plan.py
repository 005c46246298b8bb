"""The compiled scenario as plain data: what writers for other simulators start from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ackclock.scenario.scenario import Scenario

__all__ = ["Algorithm", "Flow", "SimulatorLink", "SimulatorPlan", "plan_of"]


@dataclass(frozen=True)
class Algorithm:
    """An algorithm with the parameters that the scenario gives.

    Parameters
    ----------
    kind
        Its name in the registry.
    parameters
        Parameters by name.
    """

    kind: str
    parameters: dict[str, Any]

    @classmethod
    def of(cls, spec: str | dict[str, Any]) -> Algorithm:
        """Read it as the core writes it.

        Parameters
        ----------
        spec
            A name, or a table with ``kind``.
        """
        if isinstance(spec, str):
            return cls(spec, {})
        return cls(spec["kind"], {key: value for key, value in spec.items() if key != "kind"})

    def number(self, key: str, default: float, quantity: str = "") -> float:
        """Take a parameter as a number of SI units.

        Parameters
        ----------
        key
            Its name.
        default
            What it is if it was left out.
        quantity
            The quantity, as ``rate``, ``size`` or ``duration``, if it may have a unit.
        """
        value = self.parameters.get(key)
        if value is None:
            return default
        if isinstance(value, str):
            from ackclock import _core

            return _core.quantity(value, quantity)
        return float(value)


@dataclass(frozen=True)
class SimulatorLink:
    """One direction of a link.

    Parameters
    ----------
    number
        Its place in the plan.
    id
        Its name.
    source, target
        Numbers of its nodes.
    rate_bps, delay_s
        Rate [bit/s] and propagation delay [s].
    buffer_packets, buffer_bytes
        Room for what waits; None: no limit.
    mean_packet
        Largest packet of the flows that use it [B].
    qdisc
        Its discipline.
    path
        Where the scenario names that.
    loss
        Ratio lost at random.
    losses
        Time [s] and ratio of each change of it.
    drops
        Numbers of arrivals to drop.
    steps
        Time [s] and rate [bit/s] of each change.
    impaired
        Whether its wire does more to packets.
    fails
        Whether it fails at times.
    opportunities
        Whether its rate is that of a trace of delivery opportunities.
    """

    number: int
    id: str
    source: int
    target: int
    rate_bps: float
    delay_s: float
    buffer_packets: int | None
    buffer_bytes: int | None
    mean_packet: int
    qdisc: Algorithm
    path: str
    loss: float
    losses: tuple[tuple[float, float], ...]
    drops: tuple[int, ...]
    steps: tuple[tuple[float, float], ...]
    impaired: bool
    fails: bool
    opportunities: bool

    @property
    def loses(self) -> bool:
        """Whether it ever loses at random."""
        return self.loss > 0 or any(ratio > 0 for _, ratio in self.losses)

    @property
    def base_path(self) -> str:
        """Where the scenario defines the link, as a path."""
        return self.path.rpartition(".")[0] or self.path


@dataclass(frozen=True)
class Flow:
    """One flow.

    Parameters
    ----------
    number
        Its place in the plan.
    id
        Its name.
    path
        Where the scenario defines it.
    source, target
        Numbers of its nodes.
    start_s, stop_s
        When it begins, and when it has nothing new to send [s].
    size_bytes
        Payload; None: endless.
    supplied
        Whether its application hands over data over time.
    dscp
        Code point.
    kind
        ``tcp``, ``quic``, ``source`` or ``branch``.
    sender
        Its algorithms by room: ``cc``, ``recovery``, ``slow_start``, or ``source``.
    ns2
        Variables of ns-2's agents that the scenario gives.
    tcp
        All settings of TCP.
    route, ack_route
        Numbers of the links that data and acknowledgements pass.
    moves
        Whether these change.
    has_credits
        Whether its receiver gives credit.
    """

    number: int
    id: str
    path: str
    source: int
    target: int
    start_s: float
    stop_s: float | None
    size_bytes: int | None
    supplied: bool
    dscp: int
    kind: str
    sender: dict[str, Algorithm]
    ns2: dict[str, Any]
    tcp: dict[str, Any]
    route: tuple[int, ...]
    ack_route: tuple[int, ...]
    moves: bool
    has_credits: bool = False

    @property
    def wire_bytes(self) -> int:
        """Size of a full data packet."""
        return int(self.tcp["mss"]) + int(self.tcp["header"])

    @property
    def control(self) -> str:
        """Name of what decides how much it sends."""
        return (self.sender.get("cc") or self.sender["source"]).kind


@dataclass(frozen=True)
class SimulatorPlan:
    """A compiled scenario.

    Parameters
    ----------
    name
        Of the scenario.
    era
        Whose defaults apply.
    duration_s, warmup_s
        End of the run, and of the time before measurement [s].
    seed
        Of the run.
    classes
        What fair queues keep apart.
    nodes
        Names.
    links
        Directions of links.
    flows
        Flows; those that generators make are among them.
    groups
        Number of multicast groups.
    connections
        Whether flows are subflows of connections over several paths.
    waits
        Whether flows wait for others.
    switches
        Whether switches have a memory or flow control.
    watched
        Names of links whose rows the scenario records; None: all.
    """

    name: str
    era: str
    duration_s: float
    warmup_s: float
    seed: int
    classes: str
    nodes: tuple[str, ...]
    links: tuple[SimulatorLink, ...]
    flows: tuple[Flow, ...]
    groups: int
    connections: bool
    waits: bool
    switches: bool
    watched: tuple[str, ...] | None

    @property
    def is_of_ns2(self) -> bool:
        """Whether flows and queues are those of ns-2."""
        return self.era in ("1999", "2002", "2007", "ns2")

    @cached_property
    def used(self) -> frozenset[int]:
        """Numbers of the links that packets pass."""
        return frozenset(i for flow in self.flows for i in (*flow.route, *flow.ack_route))

    @cached_property
    def bottlenecks(self) -> tuple[SimulatorLink, ...]:
        """The links that are compared: where packets may be lost, and each flow's narrowest.

        If the scenario names links to record, those.
        """
        narrow = {
            min(flow.route, key=lambda i: self.links[i].rate_bps)
            for flow in self.flows
            if flow.route
        }
        return tuple(
            link
            for link in self.links
            if link.number in self.used and self._is_compared(link, narrow)
        )

    def _is_compared(self, link: SimulatorLink, narrow: set[int]) -> bool:
        if self.watched is not None:
            return link.id in self.watched
        limited = link.buffer_packets is not None or link.buffer_bytes is not None
        return limited or link.number in narrow


def plan_of(scenario: Scenario) -> SimulatorPlan:
    """Compile a scenario.

    Parameters
    ----------
    scenario
        The scenario.

    Raises
    ------
    ScenarioError
        With every problem at once.
    """
    from ackclock import _core

    scenario.check()
    data = json.loads(_core.plan(scenario.core_json()))
    watched = scenario.data.get("record", {}).get("links")
    return SimulatorPlan(
        name=scenario.name or "scenario",
        era=data["era"],
        duration_s=data["duration_s"],
        warmup_s=data["warmup_s"],
        seed=data["seed"],
        classes=data["classes"],
        nodes=tuple(data["nodes"]),
        links=tuple(_link(i, link) for i, link in enumerate(data["links"])),
        flows=tuple(_flow(i, flow) for i, flow in enumerate(data["flows"])),
        groups=data["groups"],
        connections=data["connections"],
        waits=data["waits"],
        switches=data["switches"],
        watched=None if watched is None else tuple(watched),
    )


def _link(number: int, data: dict[str, Any]) -> SimulatorLink:
    steps = data["steps"] or ()
    return SimulatorLink(
        number=number,
        id=data["id"],
        source=data["from"],
        target=data["to"],
        rate_bps=data["rate_bps"],
        delay_s=data["delay_s"],
        buffer_packets=data["buffer_packets"],
        buffer_bytes=data["buffer_bytes"],
        mean_packet=data["mean_packet"],
        qdisc=Algorithm.of(data["qdisc"]),
        path=data["qdisc_path"],
        loss=data["loss"],
        losses=tuple((float(time_s), float(ratio)) for time_s, ratio in data["losses"]),
        drops=tuple(data["drop"]),
        steps=tuple((float(step["at"]), float(step["rate"])) for step in steps),
        impaired=bool(data["impairments"]),
        fails=data["fails"],
        opportunities=data["opportunities"],
    )


def _flow(number: int, data: dict[str, Any]) -> Flow:
    sender = data["sender"]
    rooms = ("cc", "recovery", "slow_start", "source")
    return Flow(
        number=number,
        id=data["id"],
        path=data["path"],
        source=data["src"],
        target=data["dst"],
        start_s=data["start_s"],
        stop_s=data["stop_s"],
        size_bytes=data["size_bytes"],
        supplied=data["supplied"],
        dscp=data["dscp"],
        kind=sender["kind"],
        sender={room: Algorithm.of(sender[room]) for room in rooms if sender.get(room)},
        ns2=sender.get("ns2") or {},
        tcp=data["tcp"],
        route=tuple(data["route"]),
        ack_route=tuple(data["ack_route"]),
        moves=data["moves"],
        has_credits=sender.get("credits") is not None,
    )
