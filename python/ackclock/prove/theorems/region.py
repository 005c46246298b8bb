"""AIMD's region: how large its window and the loss that it does not know of may be.

With D + 1 = 2 round trips in flight and a buffer of b, a window above C (R + D) + b must lose. All
that follows holds for a window that grows by at most a segment in a round trip, however it grows,
from any state, and with timeouts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.prove.controls.window import dropped_since_cut
from ackclock.prove.lemmas import Contrary
from ackclock.prove.terms import all_of, implies, negated

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["AIMD_REGION"]

STEPS, FALLS_WITHIN = 10, 14
"""Round trips after which losses are known, and within which a window that is too large falls."""

SLACK = 3
"""Segments above C (R + D) + b to which the window comes down."""

LARGEST = SLACK + STEPS
"""Segments above it beyond which the window does not come again."""


def _limit(v: Curves, segments: int) -> Term:
    assert v.path.buffer is not None
    return segments * v.segment + (1 + v.path.jitter + v.path.buffer)


def _left_room(v: Curves, t: int) -> Term:
    """Say that, after a loss for which the window was not cut yet, c - u is at least b."""
    assert v.path.buffer is not None
    new = all_of(v.unnoticed(t) > 0, dropped_since_cut(v, 0, t))
    return implies(new, v.window[0][t] - v.unnoticed(t) >= v.path.buffer)


def _few_lost(v: Curves, t: int) -> Term:
    assert v.path.buffer is not None
    return v.unnoticed(t) <= _limit(v, LARGEST) - v.path.buffer


def _within(v: Curves, t: int) -> Term:
    small = v.window[0][t] <= _limit(v, LARGEST)
    return all_of(small, _left_room(v, t), _few_lost(v, t))


def _unknown_for_long(v: Curves) -> list[Term]:
    return [v.noticed[0][STEPS] < v.lost[0][0]]


def _never_lower(v: Curves) -> list[Term]:
    window = v.window[0]
    lower = (window[t] > window[0] - v.segment for t in v.times[1:])
    return [window[0] > _limit(v, SLACK), *lower]


def _much_lost(v: Curves) -> list[Term]:
    small = (v.window[0][t] <= _limit(v, LARGEST) for t in v.times)
    return [*small, negated(_few_lost(v, STEPS))]


def _no_room(v: Curves) -> list[Term]:
    return [negated(_left_room(v, STEPS))]


def _is_left(v: Curves) -> list[Term]:
    return [_within(v, 0), v.window[0][1] <= _limit(v, LARGEST), negated(_within(v, 1))]


def _grows_beyond(v: Curves) -> list[Term]:
    within: Iterator[Term] = (_within(v, t) for t in range(STEPS))
    return [*within, v.window[0][STEPS] > _limit(v, LARGEST)]


_BOUND = f"C (R + D) + b + {LARGEST} segments"

AIMD_REGION = (
    Contrary("loss becomes known", f"what was lost is known {STEPS} round trips later", STEPS,
             _unknown_for_long),
    Contrary("falls", f"a window above C (R + D) + b + {SLACK} segments is a segment lower within"
             f" {FALLS_WITHIN} round trips", FALLS_WITHIN, _never_lower),
    Contrary("loss comes down", f"after {STEPS} round trips with windows up to {_BOUND} unknown"
             " loss is at most that less b", STEPS, _much_lost),
    Contrary("room is left", f"after {STEPS} round trips a window for whose loss there was no cut"
             " yet is at least b above unknown loss", STEPS, _no_room),
    Contrary("both stay", "as long as the window is within its bound both are so a round trip"
             " later", 1, _is_left),
    Contrary("window stays", f"after {STEPS} round trips with both it is", STEPS, _grows_beyond),
)  # fmt: skip
"""Lemmas: the first two say that the region is reached, the others that it is kept."""
