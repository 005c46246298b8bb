"""Formulas without choices: equivalent to those that were written, and without `ite`."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

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
    script,
    smaller,
    truth,
    unknown,
)

X, Y, Z, P = unknown("x"), unknown("y"), unknown("z"), truth("p")
NUMBER = st.integers(-3, 3)
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
@settings(max_examples=60, deadline=None, derandomize=True)
@given(x=NUMBER, y=NUMBER, z=NUMBER, p=st.booleans())
def test_the_lowered_formula_has_the_same_truth(number, x, y, z, p):
    values = {"x": Fraction(x), "y": Fraction(y), "z": Fraction(z), "p": p}
    formula = FORMULAS[number]
    assert compute(lower(formula), values) == compute(formula, values)
    assert "ite" not in script([lower(formula)])


def test_formulas_of_paths_have_no_choice_left():
    v, terms = make_question("cubic", "utilisation=0.5", buffer=Fraction(1)).cycle(2)
    assert "ite" in script(terms)
    assert "ite" not in script([lower(term) for term in terms])
    assert v.path.steps > 2
