"""What a cut leaves: lemmas that prove a utilisation of controls that answer loss, for all time.

By hand: data are dropped only if what is accepted, S(t-1) + c(t) - u(t) with u unknown loss, is b
above K(t-1) >= S(t-1). So the window that loses has c - u >= b, and a cut of it leaves at least
``share`` b, above which it stays until the next one. Capacity is lost only where what is accepted
has been served: K(t) >= S(t-1) + c(t) - u(t) >= K(t-1-D) + c(t) - u(t). So K grows by 1 in a round
trip, or by what the window sends in D + 1 of them.

What is between both is unknown loss that fills the window after a cut. A potential pays for it:
a window above (R + D) C leaves more than is claimed, and what it grew by falls away in the cut. So

    at every step K has grown, in some number j of the round trips before, by as much as is claimed
    for j of them and as the potential has grown; the potential is ``slope`` (c - (R + D) C), or 0

and K grows as claimed for ever. Solvers decide it from all states between bounds that are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.prove.controls.window import dropped_since_cut
from ackclock.prove.terms import all_of, any_of, equal, implies, negated, unknown

if TYPE_CHECKING:
    from ackclock.prove.path import Curves
    from ackclock.prove.question import Question
    from ackclock.prove.terms import Term

__all__ = ["Floor", "floor_of"]

HEADROOM = 1
"""How far above C (R + D) + b, which loses, windows are bounded [BDP]."""


@dataclass(frozen=True, slots=True)
class Floor:
    """Bounds of window and unknown loss, and a potential.

    Attributes
    ----------
    share
        Of a window that a cut leaves at least.
    buffer
        b [BDP].
    full
        Window that keeps the path busy [BDP].
    most
        Bound of the window [BDP].
    slope
        Of the potential.
    """

    share: Fraction
    buffer: Fraction
    full: Fraction
    most: Fraction
    slope: Fraction

    @property
    def least(self) -> Fraction:
        """Smallest window that a cut leaves [BDP]."""
        return self.share * self.buffer

    def bounds(self, v: Curves, t: int) -> Term:
        """Say that window and unknown loss are between the bounds at a step."""
        window, loss = v.window[0][t], v.unnoticed(t)
        new = all_of(loss > 0, dropped_since_cut(v, 0, t))
        return all_of(
            window >= self.least,
            implies(new, window - loss >= self.buffer),
            any_of(new, loss <= 0, self.share * loss <= window - self.least),
            self.is_limited(v, t),
            loss <= self.most - self.buffer,
        )

    def is_limited(self, v: Curves, t: int) -> Term:
        """Say that the window is not above its bound at a step."""
        return v.window[0][t] <= self.most

    def is_left(self, question: Question) -> tuple[Curves, list[Term]]:
        """Write a step without timeout from within the bounds to a state that is not."""
        v = question.curves(1)
        terms = [*question.terms(v), self.bounds(v, 0), negated(v.timeout[0][1])]
        return v, [*terms, self.is_limited(v, 1), negated(self.bounds(v, 1))]

    def grows_beyond(self, question: Question, steps: int) -> tuple[Curves, list[Term]]:
        """Write steps within the bounds after which the window is above its own."""
        v = question.curves(steps)
        terms = [*question.terms(v), *(self.bounds(v, t) for t in range(steps))]
        terms += (negated(v.timeout[0][t]) for t in v.times)
        return v, [*terms, negated(self.is_limited(v, steps))]

    def times_out(self, question: Question, steps: int) -> tuple[Curves, list[Term]]:
        """Write steps within the bounds after which there is a timeout."""
        v = question.curves(steps)
        terms = [*question.terms(v), *(self.bounds(v, t) for t in range(steps))]
        terms += (negated(v.timeout[0][t]) for t in range(steps))
        return v, [*terms, v.timeout[0][steps]]

    def falls_short(self, question: Question, steps: int) -> tuple[Curves, list[Term]]:
        """Write steps within the bounds whose every ending has too little capacity used."""
        v = question.curves(steps)
        terms = [*question.terms(v), *(self.bounds(v, t) for t in v.times)]
        terms += (negated(v.timeout[0][t]) for t in v.times)
        ahead = []
        for t in v.times:
            # A name for the potential: a comparison of it then has one case.
            potential, rest = unknown(f"phi_{t}"), self.slope * (v.window[0][t] - self.full)
            terms += [potential >= 0, potential >= rest]
            terms.append(any_of(equal(potential, 0), equal(potential, rest)))
            ahead.append(v.capacity(t) - question.claim.value * t - potential)
        return v, [*terms, *(ahead[-1] < before for before in ahead[:-1])]


def floor_of(question: Question) -> Floor | None:
    """Choose the bounds for a question; None: a cut may leave too little for the claim.

    Parameters
    ----------
    question
        Of a utilisation.
    """
    relation, path, claim = question.relation, question.path, question.claim.value
    if relation.share_kept is None or relation.most_growth is None or path.buffer is None:
        return None
    full = Fraction(1 + path.jitter)
    share = relation.share_kept(question.values, path.buffer / path.segment[1])
    if share <= 0 or share * path.buffer < claim * full or claim == 1:
        return None
    most = full + path.buffer + HEADROOM
    growth = max(
        relation.most_growth(question.values, window / path.segment[1]) for window in (full, most)
    )
    # What a busy path has above the claim in a round trip pays for what the window grows in it.
    slope = (1 - claim) / (growth * path.segment[1])
    return Floor(share, path.buffer, full, most, slope.limit_denominator(10) or Fraction(1, 10))
