"""Lemmas as data: what is assumed of a state, what is shown of it some steps later.

A region is a set of states between bounds. If every path that begins in a region is in it again
after T steps, it is in it at every T-th step for ever; what is shown of T steps from any state of
the region then holds in each of these blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ackclock.prove.terms import constant, negated

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["Bound", "Contrary", "Lemma", "QuantityFall", "Region"]

Quantity = Literal["window", "unnoticed", "queue", "backlog"]

_NAMES: dict[Quantity, str] = {
    "window": "the window",
    "unnoticed": "unknown loss",
    "queue": "the queue",
    "backlog": "what waits in the path",
}


def _value(v: Curves, quantity: Quantity, t: int) -> Term:
    if quantity == "window":
        return v.window[0][t]
    if quantity == "unnoticed":
        return v.unnoticed(t)
    if quantity == "backlog":
        return v.backlog(t)
    return v.accepted(t) - v.capacity(t)


@dataclass(frozen=True, slots=True)
class Bound:
    """A bound of a quantity: ``constant + jitter D + buffer b + segments s``.

    Attributes
    ----------
    quantity
        ``window``, ``unnoticed`` (lost and not known to be), ``queue`` (what waits for capacity),
        ``backlog`` (what is accepted and not delivered).
    sense
        ``at most`` or ``at least``.
    constant, jitter, buffer, segments
        Multiples of C R, C D, b and a segment.
    """

    quantity: Quantity
    sense: Literal["at most", "at least"]
    constant: Fraction = Fraction(0)
    jitter: Fraction = Fraction(0)
    buffer: Fraction = Fraction(0)
    segments: Fraction = Fraction(0)

    def write(self, v: Curves, t: int) -> Term:
        """Write it for a step."""
        number = self.constant + self.jitter * v.path.jitter
        if v.path.buffer is not None:
            number += self.buffer * v.path.buffer
        limit = constant(number) + self.segments * v.segment
        value = _value(v, self.quantity, t)
        return value <= limit if self.sense == "at most" else value >= limit

    def __str__(self) -> str:
        parts = [
            f"{float(number):g} {unit}".strip()
            for number, unit in (
                (self.constant, "C R"),
                (self.jitter, "C D"),
                (self.buffer, "b"),
                (self.segments, "segments"),
            )
            if number
        ]
        limit = " + ".join(parts).replace("+ -", "- ") or "0"
        return f"{_NAMES[self.quantity]} is {self.sense} {limit}"


@dataclass(frozen=True, slots=True)
class QuantityFall:
    """A fall of a quantity from the step of the assumption to the last, by at least so much."""

    quantity: Quantity
    constant: Fraction = Fraction(0)
    segments: Fraction = Fraction(0)

    def write(self, v: Curves, t: int, begins: int) -> Term:
        """Write it for the steps from one to another."""
        fall = _value(v, self.quantity, begins) - _value(v, self.quantity, t)
        return fall >= constant(self.constant) + self.segments * v.segment

    def __str__(self) -> str:
        parts = [
            f"{float(number):g} {unit}"
            for number, unit in ((self.constant, "C R"), (self.segments, "segments"))
            if number
        ]
        name = _NAMES[self.quantity]
        return f"{name} falls by {' + '.join(parts)}" if parts else f"{name} does not rise"


Region = tuple[Bound, ...]
"""Bounds that hold together."""


@dataclass(frozen=True, slots=True)
class Lemma:
    """A statement that solvers decide.

    Attributes
    ----------
    name
        A word or two.
    assume
        What holds at the step `begins`.
    unless
        What does not hold then.
    show
        At least one of these holds at the last step.
    steps
        The last step.
    begins
        Step of the assumption: as far back as the control's rules look, so that all of them hold
        after it.
    """

    name: str
    assume: Region
    show: tuple[Bound | QuantityFall, ...]
    steps: int
    unless: Region = ()
    begins: int = 0

    def negation(self, v: Curves) -> list[Term]:
        """Write what would contradict it."""
        return [
            *(bound.write(v, self.begins) for bound in self.assume),
            *(negated(bound.write(v, self.begins)) for bound in self.unless),
            *(negated(self._shown(v, one)) for one in self.show),
        ]

    def _shown(self, v: Curves, one: Bound | QuantityFall) -> Term:
        if isinstance(one, QuantityFall):
            return one.write(v, self.steps, self.begins)
        return one.write(v, self.steps)

    @property
    def sentence(self) -> str:
        """The statement in a sentence."""
        given = [str(bound) for bound in self.assume]
        given += [f"not ({bound})" for bound in self.unless]
        shown = " or ".join(str(one) for one in self.show)
        return (
            f"if {' and '.join(given)}, then after {self.steps - self.begins} round trips {shown}"
        )


@dataclass(frozen=True, slots=True)
class Contrary:
    """A lemma by its contrary, which solvers find impossible.

    Attributes
    ----------
    name
        A word or two.
    sentence
        The lemma.
    steps
        The last step.
    negation
        Writes what would contradict it.
    """

    name: str
    sentence: str
    steps: int
    negation: Callable[[Curves], list[Term]]
