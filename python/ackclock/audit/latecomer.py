"""What a flow gets that starts after others of its kind: five situations, measured.

A delay-based control that takes the smallest round trip it has seen for propagation takes the
queue of those before it for propagation too, and gets more than they do. The closed forms of this
are equations (11) and (15) of M. Rodríguez-Pérez et al., "The persistent congestion problem of
FAST-TCP: Analysis and solutions". This audit puts any control through the same situations.
"""

from __future__ import annotations

import statistics
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from ackclock.experiments.sweeps import Sweep
    from ackclock.subject import Subject

__all__ = ["SITUATIONS", "TIERS", "Audit", "Row", "Situation", "Tier", "audit", "documents"]

Data = dict[str, Any]

FAIR = 1.25
"""A late-comer that gets up to this factor more or less than the others is treated fairly."""
NEAR = 0.15
"""A ratio this near to the model's, as a part of it, counts as what the model predicts."""

RATE_MBPS = 50
SPACING_S = 0.0006
"""Between starts of flows that are to find the queue empty: more than two packets take."""


@dataclass(frozen=True)
class Tier:
    """How much is run."""

    sequential: tuple[int, ...]
    joined: tuple[int, ...]
    rtts_ms: tuple[int, ...]
    buffers: tuple[str, ...]
    starts: int
    gap_s: float


TIERS = {
    "fast": Tier((2, 4), (1, 4), (20, 80), ("0.5 bdp", "2 bdp", "4000 pkt"), 2, 20.0),
    "full": Tier(
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
class Situation:
    """One way in which flows come and go."""

    key: str
    title: str
    question: str


SITUATIONS = {
    s.key: s
    for s in (
        Situation(
            "sequential",
            "one after another",
            "the newest over the oldest of n flows, each started after the one before is at rest",
        ),
        Situation(
            "joining", "one joins n", "a late-comer over the mean of n flows that began together"
        ),
        Situation(
            "departures",
            "after departures",
            "the newer over the older of the two that stay when the oldest of four have left",
        ),
        Situation(
            "loss-based", "beside CUBIC", "a late-comer over an earlier flow, beside one of CUBIC"
        ),
        Situation(
            "noise", "beside noise", "a late-comer over four others, beside bursts of 20 % load"
        ),
    )
}
"""Situations in the order of the page."""


@dataclass(frozen=True)
class Row:
    """What was measured in one situation, for one number of flows, with or without losses."""

    situation: str
    flows: int
    overflows: bool
    ratio: float
    low: float
    high: float
    predicted: float | None
    worst: str
    utilisation: float
    verdict: str


def _flow(value: Any, **keys: Any) -> Data:
    return {"cc": value, **keys}


def documents(value: Any, tier: Tier) -> Iterator[tuple[str, int, Data]]:
    """Make the scenarios: situation, number of flows, and what its sweep starts from.

    Parameters
    ----------
    value
        The control, as a scenario says it.
    tier
        How much.

    Yields
    ------
    tuple
        Key of the situation, number n, document. The flow ``new`` is the one looked at.
    """
    gap = tier.gap_s

    def made(pairs: int, flows: list[Data], last: float, seed: int = 1) -> Data:
        net = {"kind": "dumbbell", "pairs": pairs, "rate": f"{RATE_MBPS} Mbps", "rtt": "20 ms"}
        return {
            "net": net,
            "flows": flows,
            "duration": last + 2 * gap,
            "warmup": last + gap,
            "seed": seed,
            "era": "rfc",
        }

    def together(n: int) -> Data:
        stagger = {"count": n, "stagger": SPACING_S} if n > 1 else {}
        return _flow(value, id="old", pair=0, **stagger)

    for n in tier.sequential:
        flows = [
            _flow(value, id="new" if i == n - 1 else f"old{i}", pair=i, start=i * gap)
            for i in range(n)
        ]
        yield "sequential", n, made(n, flows, gap * (n - 1))
    for n in tier.joined:
        flows = [together(n), _flow(value, id="new", pair=n, start=gap)]
        yield "joining", n, made(n + 1, flows, gap)
    leaving = [
        _flow(value, id=name, pair=i, start=i * gap, **({"stop": (4 + i) * gap} if i < 2 else {}))
        for i, name in enumerate(("gone0", "gone1", "old", "new"))
    ]
    yield "departures", 4, made(4, leaving, 6 * gap)
    beside = [
        _flow(value, id="old", pair=0, start=0.5),
        _flow("cubic", id="cubic", pair=1),
        _flow(value, id="new", pair=2, start=gap),
    ]
    yield "loss-based", 1, made(3, beside, gap)
    source = {"kind": "pareto-on-off", "rate": "2 Mbps", "packet": 1000, "burst": "100 ms"}
    bursts = {**source, "idle": "100 ms", "shape": 1.5}
    noisy = [
        together(4),
        _flow(value, id="new", pair=4, start=gap),
        {"id": "noise", "src": "s5", "dst": "d5", "count": 10, "source": bursts},
    ]
    yield "noise", 4, made(6, noisy, gap)


def _sweep(document: Data, tier: Tier, name: str) -> Sweep:
    from ackclock.experiments.axes import Axis
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


def predicted(situation: str, flows: int) -> float | None:
    """Give the ratio that equations (11) and (15) predict; None where they do not apply.

    Parameters
    ----------
    situation
        Key of the situation.
    flows
        Number n.
    """
    from ackclock.model import fast

    if situation == "sequential":
        shares = fast.sequential_shares(flows)
        return float(shares[-1] / shares[0])
    if situation == "joining":
        return float(fast.joining(flows)["fairness_ratio"])
    return None


def verdict(ratio: float, model: float | None) -> str:
    """Judge a ratio: fair, favoured, favoured as the model predicts, or starved.

    Parameters
    ----------
    ratio
        What the late-comer gets over the others.
    model
        What persistent congestion would make of it.
    """
    if ratio < 1 / FAIR:
        return "late-comer starved"
    if ratio <= FAIR:
        return "fair"
    if model is not None and abs(ratio / model - 1) <= NEAR:
        return "late-comer favoured, as by persistent congestion"
    return "late-comer favoured"


def _ratio(situation: str, rows: list[Mapping[str, Any]]) -> float:
    """The late-comer's goodput over that of the others of its kind."""
    new = next(row["goodput_bps"] for row in rows if row["id"] == "new")
    old = [row for row in rows if str(row["id"]).startswith("old")]
    if situation == "sequential":
        old = [row for row in old if row["id"] == "old0"]
    mean = statistics.fmean(row["goodput_bps"] for row in old)
    return float(new / mean) if mean > 0 else float("inf") if new > 0 else 1.0


@dataclass(frozen=True)
class Audit:
    """A finished audit. Printing it gives the page."""

    control: str
    tier: str
    gap_s: float
    runs: int
    rows: tuple[Row, ...]

    @property
    def answer(self) -> str:
        """The whole in one sentence."""
        pure = [row for row in self.rows if row.situation in ("sequential", "joining")]
        # A buffer that overflows empties now and then and shows the propagation delay.
        pure = [row for row in pure if not row.overflows] or pure
        favoured = [row for row in pure if "favoured" in row.verdict]
        as_model = [row for row in favoured if "persistent" in row.verdict]
        starved = [row for row in pure if "starved" in row.verdict]
        if len(as_model) > len(pure) / 2:
            return (
                f"{self.control} suffers from persistent congestion: late-comers get"
                f" {min(r.ratio for r in as_model):.1f} to {max(r.ratio for r in as_model):.1f}"
                " times what the others get, as the model predicts."
            )
        if favoured:
            worst = max(favoured, key=lambda row: row.ratio)
            return (
                f"{self.control} favours late-comers in {len(favoured)} of {len(pure)} cases among"
                f" its own kind, by up to {worst.ratio:.1f}; not by the model's amount in most."
            )
        if starved:
            worst = min(starved, key=lambda row: row.ratio)
            return (
                f"{self.control} starves late-comers in {len(starved)} of {len(pure)} cases among"
                f" its own kind, down to {worst.ratio:.2f} of what the others get."
            )
        return f"{self.control} treats late-comers of its own kind fairly."

    def __str__(self) -> str:
        from ackclock.audit.page import text

        return text(self)

    def to_dict(self) -> Data:
        """Everything as plain data, for JSON."""
        return {**asdict(self), "answer": self.answer}

    def save(self, folder: Path, command: str | None = None) -> Path:
        """Write a page of its own and the numbers.

        Parameters
        ----------
        folder
            Is made, or replaced if it is an audit.
        command
            What the user typed.
        """
        from ackclock.audit.page import write

        return write(self, folder, command)


def _rows(situation: str, flows: int, result: Any) -> Iterator[Row]:
    """Rows of a situation: where the buffer never overflowed, and where it did."""
    runs: dict[tuple[Any, ...], list[Mapping[str, Any]]] = {}
    for row in result.tables["flows"].to_pylist():
        runs.setdefault((row["rtt_ms"], row["buffer"], row["start"]), []).append(row)
    links = {
        (row["rtt_ms"], row["buffer"], row["start"]): row
        for row in result.tables["links"].to_pylist()
        if str(row["id"]) == "r0->r1"
    }
    model = predicted(situation, flows)
    for overflows in (False, True):
        of_condition: dict[tuple[Any, Any], list[float]] = {}
        used = []
        for at, rows in runs.items():
            if (links[at]["drops"] > 0) == overflows:
                of_condition.setdefault(at[:2], []).append(_ratio(situation, rows))
                used.append(links[at]["utilisation"])
        if not used:
            continue
        means = {at: statistics.fmean(ratios) for at, ratios in of_condition.items()}
        worst = max(means, key=lambda at: max(means[at], 1 / max(means[at], 1e-9)))
        middle = statistics.median(means.values())
        yield Row(
            situation,
            flows,
            overflows,
            middle,
            min(means.values()),
            max(means.values()),
            model,
            f"{worst[0]} ms, {worst[1]}",
            statistics.fmean(used),
            verdict(middle, model),
        )


def audit(
    control: Subject,
    tier: str = "fast",
    *,
    gap_s: float | None = None,
    workers: int | None = None,
    tell: Callable[[str], object] = lambda _: None,
) -> Audit:
    """Put a control through every situation.

    Parameters
    ----------
    control
        As `ackclock.evaluate.grid.asked` reads it.
    tier
        ``fast`` or ``full``.
    gap_s
        Time between starts, and that which is measured [s]; left out: the tier's.
    workers
        Runs at a time; left out: one per core.
    tell
        Gets a line when a situation begins.

    Raises
    ------
    UnsupportedError
        There is no such tier.
    AckclockError
        The control failed in a run.
    """
    from ackclock.errors import UnsupportedError, suggestion

    if tier not in TIERS:
        raise UnsupportedError(f'there is no tier "{tier}"; {suggestion(tier, TIERS)}')
    size = TIERS[tier]
    if gap_s is not None:
        size = replace(size, gap_s=gap_s)
    rows: list[Row] = []
    runs = 0
    for situation, flows, document in documents(control.value, size):
        tell(f"{SITUATIONS[situation].title}, n = {flows}")
        result = _sweep(document, size, f"{situation}, n = {flows}").run(workers=workers)
        runs += len(size.rtts_ms) * len(size.buffers) * size.starts
        rows.extend(_rows(situation, flows, result))
    return Audit(control.label, tier, size.gap_s, runs, tuple(rows))
