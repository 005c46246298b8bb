"""Formulas: their text, their exact value, and what two solvers say of them."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.errors import AckclockError
from ackclock.prove.solvers import SOLVERS, Said, SolverAnswer, SolverLimits, decide
from ackclock.prove.terms import (
    all_of,
    any_of,
    compute,
    constant,
    either,
    equal,
    implies,
    negated,
    product,
    truth,
    unknown,
    write_script,
)

pytest.importorskip("z3")
pytest.importorskip("cvc5")
X, Y, P = unknown("x"), unknown("y"), truth("p")


def test_the_text_is_smt_lib():
    text, sorts = write_script([X + Fraction(-1, 3) <= Y, P], ["why"])
    assert text == (
        "; why\n(set-logic QF_LRA)\n(declare-const x Real)\n(declare-const y Real)\n"
        "(declare-const p Bool)\n(assert (<= (+ x (- (/ 1.0 3.0))) y))\n(assert p)\n(check-sat)\n"
    )
    assert sorts == {"x": "Real", "y": "Real", "p": "Bool"}


def test_a_product_of_unknowns_has_another_logic():
    assert "QF_NRA" in write_script([product(X, Y) >= 1])[0]
    assert "QF_LRA" in write_script([3 * X >= 1])[0]


@pytest.mark.parametrize(
    ("terms", "word"),
    [
        ([X > 1, X < 1], "impossible"),
        ([X + Y <= 1, 2 * X >= 1, implies(P, Y > 0), P], "possible"),
        # The numbers of this one are no fractions, and cannot be checked.
        ([equal(product(X, X), 2), X > 0], "unknown"),
        ([equal(product(X, X), 4), X > 0], "possible"),
        ([product(X, X) < 0], "impossible"),
        ([either(P, X, Y) > 1, negated(P), Y < 0], "impossible"),
        ([any_of(X < 0, X > 2), all_of(X >= 0, X <= 2)], "impossible"),
    ],
)
def test_both_solvers_agree(terms, word):
    answer = decide(terms, SolverLimits())
    assert answer.word == word
    assert answer.agreed is (word != "unknown")
    for solver in SOLVERS:
        assert decide(terms, SolverLimits(solvers=(solver,))).word == word


def test_a_limit_of_work_gives_no_verdict():
    several = [unknown(f"x{i}") for i in range(60)]
    terms = [any_of(equal(x, 0), equal(x, 1)) for x in several]
    triples = zip(several, several[7:], several[13:], strict=False)
    terms += [any_of(x + y + z > 2, x - y + z < 0) for x, y, z in triples]
    answer = decide(terms, SolverLimits(work=10, solvers=("z3",)))
    assert answer.word == "unknown"
    assert answer.undecided == ("z3",)


def test_one_solver_is_no_agreement_and_neither_is_one_that_gave_up():
    alone = SolverAnswer((Said("z3", "impossible", 0.0),), "")
    assert not alone.agreed
    half = SolverAnswer((Said("z3", "impossible", 0.0), Said("cvc5", "unknown", 0.0)), "")
    assert not half.agreed
    assert half.word == "impossible"


def test_solvers_that_contradict_each_other_give_no_verdict(monkeypatch):
    from ackclock.prove import solvers

    monkeypatch.setitem(solvers.SOLVERS, "cvc5", lambda *_: ("impossible", {}))
    with pytest.raises(AckclockError, match="contradict"):
        decide([X > 0], SolverLimits())


def test_numbers_that_do_not_satisfy_the_formulas_are_refused(monkeypatch):
    from ackclock.prove import solvers

    monkeypatch.setitem(solvers.SOLVERS, "z3", lambda *_: ("possible", {"x": Fraction(-1)}))
    with pytest.raises(AckclockError, match="do not satisfy"):
        decide([X > 0], SolverLimits())


def test_the_second_solver_is_given_the_numbers_of_the_first(monkeypatch):
    """It may still contradict them, and then there is no verdict."""
    from ackclock.prove import solvers

    texts = []

    def solve(text, _sorts, _limits):
        texts.append(text)
        return "possible", {"x": Fraction(-3, 2), "p": True}

    for name in SOLVERS:
        monkeypatch.setitem(solvers.SOLVERS, name, solve)
    answer = decide([X < 0, P], SolverLimits())
    assert answer.agreed
    assert texts[0] == answer.text
    pinned = "(assert (= x (- (/ 3.0 2.0))))\n(assert (= p true))\n(check-sat)\n"
    assert texts[1] == answer.text.replace("(check-sat)\n", pinned)
    monkeypatch.undo()
    monkeypatch.setitem(solvers.SOLVERS, "z3", solve)
    assert decide([X < 0, P], SolverLimits()).agreed
    monkeypatch.setattr(solvers, "compute", lambda *_: True)
    with pytest.raises(AckclockError, match="contradict"):
        decide([X > 0, P], SolverLimits())


def test_a_call_may_take_half_of_the_time_that_is_left(monkeypatch):
    from ackclock.prove import solvers

    now = 100.0
    seconds = []

    def solve(_text, _sorts, limits):
        nonlocal now
        seconds.append(limits.seconds)
        now += 8
        return "impossible", {}

    for name in SOLVERS:
        monkeypatch.setitem(solvers.SOLVERS, name, solve)
    monkeypatch.setattr(solvers.time, "perf_counter", lambda: now)
    limits = SolverLimits.within(20)
    assert decide([X > 0], limits).agreed
    assert seconds == [10, 6]
    assert limits.left == 4
    assert limits.part(0.25).left == 1
    now += 4
    assert decide([X > 0], limits).undecided == ("z3",)
    assert len(seconds) == 2


@pytest.mark.parametrize(
    ("wanted", "solvers"), [(None, 2), ("possible", 2), ("impossible", 1), ("unknown", 1)]
)
def test_what_does_not_lead_on_is_said_by_one_solver(wanted, solvers):
    answer = decide([X > 0], SolverLimits(), wanted=wanted)
    assert answer.word == "possible"
    assert len(answer.replies) == solvers
    assert answer.agreed is (solvers == 2)


@settings(max_examples=30, deadline=None)
@given(st.fractions(), st.fractions(), st.fractions())
def test_values_are_exact(a, b, c):
    values = {"x": a, "y": b}
    assert compute(X + Y - c, values) == a + b - c
    assert compute(either(X <= Y, X, Y), values) == min(a, b)
    assert compute(constant(c) * 2 <= X, values) == (2 * c <= a)
