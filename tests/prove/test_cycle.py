"""What a cycle is, the delay of an idle link, and runs held against the path model, by hand."""

from dataclasses import replace
from fractions import Fraction

import pytest

from ackclock.errors import UnsupportedError
from ackclock.prove import elsewhere
from ackclock.prove.controls import RELATIONS
from ackclock.prove.cycle import cycle_terms, steps_of
from ackclock.prove.path import Curves, ModelPath, path_terms
from ackclock.prove.refine import Samples, left_rules, obeys
from ackclock.prove.solvers import SolverLimits, decide
from ackclock.prove.terms import equal, negated
from ackclock.prove.trace import ModelTrace

pytest.importorskip("z3")
Z3 = SolverLimits(solvers=("z3",))
ANYTHING = replace(RELATIONS["aimd"], rules=())
PERIOD = 2


@pytest.mark.parametrize(
    ("memory", "jitter", "access_jitter", "overlap"),
    [(1, 1, 0, 1), (1, 1, 1, 2), (2, 1, 0, 2), (1, 3, 0, 3), (2, 2, 2, 5)],
)
def test_a_cycle_overlaps_by_the_steps_that_rules_and_paths_look_back(
    memory, jitter, access_jitter, overlap
):
    """A state that is repeated has a step less of overlap than it has of memory."""
    path = ModelPath(steps=1, jitter=jitter, access_jitter=access_jitter)
    for period in (1, 4):
        assert steps_of(replace(ANYTHING, memory=memory), period, path) == period + overlap


def word(write, *, jitter=1, **changes):
    """What a solver says of a cycle in which `write` holds."""
    steps = steps_of(ANYTHING, PERIOD, ModelPath(steps=1, jitter=jitter))
    v = Curves(ModelPath(steps=steps, jitter=jitter, buffer=Fraction(1), **changes))
    terms = [*path_terms(v), *cycle_terms(v, ANYTHING, PERIOD), *write(v, steps)]
    return decide(terms, Z3).word


def moves(curve, steps):
    return curve[steps] - curve[steps - PERIOD]


# What ends otherwise than it began.
NO_CYCLE = {
    "the window": lambda v, end: [negated(equal(moves(v.window[0], end), 0))],
    "what is sent": lambda v, end: [moves(v.sent[0], end) > moves(v.sent[0], PERIOD)],
    "what is served": lambda v, end: [moves(v.served[0], end) > moves(v.served[0], PERIOD)],
    "what is lost": lambda v, end: [moves(v.lost[0], end) > moves(v.lost[0], PERIOD)],
    "losses that are known": lambda v, _: [v.unnoticed(PERIOD) > v.unnoticed(0)],
    "losses of the first step": lambda v, _: [
        v.served[0][PERIOD] > v.served[0][0],
        v.noticed[0][PERIOD] < v.lost[0][0],
    ],
    "the queue": lambda v, _: [
        v.accepted(PERIOD) - v.served[0][PERIOD] > v.accepted(0) - v.served[0][0]
    ],
    "capacity without use": lambda v, end: [
        v.capacity(end) - v.all_passed(end) > v.capacity(end - PERIOD) - v.all_passed(end - PERIOD)
    ],
}


@pytest.mark.parametrize("name", NO_CYCLE)
def test_a_cycle_ends_as_it_began(name):
    assert word(NO_CYCLE[name]) == "impossible"


def test_there_are_cycles_with_losses_and_idle_links():
    assert word(lambda v, _: [v.lost[0][PERIOD] > v.lost[0][0]]) == "possible"
    assert word(lambda v, _: [v.waste[PERIOD] > v.waste[0]]) == "possible"


def test_an_idle_link_keeps_the_last_delay():
    """Every other step nothing leaves; what did is held for a step."""
    capacity = tuple(map(Fraction, (0, 1, 1, 2, 2)))
    held = tuple(map(Fraction, (0, 0, 1, 1, 2)))
    zero = (Fraction(0),) * 5
    one = (held,)
    trace = ModelTrace(Fraction(1, 10), 2, 1, one, one, one, (zero,), (zero,), one, capacity)
    assert trace.delays() == [1.0] * 8


# Ten segments in a step, a window of two steps; nothing arrives in the third, then twice as much.
BURST = Samples(
    sent=(20, 20, 30, 40, 40, 60),
    served=(0, 10, 20, 20, 40, 50),
    lost=(0,) * 6,
    noticed=(0,) * 6,
    window=(20,) * 6,
    packets=10,
    jitter=0,
    buffer=None,
)


def test_a_step_of_silence_and_a_burst_are_what_sampling_makes_of_packets():
    assert left_rules(BURST, ANYTHING, {}) == ()
    assert not obeys(replace(BURST, jitter=-1), ANYTHING, {})


@pytest.mark.slow
def test_a_run_that_leaves_one_rule_names_it():
    """Data is held for a step, not for two."""
    late = replace(BURST, sent=(20, 20, 30, 40, 40, 40), served=(0, 10, 20, 20, 20, 40))
    assert "served-at-least" in left_rules(late, ANYTHING, {})


@pytest.mark.slow
def test_a_run_that_leaves_more_than_one_rule_says_several():
    """Losses are not taken back, and data is held for more than a step."""
    late = replace(BURST, sent=(20, 20, 30, 40, 40, 40), served=(0, 10, 20, 20, 20, 40))
    unlost = replace(late, lost=(10, 10, 10, 0, 0, 0), buffer=Fraction(3))
    assert left_rules(unlost, ANYTHING, {}) == ("several",)


def test_what_a_path_does_is_no_constant_of_shipped_code(monkeypatch):
    """The threshold of marks is the path's, and may be any; a constant may not."""
    relation = RELATIONS["dctcp"]
    values = {**relation.parameters, "marks_above": Fraction(7)}
    monkeypatch.setattr(elsewhere, "_libraries", lambda _: ["mine"])
    elsewhere.check_elsewhere("stacks", relation, values)
    changed = replace(relation, units={})
    with pytest.raises(UnsupportedError, match="has its constants; leave marks_above"):
        elsewhere.check_elsewhere("stacks", changed, values)
