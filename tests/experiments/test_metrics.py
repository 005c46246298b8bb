"""Metrics of runs by hand, and results read from runs that are written out."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from ackclock.experiments import metrics
from ackclock.experiments.comparison import RankingWarning, compare
from ackclock.experiments.grid import Block, Choice, Point
from ackclock.experiments.groups import RunMetric
from ackclock.experiments.metrics import Metric, MetricError, of_run, of_summary, parse
from ackclock.experiments.plan import Slot
from ackclock.experiments.result import SweepResult
from ackclock.experiments.stored import _rank


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("flows.x", (None, "flows", (), "x")),
        (" mean( flows.x ) ", ("mean", "flows", (), "x")),
        ("links[r0->r1].used", (None, "links", (("id", "r0->r1"),), "used")),
        ("sum(t[ cc = cubic , a ].b)", ("sum", "t", (("cc", "cubic"), ("id", "a")), "b")),
        ("count(t[].b)", ("count", "t", (), "b")),
        ("totals.a.b", (None, "totals", (), "a.b")),
    ],
)
def test_a_metric_is_taken_apart(text, expected):
    assert parse(text) == Metric(text, *expected)


@pytest.mark.parametrize("text", ["x", "mean(flows.x", "flows.x)", "a b.c", "", "mean flows.x"])
def test_what_is_no_metric_is_refused(text):
    with pytest.raises(MetricError, match="is not a metric; expected something like mean"):
        parse(text)


def test_functions_of_a_column_by_hand():
    def value(function, *numbers):
        return parse(f"{function}(t.x)").reduce(np.array(numbers, dtype=float), "in a run")

    nan = math.nan
    assert [value(f, 1, 4, nan, 4) for f in ("mean", "sum", "min", "max", "median")] == [
        3.0, 9.0, 1.0, 4.0, 4.0,
    ]  # fmt: skip
    # A sample's: ((-2)^2 + 1 + 1) / 2.
    assert value("std", 1, 4, 4) == pytest.approx(math.sqrt(3))
    assert value("jain", 1, 3) == pytest.approx(0.8)
    # Of no values there is nothing, and a count counts what is there.
    assert [value("count", *rows) for rows in ((), (1, nan))] == [0.0, 1.0]
    for function in ("mean", "sum", "min", "max", "median", "std", "jain"):
        assert math.isnan(value(function))
        assert math.isnan(value(function, nan))
    assert math.isnan(metrics.FUNCTIONS["jain"](np.array([])))


def test_without_a_function_there_is_one_value():
    metric = parse("t.x")
    assert metric.reduce(np.array([5.0]), "here") == 5.0
    assert math.isnan(metric.reduce(np.array([]), "here"))
    with pytest.raises(MetricError) as caught:
        metric.reduce(np.array([5.0, 6.0]), "in a run")
    assert str(caught.value) == (
        '"t.x" has 2 values in a run; say which function joins them, as in mean(t.x), or keep'
        " them apart with by"
    )


def test_numbers_of_a_summary_are_found_by_their_keys():
    summary = {"totals": {"a": {"b": 3}, "none": None, "yes": True, "text": "t"}}
    assert of_summary(summary, parse("totals.a.b")) == 3.0
    assert math.isnan(of_summary(summary, parse("totals.none")))
    for name, message in [
        ("totals.yes", '"totals.yes" is True, not a number'),
        ("totals.text", "\"totals.text\" is 't', not a number"),
        ("totals.nine", '"totals.nine": runs have no "nine"; did you mean "none"?'),
        ("totals.a.b.c", '"totals.a.b.c": runs have no "c"'),
        ("other.a", '"other.a": runs have no "other"'),
    ]:
        with pytest.raises(MetricError) as caught:
            of_summary(summary, parse(name))
        assert str(caught.value).startswith(message)


def test_rows_are_chosen_by_all_conditions_and_columns_hold_numbers():
    flows = pa.table(
        {"id": ["a", "b", "c"], "cc": ["x", "x", "y"], "n": [1, 2, 4], "ok": [True, False, True],
         "v": [1.5, None, 2.5]}
    )  # fmt: skip
    tables = {"flows": flows}

    def value(text):
        return of_run(text, {"totals": {"t": 7}}, tables)

    assert value("sum(flows[cc=x].n)") == 3.0
    assert value("flows[cc=x, b].n") == 2.0
    assert value("sum(flows[n=4].n)") == 4.0
    assert value("sum(flows.ok)") == 2.0
    assert value("mean(flows.v)") == 2.0
    assert math.isnan(value("flows[b].v"))
    assert value("count(flows[cc=z].n)") == 0.0
    assert value("totals.t") == 7.0
    assert of_run(lambda t: t["summary"]["totals"]["t"] + t["flows"].num_rows, {"totals": {"t": 7}},
                  tables) == 10.0  # fmt: skip
    for text, message in [
        (
            "sum(flows[cx=x].n)",
            '"sum(flows[cx=x].n)": flows has no column "cx"; expected one of: id, cc, n, ok, v',
        ),
        ("mean(flows.cc)", '"mean(flows.cc)": the column cc does not hold numbers'),
        ("mean(flows.vv)", '"mean(flows.vv)": flows has no column "vv"'),
    ]:
        with pytest.raises(MetricError) as caught:
            value(text)
        assert str(caught.value).startswith(message)


def test_functions_may_be_added(monkeypatch):
    monkeypatch.setattr(metrics, "FUNCTIONS", dict(metrics.FUNCTIONS))
    metrics.register("last", lambda values: float(values[-1]))
    assert parse("last(t.x)").reduce(np.array([1.0, 5.0, math.nan]), "") == 5.0
    with pytest.raises(MetricError, match='no function "lasst"; did you mean "last"'):
        parse("lasst(t.x)")


def compare_groups(groups, *args, **more):
    """Compare values of one point a label."""
    cells = {
        group: {(): {r: RunMetric(value) for r, value in values.items()}}
        for group, values in groups.items()
    }
    return compare(cells, *args, **more)


# Results


class Kept:
    """Runs in memory: a table of two rows each, and a summary."""

    def __init__(self, values):
        self.values = values

    def summaries(self, keys):
        return {key: {"totals": {"v": self.values[key]}} for key in keys}

    def table_names(self, keys):
        return ["flows"]

    def table(self, name, keys):
        rows = [
            {"key": key, "id": name, "x": factor * self.values[key], "n": None}
            for key in sorted(keys, reverse=True)
            for name, factor in (("a", 1.0), ("b", 10.0))
        ]
        return pa.Table.from_pylist(rows)


def swept(values, *, wanted=None, interrupted=False, stored=0, metrics=()):
    """Results on two axes: a point has a label of each, and a run per replicate."""
    labels = list(dict.fromkeys((a, b) for a, b, _ in values))
    blocks = tuple(
        Block(
            (name,), tuple((Choice(label, {}),) for label in dict.fromkeys(at[i] for at in labels))
        )
        for i, name in enumerate(("a", "b"))
    )
    design = SimpleNamespace(
        name="my sweep", file=None, grid=blocks, axes=("a", "b"), metrics=metrics,
        points=tuple(Point(i, {"a": a, "b": b}, {}) for i, (a, b) in enumerate(labels)),
        case=SimpleNamespace(engine="packet", engine_version="v9", is_random=True),
    )  # fmt: skip
    slots, kept = [], {}
    for a, b, replicate in values:
        key = f"{a}{b}{replicate}"
        slots.append(Slot(labels.index((a, b)), replicate, 40 + replicate, key))
        kept[key] = values[a, b, replicate]
    return SweepResult(
        design,
        slots,
        Kept(kept),
        requested=wanted or len(slots),
        interrupted=interrupted,
        stored=stored,
    )


VALUES = {
    (a, b, r): {"p": 0.0, "q": 100.0}[a] + {1: 0.0, 2: 10.0}[b] + r
    for a in ("p", "q")
    for b in (1, 2)
    for r in (0, 1)
}


def test_rows_of_runs_are_in_order_of_their_places():
    result = swept(VALUES)
    flows = result.tables["flows"]
    assert flows.column_names == ["a", "b", "seed", "replicate", "id", "x", "n"]
    rows = flows.to_pylist()
    assert [(r["a"], r["b"], r["replicate"], r["id"]) for r in rows] == [
        (a, b, r, name) for a, b, r in VALUES for name in ("a", "b")
    ]
    assert [r["x"] for r in rows] == [f * value for value in VALUES.values() for f in (1.0, 10.0)]
    assert {r["seed"] - r["replicate"] for r in rows} == {40}
    assert "drops" not in result.tables
    assert (len(result.tables), list(result.tables)) == (1, ["flows"])
    with pytest.raises(KeyError):
        result.tables["drops"]


def test_values_of_runs_are_read_from_tables_summaries_and_functions():
    result = swept(VALUES)
    values = list(VALUES.values())
    assert result.per_run("totals.v").tolist() == values
    assert result.per_run("flows[b].x").tolist() == [10 * value for value in values]
    assert result.per_run(lambda t: sum(t["flows"]["x"].to_pylist())).tolist() == [
        11 * value for value in values
    ]
    assert np.isnan(result.per_run("flows[none].x")).all()
    assert result.per_run("count(flows[none].x)").tolist() == [0.0] * 8
    table = result.values("totals.v").to_pylist()
    assert table[3] == {"a": "p", "b": 2, "seed": 41, "replicate": 1, "value": 11.0}
    assert result.places().column_names == ["a", "b", "seed", "replicate"]


def test_summaries_average_over_other_axes_within_a_replicate():
    result = swept(VALUES)
    every = result.summary("totals.v").to_pylist()
    assert [(r["a"], r["b"], r["mean"], r["seeds"]) for r in every] == [
        ("p", 1, 0.5, 2), ("p", 2, 10.5, 2), ("q", 1, 100.5, 2), ("q", 2, 110.5, 2),
    ]  # fmt: skip
    (p, q) = result.summary("totals.v", by="a", confidence=0.9).to_pylist()
    assert (p["mean"], q["mean"]) == (5.5, 105.5)
    # Replicates are 5 and 6: s/sqrt(2) = 0.5; t(0.95, 1) = 6.31375.
    assert p["ci_high"] - p["mean"] == pytest.approx(6.31375 / 2, rel=1e-5)
    (whole,) = result.summary("totals.v", by=[]).to_pylist()
    assert whole["mean"] == 55.5
    by_flow = result.summary("flows.x", by=["id", "a"]).to_pylist()
    assert [(r["id"], r["a"], r["mean"]) for r in by_flow] == [
        ("a", "p", 5.5), ("b", "p", 55.0), ("a", "q", 105.5), ("b", "q", 1055.0),
    ]  # fmt: skip
    for by, message in [("seed", 'by "seed": '), ("c", 'by "c": ')]:
        with pytest.raises(MetricError) as caught:
            result.summary("flows.x", by=[by])
        assert str(caught.value).startswith(message)
    with pytest.raises(
        MetricError, match='by "id": a function of runs can be grouped by axes only'
    ):
        result.summary(lambda _: 1.0, by=["id"])


def test_a_comparison_of_a_result_pairs_replicates_and_may_join_axes():
    result = swept(VALUES)
    (pair,) = result.compare("totals.v", "a", by=[]).pairs
    assert (pair.one, pair.other, pair.difference, pair.seeds) == ("p", "q", -100.0, 2)
    apart = result.compare("totals.v", "b").pairs
    assert [(p.others, p.one, p.other, p.difference) for p in apart] == [
        (("p",), 1, 2, -10.0),
        (("q",), 1, 2, -10.0),
    ]


def test_the_text_and_data_of_a_result_count_its_runs():
    result = swept(VALUES, wanted=1200, stored=3, metrics=("totals.v",))
    assert str(result).startswith("my sweep: 8 of 1,200 runs, 3 of them stored before\n")
    assert str(swept(VALUES)).startswith("my sweep: 8 runs")
    assert str(swept(VALUES, interrupted=True)).startswith("my sweep: 8 of 8 runs")
    data = result.to_dict()
    assert {key: data[key] for key in data if key != "summary"} == {
        "name": "my sweep", "engine": "packet", "version": "v9", "axes": ["a", "b"], "points": 4,
        "runs": 8, "wanted": 1200, "stored": 3, "interrupted": False, "seconds": 0.0,
        "warnings": [],
    }  # fmt: skip
    assert list(data["summary"]) == ["totals.v"]
    assert repr(result).endswith(", 8 of 1200 runs)")
    recipe = result.recipe
    assert recipe["scenario"].startswith("my-sweep ")
    assert len(recipe["scenario"]) == len("my-sweep ") + 64
    assert (recipe["seeds"], recipe["version"]) == ("40 41", "v9")
    # The usual metrics are shown where runs have them.
    assert swept(VALUES).metrics == ()
    assert swept({}).metrics == ()


def test_frames_have_a_row_a_run():
    frame = swept(VALUES).to_pandas(["totals.v"])
    assert list(frame.columns) == ["a", "b", "seed", "replicate", "totals.v"]
    assert frame["totals.v"].tolist() == list(VALUES.values())
    pytest.importorskip("xarray")
    grid = swept(VALUES).to_xarray(["totals.v"])
    assert dict(grid.sizes) == {"a": 2, "b": 2, "replicate": 2}
    assert float(grid["totals.v"].sel(a="q", b=2, replicate=1)) == 111.0


# Comparisons


def test_intervals_that_touch_overlap_and_differences_that_hold_0_are_not_clear():
    # 1 ± 12.7062 each.
    groups = {("a", "x"): {0: 0.0, 1: 2.0}, ("b", "x"): {0: 0.0, 1: 2.0}}
    made = compare_groups(groups, "cc", ["env"], 0.95, "t", is_random=True)
    (pair,) = made.pairs
    assert (pair.others, pair.difference, pair.low, pair.high) == (("x",), 0.0, 0.0, 0.0)
    assert pair.overlap
    assert not pair.clear
    assert made.warnings == ("a and b cannot be ranked at env = x: they are equal",)
    with pytest.warns(RankingWarning, match="at env = x"):
        assert made.ranking("x") == ["a", "b"]
    # Six equal differences are evidence, two are not.
    levels = {"a": 1.0, "b": 2.0, "c": 0.0}
    two, apart = (
        {(name,): dict.fromkeys(range(count), level) for name, level in levels.items()}
        for count in (2, 6)
    )
    few = compare_groups(two, "cc", [], 0.95, "t", is_random=True)
    assert not any(pair.clear for pair in few.pairs)
    found = compare_groups(apart, "cc", [], 0.95, "t", is_random=True)
    assert [(p.one, p.other, p.difference, p.overlap, p.clear) for p in found.pairs] == [
        ("a", "b", -1.0, False, True), ("a", "c", 1.0, False, True), ("b", "c", 2.0, False, True),
    ]  # fmt: skip
    assert found.ranking() == ["b", "a", "c"]
    assert found.warnings == ()


def test_intervals_overlap_where_the_end_of_one_is_inside_the_other():
    # 12 ± 25.4, beside numbers that do not vary.
    for level, overlap in ((-20.0, False), (1.0, True), (30.0, True), (50.0, False)):
        wide, flat = {0: 10.0, 1: 14.0}, {0: level, 1: level}
        for first, second in ((wide, flat), (flat, wide)):
            groups = {("a",): first, ("b",): second}
            (pair,) = compare_groups(groups, "cc", [], 0.95, "t", is_random=True).pairs
            assert pair.overlap == overlap
    # And of two that vary, 12 ± 25.4 and 40 ± 12.7: neither mean is in the other's interval.
    groups = {("a",): {0: 10.0, 1: 14.0}, ("b",): {0: 39.0, 1: 41.0}}
    (pair,) = compare_groups(groups, "cc", [], 0.95, "t", is_random=True).pairs
    assert pair.overlap


def test_exact_values_are_clear_if_they_differ_by_more_than_rounding():
    def clear(one, other, **more):
        groups = {("a",): {0: one}, ("b",): {0: other}}
        (pair,) = compare_groups(groups, "cc", [], 0.95, "t", **{"is_random": False, **more}).pairs
        return pair.clear, pair.difference

    assert clear(1.0, 2.0) == (True, -1.0)
    assert clear(1.0, 1.0) == (False, 0.0)
    assert clear(1e9, 1e9 * (1 + 1e-13)) == (False, 0.0)
    assert clear(1e9, 1e9 * (1 + 1e-11))[0]
    assert clear(1.0, 2.0, is_random=True) == (False, -1.0)


def test_labels_are_ordered_by_number_then_text():
    labels = ["b", "10 ms", "9 ms", 2, True, 1.5, "-3 ms", "1e1 s", None]
    assert sorted(labels, key=_rank) == [1.5, 2, "-3 ms", "9 ms", "10 ms", "1e1 s", None, "b", True]
