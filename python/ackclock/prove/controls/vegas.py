"""TCP Vegas as a relation: a segment more or less in a round trip.

Source: Brakmo and Peterson, JSAC 1995, section 3.2.

Deviations: the base round trip is known; losses are answered by nothing.
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
    return values["alpha"], values["beta"]


def _step(v: Curves, values: Mapping[str, Fraction], window: Term) -> Term:
    del values, window
    return 1 * v.segment


RELATION = Relation(
    name="vegas",
    parameters={"alpha": Fraction(2), "beta": Fraction(4)},
    rules=delay_rules(_target, _step, _step, _step, least=2, by_least=True),
    state=no_state,
    leaves_out="slow start; losses",
    memory=MEMORY,
    knows_base=True,
    ranges={"alpha": (0, float("inf")), "beta": (0, float("inf"))},
    ordered=(("alpha", "beta"),),
)
"""Vegas."""
