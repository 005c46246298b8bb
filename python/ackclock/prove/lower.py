"""Formulas without choices between numbers: what a solver reads in place of `ite`.

A comparison with the larger or the smaller of two numbers is one with each of them, joined by *and*
or *or*; one with a number that depends on a condition is one for each case. What remains compares
sums, which the simplex methods of solvers take as they are. The formulas are equivalent, and the
numbers that a solver gives are put into those that were written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ackclock.prove.terms import Term, all_of, any_of, implies, negated

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["lower"]


class _Choice(NamedTuple):
    """A choice between numbers within a sum.

    Attributes
    ----------
    node
        The choice.
    put
        Writes the sum with another number in its place.
    grows
        Whether the sum grows with it.
    """

    node: Term
    put: Callable[[Term], Term]
    grows: bool


def lower(term: Term) -> Term:
    """Write a formula without choices between numbers.

    Parameters
    ----------
    term
        A truth value.
    """
    operation, parts = term.operation, term.operands
    if operation in {"and", "or", "not", "=>"}:
        return Term(operation, tuple(lower(part) for part in parts), term.sort)
    if operation == "=" and parts[0].sort == "Bool":
        return Term("=", tuple(lower(part) for part in parts), term.sort)
    if operation == "=" and any(_find(part) for part in parts):
        return all_of(lower(parts[0] <= parts[1]), lower(parts[1] <= parts[0]))
    if operation in {"<=", "<"}:
        return _compare(operation, *parts)
    return term


def _compare(operation: str, low: Term, high: Term) -> Term:
    choice = _find(low)
    on_low = choice is not None
    choice = choice or _find(high)
    if choice is None:
        return Term(operation, (low, high), "Bool")
    condition, then, otherwise = choice.node.operands
    put = choice.put
    first, second = (
        _compare(operation, put(part), high) if on_low else _compare(operation, low, put(part))
        for part in (then, otherwise)
    )
    extreme = _extreme(condition, then, otherwise)
    if extreme:
        # The comparison is easier to satisfy as the choice grows: on the high side of it.
        easier = choice.grows is not on_low
        return any_of(first, second) if (extreme == "larger") is easier else all_of(first, second)
    case = lower(condition)
    return all_of(implies(case, first), implies(negated(case), second))


def _extreme(condition: Term, then: Term, otherwise: Term) -> str:
    """Name the extreme of two numbers that a choice is; empty: it is none."""
    if condition.operation in {"<=", "<"}:
        if condition.operands[0] is then and condition.operands[1] is otherwise:
            return "smaller"
        if condition.operands[0] is otherwise and condition.operands[1] is then:
            return "larger"
    return ""


def _find(term: Term) -> _Choice | None:
    """Find a choice in a sum."""
    if term.operation == "ite":
        return _Choice(term, lambda number: number, grows=True)
    if term.operation in {"var", "const"}:
        return None
    for i, part in enumerate(term.operands):
        inner = _find(part)
        if inner is None:
            continue
        if term.operation == "*" and term.operands[0].operation != "const":
            return None  # of unknown sign
        falls = (term.operation == "-" and i == 1) or (
            term.operation == "*" and term.operands[0].operands[0] < 0
        )

        def put(number: Term, i: int = i, inner: _Choice = inner) -> Term:
            parts = (*term.operands[:i], inner.put(number), *term.operands[i + 1 :])
            return Term(term.operation, parts, term.sort)

        return _Choice(inner.node, put, inner.grows is not falls)
    return None
