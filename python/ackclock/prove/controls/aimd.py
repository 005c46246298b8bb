"""Additive increase, multiplicative decrease, as a relation.

Source: Chiu and Jain (1989); the window of a step between the bounds that RFC 5681 gives it.

A step in which dS is acknowledged adds between a part of a and a. The sum of a/c over a window of
acknowledgements is at least a/2 as long as c does not double in it, which the relation promises:
whole windows are counted, and what a step has above one is not.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.controls.relation import Relation
from ackclock.prove.controls.window import state, window_rules

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["RELATION"]


def _kept(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    del v
    return values["b"] * window, values["b"] * window


def _gains(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    del window
    most = values["a"] * v.segment
    return most / 2, most


RELATION = Relation(
    name="aimd",
    parameters={"a": Fraction(1), "b": Fraction(1, 2)},
    rules=window_rules(_gains, _kept, by_acknowledgements=True),
    state=state,
    leaves_out="slow start at the beginning of a connection",
    ranges={"a": (0, float("inf")), "b": (0, 1)},
    share_kept=lambda values, _: values["b"],
    most_growth=lambda values, _: values["a"],
)
"""AIMD."""
