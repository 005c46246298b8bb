"""Means, intervals, fairness."""

import math

import pytest

from ackclock._util.number_text import engineering
from ackclock._util.text_table import table
from ackclock.analysis import jain
from ackclock.errors import AckclockError
from ackclock.experiments.statistics import (
    Mean,
    Precision,
    bootstrap_interval,
    equal_values,
    holm,
    interval,
    mean_interval,
    mean_p_value,
    most_differing,
)


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


def test_values_that_are_not_known_do_not_count():
    # Of 1 and 3, s/sqrt(2) = 1; t(0.95, 1) = 6.31375, t(0.975, 1) = 12.7062.
    for values in ([1.0, 3.0], [math.nan, 1.0, 3.0]):
        assert mean_interval(values, 0.9) == pytest.approx((2, 2 - 6.31375, 2 + 6.31375), rel=1e-5)
        assert Mean.of(values) == pytest.approx((2, 2 - 12.7062, 2 + 12.7062), rel=1e-5)
    assert Mean.of([4.0]).to_list() == [4.0, None, None]
    assert Mean.of([]).to_list() == [None, None, None]


def test_a_bootstrap_of_what_does_not_vary_is_the_value():
    assert bootstrap_interval([2.0, 2.0, 2.0]) == (2.0, 2.0, 2.0)
    assert bootstrap_interval([0.0, 0.0]) == (0.0, 0.0, 0.0)
    mean, low, high = bootstrap_interval([7.0])
    assert (mean, math.isnan(low), math.isnan(high)) == (7.0, True, True)
    mean, low, high = bootstrap_interval([math.nan, 1.0, 2.0])
    assert (mean, low >= 1.0, high <= 2.0, low < high) == (1.5, True, True, True)


def test_a_bootstrap_of_a_lower_level_is_narrower():
    values = [float(i % 7) for i in range(40)]
    _, low, high = bootstrap_interval(values, 0.95)
    _, inner_low, inner_high = bootstrap_interval(values, 0.5)
    # Quantiles of the normal distribution: 0.67449 against 1.95996.
    assert (inner_high - inner_low) / (high - low) == pytest.approx(0.67449 / 1.95996, rel=0.1)
    assert low < inner_low < inner_high < high


def test_the_method_of_an_interval_is_one_of_two():
    values = [1.0, 2.0, 4.0]
    assert interval(values) == interval(values, method="t") == mean_interval(values)
    assert interval(values, 0.8, "bootstrap") == bootstrap_interval(values, 0.8)
    with pytest.raises(AckclockError, match='no interval "normal"; expected t or bootstrap'):
        interval(values, method="normal")


def test_a_precision_has_its_bounds_and_defaults():
    until = Precision("x")
    assert (until.half_width, until.at_least, until.at_most, until.confidence) == (
        0.02,
        10,
        50,
        0.95,
    )
    Precision("x", half_width=1e-9, at_least=2, at_most=2, confidence=0.999)
    for wrong, message in [
        ({"half_width": 0.0}, "until.half_width is 0.0; expected more than 0"),
        ({"at_least": 1}, "until.at_least is 1; expected at least 2"),
        ({"at_most": 4}, "until.at_most is 4; expected at least at_least, which is 10"),
        ({"confidence": 0.0}, "until.confidence is 0.0; expected between 0 and 1"),
        ({"confidence": 1.0}, "until.confidence is 1.0; expected between 0 and 1"),
    ]:
        with pytest.raises(AckclockError) as caught:
            Precision("x", **wrong)
        assert str(caught.value) == message


def test_stopping_by_hand():
    until = Precision("x", half_width=0.5, at_least=2, at_most=9)
    # 1 and 3: 12.7062 beside 1. That is (12.7)^2 times as many; twice as many at most.
    assert until.count_replicates([1.0]) == 2
    assert until.count_replicates([1.0, 3.0]) == 4
    # A mean of 0 allows nothing: twice as many, and no more than 9.
    assert until.count_replicates([-1.0, 1.0]) == 4
    assert until.count_replicates([-1.0, 1.0] * 3) == 8
    assert until.count_replicates([-1.0, 1.0, 0.0] * 3) == 9
    assert until.count_replicates([-1.0, 1.0] * 5) == 10
    # No variance is no half-width, of a mean of 0 too; it is looked at twice.
    assert until.count_replicates([0.0, 0.0]) == 4
    assert until.count_replicates([0.0] * 4) == 4
    three = Precision("x", half_width=0.5, at_least=3, at_most=9)
    # Negative means count by their size: -10 ± t(0.975, 2) s / sqrt(3) = 4.30265 * 1 / 1.73205.
    assert three.count_replicates([-9.0, -10.0, -11.0]) == 6
    assert three.count_replicates([-9.0, -10.0, -11.0] * 2) == 6
    # 10 ± 1.7320 t = 10 ± 7.4525: of 5 that is 1.4905^2 times three, 6.66; no more than twice.
    assert three.count_replicates([7.0, 10.0, 13.0]) == 6
    # 10 ± 2.2 sqrt(1/3) t = 10 ± 5.4652: 1.1947 times three, 3.58, is four.
    assert three.count_replicates([7.8, 10.0, 12.2]) == 4
    # Just beyond, one more at least; just within, twice as many: 5 = 4.302653 s / 1.7320508.
    spread = 5 * math.sqrt(3) / 4.302652729911275
    assert three.count_replicates([10 - 1.0001 * spread, 10.0, 10 + 1.0001 * spread]) == 4
    assert three.count_replicates([10 - 0.9999 * spread, 10.0, 10 + 0.9999 * spread]) == 6


def test_an_interval_that_is_narrow_at_one_look_alone_is_not_enough():
    until = Precision("x", half_width=0.1, at_least=3, at_most=40)
    narrow = [1.0, 1.01, 0.99]
    assert until.count_replicates(narrow) == 6
    # The second look saw the other state: 0.5 of a mean of 0.83 is not within a tenth.
    assert until.count_replicates([*narrow, 0.5, 0.5, 1.0]) == 12
    assert until.count_replicates([*narrow, *narrow]) == 6


def test_replicates_without_a_value_do_not_make_an_interval():
    until = Precision("x", half_width=0.1, at_least=5, at_most=40)
    assert until.count_replicates([1.0, 1.0, math.nan, math.nan, math.nan]) == 8
    assert until.count_replicates([math.nan] * 40) == 40
    assert not until.is_reached([1.0, 1.0, math.nan, math.nan, math.nan])


def test_six_equal_values_are_the_first_that_say_something():
    # Nobody of n: the upper end is 1 - 0.025^(1/n).
    for count, most in ((5, 0.5218), (6, 0.4593), (30, 0.1157)):
        assert most_differing(count) == pytest.approx(most, abs=1e-4)
    assert most_differing(5) > 0.5 > most_differing(6)
    assert equal_values([2.0, 2.0])
    assert not equal_values([2.0])
    assert not equal_values([2.0, 2.0 + 1e-9])
    assert mean_p_value([3.0] * 5) == 1.0
    assert mean_p_value([3.0] * 6) == 0.0
    assert mean_p_value([3.0] * 6, 3.0) == 1.0


def test_infinite_values_have_no_interval_unless_all_are_the_same():
    # As a ratio to a flow that got nothing.
    endless = math.inf
    assert not equal_values([1.0, endless])
    assert not equal_values([-endless, endless])
    assert equal_values([endless, endless])
    for end_of in (mean_interval, bootstrap_interval):
        mean, low, high = end_of([1.0, 2.0, endless])
        assert mean == endless
        assert math.isnan(low)
        assert math.isnan(high)
        assert end_of([endless] * 6) == (endless, endless, endless)
        assert all(map(math.isnan, end_of([-endless, 3.0, endless])))
    assert mean_p_value([1.0, 2.0, endless]) == 1.0
    assert mean_p_value([endless] * 6) == 0.0


def test_the_p_value_is_the_level_at_which_the_interval_ends_at_the_bound():
    values = [1.0, 2.0, 3.0, 4.5]
    for bound in (0.0, 1.2, 4.9):
        level = mean_p_value(values, bound)
        _, low, high = mean_interval(values, 1 - level)
        assert min(abs(low - bound), abs(high - bound)) < 1e-9
    assert mean_p_value([1.0]) == 1.0


def test_holm_by_hand():
    # Sorted 0.001, 0.01, 0.02, 0.04 against 0.05 / 4, / 3, / 2, / 1: all. A larger one ends it.
    assert holm([0.02, 0.001, 0.04, 0.01]) == [True] * 4
    assert holm([0.03, 0.001, 0.04, 0.01]) == [False, True, False, True]
    assert holm([0.013, 0.02, 0.03, 0.04]) == [False] * 4
    assert holm([]) == []
    assert holm([math.nan, 0.001]) == [False, True]
