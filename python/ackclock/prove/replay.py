"""Counterexamples in packets: the scenario of a solver's path, run, and judged.

A counterexample is *replayed* only if the packets show the violation.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ackclock.prove.counterexample import PAUSES, packets_of, reach_data, scenario_data
from ackclock.prove.measures import measure_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ackclock.prove.controls.relation import Relation
    from ackclock.prove.path import ModelPath
    from ackclock.prove.properties import PathClaim
    from ackclock.prove.trace import ModelTrace

__all__ = ["REPLAY_SEGMENT", "Replay", "replay"]

REPLAY_SEGMENT = Fraction(1, 100)
"""Size of a segment that is tried, so that packets have a path of hundred to a BDP."""


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
    claim: PathClaim,
    trace: ModelTrace,
    path: ModelPath,
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
    path
        What the claim is about.

    Returns
    -------
    Replay
        Of the first scenario that shows the violation; else of the one that is nearest to it. The
        trace's segments are tried before smaller ones that the path may have, its jitter before one
        that is paused, and data that pass all along a step before such that pass at once.
    """
    from ackclock.scenario.scenario import Scenario

    measure = measure_of(claim)
    nearest: Replay | None = None
    for data, how in _scenarios(relation, values, claim, trace, path):
        packets = packets_of(data)
        run = Scenario.from_data(data).run(record=list(measure.tables) or None)
        shown, measured, sentence = measure.judge(measure.read(run, packets))
        sentence += f" in packets, {packets} to a BDP, under its jitter{how}"
        done = Replay(shown, measured, data, sentence)
        if shown:
            return done
        if nearest is None or measure.is_nearer(done.measured, nearest.measured):
            nearest = done
    assert nearest is not None
    return nearest


def _scenarios(
    relation: Relation,
    values: Mapping[str, Fraction],
    claim: PathClaim,
    trace: ModelTrace,
    path: ModelPath,
) -> Iterator[tuple[dict[str, Any], str]]:
    """Write scenarios of a path, each with what is particular of its jitter."""
    if claim.kind.kind == "reach":
        yield reach_data(relation, values, trace, path.buffer), ""
        return
    small = measure_of(claim).begins_small
    traces = [trace]
    if path.segment[0] <= REPLAY_SEGMENT < trace.segment:
        traces.append(replace(trace, segment=REPLAY_SEGMENT))
    for at_once in (False, True):
        for pause in PAUSES if relation.knows_base else PAUSES[:1]:
            how = ", released at once" if at_once else ""
            if pause[1]:
                how += f", which pauses for {pause[1]} round trips after each {pause[0]}"
            for one in traces:
                data = scenario_data(
                    relation, values, one, path.buffer, pause, begins_small=small, at_once=at_once
                )
                yield data, how
