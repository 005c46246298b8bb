"""The situations of the late-comer audit: who starts when beside whom, over which links."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ackclock.experiments.sweeps import Sweep

__all__ = [
    "RATE_MBPS",
    "SITUATIONS",
    "TIERS",
    "LateComerSituation",
    "LateComerTier",
    "documents",
    "sweep_of",
]

Data = dict[str, Any]

RATE_MBPS = 50
SPACING_S = 0.0006
"""Between starts of flows that are to find the queue empty: more than two packets take."""


@dataclass(frozen=True)
class LateComerTier:
    """How much is run."""

    sequential: tuple[int, ...]
    joined: tuple[int, ...]
    rtts_ms: tuple[int, ...]
    buffers: tuple[str, ...]
    starts: int
    gap_s: float


TIERS = {
    "fast": LateComerTier((2, 4), (1, 4), (20, 80), ("0.5 bdp", "2 bdp", "4000 pkt"), 2, 20.0),
    "full": LateComerTier(
        (2, 3, 5, 9),
        (1, 2, 4, 8, 16),
        (10, 20, 80, 160),
        ("0.25 bdp", "0.5 bdp", "1 bdp", "2 bdp", "8000 pkt"),
        5,
        30.0,
    ),
}
"""Fast: about a minute; full: an hour."""


@dataclass(frozen=True)
class LateComerSituation:
    """One way in which flows come and go."""

    key: str
    title: str
    question: str


SITUATIONS = {
    s.key: s
    for s in (
        LateComerSituation(
            "sequential",
            "one after another",
            "the newest over the oldest of n flows, each started after the one before is at rest",
        ),
        LateComerSituation(
            "joining", "one joins n", "a late-comer over the mean of n flows that began together"
        ),
        LateComerSituation(
            "departures",
            "after departures",
            "the newer over the older of the two that stay when the oldest of four have left",
        ),
        LateComerSituation(
            "loss-based", "beside CUBIC", "a late-comer over an earlier flow, beside one of CUBIC"
        ),
        LateComerSituation(
            "noise", "beside noise", "a late-comer over four others, beside bursts of 20 % load"
        ),
    )
}
"""Situations in the order of the page."""


def documents(
    value: Any, tier: LateComerTier, settings: Mapping[str, Any] | None = None
) -> Iterator[tuple[str, int, Data]]:
    """Make the scenarios: situation, number of flows, and what its sweep starts from.

    Parameters
    ----------
    value
        The control, as a scenario says it.
    tier
        How much.
    settings
        What its flows need beside it, as keys of a flow.

    Yields
    ------
    tuple
        Key of the situation, number n, document. The flow ``new`` is the one looked at.
    """
    gap = tier.gap_s

    def flow(**keys: Any) -> Data:
        return {"cc": value, **(settings or {}), **keys}

    def make_document(pairs: int, flows: list[Data], last: float) -> Data:
        net = {"kind": "dumbbell", "pairs": pairs, "rate": f"{RATE_MBPS} Mbps", "rtt": "20 ms"}
        return {
            "net": net,
            "flows": flows,
            "duration": last + 2 * gap,
            "warmup": last + gap,
            "seed": 1,
            "era": "rfc",
            # Halves of what is measured show whether the flows were at rest.
            "record": {"tables": ["flow_samples"], "interval": gap / 2},
        }

    def together(n: int) -> Data:
        stagger = {"count": n, "stagger": SPACING_S} if n > 1 else {}
        return flow(id="old", pair=0, **stagger)

    for n in tier.sequential:
        flows = [
            flow(id="new" if i == n - 1 else f"old{i}", pair=i, start=i * gap) for i in range(n)
        ]
        yield "sequential", n, make_document(n, flows, gap * (n - 1))
    for n in tier.joined:
        flows = [together(n), flow(id="new", pair=n, start=gap)]
        yield "joining", n, make_document(n + 1, flows, gap)
    leaving = [
        flow(id=name, pair=i, start=i * gap, **({"stop": (4 + i) * gap} if i < 2 else {}))
        for i, name in enumerate(("gone0", "gone1", "old", "new"))
    ]
    yield "departures", 4, make_document(4, leaving, 6 * gap)
    beside = [
        flow(id="old", pair=0, start=0.5),
        {"cc": "cubic", "id": "cubic", "pair": 1},
        flow(id="new", pair=2, start=gap),
    ]
    yield "loss-based", 1, make_document(3, beside, gap)
    source = {"kind": "pareto-on-off", "rate": "2 Mbps", "packet": 1000, "burst": "100 ms"}
    bursts = {**source, "idle": "100 ms", "shape": 1.5}
    noisy = [
        together(4),
        flow(id="new", pair=4, start=gap),
        {"id": "noise", "src": "s5", "dst": "d5", "count": 10, "source": bursts},
    ]
    yield "noise", 4, make_document(6, noisy, gap)


def sweep_of(document: Data, tier: LateComerTier, name: str) -> Sweep:
    """Make the sweep of a situation over round trips, buffers and starts of the late-comer.

    Parameters
    ----------
    document
        One of `documents`.
    tier
        How much.
    name
        Of the sweep.
    """
    from ackclock.experiments.grid import Axis
    from ackclock.experiments.sweeps import sweep

    at = next(i for i, flow in enumerate(document["flows"]) if flow.get("id") == "new")
    first = float(document["flows"][at]["start"])
    starts = {f"{i}": first + 0.137 * i for i in range(tier.starts)}
    return sweep(
        document,
        {
            "rtt_ms": Axis("net.rtt", {f"{ms}": f"{ms} ms" for ms in tier.rtts_ms}),
            "buffer": Axis("net.buffer", list(tier.buffers)),
            "start": Axis(f"flows[{at}].start", starts),
        },
        name=name,
    )
