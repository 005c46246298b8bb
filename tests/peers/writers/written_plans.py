"""Compiled scenarios built by hand: two hosts, a link each way, flows between them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ackclock.peers.plan import Algorithm, Flow, SimulatorLink, SimulatorPlan

TCP: dict[str, Any] = {
    "mss": 1000, "header": 40, "ack_size": 40, "timestamps": False, "syn": True,
    "receiver_window": 500, "initial_window": 2, "min_rto": 0.2, "max_rto": 60, "initial_rto": 1,
    "limited_transmit": True, "max_burst": 0, "ecn": False, "boot": 0.25, "tick": 0.01,
    "initial_ssthresh": None, "delayed_ack": 1, "delayed_ack_timeout": 0.1, "quick_acks": 0,
    "sack_delay": 0, "optimistic_acks": None, "ecn_echo": True, "out_of_profile": False,
    "first_priority": 0, "aqt": False, "trimming": False, "window_autotuning": False,
    "accecn": False, "dsack": False, "eifel": False, "frto": False, "offload": False,
}  # fmt: skip


def algorithm(kind: str, **parameters: Any) -> Algorithm:
    """An algorithm with what is stated."""
    return Algorithm(kind, parameters)


def link(number: int, source: int = 0, target: int = 1, **more: Any) -> SimulatorLink:
    """A link of 8 Mbit/s and 5 ms with room for 20 packets."""
    usual: dict[str, Any] = {
        "id": f"l{number}", "rate_bps": 8e6, "delay_s": 0.005, "buffer_packets": 20,
        "buffer_bytes": None, "mean_packet": 1040, "qdisc": algorithm("fifo"),
        "path": f"links[{number}].qdisc", "loss": 0.0, "losses": (), "drops": (), "steps": (),
        "impaired": False, "fails": False, "opportunities": False,
    }  # fmt: skip
    return SimulatorLink(number=number, source=source, target=target, **(usual | more))


def flow(number: int = 0, *, tcp: dict[str, Any] | None = None, **more: Any) -> Flow:
    """A flow of TCP from node 0 to node 1; `tcp` has what differs of its settings."""
    usual: dict[str, Any] = {
        "id": f"f{number}", "path": f"flows[{number}]", "source": 0, "target": 1, "start_s": 0.5,
        "stop_s": None, "size_bytes": None, "supplied": False, "dscp": 0, "kind": "tcp",
        "sender": {}, "ns2": {}, "route": (0,), "ack_route": (1,), "moves": False,
    }  # fmt: skip
    sender = {
        "cc": algorithm("aimd"), "recovery": algorithm("sack"), "slow_start": algorithm("standard"),
    }  # fmt: skip
    sender |= more.pop("sender", {})
    return Flow(number=number, tcp=TCP | (tcp or {}), **(usual | more | {"sender": sender}))


def source(number: int = 0, kind: str = "cbr", *, parameters: Any = None, **more: Any) -> Flow:
    """A source without TCP."""
    made = flow(number, kind="source", **more)
    return replace(made, sender={"source": Algorithm(kind, parameters or {})})


def plan(*flows: Flow, links: Any = None, **more: Any) -> SimulatorPlan:
    """A plan of flows over two links, there and back."""
    usual: dict[str, Any] = {
        "name": "by hand", "era": "ns2", "duration_s": 10, "warmup_s": 2, "seed": 7,
        "classes": "stream", "nodes": ("a", "b"), "groups": 0, "connections": False, "waits": False,
        "switches": False, "watched": None,
    }  # fmt: skip
    links = (link(0), link(1, 1, 0)) if links is None else tuple(links)
    return SimulatorPlan(flows=flows or (flow(),), links=links, **(usual | more))
