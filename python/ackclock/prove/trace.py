"""A path that a solver chose: its curves as numbers, and the delay that its data meet."""

from __future__ import annotations

import math
from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ackclock.prove.terms import compute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Value

__all__ = ["ModelTrace", "read_trace"]

PIECES, PIECES_AT_ONCE = 4, 8
"""Pieces of a base round trip in which the delay is constant; where data pass at once."""


@dataclass(frozen=True, slots=True)
class ModelTrace:
    """Curves of a path, a number for each step [BDP].

    Attributes
    ----------
    segment
        Size of a segment.
    period
        Steps after which it repeats; 0: it does not.
    jitter
        D [base round trips].
    sent, served, passed, lost, noticed, window
        Of each flow.
    capacity
        K(t).
    access_jitter
        J [base round trips].
    """

    segment: Fraction
    period: int
    jitter: int
    sent: tuple[tuple[Fraction, ...], ...]
    served: tuple[tuple[Fraction, ...], ...]
    passed: tuple[tuple[Fraction, ...], ...]
    lost: tuple[tuple[Fraction, ...], ...]
    noticed: tuple[tuple[Fraction, ...], ...]
    window: tuple[tuple[Fraction, ...], ...]
    capacity: tuple[Fraction, ...]
    access_jitter: int = 0

    def rows(self) -> list[dict[str, Any]]:
        """List the curves, a row for each step and flow."""
        return [
            {
                "step": t,
                "flow": n,
                "sent": float(self.sent[n][t]),
                "served": float(self.served[n][t]),
                **({"passed": float(self.passed[n][t])} if self.access_jitter else {}),
                "lost": float(self.lost[n][t]),
                "known_lost": float(self.noticed[n][t]),
                "window": float(self.window[n][t]),
                "capacity": float(self.capacity[t]),
            }
            for t in range(len(self.capacity))
            for n in range(len(self.sent))
        ]

    def delays(self, *, at_once: bool = False) -> list[float]:
        """Compute the delay after the link, for each piece of the cycle [base round trips].

        What leaves the link at x is number K(x) of all data, and passes when Z reaches that: both
        are lines between steps. A trace without a cycle has its last delay for ever.

        Parameters
        ----------
        at_once
            Whether what passes in a step does so at its beginning, as soon as it has left the link,
            in place of all along it. Both have the same Z at every step.
        """
        passed = [sum(flow) for flow in zip(*self.passed, strict=True)]
        return self._between(self.capacity, passed, self.jitter, at_once=at_once)

    def access_delays(self, *, at_once: bool = False) -> list[float]:
        """Compute what the last flow's data are held for behind the shared path, likewise."""
        leaving = self.served[-1]
        return self._between(self.passed[-1], leaving, self.access_jitter, at_once=at_once)

    def _between(
        self,
        entering: Sequence[Fraction],
        leaving: Sequence[Fraction],
        most: int,
        *,
        at_once: bool,
    ) -> list[float]:
        steps = self.period or len(self.capacity) - 1
        enters = self._repeated([float(x) for x in entering])
        leaves = self._repeated([float(x) for x in leaving])
        result: list[float] = []
        pieces = PIECES_AT_ONCE if at_once else PIECES
        for piece in range(steps * pieces):
            x = (piece + 0.5) / pieces
            reached = _reach(leaves, _line(enters, x))
            if at_once and reached is not None:
                # Of a piece what leaves the link first is held longest.
                reached, x = math.ceil(reached) - 1, piece / pieces
            delay = most if reached is None else min(max(reached - x, 0), most)
            idle = enters[int(x) + 1] - enters[int(x)] < 1e-9
            result.append(result[-1] if idle and result else delay)
        return result

    def _repeated(self, curve: list[float]) -> list[float]:
        if not self.period:
            return curve
        cycle = curve[: self.period]
        grows = curve[self.period] - curve[0]
        times = 3 + self.jitter + self.access_jitter
        return [value + grows * i for i in range(times) for value in cycle]


def _line(curve: Sequence[float], x: float) -> float:
    left = min(int(x), len(curve) - 2)
    return curve[left] + (curve[left + 1] - curve[left]) * (x - left)


def _reach(curve: Sequence[float], number: float) -> float | None:
    right = bisect_left(curve, number - 1e-12)
    if right >= len(curve):
        return None
    if right == 0:
        return 0.0
    low, high = curve[right - 1], curve[right]
    return right - 1 + (number - low) / (high - low)


def read_trace(v: Curves, values: Mapping[str, Value], period: int) -> ModelTrace:
    """Read the curves of a path from a solver's numbers.

    Parameters
    ----------
    v
        The path.
    values
        By variable.
    period
        Steps after which it repeats; 0: it does not.
    """

    def numbers(curves: list[Any]) -> tuple[Fraction, ...]:
        return tuple(Fraction(compute(term, values)) for term in curves)

    return ModelTrace(
        segment=Fraction(compute(v.segment, values)),
        period=period,
        jitter=v.path.jitter,
        sent=tuple(numbers(flow) for flow in v.sent),
        served=tuple(numbers(flow) for flow in v.served),
        passed=tuple(numbers(flow) for flow in v.passed),
        lost=tuple(numbers(flow) for flow in v.lost),
        noticed=tuple(numbers(flow) for flow in v.noticed),
        window=tuple(numbers(flow) for flow in v.window),
        capacity=numbers([v.capacity(t) for t in v.times]),
        access_jitter=v.path.access_jitter,
    )
