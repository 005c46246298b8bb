"""Available bandwidth over time: the rules of Table 2 as seeded generators of steps.

Source: Akella et al. (2002), section 3.1.

Rule (B the available bandwidth per test flow, t counts steps)::

    constant        B(t) = B0
    square          B(t) = B0 and the lower rate in turn, from B0 on
    walk            B(t+1) uniform in [B(t) - reach B0, B(t) + reach B0],  B(0) = B0
    uniform         B(t) uniform in [0, B0]
    additive        B(t+1) uniform in [0, B(t) + reach B0],  B(0) = B0
    multiplicative  B(t+1) uniform in [0, reach B(t)],       B(0) = B0

A rate above the capacity per flow is set to it, as in the paper. A random rate below ``floor`` B0
is set to that, which the paper does not say: without it the walk reaches negative rates, and the
multiplicative rule, whose logarithm falls by 1 - ln(5/3) = 0.49 per step, dies out.
"""

from __future__ import annotations

import itertools
import random
from bisect import bisect_right
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ackclock.scenario.environments.table import Environment

__all__ = ["Pattern", "pattern"]


@dataclass(frozen=True)
class Pattern:
    """A rate that holds from each time on, the last for ever.

    Parameters
    ----------
    times_s
        Times in order, the first 0 [s].
    rates_bps
        Rates from these times on [bit/s].
    """

    times_s: tuple[float, ...]
    rates_bps: tuple[float, ...]

    @classmethod
    def of(cls, steps: Sequence[tuple[float, float]]) -> Pattern:
        """Make one of (time, rate) pairs; a step that changes nothing is left out.

        Parameters
        ----------
        steps
            In order of time, the first at 0.
        """
        kept = [step for i, step in enumerate(steps) if i == 0 or step[1] != steps[i - 1][1]]
        return cls(tuple(at for at, _ in kept), tuple(rate for _, rate in kept))

    def at(self, time_s: float) -> float:
        """The rate at a time [bit/s].

        Parameters
        ----------
        time_s
            0 or later [s].
        """
        return self.rates_bps[max(bisect_right(self.times_s, time_s) - 1, 0)]

    def mean(self, begin_s: float, end_s: float) -> float:
        """Mean rate over an interval [bit/s].

        Parameters
        ----------
        begin_s, end_s
            The interval, of positive length [s].
        """
        ends = (*self.times_s[1:], float("inf"))
        total = 0.0
        for begin, end, rate in zip(self.times_s, ends, self.rates_bps, strict=True):
            total += rate * max(min(end, end_s) - max(begin, begin_s), 0.0)
        return total / (end_s - begin_s)

    def steps(self) -> Iterator[tuple[float, float]]:
        """The (time, rate) pairs."""
        return zip(self.times_s, self.rates_bps, strict=True)


def pattern(
    environment: Environment,
    *,
    duration_s: float,
    step_s: float,
    floor: float,
    most_bps: float,
    base_bps: float | None,
    seed: int,
) -> Pattern:
    """Make the bandwidth per test flow over a run.

    Equal arguments give equal patterns on every machine; the seed alone decides the draws, so
    that all controls compared under one seed see the same bandwidth.

    Parameters
    ----------
    environment
        Whose rule; not one of TCP transfers.
    duration_s
        Length of the run [s].
    step_s
        Time between two changes [s].
    floor
        Least rate of the random rules, as a part of B0.
    most_bps
        Capacity per test flow [bit/s].
    base_bps
        B0 [bit/s]; None: that of Table 2.
    seed
        Of the draws.
    """
    base = environment.base_bps if base_bps is None else base_bps
    low = environment.low_bps * base / environment.base_bps
    draw = random.Random(f"{seed}/environment/{environment.name}")
    least = floor * base

    def clip_rate(rate: float) -> float:
        return min(max(rate, least), most_bps)

    def rates() -> Iterator[float]:
        rate, reach = base, environment.reach
        match environment.rule:
            case "constant":
                yield min(base, most_bps)
            case "square":
                yield from itertools.cycle((min(base, most_bps), min(low, most_bps)))
            case "uniform":
                while True:
                    yield clip_rate(draw.uniform(0.0, base))
            case rule:
                while True:
                    rate = clip_rate(rate)
                    yield rate
                    if rule == "walk":
                        rate = draw.uniform(rate - reach * base, rate + reach * base)
                    elif rule == "additive":
                        rate = draw.uniform(0.0, rate + reach * base)
                    else:
                        rate = draw.uniform(0.0, reach * rate)

    steps = []
    for number, rate in enumerate(rates()):
        time_s = number * step_s
        if time_s >= duration_s:
            break
        steps.append((time_s, rate))
    return Pattern.of(steps)
