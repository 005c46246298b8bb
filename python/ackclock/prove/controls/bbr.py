"""BBR version 1 in its state ProbeBW, as a relation with shortened filters.

Source: Cardwell et al., 2016. The bandwidth is the largest rate of delivery of the last `rounds`
round trips (10 there); pacing gains 1.25, 0.75 and 1 follow in a cycle of `phases` (8 there); the
window is twice bandwidth times base round trip. The shortening to 4 and 4 is that of Arun et al.,
SIGCOMM 2021.

A rate of delivery is taken over a round trip: at least a base round trip, so it is at most what two
steps in a row delivered; and at most as long as jitter and a queue of one BDP make it, so it is at
least the least rate over so many steps. What one step delivered at once, after a jitter, counts
less than it was; a relation in which it counts in full has fewer paths (rule `at-once`), and
counterexamples are looked for there first.

Deviations: the base round trip is known, so there is no ProbeRTT; no Startup and no Drain.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.controls.delay import no_state
from ackclock.prove.controls.relation import Relation, Rule
from ackclock.prove.terms import any_of, equal, implies, larger, truth, unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["RELATION", "gains_in_any_order"]

ROUNDS, PHASES = 4, 4
"""Round trips of the filter, and of the cycle of gains."""


def _estimate(n: int, t: int) -> Term:
    return unknown(f"B{n}_{t}")


def _bandwidth(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    del values
    served = v.served[n]
    longest = 2 + v.path.jitter
    for t in v.times[2:]:
        back = range(min(t - 1, ROUNDS))
        floor = v.segment / (1 + v.path.jitter)
        yield _estimate(n, t) >= floor
        for end in (t - 1 - k for k in back):
            if end >= longest:
                rates = [(served[end] - served[end - w]) / w for w in range(1, longest + 1)]
                yield any_of(*(_estimate(n, t) >= rate for rate in rates))
        if t > ROUNDS:
            most = served[t - 1] - served[max(t - 3, 0)]
            for k in back:
                most = larger(served[t - 1 - k] - served[max(t - 3 - k, 0)], most)
            yield _estimate(n, t) <= larger(most, floor)


def _at_once(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    del values
    for t in v.times[2:]:
        for k in range(min(t - 1, ROUNDS)):
            yield _estimate(n, t) >= v.served[n][t - 1 - k] - v.served[n][t - 2 - k]


def _gains(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    del values
    for t in v.times:
        yield v.rate[n][t] >= 0
    for t in v.times[2:]:
        yield v.rate[n][t] >= Fraction(3, 4) * _estimate(n, t)
        yield v.rate[n][t] <= Fraction(5, 4) * _estimate(n, t)


gains_in_any_order = Rule(
    "gains", "It paces at 0.75 to 1.25 times the estimate, in any order.", _gains
)
"""In place of `pacing`: phases of packets are as long as round trips, not as steps."""


def _window(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    for t in v.times[2:]:
        window = values["cwnd_gain"] * _estimate(n, t)
        yield equal(v.window[n][t], larger(window, 4 * v.segment))


def _pacing(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    del values
    phases = [truth(f"phase{n}_{k}") for k in range(PHASES)]
    yield any_of(*phases)
    for t in v.times:
        yield v.rate[n][t] >= 0
    for t in v.times[2:]:
        for k, begins in enumerate(phases):
            gain = {0: Fraction(5, 4), 1: Fraction(3, 4)}.get((t + k) % PHASES, Fraction(1))
            yield implies(begins, equal(v.rate[n][t], gain * _estimate(n, t)))


RELATION = Relation(
    name="bbr",
    parameters={"cwnd_gain": Fraction(2)},
    rules=(
        Rule("bandwidth", "The estimate is the largest rate of delivery of four round trips, each"
             " over a base round trip or as much more as jitter and a queue of a BDP make it, at"
             " least a segment in base round trip and jitter.", _bandwidth),
        Rule("window", "The window is a gain times the bandwidth and the base round trip, at"
             " least four segments.", _window),
        Rule("pacing", "It paces at the estimate, times 1.25, 0.75, 1 and 1 in turn.", _pacing),
    ),
    state=no_state,
    leaves_out="Startup, Drain, ProbeRTT; filters of ten round trips; losses",
    memory=6,
    paced=True,
    # Its cycle of gains has eight phases of a round trip each, its filter ten round trips.
    left_at=("pacing", "bandwidth"),
    knows_base=True,
    period=PHASES,
    narrower=(
        Rule("at-once", "What a step delivers counts in full as a rate of delivery.", _at_once),
    ),
    ranges={"cwnd_gain": (1, float("inf"))},
)  # fmt: skip
"""BBR."""
