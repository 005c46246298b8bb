"""Powers as lines: linear bounds of ``factor w^power``, with a segment as the unit.

A concave curve lies below each of its tangents and above the least of its chords, a convex one
above each tangent and below the largest chord. So each bound is the smaller, or the larger, of a
few lines. Their numbers are fractions of small numbers, since solvers add them exactly: many lines
with long fractions take a hundred times longer. What is rounded is rounded outwards.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ackclock.prove.terms import constant, larger, smaller

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ackclock.prove.terms import Term

__all__ = ["SEGMENT", "TOP", "CurveBounds", "Line", "fit"]

SEGMENT = Fraction(1, 20)
"""Size of a segment for which lines are fitted [BDP]."""

TOP = 8
"""Largest window of the lines [BDP]."""

ENDS = (1, 3, 10, 40, int(TOP / SEGMENT))
"""Windows between which chords are drawn [segments]."""

SLOPES, HEIGHTS = 200, 20
"""Denominators of what a line is rounded to."""


class Line(NamedTuple):
    """A line: ``slope w + height``, in segments."""

    slope: Fraction
    height: Fraction

    def value(self, window: Fraction) -> Fraction:
        """Compute it at a window [segments]."""
        return self.slope * window + self.height


@dataclass(frozen=True, slots=True)
class CurveBounds:
    """Bounds of a curve at windows from a segment to `TOP`.

    Attributes
    ----------
    convex
        Whether a bound is the larger of its lines; else it is the smaller.
    above, below
        The lines of the upper and of the lower bound.
    """

    convex: bool
    above: tuple[Line, ...]
    below: tuple[Line, ...]

    def at_least(self, window: Term) -> Term:
        """Write the lower bound [BDP]."""
        return self._write(self.below, window)

    def at_most(self, window: Term) -> Term:
        """Write the upper bound [BDP]."""
        return self._write(self.above, window)

    def _write(self, lines: Iterable[Line], window: Term) -> Term:
        terms = [
            line.slope * window + line.height * SEGMENT if line.slope
            else constant(line.height * SEGMENT)
            for line in lines
        ]  # fmt: skip
        return reduce(larger if self.convex else smaller, terms)

    def bounds(self, window: Fraction) -> tuple[Fraction, Fraction]:
        """Compute both bounds at a window [segments]."""
        extreme = max if self.convex else min
        below, above = (
            extreme(line.value(window) for line in lines) for lines in (self.below, self.above)
        )
        return below, above


def fit(factor: Fraction, power: Fraction) -> CurveBounds:
    """Fit lines to ``factor w^power``, w a window in segments.

    Parameters
    ----------
    factor
        Positive.
    power
        Of the window.
    """
    if power in {0, 1}:
        line = Line(factor, Fraction(0)) if power else Line(Fraction(0), factor)
        return CurveBounds(convex=True, above=(line,), below=(line,))
    curve = _Power(float(factor), float(power))
    convex = not 0 < power < 1
    chords, tangents = [], []
    for left, right in pairwise(ENDS):
        chord = (curve.value(right) - curve.value(left)) / (right - left)
        chords.append(curve.bound(chord, left, right, above=convex))
        tangent = curve.slope(math.sqrt(left * right))
        tangents.append(curve.bound(tangent, ENDS[0], ENDS[-1], above=not convex))
    above, below = (chords, tangents) if convex else (tangents, chords)
    return CurveBounds(convex, tuple(dict.fromkeys(above)), tuple(dict.fromkeys(below)))


class _Power(NamedTuple):
    factor: float
    power: float

    def value(self, window: float) -> float:
        return self.factor * float(window**self.power)

    def slope(self, window: float) -> float:
        return self.value(window) * self.power / window

    def bound(self, slope: float, left: float, right: float, *, above: bool) -> Line:
        """Draw a line of about this slope that bounds the curve between two windows."""
        rounded = Fraction(round(slope * SLOPES), SLOPES)
        gaps = [self.value(window) - float(rounded) * window for window in (left, right)]
        share = float(rounded) / self.factor / self.power
        if share > 0:
            touch = share ** (1 / (self.power - 1))
            if left < touch < right:
                gaps.append(self.value(touch) - float(rounded) * touch)
        rounding = 1e-9 * (1 + max(map(abs, gaps)))
        if above:
            return Line(rounded, Fraction(math.ceil((max(gaps) + rounding) * HEIGHTS), HEIGHTS))
        return Line(rounded, Fraction(math.floor((min(gaps) - rounding) * HEIGHTS), HEIGHTS))
