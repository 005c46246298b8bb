"""Quantiles of Student's t without SciPy, against printed tables and against SciPy."""

import sys

import pytest

from ackclock.experiments.statistics import mean_interval
from ackclock.experiments.student_t import closed_quantile

# NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2.
PRINTED = {
    (1, 0.975): 12.706,
    (2, 0.975): 4.303,
    (5, 0.975): 2.571,
    (9, 0.95): 1.833,
    (10, 0.995): 3.169,
    (30, 0.9): 1.310,
    (100, 0.999): 3.174,
}


@pytest.mark.parametrize(("place", "printed"), PRINTED.items())
def test_quantiles_are_those_of_the_printed_table(place, printed):
    assert closed_quantile(*place) == pytest.approx(printed, abs=5.1e-4)
    assert closed_quantile(place[0], 1 - place[1]) == pytest.approx(-closed_quantile(*place))


def test_quantiles_are_scipys():
    stdtrit = pytest.importorskip("scipy.special").stdtrit
    for freedom in (1, 2, 3, 4, 7, 20, 61, 400):
        for probability in (0.001, 0.2, 0.55, 0.9, 0.975, 0.9999):
            expected = float(stdtrit(freedom, probability))
            assert closed_quantile(freedom, probability) == pytest.approx(expected, rel=1e-9)


def test_a_median_is_zero():
    assert abs(closed_quantile(3, 0.5)) < 1e-12


def test_an_interval_needs_no_scipy(monkeypatch):
    values = [3.0, 4.5, 5.0, 7.25]
    expected = mean_interval(values)
    monkeypatch.setitem(sys.modules, "scipy.special", None)
    assert mean_interval(values) == pytest.approx(expected, rel=1e-9)
