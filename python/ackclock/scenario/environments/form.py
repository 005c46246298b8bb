"""The form of ``[net] kind = "environment"``: keys, units, defaults, one sentence each.

The defaults that the paper does not give are defined here only. `Settings` is the table with
all of them filled in.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ackclock._util.units import parse
from ackclock.catalogue import schema
from ackclock.catalogue.network_kinds import quantity
from ackclock.scenario.environments.table import ENVIRONMENTS, FREE, Environment
from ackclock.scenario.networks.link_defaults import LinkOptions

__all__ = ["RULES", "WAYS", "Settings", "settings"]

Data = dict[str, Any]

WAYS = ("cbr", "cbr-flows", "link")
"""How available bandwidth is made: by one source whose rate varies, by a varying number of sources
of fixed rate, or by the link's own rate."""


def _number(text: str, default: float, **bounds: float) -> Data:
    return {"type": "number", "default": default, "description": text, **bounds}


def _count(text: str, default: int | None, least: int = 1) -> Data:
    rules = {"type": "integer", "minimum": least, "description": text, "format": "uint32"}
    return rules if default is None else {**rules, "default": default}


TEXT = (
    "Test flows whose available bandwidth varies, as in Akella et al. (2002): pairs 0 to flows - 1"
    " share a bottleneck with cross traffic that the environment makes."
)

RULES: Data = {
    "name": {
        "enum": [*ENVIRONMENTS, FREE.name],
        "description": "Environment of Table 2, or steps for a user-defined pattern.",
    },
    "flows": _count("Number of test flows n.", 10),
    "by": {
        "enum": [*WAYS],
        "description": "How bandwidth is taken away: cbr, one source of varying rate; cbr-flows, a"
        " varying number of sources of fixed rate; link, the link's own rate varies."
        " Left out: cbr-flows under fair queueing, else cbr.",
    },
    "topology": {
        "enum": ["dumbbell", "ring"],
        "default": "dumbbell",
        "description": "ring: every test flow crosses two of `flows` bottlenecks, each shared with"
        " one other test flow and separate cross traffic (by cbr).",
    },
    "capacity": quantity(
        "rate",
        "bit/s",
        "Capacity C of the bottleneck. Left out: flows times B0, which is the largest step under"
        " the name steps and 10 Mbit/s under the names with real.",
    ),
    "base": quantity("rate", "bit/s", "B0 per test flow. Left out: as in Table 2."),
    "step": quantity("duration", "s", "Time between two changes of the bandwidth.", "5 s"),
    "floor": _number(
        "Least bandwidth of the random environments as a part of B0.", 0.1, minimum=0.001, maximum=1
    ),
    "steps": {
        "type": "array",
        "items": {
            "type": "object",
            "additionalProperties": False,
            "properties": {
                "at": {
                    **quantity("duration", "s", "From this time on."),
                    "minimum": 0,
                    "x-bare": True,
                },
                "rate": {**quantity("rate", "bit/s", "This rate (0 = outage)."), "minimum": 0},
            },
            "required": ["at", "rate"],
            "description": "One step of a rate schedule.",
        },
        "description": "With name steps: available bandwidth per test flow from given times on,"
        " the first at 0.",
    },
    "period": quantity("duration", "s", "With name steps: they repeat after this."),
    "rtt": quantity("duration", "s", "Round-trip propagation time.", "120 ms"),
    "rtt_spread": _number(
        "Each test flow's round trip is drawn uniformly within this part about rtt.",
        0.05,
        minimum=0,
        maximum=0.5,
    ),
    "buffer": {
        "x-quantity": "buffer size",
        "default": LinkOptions.buffer,
        "description": "Buffer of the bottleneck.",
    },
    "qdisc": {
        "$ref": "#/$defs/Spec",
        "x-room": "qdisc",
        "default": "fifo",
        "description": "Queue discipline of the bottleneck.",
    },
    "packet": quantity("size", "B", "Packets of constant-rate sources on the wire.", "1000 B"),
    "jitter": _number(
        "Of constant-rate sources, as of cbr; 0 invites phase effects.", 1.0, minimum=0, maximum=1
    ),
    "margin": _number(
        "With cbr-flows: each source sends this many times what fair queueing can leave it.",
        1.2,
        minimum=1,
        maximum=10,
    ),
    "interval_low": quantity(
        "duration", "s", "Mean interval of transfers of real-cons-low, and of real-sq.", "30 ms"
    ),
    "interval_high": quantity(
        "duration", "s", "Mean interval of transfers of real-cons-high, and of real-sq.", "10 ms"
    ),
    "transfer_size": quantity("size", "B", "Mean of the transfers' Pareto sizes.", "50 kB"),
    "transfer_shape": _number(
        "Shape of the transfers' Pareto sizes.", 1.5, exclusiveMinimum=1, maximum=10
    ),
}
"""JSON Schema of each key but ``kind``."""


@dataclass(frozen=True)
class Settings:
    """An environment with nothing left open; see `RULES` for each field."""

    environment: Environment
    flows: int
    by: str
    topology: str
    capacity_bps: float
    base_bps: float
    step_s: float
    floor: float
    steps: tuple[tuple[float, float], ...]
    period_s: float | None
    rtt_s: float
    rtt_spread: float
    buffer: str
    qdisc: Any
    packet_bytes: int
    jitter: float
    margin: float
    interval_low_s: float
    interval_high_s: float
    transfer_bytes: float
    transfer_shape: float

    @property
    def is_fair(self) -> bool:
        """Whether the bottleneck keeps flows apart."""
        return is_fair(self.qdisc)


def kind(qdisc: Any) -> str:
    """Name of a queue discipline given as a name or a table.

    Parameters
    ----------
    qdisc
        As a scenario has it.
    """
    return str(qdisc.get("kind", "")) if isinstance(qdisc, dict) else str(qdisc)


def fair_disciplines() -> list[str]:
    """Names of the disciplines that keep flows apart and give each its share."""
    entries = schema.catalogue()["qdisc"].values()
    return [entry["name"] for entry in entries if "fair" in entry["facts"]]


def is_fair(qdisc: Any) -> bool:
    """Whether a queue discipline keeps flows apart and gives each its share.

    Parameters
    ----------
    qdisc
        As a scenario has it.
    """
    return kind(qdisc) in fair_disciplines()


def settings(net: Data) -> Settings:
    """Fill in what is left out.

    Parameters
    ----------
    net
        The table ``[net]``, right in form.
    """

    def value(key: str) -> Any:
        return net.get(key, RULES[key].get("default"))

    def parse_value(key: str) -> float:
        return parse(value(key), RULES[key]["x-quantity"])

    environment = ENVIRONMENTS.get(net["name"], FREE)
    flows = int(value("flows"))
    qdisc = value("qdisc")
    default = "cbr-flows" if is_fair(qdisc) else "cbr"
    steps = tuple(
        (parse(step["at"], "duration"), parse(step["rate"], "rate"))
        for step in net.get("steps", ())
    )
    base = parse(net["base"], "rate") if "base" in net else environment.base_bps
    if environment.rule == "steps" and steps:
        base = max(rate for _, rate in steps)
    capacity = parse(net["capacity"], "rate") if "capacity" in net else flows * base
    return Settings(
        environment=environment,
        flows=flows,
        by=str(net.get("by", default)),
        topology=str(value("topology")),
        capacity_bps=capacity,
        base_bps=base,
        step_s=parse_value("step"),
        floor=float(value("floor")),
        steps=steps,
        period_s=parse(net["period"], "duration") if "period" in net else None,
        rtt_s=parse_value("rtt"),
        rtt_spread=float(value("rtt_spread")),
        buffer=str(value("buffer")),
        qdisc=qdisc,
        packet_bytes=round(parse_value("packet")),
        jitter=float(value("jitter")),
        margin=float(value("margin")),
        interval_low_s=parse_value("interval_low"),
        interval_high_s=parse_value("interval_high"),
        transfer_bytes=parse_value("transfer_size"),
        transfer_shape=float(value("transfer_shape")),
    )
