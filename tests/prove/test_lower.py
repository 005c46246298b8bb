"""Formulas without choices: equivalent to those that were written, and without `ite`."""

from fractions import Fraction
from itertools import product

import pytest

from ackclock.prove.lower import lower
from ackclock.prove.question import make_question
from ackclock.prove.terms import (
    all_of,
    compute,
    either,
    equal,
    implies,
    larger,
    negated,
    smaller,
    truth,
    unknown,
    write_script,
)

GRID = [Fraction(i) for i in range(-2, 3)]
X, Y, Z, P = unknown("x"), unknown("y"), unknown("z"), truth("p")
FORMULAS = [
    larger(X, Y) <= Z,
    larger(X, Y) >= Z,
    smaller(X, Y) < Z,
    smaller(X, Y) > Z,
    X - larger(Y, Z) <= 1,
    X - 2 * smaller(Y, Z) >= 1,
    -1 * larger(X, Y) < Z,
    equal(Z, larger(smaller(X, 2), Y)),
    either(all_of(P, larger(X, 0) <= Y), X, Y) + smaller(X, Z) <= 1,
    implies(negated(equal(X, smaller(Y, Z))), either(P, X, Y) > larger(Z, 0)),
]


@pytest.mark.parametrize("number", range(len(FORMULAS)))
def test_the_lowered_formula_has_the_same_truth(number):
    """For all values of a grid: equal ones, and each order of those that differ."""
    formula = FORMULAS[number]
    written = lower(formula)
    assert "ite" not in write_script([written])[0]
    for x, y, z, p in product(GRID, GRID, GRID, (False, True)):
        values = {"x": x, "y": y, "z": z, "p": p}
        assert compute(written, values) == compute(formula, values)


def test_formulas_of_paths_have_no_choice_left():
    v, terms = make_question("cubic", "utilisation=0.5", buffer=Fraction(1)).cycle(2)
    assert "ite" in write_script(terms)[0]
    assert "ite" not in write_script([lower(term) for term in terms])
    assert v.path.steps > 2
