"""The model of persistent congestion against printed values, exact solutions and invariants."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ackclock.model import fast, fast_dynamics

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
@settings(max_examples=25, deadline=None)
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
@settings(max_examples=50, deadline=None)
def test_the_correction_is_exact_with_the_right_sign(n: float, theta: float):
    found = fast.correction(n, theta)
    assert found["estimated_flows"] == pytest.approx(n, rel=1e-9)
    assert found["estimated_capacity_packets_per_s"] == pytest.approx(12_500, rel=1e-9)
    assert found["estimated_propagation_s"] == pytest.approx(0.024, rel=1e-6)
    assert found["window_packets"] == pytest.approx(found["fair_window_packets"], rel=1e-6)


def test_equation_22_as_printed_gives_too_many_flows():
    found = fast.correction(np.array([4, 8]), -0.5, sign="printed")
    assert found["estimated_flows"] == pytest.approx([9.12, 14.7], abs=0.06)


def test_equal_errors_leave_shares_equal_and_rate_targets_make_them_worse():
    found = fast.equilibrium(5, error_s=0.01)
    assert found["share"] == pytest.approx(np.full(5, 0.2), abs=1e-12)
    assert found["queue_packets"][0] == pytest.approx(250 + 125)
    worse = fast.rate_targets(np.arange(2, 10))
    newest = np.flatnonzero(np.diff(np.append(worse["point"], -1)))
    assert np.all(worse["share"][newest] > worse["share_if_packets"][newest])


def test_theta_of_0_is_refused():
    with pytest.raises(ValueError, match="theta must be less than 1 and not 0"):
        fast.correction(4, 0.0)


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
