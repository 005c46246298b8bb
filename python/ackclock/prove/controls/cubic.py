"""CUBIC as a relation: the growth of a step lies between its two regions, a cut leaves beta.

Source: RFC 9438, sections 4.2 to 4.6. In the Reno-friendly region a window of acknowledgements adds
3 (1 - beta)/(1 + beta); in the cubic one a step of R adds at most R times the steepest slope that
(t - K)^3 has between a cut and the point where the window has doubled,

    3 C R s^2,   s = cbrt(w/C),   w the window in segments.

s^2 is a power of w, 2/3, bounded by lines (`ackclock.prove.controls.lines`). That is an upper bound
of growth, not the curve: what needs to know where on the curve a flow is cannot be proved.

Deviations: a base round trip of 0.1 s, a segment of 1/20 BDP, windows up to 8 BDP.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from ackclock.prove.controls.binomial import WITHIN_LINES
from ackclock.prove.controls.lines import SEGMENT, CurveBounds, fit
from ackclock.prove.controls.relation import Relation
from ackclock.prove.controls.window import state, window_rules
from ackclock.prove.terms import larger

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["RELATION", "ROUND_TRIP_S"]

ROUND_TRIP_S = 0.1
"""Base round trip of the lines [s]."""


@lru_cache
def slope(c: Fraction) -> CurveBounds:
    """Fit the steepest growth of a step, by the window [segments].

    Parameters
    ----------
    c
        CUBIC's constant [segments/s^3].
    """
    factor = 3 * float(c) ** (1 / 3) * ROUND_TRIP_S
    return fit(Fraction(factor), Fraction(2, 3))


def _gains(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    beta = values["beta"]
    friendly = 3 * (1 - beta) / (1 + beta) * v.segment
    # A step of R counts up to one window; RFC 9438 lets the cubic target rise in it.
    return friendly / 2, larger(slope(values["c"]).at_most(window), v.segment)


def _kept(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    del v
    return values["beta"] * window, values["beta"] * window


RELATION = Relation(
    name="cubic",
    parameters={"c": Fraction(2, 5), "beta": Fraction(7, 10)},
    rules=(
        *window_rules(_gains, _kept),
        WITHIN_LINES,
    ),
    state=state,
    leaves_out="slow start at the beginning of a connection; where on the cubic curve a flow is;"
    " windows above 8 BDP",
    # With bursts of losses, which it notices otherwise.
    left_at=("noticed-by-duplicates",),
    segment=SEGMENT,
    ranges={"c": (0, float("inf")), "beta": (0, 1)},
    share_kept=lambda values, _: values["beta"],
    most_growth=lambda values, window: max(slope(values["c"]).bounds(window)[1], Fraction(1)),
)
"""CUBIC."""
