"""Formulas over rational numbers: written as SMT-LIB for a solver, computed exactly for a check.

A `Term` is a number or a truth value. It is built by Python's operators (``a + b``, ``a <= b``) and
by the functions of this module; `equal` is a function, because ``==`` compares objects. Formulas of
paths are linear, so that their truth can be decided; `product` of two variables is for algebra.

Source: SMT-LIB 2.6 (Barrett, Fontaine, Tinelli), logics QF_LRA and QF_NRA.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

__all__ = [
    "FALSE",
    "TRUE",
    "Number",
    "Term",
    "Value",
    "all_of",
    "any_of",
    "compute",
    "constant",
    "constant_text",
    "either",
    "equal",
    "implies",
    "larger",
    "negated",
    "product",
    "smaller",
    "total",
    "truth",
    "unknown",
    "write_script",
]

Number = int | Fraction
Value = Fraction | bool
_REAL, _BOOL = "Real", "Bool"


class Term:
    """A formula: an operation on other formulas, a variable or a constant.

    Attributes
    ----------
    operation
        Name of the operation in SMT-LIB, ``var`` or ``const``.
    operands
        Its arguments; the name of a variable; the value of a constant.
    sort
        ``Real`` or ``Bool``.
    """

    __slots__ = ("operands", "operation", "sort")

    def __init__(self, operation: str, operands: tuple[Any, ...], sort: str) -> None:
        self.operation = operation
        self.operands = operands
        self.sort = sort

    def __add__(self, other: Term | Number) -> Term:
        return Term("+", (self, _as_term(other)), _REAL)

    def __radd__(self, other: Number) -> Term:
        return Term("+", (_as_term(other), self), _REAL)

    def __sub__(self, other: Term | Number) -> Term:
        return Term("-", (self, _as_term(other)), _REAL)

    def __rsub__(self, other: Number) -> Term:
        return Term("-", (_as_term(other), self), _REAL)

    def __mul__(self, other: Number) -> Term:
        return Term("*", (constant(other), self), _REAL)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Term:
        return self * (1 / Fraction(other))

    def __le__(self, other: Term | Number) -> Term:
        return Term("<=", (self, _as_term(other)), _BOOL)

    def __lt__(self, other: Term | Number) -> Term:
        return Term("<", (self, _as_term(other)), _BOOL)

    def __ge__(self, other: Term | Number) -> Term:
        return Term("<=", (_as_term(other), self), _BOOL)

    def __gt__(self, other: Term | Number) -> Term:
        return Term("<", (_as_term(other), self), _BOOL)


def _as_term(value: Term | Number) -> Term:
    return value if isinstance(value, Term) else constant(value)


def constant(value: Number) -> Term:
    """Write a number as a term."""
    return Term("const", (Fraction(value),), _REAL)


TRUE = Term("const", (True,), _BOOL)
FALSE = Term("const", (False,), _BOOL)


def unknown(name: str) -> Term:
    """Name a number that a solver chooses."""
    return Term("var", (name,), _REAL)


def truth(name: str) -> Term:
    """Name a truth value that a solver chooses."""
    return Term("var", (name,), _BOOL)


def equal(left: Term | Number, right: Term | Number) -> Term:
    """Say that two numbers, or two truth values, are equal."""
    return Term("=", (_as_term(left), _as_term(right)), _BOOL)


def all_of(*parts: Term) -> Term:
    """Say that all hold."""
    return Term("and", parts, _BOOL) if len(parts) > 1 else (parts[0] if parts else TRUE)


def any_of(*parts: Term) -> Term:
    """Say that at least one holds."""
    return Term("or", parts, _BOOL) if len(parts) > 1 else (parts[0] if parts else FALSE)


def negated(part: Term) -> Term:
    """Say that something does not hold."""
    return Term("not", (part,), _BOOL)


def implies(condition: Term, consequence: Term) -> Term:
    """Say that the second holds wherever the first does."""
    return Term("=>", (condition, consequence), _BOOL)


def either(condition: Term, then: Term | Number, otherwise: Term | Number) -> Term:
    """Take one number where a condition holds, and another elsewhere."""
    return Term("ite", (condition, _as_term(then), _as_term(otherwise)), _REAL)


def larger(left: Term, right: Term | Number) -> Term:
    """Take the larger of two numbers."""
    other = _as_term(right)
    return either(left >= other, left, other)


def smaller(left: Term, right: Term | Number) -> Term:
    """Take the smaller of two numbers."""
    other = _as_term(right)
    return either(left <= other, left, other)


def product(left: Term, right: Term) -> Term:
    """Multiply two numbers, both of which a solver may choose."""
    return Term("*", (left, right), _REAL)


def total(parts: Sequence[Term]) -> Term:
    """Add numbers up."""
    return parts[0] if len(parts) == 1 else Term("+", tuple(parts), _REAL)


def constant_text(value: Value) -> str:
    """Write a value in SMT-LIB."""
    if isinstance(value, bool):
        return "true" if value else "false"
    whole = f"{abs(value.numerator)}.0"
    text = whole if value.denominator == 1 else f"(/ {whole} {value.denominator}.0)"
    return f"(- {text})" if value < 0 else text


class _Text:
    """Formulas as text, with what was in them.

    Attributes
    ----------
    sorts
        Of variables by name, in the order of first use.
    has_product
        Whether two numbers that a solver may choose are multiplied.
    """

    def __init__(self) -> None:
        self.sorts: dict[str, str] = {}
        self.has_product = False

    def write(self, term: Term) -> str:
        operation, operands = term.operation, term.operands
        if operation == "var":
            name: str = operands[0]
            self.sorts[name] = term.sort
            return name
        if operation == "const":
            return constant_text(operands[0])
        if operation == "*" and operands[0].operation != "const":
            self.has_product = True
        write = self.write
        return f"({operation} {' '.join([write(part) for part in operands])})"


def write_script(terms: Sequence[Term], comments: Sequence[str] = ()) -> tuple[str, dict[str, str]]:
    """Write formulas as an SMT-LIB script that ends with ``(check-sat)``.

    Parameters
    ----------
    terms
        What must hold together.
    comments
        Lines before it.

    Returns
    -------
    tuple
        The script, and the sort of each variable by name.
    """
    text = _Text()
    asserted = [f"(assert {text.write(term)})" for term in terms]
    lines = [f"; {line}" for line in comments]
    lines.append(f"(set-logic {'QF_NRA' if text.has_product else 'QF_LRA'})")
    lines += [f"(declare-const {name} {sort})" for name, sort in text.sorts.items()]
    return "\n".join([*lines, *asserted, "(check-sat)", ""]), text.sorts


def compute(term: Term, values: Mapping[str, Value]) -> Value:
    """Compute a formula exactly.

    Parameters
    ----------
    term
        The formula.
    values
        Of its variables.

    Raises
    ------
    AckclockError
        A variable has no value.
    """
    operation, parts = term.operation, term.operands
    if operation == "const":
        value: Value = parts[0]
        return value
    if operation == "var":
        if parts[0] not in values:
            raise AckclockError(f"the variable {parts[0]} has no value")
        return values[parts[0]]
    if operation == "ite":
        return compute(parts[1] if compute(parts[0], values) else parts[2], values)
    if operation == "and":
        return all(compute(part, values) for part in parts)
    if operation == "or":
        return any(compute(part, values) for part in parts)
    if operation == "=>":
        return not compute(parts[0], values) or bool(compute(parts[1], values))
    numbers = [compute(part, values) for part in parts]
    if operation == "not":
        return not numbers[0]
    if operation == "+":
        return sum((Fraction(number) for number in numbers), Fraction(0))
    left, right = numbers
    match operation:
        case "-":
            return Fraction(left) - Fraction(right)
        case "*":
            return Fraction(left) * Fraction(right)
        case "<=":
            return left <= right
        case "<":
            return left < right
        case "=":
            return left == right
    raise AckclockError(f"there is no operation {operation}")
