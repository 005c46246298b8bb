"""Numbers for people, and rounding errors, which are no results."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock._util.number_text import (
    bounds,
    engineering,
    interval,
    metric,
    number,
    percent,
    unit_of,
    without_rounding,
)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (12_220_000.0, "12,220,000"),
        (12_223_456.7, "12,220,000"),
        (123_456, "123,456"),
        (0.031416, "0.03142"),
        (2.5, "2.5"),
        (9.99999, "10"),
        (-0.5, "-0.5"),
        (0.0, "0"),
        (-0.0, "0"),
        (1.2e-7, "1.2e-07"),
        (None, "-"),
        (math.nan, "-"),
        (math.inf, "inf"),
    ],
)
def test_a_number_has_four_figures_and_no_exponent_where_zeros_are_shorter(value, written):
    assert number(value) == written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (1.222e7, "12.22 Mbit/s"),
        (999_960.0, "1 Mbit/s"),
        (-999_960.0, "-1 Mbit/s"),
        (1.0, "1 bit/s"),
        (0.0, "0 bit/s"),
        (3.2e16, "3.2e+04 Tbit/s"),
        (math.inf, "inf bit/s"),
    ],
)
def test_a_quantity_has_the_prefix_of_its_rounded_value(value, written):
    assert engineering(value, "bit/s") == written


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ((2.5, 2.5 - 4.4e-16, 2.5 + 4.4e-16), "2.5"),
        ((2.5, 2.38, 2.62), "2.50 ± 0.12"),
        ((2.5, math.nan, math.nan), "2.5"),
        ((2.5, None, None), "2.5"),
        ((1234.0, 1234.0 - 0.12, 1234.0 + 0.12), "1,234 ± 0.12"),
        ((1234.0, 1134.0, 1334.0), "1,234 ± 100"),
        ((0.0, -0.03, 0.03), "0.000 ± 0.030"),
        ((math.nan, 0.0, 1.0), "-"),
    ],
)
def test_an_interval_has_two_figures_and_none_if_it_is_a_rounding_error(given, written):
    assert interval(*given) == written


def test_ends_of_an_interval_are_written_if_they_say_something():
    assert bounds(1.25, 1.2, 1.3) == "1.25 [1.2, 1.3]"
    assert bounds(2.5, 2.5 - 4.4e-16, 2.5) == "2.5"
    assert bounds(2.5, None, None) == "2.5"


def test_a_part_has_no_minus_before_a_zero():
    assert percent(0.1234) == "12.3 %"
    assert percent(-1e-9) == "0.0 %"
    assert percent(0.1, 0, sign=True) == "+10 %"


def test_a_metric_is_written_in_the_unit_of_its_name():
    assert metric("mean(flows.goodput_bps)", 1.222e7) == "12.22 Mbit/s"
    assert metric("links[r0->r1].delay_mean_s", 0.00125) == "1.25 ms"
    assert metric("totals.events", 1_200_000.0) == "1,200,000"
    assert unit_of("jain(flows.goodput_bps)") is None
    assert unit_of("s") is None


def test_rounding_errors_are_zero_and_everything_else_stays():
    assert without_rounding(1.2e-6, 1e10) == 0.0
    assert without_rounding(20.0, 1e10) == 20.0
    found = without_rounding(np.array([4e-7, 5.0, np.nan]), np.array([1e9, 1e9, 1e9]))
    assert found[:2].tolist() == [0.0, 5.0]
    assert math.isnan(found[2])


@given(st.floats(1e-4, 1e14), st.integers(2, 6))
def test_what_is_written_reads_back_to_its_figures(value, figures):
    read = float(number(value, figures).replace(",", ""))
    assert read == pytest.approx(value, rel=0.51 * 10.0 ** (1 - figures))
    text, unit = engineering(value, "B", max(figures, 3)).split(" ")
    factor = {"µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}[unit[:-1]]
    assert float(text) * factor == pytest.approx(value, rel=0.51 * 10.0 ** (1 - max(figures, 3)))
    assert 1 <= float(text) < 1000


@given(st.floats(-1e9, 1e9), st.floats(0, 1e6))
def test_an_interval_reads_back_as_what_it_was(mean, half):
    text = interval(mean, mean - half, mean + half).replace(",", "")
    middle, _, width = text.partition(" ± ")
    assert float(middle) == pytest.approx(mean, rel=1e-3, abs=max(0.051 * half, 1e-9))
    if width:
        assert float(width) == pytest.approx(half, rel=0.06, abs=1e-5 + 5e-4 * abs(mean))
