"""Binomial controls as a relation: growth alpha/w^k a window, cuts of beta w^l.

Source: Bansal and Balakrishnan, INFOCOM 2001. The powers are lines between the windows 1, 1.5, 2,
3, 4, 6, 8, ... segments; what they err by is in the bounds. The lines are those of a segment of
1/20 BDP, and windows are at most 8 BDP.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from ackclock.prove.controls.lines import Lines, fit
from ackclock.prove.controls.relation import Relation, Rule
from ackclock.prove.controls.window import state, window_rules
from ackclock.prove.terms import larger, smaller

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["RELATION", "SEGMENT", "TOP", "WITHIN_LINES", "grid"]

SEGMENT = Fraction(1, 20)
"""Size of a segment for which lines are fitted [BDP]."""

TOP = 8
"""Largest window of the lines [BDP]."""


def grid(top: Fraction, segment: Fraction) -> tuple[Fraction, ...]:
    """Choose the ends of lines: windows of 1, 1.5, 2, 3, 4, 6, ... segments up to the top [BDP]."""
    points, x = [], segment
    while x < top:
        points += [x, min(x * Fraction(3, 2), top)]
        x *= 2
    return tuple(sorted({*points, top}))


@lru_cache
def _growth(alpha: Fraction, k: Fraction) -> Lines:
    unit = float(SEGMENT)
    return fit(
        lambda c: unit * float(alpha) * (c / unit) ** -float(k), grid(Fraction(TOP), SEGMENT)
    )


@lru_cache
def _decrease(beta: Fraction, l: Fraction) -> Lines:  # noqa: E741  the paper's name
    unit = float(SEGMENT)
    return fit(lambda c: unit * float(beta) * (c / unit) ** float(l), grid(Fraction(TOP), SEGMENT))


def _gains(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    del v
    lines = _growth(values["alpha"], values["k"])
    return larger(lines.at_least(window), 0) / 2, lines.at_most(window)


def _kept(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    lines = _decrease(values["beta"], values["l"])
    least = smaller(larger(window - lines.at_most(window), v.segment), window)
    return least, larger(window - lines.at_least(window), v.segment)


def _within(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    del values
    for t in v.times:
        yield v.window[n][t] >= v.segment
        yield v.window[n][t] <= TOP


WITHIN_LINES = Rule("within-lines", "Windows are from a segment to 8 BDP.", _within)
"""Where the lines of a control are bounds of its curves."""

RELATION = Relation(
    name="binomial",
    parameters={
        "alpha": Fraction(1),
        "beta": Fraction(1, 2),
        "k": Fraction(0),
        "l": Fraction(1),
    },
    rules=(
        *window_rules(_gains, _kept, by_acknowledgements=True),
        WITHIN_LINES,
    ),
    state=state,
    leaves_out="slow start at the beginning of a connection; windows above 8 BDP",
    segment=SEGMENT,
    ranges={"alpha": (0, float("inf")), "beta": (0, float("inf")), "k": (-1, 10), "l": (-10, 1)},
)
"""Binomial controls."""
