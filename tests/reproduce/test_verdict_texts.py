"""What verdicts say, and the classes of claims: every branch of the rules, by hand."""

from __future__ import annotations

import json
import math
from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.errors import AckclockError
from ackclock.reproduce.paper import Parameter
from ackclock.reproduce.run.classify import find_standing
from ackclock.reproduce.run.estimates import (
    Estimate,
    Spread,
    half_width,
    prediction,
    rank_correlation,
)
from ackclock.reproduce.run.inference import ClaimFound, Inference, load, paper_hash
from ackclock.reproduce.run.judge import ExpectedRange, Part, compare, judge, target
from ackclock.reproduce.run.layers import DrawnLayer, csv_columns, order_values
from ackclock.reproduce.run.measure import ClaimResult
from ackclock.reproduce.run.readings import choose
from ackclock.reproduce.run.sensitivity import pick_value, plausible, write_value, written
from ackclock.reproduce.run.wording import write_measured


@pytest.mark.parametrize(
    ("expect", "low", "high", "is_open", "text"),
    [
        ({"equals": 2, "tolerance": 0.5}, 1.5, 2.5, False, "2 ± 0.5"),
        ({"equals": -8, "tolerance": "25 %"}, -10, -6, False, "-8 ± 25 %"),
        ({"equals": 3, "tolerance": 0}, 3, 3, False, "3"),
        ({"between": [1, 2.5]}, 1, 2.5, False, "1 to 2.5"),
        ({"at_least": 4}, 4, math.inf, False, "at least 4"),
        ({"above": 4}, 4, math.inf, True, "above 4"),
        ({"at_most": 4}, -math.inf, 4, False, "at most 4"),
        ({"below": 4}, -math.inf, 4, True, "below 4"),
        ({"holds": "always"}, -math.inf, math.inf, False, "always true"),
    ],
)
def test_what_is_expected_is_a_set_of_numbers(expect, low, high, is_open, text):
    assert target(expect, {}) == ExpectedRange(low, high, is_open, text)


def test_a_set_has_its_ends_unless_it_is_open():
    closed, opened = ExpectedRange(1, 2, False, "t"), ExpectedRange(1, 2, True, "t")
    assert [closed.has(x) for x in (0.99, 1, 1.5, 2, 2.01)] == [False, True, True, True, False]
    assert [opened.has(x) for x in (1, 1 + 1e-13, 1.5, 2)] == [False, True, True, False]
    # Rounding is relative to the larger end, and to 1 at least.
    assert closed.has(2 + 1.9e-12)
    assert not closed.has(2 + 2.1e-12)
    assert ExpectedRange(0, 0.1, False, "t").has(0.1 + 0.9e-12)
    assert not ExpectedRange(0, 0.1, False, "t").has(0.1 + 1.1e-12)
    assert ExpectedRange(-5e3, 1, False, "t").has(1 + 4e-9)
    assert ExpectedRange(1, math.inf, False, "t").ends == [1]
    assert ExpectedRange(-math.inf, 3, False, "t").ends == [3]
    assert closed.ends == [1, 2]
    # A number is within bounds, but simply is one number, or at least some.
    assert (closed.within, ExpectedRange(1, 1, False, "1").within) == ("within t", "1")
    assert ExpectedRange(1, math.inf, False, "at least 1").within == "at least 1"


AT_LEAST_2 = ExpectedRange(2, math.inf, False, "at least 2")
ABOVE_2 = ExpectedRange(2, math.inf, True, "above 2")
BELOW_2 = ExpectedRange(-math.inf, 2, True, "below 2")
TO_3 = ExpectedRange(2, 3, False, "2 to 3")


@pytest.mark.parametrize(
    ("ends", "goal", "outcome"),
    [
        ((2, 5), AT_LEAST_2, "met"),
        ((1, 2), AT_LEAST_2, "undecided"),
        ((1, 1.9), AT_LEAST_2, "missed"),
        ((2, 5), ABOVE_2, "undecided"),
        ((2.1, 5), ABOVE_2, "met"),
        ((1, 2), ABOVE_2, "missed"),
        ((1, 2.1), ABOVE_2, "undecided"),
        ((1, 2), BELOW_2, "undecided"),
        ((2, 3), BELOW_2, "missed"),
        ((0, 1.9), BELOW_2, "met"),
        ((2, 3), TO_3, "met"),
        ((1, 2), TO_3, "undecided"),
        ((3, 4), TO_3, "undecided"),
        ((1, 4), TO_3, "undecided"),
        ((3.1, 4), TO_3, "missed"),
        ((0, 1.9), TO_3, "missed"),
    ],
)
def test_intervals_are_met_missed_or_undecided(ends, goal, outcome):
    part = compare("n", Estimate(sum(ends) / 2, *ends), 4, goal)
    assert part.outcome == outcome
    assert (part.name, part.low, part.high, part.count, part.goal) == ("n", *ends, 4, goal)


def test_reasons_name_the_interval_and_the_bounds():
    def why(goal, *found, count=4):
        return compare("", Estimate(*found), count, goal).why

    assert why(TO_3, 2.5, 2.25, 2.75) == "the interval 2.25 to 2.75 is within 2 to 3"
    assert why(AT_LEAST_2, 5, 5, 5) == "5 is at least 2"
    assert why(AT_LEAST_2, 1, 1, 1) == "1 is not at least 2"
    assert why(TO_3, 3, 2.5, 3.5) == (
        "the interval 2.5 to 3.5 is not all within 2 to 3, nor all out of it; more replicates"
        " narrow it"
    )
    assert why(TO_3, math.nan, 1, 2) == "it has no value here"
    reported = "one replicate of a random study has no interval; run more"
    assert why(TO_3, 2, math.nan, 3, count=1) == reported
    assert why(TO_3, 2, 2, math.nan, count=2) == reported.replace("one replicate", "2 replicates")
    assert compare("", Estimate(2.0, math.nan, math.nan), 1, TO_3).measured == 2.0
    assert compare("", Estimate(math.nan, 1, 2), 1, TO_3).measured is None


def test_a_printed_number_is_reported_with_its_prediction_interval():
    # Mean 2, no deviation: 2 to 2; of six runs that is narrow enough.
    met = judge("", [2.0] * 6, {"at_least": 2}, {}, is_exact=False, ran=1)
    assert met.outcome == "met"
    assert met.why == "the prediction interval of one run, 2 to 2, reaches at least 2"
    missed = judge("", [2.0] * 6, {"at_least": 2.5}, {}, is_exact=False, ran=3)
    assert missed.why == (
        "the prediction interval of a mean of 3 runs, 2 to 2, does not reach at least 2.5"
    )
    few = judge("", [1.9, 2.1], {"at_least": 2}, {}, is_exact=False, ran=1)
    # t(0.975, 1) = 12.7062 times sqrt(1 + 1/2), over 1.95996.
    assert few.why.endswith("is 7.94 times as wide as with endless replicates; run more")
    alone = judge("", [2.0], {"at_least": 2}, {}, is_exact=False, ran=1)
    assert alone.why == "one replicate of a random study has no interval; run more"
    assert (alone.measured, alone.low, alone.outcome) == (2.0, None, "undecided")
    # At a bound an interval reaches it, from either side.
    for expect, outcome in [({"at_most": 2}, "met"), ({"at_most": 1.99}, "missed")]:
        assert judge("", [2.0] * 6, expect, {}, is_exact=False, ran=1).outcome == outcome


def test_shares_of_truth_are_reported():
    def truth(values, holds, **more):
        part = judge("", values, {"holds": holds}, {}, is_exact=more.get("is_exact", False))
        return part.outcome, part.measured, part.why

    assert truth([True, False], "mostly", is_exact=True) == ("missed", 0.5, "true in 50%")
    assert truth([True, True, False], "mostly", is_exact=True)[0] == "met"
    assert truth([True, True, False], "always", is_exact=True)[0] == "missed"
    assert truth([True, True], "always", is_exact=True) == ("met", 1.0, "true in 100%")
    assert truth([True] * 9 + [False], "always")[2] == "true in 9 of 10 replicates"
    assert truth([True] * 5 + [False] * 5, "mostly") == (
        "undecided",
        0.5,
        "true in 5 of 10 replicates, which does not show that it is more often true than not",
    )


def test_an_exact_number_needs_no_interval_and_numbers_that_differ_do():
    same = judge("", [2.0, 2.0], {"at_least": 2}, {}, is_exact=True)
    assert (same.low, same.high, same.count, same.outcome) == (2.0, 2.0, 2, "met")
    # A grid that somebody chose is no sample: its values are all there is.
    apart = judge("", [1.0, 3.0], {"at_least": 1}, {}, is_exact=True)
    assert (apart.measured, apart.low, apart.high, apart.outcome) == (2.0, 1.0, 3.0, "met")
    given = judge(
        "", [1.0, 2.0, 6.0], {"at_least": 1}, {}, is_exact=False, query_interval=(2.0, 4.0)
    )
    assert (given.measured, given.low, given.high) == (3.0, 2.0, 4.0)
    skew = [0.0, 0.0, 0.0, 0.0, 10.0]
    boot = judge("", skew, {"at_least": 0}, {}, is_exact=False, method="bootstrap")
    assert boot.low >= 0 > judge("", skew, {"at_least": 0}, {}, is_exact=False).low
    lost = judge("", [], {"at_least": 1}, {}, is_exact=False)
    assert (lost.outcome, lost.count) == ("undecided", 0)
    nan = judge("", [math.nan, 1.0], {"at_least": 1}, {}, is_exact=False)
    assert nan.why == "the measure has no value in 1 of 2 replicates"


# Estimates


def test_estimates_of_too_few_have_no_interval():
    assert all(math.isnan(value) for value in half_width([1.0], 5, 0.95))
    assert all(math.isnan(value) for value in half_width([1.0, 2.0], 1, 0.95))
    assert half_width([1.0, 3.0], 2, 0.95).value == pytest.approx(12.7062, rel=1e-5)
    found, width = prediction([4.0], 1, 0.95)
    assert (found.value, math.isnan(found.low), width) == (4.0, True, math.inf)
    # A pooled deviation needs no second value: 4 ± t(0.975, 36) 0.5 sqrt(1/4 + 1).
    found, _ = prediction([4.0], 4, 0.95, Spread(0.5, 36))
    assert found.high - 4 == pytest.approx(2.02809 * 0.5 * 1.25**0.5, rel=1e-5)


def rows(values):
    return [
        {"at": at, "replicate": r, "x": x, "y": y}
        for r, replicate in enumerate(values)
        for at, (x, y) in enumerate(replicate)
    ]


@pytest.mark.slow
def test_rank_correlations_by_hand():
    # Ranks 1 2 3 against 1 3 2: 1 - 6 (0 + 1 + 1) / (3 * 8).
    one = [(1.0, 10.0), (2.0, 30.0), (5.0, 20.0)]
    exact = rank_correlation(rows([one]), 0.95, is_exact=True)
    assert exact == pytest.approx((0.5, 0.5, 0.5))
    # Means over replicates: y is 10, 15 and 20, in order.
    two = [(1.0, 10.0), (2.0, 0.0), (5.0, 20.0)]
    found = rank_correlation(rows([one, two]), 0.95, is_exact=False)
    assert found.value == pytest.approx(1)
    assert math.isnan(found.low)
    three = rank_correlation(rows([one, two, two]), 0.95, is_exact=False)
    assert not math.isnan(three.low)
    assert math.isnan(rank_correlation(rows([one[:1]]), 0.95, is_exact=True).value)
    flat = [(3.0, 1.0), (3.0, 2.0)]
    assert math.isnan(rank_correlation(rows([flat]), 0.95, is_exact=True).value)
    pair = rank_correlation(rows([[(1.0, 2.0), (3.0, 1.0)]]), 0.95, is_exact=True)
    assert pair.value == pytest.approx(-1)


@pytest.mark.slow
def test_ends_of_a_rank_correlation_are_the_outer_fortieths_of_bootstrap_samples():
    # Two places. Only samples of the third replicate alone turn the order: one in 27, or 3.7 %.
    for sign in (1.0, -1.0):
        values = [[(0.0, 0.0), (1.0, sign * rise)] for rise in (1.0, 1.0, -0.4)]
        found = rank_correlation(rows(values), 0.95, is_exact=False)
        assert found == pytest.approx((sign, -1.0, 1.0))
        narrower = rank_correlation(rows(values), 0.9, is_exact=False)
        assert narrower == pytest.approx((sign, sign, sign))


# Classes


def result(**changes):
    claim = {"id": "c", "kind": "N", "refuted_by": (), "not_public": "", "same_as": ()}
    given = {"verdict": "deviates", "outcome": "missed", "reason": "r", "reading": {}}
    given |= {key: value for key, value in changes.items() if key in (*given, "is_exact")}
    claim |= {key: value for key, value in changes.items() if key in claim}
    return SimpleNamespace(claim=SimpleNamespace(**claim), **given)


def test_every_class_of_a_claim_has_its_reason():
    def found(share, is_inferred=False, decides=("p",), points=64, alike=0.9):
        one = ClaimFound(share, is_inferred, decides, points=points, alike=alike)
        return Inference({"p": 2}, {"c": one})

    def standing(one, inference=None, **others):
        made = find_standing(one, others, inference)
        return made.name, made.reason, made.share, made.decides

    holds = result(verdict="reproduced", outcome="met", reading={"n": "a"})
    assert standing(holds) == ("holds", "met at the default settings, n read as a", None, ())
    assert standing(holds, found(0.5))[2:] == (0.5, ("p",))
    shown = standing(result(verdict="reproduced", kind="E"))
    assert shown[:2] == (
        "erratum", "shown here: the paper contradicts itself, or cannot be so",
    )  # fmt: skip
    assert standing(result(kind="E"))[0] == "open"
    again = result(verdict="not-checkable", outcome=None, same_as=("a", "b"))
    assert standing(again)[:2] == ("repeats", "says again what a and b says, and is judged there")
    refuted = result(refuted_by=("e", "f"))
    proof = result(verdict="reproduced", is_exact=True)
    assert standing(refuted, e=proof)[:2] == (
        "paper-error",
        "e proves it wrong: met, and nothing random is behind it",
    )
    chance = result(verdict="reproduced", is_exact=False)
    failed = result(verdict="deviates", is_exact=True)
    assert standing(refuted, e=chance, f=failed)[0] == "open"
    assert standing(result(not_public="data"))[:2] == ("not-public", "it rests on data")
    assert standing(result(outcome=None))[:2] == ("not-judged", "r")
    one = ClaimFound(0.9, False, (), is_met_cheaply=True, points=64, alike=0.9)
    cheap = Inference({"p": 2}, {"c": one})
    assert standing(result(), cheap)[:2] == (
        "open",
        "deviates at the default settings; the search's cheap runs say nothing of it, for they meet"
        " it there",
    )
    assert standing(result(outcome="undecided"), cheap)[0] == "undetermined"
    assert standing(result(), found(0.1, is_inferred=True))[:2] == (
        "holds-inferred",
        "met on fresh seeds at the inferred settings (p = 2)",
    )
    assert standing(result(), found(0.25))[:2] == (
        "undetermined",
        "holds in 25% of the plausible settings that were tried; p decide",
    )
    assert standing(result(), found(0.25, decides=()))[1].endswith("that were tried")
    assert standing(result(), found(0.0)) == (
        "open", "deviates at the default settings; met nowhere in the space searched", 0.0, ("p",)
    )  # fmt: skip
    assert standing(result(outcome="undecided", verdict="not-checkable"))[:2] == (
        "open",
        "undecided at the default settings; no search was made",
    )
    changed = Inference({"p": 2}, {}, "full", ("c",))
    assert standing(result(), changed)[1].endswith("by other rules or runs and says nothing of it")


def test_a_share_leaves_a_claim_undetermined_only_beyond_chance_and_noise():
    def standing(met, points, alike):
        one = ClaimFound(met / points, False, (), points=points, alike=alike)
        made = find_standing(result(), {}, Inference({"p": 2}, {"c": one}))
        return made.name, made.reason.partition("; ")[2]

    # One in 128, as noise gives too: P(at least 1 of 128 at 5 %) = 1 - 0.95^128 = 0.9986.
    assert standing(1, 128, 0.9) == (
        "open", "met in 1% of the settings tried, no more than chance gives",
    )  # fmt: skip
    # P(at least 11 of 128 at 5 %) = 0.0575, of 12 0.0276, by the binomial distribution.
    assert standing(11, 128, 0.9)[0] == "open"
    assert standing(12, 128, 0.9)[0] == "undetermined"
    assert standing(64, 128, 0.8)[0] == "undetermined"
    assert standing(64, 128, 0.79) == (
        "open",
        "met in 50% of the settings tried, by cheap runs whose votes agree too little with dearer"
        " ones (79%)",
    )
    assert standing(64, 128, None)[1].endswith("(not known)")


def test_the_best_settings_count_only_in_the_tier_in_which_they_were_judged():
    one = ClaimFound(None, False, (), is_met_at_best=True)
    search = Inference({"p": 2}, {"c": one}, "fast")
    assert find_standing(result(), {}, search, "fast").name == "undetermined"
    made = find_standing(result(), {}, search, "full")
    assert made.name == "open"
    assert made.reason.endswith("only the runs of full length judge it in tier fast")


def numbers(*parts):
    claim = SimpleNamespace(known_deviation="")
    return ClaimResult(claim, parts, "deviates", "r")


def test_what_was_measured_is_that_of_the_number_that_decides():
    def part(value, outcome, **more):
        return Part("", value, value, value, 1, "", outcome, "", **more)

    assert write_measured(numbers()) == "-"
    assert write_measured(numbers(part(2.0, "met"))) == "2"
    parts = (part(2.0, "met"), part(3.0, "undecided"), part(4.0, "missed"))
    assert write_measured(numbers(*parts)) == "4; 1 of 3 met"
    assert write_measured(numbers(*parts[:2])) == "3; 1 of 2 met"
    # What the paper does not say decides nothing, and is not counted.
    assert write_measured(numbers(parts[0], part(9.0, "missed", ours=True))) == "2"


def test_orders_are_counted_by_outcome_and_by_the_side_of_the_estimate():
    def part(value, low, high):
        return compare("", Estimate(value, low, high), 4, AT_LEAST_2)

    found = numbers(
        part(3.0, 2.5, 3.5), part(2.1, 1.0, 3.2), part(1.9, 1.0, 2.8), part(1.0, 0.5, 1.5)
    )
    assert found.orders == {"met": 1, "missed": 1, "undecided": 2, "right": 2}
    truths = [judge("", [True] * count + [False], {"holds": "mostly"}, {}, is_exact=False)
              for count in (1, 2)]  # fmt: skip
    assert numbers(*truths).orders["right"] == 1


def test_readings_are_chosen_by_what_is_met_then_by_what_is_missed():
    def claim(outcomes, readings=("n",), unjudged=""):
        return SimpleNamespace(
            claim=SimpleNamespace(readings=readings),
            unjudged=unjudged,
            outcome=lambda choice: outcomes[choice["n"]],
        )

    options = SimpleNamespace(options={"a": "", "b": ""})
    paper = SimpleNamespace(readings={"n": options})

    def chosen(*claims):
        return choose(paper, claims)["n"]

    assert chosen(claim({"a": "missed", "b": "met"})) == "b"
    assert chosen(claim({"a": "undecided", "b": "undecided"})) == "a"
    assert chosen(claim({"a": "missed", "b": "undecided"})) == "b"
    # What is not measured counts like what is missed.
    assert chosen(claim({"a": None, "b": "undecided"})) == "b"
    assert chosen(claim({"a": "missed", "b": None})) == "a"
    one, other = claim({"a": "met", "b": "missed"}), claim({"a": "missed", "b": "met"})
    assert chosen(one, other) == "a"
    assert chosen(one, other, other) == "b"
    assert chosen(claim({"a": "missed", "b": "met"}, unjudged="why")) == "a"


# Values


def test_values_at_a_share_of_the_way_by_hand():
    def ranged(**entry):
        return Parameter("p", "w", "r", Path(), range=entry)

    line = ranged(**{"from": 10, "to": 20})
    assert [pick_value(line, share) for share in (0, 0.25, 1)] == [10.0, 12.5, 20.0]
    log = ranged(**{"from": 1, "to": 10000, "scale": "log", "unit": "ms"})
    assert [pick_value(log, share) for share in (0.0, 0.5, 1.0)] == ["1 ms", "100 ms", "10,000 ms"]
    assert pick_value(ranged(**{"from": 0, "to": 1}), 0.123456) == 0.123
    assert plausible(line) == [10.0, 15.0, 20.0]
    listed = Parameter("p", "w", "r", Path(), values=("x", "y", "z"))
    assert plausible(listed) == ["x", "y", "z"]
    assert [pick_value(listed, share) for share in (0.0, 0.33, 0.34, 0.67, 1.0)] == [
        "x", "x", "y", "z", "z",
    ]  # fmt: skip
    assert written({"a": "10 ms", "b": [1, 2]}) == "a = 10 ms, b = [1, 2]"
    assert written({}) == "defaults"
    assert write_value(True) == "true"


def test_values_come_once_and_the_named_ones_first():
    assert order_values(["b", "a", "c", "a"]) == ["b", "a", "c"]
    assert order_values(["b", "a", "c", "a"], ["c", "x", "a"]) == ["c", "a", "b"]


def test_rows_behind_a_figure_have_intervals_and_layers_if_there_are_any():
    figure = SimpleNamespace(entry={"kind": "line"})
    plain = [DrawnLayer({"x": 1, "y": 2.0}, math.nan, math.nan, 1)]
    assert csv_columns(figure, {"data": plain}) == [{"x": 1, "y": 2.0}]
    both = {"data": [DrawnLayer({"x": 1, "y": 2.0, "low": 0}, 1.5, 2.5, 4)], "printed": plain}
    assert csv_columns(figure, both) == [
        {"layer": "data", "x": 1, "y": 2.0, "low": 1.5, "high": 2.5, "replicates": 4},
        {"layer": "printed", "x": 1, "y": 2.0, "low": None, "high": None, "replicates": 1},
    ]
    figure.entry["kind"] = "map"
    assert csv_columns(figure, {"data": both["data"]}) == [{"x": 1, "y": 2.0}]


# Results of searches


def test_the_result_of_a_search_is_read_only_for_the_paper_that_it_is_of(tmp_path):
    folder = tmp_path / "paper"
    (folder / "scenarios").mkdir(parents=True)
    (folder / "claims.toml").write_text("[[claim]]\nid = 'a'\n")
    (folder / "scenarios" / "s.toml").write_text("reps = 2")
    (folder / "README.md").write_text("no part of it")
    paper = SimpleNamespace(folder=folder, name="mine", claims={})
    whole = paper_hash(paper)
    (folder / "README.md").write_text("changed")
    assert paper_hash(paper) == whole
    # A search varies all parameters, whichever a claim names.
    (folder / "claims.toml").write_text("[[claim]]\nid = 'a'\nnote = 'n'\nunstated = ['p']\n")
    assert paper_hash(paper) == whole
    data = {
        "paper_hash": whole,
        "inferred": {"values": {"p": 1, "q": "x"}},
        "claims": [
            {"id": "a", "share": 0.5, "holds_inferred": True, "decides": ["p"]},
            {"id": "b", "share": None, "holds_inferred": False, "decides": []},
        ],
    }
    assert load(paper) is None
    with pytest.raises(AckclockError, match=r"none\.json: No such file.*expected a forensics.json"):
        load(paper, tmp_path / "none.json")
    (folder / "forensics.json").write_text(json.dumps(data))
    for given in (None, folder, folder / "forensics.json"):
        found = load(paper, given)
        assert found.claims == {
            "a": ClaimFound(0.5, True, ("p",)),
            "b": ClaimFound(None, False, ()),
        }
        assert found.point_text == "p = 1, q = x"
    for broken in ("{", "[]", json.dumps({**data, "claims": [{"id": "a"}]})):
        (tmp_path / "b.json").write_text(broken)
        with pytest.raises(AckclockError, match="is not the result of a search; expected a"):
            load(paper, tmp_path / "b.json")
    (folder / "scenarios" / "s.toml").write_text("reps = 3")
    assert paper_hash(paper) != whole
    with pytest.raises(AckclockError, match="run ackclock forensics mine again"):
        load(paper)
