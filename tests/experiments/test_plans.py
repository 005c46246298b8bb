"""What a sweep says before and while it runs: plans, memory, pace, the status line."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import pytest

import ackclock as ac
from ackclock.case import Cost
from ackclock.errors import AckclockError, Problem, ScenarioError
from ackclock.experiments import plan as plans
from ackclock.experiments.design import Replicates
from ackclock.experiments.grid import Axis, Block, Choice, Point, SweepError, blocks, points
from ackclock.experiments.plan import (
    Plan,
    Prepared,
    check_memory,
    check_worker_memory,
    prepare_points,
)
from ackclock.experiments.replication import Replication, replicate
from ackclock.experiments.scheduler import Pace
from ackclock.experiments.status_line import Status, describe
from ackclock.experiments.store import look
from conftest import SMALL


def planned(**changes):
    given = {
        "name": "n", "points": 1200, "runs": 2400, "at_most": 2400, "stored": 0, "events": 5e6,
        "cpu_s": 90.0, "workers": 3, "axes": {"x": [1, 2]},
    }  # fmt: skip
    return Plan(**{**given, **changes})


def test_the_text_of_a_plan_has_counts_axes_and_costs():
    head, grid, cost = str(planned()).split("\n\n")
    assert head == "n: 1,200 points, 2,400 runs"
    assert grid.splitlines()[1].split() == ["x", "2", "1,", "2"]
    assert cost == "predicted: 5,000,000 events, 90 s of one core, about 30 s on 3"
    text = str(planned(at_most=6000, stored=1100, axes={}))
    head, cost = text.split("\n\n")
    assert head == "n: 1,200 points, 2,400 to 6,000 runs, 1,100 of them stored already"
    assert cost.endswith("on 3; at most 2.5 times that")
    assert planned().to_dict() == {
        "name": "n", "points": 1200, "runs": 2400, "at_most": 2400, "stored": 0, "events": 5e6,
        "cpu_s": 90.0, "workers": 3, "seconds": 30.0, "axes": {"x": [1, 2]},
    }  # fmt: skip


def test_a_plan_lists_six_labels_of_an_axis_and_of_more_the_first_four_and_the_last():
    def listed(count):
        return " ".join(str(planned(axes={"x": list(range(count))})).splitlines()[3].split())

    assert listed(6) == "x 6 0, 1, 2, 3, 4, 5"
    assert listed(7) == "x 7 0, 1, 2, 3, ..., 6"


def at(memory, table=0.0, **labels):
    return Prepared(Point(0, labels, {}), None, "f", Cost(1, 1.0, memory, table), holds_lock=False)


def test_runs_that_fill_the_memory_together_are_refused(monkeypatch):
    monkeypatch.setattr("ackclock.scenario.memory.machine_bytes", lambda: 10 * 2**30)
    monkeypatch.setenv("ACKCLOCK_MEMORY_SHARE", "0.8")
    # Tables that become large go to disk, so 4 GiB of each count.
    found = [at(1.0), at(5 * 2**30, table=1 * 2**30)]
    check_memory(found, 2)
    check_memory([], 5)
    with pytest.raises(AckclockError) as caught:
        check_memory(found, 3)
    assert str(caught.value) == (
        "3 runs at a time would need up to 12 GiB of memory, of which 8 GiB may be used"
        " (--memory-share, ACKCLOCK_MEMORY_SHARE); use --workers 2 or fewer flows"
    )
    with pytest.raises(AckclockError, match=r"1 runs .* use --workers 1 or fewer flows"):
        check_memory([at(100 * 2**30)], 1)


def test_a_run_that_fills_a_worker_of_a_cluster_is_refused_with_its_place(monkeypatch):
    monkeypatch.setenv("ACKCLOCK_MEMORY_SHARE", "0.5")
    # There tables stay in memory.
    found = [at(1 * 2**30, x=1), at(2 * 2**30, table=2 * 2**30, x=2)]
    check_worker_memory(found, 4 * 2**30)
    check_worker_memory([], 1.0)
    with pytest.raises(
        AckclockError, match=r"need about 2 GiB of memory \(at x = 2\), of which 1 "
    ):
        check_worker_memory(found, 2 * 2**30)


class Wrong:
    """A case that has a problem of its point, and another at every second one."""

    def __init__(self, number):
        self.number = number

    def cost(self, *, spills, is_rough):
        found = [Problem("x", f"is wrong, {self.number // 2}")] if self.number >= 0 else []
        raise ScenarioError([*found, Problem("y", "is missing")])


def design(cases, file=None):
    where = tuple(Point(i, {"x": i}, {}) for i in range(len(cases)))

    def case_at(point, *, is_rough):
        return cases[point.index]

    return SimpleNamespace(points=where, case_at=case_at, file=file)


def test_problems_of_many_points_are_reported_once_and_no_more_than_ten():
    with pytest.raises(ScenarioError) as caught:
        prepare_points(design([Wrong(0), Wrong(1), Wrong(-1)], file="s.toml"))
    assert [str(problem) for problem in caught.value.problems] == [
        "s.toml: x: is wrong, 0 (at x = 0, and at 1 more points)",
        "s.toml: y: is missing (at x = 0, and at 2 more points)",
    ]
    # With y, ten and eleven problems.
    for count, reported, rest in ((18, 10, []), (22, 11, ["and 2 more problems"])):
        with pytest.raises(ScenarioError) as caught:
            prepare_points(design([Wrong(number) for number in range(count)]))
        found = [str(problem) for problem in caught.value.problems]
        assert len(found) == reported
        assert [text for text in found if text.startswith("and ")] == rest


def test_a_sample_lies_all_over_a_grid_and_has_no_rhythm_of_its_axes():
    grid = [Point(index, {}, {}) for index in range(240)]
    for most in (3, 7, 24):
        places = [point.index for point in plans.spread_over(grid, most)]
        assert len(places) == most
        # No part of the grid of three times the mean distance is left out.
        assert max(b - a for a, b in pairwise([0, *places, 240])) < 3 * 240 / most
        # Axes of 2, 3 and 4 values, the last fastest: each value is met.
        assert most < 7 or all(len({place % axis for place in places}) == axis for axis in (2, 3))
    assert plans.spread_over(grid[:3], 3) == grid[:3]
    assert [plans.share_sample(count) for count in (0, 1, 9, 15, 100)] == [45, 45, 5, 3, 3]


@pytest.mark.slow
def test_a_plan_from_a_sample_counts_all_runs_and_is_close_to_the_whole_one(tmp_path):
    rates = [f"{number} Mbps" for number in range(1, 13)]
    sweep = ac.sweep(ac.load(SMALL), {"net.rate": rates, "net.rtt": ["20 ms", "60 ms"]}, reps=2)
    whole, sampled = sweep.plan(2), sweep.plan(2, most_points=8)
    for name in ("points", "runs", "at_most", "stored", "axes"):
        assert getattr(sampled, name) == getattr(whole, name)
    assert sampled.stored == 0
    assert 1 / 1.5 < sampled.cpu_s / whole.cpu_s < 1.5
    assert sampled.events != whole.events
    # A run that is stored counts for those that the sample is of.
    sweep.run(workers=1, store=tmp_path)
    assert sweep.plan(2, look(tmp_path), 8).stored == 48


def test_a_slot_has_the_seed_of_its_replicate():
    sweep = ac.sweep(ac.load(SMALL).replace(seed=7), reps=3)
    (point,) = prepare_points(sweep)
    assert [plans.slot(sweep, point, r).seed for r in range(3)] == [7, 8, 9]
    assert plans.slot(sweep, point, 2).replicate == 2


def test_replicates_are_a_whole_number_of_at_least_one():
    assert (Replicates(1).at_first, Replicates(4).at_most) == (1, 4)
    until = ac.Precision("x", at_least=2, at_most=2)
    assert (Replicates(1, until).at_first, Replicates(1, until).at_most) == (2, 2)
    for wrong in (0, -1, True, 1.0, "2"):
        with pytest.raises(SweepError, match="expected a whole number, at least 1"):
            Replicates(wrong)


def test_predictions_are_corrected_by_what_was_measured():
    pace = Pace()
    assert pace(3.0) == 3.0
    pace.take(2.0, 3.0)
    pace.take(2.0, 7.0)
    assert pace(2.0) == 5.0


def status(**changes):
    given = {
        "name": "n", "where": "2 cores", "requested": 3000, "stored": 0, "finished": 2.7,
        "seconds": 3.0, "left_s": None,
    }  # fmt: skip
    return Status(**{**given, **changes})


def test_the_status_line_counts_whole_runs_and_their_rate():
    assert describe(status()) == "2 of 3,000 runs, 0.9 runs/s on 2 cores"
    assert describe(status(stored=1000, left_s=65.0)) == (
        "1,002 of 3,000 runs, 1,000 stored before, 0.9 runs/s on 2 cores, 1:05 left"
    )
    assert status(seconds=0.0).rate == 0.0
    assert status(seconds=0.5).rate == pytest.approx(5.4)


# Grids


def test_an_axis_knows_its_labels_and_refuses_what_does_not_fit():
    made = Axis("x", [1, 2], ["one", "two"])
    assert made.labels == ["one", "two"]
    assert repr(made) == "Axis('x', labels=['one', 'two'])"
    assert [choice.changes for choice in Axis(["x", "y"], [7]).choices] == [{"x": 7, "y": 7}]
    assert [choice.changes for choice in Axis(None, {"a": {"x": 1, "y": 2}}).choices] == [
        {"x": 1, "y": 2}
    ]
    for arguments, message in [
        (("x", {"a": 1}, ["b"]), "values with names need no labels"),
        (("x", [1, 2], ["b"]), "the axis over x has 2 values and 1 labels"),
        ((["x", "y"], 5), "the axis over x and y has 5 for values; expected a list"),
        ((None, []), "the axis has no values; expected at least one"),
        (("x", ["b", "a", "a", "b"]), 'the axis over x has the label "a" more than once'),
        ((None, [3]), "the axis has no path, so each value is a table of changes by path"),
        ((None, [{}]), "the axis has no path, so each value is a table of changes by path"),
    ]:
        with pytest.raises(SweepError) as caught:
            Axis(*arguments)
        assert str(caught.value) == message


def test_tables_of_an_axis_have_their_keys():
    (block,) = blocks({"n": {"paths": ["x", "y"], "values": [1, 2], "labels": ["a", "b"]}}, (), ())
    assert block == Block(
        ("n",), ((Choice("a", {"x": 1, "y": 1}),), (Choice("b", {"x": 2, "y": 2}),))
    )
    for given, message in [
        ({"path": "x"}, "n: it has no values; expected path, values and, if wanted, labels"),
        ({"values": [1], "vales": 2, "a": 1}, 'n: "a" is not a key of an axis; expected path, '),
    ]:
        with pytest.raises(SweepError) as caught:
            blocks({"n": given}, (), ())
        assert str(caught.value).startswith(message)


def test_points_of_a_list_are_named_or_numbered():
    (block,) = blocks({}, (), [{"label": "a", "x": 1}, {"x": 2}])
    assert block.names == ("label",)
    assert [(row[0].label, row[0].changes) for row in block.rows] == [
        ("a", {"x": 1}),
        ("point 2", {"x": 2}),
    ]
    (block,) = blocks({}, (), [{"x": [1]}, {"x": [2], "y": 0}, {"x": [1]}])
    assert [[choice.label for choice in row] for row in block.rows] == [
        ["1 entries 1", None],
        ["1 entries 2", 0],
        ["1 entries 1", None],
    ]
    for listed, message in [
        ([{"label": "a"}, {"label": "a"}], "two points of the list have the same label"),
        ([{"x": 1}, 7], "point 2 of the list is not a table of values by path"),
    ]:
        with pytest.raises(SweepError) as caught:
            blocks({}, (), listed)
        assert str(caught.value) == message


def test_names_of_axes_are_given_once_and_are_not_those_of_replication():
    with pytest.raises(SweepError, match='the axis "x" is given more than once'):
        blocks({"x": [1]}, [{"x": [2]}], ())
    for name in ("seed", "replicate", "point"):
        with pytest.raises(SweepError, match=f'"{name}" cannot be an axis: replications set'):
            blocks({name: [1]}, (), ())
    assert blocks({}, [{}], ()) == ()
    with pytest.raises(SweepError, match="as many values each: x has 2, y has 1"):
        blocks({}, [{"x": [1, 2], "y": [1]}], ())


def test_points_are_numbered_with_the_last_block_fastest():
    grid = blocks({"a": [1, 2]}, [{"b": [3, 4], "c": [5, 6]}], ())
    assert list(points(grid)) == [
        Point(i, labels, labels)
        for i, labels in enumerate(
            {"a": a, "b": b, "c": c} for a in (1, 2) for b, c in ((3, 5), (4, 6))
        )
    ]
    assert list(points(())) == [Point(0, {}, {})]


# Replications


def made_run(seed, goodput, utilisation=0.5):
    flow = {"id": "f7", "goodput_bps": goodput, "cc": "aimd", "is_done": True}
    link = {"id": "l", "utilisation": utilisation, "delay_mean_s": None}
    summary = {
        "seed": seed, "flows": [flow], "links": [link], "engine": "packet", "version": "v",
        "era": "rfc", "scenario_hash": "h", "digest": f"d{seed}",
    }  # fmt: skip
    return SimpleNamespace(summary=summary)


def test_replications_give_means_over_their_runs():
    runs = [made_run(3, 1e6), made_run(4, 3e6)]
    made = Replication(SimpleNamespace(name=""), runs, 2, 0.9)
    assert not made.interrupted
    # Two values 1 and 3: s/sqrt(2) = 1; t(0.95, 1) = 6.31375. The link's 0.5 does not vary.
    flow, link = made.means.to_pylist()
    assert (flow["kind"], flow["id"], flow["metric"], flow["n"]) == ("flow", "f7", "goodput_bps", 2)
    assert flow["mean"] == 2e6
    assert flow["ci_high"] == pytest.approx(8.31375e6, rel=1e-6)
    assert flow["ci_low"] == pytest.approx(-4.31375e6, rel=1e-6)
    assert (link["kind"], link["metric"], link["ci_low"]) == ("link", "utilisation", 0.5)
    assert [row["seed"] for row in made.observations.to_pylist()] == [3, 3, 4, 4]
    assert [row["value"] for row in made.observations.to_pylist()] == [1e6, 0.5, 3e6, 0.5]
    head, _, *rows = str(made).splitlines()
    assert head == "scenario: 2 replications, 90 % Student-t intervals"
    lines = [" ".join(row.split()) for row in rows[-2:]]
    assert lines[0] == "flow f7 goodput 2 Mbit/s -4.314 Mbit/s 8.314 Mbit/s"
    assert lines[1] == "link l used 50.0 % 50.0 % 50.0 %"
    data = made.to_dict()
    assert (data["replications"], data["seeds"], data["confidence"]) == (2, [3, 4], 0.9)
    assert (data["scenario_hash"], data["engine"], data["era"]) == ("h", "packet", "rfc")


def test_an_interrupted_replication_says_how_many_runs_it_has():
    made = Replication(SimpleNamespace(name="mine"), [made_run(3, 1e6)], 2, 0.95)
    assert made.interrupted
    assert str(made).startswith("mine: 1 of 2 replications, 95 % ")
    assert made.to_dict()["means"][0]["ci_low"] is None
    assert made.to_dict()["interrupted"] is True
    empty = Replication(SimpleNamespace(name="mine"), [], 2, 0.95)
    assert empty.to_dict()["engine"] is None
    assert empty.observations.num_rows == 0


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reps": 0}, "reps must be at least 1"),
        ({"confidence": 0}, "confidence must be between 0 and 1"),
        ({"confidence": 1}, "confidence must be between 0 and 1"),
    ],
)
def test_replications_that_cannot_be_are_refused(given, message):
    with pytest.raises(ValueError, match=message):
        replicate(ac.load(SMALL), **given)


def test_replications_use_the_seeds_that_follow_and_report_progress():
    reported, ended = [], {}
    case = ac.load(SMALL).replace(duration="3 s", record=None, seed=5)
    made = replicate(
        case,
        2,
        workers=1,
        progress=reported.append,
        on_finish=lambda i, run: ended.update({i: run}),
    )
    assert [run.summary["seed"] for run in made.runs] == [5, 6]
    assert made.confidence == 0.95
    # In whichever order they end.
    assert [ended[0], ended[1]] == list(made.runs)
    assert reported[-1] == 1.0
    assert all(0 <= part <= 1 for part in reported)
    assert len(replicate(case, 1).runs) == 1
    assert set(replicate(case, 1).means["ci_low"].to_pylist()) == {None}
