"""Pages of games and conformance suites, word for word, of findings made by hand."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest

from ackclock.experiments.statistics import Mean
from ackclock.studies.conform import judge as conform_judge
from ackclock.studies.conform import page
from ackclock.studies.conform.judge import ConformanceRow, bounds, expectation, meets
from ackclock.studies.game import report
from ackclock.studies.game.verdict import Findings, Gain, GameVerdict
from ackclock.studies.outcome import find_code_hash

NAN = math.nan


def mean(value, half=None):
    return Mean(value, *((NAN, NAN) if half is None else (value - half, value + half)))


def verdict(profile, payoffs, welfare, kind, *gains):
    named = {name: mean(value) for name, value in payoffs.items()}
    return GameVerdict(profile, named, mean(welfare), gains, kind)


NAMES = ("aimd", "cubic")


def test_the_page_of_a_game_has_conclusion_replies_and_profiles():
    judged = (
        verdict((2, 0), {"aimd": 5.0}, 10.0, "left",
                Gain("aimd", "cubic", mean(2.0, 0.5), 0.1)),
        verdict((1, 1), {"aimd": 3.0, "cubic": 7.0}, 10.5, "undecided",
                Gain("aimd", "cubic", mean(0.25), 0.1), Gain("cubic", "aimd", mean(-2.0), 0.1)),
        verdict((0, 2), {"cubic": 4.0}, 8.0, "equilibrium"),
    )  # fmt: skip
    replies = {
        "aimd": {"aimd": mean(5.0), "cubic": mean(7.0)},
        "cubic": {"cubic": mean(4.0)},
        "none": {},
    }
    text = report.text(
        "a game, 2 players", "goodput", 4, NAMES, {"wide": Findings(judged, replies, mean(1.25))}
    )
    assert text == (
        "a game, 2 players, payoff goodput (goodput in Mbit/s: linear in bandwidth), 4"
        " replications, 95 % intervals\n"
        "\n"
        "wide\n"
        "  nobody gains by moving from: 2 cubic\n"
        "  within noise, perhaps also from: 1 aimd + 1 cubic\n"
        "  best for all together: 1 aimd + 1 cubic\n"
        "  price of selfishness: 1.25 (best welfare / worst equilibrium)\n"
        "\n"
        "wide: payoff of one player\n"
        "all others play  one plays aimd  one plays cubic  best reply\n"
        "aimd                          5                7  cubic\n"
        "cubic                         -                4  cubic\n"
        "none                          -                -\n"
        "\n"
        "wide: payoff by strategy\n"
        "         profile  aimd  cubic   sum  verdict      largest gain\n"
        "          2 aimd     5      -    10  left         aimd to cubic: 2.00 ± 0.50\n"
        "1 aimd + 1 cubic     3      7  10.5  undecided    aimd to cubic: 0.25\n"
        "         2 cubic     -      4     8  equilibrium  -"
    )


def test_a_game_without_an_equilibrium_says_so_and_has_no_price():
    judged = (verdict((1, 0), {"aimd": 1.0}, 1.0, "left"),)
    text = report.text("head", "goodput", 1, NAMES, {"n": Findings(judged, {}, None)})
    assert text.split("\n\n")[1] == (
        "n\n  no profile is shown to be an equilibrium\n  best for all together: 1 aimd"
    )


def test_the_code_of_runs_is_the_first_that_is_stated():
    assert find_code_hash({}) is None
    assert find_code_hash({"a": {}, "b": {"user_code_hash": None}}) is None
    summaries = {"a": {"user_code_hash": ""}, "b": {"user_code_hash": "x"}}
    assert find_code_hash(summaries | {"c": {"user_code_hash": "y"}}) == "x"


def row(case, step, kind, *, why="", **more):
    return ConformanceRow(
        case, f"title {case}", step, "growth", ">= 2", "1.5", 1.5, kind, why, **more
    )


def test_a_sentence_has_place_advice_and_bound_where_there_are_any():
    assert row("1", 2, "fail").sentence == "1.2: growth: 1.5, expected >= 2."
    whole = row(
        "1", 2, "fail", why="RFC 5681", since_s=1.25, packet=1234, advice="count ACKs", ours="3"
    )
    assert whole.place == "from 1.250 s, packet 1,234"
    assert whole.sentence == (
        "1.2: growth: 1.5, expected >= 2 (ours 3), from 1.250 s, packet 1,234. Count ACKs. Bound:"
        " RFC 5681."
    )
    assert row("1", 2, "fail", since_s=0.0).place == "from 0.000 s"
    assert row("1", 2, "fail").place == ""


def test_the_table_of_a_suite_has_verdicts_and_the_reasons_of_failures():
    rows = [
        row("1", 1, "pass", why="not shown"),
        row("1", 2, "fail", why="RFC 5681"),
        row("2", 1, "not expressible", why="no such probe"),
        row("2", 2, "not expressible", why="no such probe"),
        row("3", 1, "fail"),
        row("4", 1, "fail", advice="count ACKs", since_s=1.0),
    ]
    verdicts = {"1": "fail", "2": "not expressible", "3": "fail", "4": "fail"}
    assert page.text("head", rows, verdicts, "answer") == (
        "head\n"
        "\n"
        "case  step  check   expected  measured  verdict\n"
        "   1     1  growth  >= 2           1.5  pass\n"
        "   1     2  growth  >= 2           1.5  fail\n"
        "   2     1  growth  >= 2           1.5  not expressible\n"
        "   2     2  growth  >= 2           1.5  not expressible\n"
        "   3     1  growth  >= 2           1.5  fail\n"
        "   4     1  growth  >= 2           1.5  fail\n"
        "\n"
        "   1  fail             title 1\n"
        "   2  not expressible  title 2\n"
        "   3  fail             title 3\n"
        "   4  fail             title 4\n"
        "\n"
        "1.2: RFC 5681\n"
        "2.1: no such probe\n"
        "2.2: no such probe\n"
        "4.1: growth: 1.5, expected >= 2, from 1.000 s. Count ACKs.\n"
        "\n"
        "answer"
    )


def test_a_column_of_ours_is_there_if_a_row_has_it():
    text = page.text("h", [row("1", 1, "pass", ours="9"), row("1", 2, "pass")], {"1": "pass"}, "a")
    assert text == (
        "h\n\n"
        "case  step  check   expected  measured  ours  verdict\n"
        "   1     1  growth  >= 2           1.5     9  pass\n"
        "   1     2  growth  >= 2           1.5        pass\n\n"
        "   1  pass             title 1\n\na"
    )


def test_junit_has_a_test_for_each_case_and_counts_failures_and_skips():
    rows = [
        row("1", 1, "pass"), row("2", 1, "fail"), row("2", 2, "pass"), row("2", 3, "fail"),
        row("3", 1, "undecided", why="ours fails too"), row("4", 1, "not expressible", why="none"),
    ]  # fmt: skip
    verdicts = {"1": "pass", "2": "fail", "3": "undecided", "4": "not expressible"}
    lines = page.junit("rfc", "mine", rows, verdicts).splitlines()
    assert lines[1:] == [
        '<testsuite name="ackclock conform rfc mine" tests="4" failures="1" skipped="2"'
        ' errors="0">',
        '  <testcase classname="conform.rfc" name="1 title 1" />',
        '  <testcase classname="conform.rfc" name="2 title 2">',
        '    <failure message="step 1, growth: expected &gt;= 2, measured 1.5" type="check">step 1,'
        " growth: expected &gt;= 2, measured 1.5",
        "step 3, growth: expected &gt;= 2, measured 1.5</failure>",
        "  </testcase>",
        '  <testcase classname="conform.rfc" name="3 title 3">',
        '    <skipped message="ours fails too" />',
        "  </testcase>",
        '  <testcase classname="conform.rfc" name="4 title 4">',
        '    <skipped message="none" />',
        "  </testcase>",
        "</testsuite>",
    ]


@pytest.mark.parametrize(
    ("goal", "passes", "fails"),
    [
        ({"at_least": 2}, [2.0, 3.0], [1.999, "2"]),
        ({"at_most": 2}, [2.0, -5.0], [2.001]),
        ({"above": 2}, [2.001], [2.0]),
        ({"below": 2}, [1.999], [2.0]),
        ({"between": [1, 2]}, [1.0, 2.0], [0.999, 2.001]),
        ({"equals": 4, "tolerance": 0.5}, [3.5, 4.5], [3.499, 4.501]),
        ({"equals": -4, "tolerance": "25%"}, [-5.0, -3.0], [-5.001, -2.999]),
        ({"is": "open"}, ["open"], ["shut", 1.0]),
        ({"is": ["open", 3]}, ["open", 3.0], ["3", 4.0]),
    ],
)
def test_goals_include_their_bounds_unless_they_say_above_or_below(goal, passes, fails):
    assert [meets(goal, value) for value in passes] == [True] * len(passes)
    assert [meets(goal, value) for value in fails] == [False] * len(fails)


def test_a_goal_of_one_side_has_no_bound_on_the_other():
    assert bounds({"at_least": 2}) == (2.0, math.inf)
    assert bounds({"below": 3}) == (-math.inf, 3.0)
    assert bounds({"equals": 10, "tolerance": "5%"}) == (9.5, 10.5)


@pytest.mark.parametrize(
    ("goal", "unit", "text"),
    [
        ({"at_least": 2}, "s", ">= 2 s"),
        ({"at_most": 2.5}, "", "<= 2.5"),
        ({"above": 1e6}, "bit/s", "> 1,000,000 bit/s"),
        ({"below": 0}, "", "< 0"),
        ({"between": [1, 2]}, "s", "1 to 2 s"),
        ({"equals": 4, "tolerance": 0.5}, "", "3.5 to 4.5"),
        ({"is": ["open", "shut"]}, "s", "open or shut"),
        ({"is": 3}, "", "3"),
    ],
)
def test_what_is_expected_is_written_with_its_unit(goal, unit, text):
    assert expectation(SimpleNamespace(goal=goal, unit=unit)) == text


def test_an_event_that_did_not_happen_is_later_than_any_run():
    # Thirty years.
    assert conform_judge.NEVER == 1e9
