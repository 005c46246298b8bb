"""Scores: values worked out by hand, published values, and what must hold for any rates."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ackclock import analysis
from ackclock.errors import AckclockError

RATES = st.lists(st.floats(1e-3, 1e9), min_size=1, max_size=30)


@pytest.mark.parametrize(
    ("rates", "index"),
    [
        ([10, 2, 10], 0.7908),  # McCullough et al. 2010, section 4.1.2: 0.79
        ([6, 2, 14], 0.6836),  # there: 0.68
        ([1, 0, 0, 0], 0.25),
        ([3, 3, 3], 1.0),
        ([1, 3], 0.8),
    ],
)
def test_jain_as_published_and_by_hand(rates, index):
    assert analysis.jain(rates) == pytest.approx(index, abs=5e-5)


def test_spread_and_sigma_by_hand():
    assert analysis.spread([1, 2, 6]) == pytest.approx(5 / 3)
    assert analysis.legout_sigma([2, 4, 4, 4, 5, 5, 7, 9]) == pytest.approx(math.sqrt(32 / 7))
    assert math.isnan(analysis.legout_sigma([3.0]))


@given(RATES, st.floats(1e-3, 1e3))
def test_scores_without_units_do_not_change_with_the_unit(rates, factor):
    scaled = [factor * rate for rate in rates]
    for score in (analysis.jain, analysis.spread):
        assert score(scaled) == pytest.approx(score(rates), rel=1e-9, abs=1e-12)


@given(RATES)
def test_jain_and_spread_keep_their_ranges(rates):
    n = len(rates)
    assert 1 / n - 1e-12 <= analysis.jain(rates) <= 1 + 1e-12
    assert 0 <= analysis.spread(rates) <= n + 1e-9
    # Equal rates, and only they, have index 1 and spread 0.
    assert analysis.jain([rates[0]] * n) == pytest.approx(1)
    assert analysis.spread([rates[0]] * n) == 0


@given(RATES, st.integers(1, 5))
def test_jain_of_copies_is_jain_of_one(rates, copies):
    assert analysis.jain(rates * copies) == pytest.approx(analysis.jain(rates))


@given(RATES)
def test_jain_follows_from_the_coefficient_of_variation(rates):
    variation = np.std(rates) / np.mean(rates)
    assert analysis.jain(rates) == pytest.approx(1 / (1 + variation**2), rel=1e-6)


@given(RATES, st.floats(1e-3, 1e10))
def test_max_min_shares_fill_the_link_and_no_one_can_get_more(demands, capacity):
    shares = analysis.max_min_share(demands, capacity)
    assert shares.sum() == pytest.approx(min(capacity, sum(demands)), rel=1e-9)
    level = shares.max()
    for share, demand in zip(shares, demands, strict=True):
        # Who gets less than requested gets as much as anyone.
        assert share <= demand * (1 + 1e-12)
        assert share == pytest.approx(demand, rel=1e-9) or share == pytest.approx(level, rel=1e-9)


def test_max_min_shares_and_distance_by_hand():
    # The second requests less than a third of 20; the others share the remaining 18, up to demand.
    assert analysis.max_min_share([18, 2, 7], 20).tolist() == [11, 2, 7]
    # McCullough et al. 2010, figure 3: fire-hoses against the optimum.
    assert analysis.max_min_distance([6, 2, 14], [10, 2, 10]) == pytest.approx(8 / 22)
    with pytest.raises(ValueError, match="2 rates and 1 fair"):
        analysis.max_min_distance([1, 2], [1])


@given(st.lists(st.tuples(st.floats(0, 1e6), st.floats(1e-3, 1e6)), min_size=1, max_size=20))
def test_max_min_distance_is_zero_only_for_the_fair_rates(pairs):
    rates, fair = map(list, zip(*pairs, strict=True))
    assert analysis.max_min_distance(fair, fair) == 0
    assert analysis.max_min_distance(rates, fair) >= 0
    assert (analysis.max_min_distance(rates, fair) == 0) == (rates == fair)


def test_harm_by_hand():
    # Alone 10 Mbit/s, then 4: 60 % harm. Delay from 20 ms to 80 ms: 75 %.
    assert analysis.harm(10, 4) == pytest.approx(0.6)
    assert analysis.harm(20, 80, "less") == pytest.approx(0.75)
    assert analysis.harm(10, 12) == pytest.approx(-0.2)
    assert analysis.harm(10, 0) == 1


def test_harm_of_tables_joins_groups():
    solo = pa.table({"flow": ["a", "b"], "seed": [1, 1], "bps": [10.0, 8.0]})
    both = pa.table({"flow": ["b", "a", "c"], "seed": [1, 1, 1], "bps": [2.0, 5.0, 1.0]})
    rows = analysis.harm_table(solo, both, "bps", ["flow", "seed"]).to_pylist()
    assert [(row["flow"], row["harm"]) for row in rows] == [("b", 0.75), ("a", 0.5)]
    with pytest.raises(AckclockError, match="is in both tables"):
        analysis.harm_table(solo, both.slice(2), "bps", ["flow"])


def table(scores):
    rows = [(a, e, s) for a, row in scores.items() for e, s in row.items()]
    names = ("cc", "env", "goodput")
    return pa.table(
        {name: list(column) for name, column in zip(names, zip(*rows, strict=True), strict=True)}
    )


SCORES = {
    "aimd": {"CL": 0.95, "CH": 0.90, "SQ": 0.60},
    "aiad": {"CL": 0.95, "CH": 0.92, "SQ": 0.50},
    "mimd": {"CL": 0.85, "CH": 0.96, "SQ": 0.70},
}


def test_competitive_scores_by_hand():
    each, totals = analysis.competitive(table(SCORES), "goodput", "cc", "env")
    found = {row["cc"]: row for row in totals.to_pylist()}
    assert found["aimd"]["c"] == pytest.approx(0.10)
    assert found["aimd"]["d_sum"] == pytest.approx(0 + 0.06 + 0.10)
    assert found["aiad"]["c"] == pytest.approx(0.20)
    assert found["mimd"]["d_mean"] == pytest.approx(0.10 / 3)
    best = {row["env"]: row["s_max"] for row in each.to_pylist()}
    assert best == {"CL": 0.95, "CH": 0.96, "SQ": 0.70}


def test_competitive_ratio_and_less_is_better_by_hand():
    _, totals = analysis.competitive(table(SCORES), "goodput", "cc", "env", form="ratio")
    assert totals.to_pylist()[1]["c"] == pytest.approx(0.70 / 0.50)
    _, totals = analysis.competitive(table(SCORES), "goodput", "cc", "env", better="less")
    found = {row["cc"]: row["d_sum"] for row in totals.to_pylist()}
    assert found == pytest.approx({"aimd": 0.2, "aiad": 0.12, "mimd": 0.26})


def test_competitive_scores_need_every_algorithm_in_every_environment():
    with pytest.raises(AckclockError, match='cc "b" has no goodput in env "Y"'):
        analysis.competitive(
            table({"a": {"X": 1.0, "Y": 1.0}, "b": {"X": 1.0}}), "goodput", "cc", "env"
        )


CELLS = st.dictionaries(
    st.sampled_from("abcd"),
    st.fixed_dictionaries({e: st.floats(0.01, 1) for e in "XYZ"}),
    min_size=1,
)


@given(CELLS)
def test_competitive_scores_bound_each_other(scores):
    each, totals = analysis.competitive(table(scores), "goodput", "cc", "env")
    for row in totals.to_pylist():
        # A sum of n terms that are not negative lies between its greatest term and n times it;
        # the appendix of Akella et al. obeys this in 286 of 288 pairs, and a mean cannot.
        assert row["c"] - 1e-12 <= row["d_sum"] <= row["environments"] * row["c"] + 1e-12
        assert row["d_mean"] <= row["c"] + 1e-12
    for environment in "XYZ":
        behind = [row["d"] for row in each.to_pylist() if row["env"] == environment]
        assert min(behind) == 0


@given(CELLS)
def test_ratio_and_difference_agree_on_who_is_best(scores):
    by = {}
    for form, none in (("difference", 0.0), ("ratio", 1.0)):
        each, _ = analysis.competitive(table(scores), "goodput", "cc", "env", form=form)
        by[form] = {(r["cc"], r["env"]) for r in each.to_pylist() if r["d"] == none}
    assert by["difference"] == by["ratio"]


def test_fairness_of_a_table_groups_by_run():
    rates = pa.table({"seed": [1, 1, 2, 2], "goodput_bps": [1.0, 3.0, 2.0, 2.0]})
    rows = analysis.fairness(rates).to_pylist()
    assert [row["jain"] for row in rows] == pytest.approx([0.8, 1])
    assert [row["minimum"] for row in rows] == [1, 2]
    assert rows[0]["sigma"] == pytest.approx(math.sqrt(2))
    with pytest.raises(AckclockError, match='no column "goodput"; did you mean "goodput_bps"'):
        analysis.fairness(rates, "goodput")


@given(RATES)
def test_order_of_rates_does_not_matter(rates):
    assume(len(rates) > 1)
    for score in (analysis.jain, analysis.spread, analysis.legout_sigma):
        assert score(rates[::-1]) == pytest.approx(score(rates), rel=1e-9, abs=1e-9)
