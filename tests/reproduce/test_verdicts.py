"""The rule of verdicts, on intervals worked out by hand."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.reproduce.paper import Check
from ackclock.reproduce.run.estimates import Spread, half_width, prediction, rank_correlation
from ackclock.reproduce.run.judge import join, judge, target

# Student's t for 95 % and n - 1 = 3 degrees of freedom, from a printed table.
T3 = 3.182


def one(values, expect, *, is_exact=False, **more):
    return judge("", values, expect, more.pop("columns", {}), is_exact=is_exact, **more)


def test_an_interval_is_student_t_over_replicates():
    part = one([1.0, 2.0, 3.0, 4.0], {"between": [0, 5]})
    # Mean 2.5, deviation sqrt(5/3), standard error sqrt(5/12).
    half = T3 * (5 / 12) ** 0.5
    assert part.measured == 2.5
    assert part.low == pytest.approx(2.5 - half, abs=1e-3)
    assert part.high == pytest.approx(2.5 + half, abs=1e-3)
    assert part.outcome == "met"


@pytest.mark.parametrize(
    ("expect", "outcome"),
    [
        ({"equals": 2.5, "tolerance": 2.1}, "met"),
        ({"equals": 2.5, "tolerance": "84 %"}, "met"),
        ({"equals": 2.5, "tolerance": 1.9}, "undecided"),
        ({"equals": 7, "tolerance": 2}, "missed"),
        ({"at_least": 0.4}, "met"),
        ({"at_least": 1}, "undecided"),
        ({"at_least": 5}, "missed"),
        ({"at_most": 4.6}, "met"),
        ({"at_most": 0.4}, "missed"),
        ({"between": [0.5, 4.5]}, "undecided"),
        ({"between": [2.4, 2.6]}, "undecided"),
    ],
)
def test_all_of_the_interval_must_lie_in_what_is_expected(expect, outcome):
    # The interval of these four is 0.446 to 4.554.
    assert one([1.0, 2.0, 3.0, 4.0], expect).outcome == outcome


def test_open_bounds_do_not_count_themselves():
    assert one([0.0] * 6, {"above": 0}).outcome == "missed"
    assert one([0.0] * 6, {"at_least": 0}).outcome == "met"
    assert one([0.0] * 6, {"below": 0}).outcome == "missed"
    assert one([-1.0] * 6, {"below": 0}).outcome == "met"


def test_fewer_than_six_equal_values_of_a_random_study_decide_nothing():
    # A collapse in a tenth of runs: at most 0.05 is false, and five runs often show none.
    five = one([0.0] * 5, {"at_most": 0.05})
    assert (five.outcome, five.measured, five.low) == ("undecided", 0.0, None)
    # 1 - 0.025^(1/5) = 0.522.
    assert five.why == "all 5 values are equal, and up to 52 % of runs may differ; run more"
    assert one([0.0] * 6, {"at_most": 0.05}).outcome == "met"
    assert one([1.0] * 5, {"at_most": 0.05}).outcome == "undecided"
    # What cannot differ is one run, however many seeds it had.
    same = one([0.0] * 5, {"at_most": 0.05}, is_exact=True)
    assert (same.outcome, same.why) == ("met", "0 is at most 0.05 (5 seeds, one run)")


def test_infinite_replicates_leave_a_claim_open_and_say_so():
    some = one([1.0, 2.0, math.inf, 3.0, math.inf], {"at_most": 4})
    assert (some.outcome, some.measured) == ("undecided", None)
    assert some.why == "2 of 5 replicates are infinite, and so have no interval"
    # One of them beside equal values is not "all are equal".
    assert one([1.0] * 5 + [math.inf], {"at_most": 4}).outcome == "undecided"
    assert one([math.inf] * 6, {"at_most": 4}).outcome == "missed"
    assert one([math.inf] * 6, {"above": 4}).outcome == "met"
    for expect in ({"above": 4}, {"below": 4}, {"at_least": 4}):
        assert not target(expect, {}).has(math.nan)


def test_the_error_is_divided_among_the_looks():
    values = [1.0, 2.0, 3.0, 4.0]
    # t of 3 degrees: 3.182 for 95 %, 4.177 for 97.5 %.
    once, twice = one(values, {"at_least": 0}), one(values, {"at_least": 0}, looks=2)
    assert once.high - 2.5 == pytest.approx(3.182 * (5 / 12) ** 0.5, abs=1e-3)
    assert twice.high - 2.5 == pytest.approx(4.177 * (5 / 12) ** 0.5, abs=1e-3)
    assert (once.outcome, twice.outcome) == ("met", "undecided")
    # Twice the level at which the interval ends at the bound.
    near = [one(values, {"at_least": 4.0}, looks=looks).p_value for looks in (1, 2)]
    assert near[1] == 2 * near[0]
    # All of six true: 0.0125^(1/6) = 0.482 is no majority, 0.0125^(1/7) = 0.535 is.
    assert one([True] * 6, {"holds": "always"}, looks=2).outcome == "undecided"
    assert one([True] * 7, {"holds": "always"}, looks=2).outcome == "met"


def test_rounding_at_a_bound_is_neither_met_too_late_nor_missed_too_soon():
    # 0.1 + 0.2 is 4e-17 more than 0.3.
    assert one([0.1 + 0.2], {"equals": 0.3, "tolerance": 0}, is_exact=True).outcome == "met"
    assert one([0.3], {"at_least": 0.1 + 0.2}, is_exact=True).outcome == "met"
    assert one([0.1 + 0.2], {"at_most": 0.3}, is_exact=True).outcome == "met"
    # An interval that touches a bound but for rounding holds a number that is expected.
    touching = 1.0 - 1e-14
    assert one([0.5], {"at_least": 1}, query_interval=(0.0, touching)).outcome == "undecided"
    assert one([1.5], {"at_most": 1}, query_interval=(1 / touching, 2.0)).outcome == "undecided"
    assert one([0.5], {"at_least": 1}, query_interval=(0.0, 1.0 - 1e-9)).outcome == "missed"
    # Relative to large bounds, and not below 1e-12 for small ones.
    assert one([1e9 - 1e-4], {"at_least": 1e9}, is_exact=True).outcome == "met"
    assert one([1e9 - 1e-2], {"at_least": 1e9}, is_exact=True).outcome == "missed"


def test_one_replicate_of_a_random_study_decides_nothing():
    part = one([2.0], {"at_least": 1})
    assert (part.outcome, part.low) == ("undecided", None)
    assert "one replicate" in part.why
    assert one([2.0], {"at_least": 1}, is_exact=True).outcome == "met"


def test_a_value_that_is_not_known_decides_nothing():
    part = one([2.0, None, 2.0], {"at_least": 1})
    assert part.outcome == "undecided"
    assert part.why == "the measure has no value in 1 of 3 replicates"


@pytest.mark.parametrize(
    ("true", "false", "holds", "outcome"),
    [
        # All of n true: the lower end is 0.025^(1/n); above 1/2 from n = 6 on.
        (6, 0, "always", "met"),
        (5, 0, "always", "undecided"),
        (9, 1, "always", "missed"),
        (9, 1, "mostly", "met"),
        (7, 3, "mostly", "undecided"),
        (1, 9, "mostly", "missed"),
    ],
)
def test_truth_needs_enough_replicates(true, false, holds, outcome):
    part = one([True] * true + [False] * false, {"holds": holds})
    assert part.outcome == outcome
    if false == 0:
        assert part.low == pytest.approx(0.025 ** (1 / true))


def test_bounds_may_be_columns_of_the_measure():
    part = one([3.0] * 6, {"equals": "printed", "tolerance": 0}, columns={"printed": 3})
    assert (part.outcome, part.expected) == ("met", "3")
    with pytest.raises(KeyError, match="printed"):
        one([3.0, 3.0], {"at_least": "printed"}, columns={"printed": "three"})


def test_an_interval_of_the_query_is_taken():
    assert one([5.0], {"at_least": 4}, query_interval=(4.5, 5.5)).outcome == "met"
    assert one([5.0], {"at_least": 4}, query_interval=(3.5, 6.5)).outcome == "undecided"


def test_one_number_that_misses_is_enough():
    assert join(["met", "undecided", "missed"]) == "missed"
    assert join(["met", "undecided"]) == "undecided"
    assert join(["met", "met"]) == "met"


@given(
    st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=12),
    st.floats(-1e3, 1e3),
    st.floats(0, 1e3),
)
def test_a_wider_target_never_turns_met_into_missed(values, centre, half):
    order = {"missed": 0, "undecided": 1, "met": 2}
    near = one(values, {"equals": centre, "tolerance": half}).outcome
    wide = one(values, {"equals": centre, "tolerance": 2 * half + 1}).outcome
    assert not (near == "met" and wide != "met")
    assert order[wide] >= order[near] or near == "undecided"
    # A statement and its opposite are never both met.
    above = one(values, {"above": centre}).outcome
    below = one(values, {"below": centre}).outcome
    assert not (above == "met" and below == "met")


def test_a_printed_number_is_judged_by_the_interval_of_what_the_paper_ran():
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    # Mean 3.5, deviation sqrt(3.5), t of 5 degrees 2.571: 3.5 ± 2.571 sqrt(3.5 (1 + 1/6)).
    half = 2.571 * (3.5 * 7 / 6) ** 0.5
    inside = one(values, {"equals": 3.5 + half, "tolerance": 0.005}, ran=1)
    outside = one(values, {"equals": 3.51 + half, "tolerance": 0.005}, ran=1)
    assert inside.high == pytest.approx(3.5 + half, abs=1e-3)
    assert (inside.outcome, outside.outcome) == ("met", "missed")
    # Of a mean of 100 runs the number is known better, and the same distance is too far.
    assert one(values, {"equals": 7.5, "tolerance": 0.005}, ran=1).outcome == "met"
    assert one(values, {"equals": 7.5, "tolerance": 0.005}, ran=100).outcome == "missed"


def test_few_replicates_support_no_printed_number_but_may_refute_it():
    two = [1.0, 1.2]
    assert one(two, {"equals": 1.1, "tolerance": 0.005}, ran=1).outcome == "undecided"
    assert one(two, {"equals": 9.0, "tolerance": 0.005}, ran=1).outcome == "missed"
    pooled = Spread(0.1, 36)
    assert one(two, {"equals": 1.1, "tolerance": 0.005}, ran=1, spread=pooled).outcome == "met"
    assert one([1.1], {"equals": 1.1, "tolerance": 0.005}, ran=1).outcome == "undecided"


def test_a_prediction_interval_covers_as_often_as_it_says():
    draws = np.random.default_rng(5).normal(size=(2000, 9))
    covered = [
        found.low <= row[8] <= found.high
        for row in draws
        for found in [prediction(row[:8].tolist(), 1, 0.95)[0]]
    ]
    # The standard error of the share is 0.005.
    assert np.mean(covered) == pytest.approx(0.95, abs=0.02)


def test_a_prediction_interval_is_compared_with_that_of_endless_replicates():
    values = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    # t of 5 degrees 2.5706, for six values against the mean of some runs.
    for ran, wide in ((1, 1.95996), (4, 1.95996 / 2)):
        found, ratio = prediction(values, ran, 0.95)
        ours = 2.5706 * (1 / ran + 1 / 6) ** 0.5
        assert ratio == pytest.approx(ours / wide, rel=1e-4)
        assert found.high - 3.5 == pytest.approx(ours * 3.5**0.5, rel=1e-4)


def test_the_width_of_ten_runs_is_estimated_with_its_interval_by_hand():
    found = half_width([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 10, 0.95)
    half = 2.262157 * (3.5 / 10) ** 0.5  # t of 9 degrees
    assert found.value == pytest.approx(half, rel=1e-6)
    # 6 / (2 sqrt 2) = 2.12, so two values are cut off at each end; deviations from 3.5: the fourth
    # powers sum to 88.375, the squares to 17.5.
    kurtosis = 6 * 88.375 / 17.5**2
    scale = 6 / (6 - 1.959964)
    error = scale * ((kurtosis - 3 / 6) / 5) ** 0.5
    assert found.low == pytest.approx(half * (scale / np.exp(1.959964 * error)) ** 0.5, rel=1e-6)
    assert found.high == pytest.approx(half * (scale * np.exp(1.959964 * error)) ** 0.5, rel=1e-6)


def test_a_width_has_no_interval_of_few_or_equal_values_nor_of_a_design():
    for values in ([1.0, 2.0, 4.0, 3.0], [2.0] * 5):
        found = half_width(values, 10, 0.95)
        assert math.isnan(found.low)
        assert math.isnan(found.high)
        found = half_width(values, 10, 0.95, is_sample=False)
        assert found.low == found.value == found.high
    assert half_width([2.0] * 6, 10, 0.95) == (0, 0, 0)


@pytest.mark.parametrize(
    ("draw", "deviation", "least"),
    [("normal", 1.0, 0.93), ("standard_t", 3**0.5, 0.75), ("lognormal", 2.1612, 0.65)],
)
def test_the_interval_of_a_width_holds_the_truth_of_data_with_long_tails(draw, deviation, least):
    # The chi-squared interval held it in 0.95, 0.63 and 0.41 with thirty values.
    generator = np.random.default_rng(1)
    more = {"standard_t": (3,), "normal": (0.0, 1.0), "lognormal": (0.0, 1.0)}[draw]
    truth = 2.262157 * deviation / 10**0.5
    drawn = getattr(generator, draw)(*more, (1000, 30))
    found = [half_width(values.tolist(), 10, 0.95) for values in drawn]
    assert np.mean([one.low <= truth <= one.high for one in found]) >= least


def test_all_points_of_a_design_are_judged_by_their_range():
    # Of start times that somebody chose the mean of others is no question: no Student's t.
    values = [0.9, 1.0, 1.1]
    expect = {"between": [0.85, 1.15]}
    sample = judge("", values, expect, {}, is_exact=False)
    assert (sample.outcome, sample.is_design) == ("undecided", False)  # 1 ± 0.248
    design = judge("", values, expect, {}, is_exact=False, is_design=True)
    assert (design.outcome, design.low, design.high) == ("met", 0.9, 1.1)
    assert (design.p_value, design.is_design, design.is_exact) == (None, True, False)
    assert design.why == (
        "the range 0.9 to 1.1 is within 0.85 to 1.15 (all 3 points of a design; no sampling"
        " interval)"
    )
    # One point out of the set is enough not to be met, and only all of them are missed.
    for expect, outcome in (({"at_most": 1.05}, "undecided"), ({"at_most": 0.8}, "missed")):
        found = judge("", values, expect, {}, is_exact=False, is_design=True)
        assert found.outcome == outcome
        assert "more replicates" not in found.why
    always = judge("", [True, True, False], {"holds": "always"}, {}, is_exact=False, is_design=True)
    assert (always.outcome, always.measured) == ("missed", pytest.approx(2 / 3))
    # One point of a random study says nothing of the next seed.
    one = judge("", [1.0], {"at_most": 2.0}, {}, is_exact=False, is_design=True)
    assert one.outcome == "undecided"


@pytest.mark.parametrize(
    ("measure", "is_design"),
    [
        ("SELECT 'n' AS part, CAST(start AS BIGINT) AS replicate, value FROM s.flows", True),
        ("select gap\n  as replicate, 1 AS value", True),
        ("SELECT a.replicate, start AS part, 1 AS value", False),
        ("SELECT r.replicate AS replicate, 1 AS value", False),
    ],
)
def test_a_design_is_known_by_what_its_replicates_are(measure, is_design):
    assert Check(path="", measure=measure, expect={}).is_design == is_design


def ranks(noise):
    """Four places, four replicates: y rises with x, and noise turns ranks round in each."""
    generator = np.random.default_rng(1)
    return [
        {"at": at, "replicate": r, "x": float(at), "y": at + noise * float(generator.normal())}
        for at in range(4)
        for r in range(4)
    ]


@pytest.mark.slow
def test_rank_correlations_are_those_of_means_over_replicates():
    found = rank_correlation(ranks(0.6), 0.95, is_exact=False)
    assert found.value == 1
    assert 0.5 < found.low <= found.high == 1
    noisy = rank_correlation(ranks(20.0), 0.95, is_exact=False)
    assert noisy.low < 0.5 < noisy.high
    few = [row for row in ranks(0.6) if row["replicate"] < 2]
    assert np.isnan(rank_correlation(few, 0.95, is_exact=False).low)
    constant = [{**row, "y": 1.0} for row in ranks(0.6)]
    assert np.isnan(rank_correlation(constant, 0.95, is_exact=False).value)
