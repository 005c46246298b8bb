"""Curves as lines: bounds of a nonlinear function that are linear between the points of a grid.

Between two points the function lies within an error of its chord, which is computed on a fine grid
and widened by what a fine grid may miss. What the bounds say is rounded outwards to rationals.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

from ackclock.prove.terms import constant, either

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ackclock.prove.terms import Term

__all__ = ["Lines", "fit"]

_FINE = 64
"""Points of the fine grid within a piece."""


class Lines(NamedTuple):
    """Bounds of a function on an interval.

    Attributes
    ----------
    points
        Ends of the pieces.
    values
        Of the function there.
    error
        Most by which the function leaves its chord.
    """

    points: tuple[Fraction, ...]
    values: tuple[Fraction, ...]
    error: Fraction

    def at_least(self, x: Term) -> Term:
        """Write the lower bound."""
        return self._chord(x) - self.error

    def at_most(self, x: Term) -> Term:
        """Write the upper bound."""
        return self._chord(x) + self.error

    def _chord(self, x: Term) -> Term:
        pieces = list(zip(self.points, self.points[1:], self.values, self.values[1:], strict=False))
        left, right, low, high = pieces[-1]
        slope = (high - low) / (right - left)
        result = slope * x + (low - slope * left)
        for left, right, low, high in reversed(pieces[:-1]):
            slope = (high - low) / (right - left)
            result = either(x <= constant(right), slope * x + (low - slope * left), result)
        return result


def fit(function: Callable[[float], float], points: Sequence[Fraction]) -> Lines:
    """Fit chords to a smooth function.

    Parameters
    ----------
    function
        Of a number.
    points
        Ends of the pieces, ascending.
    """
    values = tuple(Fraction(round(function(float(x)) * 10**6), 10**6) for x in points)
    error = 0.0
    for left, right, low, high in zip(points, points[1:], values, values[1:], strict=False):
        width = float(right - left) / _FINE
        inside = [float(left) + width * i for i in range(_FINE + 1)]
        chord = [float(low) + (float(high) - float(low)) * i / _FINE for i in range(_FINE + 1)]
        gaps = [function(x) - line for x, line in zip(inside, chord, strict=True)]
        # Between two points of the fine grid the gap changes by no more than it does beside them.
        steps = max(abs(b - a) for a, b in pairwise(gaps))
        error = max(error, max(abs(gap) for gap in gaps) + steps)
    return Lines(tuple(points), values, Fraction(int(error * 10**6) + 2, 10**6))
