"""A question to the solvers: a control with its numbers, a path, a claim."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING

from ackclock.catalogue.schema import registry_name
from ackclock.errors import AckclockError, find_by_name, suggestion
from ackclock.prove.controls import RELATIONS
from ackclock.prove.cycle import cycle_terms, steps_of
from ackclock.prove.held import held_terms
from ackclock.prove.path import CONSTRAINTS, Curves, ModelPath, path_terms
from ackclock.prove.properties import PathClaim, read_claim

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.prove.controls import Relation
    from ackclock.prove.lemmas import Contrary, Lemma
    from ackclock.prove.path import Server
    from ackclock.prove.terms import Term

__all__ = ["Question", "make_question"]


@dataclass(frozen=True, slots=True)
class Question:
    """What is to be proved, or refuted.

    Attributes
    ----------
    relation
        The control.
    values
        Of its parameters.
    claim
        The property.
    path
        The path; its steps are set for each formula.
    without
        Rules of the control that are left out.
    held
        Whether cycles are those of a path that holds what it delivers and releases it at once
        (`ackclock.prove.held`).
    """

    relation: Relation
    values: Mapping[str, Fraction]
    claim: PathClaim
    path: ModelPath
    without: frozenset[str] = field(default_factory=frozenset)
    held: bool = False

    def curves(self, steps: int) -> Curves:
        """Make the variables of a path of so many steps."""
        return Curves(replace(self.path, steps=steps))

    def terms(self, v: Curves) -> list[Term]:
        """Write path and control."""
        return path_terms(v) + self.relation.write(v, self.values, self.without)

    def cycle(self, period: int) -> tuple[Curves, list[Term]]:
        """Write a cycle that violates the claim."""
        v = self.curves(steps_of(self.relation, period, self.path))
        violation = self.claim.kind.violation(v, self.claim.value, period)
        habits = held_terms(v, period) if self.held else ()
        return v, [*self.terms(v), *cycle_terms(v, self.relation, period), *habits, *violation]

    def from_any_state(self, steps: int) -> tuple[Curves, list[Term]]:
        """Write a path from any state that violates the claim at its end."""
        v = self.curves(steps)
        return v, [*self.terms(v), *self.claim.kind.violation(v, self.claim.value, steps)]

    def lemma(self, lemma: Lemma | Contrary) -> tuple[Curves, list[Term]]:
        """Write what would contradict a lemma."""
        v = self.curves(lemma.steps)
        return v, [*self.terms(v), *lemma.negation(v)]

    def assumptions(self) -> list[str]:
        """List what is assumed, in sentences."""
        low, high = self.path.segment
        size = f"{float(low):g} BDP" if low == high else f"{float(low):g} to {float(high):g} BDP"
        buffer = self.path.buffer
        unlimited = (
            "a buffer without bound" if buffer is None else f"a buffer of {float(buffer):g} BDP"
        )
        flows = "one flow" if self.path.flows == 1 else "two flows"
        control = ", ".join(f"{name} = {float(value):g}" for name, value in self.values.items())
        idle = {"composed", "plain", "link"} - {self.path.server}
        skipped = {"composed": "lost-when-idle", "plain": "lost-when-empty", "link": "link"}
        hidden = {skipped[server] for server in idle} | self.path.without
        hidden |= {"no-drop"} if buffer is not None else {"drop-above-buffer", "buffer-bounds"}
        hidden |= {"first-in-first-out"} if self.path.flows == 1 else set()
        access = {"passed-grows", "delivered-has-passed", "passed-is-delivered"}
        hidden |= set() if self.path.access_jitter else access
        hidden |= set() if self.path.quantum else {"whole-segments"}
        alone = self.path.access_jitter
        jitters = f"a jitter of {self.path.jitter} base round trips"
        jitters += f", one of {alone} for the last flow alone" if alone else ""
        return [
            f"The path has a constant rate, {jitters},"
            f" {unlimited} and {flows} whose segments are {size}; time goes in base round trips.",
            *(one.sentence for one in CONSTRAINTS if one.name not in hidden),
            f"The control is {self.relation.name} with {control}.",
            *(rule.sentence for rule in self.relation.rules if rule.name not in self.without),
            f"Left out of the control: {self.relation.leaves_out}.",
            *(["The base round trip is known."] if self.relation.knows_base else []),
        ]


def make_question(
    control: str,
    claim: str,
    *,
    changes: Mapping[str, object] | None = None,
    buffer: Fraction | None = None,
    jitter: int = 1,
    access_jitter: int = 0,
    server: Server = "composed",
    segment: tuple[Fraction, Fraction] | None = None,
) -> Question:
    """Make a question.

    Parameters
    ----------
    control
        Name of a control that has a relation, or another name of it, as ``reno``.
    claim
        As ``utilisation=0.5``.
    changes
        Values of parameters of the control by name.
    buffer
        [BDP]; None: without bound.
    jitter
        [base round trips].
    access_jitter
        Of the last flow alone [base round trips].
    server
        Of the path.
    segment
        Bounds of the size of a segment [BDP].

    Raises
    ------
    AckclockError
        There is no such control, property or parameter, or a value is out of its range.
    """
    relation = find_by_name(registry_name("cc", control), RELATIONS, "relation for a control")
    read = read_claim(claim)
    values = dict(relation.parameters)
    for name, given in (changes or {}).items():
        if name not in values:
            raise AckclockError(
                f'{control} has no parameter "{name}" in its relation; {suggestion(name, values)}'
            )
        try:
            value = Fraction(str(given))
        except (ValueError, ZeroDivisionError):
            raise AckclockError(f"{name} is {given}; expected a number") from None
        low, high = relation.ranges.get(name, (float("-inf"), float("inf")))
        if not low < value < high and not (value == high == 1):
            bounds = f"more than {low:g}" + (f" and at most {high:g}" if high < 1e300 else "")
            raise AckclockError(f"{name} is {given}; expected {bounds}")
        values[name] = value
    for less, more in relation.ordered:
        if values[less] > values[more]:
            numbers = f"{less} is {float(values[less]):g} and {more} {float(values[more]):g}"
            raise AckclockError(f"{numbers}; expected {less} at most {more}: set {more} too")
    size = segment or (Fraction(1, 200), Fraction(1, 10))
    if relation.segment is not None:
        if segment not in (None, (relation.segment, relation.segment)):
            text = f"{float(relation.segment):g} BDP"
            raise AckclockError(f"the lines of {control} are those of a segment of {text}")
        size = (relation.segment, relation.segment)
    path = ModelPath(
        steps=0,
        flows=read.kind.flows,
        jitter=jitter,
        access_jitter=access_jitter,
        buffer=buffer,
        server=server,
        segment=size,
        paced=relation.paced,
    )
    return Question(relation, values, read, path)
