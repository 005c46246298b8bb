"""Means over unequal replicates, equal runs and missing values, and what their notes say."""

import math

import numpy as np
import pytest

import ackclock as ac
from ackclock.experiments import metrics
from ackclock.experiments.groups import RunMetric, balance, balance_pair
from ackclock.experiments.statistics import mean_interval
from conftest import SMALL
from experiments.test_metrics import swept

DUMBBELL = {
    "net": {"kind": "dumbbell", "pairs": 2, "rate": "1 Mbps", "rtt": "50 ms", "buffer": "1 bdp"},
    "flows": [{"id": "mine", "pair": 0}, {"pair": 1}],
    "duration": "4 s",
}


def test_points_repeated_more_often_weigh_no_more_than_others():
    # Light: near 10, two seeds. Heavy: near 3, forty. The mean of the points is 6.5.
    draws = np.random.default_rng(3).normal(0, 0.2, 84)
    runs = {("p", 1, r): 10 + draws[r] for r in range(2)}
    runs |= {("p", 2, r): 3 + draws[r + 2] for r in range(40)}
    (row,) = swept(runs).summary("totals.v", by=[]).to_pylist()
    expected = [(runs["p", 1, r] + runs["p", 2, r]) / 2 for r in range(2)]
    assert (row["mean"], row["ci_low"], row["ci_high"]) == pytest.approx(mean_interval(expected))
    assert row["mean"] == pytest.approx(6.5, abs=0.3)
    assert row["seeds"] == 2
    assert row["note"] == "38 runs left out: not every point has the replicate"


def test_a_control_that_is_better_at_every_point_is_not_worse_over_all():
    # Y is repeated more often where all are fast, X where all are slow; X is 1 above Y everywhere.
    runs = {("x", 20, r): 101.0 + r for r in range(5)} | {
        ("x", 200, r): 11.0 + r for r in range(50)
    }
    runs |= {("y", 20, r): 100.0 + r for r in range(50)} | {
        ("y", 200, r): 10.0 + r for r in range(5)
    }
    (pair,) = swept(runs).compare("totals.v", "a", by=[]).pairs
    assert (pair.one, pair.other, pair.difference, pair.seeds) == ("x", "y", 1.0, 5)
    assert (pair.low, pair.high) == (1.0, 1.0)
    assert "90 runs left out" not in pair.note
    assert "45 runs left out" in pair.note


def test_controls_are_compared_over_the_points_that_both_have():
    # An interrupted sweep: Y has no run at the fast point yet.
    runs = {("x", b, r): {1: 100.0, 2: 10.0}[b] + r for b in (1, 2) for r in range(3)}
    runs |= {("y", 2, r): 12.0 + r for r in range(3)}
    (pair,) = swept(runs).compare("totals.v", "a", by=[]).pairs
    assert (pair.mean_one, pair.mean_other, pair.difference) == (11.0, 13.0, -2.0)


@pytest.mark.parametrize("is_swapped", [False, True])
def test_two_groups_are_averaged_over_the_replicates_that_both_have(is_swapped):
    cells = [
        {
            "p": {0: RunMetric(1.0), 1: RunMetric(3.0), 2: RunMetric(50.0)},
            "q": {0: RunMetric(5.0), 1: RunMetric(7.0)},
        },
        {
            "p": {1: RunMetric(4.0), 2: RunMetric(60.0)},
            "q": {1: RunMetric(8.0), 2: RunMetric(90.0)},
        },
    ]
    cells = cells[::-1] if is_swapped else cells
    groups = balance_pair(*cells)
    # Replicate 1 alone is at both points of both.
    expected = [{1: 5.0}, {1: 6.0}]
    assert [group.values for group in groups] == (expected[::-1] if is_swapped else expected)


def test_without_a_common_replicate_points_are_averaged_and_there_is_no_interval():
    group = balance({"p": {0: RunMetric(1.0), 1: RunMetric(3.0)}, "q": {2: RunMetric(10.0)}})
    assert group.interval(0.95, "t")[0] == 6.0
    assert math.isnan(group.interval(0.95, "t")[1])
    assert "no replicate is common to all points" in group.note()


def test_seeds_that_give_one_run_have_no_interval_and_say_how_runs_would_differ():
    over = {"net.buffer": ["1 bdp", "2 bdp"]}
    grid = ac.sweep(ac.Scenario(**DUMBBELL), over, reps=5, metrics=["mean(flows.goodput_bps)"])
    result = grid.run(store=False, progress=False)
    for row in result.to_dict()["summary"]["mean(flows.goodput_bps)"]:
        assert (row["seeds"], row["runs"]) == (5, 1)
        assert row["ci_low"] is None
        assert "the 5 seeds give one and the same run, so there is no interval" in row["note"]
        assert "start_jitter" in row["note"]
    assert "the 5 seeds give one and the same run" in str(result)
    drawn = result.plot("lines").axes[0]
    assert drawn.get_title(loc="left") == "Mean"
    assert "one and the same run" in " ".join(text.get_text() for text in drawn.texts)
    # A difference of two exact numbers is exact, and no interval is claimed.
    (pair,) = result.compare("mean(flows.goodput_bps)", "net.buffer").pairs
    assert math.isnan(pair.low)
    assert pair.clear == (pair.difference != 0)


def test_the_key_that_the_note_names_makes_runs_differ():
    flows = [{**flow, "start_jitter": "100 ms"} for flow in DUMBBELL["flows"]]
    case = ac.Scenario(**{**DUMBBELL, "flows": flows})
    result = ac.sweep(case, reps=5).run(store=False, progress=False)
    (row,) = result.summary("mean(flows.goodput_bps)").to_pylist()
    assert (row["runs"], row["note"]) == (5, "")
    assert row["ci_low"] < row["mean"] < row["ci_high"]


def test_replications_that_are_one_run_say_so_in_text_and_data():
    found = ac.replicate(ac.Scenario(**DUMBBELL), 3)
    assert "3 replications: the 3 seeds give one and the same run" in str(found)
    data = found.to_dict()
    assert (data["replications"], data["distinct_runs"]) == (3, 1)
    assert "start_jitter" in data["note"]
    assert all(row["ci_low"] is None for row in data["means"])
    assert np.isnan(found.means["ci_low"].to_numpy(zero_copy_only=False)).all()


def test_a_mean_over_the_runs_that_finished_says_of_how_many():
    values = {("p", 1, r): 5.0 + r if r < 3 else math.nan for r in range(8)}
    (row,) = swept(values).summary("totals.v").to_pylist()
    assert (row["mean"], row["seeds"]) == (6.0, 3)
    assert row["note"] == "3 of 8 have a value: the mean is of these alone"


def test_equal_values_of_runs_that_differ_say_what_they_leave_open():
    values = {("p", 1, r): 0.0 for r in range(5)}
    (row,) = swept(values).summary("totals.v").to_pylist()
    # 1 - 0.025^(1/5) = 0.522.
    assert row["note"] == "all 5 are equal: up to 52 % of runs may differ"


@pytest.mark.parametrize(
    ("metric", "ends"),
    [
        ("jain(flows.x)", (0.5, 1.0)),
        ("count(flows.x)", (0.5, 1.5)),
        ("max(links.utilisation)", (0.5, 1.0)),
        ("mean(flows.goodput_bps)", (-0.5, 1.5)),
    ],
)
def test_an_interval_ends_where_its_metric_does(metric, ends):
    low = -0.5 if metric.startswith("mean") else 0.5
    assert metrics.within_range(metric, low, 1.5) == ends
    assert metrics.within_range("count(flows.x)", -0.5, 1.5) == (0.0, 1.5)
    assert all(math.isnan(end) for end in metrics.within_range(metric, math.nan, math.nan))


def test_a_count_counts_what_is_there_and_a_deviation_is_that_of_a_sample():
    column = np.array([1.0, math.nan, 4.0])
    assert metrics.parse("count(t.x)").reduce(column, "") == 2.0
    # Of 1 and 4: ((1.5)^2 + (1.5)^2) / 1.
    assert metrics.parse("std(t.x)").reduce(column, "") == pytest.approx(4.5**0.5)
    assert math.isnan(metrics.parse("std(t.x)").reduce(column[:1], ""))


@pytest.mark.parametrize(
    ("metric", "reported"),
    [
        ("flows[mien].goodput_bps", 'there is no flow "mien"; did you mean "mine"?'),
        ("mean(flows.godput_bps)", 'did you mean "goodput_bps"'),
        ("totals.evnts", 'did you mean "events"'),
        ("max(links[r0->r9].utilisation)", 'there is no link "r0->r9"'),
    ],
)
def test_a_metric_that_no_run_can_have_is_refused_before_the_first(metric, reported, tmp_path):
    grid = ac.sweep(ac.Scenario(**DUMBBELL), {"net.buffer": ["1 bdp", "2 bdp"]}, metrics=[metric])
    with pytest.raises(metrics.MetricError, match=reported):
        grid.run(store=tmp_path / "store", progress=False)
    assert not list((tmp_path / "store").rglob("*.pack"))
    until = ac.Precision(metric, at_least=2)
    with pytest.raises(metrics.MetricError, match=reported):
        ac.sweep(ac.Scenario(**DUMBBELL), until=until).run(store=False, progress=False)


def test_rows_that_other_points_or_later_times_have_are_no_faults():
    case = ac.load(SMALL).replace(record=None, duration="4 s")
    over = {"flows[0].id": ["one", "other"]}
    made = ac.sweep(case, over, metrics=["flows[other].goodput_bps", "flows[f7].goodput_bps"])
    assert len(made.run(store=False, progress=False).slots) == 2


def test_a_bootstrap_of_few_values_says_that_it_is_no_better():
    few = balance({"p": {number: RunMetric(2.0**number) for number in range(3)}})
    assert few.note() == ""
    assert few.note(method="bootstrap") == (
        "the bootstrap of 3 values is too narrow; Student's t (method = t) errs less"
    )
    ten = balance({"p": {number: RunMetric(float(number)) for number in range(10)}})
    assert ten.note(method="bootstrap") == ""
