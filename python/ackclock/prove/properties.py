"""What can be claimed of a control: a line each, with the violation that a solver looks for.

A property is of one of three kinds. A *cycle* property holds for ever unless some cycle violates
it. A *moment* property is one that any state may violate at once, so that two steps from any state
decide it for all time. A *reach* property names a number of round trips, from any state that it
describes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Literal

from ackclock.errors import AckclockError, find_by_name
from ackclock.prove.terms import all_of, any_of, equal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["PROPERTIES", "PathClaim", "Property", "read_claim"]


@dataclass(frozen=True, slots=True)
class Property:
    """A kind of claim.

    Attributes
    ----------
    name
        As on the command line, before ``=``.
    kind
        ``cycle``, ``moment`` or ``reach``.
    sentence
        The claim, with ``{value}``.
    violation
        Writes what violates it: from the path, the value, and the last step.
    least, most
        Bounds of the value, both allowed.
    value
        What the value is; empty: there is none.
    flows
        Of the path.
    by_more
        Writes, from the path and the last step, a violation by so much more that packets, which
        are whole, should show it too; None: there is none.
    """

    name: str
    kind: Literal["cycle", "moment", "reach"]
    sentence: str
    violation: Callable[[Curves, Fraction, int], Iterator[Term]]
    least: float
    most: float
    value: str
    flows: int = 1
    by_more: Callable[[Curves, int], Term] | None = None


def _little_delivered(v: Curves, value: Fraction, end: int) -> Iterator[Term]:
    yield v.all_served(end) - v.all_served(0) < value * end


def _always_queued(v: Curves, value: Fraction, end: int) -> Iterator[Term]:
    for t in range(end):
        yield v.accepted(t) - v.capacity(t) > value


def _early_loss(v: Curves, value: Fraction, end: int) -> Iterator[Term]:
    yield any_of(
        *(
            all_of(v.lost[0][t] > v.lost[0][t - 1], v.window[0][t] < value)
            for t in range(1, end + 1)
        )
    )


def _starved(v: Curves, value: Fraction, end: int) -> Iterator[Term]:
    first, second = (v.served[n][end] - v.served[n][0] for n in (0, 1))
    yield first > 0
    yield second < value * first
    # A long queue is the matter of `standing-queue`.
    for t in range(end + 1):
        yield v.accepted(t) - v.capacity(t) <= 1


def _nothing_delivered(v: Curves, value: Fraction, end: int) -> Iterator[Term]:
    del value
    yield equal(v.all_served(end), v.all_served(0))


def _slow_recovery(v: Curves, value: Fraction, end: int) -> Iterator[Term]:
    del value
    yield v.window[0][0] >= 2
    yield v.unnoticed(0) <= 0
    # Two steps of any loss, then none.
    for t in range(3, end + 1):
        yield equal(v.lost[0][t], v.lost[0][2])
    yield v.lost[0][2] > v.lost[0][0]
    yield v.all_served(end) - v.all_served(end - 2) < 1


def _slower_recovery(v: Curves, end: int) -> Term:
    return v.all_served(end) - v.all_served(end - 2) < Fraction(3, 4)


PROPERTIES: dict[str, Property] = {
    one.name: one
    for one in (
        Property("utilisation", "cycle",
                 "at least {value} of the capacity is delivered in every cycle",
                 _little_delivered, 0, 1, "a share of the capacity"),
        Property("standing-queue", "cycle",
                 "no cycle keeps more than {value} BDP queued all the time",
                 _always_queued, 0, 100, "BDP"),
        Property("loss-above", "moment",
                 "nothing is dropped while the window is below {value} BDP",
                 _early_loss, 0, 100, "BDP"),
        Property("no-starvation", "cycle",
                 "of two flows one delivers at least {value} of the other in every cycle that"
                 " queues at most 1 BDP",
                 _starved, 0, 1, "a ratio of two flows", flows=2),
        Property("no-deadlock", "reach",
                 "within {value} round trips something is delivered, from any state",
                 _nothing_delivered, 2, 20, "round trips"),
        Property("recovery", "reach",
                 "half of the capacity is delivered {value} round trips after a burst of losses"
                 " begins at a window of 2 BDP or more",
                 _slow_recovery, 4, 20, "round trips", by_more=_slower_recovery),
    )
}  # fmt: skip
"""What can be claimed."""


@dataclass(frozen=True, slots=True)
class PathClaim:
    """A property with its value."""

    kind: Property
    value: Fraction

    @property
    def sentence(self) -> str:
        """The claim in a sentence."""
        return self.kind.sentence.format(value=f"{float(self.value):g}")

    @property
    def text(self) -> str:
        """The claim as on the command line."""
        return f"{self.kind.name}={float(self.value):g}"


def read_claim(text: str) -> PathClaim:
    """Read a claim, as ``utilisation=0.5``.

    Parameters
    ----------
    text
        Name, equals sign, value.

    Raises
    ------
    AckclockError
        There is no such property, or its value is none that it can have.
    """
    name, equals, number = (part.strip() for part in text.partition("="))
    kind = find_by_name(name, PROPERTIES, "property")
    problem = f"{text}: expected {name}=NUMBER, {kind.value} from {kind.least:g} to {kind.most:g}"
    if not equals:
        raise AckclockError(problem)
    try:
        value = Fraction(number)
    except (ValueError, ZeroDivisionError):
        raise AckclockError(problem) from None
    whole = kind.kind == "reach" and value.denominator != 1
    if not kind.least <= value <= kind.most or whole:
        raise AckclockError(problem + (", a whole number" if kind.kind == "reach" else ""))
    return PathClaim(kind, value)
