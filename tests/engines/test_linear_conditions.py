"""Conditions on linear controls: Chiu and Jain's region, and the paper's 10 % rules."""

import itertools
import tomllib

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.analysis import jain
from ackclock.engines.model.linear import linear_sequence, linear_steady_state
from ackclock.engines.model.linear_conditions import chiu_jain_conditions, ten_percent_rules
from ackclock.reproduce.read.folder import PAPERS

STATES = [
    np.array(state)
    for state in itertools.product((1e-4, 0.01, 1.0, 30.0, 1e4, 1e6), repeat=2)
    if state[0] != state[1]
]


def conditions(rule, **state):
    values = chiu_jain_conditions(*(np.array([x], dtype=float) for x in rule), **state)
    return {name: column[0] for name, column in values.items()}


def converges_from_everywhere(a_i, b_i, a_d, b_d):
    """By trying states: totals follow the signal, fairness never falls, and rises in a cycle."""
    for state in STATES:
        up, down = a_i + b_i * state, a_d + b_d * state
        if not up.sum() > state.sum() or not down.sum() < state.sum() or (down < 0).any():
            return False
        before, after = jain(state), [jain(up), jain(down)]
        if min(after) < before - 1e-12:
            return False
        # Far from the scale of a_i, the rise is below the digits of a number.
        if state.min() >= 1e-2 and state.max() <= 1e4 and not max(after) > before:
            return False
    return True


@pytest.mark.parametrize("a_i", [-1.0, 0.0, 0.5, 1.0])
@pytest.mark.parametrize("b_i", [0.9, 1.0, 1.125])
@pytest.mark.parametrize("a_d", [-1.0, 0.0, 1.0])
@pytest.mark.parametrize("b_d", [-0.5, 0.5, 0.8, 1.0, 1.1])
def test_the_two_conditions_are_the_region_that_trying_states_finds(a_i, b_i, a_d, b_d):
    rule = (a_i, b_i, a_d, b_d)
    assert bool(conditions(rule)["sufficient"]) == converges_from_everywhere(*rule)


@given(
    st.tuples(st.floats(-3, 3), st.floats(0.5, 1.5), st.floats(-3, 3), st.floats(0, 1.2)),
    st.lists(st.floats(1, 1000), min_size=2, max_size=8),
)
def test_signs_of_one_state_are_those_of_a_step_taken(rule, windows):
    a_i, b_i, a_d, b_d = rule
    state = np.array(windows)
    got = conditions(rule, users=state.size, load=state.sum())
    rise, fall = ((a + b * state).sum() - state.sum() for a, b in ((a_i, b_i), (a_d, b_d)))
    if abs(rise) > 1e-6:
        assert got["total_rises"] == (rise > 0)
    if abs(fall) > 1e-6:
        assert got["total_falls"] == (fall < 0)
    if got["fairness_kept"] and b_d > 0:
        assert jain(a_i + b_i * state) >= jain(state) - 1e-9
        assert jain(a_d + b_d * state) >= jain(state) - 1e-9


@pytest.mark.parametrize(
    ("rule", "first", "second", "fair"),
    [
        ((1, 1, 0, 0.8), True, True, True),  # AIMD
        ((1, 1, -3, 1), False, True, False),  # AIAD
        ((0, 1.125, 0, 0.8), True, False, False),  # MIMD
        ((0, 1.125, -3, 1), False, False, False),  # MIAD
        ((1, 1, -1, 0.9), False, True, True),  # AIMAD: not necessary, says footnote 8
        ((1, 1.1, 0, 0.8), True, True, True),  # MAIMD
    ],
)
def test_the_controls_of_the_paper(rule, first, second, fair):
    got = conditions(rule)
    assert (bool(got["condition_1"]), bool(got["condition_2"])) == (first, second)
    steady = linear_steady_state(*(np.array([x], dtype=float) for x in rule), 2)
    assert bool(steady["fair"][0]) == fair


def test_ten_percent_rules_by_hand():
    # AI 1 of 15 is 6.7 %, AD 3 of 25 is 12 %; MI 12.5 %; MD 20 %.
    rows = [(1, 1, 0, 0.8), (1, 1, -3, 1), (0, 1.125, 0, 0.8), (0, 1.125, -3, 1), (3, 1, -2, 1)]
    got = ten_percent_rules(*np.array(rows, dtype=float).T)
    assert got["increase"] == pytest.approx([1 / 15, 1 / 15, 0.125, 0.125, 0.2])
    assert got["decrease"] == pytest.approx([0.2, 0.12, 0.2, 0.12, 0.08])
    assert got["increase_meets"].tolist() == [True, True, True, True, False]
    assert got["decrease_meets"].tolist() == [True, False, True, False, True]
    assert got["meets"].tolist() == [True, False, True, False, False]
    hybrid = ten_percent_rules(*np.array([[1, 1.1, -1, 0.9]], dtype=float).T)
    assert bool(hybrid["meets"][0])


def test_the_grid_of_the_rules_is_that_of_the_appendix():
    folder = PAPERS / "akella2002" / "scenarios"
    rules, appendix = (
        tomllib.loads((folder / f"{name}.toml").read_text())["over"]["instance"]["values"]
        for name in ("rules", "appendix")
    )
    assert list(rules) == list(appendix)
    for name, cc in appendix.items():
        side = {key.removeprefix("params."): value for key, value in rules[name].items()}
        assert side["a_i" if cc["kind"][0] == "a" else "b_i"] == cc["a"]
        assert side["b_d"] == cc["b"] if cc["kind"][2] == "m" else side["a_d"] == -cc["d"]


def test_a_window_sequence_by_hand_and_at_its_fixed_point():
    rule = [np.array([x], dtype=float) for x in (1, 1, -1, 0.9)]
    got = linear_sequence(*rule, k_i=2, k_d=1, start=20.0, cycles=2)
    assert got["window"] == pytest.approx([20, 21, 22, 18.8, 19.8, 20.8, 17.72])
    # After the decreases AIMAD with k_I = 2 stays at 8.
    settled = linear_sequence(*rule, k_i=2, k_d=1, start=8.0, cycles=3)
    assert settled["window"] == pytest.approx([8, 9, 10, 8, 9, 10, 8, 9, 10, 8])
