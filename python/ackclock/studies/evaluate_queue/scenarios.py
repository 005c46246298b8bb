"""What an evaluation of a queue runs: the scenarios of RFC 7928, at one bottleneck.

**Source**: Kuhn, Natarajan, Khademi & Ros, "Characterization Guidelines for Active Queue Management
(AQM)", RFC 7928, sections 3 and 5 to 8. The RFC leaves rates, numbers of flows and bursts open;
those here are in the reference of the command.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.studies import algorithm_argument
from ackclock.studies.algorithm_argument import Subject

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["SCENARIOS", "TIERS", "QueueTier", "Scene", "document", "queues", "read_queue"]

Data = dict[str, Any]

RATE_BPS = 20e6
DROP_TAIL = "drop tail"
BOTTLENECK = "r0->r1"
RENO: Data = {"cc": "aimd", "recovery": "sack", "start_jitter": "1 s"}


@dataclass(frozen=True)
class QueueTier:
    """How much is run."""

    rivals: tuple[str, ...] | None
    duration_s: float
    reps: int


TIERS = {
    "fast": QueueTier(("red", "codel", "fq-codel", "pie"), 30, 5),
    "full": QueueTier(None, 120, 10),
}
"""Fast: four rivals, half a minute of simulated time; full: every discipline of the registry."""


@dataclass(frozen=True)
class Scene:
    """A situation: what it is, what the RFC calls it, and how it changes the base scenario.

    Parameters
    ----------
    title
        In words.
    section
        Of RFC 7928.
    change
        From the duration [s] to the changes by path.
    """

    title: str
    section: str
    change: Callable[[float], Data]


def _bulk(count: int, **more: Any) -> Data:
    return {"flows": [{"id": "tcp", "pair": 0, "count": count, **RENO, **more}], "net.pairs": count}


def _unresponsive(_: float) -> Data:
    cbr = {"kind": "cbr", "rate": "10 Mbps", "packet": 1500, "jitter": 0.5}
    flows = [{"id": "tcp", "pair": 0, "count": 6, **RENO}, {"id": "udp", "pair": 6, "source": cbr}]
    return {"flows": flows, "net.pairs": 7}


def _round_trips(_: float) -> Data:
    made = _bulk(8)
    # The network has either one round trip for all or a list.
    return {**made, "net.rtt": None, "net.rtts": ["20 ms"] * 4 + ["200 ms"] * 4}


def _bursts(duration: float) -> Data:
    # 4 ms at 100 Mbit/s, once a second: 33 packets of 1500 bytes, which the link needs 20 ms for.
    periods = [{"on": at + 0.5, "off": at + 0.504} for at in range(int(duration))]
    burst = {"kind": "cbr", "rate": "100 Mbps", "packet": 1500, "periods": periods}
    flows = [
        {"id": "tcp", "pair": 0, "count": 4, **RENO},
        {"id": "burst", "pair": 4, "source": burst},
    ]
    return {"flows": flows, "net.pairs": 5}


def _waves(duration: float) -> Data:
    flows: list[Data] = [{"id": "tcp", "pair": 0, "count": 4, **RENO}]
    for number, (start, stop) in enumerate(((0.3, 0.9), (0.5, 0.7))):
        span = {"start": start * duration, "stop": stop * duration}
        flows.append({"id": f"wave{number}x", "pair": 4 + 16 * number, "count": 16, **RENO, **span})
    return {"flows": flows, "net.pairs": 36}


def _capacity(duration: float) -> Data:
    steps = [
        {"at": duration / 3, "rate": RATE_BPS / 4},
        {"at": 2 * duration / 3, "rate": RATE_BPS},
    ]
    return {**_bulk(8), "net.schedule": {"steps": steps}}


SCENARIOS: dict[str, Scene] = {
    "friendly": Scene("8 TCP-friendly flows", "5.1", lambda _: _bulk(8)),
    "aggressive": Scene("8 flows of CUBIC", "5.2", lambda _: _bulk(8, cc="cubic")),
    "unresponsive": Scene("6 flows and a stream of half the link", "5.3", _unresponsive),
    "rtt": Scene("4 flows of 20 ms, 4 of 200 ms", "6", _round_trips),
    "bursts": Scene("4 flows and bursts of 33 packets", "7", _bursts),
    "mild": Scene("4 flows", "8.2.2", lambda _: _bulk(4)),
    "medium": Scene("16 flows", "8.2.3", lambda _: _bulk(16)),
    "heavy": Scene("48 flows", "8.2.4", lambda _: _bulk(48)),
    "load": Scene("4 flows, then 20, then 36, and back", "8.2.5", _waves),
    "capacity": Scene("8 flows; the link falls to a quarter and returns", "8.2.6", _capacity),
}
"""Situations by name."""


def document(value: Any, scene: Scene, tier: QueueTier, *, seed: int) -> Data:
    """Make a scenario.

    Parameters
    ----------
    value
        The discipline, as a scenario says it.
    scene
        The situation.
    tier
        How much.
    seed
        Of the first replicate.
    """
    net: Data = {"kind": "dumbbell", "pairs": 1, "rate": RATE_BPS, "rtt": "100 ms"}
    net |= {"buffer": "2 bdp", "qdisc": value}
    scenario_data: Data = {"net": net, "duration": tier.duration_s, "warmup": 5.0, "seed": seed}
    for path, change in scene.change(tier.duration_s).items():
        parent_path, _, key = path.rpartition(".")
        holder = scenario_data[parent_path] if parent_path else scenario_data
        if change is None:
            holder.pop(key)
        else:
            holder[key] = change
    return scenario_data


def read_queue(text: str, folder: Path) -> Subject:
    """Read and check the queue discipline under study.

    Parameters
    ----------
    text
        Registry name, ``file.py:Class``, or a table as ``{kind = "red", max_p = 0.2}``.
    folder
        What files are relative to.

    Raises
    ------
    ScenarioError
        It is no queue discipline.
    """
    scene = SCENARIOS["friendly"]
    subject = algorithm_argument.read_subject(
        text, folder, "qdisc", lambda value: document(value, scene, TIERS["fast"], seed=1)
    )
    label = subject.label
    if isinstance(subject.value, dict) and len(subject.value) > 1:
        label += " (under study)"
    return Subject(DROP_TAIL if label == "fifo" else label, subject.value)


def queues(subject: Subject, tier: QueueTier) -> dict[str, Any]:
    """The disciplines that are compared, the one under study first.

    Parameters
    ----------
    subject
        The one under study.
    tier
        How much.
    """
    from ackclock.catalogue import schema

    other_queues = tier.rivals or tuple(schema.catalogue()["qdisc"])
    named = {DROP_TAIL: "fifo", **{name: name for name in other_queues if name != "fifo"}}
    rivals = {label: value for label, value in named.items() if label != subject.label}
    return {subject.label: subject.value, **rivals}
