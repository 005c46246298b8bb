"""Scores: values worked out by hand, published values, and what must hold for any rates."""

import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ackclock import analysis
from ackclock.analysis.grouping import group_rows, numbers, table_of
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


def test_scores_of_nothing_and_of_what_is_no_list_are_refused():
    for wrong in ([], [[1.0, 2.0]], 3.0):
        for score in (analysis.jain, analysis.spread, analysis.legout_sigma):
            with pytest.raises(ValueError, match="a list of at least one rate, not "):
                score(wrong)


def test_scores_of_flows_that_got_nothing_are_not_known():
    assert math.isnan(analysis.jain([0, 0]))
    assert math.isnan(analysis.spread([0, 0, 0]))
    assert math.isnan(analysis.harm(0, 0))
    assert math.isnan(analysis.harm(0, 0, "less"))
    assert math.isnan(analysis.max_min_distance([1, 2], [0, 0]))
    # Of one flow that has all of n, the spread is n.
    assert analysis.spread([0, 0, 5]) == 3
    assert analysis.spread([4]) == 0
    assert analysis.legout_sigma([1, 3]) == pytest.approx(math.sqrt(2))


def test_jain_squares_neither_tiny_nor_huge_rates():
    for unit in (1e-300, 1e-170, 1e170, 1e300):
        assert analysis.jain([unit, 3 * unit]) == pytest.approx(0.8)


def test_harm_where_less_is_better_is_over_what_is_worse():
    # No loss alone, some beside the other: all of the loss is the other's. Half as much helps.
    assert analysis.harm(0, 3, "less") == 1
    assert analysis.harm(8, 4, "less") == -1
    assert analysis.harm(0.5, 0.25) == 0.5


def test_harm_of_tables_is_between_means_and_gives_both():
    solo = pa.table({"flow": ["a", "a", "b"], "delay": [1.0, 3.0, 5.0]})
    both = pa.table({"flow": ["a", "a"], "delay": [5.0, 11.0]})
    found = analysis.harm_table(solo, both, "delay", ["flow"], better="less")
    assert found.to_pylist() == [{"flow": "a", "solo": 2.0, "together": 8.0, "harm": 0.75}]


def test_who_demands_without_bound_shares_what_is_left():
    assert analysis.max_min_share([math.inf, 1, math.inf], 9).tolist() == [4, 1, 4]
    assert analysis.max_min_share([3, 3], 6).tolist() == [3, 3]
    assert analysis.max_min_share([3, 3], 5).tolist() == [2.5, 2.5]
    # Half of the distance is the part of the capacity that the wrong flows have.
    assert analysis.max_min_distance([4, 0], [2, 2]) == 1


def test_groups_come_in_order_of_their_first_rows_with_all_their_rows():
    rows = pa.table({"a": [2, 1, 2], "b": ["x", "x", "y"], "v": [1.0, 2.0, 3.0]})
    found = [(key, part["v"].to_pylist()) for key, part in group_rows(rows, ["a"])]
    assert found == [({"a": 2}, [1.0, 3.0]), ({"a": 1}, [2.0])]
    assert [key for key, _ in group_rows(rows, ["b", "a"])] == [
        {"b": "x", "a": 2},
        {"b": "x", "a": 1},
        {"b": "y", "a": 2},
    ]
    ((key, part),) = group_rows(rows, [])
    assert (key, part.num_rows) == ({}, 3)
    assert list(group_rows(rows.slice(3), [])) == []
    with pytest.raises(AckclockError, match='the table has no column "w"'):
        list(group_rows(rows, ["a"], "v", "w"))


def test_numbers_leave_out_what_is_not_known_and_refuse_text():
    rows = pa.table({"v": [1, None, 3], "none": pa.nulls(3, pa.float64()), "t": ["1", "2", "3"]})
    assert numbers(rows, "v").tolist() == [1.0, 3.0]
    for column in ("none", "t"):
        with pytest.raises(AckclockError, match=f'the column "{column}" holds no numbers'):
            numbers(rows, column)


def test_tables_of_scores_have_null_for_what_is_not_known():
    made = table_of([{"n": 1, "x": math.nan}, {"n": 2, "x": 0.5}])
    assert made.to_pylist() == [{"n": 1, "x": None}, {"n": 2, "x": 0.5}]
    assert table_of([]).num_rows == 0


def test_fairness_gives_all_scores_of_each_group():
    rates = pa.table({"seed": [1, 1, 1, 2], "goodput_bps": [1.0, 2.0, 6.0, 4.0]})
    one, two = analysis.fairness(rates).to_pylist()
    assert one == pytest.approx(
        # (1 + 2 + 6)^2 / (3 (1 + 4 + 36)); squares of distances to 3 are 4, 1 and 9.
        {"seed": 1, "n": 3, "mean": 3.0, "minimum": 1.0, "sigma": math.sqrt(7),
         "jain": 81 / 123, "spread": 5 / 3}
    )  # fmt: skip
    assert two == {
        "seed": 2, "n": 1, "mean": 4.0, "minimum": 4.0, "sigma": None, "jain": 1.0, "spread": 0.0,
    }  # fmt: skip


def test_competitive_scores_average_runs_and_keep_settings_apart():
    rows = pa.table(
        {
            "setting": ["s"] * 5 + ["t"] * 4,
            "cc": ["a", "a", "a", "b", "b", "a", "a", "b", "b"],
            "env": ["X", "X", "Y", "X", "Y", "X", "Y", "X", "Y"],
            "goodput": [1.0, 3.0, 4.0, 5.0, 8.0, 9.0, 1.0, 8.0, 7.0],
        }
    )
    each, totals = analysis.competitive(rows, "goodput", "cc", "env", by=["setting"])
    # In s, a has (1 + 3) / 2 and 4 beside 5 and 8; in t it is best in X.
    assert each.to_pylist() == [
        {"setting": "s", "cc": "a", "env": "X", "s": 2.0, "s_max": 5.0, "d": 3.0},
        {"setting": "s", "cc": "a", "env": "Y", "s": 4.0, "s_max": 8.0, "d": 4.0},
        {"setting": "s", "cc": "b", "env": "X", "s": 5.0, "s_max": 5.0, "d": 0.0},
        {"setting": "s", "cc": "b", "env": "Y", "s": 8.0, "s_max": 8.0, "d": 0.0},
        {"setting": "t", "cc": "a", "env": "X", "s": 9.0, "s_max": 9.0, "d": 0.0},
        {"setting": "t", "cc": "a", "env": "Y", "s": 1.0, "s_max": 7.0, "d": 6.0},
        {"setting": "t", "cc": "b", "env": "X", "s": 8.0, "s_max": 9.0, "d": 1.0},
        {"setting": "t", "cc": "b", "env": "Y", "s": 7.0, "s_max": 7.0, "d": 0.0},
    ]
    assert totals.to_pylist()[0] == {
        "setting": "s", "cc": "a", "c": 4.0, "d_sum": 7.0, "d_mean": 3.5, "environments": 2,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("better", "scores", "expected"),
    [
        ("more", {"a": 6.0, "b": 2.0}, [1.0, 3.0]),
        ("less", {"a": 6.0, "b": 2.0}, [3.0, 1.0]),
        # Beside a best of more than nothing, nothing is endlessly worse; all alike are at 1.
        ("more", {"a": 6.0, "b": 0.0}, [1.0, math.inf]),
        ("less", {"a": 6.0, "b": 0.0}, [math.inf, 1.0]),
        ("more", {"a": 0.0, "b": 0.0}, [1.0, 1.0]),
    ],
)
def test_competitive_ratios_by_hand(better, scores, expected):
    each, _ = analysis.competitive(
        table({name: {"X": score} for name, score in scores.items()}),
        "goodput", "cc", "env", form="ratio", better=better,
    )  # fmt: skip
    assert each["d"].to_pylist() == expected
