"""Groups of runs, tests and intervals, of few values that are computed by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pyarrow as pa
import pytest

from ackclock._util.labels import label_column, label_text, own_name
from ackclock.analysis.competitive import competitive
from ackclock.analysis.fairness import (
    jain,
    legout_sigma,
    max_min_distance,
    max_min_share,
    spread,
)
from ackclock.analysis.harm import harm, harm_table
from ackclock.analysis.slowdown import slowdown_by_size
from ackclock.analysis.warm_up import WarmUp
from ackclock.errors import AckclockError
from ackclock.experiments import groups as groups_of_runs
from ackclock.experiments.groups import (
    JITTER,
    Group,
    RunMetric,
    balance,
    balance_pair,
    describe_one_run,
    one_run_points,
)
from ackclock.experiments.statistics import (
    Mean,
    Precision,
    equal_values,
    holm,
    interval,
    mean_interval,
    mean_p_value,
    most_differing,
)

NAN = math.nan


def cells(**points):
    """Points with values by replicate, each run with its digest."""
    return {
        point: {replicate: RunMetric(value, f"{point}{value}") for replicate, value in of.items()}
        for point, of in points.items()
    }


def test_a_replicate_counts_where_every_point_has_it():
    group = balance(cells(a={0: 1.0, 1: 3.0, 2: 90.0}, b={0: 5.0, 1: 9.0, 3: 90.0}))
    assert group.values == {0: 3.0, 1: 6.0}
    assert (group.runs, group.unused, group.points, group.middle) == (2, 2, 2, None)
    assert group.measured == [3.0, 6.0]


def test_without_a_common_replicate_the_middle_is_the_mean_of_means():
    group = balance(cells(a={0: 1.0, 1: 3.0}, b={2: 10.0, 3: NAN}))
    assert (group.values, group.middle) == ({}, 6.0)
    assert group.interval(0.95, "t")[0] == 6.0
    assert all(math.isnan(end) for end in group.interval(0.95, "t")[1:])
    assert group.note() == (
        "no replicate is common to all points: the mean of their means, without an interval"
    )
    assert balance(cells(a={0: 1.0}, b={1: 2.0}), within=[0]).middle is None


def test_equal_digests_are_one_run():
    same = {"a": {r: RunMetric(2.0, "d") for r in range(3)}}
    group = balance(same)
    assert (group.runs, group.is_one_run) == (1, True)
    assert group.interval(0.95, "t")[0] == 2.0
    assert math.isnan(group.interval(0.95, "t")[1])
    assert group.note() == (
        f"the 3 seeds give one and the same run, so there is no interval ({JITTER})"
    )
    assert not balance({"a": {0: RunMetric(2.0, "d")}}).is_one_run
    # Without digests replicates are taken to differ.
    assert balance({"a": {r: RunMetric(2.0) for r in range(3)}}).runs == 3


@pytest.mark.parametrize(
    ("group", "note"),
    [
        (Group({0: 1.0, 1: 2.0}, 2), ""),
        (
            Group({0: 1.0, 1: 2.0}, 2, unused=1),
            "1 run left out: not every point has the replicate",
        ),
        (
            Group({0: 1.0, 1: 2.0}, 2, unused=2),
            "2 runs left out: not every point has the replicate",
        ),
        (
            Group({0: 1.0, 1: 3.0, 2: NAN}, 3),
            "2 of 3 have a value: the mean is of these alone",
        ),
        # 1 - 0.025^(1/2) = 0.842
        (Group({0: 1.0, 1: 1.0}, 2), "all 2 are equal: up to 84 % of runs may differ"),
    ],
)
def test_a_note_says_what_a_reader_of_the_mean_must_know(group, note):
    assert group.note() == note


def test_a_bootstrap_of_few_values_is_noted():
    note = "the bootstrap of {} values is too narrow; Student's t (method = t) errs less"
    for count, text in ((1, ""), (2, note.format(2)), (9, note.format(9)), (10, "")):
        group = Group({i: float(i) for i in range(count)}, count)
        assert group.note(method="bootstrap") == text
        assert group.note() == ""


def test_two_groups_are_balanced_over_the_same_points_and_replicates():
    first, second = balance_pair(
        cells(a={0: 1.0, 1: 3.0}, b={0: 5.0}, c={0: 9.0}), cells(b={0: 2.0, 1: 4.0}, d={0: 8.0})
    )
    assert (first.values, second.values) == ({0: 5.0}, {0: 2.0})
    first, second = balance_pair(cells(a={0: 1.0, 1: 3.0}), cells(b={1: 2.0, 2: 4.0}))
    assert (first.values, second.values) == ({1: 3.0}, {1: 2.0})


def test_points_of_one_run_have_several_seeds_of_one_digest():
    slots = [
        SimpleNamespace(point=point, key=key)
        for point, key in ((0, "a"), (0, "b"), (1, "c"), (1, "d"), (2, "e"))
    ]
    digests = {"a": "x", "b": "x", "c": "y", "d": "z", "e": "w"}
    assert one_run_points(slots, digests) == {0}
    assert describe_one_run(0, 3) == ""
    tail = (
        "all seeds give one and the same run: nothing in it is random, and intervals of it have no"
        f" width ({JITTER})."
    )
    assert describe_one_run(1, 3) == f"At 1 of 3 points {tail}"
    assert describe_one_run(3, 3) == f"At all points {tail}"


def test_values_are_equal_within_rounding_and_from_two_on():
    assert not equal_values([])
    assert not equal_values([1.0])
    assert equal_values([1.0, 1.0])
    assert equal_values([1.0, 1.0 + 1e-13])
    assert not equal_values([1.0, 1.0 + 1e-11])
    assert equal_values([math.inf, math.inf])
    assert not equal_values([1.0, math.inf])


def test_the_share_of_other_runs_after_equal_ones():
    # 1 - 0.025 and 1 - sqrt(0.025)
    assert most_differing(1) == pytest.approx(0.975)
    assert most_differing(2) == pytest.approx(0.8418861)
    assert most_differing(1, 0.8) == pytest.approx(0.9)


def test_holm_stops_at_the_first_that_is_not_rejected():
    # Levels are 0.05/3, 0.05/2 and 0.05 in the order of the p-values.
    assert holm([0.04, 0.01, 0.025]) == [True, True, True]
    assert holm([0.04, 0.01, 0.026]) == [False, True, False]
    assert holm([0.05]) == [True]
    assert holm([]) == []
    assert holm([NAN, 0.001]) == [False, True]


def test_the_p_value_of_a_mean():
    # Mean 1, standard deviation sqrt(2): t = 1 with one degree of freedom, whose two tails are
    # 1/2.
    assert mean_p_value([0.0, 2.0]) == pytest.approx(0.5)
    assert mean_p_value([0.0, 2.0], 1.0) == 1.0
    assert mean_p_value([NAN, 3.0]) == 1.0
    assert mean_p_value([1.0, math.inf]) == 1.0
    assert mean_p_value([2.0] * 5) == 1.0
    assert mean_p_value([2.0] * 6) == 0.0
    assert mean_p_value([2.0] * 6, 2.0) == 1.0


def test_an_interval_of_two_values_is_that_of_one_degree_of_freedom():
    # t(0.975, 1) = 12.7062; the standard error of 0 and 2 is 1.
    mean, low, high = mean_interval([0.0, NAN, 2.0])
    assert (mean, low, high) == (1.0, pytest.approx(-11.7062, 1e-5), pytest.approx(13.7062, 1e-5))
    assert mean_interval([3.0])[0] == 3.0
    assert all(math.isnan(x) for x in (*mean_interval([]), *mean_interval([3.0])[1:]))
    assert mean_interval([math.inf, math.inf]) == (math.inf, math.inf, math.inf)
    assert math.isnan(mean_interval([1.0, math.inf])[1])
    with pytest.raises(AckclockError) as error:
        interval([1.0], method="z")  # type: ignore[arg-type]
    assert str(error.value) == 'there is no interval "z"; expected t or bootstrap'
    assert Mean(1.0, NAN, 2.0).to_list() == [1.0, None, 2.0]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"half_width": 0}, "until.half_width is 0; expected more than 0"),
        ({"at_least": 1}, "until.at_least is 1; expected at least 2"),
        (
            {"at_least": 5, "at_most": 4},
            "until.at_most is 4; expected at least at_least, which is 5",
        ),
        ({"confidence": 1}, "until.confidence is 1; expected between 0 and 1"),
    ],
)
def test_a_precision_that_cannot_be_is_refused(options, message):
    with pytest.raises(AckclockError) as error:
        Precision("m", **options)
    assert str(error.value) == message
    assert Precision("m", at_least=2, at_most=2).at_most == 2


def test_replicates_are_enough_when_two_looks_are_narrow():
    until = Precision("m", half_width=0.1, at_least=2, at_most=16)
    assert until.count_replicates([]) == 2
    # Equal values are narrow: the next look has twice as many.
    assert until.count_replicates([1.0, 1.0]) == 4
    assert until.count_replicates([1.0] * 4) == 4
    # Far from it: at most twice as many at a time.
    assert until.count_replicates([0.0, 2.0]) == 4
    # Of a mean of zero no width is narrow but none.
    assert until.count_replicates([-1.0, 1.0]) == 4
    assert until.is_reached([0.0, 0.0])
    assert not until.is_reached([-1.0, 1.0])
    # Without a value there is no look: twice as many; with one, as many as lack.
    assert until.count_replicates([NAN, NAN]) == 4
    assert until.count_replicates([1.0, NAN]) == 3
    assert Precision("m", at_least=2, at_most=3).count_replicates([0.0, 2.0, 9.0]) == 3


def flow(size, slowdown):
    return {"delivered_bytes": size, "slowdown": slowdown}


def test_slowdowns_are_in_groups_of_equally_many_by_size():
    flows = [flow(30, 3.0), flow(10, 1.0), flow(20, 2.0), flow(40, 4.0), flow(5, None),
             flow(6, NAN), {"delivered_bytes": 9}]  # fmt: skip
    assert slowdown_by_size(flows, groups=2) == [
        {"bytes_to": 20.0, "flows": 2.0, "p50": 1.0, "p95": 2.0, "p99": 2.0, "max": 2.0},
        {"bytes_to": 40.0, "flows": 2.0, "p50": 3.0, "p95": 4.0, "p99": 4.0, "max": 4.0},
    ]
    assert [row["bytes_to"] for row in slowdown_by_size(flows)] == [10, 20, 30, 40]
    assert slowdown_by_size([]) == []
    with pytest.raises(AckclockError, match=r"^groups is 0, expected at least 1$"):
        slowdown_by_size([], groups=0)
    assert len(slowdown_by_size(flows, groups=1)) == 1


def test_transfers_of_one_size_are_in_one_group():
    flows = [flow(10, 1.0), flow(20, 2.0), flow(20, 3.0), flow(20, 4.0), flow(30, 5.0)]
    rows = slowdown_by_size(flows, groups=5)
    assert [(row["bytes_to"], row["flows"], row["max"]) for row in rows] == [
        (10.0, 1.0, 1.0), (20.0, 3.0, 4.0), (30.0, 1.0, 5.0),
    ]  # fmt: skip


def test_scores_of_rates():
    # (1 + 3)^2 / (2 * 10)
    assert jain([1, 3]) == pytest.approx(0.8)
    assert jain([0, 5]) == 0.5
    assert math.isnan(jain([0, 0]))
    # (3 - 1) / 2 and sqrt(2)
    assert spread([1, 3]) == 1.0
    assert math.isnan(spread([0, 0]))
    assert legout_sigma([1, 3]) == pytest.approx(math.sqrt(2))
    assert math.isnan(legout_sigma([1]))
    for score in (jain, spread, legout_sigma):
        with pytest.raises(ValueError, match=r"^a score needs a list of at least one rate, not"):
            score([])


def test_max_min_shares_of_a_link():
    # Of 10: the flow that needs 1 gets it, the others share 9.
    assert max_min_share([8, 1, math.inf], 10).tolist() == [4.5, 1.0, 4.5]
    assert max_min_share([2, 3], 10).tolist() == [2.0, 3.0]
    assert max_min_distance([6, 2], [4, 4]) == 0.5
    assert math.isnan(max_min_distance([1], [0]))
    with pytest.raises(ValueError, match=r"^1 rates and 2 fair rates; expected as many$"):
        max_min_distance([1], [1, 2])


def test_harm_is_the_part_that_is_taken():
    assert harm(10, 4) == 0.6
    assert harm(10, 40, "less") == 0.75
    assert harm(4, 10) == -1.5
    assert math.isnan(harm(0, 5))
    assert math.isnan(harm(5, 0, "less"))


def test_harm_is_of_the_means_of_groups_that_both_have():
    alone = pa.table({"cc": ["a", "a", "b"], "v": [8.0, 12.0, 1.0]})
    beside = pa.table({"cc": ["c", "a", "a"], "v": [9.0, 3.0, 5.0]})
    assert harm_table(alone, beside, "v", ["cc"]).to_pylist() == [
        {"cc": "a", "solo": 10.0, "together": 4.0, "harm": 0.6}
    ]
    with pytest.raises(AckclockError) as error:
        harm_table(alone, beside.slice(0, 1), "v", ["cc"])
    assert str(error.value) == "no group of cc is in both tables"


TABLE = pa.table({
    "cc": ["a", "a", "b", "b", "a"],
    "net": ["x", "y", "x", "y", "x"],
    "v": [2.0, 9.0, 8.0, 3.0, 4.0],
})  # fmt: skip


def test_competitive_scores_are_distances_to_the_best_of_each_environment():
    # a has 3 and 9, b has 8 and 3.
    each, totals = competitive(TABLE, "v", "cc", "net")
    assert each.to_pylist() == [
        {"cc": "a", "net": "x", "s": 3.0, "s_max": 8.0, "d": 5.0},
        {"cc": "a", "net": "y", "s": 9.0, "s_max": 9.0, "d": 0.0},
        {"cc": "b", "net": "x", "s": 8.0, "s_max": 8.0, "d": 0.0},
        {"cc": "b", "net": "y", "s": 3.0, "s_max": 9.0, "d": 6.0},
    ]
    assert totals.to_pylist() == [
        {"cc": "a", "c": 5.0, "d_sum": 5.0, "d_mean": 2.5, "environments": 2},
        {"cc": "b", "c": 6.0, "d_sum": 6.0, "d_mean": 3.0, "environments": 2},
    ]


@pytest.mark.parametrize(
    ("form", "better", "scores"),
    [
        ("difference", "less", [0.0, 6.0, 5.0, 0.0]),
        ("ratio", "more", [8 / 3, 1.0, 1.0, 3.0]),
        ("ratio", "less", [1.0, 3.0, 8 / 3, 1.0]),
    ],
)
def test_competitive_scores_in_each_form(form, better, scores):
    each, _ = competitive(TABLE, "v", "cc", "net", form=form, better=better)
    assert each["d"].to_pylist() == scores


def test_a_ratio_to_nothing_is_infinite_and_of_two_nothings_one():
    table = pa.table({"cc": ["a", "b", "a", "b"], "net": ["x", "x", "y", "y"], "v": [0.0, 2, 0, 0]})
    each, _ = competitive(table, "v", "cc", "net", form="ratio")
    assert dict(zip(zip(each["cc"].to_pylist(), each["net"].to_pylist(), strict=True),
                    each["d"].to_pylist(), strict=True)) == {
        ("a", "x"): math.inf, ("a", "y"): 1.0, ("b", "x"): 1.0, ("b", "y"): 1.0,
    }  # fmt: skip


def test_an_algorithm_that_was_not_run_everywhere_is_refused():
    with pytest.raises(AckclockError) as error:
        competitive(TABLE.slice(0, 3), "v", "cc", "net")
    assert str(error.value) == 'cc "b" has no v in net "y"; all need all'


def test_a_warm_up_moves_the_mean_relative_to_what_is_left():
    assert WarmUp(5, 6.0, 4.0).move == 0.5
    assert WarmUp(5, -6.0, -4.0).move == -0.5


def test_labels_are_numbers_if_all_are():
    def column(*labels):
        made = label_column(labels)
        return str(made.type), made.to_pylist()

    assert column(1, 2) == ("int64", [1, 2])
    assert column(1, 2.5) == ("double", [1.0, 2.5])
    assert column(True, False) == ("bool", [True, False])
    assert column(1, "b", True, None)[1] == ["1", "b", "true", None]
    assert str(column(1, None)[0]) == "double"
    assert label_text(False) == "false"
    assert own_name("flows", "cc") == "flow_cc"
    assert own_name("rtts", "n") == "rtt_n"


def test_what_makes_seeds_differ_is_a_line_of_a_scenario():
    assert groups_of_runs.JITTER == (
        'start_jitter = "100 ms" in the flows starts them at random times'
    )
