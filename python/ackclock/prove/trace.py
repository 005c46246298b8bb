"""A path that a solver chose: its curves as numbers, and the delay that its data meet."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ackclock.prove.terms import compute

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Value

__all__ = ["Trace", "read_trace"]

PIECES = 4
"""Pieces of a base round trip in which the delay is constant."""


@dataclass(frozen=True, slots=True)
class Trace:
    """Curves of a path, a number for each step [BDP].

    Attributes
    ----------
    segment
        Size of a segment.
    period
        Steps after which it repeats; 0: it does not.
    jitter
        D [base round trips].
    sent, served, lost, noticed, window
        Of each flow.
    capacity
        K(t).
    """

    segment: Fraction
    period: int
    jitter: int
    sent: tuple[tuple[Fraction, ...], ...]
    served: tuple[tuple[Fraction, ...], ...]
    lost: tuple[tuple[Fraction, ...], ...]
    noticed: tuple[tuple[Fraction, ...], ...]
    window: tuple[tuple[Fraction, ...], ...]
    capacity: tuple[Fraction, ...]

    def rows(self) -> list[dict[str, Any]]:
        """List the curves, a row for each step and flow."""
        return [
            {
                "step": t,
                "flow": n,
                "sent": float(self.sent[n][t]),
                "served": float(self.served[n][t]),
                "lost": float(self.lost[n][t]),
                "known_lost": float(self.noticed[n][t]),
                "window": float(self.window[n][t]),
                "capacity": float(self.capacity[t]),
            }
            for t in range(len(self.capacity))
            for n in range(len(self.sent))
        ]

    def delays(self) -> list[float]:
        """Compute the delay after the link, for each piece of the cycle [base round trips].

        What leaves the link at x is number K(x) of all data, and is delivered when S reaches that:
        both are lines between steps. A trace without a cycle has its last delay for ever.
        """
        steps = self.period or len(self.capacity) - 1
        served = self._repeated([float(sum(flow)) for flow in zip(*self.served, strict=True)])
        capacity = self._repeated([float(x) for x in self.capacity])
        result: list[float] = []
        for piece in range(steps * PIECES):
            x = (piece + 0.5) / PIECES
            number = _line(capacity, x)
            delivered = _reach(served, number)
            delay = self.jitter if delivered is None else min(max(delivered - x, 0), self.jitter)
            idle = capacity[int(x) + 1] - capacity[int(x)] < 1e-9
            result.append(result[-1] if idle and result else delay)
        return result

    def _repeated(self, curve: list[float]) -> list[float]:
        if not self.period:
            return curve
        cycle = curve[: self.period]
        grows = curve[self.period] - curve[0]
        times = 3 + self.jitter
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


def read_trace(v: Curves, values: Mapping[str, Value], period: int) -> Trace:
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

    return Trace(
        segment=Fraction(compute(v.segment, values)),
        period=period,
        jitter=v.path.jitter,
        sent=tuple(numbers(flow) for flow in v.sent),
        served=tuple(numbers(flow) for flow in v.served),
        lost=tuple(numbers(flow) for flow in v.lost),
        noticed=tuple(numbers(flow) for flow in v.noticed),
        window=tuple(numbers(flow) for flow in v.window),
        capacity=numbers([v.capacity(t) for t in v.times]),
    )
