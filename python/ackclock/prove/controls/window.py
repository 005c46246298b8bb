"""What controls that answer loss share: growth by windows, cuts once a window, timeouts.

Curves of the sender, seen at step t: S(t-1) is acknowledged, N(t) is known to be lost.

P(t) is what had been dropped at the last cut; Q(t) is what was acknowledged since growth was
last counted, when the window was G(t); H(t) is ssthresh. All have any value at step 0 that a
sender in congestion avoidance may have.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.prove.controls.relation import Rule
from ackclock.prove.terms import (
    all_of,
    either,
    equal,
    implies,
    larger,
    negated,
    smaller,
    truth,
    unknown,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from fractions import Fraction

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

    Bounds = Callable[[Curves, Mapping[str, Fraction], Term], tuple[Term, Term]]
    """Least and most of a value, from the window before the step."""

__all__ = [
    "CUT_RULES",
    "cut",
    "cut_state",
    "dropped_since_cut",
    "either_rule",
    "ssthresh",
    "state",
    "timeout_rule",
    "window_rules",
]


SHARES = (2, 4)
"""Parts of a window that acknowledgements of a step are compared with."""


def cut(flow: int, t: int) -> Term:
    """Name whether the window was cut in step t."""
    return truth(f"cut{flow}_{t}")


def _point(flow: int, t: int) -> Term:
    return unknown(f"P{flow}_{t}")


def dropped_since_cut(v: Curves, flow: int, t: int) -> Term:
    """Say that data were dropped up to t for which the window was not cut yet."""
    return v.lost[flow][t] > _point(flow, t)


def _counted(flow: int, t: int) -> Term:
    return unknown(f"Q{flow}_{t}")


def _base(flow: int, t: int) -> Term:
    return unknown(f"G{flow}_{t}")


def ssthresh(flow: int, t: int) -> Term:
    """Name the window up to which a step may double it."""
    return unknown(f"H{flow}_{t}")


def _cuts(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    del values
    yield negated(cut(n, 0))
    yield _point(n, 0) <= v.lost[n][0]
    for t in v.times[1:]:
        point = _point(n, t - 1)
        new = v.noticed[n][t] > larger(v.noticed[n][t - 1], point)
        yield equal(cut(n, t), all_of(new, negated(v.timeout[n][t])))
        begins = all_of(_point(n, t) >= v.lost[n][t - 1], _point(n, t) <= v.lost[n][t])
        yield either_rule(cut(n, t), v.timeout[n][t], begins, equal(_point(n, t), point))


CUT_RULES = frozenset({"cut", "cut-size", "timeout"})
"""Names of the rules of cuts, without those of growth."""


def cut_state(v: Curves, n: int, t: int) -> list[Term]:
    """Write what beside the window decides how a control of `CUT_RULES` goes on after t."""
    return [_point(n, t) - v.lost[n][t]]


def state(v: Curves, n: int, t: int) -> list[Term]:
    """Write what beside the window decides how a control of `window_rules` goes on after t."""
    return [_point(n, t) - v.lost[n][t], _counted(n, t), _base(n, t), ssthresh(n, t)]


def either_rule(cutting: Term, timeout: Term, then: Term, otherwise: Term) -> Term:
    """Say what holds after a cut or a timeout, and what where there is neither."""
    ended = negated(all_of(negated(cutting), negated(timeout)))
    return all_of(implies(ended, then), implies(negated(ended), otherwise))


def _timeouts(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
    del values
    yield v.window[n][0] >= v.segment
    for t in v.times[1:]:
        yield implies(v.timeout[n][t], equal(v.window[n][t], v.segment))


timeout_rule = Rule(
    "timeout", "A timeout makes the window a segment, the least that it can be.", _timeouts
)
"""Of all controls that have timeouts."""


def _acknowledged(v: Curves, n: int, t: int) -> Term:
    """Write what has been acknowledged outside recovery since growth was last counted."""
    acknowledged = v.served[n][t - 1] - v.served[n][t - 2]
    # In recovery, while losses from before the cut are not all known or repaired, nothing counts.
    counts = v.noticed[n][t - 1] >= _point(n, t - 1)
    return _counted(n, t - 1) + either(counts, acknowledged, 0)


def window_rules(
    gains: Bounds, kept: Bounds, *, by_acknowledgements: bool = False
) -> tuple[Rule, ...]:
    """Write the rules of a control that adds by the window and cuts once a window.

    Parameters
    ----------
    gains
        Least and most growth in a window that was acknowledged, from the window.
    kept
        Least and most of what a cut leaves.
    by_acknowledgements
        Whether a step that acknowledges a share of a window adds at most that share of the growth.
    """

    def cutting(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
        for t in v.times[1:]:
            before = v.window[n][t - 1]
            least, most = kept(v, values, before)
            grown = gains(v, values, before)[1]
            most = larger(most + grown, 2 * v.segment)
            least = larger(least, smaller(before, 2 * v.segment))
            yield implies(cut(n, t), all_of(v.window[n][t] >= least, v.window[n][t] <= most))

    def growth(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
        yield ssthresh(n, 0) <= v.window[n][0]
        for t in v.times[1:]:
            before, now = v.window[n][t - 1], v.window[n][t]
            most = gains(v, values, before)[1]
            threshold = ssthresh(n, t - 1)
            starts = before < threshold
            limit = either(starts, larger(smaller(2 * before, threshold), before), before) + most
            free = all_of(negated(cut(n, t)), negated(v.timeout[n][t]))
            yield implies(free, all_of(now >= before, now <= limit))
            if by_acknowledgements and t > 1:
                acknowledged = v.served[n][t - 1] - v.served[n][t - 2]
                for parts in SHARES:
                    few = all_of(free, negated(starts), parts * acknowledged <= before)
                    yield implies(few, now <= before + most / parts)
            yield either_rule(
                cut(n, t),
                v.timeout[n][t],
                ssthresh(n, t) <= larger(kept(v, values, before)[1] + most, now),
                equal(ssthresh(n, t), threshold),
            )

    def counting(v: Curves, values: Mapping[str, Fraction], n: int) -> Iterator[Term]:
        yield equal(_counted(n, 0), 0)
        yield equal(_base(n, 0), v.window[n][0])
        yield equal(_counted(n, 1), 0)
        yield equal(_base(n, 1), v.window[n][1])
        for t in v.times[2:]:
            before, now = v.window[n][t - 1], v.window[n][t]
            least = gains(v, values, before)[0]
            sum_ = _acknowledged(v, n, t)
            full = sum_ >= before
            fresh = all_of(equal(_counted(n, t), 0), equal(_base(n, t), now))
            goes_on = all_of(equal(_counted(n, t), sum_), equal(_base(n, t), _base(n, t - 1)))
            free = all_of(
                implies(full, all_of(now >= _base(n, t - 1) + least, fresh)),
                implies(negated(full), goes_on),
            )
            yield either_rule(cut(n, t), v.timeout[n][t], fresh, free)

    growth_sentence = "A step adds at most the growth of a window of acknowledgements"
    if by_acknowledgements:
        growth_sentence += ", or of the half or quarter that is acknowledged"
    growth_sentence += "; after a timeout it may double up to ssthresh."
    return (
        Rule("cut", "The window is cut when a loss becomes known that fell after the last cut.",
             _cuts),
        Rule("cut-size", "A cut leaves what the control's rule says.", cutting),
        timeout_rule,
        Rule("growth-at-most", growth_sentence, growth),
        Rule("growth-at-least", "A window of acknowledgements outside recovery adds at least the"
             " growth of one.", counting),
    )  # fmt: skip
