"""The path model: what it allows, what it forbids, and that each constraint is needed."""

from fractions import Fraction

import pytest

from ackclock.prove.path import CONSTRAINTS, Curves, ModelPath, path_terms
from ackclock.prove.solvers import SolverLimits, decide
from ackclock.prove.terms import all_of, any_of, equal, negated

pytest.importorskip("z3")
Z3 = SolverLimits(solvers=("z3",))


def possible(path, *extra):
    """Whether some path of the model does something."""
    v = Curves(path)
    terms = [*path_terms(v), *(term for write in extra for term in write(v))]
    return decide(terms, Z3).word == "possible"


def path(**changes):
    return ModelPath(**({"steps": 3, "buffer": Fraction(1)} | changes))


# For each constraint: paths on which it matters, and what it forbids there.
FORBIDDEN = {
    "start": ({}, lambda v: [v.noticed[0][0] > v.lost[0][0]]),
    # With a jitter of one it follows from what must be delivered.
    "served-grows": ({"jitter": 2}, lambda v: [v.served[0][2] < v.served[0][1]]),
    "lost-grows": ({}, lambda v: [v.lost[0][1] < v.lost[0][0]]),
    "noticed-grows": ({}, lambda v: [v.noticed[0][1] < v.noticed[0][0]]),
    # Of one flow it follows from the bounds of the buffer.
    "accepted-grows": ({"flows": 2}, lambda v: [v.accepted(2, 0) < v.accepted(1, 0)]),
    "waste-grows": ({}, lambda v: [v.capacity(1) > v.capacity(0) + 1]),
    "waste-at-most": ({"jitter": 2}, lambda v: [v.capacity(1) < v.capacity(0)]),
    "served-was-accepted": ({}, lambda v: [v.served[0][1] > v.accepted(1)]),
    "served-at-most": ({}, lambda v: [v.served[0][1] > v.capacity(1)]),
    "served-at-least": ({}, lambda v: [v.served[0][2] < v.capacity(1)]),
    "lost-when-idle": (
        {},
        lambda v: [
            v.capacity(1) < v.capacity(0) + 1,
            v.capacity(1) < v.accepted(1),
        ],
    ),
    "lost-when-empty": (
        {"server": "plain"},
        lambda v: [v.waste[1] > v.waste[0], v.accepted(1) > v.served[0][1]],
    ),
    "link": ({"server": "link"}, lambda v: [v.capacity(1) > v.accepted(1)]),
    "drop-above-buffer": (
        {},
        lambda v: [v.lost[0][1] > v.lost[0][0], v.accepted(1) < v.capacity(0) + 1],
    ),
    "buffer-bounds": ({}, lambda v: [v.accepted(1) > v.capacity(1) + 1]),
    "no-drop": ({"buffer": None}, lambda v: [v.lost[0][1] > v.lost[0][0]]),
    "noticed-by-duplicates": (
        {},
        lambda v: [
            v.accepted(0) + 3 * v.segment <= v.served[0][1],
            negated(v.timeout[0][2]),
            v.noticed[0][2] < v.lost[0][0],
        ],
    ),
    "not-noticed-before": (
        {},
        lambda v: [negated(v.timeout[0][1]), v.noticed[0][1] > v.lost[0][0]],
    ),
    "timeout-in-silence": ({}, lambda v: [v.timeout[0][1], v.served[0][0] < v.accepted(0)]),
    "timeout-after-waiting": (
        {},
        lambda v: [v.timeout[0][2], v.served[0][1] > v.served[0][0]],
    ),
    "timeout-ends-silence": (
        {},
        lambda v: [
            equal(v.served[0][1], v.accepted(1)),
            equal(v.served[0][1], v.served[0][0]),
            equal(v.sent[0][1], v.sent[0][0]),
            v.unnoticed(1) > 0,
            negated(v.timeout[0][2]),
        ],
    ),
    "timeout-notices": ({}, lambda v: [v.timeout[0][1], v.noticed[0][1] < v.lost[0][0]]),
    "sends": (
        {},
        lambda v: [v.sent[0][1] < v.served[0][0] + v.noticed[0][1] + v.window[0][1]],
    ),
    "first-in-first-out": (
        {"flows": 2},
        lambda v: [v.accepted(0) <= v.all_served(1), v.served[0][1] < v.accepted(0, 0)],
    ),
    "passed-grows": (
        {"access_jitter": 2, "jitter": 2},
        lambda v: [v.passed[0][2] < v.passed[0][1]],
    ),
    "delivered-has-passed": (
        {"access_jitter": 1},
        lambda v: [v.served[0][1] > v.passed[0][1]],
    ),
    "passed-is-delivered": (
        {"access_jitter": 1},
        lambda v: [v.served[0][2] < v.passed[0][1]],
    ),
    "whole-segments": (
        {"quantum": True},
        lambda v: [
            v.served[0][1] > v.served[0][0],
            v.served[0][1] < v.served[0][0] + v.segment,
        ],
    ),
}


def test_every_constraint_has_a_check():
    assert set(FORBIDDEN) == {one.name for one in CONSTRAINTS}


@pytest.mark.slow
@pytest.mark.parametrize("name", FORBIDDEN)
def test_a_constraint_forbids_what_nothing_else_does(name):
    changes, write = FORBIDDEN[name]
    assert not possible(path(**changes), write)
    assert possible(path(**changes, without=frozenset({name})), write)


@pytest.mark.parametrize("server", ["composed", "plain", "link"])
def test_paths_with_loss_idleness_and_queues_exist(server):
    assert possible(
        path(server=server, steps=6),
        lambda v: [
            v.lost[0][2] > v.lost[0][1],
            v.waste[6] > v.waste[5],
            v.noticed[0][5] > v.noticed[0][4],
            any_of(*(v.backlog(t) > 1 for t in v.times)),
        ],
    )


def test_a_path_goes_on_after_a_timeout():
    assert possible(
        path(steps=6),
        lambda v: [
            v.timeout[0][2],
            v.noticed[0][2] > v.noticed[0][1],
            v.served[0][6] > v.served[0][3],
        ],
    )


def test_a_link_with_jitter_is_a_composed_path():
    """A path of the server `link` that is none of `composed` does not exist."""
    composed = next(one for one in CONSTRAINTS if one.name == "lost-when-idle")

    def outside(v):
        rules = list(composed.write(Curves(path(server="composed"))))
        yield negated(all_of(*rules))

    assert not possible(path(server="link"), outside)


def test_without_jitter_and_with_data_waiting_the_link_is_full():
    assert not possible(
        path(jitter=0, steps=4),
        lambda v: [
            *(v.accepted(t) > v.capacity(t) for t in range(1, 5)),
            v.all_served(4) - v.all_served(0) < 4,
        ],
    )


def test_with_a_window_of_two_products_a_jitter_of_one_costs_nothing():
    """In flight for two round trips at most, so two products fill the path: a closed form."""

    def constant(window):
        return lambda v: [equal(v.window[0][t], window) for t in v.times]

    def below(share):
        return lambda v: [v.all_served(5) - v.all_served(0) < share * 5]

    unlimited = path(buffer=None, steps=5)
    assert not possible(unlimited, constant(2), below(Fraction(4, 5)))
    assert possible(unlimited, constant(1), below(Fraction(4, 5)))


def test_a_segment_is_within_its_bounds_and_losses_may_be_known_at_first():
    low, high = ModelPath(1).segment
    for outside in (low - Fraction(1, 1000), high + Fraction(1, 1000)):
        assert not possible(path(), lambda v, outside=outside: [equal(v.segment, outside)])
    for inside in (low, high):
        assert possible(path(), lambda v, inside=inside: [equal(v.segment, inside)])
    assert possible(path(), lambda v: [v.noticed[0][0] > 0])
    assert not possible(path(), lambda v: [v.noticed[0][0] < 0])


@pytest.mark.parametrize("jitter", [0, 1, 2])
def test_capacity_kept_at_first_is_at_most_what_came_in_a_jitter(jitter):
    """By hand: S(0) = 0 is what there was the capacity for a jitter ago, so K(0) is at most D."""
    kept = path(jitter=jitter)
    assert possible(kept, lambda v: [equal(v.capacity(0), jitter)])
    assert not possible(kept, lambda v: [v.capacity(0) > jitter])
    # What came before step 0 leaves step by step.
    assert possible(kept, lambda v: [equal(v.capacity(0), jitter), equal(v.all_served(1), 1)])
    if jitter:
        assert not possible(kept, lambda v: [equal(v.capacity(0), jitter), v.all_served(1) < 1])


def test_a_link_passes_nothing_that_was_not_accepted_at_first():
    assert not possible(path(server="link"), lambda v: [v.capacity(0) > v.accepted(0)])
    assert possible(path(server="link"), lambda v: [v.capacity(0) < v.accepted(0)])


def test_a_loss_that_is_known_stays_possible_where_no_more_become_known():
    """What was known before is known still, however few segments passed since."""
    assert possible(
        path(),
        lambda v: [
            equal(v.noticed[0][1], v.noticed[0][0]),
            v.noticed[0][0] > 0,
            v.lost[0][0] > v.noticed[0][0],
            negated(v.timeout[0][1]),
            v.accepted(0) + 3 * v.segment > v.served[0][0],
        ],
    )


def test_losses_become_known_by_what_is_delivered_beyond_them():
    """Without any timeout, while later data are not acknowledged yet."""
    assert possible(
        path(steps=4),
        lambda v: [
            *(negated(v.timeout[0][t]) for t in v.times),
            v.noticed[0][3] > v.noticed[0][2],
            v.sent[0][2] > v.sent[0][1],
        ],
    )


def test_there_is_no_timeout_at_the_first_step():
    assert not possible(path(), lambda v: [v.timeout[0][0]])


def test_a_paced_sender_sends_its_rate_or_what_the_window_allows_whichever_is_less():
    def rate_of_half(v):
        return [equal(v.rate[0][t], Fraction(1, 2)) for t in v.times]

    paced = path(paced=True)
    assert not possible(
        paced, rate_of_half, lambda v: [v.sent[0][1] > v.sent[0][0] + Fraction(1, 2)]
    )
    assert possible(
        paced, rate_of_half, lambda v: [equal(v.sent[0][1], v.sent[0][0] + Fraction(1, 2))]
    )
    assert not possible(
        paced,
        rate_of_half,
        lambda v: [
            v.sent[0][0] > v.served[0][0] + v.noticed[0][1] + v.window[0][1],
            v.sent[0][1] > v.sent[0][0],
        ],
    )


def test_data_of_the_last_flow_pass_while_they_are_held():
    """By hand: what passes in a step is delivered an access jitter later, at the latest."""
    held = path(access_jitter=2, jitter=1)
    assert possible(
        held,
        lambda v: [
            equal(v.served[0][2], 0),
            v.passed[0][1] > v.passed[0][0],
            v.passed[0][2] > v.passed[0][1],
        ],
    )
    # Before step 0 it passed at rate C at most, so that no more than J is on its way.
    assert possible(held, lambda v: [equal(v.passed[0][0], 2), equal(v.served[0][1], 1)])
    assert not possible(held, lambda v: [v.passed[0][0] > 2])
    assert not possible(held, lambda v: [equal(v.passed[0][0], 2), v.served[0][1] < 1])
