"""Parts of a search, by hand: rungs, plans, votes, conflicts, pins, agreement, the surrogate."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ackclock.errors import UnsupportedError
from ackclock.reproduce.check.queries import reads
from ackclock.reproduce.paper import Parameter
from ackclock.reproduce.read.folder import read
from ackclock.reproduce.run.judge import ExpectedRange, Part
from ackclock.reproduce.search import surrogate
from ackclock.reproduce.search.agreement import Agreement, compare_votes
from ackclock.reproduce.search.conflicts import find_conflicts
from ackclock.reproduce.search.design import (
    Rung,
    SearchPlan,
    count_survivors,
    halve_points,
    judge,
    rungs,
)
from ackclock.reproduce.search.pins import find_pin
from ackclock.reproduce.search.search import (
    PointJudgement,
    SearchResult,
    Tried,
    gain_p_value,
    score,
)
from ackclock.reproduce.search.space import Space, find_space
from ackclock.reproduce.search.votes import count_votes, describe_misses, join_votes


def space_of(*parameters, tiers=()):
    study = SimpleNamespace(document={"tiers": {name: {} for name in tiers}})
    paper = SimpleNamespace(studies={"s": study}, name="mine", about={})
    claims = (SimpleNamespace(id="a", made_from=""), SimpleNamespace(id="r1", made_from="t.csv"))
    return Space(paper, parameters, claims, {})


def test_rungs_of_every_tier():
    plain, first = space_of(), space_of(tiers=("first", "fast"))
    assert rungs(plain, "fast") == [Rung("fast", 1), Rung("fast", 2), Rung("fast", 0)]
    assert rungs(plain, "full") == [
        Rung("fast", 1), Rung("fast", 0), Rung("full", 1), Rung("full", 0),
    ]  # fmt: skip
    assert rungs(first, "fast") == [Rung("first", 1), Rung("first", 0)]
    assert rungs(first, "full") == [Rung("first", 1), Rung("first", 0), Rung("full", 1)]
    assert rungs(first, "first") == rungs(first, "fast")
    with pytest.raises(UnsupportedError, match="no study of mine states a tier first"):
        rungs(plain, "first")
    assert judge("full") == Rung("full", 0)
    assert [Rung("fast", seeds).text for seeds in (0, 1, 2)] == [
        "tier fast",
        "tier fast, 1 seed",
        "tier fast, 2 seeds",
    ]


def test_one_point_in_four_goes_on_and_of_the_first_tier_one_in_sixteen():
    fast, full, first = Rung("fast", 1), Rung("full", 1), Rung("first", 0)
    counts = [3, 4, 5, 16, 17, 20, 21, 64]
    assert [count_survivors(n, fast, full) for n in counts] == [3, 4, 4, 4, 5, 5, 6, 16]
    assert [count_survivors(n, Rung("first", 1), first) for n in counts] == [
        3,
        4,
        4,
        4,
        5,
        5,
        6,
        16,
    ]
    counts = [1, 2, 32, 33, 48, 49]
    assert [count_survivors(n, first, full) for n in counts] == [1, 2, 2, 3, 3, 4]
    assert halve_points(64, [fast, fast, full]) == [64, 16, 4]


def test_a_plan_costs_its_rungs_with_the_defaults_and_two_judgements():
    space = space_of(Parameter("p", "w", "r", Path(), values=(1, 2)))
    plan = SearchPlan(space, "fast", 64, (1.0, 2.0, 3.0, 10.0), 100.0)
    assert plan.sizes == [64, 16, 4]
    # 65 + 2 * 17 + 3 * 5 + 2 * 10
    assert plan.cpu_s == 134.0
    assert str(plan) == (
        "mine: 1 parameters, 2 claims\n"
        "tier fast, 1 seed: 64 points of 1 s; tier fast, 2 seeds: 16 points of 2 s; tier fast: 4"
        " points of 3 s; tier fast: 2 judgements of 10 s\n"
        "predicted: 2:14 of one core for what is not stored, more than the budget"
    )
    enough = SearchPlan(space, "fast", 64, plan.each, 134.0)
    assert str(enough).endswith("for what is not stored")
    assert enough.to_dict() == {
        "paper": "mine", "tier": "fast", "points": 64, "parameters": ["p"], "claims": ["a", "r1"],
        "cpu_s": 134.0, "budget_cpu_s": 134.0,
    }  # fmt: skip
    assert plan.command(["a b"], ["p"]) == (
        "ackclock forensics mine '--claim=a b' --vary=p --tier fast --points 64"
    )


def test_a_design_has_as_many_points_as_requested_spread_over_the_values():
    line = Parameter("p", "w", "r", Path(), range={"from": 0, "to": 8})
    space = space_of(line, Parameter("q", "w", "r", Path(), values=("x", "y"), default="y"))
    assert space.defaults == {"p": None, "q": "y"}
    for count in (1, 2, 3, 7, 8):
        assert len(space.design(count)) == count
    made = space.design(16)
    assert made == space.design(16)
    # A Sobol sequence of 16 has one point in each sixteenth, and half of a half.
    assert sorted(int(at["p"] * 2) for at in made) == list(range(16))
    assert sum(at["q"] == "x" for at in made) == 8
    assert space.prior(16) != made


def vote(outcome="met", value=1.0, goal=None, low=None, high=None, expected="e", name=""):
    return Part(name, value, low, high, 1, expected, outcome, "", goal)


@dataclass
class Check:
    ran: int = 0
    ours: str = ""
    reading: str = ""

    def counts(self, choice):
        return not self.reading or choice.get("n") == self.reading


@dataclass
class Measured:
    checks: Any
    id: str = "c"
    unmeasured: tuple = ()
    unjudged: str = ""
    claim: Any = field(init=False)

    def __post_init__(self):
        self.claim = SimpleNamespace(id=self.id, readings=())


TO_2 = ExpectedRange(0, 2, is_open=False, text="0 to 2")
PAPER = SimpleNamespace(readings={})


def votes(*checks, **more):
    return count_votes(PAPER, [Measured(checks, **more)]).get("c")


def test_a_claim_has_the_mean_vote_of_its_checks_and_a_check_of_its_numbers():
    inside, outside = vote(value=2.0, goal=TO_2), vote(value=3.0, goal=TO_2)
    nothing = vote(value=None, goal=TO_2)
    assert votes((Check(), (inside,))) == 1
    assert votes((Check(), (outside,))) == 0
    assert votes((Check(), (inside, outside, outside, nothing))) == pytest.approx(1 / 3)
    assert votes((Check(), (inside, outside)), (Check(), (inside,))) == 0.75
    # What informs does not vote, and who has no value abstains.
    assert votes((Check(), (inside,)), (Check(ours="yes"), (outside,))) == 1
    assert votes((Check(), (nothing,))) is None
    assert votes((Check(reading="b"), (inside,))) is None
    assert votes((Check(), (inside,)), unmeasured=(Check(),)) is None


def test_a_printed_number_of_runs_is_met_unless_its_interval_misses_it():
    wide = vote("undecided", value=3.0, goal=TO_2, low=1.0, high=5.0)
    assert votes((Check(ran=1), (wide,))) == 1
    assert votes((Check(ran=0), (wide,))) == 0
    assert votes((Check(ran=1), (vote("missed", value=1.0, goal=TO_2, low=0.9, high=1.1),))) == 0
    assert votes((Check(ran=1), (vote("missed", value=1.0, goal=TO_2),))) == 1


def test_truth_is_met_by_its_share():
    shares = {
        (value, expected): votes((Check(), (vote(value=value, expected=expected),)))
        for value in (0.5, 0.9, 1.0)
        for expected in ("always true", "mostly true")
    }
    assert shares == {
        (0.5, "always true"): 0, (0.9, "always true"): 0, (1.0, "always true"): 1,
        (0.5, "mostly true"): 0, (0.9, "mostly true"): 1, (1.0, "mostly true"): 1,
    }  # fmt: skip


def test_misses_list_up_to_three_numbers():
    def misses(count, **more):
        parts = tuple(vote(value=3.25, goal=TO_2, expected="0 to 2", **more) for _ in range(count))
        return describe_misses(PAPER, [Measured([(Check(), parts)])]).get("c")

    assert misses(0) is None
    assert misses(1) == "3.25, expected 0 to 2"
    assert misses(1, name="n") == "n: 3.25, expected 0 to 2"
    assert misses(3).count("3.25") == 3
    assert "more" not in misses(3)
    assert misses(5).endswith("3.25, expected 0 to 2; and 2 more")
    assert misses(5).count("3.25") == 3
    met = Measured(
        [(Check(), (vote(value=1.0, goal=TO_2),)), (Check(ours="yes"), (vote(value=9.0),))]
    )
    assert describe_misses(PAPER, [met]) == {}


def test_scores_are_means_over_those_that_vote():
    assert score({"a": 1.0, "b": 0.5}, ["a", "b", "c"]) == 0.75
    assert score({"a": 1.0}, ["b"]) == 0.0
    assert join_votes({"a": 1.0, "r": 0.0, "s": 0.5}, {"r": "t", "s": "t"}) == {"a": 1.0, "t": 0.25}


def tried(vote, wrong=""):
    return Tried({"p": vote}, () if wrong else ({"a": vote, "r1": 0.0},), wrong)


def found(best, ours, theirs, units=("a", "h1", "h2", "h3", "h4")):
    """A search of which five claims were held out, each with these votes."""
    return SearchResult(
        space_of(), "fast", 1.0, Tried({"p": -1}), (tried(1.0), tried(0.0), tried(0.5, "w")),
        ("t.csv",), units, best,
        PointJudgement(dict.fromkeys(units, ours), {"a": "reproduced", "r1": "reproduced"}),
        PointJudgement(dict.fromkeys(units, theirs), {}), (0,), surrogate.Surrogate(None, 0.0, {}),
        None, {}, (),
    )  # fmt: skip


def test_gains_are_compared_with_those_of_random_sign():
    # Of 2^5 signs one is as good; of 2^4 one too, which is more than 5 %.
    assert gain_p_value([1.0] * 5) == pytest.approx(1 / 32)
    assert gain_p_value([1.0] * 4) == pytest.approx(1 / 16)
    assert gain_p_value([1.0, 1.0, -1.0, 0.0]) == pytest.approx(0.5)
    assert gain_p_value([0.0]) == 1.0
    assert gain_p_value([1.0]) == 0.5


def test_votes_that_have_nothing_to_do_with_the_fit_are_rarely_clear():
    draws = np.random.default_rng(2).integers(-1, 2, size=(400, 12))
    clear = [row.sum() >= 1 and gain_p_value(row.tolist()) <= 0.05 for row in draws]
    # A whole vote alone: in about 0.4 of the draws.
    assert np.mean([row.sum() >= 1 for row in draws]) == pytest.approx(0.43, abs=0.07)
    assert np.mean(clear) <= 0.05 + 0.033


def test_a_best_point_is_clear_where_it_was_not_fitted():
    assert found(0, 1.0, 0.0).is_clear
    assert not found(0, 1.0, 0.0, ("a", "h1", "h2", "h3")).is_clear  # too few to be above chance
    assert not found(0, 0.19, 0.0).is_clear  # less than the vote of one claim
    assert not found(0, 0.5, 0.5).is_clear
    assert not found(-1, 1.0, 0.0).is_clear
    assert found(1, 0.9, 0.5).values == {"p": 0.0}
    assert found(0, 0.9, 0.5).values == {"p": 1.0}
    assert found(-1, 0.9, 0.5).values == {"p": -1}
    assert found(0, 0.9, 0.5).valid == [0, 1]
    assert found(0, 0.9, 0.5).share("a") == 0.5
    assert found(0, 0.9, 0.5).share("r1") == 0.0
    assert found(0, 0.9, 0.5).share("none") is None
    assert found(0, 1.0, 0.0).holds_inferred("a")
    # The claim of the half that was fitted is met too, as the point was chosen for that.
    assert not found(0, 1.0, 0.0).holds_inferred("r1")
    assert not found(0, 0.5, 0.5).holds_inferred("a")


def test_conflicts_need_three_points_by_chance_and_name_the_nearest():
    # Of 12 points, 6 meet a and 6 the other: chance gives 3.
    both = [{"a": 1.0, "b": 0.5}] * 6 + [{"a": 0.25, "b": 1.0}] * 5 + [{"a": 0.75, "b": 1.0}]
    (conflict,) = find_conflicts(both)
    assert conflict.expected == 3.0
    # The point whose worse vote is best, 0.75.
    assert (conflict.nearest, conflict.votes) == (11, {"a": 0.75, "b": 1.0})
    assert find_conflicts(both[1:]) == []
    misses = [{}] * 11 + [{"a": "2, expected 1", "x": "other"}]
    assert conflict.to_dict([{"p": i} for i in range(12)], misses) == {
        "claims": ["a", "b"],
        "expected": 3.0,
        "nearest": {"p": 11},
        "votes": {"a": 0.75, "b": 1.0},
        "misses": {"a": "2, expected 1"},
    }
    # Whose worse vote is best, not whose sum is: 0.7 and 0.7 before 0.5 and 1.
    even = [{"a": 1.0, "b": 0.5}] * 7 + [{"a": 0.5, "b": 1.0}] * 7 + [{"a": 0.7, "b": 0.7}]
    assert [conflict.nearest for conflict in find_conflicts(even)] == [14]
    # What is met everywhere is in no conflict.
    assert find_conflicts([{**at, "c": 1.0} for at in both]) == [conflict]


def test_pins_compare_shares_of_values_and_parts():
    names = Parameter("p", "w", "r", Path(), values=("x", "y", "z"))
    points = [{"p": name} for name in ("x", "x", "x", "x", "y", "y", "z", "z")]
    pin = find_pin(names, points, [True, True, True, False, True, False, False, False])
    assert pin.shares == {"x": 0.75, "y": 0.5, "z": 0.0}
    whole = find_pin(names, points, [True] * 8)
    assert whole.p == 1.0
    # None of the 2000 draws is as far; what was seen counts as one more, so that no p is 0.
    halves = [{"p": name} for name in ("x", "y") for _ in range(20)]
    apart = find_pin(names, halves, [at["p"] == "x" for at in halves])
    assert apart.p == pytest.approx(1 / 2001)
    line = Parameter("p", "w", "r", Path(), range={"from": 0, "to": 8, "unit": "ms"})
    values = [{"p": f"{value} ms"} for value in (0, 1, 2, 3.9, 4, 6, 8, 7.9)]
    pin = find_pin(line, values, [True, True, True, False, True, True, True, False])
    assert pin.shares == {
        "0 to 2 ms": 1.0, "2 to 4 ms": 0.5, "4 to 6 ms": 1.0, "6 to 8 ms": pytest.approx(2 / 3),
    }  # fmt: skip
    log = Parameter("p", "w", "r", Path(), range={"from": 1, "to": 10000, "scale": "log"})
    pin = find_pin(log, [{"p": v} for v in (1, 9, 11, 2000)], [True, True, False, True])
    assert pin.shares == {"1 to 10": 1.0, "10 to 100": 0.0, "1e+03 to 1e+04": 1.0}


def test_agreement_is_over_what_both_have():
    pairs = [({"a": 1.0, "b": 0.0}, {"a": 1.0, "b": 1.0, "c": 0.0}), ({"d": 1.0}, {"e": 1.0})]
    assert compare_votes(pairs) == (None, 0.5)
    assert compare_votes([]) == (None, 0.0)
    # Scores 0 1 2 3 against 0 2 1 3: 1 - 6 (1 + 1) / (4 * 15).
    four = [({"a": x}, {"a": y}) for x, y in ((0, 0), (1, 2), (2, 1), (3, 3))]
    assert compare_votes(four) == (pytest.approx(0.8), 0.5)
    flat = [({"a": 1.0}, {"a": float(i)}) for i in range(5)]
    assert compare_votes(flat) == (None, 0.2)
    assert str(Agreement("r", "s", 4, 0.8, 0.5)) == (
        "r and s: 50% of votes alike, rank correlation 0.80 over 4 points"
    )
    assert "rank correlation - over 3 points" in str(Agreement("r", "s", 3, None, 1.0))


@pytest.mark.slow
def test_a_forest_finds_the_parameter_that_decides():
    space = space_of(
        Parameter("n", "w", "r", Path(), range={"from": 0, "to": 1}, default=0.5),
        Parameter("k", "w", "r", Path(), values=("x", "y"), default="x"),
        Parameter("idle", "w", "r", Path(), values=(1, 2), default=1),
    )
    points = space.design(64)
    by_name = surrogate.fit(space, points, [float(at["k"] == "y") for at in points])
    assert list(by_name.decides) == ["k"]
    assert 0.9 < by_name.quality <= 1
    assert by_name.predict([{"n": 0.2, "k": "y", "idle": 1}])[0] > 0.9
    by_number = surrogate.fit(space, points, [float(at["n"] > 0.5) for at in points])
    assert list(by_number.decides) == ["n"]
    # Permuting what explains all of a coin's variance gives twice the variance in error.
    assert by_name.decides["k"] == pytest.approx(2, abs=0.5)
    # A half as strong as the other explains a fifth of the variance.
    both = [float(at["k"] == "y") + 0.5 * (at["n"] > 0.5) for at in points]
    found = surrogate.fit(space, points, both).decides
    assert list(found) == ["k", "n"]
    assert found["n"] == pytest.approx(0.4, abs=0.25)
    assert surrogate.fit(space, points[:8], both[:8]).quality != 0.0
    few = surrogate.fit(space, points[:7], [float(at["k"] == "y") for at in points[:7]])
    assert (few.quality, few.decides) == (0.0, {})
    assert few.predict(points[:3]) == pytest.approx(
        [np.mean([at["k"] == "y" for at in points[:7]])] * 3
    )
    flat = surrogate.fit(space, points, [2.0] * 64)
    assert (flat.quality, list(flat.predict(points[:2]))) == (0.0, [2.0, 2.0])


@pytest.mark.parametrize(("knowing", "decides"), [({0}, False), ({0, 1, 2, 3}, True)])
def test_a_parameter_that_decides_in_one_fold_alone_decides_nothing(monkeypatch, knowing, decides):
    """Folds are what is repeated: 0.4, 0, 0 and 0 are 0.1 on average, give or take 0.1."""
    ensemble = pytest.importorskip("sklearn.ensemble")

    class Forest:
        """One that knows what the second parameter does in some folds alone."""

        def __init__(self, trees, random_state, n_jobs):
            del trees, n_jobs
            self.knows = random_state in knowing

        def fit(self, x, y):
            del x, y

        def predict(self, x):
            return x[:, 0] + 0.5 * x[:, 1] * self.knows

    monkeypatch.setattr(ensemble, "RandomForestRegressor", Forest)
    x = np.random.default_rng(1).uniform(size=(400, 2))
    columns = [("first", ""), ("second", "")]
    found = surrogate._importance(columns, x, x[:, 0] + 0.5 * x[:, 1])
    assert "first" in found
    assert ("second" in found) == decides


def test_numbers_of_values_are_without_their_unit():
    assert [surrogate.as_number(value) for value in (3, 0.5, "12 ms", "10,000 ms")] == [
        3.0,
        0.5,
        12.0,
        10000.0,
    ]


def test_queries_are_one_select_over_named_tables():
    assert reads("SELECT x FROM s.t JOIN u.v USING (x)") == {("s", "t"), ("u", "v")}
    assert reads("WITH w AS (SELECT * FROM s.t) SELECT * FROM w") == {("s", "t")}
    assert reads("SELECT * FROM w") == {("", "w")}
    assert reads("SELECT 1; SELECT 2") == "the query is 2 statements; expected one SELECT"
    assert str(reads("DROP TABLE x")).startswith("the query is not one SELECT: ")


def test_an_erratum_has_no_vote_whatever_it_depends_on(paper):
    file = paper / "errata.toml"
    text = file.read_text(encoding="utf-8")
    own = "SELECT constant AS value FROM expected.constants"
    assert own in text
    loss = 'measure = "SELECT avg(goodput_bps) AS value FROM loss.flows"'
    at = text.index('measure = "')
    file.write_text(text[:at] + loss + text[text.index("\n", at) :], encoding="utf-8")
    chosen = {claim.id for claim in find_space(read(paper), "full").claims}
    assert chosen
    assert chosen == {claim.id for claim in find_space(read("example"), "full").claims}
