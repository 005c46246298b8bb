"""What controls that aim at a queueing delay share: more when it is small, less when it is large.

Data acknowledged in the steps t-1 and t were delivered between t-3 and t-1. If all of them had
come d steps before they were delivered, their delay was at least d; if none had, at most d:

    at least d:  X(t-3-d) >= S(t-1)
    at most d:   X(t-1-d) <= S(t-3)

With q the queueing delay and R the base round trip, w q/(R + q) segments of a window w are queued.
Of these a control aims at no fewer than `low` and no more than `high`. For each whole d the
products are of a constant and a variable. What lies between two whole d may go either way.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.controls.relation import Rule
from ackclock.prove.terms import all_of, any_of, equal, implies, larger, smaller

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

    Target = Callable[[Mapping[str, Fraction]], tuple[Fraction, Fraction]]
    """Fewest and most segments kept queued."""
    Move = Callable[[Curves, Mapping[str, Fraction], Term], Term]
    """Most that a step adds, or takes."""

__all__ = ["MEMORY", "delay_rules", "no_state"]

MEMORY = 4
"""Steps back that these rules look, with a jitter of one."""


def no_state(v: Curves, n: int, t: int) -> list[Term]:
    """Write nothing: the window and the curves decide."""
    del v, n, t
    return []


def small(v: Curves, n: int, t: int, low: Fraction, *, least: bool) -> Term:
    """Say that the delay is so small that fewer than `low` segments are queued for sure."""
    window = v.window[n][t - 1]
    first = t - 1 if least else t - 3
    return any_of(
        *(
            all_of(
                v.came(t - 1 - d, n) <= v.went(first, n),
                window * d < (low * (1 + d)) * v.segment,
            )
            for d in range(t)
        )
    )


def large(v: Curves, n: int, t: int, high: Fraction) -> Term:
    """Say that the delay is so large that more than `high` segments are queued for sure."""
    window = v.window[n][t - 1]
    return any_of(
        *(
            all_of(
                v.came(t - 3 - d, n) >= v.went(t - 1, n),
                window * d > (high * (1 + d)) * v.segment,
            )
            for d in range(1, t - 2)
        )
    )


def _shares(v: Curves, n: int, t: int) -> Iterator[tuple[Fraction, Term]]:
    """Shares of a window, each with whether so much of one is acknowledged in a step."""
    acknowledged = v.served[n][t - 1] - v.served[n][t - 2]
    for parts in (1, 2, 4, 8):
        yield Fraction(1, parts), parts * acknowledged >= v.window[n][t - 1]


def delay_rules(
    target: Target, up: Move, down: Move, fall: Move, least: int, *, by_least: bool
) -> tuple[Rule, ...]:
    """Write the rules of a control that aims at a queue.

    Parameters
    ----------
    target
        Fewest and most segments that it keeps queued.
    up, down
        Most that a step adds and takes.
    fall
        What a window of acknowledgements takes at least, twice that.
    least
        Least window [segments].
    by_least
        Whether the control goes by the least delay of a round trip, so that what was last delivered
        decides where its delay is small; else by all.
    """

    def moves(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
        for t in v.times[1:]:
            before, now = v.window[n][t - 1], v.window[n][t]
            floor = smaller(before, least * v.segment)
            most, take = up(v, values, before), down(v, values, before)
            yield now <= before + most
            yield now >= larger(before - take, floor)
            if t == 1:
                continue
            acknowledged = v.served[n][t - 1] - v.served[n][t - 2]
            yield implies(acknowledged <= 0, equal(now, before))
            for parts in (4, 8):
                few = parts * acknowledged <= before
                yield implies(few, now <= before + most * Fraction(2, parts))
                yield implies(few, now >= larger(before - take * Fraction(2, parts), floor))

    def rises(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
        low, _ = target(values)
        for t in v.times[3:]:
            before, now = v.window[n][t - 1], v.window[n][t]
            calm = small(v, n, t, low, least=by_least)
            yield implies(calm, now >= before)
            for share, enough in _shares(v, n, t):
                more = before + up(v, values, before) * (share / 2)
                yield implies(all_of(calm, enough), now >= more)

    def falls(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
        _, high = target(values)
        for t in v.times[4:]:
            before, now = v.window[n][t - 1], v.window[n][t]
            full = large(v, n, t, high)
            yield implies(full, now <= before)
            for share, enough in _shares(v, n, t):
                floor = smaller(before, least * v.segment)
                less = larger(before - fall(v, values, before) * (share / 2), floor)
                yield implies(all_of(full, enough), now <= less)

    return (
        Rule("moves", "A step adds and takes at most what the control does in a round trip, and of"
             " that at most twice the share of a window that is acknowledged.", moves),
        Rule("rises", "The window does not fall while fewer segments than the target are queued,"
             " and grows by half of its move for a window of acknowledgements, or its share.",
             rises),
        Rule("falls", "The window does not rise while more segments than the target are queued,"
             " and shrinks likewise.", falls),
    )  # fmt: skip
