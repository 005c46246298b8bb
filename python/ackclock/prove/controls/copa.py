"""Copa's default mode as a relation, with velocity 1.

Source: Arun and Balakrishnan, NSDI 2018, section 2: the target rate is 1/(delta q) segments, so
that a flow keeps 1/delta segments queued; a step moves the window by velocity/delta segments.

Deviations: velocity stays 1, as in the model of Arun et al., SIGCOMM 2021; the base round trip is
known; no competition with flows that fill the queue.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.controls.delay import MEMORY, delay_rules, no_state
from ackclock.prove.controls.relation import Relation

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["RELATION"]


def _target(values: Mapping[str, Fraction]) -> tuple[Fraction, Fraction]:
    return 1 / values["delta"], 1 / values["delta"]


def _step(v: Curves, values: Mapping[str, Fraction], window: Term) -> Term:
    del window
    return v.segment / values["delta"]


RELATION = Relation(
    name="copa",
    parameters={"delta": Fraction(1, 2)},
    rules=delay_rules(_target, _step, _step, _step, least=2, by_least=True),
    state=no_state,
    leaves_out="velocity above 1; slow start; competition with flows that fill the queue; losses",
    memory=MEMORY,
    # Velocity doubles while the window goes one way.
    left_at=("moves",),
    knows_base=True,
    ranges={"delta": (0, 1)},
)
"""Copa."""
