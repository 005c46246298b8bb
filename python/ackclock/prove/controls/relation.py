"""What a control may do with its window in a step: a relation between curves, not a program."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from fractions import Fraction

    from ackclock.prove.path import Curves
    from ackclock.prove.terms import Term

__all__ = ["Relation", "Rule"]


class Rule(NamedTuple):
    """One thing that a control does.

    Attributes
    ----------
    name
        By which it is named where a packet run does not obey it.
    sentence
        What it says.
    write
        Writes it for a flow and all steps.
    """

    name: str
    sentence: str
    write: Callable[[Curves, Mapping[str, Fraction], int], Iterator[Term]]


@dataclass(frozen=True, slots=True)
class Relation:
    """A control as a relation.

    Attributes
    ----------
    name
        Of the control in packets, in the room ``cc``.
    parameters
        Those of the packet form that the relation has, with the packet form's defaults.
    rules
        What it does.
    leaves_out
        What the packet form does beside.
    state
        Writes, for a flow and a step, what beside its window decides how it goes on.
    memory
        Steps back that the rules look: two paths whose last steps of this number agree go on alike.
    paced
        Whether it paces.
    ranges
        Open bounds of parameters.
    left_at
        Rules that packet runs were seen to leave; what is proved is then of the relation alone.
    knows_base
        Whether the relation knows the base round trip, which the packet form measures.
    period
        Steps after which its rules repeat by themselves; cycles are multiples of it.
    segment
        None: of any size; a number: the rules are lines fitted for this size of a segment [BDP].
    narrower
        Rules of some runs of the control, not of all: a counterexample that keeps to them is looked
        for first, as packets are more likely to follow it.
    units
        By parameter that is not one of the packet form: its unit and meaning.
    ordered
        Pairs of parameters of which the first is at most the second.
    share_kept
        Share that a cut of a window of so many segments, or of a larger one, leaves at least;
        None: of no use for a proof.
    most_growth
        Most that a window of so many segments grows in a step [segments].
    """

    name: str
    parameters: Mapping[str, Fraction]
    rules: tuple[Rule, ...]
    leaves_out: str
    state: Callable[[Curves, int, int], list[Term]]
    memory: int = 2
    paced: bool = False
    left_at: tuple[str, ...] = ()
    knows_base: bool = False
    period: int = 1
    segment: Fraction | None = None
    narrower: tuple[Rule, ...] = ()
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    ordered: tuple[tuple[str, str], ...] = ()
    share_kept: Callable[[Mapping[str, Fraction], Fraction], Fraction] | None = None
    most_growth: Callable[[Mapping[str, Fraction], Fraction], Fraction] | None = None

    def write(
        self,
        curves: Curves,
        values: Mapping[str, Fraction],
        without: frozenset[str] = frozenset(),
    ) -> list[Term]:
        """Write the rules for every flow.

        Parameters
        ----------
        curves
            Variables of the path.
        values
            Of the parameters.
        without
            Rules that are left out.
        """
        return [
            term
            for flow in curves.flows
            for rule in self.rules
            if rule.name not in without
            for term in rule.write(curves, values, flow)
        ]
