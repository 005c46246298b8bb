"""The scenario of a counterexample: a solver's path as a link, its delay, its losses.

The scenario is a link of constant rate whose packets meet a delay of up to the jitter after it,
with the buffer of the proof: a path that the model allows by construction. The access jitter of the
last flow is on the link to its receiver.

The path of a cycle is repeated over and over. What passes in a step does so all along it or, where
that does not show the violation, at its beginning: a solver's curves are those of both. A relation
that knows the base round trip has a packet form that must measure it, so paths are also tried which
pause their jitter: no delay for `pause` round trips after each `run` of them. The flow begins with
the window of the solver's first step. Where that alone would show the violation for long, of a
standing queue and of two flows, they begin with four segments.

A path from some state begins `BEGIN` round trips after the flow, which has doubled its window from
ten segments up to the solver's first. What the solver drops in a step is dropped at random, that
share of what comes in it; before its first step, what was lost and not known to be. After it
nothing is dropped at random, and the delay is the last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from ackclock.prove.controls.relation import Relation
    from ackclock.prove.trace import ModelTrace

__all__ = [
    "BEGIN",
    "PAUSES",
    "ROUND_TRIP_S",
    "packets_of",
    "reach_data",
    "scenario_data",
]

ROUND_TRIP_S = 0.1
"""Base round trip of replays [s]."""

PACKET_BYTES = 1500
"""Size of packets on the wire."""

DURATION = 600
"""Length of a run [base round trips]."""

PAUSES = ((0, 0), (8, 1), (20, 2), (60, 4))
"""Round trips with the solver's jitter, and without any, in turn; none first."""

LARGE = 1000
"""Buffer where the proof has none [BDP]."""

BEGIN = 10
"""Time at which a path from some state begins [base round trips]."""

TAIL = 20
"""What a run has after such a path [base round trips]."""


def _steps(delays: list[float], steps: int, pause: tuple[int, int]) -> Iterator[dict[str, str]]:
    """Delays of a whole run, from those of so many steps; a row where the delay changes."""
    pieces = len(delays) // steps
    run, rest = pause
    last = None
    for piece in range(DURATION * pieces):
        step = piece // pieces
        paused = bool(rest) and step % (run + rest) >= run
        delay = 0.0 if paused else round(delays[piece % len(delays)] * ROUND_TRIP_S * 1e3, 3)
        if delay != last:
            last = delay
            at = piece / pieces * ROUND_TRIP_S * 1e3
            yield {"at": f"{at:g} ms", "extra": f"{delay:g} ms"}


def _held(delays: list[float], steps: int, pause: tuple[int, int]) -> list[dict[str, Any]]:
    """Write what holds packets; nothing where no delay is."""
    if not any(delays):
        return []
    rows = list(_steps(delays, steps, pause))
    return [{"kind": "delay-steps", "keep_order": True, "steps": rows}]


def scenario_data(
    relation: Relation,
    values: Mapping[str, Fraction],
    trace: ModelTrace,
    buffer: Fraction | None,
    pause: tuple[int, int],
    *,
    begins_small: bool = False,
    at_once: bool = False,
) -> dict[str, Any]:
    """Write a counterexample as a scenario.

    Parameters
    ----------
    relation
        The control.
    values
        Of its parameters.
    trace
        The solver's path.
    buffer
        b [BDP]; None: none that matters.
    pause
        Round trips with jitter, and without, in turn.
    begins_small
        Whether windows begin with four segments, in place of the solver's.
    at_once
        Whether what passes in a step does so at its beginning.
    """
    packets = max(round(1 / trace.segment), 4)
    steps = trace.period or len(trace.capacity) - 1
    rate = packets * PACKET_BYTES * 8 / ROUND_TRIP_S
    control: dict[str, Any] = {"kind": relation.name}
    control |= {name: float(value) for name, value in values.items() if name not in relation.units}
    slots = LARGE * packets if buffer is None else max(round(float(buffer) * packets), 1)
    apart = bool(trace.access_jitter)
    net: dict[str, Any] = {
        "kind": "dumbbell",
        "pairs": len(trace.window) if apart else 1,
        "rate": f"{rate:g} bps",
        "rtt": f"{ROUND_TRIP_S * 1e3:g} ms",
        "buffer": f"{slots} pkt",
        "impairments": _held(trace.delays(at_once=at_once), steps, pause),
    }
    if "marks_above" in values:
        above = max(round(float(values["marks_above"])), 1)
        red = {"kind": "red", "min_th": above, "max_th": above + 1, "w_q": 1.0, "ecn": True}
        net["qdisc"] = red
    flows = []
    for n, window in enumerate(trace.window):
        first = 4 if begins_small else max(round(float(window[0] / trace.segment)), 1)
        tcp: dict[str, Any] = {
            "initial_window": first,
            "initial_ssthresh": max(first, 2),
            "delayed_ack": 1,
        }
        if "marks_above" in values:
            tcp |= {"ecn": True, "accecn": True}
        flows.append({"id": f"flow{n}", "pair": n if apart else 0, "cc": control, "tcp": tcp})
    seconds = DURATION * ROUND_TRIP_S
    data = {
        "name": f"Counterexample of {relation.name}",
        "duration": f"{seconds:g} s",
        "warmup": f"{seconds / 2:g} s",
        "net": net,
        "flows": flows,
    }
    if apart:
        link = f"r1->d{len(trace.window) - 1}"
        held = _held(trace.access_delays(at_once=at_once), steps, pause)
        data["links"] = [{"link": link, "impairments": held}]
    return data


def reach_data(
    relation: Relation, values: Mapping[str, Fraction], trace: ModelTrace, buffer: Fraction | None
) -> dict[str, Any]:
    """Write a path from some state as a scenario.

    Parameters
    ----------
    relation, values, trace, buffer
        As of `scenario_data`.
    """
    data = scenario_data(relation, values, trace, buffer, PAUSES[0])
    delays = trace.delays()
    held, last = [], 0.0
    for piece, delay in enumerate(delays):
        if round(delay, 3) != last:
            last = round(delay, 3)
            at = (BEGIN + piece * (len(trace.capacity) - 1) / len(delays)) * ROUND_TRIP_S
            held.append({"at": f"{at * 1e3:g} ms", "extra": f"{last * ROUND_TRIP_S * 1e3:g} ms"})
    steps = [{"kind": "delay-steps", "keep_order": True, "steps": held}]
    shares = [*_shares(trace), 0.0]
    losses = [
        {"at": f"{(BEGIN - 1 + t) * ROUND_TRIP_S:g} s", "loss": round(share, 4)}
        for t, share in enumerate(shares)
    ]
    for flow in data["flows"]:
        # A first window at once would overflow the buffer before the path begins.
        flow["tcp"]["initial_window"] = min(flow["tcp"]["initial_window"], 10)
    data["net"] |= {"impairments": steps if held else [], "schedule": {"steps": losses}}
    seconds = (BEGIN + len(trace.capacity) - 1 + TAIL) * ROUND_TRIP_S
    return data | {"duration": f"{seconds:g} s", "warmup": "0 s"}


def _shares(trace: ModelTrace) -> Iterator[float]:
    """Shares of what comes in a step that are dropped: before the first step, and in each."""
    sent, lost = (
        [sum(flow) for flow in zip(*curves, strict=True)] for curves in (trace.sent, trace.lost)
    )
    unknown = lost[0] - sum(flow[0] for flow in trace.noticed)
    in_flight = sent[0] - sum(flow[0] for flow in trace.served) - lost[0] + unknown
    yield float(unknown / in_flight) if in_flight > 0 else 0.0
    for t in range(1, len(sent)):
        came = sent[t] - sent[t - 1]
        yield min(float((lost[t] - lost[t - 1]) / came), 1.0) if came > 0 else 0.0


def packets_of(data: Mapping[str, Any]) -> int:
    """Count the packets to a BDP in the scenario of a replay."""
    rate = float(str(data["net"]["rate"]).split()[0])
    return round(rate * ROUND_TRIP_S / 8 / PACKET_BYTES)
