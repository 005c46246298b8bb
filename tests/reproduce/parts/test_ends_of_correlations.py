"""Ends of rank correlations by few bootstrap samples; the slow tests take all of them."""

import math

import pytest

from ackclock.reproduce.run import estimates
from ackclock.reproduce.run.estimates import rank_correlation


@pytest.fixture(autouse=True)
def _few_samples(monkeypatch):
    monkeypatch.setattr(estimates, "RESAMPLES", 150)


def rows(replicates):
    return [
        {"replicate": number, "at": at, "x": x, "y": y}
        for number, points in enumerate(replicates)
        for at, (x, y) in enumerate(points)
    ]


def test_ends_leave_out_half_of_what_the_confidence_does_at_either_side():
    # Only samples of the third replicate alone turn the order: one in 27, or 3.7 %.
    values = [[(0.0, 0.0), (1.0, rise)] for rise in (1.0, 1.0, -0.4)]
    found = rank_correlation(rows(values), 0.95, is_exact=False)
    assert found == pytest.approx((1.0, -1.0, 1.0))
    narrower = rank_correlation(rows(values), 0.9, is_exact=False)
    assert narrower == pytest.approx((1.0, 1.0, 1.0))


def test_a_correlation_is_of_means_over_replicates_and_has_ends_from_three_on():
    first = [(1.0, 10.0), (2.0, 30.0), (5.0, 20.0)]
    second = [(1.0, 10.0), (2.0, 0.0), (5.0, 20.0)]
    # Ranks 1 2 3 against 1 3 2: 1 - 6 (0 + 1 + 1) / (3 * 8).
    exact = rank_correlation(rows([first]), 0.95, is_exact=True)
    assert exact == pytest.approx((0.5, 0.5, 0.5))
    # y is 10, 15 and 20 in the mean.
    pair = rank_correlation(rows([first, second]), 0.95, is_exact=False)
    assert pair.value == pytest.approx(1)
    assert math.isnan(pair.low)
    assert math.isnan(pair.high)
    assert not math.isnan(rank_correlation(rows([first, second, second]), 0.95, is_exact=False).low)


@pytest.mark.parametrize(
    "points", [[(1.0, 2.0)], [(3.0, 1.0), (3.0, 2.0)], [(1.0, 2.0), (3.0, 2.0)]]
)
def test_one_point_or_a_constant_side_has_no_correlation(points):
    found = rank_correlation(rows([points] * 3), 0.95, is_exact=False)
    assert all(math.isnan(value) for value in found)
