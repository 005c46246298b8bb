"""Counterexamples in packets: the scenario of a solver's path, run, and judged.

A counterexample is *replayed* only if the packets show the violation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.prove.counterexample import PAUSES, reach_data, scenario_data
from ackclock.prove.measures import measure_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from fractions import Fraction

    from ackclock.prove.controls.relation import Relation
    from ackclock.prove.properties import Claim
    from ackclock.prove.trace import Trace

__all__ = ["Replay", "replay"]


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

    measure = measure_of(claim)
    packets = max(round(1 / trace.segment), 4)
    first: Replay | None = None
    for data, pauses in _scenarios(relation, values, claim, trace, buffer):
        run = Scenario.from_data(data).run(record=list(measure.tables) or None)
        shown, measured, sentence = measure.judge(measure.read(run, packets))
        sentence += f" in packets, {packets} to a BDP, under its jitter{pauses}"
        done = Replay(shown, measured, data, sentence)
        if shown:
            return done
        first = first or done
    assert first is not None
    return first


def _scenarios(
    relation: Relation,
    values: Mapping[str, Fraction],
    claim: Claim,
    trace: Trace,
    buffer: Fraction | None,
) -> Iterator[tuple[dict[str, Any], str]]:
    """Write scenarios of a path, each with what is particular of its jitter."""
    if claim.kind.kind == "reach":
        yield reach_data(relation, values, trace, buffer), ""
        return
    small = measure_of(claim).begins_small
    for pause in PAUSES if relation.knows_base else PAUSES[:1]:
        pauses = ""
        if pause[1]:
            pauses = f", which pauses for {pause[1]} round trips after each {pause[0]}"
        yield scenario_data(relation, values, trace, buffer, pause, begins_small=small), pauses
