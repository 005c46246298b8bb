"""The rule of verdicts, on intervals worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ackclock.reproduce.run.judge import join, judge

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
    assert one([0.0, 0.0], {"above": 0}).outcome == "missed"
    assert one([0.0, 0.0], {"at_least": 0}).outcome == "met"
    assert one([0.0, 0.0], {"below": 0}).outcome == "missed"
    assert one([-1.0, -1.0], {"below": 0}).outcome == "met"


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
    part = one([3.0, 3.0], {"equals": "printed", "tolerance": 0}, columns={"printed": 3})
    assert (part.outcome, part.expected) == ("met", "3")
    with pytest.raises(KeyError, match="printed"):
        one([3.0, 3.0], {"at_least": "printed"}, columns={"printed": "three"})


def test_an_interval_of_the_query_is_taken():
    assert one([5.0], {"at_least": 4}, given=(4.5, 5.5)).outcome == "met"
    assert one([5.0], {"at_least": 4}, given=(3.5, 6.5)).outcome == "undecided"


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
