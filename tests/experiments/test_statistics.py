"""Means, intervals, fairness."""

import math

import pytest

from ackclock._util.number_text import engineering
from ackclock._util.text_table import table
from ackclock.analysis import jain
from ackclock.experiments.replication import mean_interval


def test_the_interval_of_three_values_by_hand():
    # mean 2, s = 1, s/sqrt(3) = 0.57735; t(0.975, 2 df) = 4.30265 from any table
    mean, low, high = mean_interval([1.0, 2.0, 3.0])
    assert mean == 2.0
    assert high - mean == pytest.approx(2.48414, abs=1e-4)
    assert mean - low == pytest.approx(2.48414, abs=1e-4)


def test_one_value_has_no_interval_and_none_no_mean():
    assert mean_interval([5.0])[0] == 5.0
    assert math.isnan(mean_interval([5.0])[1])
    assert math.isnan(mean_interval([])[0])


def test_jain_is_one_for_equals_and_one_nth_for_one_taker():
    assert jain([3, 3, 3, 3]) == pytest.approx(1.0)
    assert jain([8, 0, 0, 0]) == pytest.approx(0.25)
    assert jain([1, 2, 3]) == pytest.approx(36 / 42)
    assert math.isnan(jain([0, 0]))


@pytest.mark.parametrize(
    ("value", "text"),
    [(9.587e6, "9.587 Mbit/s"), (0, "0 bit/s"), (None, "-"), (1500, "1.5 kbit/s")],
)
def test_numbers_are_written_with_prefixes(value, text):
    assert engineering(value, "bit/s") == text


def test_tables_are_aligned_and_long_ones_say_what_is_left_out():
    assert table(["a", "n"], [["x", "1"], ["yy", "10"]]) == "a    n\nx    1\nyy  10"
    assert "... 8 more ..." in table(["n"], [[str(i)] for i in range(12)], most=4)
