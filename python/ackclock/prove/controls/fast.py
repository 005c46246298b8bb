"""FAST TCP as a relation: w <- w + gamma (alpha - queued) in a round trip.

Source: Jin, Wei, Low, INFOCOM 2004, equation (2), as in Rodriguez-Perez et al., Computer Networks
2013. A step adds at most gamma alpha segments and takes at most gamma of the window.

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
    return values["alpha"], values["alpha"]


def _up(v: Curves, values: Mapping[str, Fraction], window: Term) -> Term:
    del window
    return (values["gamma"] * values["alpha"]) * v.segment


def _down(v: Curves, values: Mapping[str, Fraction], window: Term) -> Term:
    del v
    return values["gamma"] * window


def _fall(v: Curves, values: Mapping[str, Fraction], window: Term) -> Term:
    del v, values
    return 0 * window


RELATION = Relation(
    name="fast",
    parameters={"alpha": Fraction(100), "gamma": Fraction(1, 2)},
    rules=delay_rules(_target, _up, _down, _fall, least=1, by_least=False),
    state=no_state,
    leaves_out="slow start; doubling below mi_threshold; losses",
    memory=MEMORY,
    knows_base=True,
    ranges={"alpha": (0, float("inf")), "gamma": (0, 1)},
)
"""FAST."""
