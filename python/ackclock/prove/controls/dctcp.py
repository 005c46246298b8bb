"""DCTCP as a relation, with the law by which a queue marks.

Source: RFC 8257, sections 3.1 to 3.5. What arrives while more than `marks_above` segments wait for
capacity is marked; a step in which marks come back may cut the window by any share up to a half,
since the estimate alpha lies between 0 and 1 and a product of two unknowns is not linear. A step
without marks cuts nothing.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.controls.relation import Relation, Rule
from ackclock.prove.controls.window import CUT_RULES, cut, cut_state, window_rules
from ackclock.prove.terms import all_of, any_of, implies, negated, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["RELATION"]


def _gains(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    del values
    del window
    return v.segment / 2, 1 * v.segment


def _kept(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    del v, values
    return window / 2, 1 * window


def _marked(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    """Let `drop` be what a step with marks takes from the window."""
    threshold = values["marks_above"]
    for t in v.times[1:]:
        drop, before = unknown(f"D{n}_{t}"), v.window[n][t - 1]
        yield drop >= 0
        yield drop <= before / 2
        # Data acknowledged at t were accepted at most so many steps before.
        back = range(max(0, t - 2 - v.path.jitter), t)
        may = any_of(
            *(v.accepted(s) > v.capacity(max(s - 1, 0)) + threshold * v.segment for s in back)
        )
        if t > 1 + v.path.jitter:
            yield implies(negated(may), drop <= 0)
        free = all_of(negated(cut(n, t)), negated(v.timeout[n][t]))
        yield implies(free, v.window[n][t] >= before - drop)
        yield implies(free, v.window[n][t] <= before - drop + 1 * v.segment)


def _least(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    del values
    for t in v.times[1:]:
        yield v.window[n][t] >= v.segment


_SHARED = tuple(rule for rule in window_rules(_gains, _kept) if rule.name in CUT_RULES)

RELATION = Relation(
    name="dctcp",
    parameters={"marks_above": Fraction(20)},
    rules=(
        *_SHARED,
        Rule(
            "marks",
            "A step adds at most a segment, and takes at most half of the window, and that only if"
            " more than the threshold waited.",
            _marked,
        ),
        Rule("least", "A window is at least a segment.", _least),
    ),
    state=cut_state,
    leaves_out="slow start; the value of the estimate alpha",
    units={"marks_above": "queue at which the path marks [segments]"},
    ranges={"marks_above": (0, float("inf"))},
)
"""DCTCP."""
