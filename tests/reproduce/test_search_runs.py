"""Searches and sensitivities without their runs: which points are tried, and what is kept."""

from pathlib import Path
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest

from ackclock.errors import AckclockError, Problem, ScenarioError, UnsupportedError
from ackclock.reproduce.paper import Parameter, Target
from ackclock.reproduce.read.folder import PaperError
from ackclock.reproduce.run import estimates
from ackclock.reproduce.run import sensitivity as sensitivity_module
from ackclock.reproduce.run.estimates import Spread, half_width, prediction, rank_correlation
from ackclock.reproduce.run.sensitivity import Sensitivity, Trial, pick_value, sensitivity
from ackclock.reproduce.search import agreement, search, surrogate
from ackclock.reproduce.search.design import Rung
from ackclock.reproduce.search.search import PointJudgement, Tried
from ackclock.reproduce.write.forensics import summary


def parameter(name, *values, default=None, **more):
    return Parameter(name, "w", "r", Path(), values=values, default=default, **more)


class PointsOf:
    """A space of given points."""

    def __init__(self, claims, points=()):
        self.claims = tuple(SimpleNamespace(id=name, made_from=file) for name, file in claims)
        self.points, self.defaults = list(points), {"p": 0}
        self.parameters = (parameter("p", 0, 1, default=0),)
        self.paper = SimpleNamespace(name="mine", studies={})

    def design(self, count):
        assert count == len(self.points)
        return self.points

    def prior(self, count):
        assert count == search.PRIOR
        return list(range(4))


CLAIMS = [("a", ""), ("b", ""), ("c", ""), ("r1", "t.csv"), ("r2", "t.csv")]
RUNGS = [Rung("fast", 1), Rung("fast", 4), Rung("fast", 0)]


class Runner:
    """Judges points by a table of votes: by value, a vote of all claims at each rung."""

    votes: ClassVar[dict] = {}
    texts: ClassVar[list] = []

    def __init__(self, space, tier, means):
        Runner.texts = []

    def next_rung(self, rung, tried, values, text):
        assert dict(values) == ({} if text == "defaults" else dict(tried.values))
        Runner.texts.append(text)
        vote = self.votes[values.get("p", "defaults")]
        if isinstance(vote, Exception):
            raise vote
        level = len(tried.rungs)
        return Tried(tried.values, (*tried.rungs, dict.fromkeys("abc", vote[level])))

    def judgement(self, rung, values, text):
        Runner.texts.append((rung, dict(values), text))
        return PointJudgement({"a": 1.0}, {"a": "reproduced"})


@pytest.fixture
def searched(monkeypatch):
    """Search among points with these votes; the sizes of the rungs are 4, 2 and 1."""
    monkeypatch.setattr(search, "_Runner", Runner)
    monkeypatch.setattr(search.design, "rungs", lambda space, tier: RUNGS)
    monkeypatch.setattr(search.design, "judge", lambda tier: f"judge {tier}")

    def predict(points):
        return np.array(points) / 4

    monkeypatch.setattr(
        search.surrogate, "fit", lambda *words: surrogate.Surrogate(predict, 0.5, {"p": 1})
    )

    def work(votes, points=4):
        monkeypatch.setattr(Runner, "votes", votes)
        space = PointsOf(CLAIMS, [{"p": i} for i in range(1, points + 1)])
        plan = SimpleNamespace(space=space, tier="fast", count=points, sizes=(4, 2, 1), cpu_s=9.0)
        return search.search(plan, SimpleNamespace())

    return work


def test_the_best_points_of_a_rung_go_on_and_the_best_of_the_last_is_judged(searched):
    votes = {"defaults": (0.0, 0.0, 0.0), 1: (0.2,), 2: (0.8, 0.5), 3: (0.1,), 4: (0.7, 0.6, 0.3)}
    result = searched(votes)
    assert [len(point.rungs) for point in result.tried] == [1, 2, 1, 3]
    assert len(result.defaults.rungs) == 3
    assert result.best == 3
    assert (result.values, result.predicted_s) == ({"p": 4}, 9.0)
    assert Runner.texts[:3] == ["defaults"] * 3
    assert Runner.texts[3] == "rung 1 of 3 (tier fast, 1 seed), point 1 of 4"
    # The order within a rung is that of the rung before.
    assert Runner.texts[7:9] == [
        f"rung 2 of 3 (tier fast, 4 seeds), point {i} of 2" for i in (1, 2)
    ]
    assert Runner.texts[9] == "rung 3 of 3 (tier fast), point 1 of 1"
    assert Runner.texts[10:] == [
        ("judge fast", {}, "defaults on fresh seeds"),
        ("judge fast", {"p": 4}, "best point on fresh seeds"),
    ]


def test_defaults_that_are_as_good_stay(searched):
    votes = {"defaults": (0.0, 0.0, 0.3), 1: (0.2,), 2: (0.8, 0.5), 3: (0.1,), 4: (0.7, 0.6, 0.3)}
    result = searched(votes)
    assert result.best == -1
    assert result.values == {"p": 0}
    assert Runner.texts[-1] == ("judge fast", {}, "best point on fresh seeds")


def test_points_that_cannot_be_run_are_left_out_and_others_take_their_place(searched):
    wrong = ScenarioError([Problem("net", "too small")])
    of_values = PaperError([Problem("parameter[p]", "no such value")])
    votes = {"defaults": (0.0, 0.0, 0.0), 1: wrong, 2: (0.8, 0.5, 0.4), 3: of_values,
             4: (0.7, 0.4)}  # fmt: skip
    result = searched(votes)
    assert [bool(point.wrong) for point in result.tried] == [True, False, True, False]
    assert "too small" in result.tried[0].wrong
    assert result.valid == [1, 3]
    assert result.best == 1
    with pytest.raises(AckclockError, match="no point of the design could be run; the first: net"):
        searched({**votes, 2: wrong, 4: wrong})
    # What is wrong in the paper itself is no matter of the point.
    with pytest.raises(PaperError):
        searched({**votes, 2: PaperError([Problem("claim[a]", "no such table")])})


def test_points_within_a_vote_of_the_best_at_the_first_rung_are_accepted(searched):
    votes = {"defaults": (0.0, 0.0, 0.0), 1: (0.5,), 2: (1.0, 1.0, 1.0), 3: (0.49,), 4: (0.9, 0.8)}
    result = searched(votes)
    # Four units: a, b, c and the file of r1 and r2; two of them are fitted, so a vote is a half.
    assert len(result.fitted) == len(result.held_out) == 2
    assert {*result.fitted, *result.held_out} == {"a", "b", "c", "t.csv"}
    assert result.accepted == (0, 1, 3)
    # Of the prior, predictions of 0, 1/4, 1/2 and 3/4.
    assert result.surrogate_share == 0.5
    # Claims that are made from a file have no parameters that decide.
    assert result.decides == {"a": ("p",), "b": ("p",), "c": ("p",)}


def test_a_surrogate_that_explains_too_little_has_no_share(searched, monkeypatch):
    nothing = surrogate.Surrogate(None, search.TRUSTED - 0.01, {})
    monkeypatch.setattr(search.surrogate, "fit", lambda *words: nothing)
    votes = dict.fromkeys((1, 2, 3, 4), (0.5, 0.5, 0.5))
    assert searched({"defaults": (0.0, 0.0, 0.0), **votes}).surrogate_share is None


def test_only_studies_at_their_defaults_are_kept_between_points(monkeypatch):
    ran = []

    def run_study(paper, study, tier, means, sweep):
        ran.append((study, tier, sweep))
        return SimpleNamespace(tables=f"t {study}", is_random=True)

    monkeypatch.setattr(search, "run_study", run_study)
    target = Target("s", "net.rate")
    moved = parameter("p", 1, 2, default=1, sets=(target,))
    paper = SimpleNamespace(
        studies={"s": "S", "other": "O"},
        changes=lambda name, values: moved.changes(name, values.get("p", 1)),
        defaults=lambda name: moved.changes(name, 1),
    )
    runner = search._Runner.__new__(search._Runner)
    runner.space, runner.options, runner._results = SimpleNamespace(paper=paper), None, {}

    def study(name, values, *, rung=RUNGS[0], shift=0):
        return runner._study(name, f"sweep {values}", rung, values, shift)

    study("s", {})
    study("s", {"p": 1})
    study("s", {"p": 2})
    study("s", {"p": 2})
    study("other", {})
    study("other", {"p": 2})
    assert [name for name, _, _ in ran] == ["S", "S", "S", "O"]
    # Other seeds are other runs.
    study("s", {}, shift=search.SHIFT)
    study("s", {}, rung=RUNGS[1])
    assert len(ran) == 6


def test_rungs_are_compared_over_the_points_that_reached_both(monkeypatch):
    monkeypatch.setattr(agreement, "rungs", lambda space, tier: RUNGS)

    def point(*votes):
        return Tried({}, tuple({"a": a, "r1": r, "r2": r} for a, r in votes))

    found = SimpleNamespace(
        space=PointsOf(CLAIMS), tier="fast", defaults=point((0, 0), (0, 0), (1, 0)),
        tried=[point((1, 0)), point((1, 1), (1, 0)), Tried({}, (), "wrong")],
    )  # fmt: skip
    first, second = agreement.compare_rungs(found)
    assert (first.rung, first.following) == ("tier fast, 1 seed", "tier fast, 4 seeds")
    # The file of r1 and r2 has one vote: of four votes three are alike.
    assert (first.points, first.alike, first.spearman) == (2, 0.75, None)
    assert (second.points, second.alike) == (1, 0.5)
    assert first.to_dict()["following"] == "tier fast, 4 seeds"


def test_columns_of_a_forest_are_numbers_or_one_for_each_name():
    space = SimpleNamespace(
        parameters=(
            parameter("n", 1, 2.5, default=4),
            parameter("b", True, False, default=True),
            parameter("k", "x", "y", default="z"),
            parameter("t", default="3 ms", range={"from": 1, "to": 9, "unit": "ms"}),
        )
    )
    columns = surrogate._columns(space)
    assert columns == [("n", ""), ("b", "True"), ("b", "False"), ("k", "x"), ("k", "y"),
                       ("k", "z"), ("t", "")]  # fmt: skip
    points = [{"n": 2.5, "b": True, "k": "z", "t": "1,200.5 ms"},
              {"n": 4, "b": False, "k": "x", "t": "9 ms"}]  # fmt: skip
    assert surrogate._encode(columns, points).tolist() == [
        [2.5, 1, 0, 0, 0, 1, 1200.5], [4, 0, 1, 1, 0, 0, 9],
    ]  # fmt: skip


def test_a_forest_of_few_or_constant_values_is_their_mean_and_decides_nothing():
    space = SimpleNamespace(parameters=(parameter("n", 0, 1, default=0),))
    points = [{"n": i % 2} for i in range(8)]
    for at, values in [(points, [0.25] * 8), (points[:7], [0.0, 1, 0, 1, 0, 1, 0.5])]:
        fitted = surrogate.fit(space, at, values)
        assert (fitted.quality, fitted.decides) == (0.0, {})
        assert fitted.predict([1, 2]) == pytest.approx([np.mean(values)] * 2)


def test_a_small_forest_finds_what_decides_and_nothing_else(monkeypatch):
    monkeypatch.setattr(surrogate, "TREES", 20)
    space = SimpleNamespace(parameters=(parameter("n", 0, 1), parameter("k", 0, 1)))
    points = [{"n": i % 2, "k": i // 2 % 2} for i in range(24)]
    fitted = surrogate.fit(space, points, [float(point["n"]) for point in points])
    assert list(fitted.decides) == ["n"]
    assert fitted.quality == pytest.approx(1.0, abs=0.01)
    assert fitted.predict(points[:2]) == pytest.approx([0.0, 1.0], abs=0.01)
    noise = surrogate.fit(space, points, [float(i // 4 % 2) for i in range(24)])
    assert noise.decides == {}


def rows(*columns):
    """Rows by replicate of columns of points, as pairs."""
    return [
        {"at": point, "replicate": replicate, "x": x, "y": y}
        for point, column in enumerate(columns)
        for replicate, (x, y) in enumerate(column)
    ]


def test_ranks_are_of_means_over_replicates(monkeypatch):
    monkeypatch.setattr(estimates, "RESAMPLES", 300)
    # Means of x are 1, 2, 3 and 4, of y 0, 2, 1 and 3, whatever single replicates say.
    table = rows([(0, 9), (2, -9)], [(4, 2), (0, 2)], [(3, 1), (3, 1)], [(9, 3), (-1, 3)])
    assert rank_correlation(table, 0.95, is_exact=True) == pytest.approx((0.8, 0.8, 0.8))
    value, low, high = rank_correlation(table, 0.95, is_exact=False)
    assert value == pytest.approx(0.8)
    # Two replicates have no interval.
    assert np.isnan([low, high]).all()
    three = rows(*[[(i, -i)] * 3 for i in range(5)])
    assert rank_correlation(three, 0.95, is_exact=False) == pytest.approx((-1, -1, -1))
    flat = rows(*[[(i, 1)] * 3 for i in range(5)])
    assert np.isnan(rank_correlation(flat, 0.95, is_exact=False)).all()
    assert np.isnan(rank_correlation(rows([(1, 2)]), 0.95, is_exact=True)).all()
    # The interval is of draws of replicates: it reaches what one of three says alone.
    mixed = rows(*[[(i, i), (i, i), (i, -3 * i)] for i in range(5)])
    value, low, high = rank_correlation(mixed, 0.95, is_exact=False)
    assert (value, low, high) == pytest.approx((-1, -1, 1))


def test_half_widths_and_predictions_by_hand():
    # Two values 1 and 3: a deviation of sqrt 2, and t of 1 degree at 97.5 % is 12.706.
    (mean, low, high), width = prediction([1.0, 3.0], 1, 0.95)
    assert mean == 2.0
    assert high - mean == mean - low == pytest.approx(12.7062 * 2**0.5 * 1.5**0.5, rel=1e-5)
    assert width == pytest.approx(12.7062 * 1.5**0.5 / 1.959964, rel=1e-5)
    # A pooled deviation takes the place of that of the values.
    (mean, low, high), _ = prediction([5.0], 4, 0.95, Spread(2.0, 1))
    assert high - mean == pytest.approx(12.7062 * 2 * 1.25**0.5, rel=1e-5)
    half, low, high = half_width([1.0, 3.0], 2, 0.95)
    assert half == pytest.approx(12.7062, rel=1e-5)
    assert np.isnan([low, high]).all()
    assert half_width([1.0, 3.0], 2, 0.95, is_sample=False) == (half, half, half)
    assert np.isnan(half_width([1.0], 2, 0.95)).all()
    assert np.isnan(half_width([1.0, 3.0], 1, 0.95)).all()


class Result:
    """A claim's result, of which the verdict is known."""

    def __init__(self, verdict):
        self.verdict = verdict

    def to_dict(self):
        return {"measured": 1, "ci_low": 0, "ci_high": 2, "verdict": self.verdict, "reason": "",
                "other": "left out"}  # fmt: skip


def test_values_are_picked_by_their_share_on_their_scale():
    listed = parameter("p", "a", "b", "c")
    assert [pick_value(listed, share) for share in (0.0, 0.33, 0.34, 0.67, 1.0)] == [
        "a", "a", "b", "c", "c",
    ]  # fmt: skip
    line = parameter("p", range={"from": 10, "to": 20})
    assert [pick_value(line, share) for share in (0.0, 0.25, 1.0)] == [10, 12.5, 20]
    log = parameter("p", range={"from": 1, "to": 10000, "scale": "log", "unit": "ms"})
    assert [pick_value(log, share) for share in (0.0, 0.5, 1.0)] == ["1 ms", "100 ms", "10,000 ms"]
    assert pick_value(parameter("p", range={"from": 0, "to": 1}), 1 / 3) == 0.333


def test_one_parameter_at_a_time_then_pairs_are_tried():
    p, q = parameter("p", 1, 2, default=1), parameter("q", "x", "y", default="z")
    single = [{}, {"p": 2}, {"q": "x"}, {"q": "y"}]
    assert list(sensitivity_module._choices([p, q], pairs=False)) == single
    assert list(sensitivity_module._choices([p, q], pairs=True)) == [
        *single, {"p": 2, "q": "x"}, {"p": 2, "q": "y"},
    ]  # fmt: skip


def test_a_region_has_the_default_and_the_verdict_of_each_value_alone():
    p, q = parameter("p", 1, 2, default=1), parameter("q", "x", default="z")
    trials = [
        ({}, "reproduced"), ({"p": 2}, "deviates"), ({"q": "x"}, "reproduced"),
        ({"p": 2, "q": "x"}, "reproduced"),
    ]  # fmt: skip
    found = Sensitivity(
        SimpleNamespace(name="mine"), SimpleNamespace(id="c", statement="s"), "fast",
        tuple(Trial(values, Result(verdict)) for values, verdict in trials), (p, q),
        {"r": "no key"},
    )  # fmt: skip
    assert found.region == {
        "p": {"reproduced": [1], "deviates": [2]}, "q": {"reproduced": ["z", "x"]},
    }  # fmt: skip
    data = found.to_dict()
    assert data["trials"][1] == {"values": {"p": 2}, "measured": 1, "ci_low": 0, "ci_high": 2,
                                 "verdict": "deviates", "reason": ""}  # fmt: skip
    assert (data["claim"], data["fixed"]) == ("c", {"r": "no key"})
    assert [trial.label for trial in found.trials] == ["defaults", "p = 2", "q = x", "p = 2, q = x"]


def paper_of(*parameters, skipped=None):
    studies = {name: SimpleNamespace(skipped=skipped or {}) for name in ("s", "other")}
    claim = SimpleNamespace(id="c", not_checkable="", checks=[SimpleNamespace(measure="m")] * 2,
                            unstated=[p.id for p in parameters])  # fmt: skip
    why = SimpleNamespace(id="n", not_checkable="nothing is measured")
    return SimpleNamespace(
        name="mine", claims={"c": claim, "n": why}, studies=studies,
        parameters={p.id: p for p in parameters},
    )  # fmt: skip


def test_a_claim_that_rests_on_nothing_that_varies_is_refused():
    fixed = parameter("p", 1, not_settable="it has no key")
    with pytest.raises(UnsupportedError, match='no claim "d"; expected one of: c, n'):
        sensitivity(paper_of(), "d")
    with pytest.raises(UnsupportedError, match="n is not checkable: nothing is measured"):
        sensitivity(paper_of(), "n")
    with pytest.raises(UnsupportedError, match="can be varied: p: it has no key"):
        sensitivity(paper_of(fixed), "c")
    with pytest.raises(UnsupportedError, match=r"can be varied$"):
        sensitivity(paper_of(), "c")


def test_studies_that_values_do_not_touch_are_run_once_and_all_sweeps_are_made_first(monkeypatch):
    happened = []
    monkeypatch.setattr(sensitivity_module, "studies_of", lambda paper, *measures: ["s", "other"])
    monkeypatch.setattr(
        sensitivity_module, "sweep_of",
        lambda paper, study, tier, changes: happened.append(("sweep", tier, changes)),
    )  # fmt: skip
    monkeypatch.setattr(
        sensitivity_module, "run_study",
        lambda paper, study, tier, means, changes: happened.append(("run", tier, changes))
        or SimpleNamespace(tables=dict(changes), is_random=True),
    )  # fmt: skip

    class Database:
        def __init__(self, paper):
            self.tables = {}

        def add(self, name, tables):
            self.tables[name] = tables

    monkeypatch.setattr(sensitivity_module, "Database", Database)
    monkeypatch.setattr(
        sensitivity_module, "evaluate",
        lambda claim, database, random, missing, tier: SimpleNamespace(
            result=lambda reading: (dict(database.tables), random, missing)
        ),
    )  # fmt: skip
    monkeypatch.setattr(sensitivity_module, "choose", lambda paper, evaluations: None)
    p = parameter("p", 1, 2, default=1, sets=(Target("s", "net.rate"),))
    fixed = parameter("q", 1, not_settable="no key")
    said = []
    options = SimpleNamespace(report=said.append)
    found = sensitivity(paper_of(p, fixed), "c", tier="full", options=options)
    assert happened == [
        ("sweep", "full", {}), ("sweep", "full", {}), ("sweep", "full", {"net.rate": 2}),
        ("sweep", "full", {}), ("run", "full", {}), ("run", "full", {}),
        ("run", "full", {"net.rate": 2}),
    ]  # fmt: skip
    assert said == ["trial 1 of 2, defaults: study s", "trial 1 of 2, defaults: study other",
                    "trial 2 of 2, p = 2: study s"]  # fmt: skip
    assert [trial.result[0] for trial in found.trials] == [
        {"s": {}, "other": {}}, {"s": {"net.rate": 2}, "other": {}},
    ]  # fmt: skip
    assert found.fixed == {"q": "no key"}
    # A study that the tier leaves out is missing, and is not run.
    happened.clear()
    found = sensitivity(
        paper_of(p, skipped={"full": "too long"}), "c", tier="full", options=options
    )
    assert not [word for word, *_ in happened if word == "run"]
    assert found.trials[0].result == ({}, {}, {"s": "too long", "other": "too long"})


def test_the_text_of_a_search_says_whether_the_inferred_point_is_clear():
    def data(*, is_default, is_clear):
        scores = {"score_fitted": 0.75, "score_held_out": 0.5}
        return {
            "paper": "mine", "tier": "fast", "points": 8,
            "parameters": [{"id": "p", "is_pinned": True, "importance": 0.456}],
            "claims": [
                {"id": "c", "half": "fitted", "share": None, "verdict_defaults": None,
                 "verdict_inferred": "reproduced", "decides": ["p", "q"]},
                {"id": "d", "half": "held out", "share": 0.255, "verdict_defaults": "deviates",
                 "verdict_inferred": None, "decides": []},
            ],
            "accepted": {"share": 0.25, "low": 0.031, "high": 0.65},
            "inferred": {"values": {"p": "2 ms"}, "is_default": is_default, "is_clear": is_clear,
                         **scores},
            "defaults": {"values": {"p": 1}, "score_fitted": 0.25, "score_held_out": 0.125},
            "agreement": [{"text": "rungs agree"}],
            "conflicts": [{"claims": ["c", "d"], "misses": {"c": "2, expected 1"}}],
        }  # fmt: skip

    lines = summary(data(is_default=False, is_clear=True)).splitlines()
    assert lines[0] == "mine, tier fast: 8 points of 1 parameters, 2 claims"
    assert lines[-5:] == [
        "accepted: 25% of the design [3%, 65%]",
        "score of claims fitted and held out, on fresh seeds: inferred 0.75 and 0.50, defaults 0.25"
        " and 0.12",
        "the inferred point is clear: better than the defaults by a vote or more, and above chance,"
        " on claims it was not fitted to",
        "rungs agree",
        "conflict: c and d are met nowhere together; nearest miss: c: 2, expected 1",
    ]
    cells = [line.split() for line in lines]
    assert ["p", "1", "2", "ms", "yes", "0.46"] in cells
    assert ["c", "fitted", "-", "-", "reproduced", "p,", "q"] in cells
    assert ["d", "held", "out", "26%", "deviates", "-"] in cells
    assert "is the defaults" in summary(data(is_default=True, is_clear=False))
    assert "is not clear" in summary(data(is_default=False, is_clear=False))
