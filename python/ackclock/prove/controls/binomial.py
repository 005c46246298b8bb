"""Binomial controls as a relation: growth alpha/w^k a window, cuts of beta w^l.

Source: Bansal and Balakrishnan, INFOCOM 2001. The powers are bounded by lines
(`ackclock.prove.controls.lines`), for a segment of 1/20 BDP and windows of at most 8 BDP.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

from ackclock.prove.controls.lines import SEGMENT, TOP, CurveBounds, fit
from ackclock.prove.controls.relation import Relation, Rule
from ackclock.prove.controls.window import state, window_rules
from ackclock.prove.terms import equal, larger, smaller, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["RELATION", "WITHIN_LINES"]


@lru_cache
def _growth(alpha: Fraction, k: Fraction) -> CurveBounds:
    return fit(alpha, -k)


@lru_cache
def _decrease(beta: Fraction, l: Fraction) -> CurveBounds:  # noqa: E741  the paper's name
    return fit(beta, l)


def _most_growth(window: Term) -> Term:
    return unknown(f"grows_{window.operands[0]}")


def _least_decrease(window: Term) -> Term:
    return unknown(f"falls_{window.operands[0]}")


def _on_lines(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    """Name the bounds that several rules have: a solver then splits their cases only once."""
    growth = _growth(values["alpha"], values["k"])
    decrease = _decrease(values["beta"], values["l"])
    for window in v.window[n]:
        yield equal(_most_growth(window), growth.at_most(window))
        yield equal(_least_decrease(window), decrease.at_least(window))


def _gains(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    del v
    lines = _growth(values["alpha"], values["k"])
    return larger(lines.at_least(window), 0) / 2, _most_growth(window)


def _kept(v: Curves, values: Mapping[str, Fraction], window: Term) -> tuple[Term, Term]:
    lines = _decrease(values["beta"], values["l"])
    least = smaller(larger(window - lines.at_most(window), v.segment), window)
    return least, larger(window - _least_decrease(window), v.segment)


def _share_kept(values: Mapping[str, Fraction], window: Fraction) -> Fraction:
    """Share of a window, or of a larger one, that a cut leaves: of l <= 1 it grows with it."""
    _, most = _decrease(values["beta"], values["l"]).bounds(window)
    return (1 - most / window).limit_denominator(20)


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
        Rule("on-lines", "The most that a window adds, and the least that a cut takes, are on the"
             " lines of the two powers.", _on_lines),
        WITHIN_LINES,
    ),
    state=state,
    leaves_out="slow start at the beginning of a connection; windows above 8 BDP",
    segment=SEGMENT,
    ranges={"alpha": (0, float("inf")), "beta": (0, float("inf")), "k": (-1, 10), "l": (-10, 1)},
    share_kept=_share_kept,
    most_growth=lambda values, window: _growth(values["alpha"], values["k"]).bounds(window)[1],
)  # fmt: skip
"""Binomial controls."""
