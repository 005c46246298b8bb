"""The model of persistent congestion against printed values, exact solutions and invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.engines.model import fast, fast_correction, fast_dynamics, fast_queue

# Solutions worked out by hand or to six digits from the defining equations.
QUEUES = [130.9, 230.0, 342.1, 464.5, 595.3, 733.2, 877.4, 1027.2]
SHARES = {
    3: [0.2174, 0.2778, 0.5047],
    5: [0.1077, 0.1206, 0.1499, 0.2132, 0.4086],
    9: [0.0487, 0.0512, 0.0558, 0.0627, 0.0730, 0.0889, 0.1158, 0.1701, 0.3339],
}


def test_two_flows_share_by_the_golden_section():
    golden = (5**0.5 - 1) / 2
    assert fast.additions(2)[1] == pytest.approx(golden, abs=1e-12)
    assert fast.sequential_shares(2) == pytest.approx([1 - golden, golden], abs=1e-12)


def test_shares_and_queues_of_the_figures():
    for n, shares in SHARES.items():
        assert fast.sequential_shares(n) == pytest.approx(shares, abs=5.1e-5)
    found = [fast.buffer_packets(n, 50) for n in range(2, 10)]
    assert found == pytest.approx(QUEUES, abs=0.051)
    a = fast.additions(1000)
    assert [a[8], a[9], a[99], a[999]] == pytest.approx([1.995, 2.094, 4.310, 6.574], abs=5.1e-4)
    assert fast.buffer_packets(1000, 50) / 50_000 == pytest.approx(6.595, abs=5e-4)


@given(st.integers(1, 300))
@settings(max_examples=25)
def test_shares_fill_the_link_and_later_flows_get_more(n: int):
    shares = fast.sequential_shares(n)
    assert shares.sum() == pytest.approx(1, abs=1e-11)
    assert np.all(np.diff(shares) > 0)
    # Every flow keeps alpha queued by its own measure: share x queue beyond its estimate = alpha.
    a = fast.additions(n)
    before = np.concatenate([[0], np.cumsum(1 + a)[:-1]])
    assert shares * (n + a.sum() - before) == pytest.approx(np.ones(n), abs=1e-10)


def test_a_flow_that_joins_gets_the_square_root_of_n():
    found = fast.joining(np.array([1, 2, 4, 8, 16]))
    assert found["share_new"] == pytest.approx([0.618, 0.5, 0.390, 0.297, 0.221], abs=5.1e-4)
    assert found["fairness_ratio"] == pytest.approx([1.62, 2.0, 2.56, 3.37, 4.53], abs=5.1e-3)
    # a (a + 1) = n is what makes the estimate exact.
    assert found["addition"] * (found["addition"] + 1) == pytest.approx([1, 2, 4, 8, 16])


def test_thresholds_of_rate_reduction():
    found = fast.joining(np.array([4, 8]))
    assert 1000 * found["threshold_s"] == pytest.approx([40.985, 107.913], abs=5e-4)
    longer = fast.joining(np.array([4, 8]), capacity_packets_per_s=1e8 / 8320)
    assert 1000 * longer["threshold_s"] == pytest.approx([42.6, 112.2], abs=0.05)
    for offset, works in ((-1e-9, False), (1e-9, True)):
        at = fast.joining(np.array([4, 8]), propagation_s=found["threshold_s"] + offset)
        assert list(at["rate_reduction_works"]) == [works, works]


@given(st.floats(1, 1000), st.floats(-2, 0.99).filter(lambda t: abs(t) > 1e-3))
@settings(max_examples=50)
def test_the_correction_is_exact_with_the_right_sign(n: float, theta: float):
    found = fast_correction.correction(n, theta)
    assert found["estimated_flows"] == pytest.approx(n, rel=1e-9)
    assert found["estimated_capacity_packets_per_s"] == pytest.approx(12_500, rel=1e-9)
    assert found["estimated_propagation_s"] == pytest.approx(0.024, rel=1e-6)
    assert found["window_packets"] == pytest.approx(found["fair_window_packets"], rel=1e-6)


def test_equation_22_as_printed_gives_too_many_flows():
    found = fast_correction.correction(np.array([4, 8]), -0.5, sign="printed")
    assert found["estimated_flows"] == pytest.approx([9.12, 14.7], abs=0.06)


def test_equal_errors_leave_shares_equal_and_rate_targets_make_them_worse():
    found = fast_queue.equilibrium(5, error_s=0.01)
    assert found["share"] == pytest.approx(np.full(5, 0.2), abs=1e-12)
    assert found["queue_packets"][0] == pytest.approx(250 + 125)
    worse = fast.rate_targets(np.arange(2, 10))
    newest = np.flatnonzero(np.diff(np.append(worse["point"], -1)))
    assert np.all(worse["share"][newest] > worse["share_if_packets"][newest])


@given(st.integers(1, 100), st.floats(1e-3, 1.0))
@settings(max_examples=50)
def test_a_pause_leaves_what_does_not_drain_and_the_ratio_fills_the_link(n: int, delay: float):
    found = fast.joining(n, propagation_s=delay)
    ratio, left = float(found["reduced_ratio"]), float(found["left_packets"])
    assert bool(found["rate_reduction_works"]) == (left < 1e-9) or left < 1e-6
    assert 1 - 1e-12 <= ratio <= float(found["fairness_ratio"]) + 1e-9
    # Newton's method on the flows' own errors, in place of the quadratic.
    errors = np.append(np.zeros(n), left)
    queue = float(fast_queue.weighted_queue(np.full(n + 1, 50.0), errors))
    assert ratio == pytest.approx(queue / (queue - left), rel=1e-9)


def test_values_out_of_range_are_named():
    with pytest.raises(ValueError, match="theta: 0 is no change of the window"):
        fast_correction.correction(4, 0.0)
    with pytest.raises(ValueError, match=r"theta: 1 is out of range; expected less than 1"):
        fast_correction.correction(4, 1.0)
    with pytest.raises(ValueError, match=r"alpha_packets: -3 .*more than 0 \(packets\)"):
        fast.joining(4, alpha_packets=-3.0)
    with pytest.raises(ValueError, match="alpha_packets: 0 is out of range"):
        fast.sequential([2, 3], alpha_packets=[50.0, 0.0])
    with pytest.raises(ValueError, match="flows: 0 is out of range; expected a whole number, at"):
        fast.sequential_flows([2, 0])
    with pytest.raises(ValueError, match=r"gamma: 1\.5 .*more than 0 and at most 1"):
        fast_dynamics.stability(1.5)
    with pytest.raises(ValueError, match="gamma: 0 is out of range"):
        fast_dynamics.integrate(np.zeros(1), 1.0, gamma=0.0)


def test_six_digits_of_the_model_by_another_way():
    # Bisection of the condition that the shares add up to 1, from a_1 = 0 on, without Newton.
    from scipy.optimize import brentq

    a = [0.0]
    for n in range(2, 31):

        def excess(last: float, n: int = n) -> float:
            tails = np.cumsum([last, *a[::-1]])
            return float(np.sum(1 / (1 + np.arange(n) + tails))) - 1

        a.append(brentq(excess, 0.0, 10.0, xtol=1e-14))
    assert fast.additions(30) == pytest.approx(a, rel=1e-9, abs=1e-12)
    queue = fast.sequential(np.arange(2, 31))["queue_packets"]
    assert queue == pytest.approx([50 * (n + sum(a[:n])) for n in range(2, 31)], rel=1e-9)


def test_six_digits_where_a_closed_form_is_known():
    # n = 2: the golden section. n = 3: 1/u + 1/(u + g) + 1/(u + g + 1) = 1 in u = 1 + a_3.
    golden = (5**0.5 - 1) / 2
    g = 1 + golden
    u = max(np.roots([1, 2 * g - 2, g * g - 3 * g - 2, -g * (g + 1)]).real)
    a = fast.additions(3)
    assert a[1:] == pytest.approx([golden, u - 1], abs=1e-12)
    # The thresholds of (20): n alpha (1 + sqrt(1 + 4 n)) / (2 C) at 12500 packets/s.
    found = fast.joining(np.array([4, 8]))
    assert 1000 * found["threshold_s"] == pytest.approx([40.9848450, 107.9130021], abs=5e-7)
    assert found["addition"] == pytest.approx([(17**0.5 - 1) / 2, (33**0.5 - 1) / 2], abs=1e-12)


@pytest.mark.slow
def test_ten_thousand_flows_are_worked_out_and_grow_as_their_logarithm():
    a = fast.additions(10_000)
    # The ledger of the paper's figure 3: 2.094, 4.310, 6.574 at 10, 100, 1000.
    assert a[[9, 99, 999]] == pytest.approx([2.094, 4.310, 6.574], abs=5.1e-4)
    steps = np.diff(a[[99, 999, 9999]])
    assert steps[1] == pytest.approx(np.log(10), rel=0.02) and steps[1] > steps[0]
    points = fast.sequential(np.arange(1, 10_001))
    shares = fast.sequential_shares(10_000)
    assert points["share_oldest"][-1] == pytest.approx(shares[0], rel=1e-12)
    assert points["newest_over_previous"][-1] == pytest.approx(shares[-1] / shares[-2], rel=1e-9)


def test_the_fluid_equation_comes_to_rest_at_the_closed_form():
    for n in (2, 5):
        seen = fast_dynamics.integrate(10.0 * np.arange(n), 10.0 * n)
        assert seen.rates[:, -1] == pytest.approx(fast.sequential_shares(n), rel=2e-3)
        assert seen.queue_packets[-1] == pytest.approx(fast.buffer_packets(n, 50), rel=2e-3)


def test_stability_has_its_bounds_where_the_characteristic_equation_says():
    # Without queueing delay against propagation (rho = 1): lag 1 is stable up to gamma = 1, lag 2
    # up to the golden section, where the roots of z^3 - z^2 + gamma lie on the unit circle.
    def is_stable(gamma: float, lag: int) -> bool:
        return bool(fast_dynamics.stability(gamma, 1e-9, 0.1, lag_rounds=lag)["stable"][0])

    assert is_stable(0.999, 1)
    assert is_stable(0.617, 2)
    assert not is_stable(0.619, 2)
    # A deviation that is seen at once leaves 1 - gamma after a round.
    assert fast_dynamics.stability(0.3, lag_rounds=0)["radius"] == pytest.approx([0.7])
