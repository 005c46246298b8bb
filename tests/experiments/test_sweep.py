"""Grids, replications, statistics: what a sweep runs, and what it says of the runs."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ackclock as ac
from ackclock.case import ENGINES, Case, Cost, Engine, Parcel
from ackclock.engines import registry
from ackclock.errors import AckclockError
from ackclock.experiments import RankingWarning, file_form, metrics
from ackclock.experiments.comparison import compare
from ackclock.experiments.groups import RunMetric
from ackclock.experiments.plan import Slot
from ackclock.experiments.result import SweepResult
from ackclock.experiments.scheduler import Agenda
from ackclock.experiments.statistics import bootstrap_interval, mean_interval
from ackclock.experiments.store import Memory
from conftest import SMALL


@pytest.fixture(scope="module")
def case():
    """Two flows and short transfers that come at random: seeds differ."""
    generator = {
        "kind": "poisson",
        "rate": 4.0,
        "sizes": {"kind": "fixed", "mean": "9 kB"},
        "pairs": 2,
    }
    return ac.load(SMALL).replace(record=None, duration="4 s", traffic=[{"generator": generator}])


@pytest.fixture(scope="module")
def result(case):
    over = {
        "net.buffer": ["5 pkt", "20 pkt"],
        "cc": ac.Axis("flows[*].cc", {"Reno": ac.cc.Aimd(), "Vegas": "vegas"}),
    }
    return ac.sweep(case, over, reps=3).run(store=False, workers=2)


def column(table, name):
    return table[name].to_pylist()


# The grid


def test_axes_multiply_and_the_last_is_fastest(case):
    grid = ac.sweep(case, {"net.buffer": ["1 pkt", "2 pkt"], "net.rate": ["1 Mbps", "2 Mbps"]})
    seen = [(p.labels["net.buffer"], p.labels["net.rate"]) for p in grid.points]
    assert seen == [(b, r) for b in ("1 pkt", "2 pkt") for r in ("1 Mbps", "2 Mbps")]


def test_zipped_axes_move_together_and_multiply_with_others(case):
    grid = ac.sweep(
        case,
        {"net.buffer": ["1 pkt", "2 pkt"]},
        zipped=[{"net.rate": ["1 Mbps", "2 Mbps"], "duration": ["20 s", "10 s"]}],
    )
    pairs = {(p.changes["net.rate"], p.changes["duration"]) for p in grid.points}
    assert pairs == {("1 Mbps", "20 s"), ("2 Mbps", "10 s")}
    assert len(grid.points) == 4


def test_listed_points_change_only_what_they_name(case):
    grid = ac.sweep(
        case, listed=[{"net.rate": "1 Mbps"}, {"net.rtt": "9 ms", "net.rate": "3 Mbps"}]
    )
    assert [dict(p.labels) for p in grid.points] == [
        {"net.rate": "1 Mbps", "net.rtt": None},
        {"net.rate": "3 Mbps", "net.rtt": "9 ms"},
    ]
    assert grid.case_at(grid.points[0]).data["net"]["rtt"] == "40 ms"


def test_a_list_with_labels_is_one_axis(case):
    entries = [{"label": "slow", "net.rate": "1 Mbps"}, {"label": "far", "net.rtt": "200 ms"}]
    assert [p.labels["label"] for p in ac.sweep(case, listed=entries).points] == ["slow", "far"]


@pytest.mark.parametrize("label", [{"label": "a"}, {}])
def test_a_list_with_what_is_no_path_is_refused(case, label):
    with pytest.raises(AckclockError, match=r'"net\.\.rate" is not a path'):
        ac.sweep(case, listed=[{**label, "net..rate": "1 Mbps"}])


def test_an_axis_may_go_over_whole_things_with_labels(case):
    flows = {"one": [ac.Flow(pair=0)], "two": [ac.Flow(pair=0), ac.Flow(pair=1, cc="vegas")]}
    grid = ac.sweep(case, {"users": ac.Axis("flows", flows)})
    assert [len(grid.case_at(p).flows) for p in grid.points] == [1, 2]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["aimd", {"kind": "vegas", "alpha": 2}], ["aimd", "vegas"]),
        ([{"kind": "vegas"}, {"kind": "vegas", "alpha": 2}], ["vegas", "vegas(alpha=2)"]),
        ([1, 2.5], [1, 2.5]),
        ([[1], [2]], ["1 entries 1", "1 entries 2"]),
    ],
)
def test_labels_are_the_shortest_that_differ(values, labels):
    assert ac.Axis("x", values).labels == labels


@pytest.mark.parametrize(
    ("over", "reported"),
    [
        ({"net.bufer": ["1 pkt"]}, ['net.bufer: "bufer" is not a key', 'did you mean "buffer"']),
        ({"flows[7].cc": ["vegas"]}, ["flows[7].cc: there is no entry 7"]),
        ({"net.buffer": []}, ["net.buffer", "no values"]),
        ({"net.buffer": "1 pkt"}, ["net.buffer", "expected a list"]),
        ({"net.buffer": ["1 pkt", "1 pkt"]}, ['label "1 pkt" more than once']),
        ({"seed": [1, 2]}, ['"seed" cannot be an axis', "reps"]),
        ({"no path!": [1]}, ['"no path!" is not a path']),
        ({"net.buffer": ["1 pkt", 7]}, ["net.buffer: 7", "name its unit"]),
        ({"cc": ac.Axis("flows[*].cc", ["aimd", "vegsa"])}, ['no cc "vegsa"', 'axis "cc"']),
        ({"cc": {"path": "flows[*].cc", "valus": [1]}}, ["cc: ", '"valus" is not a key']),
    ],
)
def test_a_wrong_grid_is_reported_before_anything_runs(case, over, reported):
    with pytest.raises(AckclockError) as caught:
        ac.sweep(case, over)
    for words in reported:
        assert words in str(caught.value)


def test_zipped_axes_of_different_lengths_are_reported(case):
    with pytest.raises(AckclockError, match=r"net.rate has 1, duration has 2"):
        ac.sweep(case, zipped=[{"net.rate": ["1 Mbps"], "duration": [1, 2]}])


def test_a_point_that_is_wrong_only_as_a_whole_is_reported_with_its_place(case):
    grid = ac.sweep(case, {"net.pairs": [2, 1], "net.buffer": ["2 pkt"]})
    with pytest.raises(AckclockError, match=r"pair: is 1.*at net.pairs = 1"):
        grid.plan()


def test_reps_and_until_exclude_each_other(case):
    until = ac.Precision("totals.events")
    with pytest.raises(AckclockError, match="both reps and until"):
        ac.sweep(case, reps=3, until=until)
    with pytest.raises(AckclockError, match="at least 1"):
        ac.sweep(case, reps=0)


# The file form

FILE = """
base = "small.toml"
reps = 4
set = { duration = "3 s" }
metrics = ["sum(flows.goodput_bps)"]
[over]
"net.buffer" = ["5 pkt", "20 pkt"]
cc = { path = "flows[*].cc", values = { Reno = "aimd", Vegas = "vegas" } }
[[zip]]
"net.rate" = ["1 Mbps", "5 Mbps"]
warmup = ["1 s", "0 s"]
[tiers.fast]
reps = 2
over = { "net.buffer" = ["5 pkt"] }
"""


def test_a_file_says_the_same_as_python(small_file):
    file = small_file.parent / "sweep.toml"
    file.write_text(FILE)
    read = file_form.load_sweep(file)
    made = ac.sweep(
        ac.load(small_file).replace(duration="3 s"),
        {
            "net.buffer": ["5 pkt", "20 pkt"],
            "cc": ac.Axis("flows[*].cc", {"Reno": "aimd", "Vegas": "vegas"}),
        },
        zipped=[{"net.rate": ["1 Mbps", "5 Mbps"], "warmup": ["1 s", "0 s"]}],
        reps=4,
    )
    assert [dict(p.labels) for p in read.points] == [dict(p.labels) for p in made.points]
    prints = [[s.case_at(p).fingerprint for p in s.points] for s in (read, made)]
    assert prints[0] == prints[1]
    assert read.replicates == made.replicates


def test_a_tier_changes_the_file_and_a_change_both(small_file):
    file = small_file.parent / "sweep.toml"
    file.write_text(FILE)
    fast = file_form.load_sweep(file, tier="fast", changes={"net.rtt": "10 ms"})
    assert fast.replicates.reps == 2
    assert len(fast.points) == 4
    assert fast.case_at(fast.points[0]).data["net"]["rtt"] == "10 ms"


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (FILE.replace("reps = 4", "rep = 4"), ['"rep" is not a key', 'did you mean "reps"']),
        (FILE.replace('"5 pkt", "20 pkt"', ""), ["net.buffer", "no values"]),
        (FILE.replace('base = "small.toml"', ""), ["neither", "base"]),
        (FILE.replace("small.toml", "smal.toml"), ["smal.toml", "cannot be read"]),
        (FILE.replace('"small.toml"', "{ duration = 1 }"), ["base", "[scenario]"]),
        (FILE.replace("goodput_bps)", "goodput_bps"), ["is not a metric"]),
        (FILE.replace("reps = 4", 'reps = "x"'), ["reps is 'x'", "whole number"]),
        (FILE.replace("reps = 4", "until = { half_width = 0.1 }"), ['"metric" is missing']),
        (FILE.replace('"3 s"', '"3 m"'), ["duration", '"m"']),
        (FILE.replace('"20 pkt"]\ncc', '"20 pxt"]\ncc'), ["net.buffer", "pxt"]),
    ],
)
def test_a_wrong_file_is_reported_with_its_name(small_file, text, reported):
    file = small_file.parent / "sweep.toml"
    file.write_text(text)
    with pytest.raises(AckclockError) as caught:
        file_form.load_sweep(file)
    for words in reported:
        assert words in str(caught.value)
    assert str(file.parent) in str(caught.value)


# Plans


def test_a_plan_counts_runs_and_predicts_the_events_that_they_take(case):
    grid = ac.sweep(case.replace(traffic=None), {"duration": ["4 s", "8 s"]}, reps=5)
    plan = grid.plan(workers=2)
    assert (plan.points, plan.runs, plan.at_most) == (2, 10, 10)
    assert "10 runs" in str(plan)
    # A prediction: within a factor of two of what the runs report.
    ran = grid.run(store=False, workers=1)
    events = sum(ran.summaries[slot.key]["totals"]["events"] for slot in ran.slots)
    assert 0.5 < plan.events / events < 2
    # Four workers need half as long as two, for the same work.
    more = grid.plan(workers=4)
    assert (more.events, more.cpu_s) == (plan.events, plan.cpu_s)
    assert plan.seconds == pytest.approx(2 * more.seconds)
    assert 0 < more.seconds < more.cpu_s


def test_a_plan_of_sequential_stopping_gives_a_range(case):
    until = ac.Precision("totals.events", at_least=3, at_most=9)
    plan = ac.sweep(case, {"duration": ["4 s", "8 s"]}, until=until).plan()
    assert (plan.runs, plan.at_most) == (6, 18)
    assert "6 to 18 runs" in str(plan)


# Results


def test_replicates_share_seeds_between_points_and_results_are_those_of_single_runs(case, result):
    flows = result.tables["flows"]
    places = {(row["net.buffer"], row["cc"], row["seed"]) for row in flows.to_pylist()}
    assert places == {
        (b, c, s) for b in ("5 pkt", "20 pkt") for c in ("Reno", "Vegas") for s in (3, 4, 5)
    }
    alone = case.replace(**{"net.buffer": "20 pkt", "flows[*].cc": "vegas"}).run(seed=4)
    rows = [
        row
        for row in flows.to_pylist()
        if (row["net.buffer"], row["cc"], row["seed"]) == ("20 pkt", "Vegas", 4)
    ]
    assert [r["goodput_bps"] for r in rows] == column(alone.flows, "goodput_bps")
    assert [r["id"] for r in rows] == column(alone.flows, "id")


def test_tables_have_axes_first_and_rename_what_has_an_axis_name(result):
    names = result.tables["flows"].column_names
    assert names[:4] == ["net.buffer", "cc", "seed", "replicate"]
    assert "flow_cc" in names
    assert set(column(result.tables["flows"], "cc")) == {"Reno", "Vegas"}


def test_the_summary_is_the_mean_and_t_interval_of_the_runs(case, result):
    table = result.summary("sum(flows.goodput_bps)")
    row = next(r for r in table.to_pylist() if (r["net.buffer"], r["cc"]) == ("5 pkt", "Reno"))
    values = [
        sum(column(case.replace(**{"net.buffer": "5 pkt", "flows[*].cc": "aimd"}).run(seed=s).flows,
                   "goodput_bps"))
        for s in (3, 4, 5)
    ]  # fmt: skip
    # t(0.975, 2 df) = 4.30265 from any table
    half = 4.30265 * np.std(values, ddof=1) / math.sqrt(3)
    assert row["mean"] == pytest.approx(np.mean(values))
    assert row["ci_high"] - row["mean"] == pytest.approx(half, rel=1e-5)
    assert row["seeds"] == 3


def test_axes_left_out_are_averaged_within_a_replicate(result):
    fine = result.values("sum(flows.goodput_bps)").to_pylist()
    coarse = result.summary("sum(flows.goodput_bps)", by=["cc"]).to_pylist()
    for row in coarse:
        per_seed = [
            np.mean([f["value"] for f in fine if (f["cc"], f["seed"]) == (row["cc"], seed)])
            for seed in (3, 4, 5)
        ]
        assert row["mean"] == pytest.approx(np.mean(per_seed))
        assert row["ci_low"] == pytest.approx(mean_interval(per_seed)[1])
        assert row["seeds"] == 3


def test_metrics_pick_rows_columns_and_numbers(result):
    by_id = result.summary("flows.goodput_bps", by=["cc", "id"]).to_pylist()
    picked = result.summary("flows[f1].goodput_bps", by=["cc"]).to_pylist()
    assert [r["mean"] for r in by_id if r["id"] == "f1"] == pytest.approx(
        [r["mean"] for r in picked]
    )
    sent = result.per_run("sum(flows.sent_packets)")
    own = result.per_run(lambda t: sum(column(t["flows"], "sent_packets")))
    assert list(sent) == list(own)
    events = result.per_run("totals.events")
    assert list(events) == [result.summaries[s.key]["totals"]["events"] for s in result.slots]
    assert set(result.per_run("count(links.drops)")) == {
        float(len(result.summaries[result.slots[0].key]["links"]))
    }


@pytest.mark.parametrize(
    ("metric", "reported"),
    [
        ("flows.goodput_bps", "say which function joins them"),
        ("mean(flows.godput_bps)", 'did you mean "goodput_bps"'),
        ("mean(flow.goodput_bps)", 'runs have no "flow"; did you mean "flows"'),
        ("meen(flows.goodput_bps)", 'no function "meen"; did you mean "mean"'),
        ("goodput", "is not a metric"),
        ("mean(flows.id)", "does not hold numbers"),
        ("totals.evnts", 'did you mean "events"'),
    ],
)
def test_a_wrong_metric_is_reported(result, metric, reported):
    with pytest.raises(AckclockError, match="(?s)" + reported.replace("(", r"\(")):
        result.summary(metric)


def test_a_case_that_two_points_share_is_run_once_and_counts_for_both(case):
    grid = ac.sweep(
        case, {"rate": ac.Axis("net.rate", {"Mbps": "5 Mbps", "kbps": "5000 kbps"})}, reps=2
    )
    result = grid.run(store=False)
    assert len(result.keys) == 2
    assert len(result.slots) == 4
    rows = result.tables["flows"].to_pylist()
    text, number = ([r["goodput_bps"] for r in rows if r["rate"] == n] for n in ("Mbps", "kbps"))
    assert text == number
    assert text


def test_without_an_axis_there_is_one_point(case):
    result = ac.sweep(case, reps=2).run(store=False)
    assert result.summary("totals.events").num_rows == 1
    assert len(result.slots) == 2


# Comparisons

GROUPS = {("a",): {0: 10.0, 1: 12.0, 2: 14.0}, ("b",): {0: 9.0, 1: 11.5, 2: 12.5}}


def compare_groups(groups, *args, **more):
    """Compare values of one point a label."""
    cells = {
        group: {(): {r: RunMetric(value) for r, value in values.items()}}
        for group, values in groups.items()
    }
    return compare(cells, *args, **more)


def test_differences_are_paired_by_replicate():
    made = compare_groups(GROUPS, "cc", [], 0.95, "t", is_random=True)
    (pair,) = made.pairs
    # differences 1, 0.5, 1.5: mean 1, s = 0.5, t(0.975, 2) = 4.30265
    assert pair.difference == pytest.approx(1.0)
    assert pair.high - pair.difference == pytest.approx(4.30265 * 0.5 / math.sqrt(3), rel=1e-5)
    assert pair.overlap
    assert not pair.clear
    assert "cannot be ranked" in made.warnings[0]
    with pytest.warns(RankingWarning, match="a and b cannot be ranked"):
        assert made.ranking() == ["a", "b"]


def test_replicates_are_paired_by_their_number_and_those_without_a_partner_are_left_out():
    groups = {
        ("a",): {0: 10.0, 1: 20.0, 2: 30.0, 3: 40.0, 4: math.nan},
        # Finished in another order; 1 is missing, 3 has no value.
        ("b",): {2: 28.0, 4: 1.0, 3: math.nan, 0: 9.0, 5: 7.0},
    }
    (pair,) = compare_groups(groups, "cc", [], 0.95, "t", is_random=True).pairs
    # 10 - 9 and 30 - 28: mean 1.5, s = sqrt(0.5), t(0.975, 1) = 12.7062
    assert pair.seeds == 2
    assert pair.difference == pytest.approx(1.5)
    assert pair.high - pair.difference == pytest.approx(12.7062 * 0.5, rel=1e-5)
    assert (pair.mean_one, pair.mean_other) == (20.0, 18.5)


def test_labels_without_a_common_replicate_cannot_be_ranked():
    groups = {("a",): {0: 1.0, 1: 1.0}, ("b",): {2: 2.0, 3: 2.0}}
    (pair,) = compare_groups(groups, "cc", [], 0.95, "t", is_random=True).pairs
    assert pair.seeds == 0
    assert math.isnan(pair.difference)
    assert not pair.clear


def test_text_of_a_comparison_has_the_unit_of_its_metric():
    groups = {name: {at: 1e6 * value for at, value in row.items()} for name, row in GROUPS.items()}
    made = compare_groups(
        groups, "cc", [], 0.95, "t", is_random=True, metric="mean(flows.goodput_bps)"
    )
    # 1 ± 1.2421 Mbit/s
    assert "-242.1 kbit/s to 2.242 Mbit/s, holds 0" in made.warnings[0]
    row = " ".join(str(made).splitlines()[1].split())
    assert row == "a - b 1 Mbit/s -242.1 kbit/s 2.242 Mbit/s 3 not clear"
    with pytest.warns(RankingWarning, match="to 2.242 Mbit/s, holds 0"):
        made.ranking()


def test_text_of_summaries_has_the_unit_of_each_metric():
    from ackclock._util.arrow import array, table
    from ackclock.experiments.summary import text

    def row(mean, low, high):
        columns = {"mean": mean, "ci_low": low, "ci_high": high, "min": low, "max": high}
        cells = {name: array(np.array([value])) for name, value in columns.items()}
        counts = {name: array(np.array([3])) for name in ("seeds", "runs")}
        return table({"net.buffer": array(["1 bdp"]), **cells, **counts, "note": array([""])})

    given = {
        "mean(flows.goodput_bps)": row(7_049_000.0, 6_464_000.0, np.nan),
        "links[r0->r1].delay_mean_s": row(0.006672, 0.0057341, 0.00761),
        "jain(flows.goodput_bps)": row(0.98766, 0.5, 1.0),
    }
    made = text("title", ["net.buffer"], given)
    lines = [" ".join(line.split()) for line in made.splitlines() if "1 bdp" in line]
    assert lines == [
        "1 bdp 7.049 Mbit/s 6.464 Mbit/s - 6.464 Mbit/s - 3",
        "1 bdp 6.672 ms 5.734 ms 7.61 ms 5.734 ms 7.61 ms 3",
        "1 bdp 0.9877 0.5 1 0.5 1 3",
    ]


def test_a_difference_may_be_clear_though_intervals_overlap():
    near = {("a",): {0: 10.0, 1: 12.0, 2: 14.0}, ("b",): {0: 9.0, 1: 11.01, 2: 12.99}}
    made = compare_groups(near, "cc", [], 0.95, "t", is_random=True)
    assert made.pairs[0].overlap
    assert made.pairs[0].clear
    assert made.warnings == ()
    assert made.ranking() == ["a", "b"]


def test_one_seed_ranks_nothing_unless_nothing_is_random():
    one = {("a",): {0: 1.0}, ("b",): {0: 2.0}}
    assert "one seed" in compare_groups(one, "cc", [], 0.95, "t", is_random=True).warnings[0]
    assert compare_groups(one, "cc", [], 0.95, "t", is_random=False).warnings == ()


def test_compare_keeps_other_axes_apart(result):
    made = result.compare("sum(flows.goodput_bps)", "cc")
    table = made.table.to_pylist()
    assert [(r["net.buffer"], r["one"], r["other"]) for r in table] == [
        ("5 pkt", "Reno", "Vegas"),
        ("20 pkt", "Reno", "Vegas"),
    ]
    means = {
        (r["net.buffer"], r["cc"]): r["mean"]
        for r in result.summary("sum(flows.goodput_bps)").to_pylist()
    }
    for row in table:
        b = row["net.buffer"]
        assert row["difference"] == pytest.approx(means[b, "Reno"] - means[b, "Vegas"])
    with pytest.raises(AckclockError, match='no axis "c"'):
        result.compare("totals.events", "c")


# Intervals and stopping


def test_the_time_left_is_that_of_the_runs_that_are_left(case):
    agenda = Agenda(ac.sweep(case, reps=3), Memory())
    (each,) = {point.cost.cpu_s for point in agenda.points}
    assert agenda.left_cpu_s == pytest.approx(3 * each)
    for left, slot in zip((2, 1, 0), agenda.slots, strict=True):
        agenda.took(SimpleNamespace(key=slot.key))
        assert agenda.left_cpu_s == pytest.approx(left * each)


def test_short_runs_share_a_task_up_to_its_time_and_its_number(case):
    sweep = ac.sweep(case, reps=150)

    def sizes(cost_s):
        return [len(task.requests) for task in Agenda(sweep, Memory()).tasks(lambda _: cost_s)]

    # At most 0.1 s and 64 runs; a longer run is alone.
    assert sizes(0.0) == [64, 64, 22]
    assert sizes(0.03) == [3] * 50
    assert sizes(5.0) == [1] * 150


def test_the_bootstrap_interval_is_not_symmetric_where_the_sample_is_not():
    # Quantiles of an exponential distribution: its mean has a long tail above.
    values = [-math.log(1 - (i + 0.5) / 12) for i in range(12)]
    mean, low, high = bootstrap_interval(values)
    assert high - mean > 1.2 * (mean - low) > 0


def test_the_bootstrap_interval_of_a_large_sample_is_near_the_normal_one():
    values = np.random.default_rng(7).normal(10, 2, 400)
    mean, low, high = bootstrap_interval(values)
    # 1.95996 s / sqrt(n); BCa and Monte Carlo of 9999 draws differ by a few per cent
    half = 1.95996 * values.std() / 20
    assert mean == pytest.approx(values.mean())
    assert high - mean == pytest.approx(half, rel=0.08)
    assert mean - low == pytest.approx(half, rel=0.08)
    assert bootstrap_interval(values) == (mean, low, high)


@given(st.lists(st.integers(-1000, 1000), min_size=2, max_size=12), st.integers(1, 64))
def test_intervals_hold_their_mean_and_scale_with_their_values(values, factor):
    mean, low, high = mean_interval(values)
    scaled = mean_interval([factor * v for v in values])
    assert scaled == pytest.approx((factor * mean, factor * low, factor * high), abs=1e-6)
    for _, least, most in ((mean, low, high), bootstrap_interval(values, resamples=199)):
        assert least - 1e-9 <= mean <= most + 1e-9


def test_stopping_requests_more_until_the_half_width_is_small():
    until = ac.Precision("x", half_width=0.1, at_most=40, at_least=3)
    assert until.count_replicates([]) == 3
    # Equal values are as narrow as can be; whether they are again is looked at with twice as many.
    assert until.count_replicates([5.0, 5.0, 5.0]) == 6
    # mean 10, s = 2, n = 4: half-width 3.182 * 2/2 = 3.18, allowed 1: (3.18)^2 * 4 = 40.5,
    # but never more than twice as many at a time
    four = ac.Precision("x", half_width=0.1, at_most=40, at_least=4)
    assert four.count_replicates([8.0, 12.0, 8.0 + 2 / 3, 12 - 2 / 3]) == 8
    # ten values 10 ± 1.725: s = 1.725 sqrt(10/9), half-width 2.262157 * 1.725 / 3 = 1.3007,
    # allowed 1: 1.3007^2 * 10 = 16.9
    ten = ac.Precision("x", half_width=0.1, at_most=40)
    assert ten.count_replicates([8.275, 11.725] * 5) == 17
    assert until.count_replicates([1.0, 100.0] * 20) == 40
    assert until.count_replicates([math.nan] * 3) == 6


@pytest.mark.parametrize(
    "wrong", [{"half_width": 0}, {"at_least": 1}, {"at_most": 2}, {"confidence": 1}]
)
def test_a_precision_that_cannot_be_is_reported(wrong):
    with pytest.raises(AckclockError, match=f"until.{next(iter(wrong))}"):
        ac.Precision("x", **wrong)


def test_sequential_stopping_does_not_depend_on_workers(case):
    metric = "max(links.utilisation)"
    until = ac.Precision(metric, half_width=0.02, at_least=3, at_most=12)
    made = [
        ac.sweep(case, {"net.buffer": ["5 pkt", "20 pkt"]}, until=until).run(store=False, workers=w)
        for w in (1, 3)
    ]
    assert [s.key for s in made[0].slots] == [s.key for s in made[1].slots]
    for row in made[0].summary(metric).to_pylist():
        half = (row["ci_high"] - row["ci_low"]) / 2
        assert (half <= 0.02 * row["mean"]) == (row["note"] == "")
        assert row["note"] in ("", "the precision of 2 % was not reached")
        assert half <= 0.02 * row["mean"] or row["seeds"] == 12
    assert {row["seeds"] for row in made[0].summary("totals.events").to_pylist()} != {12}


# Engines


class Line:
    """A case that is not a scenario: y = a x, no random numbers, a separate table."""

    engine, engine_version, name, seed = "line", "1", "", 1
    is_random = holds_lock = False
    recorded = ""

    def __init__(self, a=1.0, x=2.0):
        self.a, self.x = a, x

    @property
    def fingerprint(self):
        return f"{self.a!r} {self.x!r}"

    def replace(self, **changes):
        return Line(**{"a": self.a, "x": self.x, **changes})

    def with_seed(self, _):
        return self

    def to_document(self):
        return {"engine": "line", "a": self.a, "x": self.x}

    def parcel(self):
        return Parcel(self.to_document(), {})

    def check(self, *, spills=False):
        return None

    def cost(self, *, spills=False, is_rough=False):
        return Cost(1, 1e-6)

    def execute(self, progress=None, spill=None):
        from types import SimpleNamespace

        import pyarrow as pa

        y = self.a * self.x
        return SimpleNamespace(
            summary={"totals": {"y": y}}, tables={"values": pa.table({"y": [y]})}
        )


def test_any_engine_may_be_swept(tmp_path, monkeypatch):
    monkeypatch.setitem(ENGINES, "line", Engine("", lambda d, _: Line(**d)))
    assert isinstance(Line(), Case)
    grid = ac.sweep({"engine": "line", "a": 3.0}, {"x": [1.0, 2.0, 4.0]}, reps=10)
    result = grid.run(store=tmp_path / "store")
    assert column(result.summary("values.y"), "mean") == [3.0, 6.0, 12.0]
    # Nothing is random: one replicate is all there is, and differences are exact.
    assert column(result.summary("totals.y"), "seeds") == [1, 1, 1]
    assert result.compare("totals.y", "x").warnings == ()


def test_an_unknown_engine_is_reported():
    with pytest.raises(AckclockError, match='no engine "pakcet"; did you mean "packet"'):
        registry.case({"engine": "pakcet"})


def test_a_function_of_ones_own_may_be_a_metric(result, monkeypatch):
    monkeypatch.setitem(metrics.FUNCTIONS, "second", lambda v: float(np.sort(v)[1]))
    made = result.per_run("second(flows.goodput_bps)")
    assert list(made) == [
        sorted(f["goodput_bps"] for f in result.summaries[s.key]["flows"])[1] for s in result.slots
    ]


def test_seeds_in_a_row_are_named_by_the_first_and_the_last(case):
    def seeds(*which):
        slots = [Slot(0, number, seed, str(seed)) for number, seed in enumerate(which)]
        return SweepResult(ac.sweep(case), slots, Memory(), requested=len(slots)).recipe["seeds"]

    assert seeds(3, 4, 5) == "3 to 5"
    assert seeds(5, 3, 4, 4) == "3 to 5"
    assert seeds(3, 4) == "3 4"
    assert seeds(3, 4, 6) == "3 4 6"
