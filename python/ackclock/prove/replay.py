"""Counterexamples in packets: a solver's path as a scenario, run, and judged.

The scenario is a link of constant rate whose packets meet a delay of up to the jitter after it,
with the buffer of the proof: a path that the model allows by construction. Its delay follows the
solver's path, over and over; the access jitter of the last flow is on the link to its receiver. A
relation that knows the base round trip has a packet form that must measure it, so paths are also
tried which pause their jitter: no delay for `pause` round trips after each `run` of them. The flow
begins with the window of the solver's first step. Where that alone would show the violation for
long, of a standing queue and of two flows, they begin with four segments.

A counterexample is *replayed* only if the packets show the violation, in the second half of the
run.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from fractions import Fraction

    from ackclock.prove.controls.relation import Relation
    from ackclock.prove.properties import Claim
    from ackclock.prove.trace import Trace
    from ackclock.results.run import Run

__all__ = ["MEASURES", "Replay", "packets_of", "replay", "scenario_data", "why_not_in_kernel"]

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


@dataclass(frozen=True, slots=True)
class Replay:
    """What a counterexample did in packets.

    Attributes
    ----------
    replayed
        Whether the violation is there.
    measured
        The property's value in packets; None: it is not measured, or has no finite value.
    data
        The scenario.
    sentence
        What was run and seen.
    """

    replayed: bool
    measured: float | None
    data: Mapping[str, Any] | None
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "replayed": self.replayed,
            "measured": self.measured,
            "sentence": self.sentence,
            "scenario": None if self.data is None else dict(self.data),
        }


def _steps(delays: list[float], pause: tuple[int, int]) -> Iterator[dict[str, str]]:
    """Delays of a whole run, a step where the delay changes."""
    pieces = 4
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


def _held(delays: list[float], pause: tuple[int, int]) -> list[dict[str, Any]]:
    """Write what holds packets; nothing where no delay is."""
    if not any(delays):
        return []
    steps = list(_steps(delays, pause))
    return [{"kind": "delay-steps", "keep_order": True, "steps": steps}]


def scenario_data(
    relation: Relation,
    values: Mapping[str, Fraction],
    trace: Trace,
    buffer: Fraction | None,
    pause: tuple[int, int],
    *,
    begins_small: bool = False,
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
    """
    packets = max(round(1 / trace.segment), 4)
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
        "impairments": _held(trace.delays(), pause),
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
        data["links"] = [{"link": link, "impairments": _held(trace.access_delays(), pause)}]
    return data


def _utilisation(run: Run, packets: int) -> float:
    del packets
    return next(
        float(link["utilisation"]) for link in run.summary["links"] if link["id"] == "r0->r1"
    )


def _standing(run: Run, packets: int) -> float:
    begin = run.summary["duration_s"] / 2
    queued = [
        row["queue_packets"]
        for row in run.link_samples.to_pylist()
        if row["link"] == "r0->r1" and row["time_s"] >= begin
    ]
    return float(min(queued)) / packets


def _least_window_at_loss(run: Run, packets: int) -> float:
    """Smallest window at which a packet of the flow was dropped [BDP]; infinite if none was."""
    import numpy as np

    windows, drops = run.windows, run.drops
    times = np.asarray(windows["time_s"])
    lost = [row["time_s"] for row in drops.to_pylist() if not row["is_ack"]]
    if not len(times) or not lost:
        return float("inf")
    at = np.searchsorted(times, np.asarray(lost), side="right") - 1
    return float(np.asarray(windows["cwnd_segments"])[at[at >= 0]].min()) / packets


def _ratio(run: Run, packets: int) -> float:
    del packets
    goodputs = [float(flow["goodput_bps"]) for flow in run.summary["flows"]]
    return min(goodputs) / max(*goodputs, 1e-9)


class _Measure(NamedTuple):
    """How a property is measured in packets.

    Attributes
    ----------
    read
        Its value, from a run and the packets to a BDP.
    unit
        Of the value, as part of a sentence.
    tables
        That the run records.
    least
        Whether the claim is that it is at least the bound; else at most.
    none
        What an infinite value says.
    begins_small
        Whether windows begin small, so that the violation is not what they began with.
    """

    read: Callable[[Run, int], float]
    unit: str
    tables: tuple[str, ...] = ()
    least: bool = True
    none: str = ""
    begins_small: bool = False

    def judge(self, value: float, bound: float) -> tuple[bool, float | None, str]:
        """Say whether a value violates the claim, what it is for JSON, and both in a sentence."""
        shown = self.violates(value, bound)
        outcome = "the violation is there" if shown else "the violation is not there"
        if value == float("inf"):
            return shown, None, f"{outcome}: {self.none}"
        return shown, value, f"{outcome}: {value:.3g} {self.unit}"

    def violates(self, value: float, bound: float) -> bool:
        """Say whether a value is on the wrong side of the bound."""
        return value < bound if self.least else value > bound


MEASURES = {
    "utilisation": _Measure(_utilisation, "of the capacity"),
    "standing-queue": _Measure(
        _standing, "BDP at least queued", ("link_samples",), least=False, begins_small=True
    ),
    "loss-above": _Measure(
        _least_window_at_loss,
        "BDP, the least window at a loss",
        ("windows", "drops"),
        none="nothing is dropped",
    ),
    "no-starvation": _Measure(_ratio, "of the other flow", begins_small=True),
}
"""Properties that are measured in packets, by name."""


def why_not_in_kernel(data: Mapping[str, Any]) -> str:
    """Say why `ackclock emulate` does not run a counterexample; empty: it can.

    Parameters
    ----------
    data
        The scenario of a replay.
    """
    wires = [data["net"], *data.get("links", ())]
    if any(one["kind"] == "delay-steps" for wire in wires for one in wire["impairments"]):
        return "not run: ackclock emulate carries no link whose delay changes (delay-steps)"
    return ""


def packets_of(data: Mapping[str, Any]) -> int:
    """Count the packets to a BDP in the scenario of a replay."""
    rate = float(str(data["net"]["rate"]).split()[0])
    return round(rate * ROUND_TRIP_S / 8 / PACKET_BYTES)


def replay(
    relation: Relation,
    values: Mapping[str, Fraction],
    claim: Claim,
    trace: Trace,
    buffer: Fraction | None,
) -> Replay:
    """Run a counterexample in packets.

    Parameters
    ----------
    relation
        The control.
    values
        Of its parameters.
    claim
        What the solver's path violates.
    trace
        The solver's path.
    buffer
        b [BDP].

    Returns
    -------
    Replay
        Of the first way of pausing the jitter that shows the violation; else of the first.
    """
    from ackclock.scenario.scenario import Scenario

    if claim.kind.name not in MEASURES:
        return Replay(
            replayed=False,
            measured=None,
            data=None,
            sentence="it was not replayed: packets would have to begin in the solver's first state",
        )
    measure = MEASURES[claim.kind.name]
    packets = max(round(1 / trace.segment), 4)
    first: Replay | None = None
    for pause in PAUSES if relation.knows_base else PAUSES[:1]:
        data = scenario_data(
            relation, values, trace, buffer, pause, begins_small=measure.begins_small
        )
        run = Scenario.from_data(data).run(record=list(measure.tables) or None)
        value = measure.read(run, packets)
        shown, measured, sentence = measure.judge(value, float(claim.value))
        pauses = ""
        if pause[1]:
            pauses = f", which pauses for {pause[1]} round trips after each {pause[0]}"
        sentence += f" in packets, {packets} to a BDP, under its jitter{pauses}"
        done = Replay(shown, measured, data, sentence)
        if shown:
            return done
        first = first or done
    assert first is not None
    return first
