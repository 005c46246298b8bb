"""Profiles of a game, judged by payoffs written by hand."""

from types import SimpleNamespace

import numpy as np
import pytest

from ackclock.engines.fluid.outcome import _MOST_KINDS, _number_algorithms
from ackclock.errors import ScenarioError
from ackclock.studies.game.empirical import Played

NOISE = np.array([0.0, 0.01, -0.01, 0.02, -0.02, 0.0])


def played(moved, here=10.0, tolerance=0.05, noise=NOISE):
    """Two players of a; a mover to b gets another payoff, by six seeds."""
    payoffs = {
        (2, 0): {0: np.full(6, here)},
        (1, 1): {0: np.full(6, 4.0), 1: moved + noise},
        (0, 2): {1: np.full(6, 3.0)},
    }
    game = SimpleNamespace(strategies={"a": {}, "b": {}}, tolerance=tolerance, players=2)
    return Played(game, {"n": payoffs})


def verdict(*arguments, **words):
    return {j.profile: j.verdict for j in played(*arguments, **words).judge_profiles("n")}


def test_a_profile_is_left_by_a_gain_beyond_chance_and_the_least_that_counts():
    # Of 10 a gain of 0.5 counts.
    assert verdict(12.0)[2, 0] == "left"
    assert verdict(10.2)[2, 0] == "equilibrium"
    # A loss that is beyond chance is no gain.
    assert verdict(8.0)[2, 0] == "equilibrium"
    wide = np.array([-6.0, 6.0, -6.0, 6.0, -6.0, 7.0])
    assert verdict(12.0, noise=wide)[2, 0] == "undecided"
    # Seeds without a spread on which the gain is as much as counts.
    assert verdict(10.5, noise=np.zeros(6))[2, 0] == "equilibrium"


def test_each_player_of_a_mixed_profile_may_leave_it():
    found = verdict(12.0)
    # From 4 to 3 with b, from 12 to 10 with a: nobody gains.
    assert found[1, 1] == "equilibrium"
    # From 3 to 4 with a.
    assert found[0, 2] == "left"
    mixed = next(j for j in played(12.0).judge_profiles("n") if j.profile == (1, 1))
    assert [(gain.left, gain.right) for gain in mixed.gains] == [("a", "b"), ("b", "a")]
    assert [gain.gain.mean for gain in mixed.gains] == pytest.approx([-1, -2])
    assert [gain.least for gain in mixed.gains] == pytest.approx([0.2, 0.6])
    assert mixed.welfare.mean == pytest.approx(16)
    assert mixed.payoffs["b"].mean == pytest.approx(12)


def test_the_price_is_of_the_best_profile_over_the_worst_equilibrium():
    # Both of a get 20 in all and stay; b gets 8 beside 4.
    assert played(8.0).price("n").mean == pytest.approx(1.0)
    # (2, 0) is left for 12, and (1, 1) with 16 is the one equilibrium.
    price = played(12.0, noise=np.zeros(6)).price("n")
    assert price == pytest.approx((20 / 16,) * 3)
    assert played(12.0, here=0.0).price("n") is None


def test_as_many_kinds_of_algorithms_as_fit_a_byte_are_numbered():
    def numbered(count):
        of_node = {f"n{i}": {"kind": "x", "p": i} for i in range(count)}
        return _number_algorithms([{"kind": "first"}], {**of_node, "same": {"kind": "x", "p": 0}})

    algorithms, numbers = numbered(_MOST_KINDS - 1)
    assert (len(algorithms), numbers["n0"], numbers["same"]) == (256, 1, 1)
    assert numbers[f"n{_MOST_KINDS - 2}"] == 255
    with pytest.raises(ScenarioError, match="257 different algorithms are given; expected at most"):
        numbered(_MOST_KINDS)
