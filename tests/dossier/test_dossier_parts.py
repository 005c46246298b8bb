"""Parts of dossiers and comparisons by hand: bound studies, who wins where, what is near."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.dossier import compare, run
from ackclock.dossier.baseline import BaselineChange, compare_pair
from ackclock.dossier.bind import BoundControl, bound
from ackclock.dossier.compare import ControlDifference, ControlPair, named_apart
from ackclock.dossier.finding import Finding
from ackclock.dossier.profile import Profile, Requirement, RequirementCheck
from ackclock.dossier.rows import NO_BOUND, MeasuredNumber, RequirementRow, _verdict
from ackclock.dossier.write import comparison_page, page, report
from ackclock.errors import AckclockError
from ackclock.reproduce.paper import PaperData, Study
from ackclock.reproduce.run.judge import Part, target


def profile(document, **about):
    study = Study("s", Path("s.toml"), document, {})
    data = PaperData("p", Path("p"), about, {"s": study}, {}, {}, {}, {})
    return Profile(data, {})


def bind(document, control, **more):
    return bound(profile(document), control, {"CUBIC": "cubic"}, **more).studies["s"].document


def test_a_control_is_put_in_every_place_and_its_settings_beside_it_alone():
    document = {
        "reps": 5,
        "scenario": {
            "seed": 3,
            "flows": [{"cc": "@mine", "tcp": {"mss": 500}}, {"cc": "cubic"}, {"cc": "@mine"}],
        },
        "over": {"other": {"values": "@against"}, "mine": {"values": ["@mine", "bbr"]}},
    }
    control = BoundControl("x", {"kind": "dctcp", "g": 0.1}, {"ecn": True})
    made = bind(document, control)
    value = {"kind": "dctcp", "g": 0.1}
    assert made["scenario"]["flows"] == [
        {"cc": value, "tcp": {"mss": 500, "ecn": True}}, {"cc": "cubic"},
        {"cc": value, "tcp": {"ecn": True}},
    ]  # fmt: skip
    assert made["over"] == {
        "other": {"values": {"CUBIC": "cubic"}}, "mine": {"values": [value, "bbr"]},
    }  # fmt: skip
    assert (made["reps"], made["scenario"]["seed"]) == (5, 3)
    # Each place has a separate copy, and the profile stays as it is.
    assert made["scenario"]["flows"][0]["cc"] is not made["scenario"]["flows"][2]["cc"]
    assert document["scenario"]["flows"][0]["cc"] == "@mine"


def test_seed_and_replicates_replace_those_of_the_study_and_of_each_tier_that_has_them():
    document = {
        "scenario": {"seed": 3},
        "tiers": {"fast": {"reps": 2}, "full": {"scenario.duration": "9 s"}},
    }
    made = bind(document, BoundControl("x", "aimd"), seed=0, reps=7)
    assert made["scenario"]["seed"] == 0
    assert made["reps"] == 7
    assert made["tiers"] == {"fast": {"reps": 7}, "full": {"scenario.duration": "9 s"}}
    assert "reps" not in bind(document, BoundControl("x", "aimd"), seed=1)


def test_cases_that_switch_ecn_off_are_left_out_for_a_control_that_needs_it():
    values = {"off": {"flows[0].tcp.ecn": False}, "on": {"flows[0].tcp.ecn": True}, "plain": 1}
    document = {
        "scenario": {},
        "over": {"ecn": {"values": dict(values)}, "list": {"values": [False]}},
        "tiers": {"fast": {"over": {"ecn": {"values": dict(values)}}}},
    }
    needs = bind(document, BoundControl("x", "dctcp", {"ecn": True}))
    for place in (needs, needs["tiers"]["fast"]):
        assert list(place["over"]["ecn"]["values"]) == ["on", "plain"]
    assert needs["over"]["list"] == {"values": [False]}
    assert bind(document, BoundControl("x", "aimd"))["over"]["ecn"]["values"] == values


def number(measured, expect, *, decides=True, check="c", name="", outcome="met"):
    goal = target(expect, {})
    part = Part(name, measured, measured, measured, 1, goal.text, outcome, "", goal=goal)
    return MeasuredNumber(check, name, part, "ms", (), decides)


@pytest.mark.parametrize(
    ("measured", "expect", "decides", "is_near"),
    [
        (9, {"at_most": 10}, True, True),
        (8.9, {"at_most": 10}, True, False),
        (11, {"at_most": 10}, True, True),
        (11.2, {"at_most": 10}, True, False),
        (9.5, {"at_most": 10}, False, False),
        # Beside a bound of 0 no distance is a part of it.
        (0.05, {"at_least": 0}, True, False),
        (0.95, {"between": [0, 1]}, True, False),
        (0.5, {"between": NO_BOUND}, True, False),
    ],
)
def test_a_row_is_near_within_a_tenth_of_a_bound_that_decides(measured, expect, decides, is_near):
    row = RequirementRow(None, "met", "", (number(measured, expect, decides=decides),))
    assert report._is_near(row) == is_near
    assert not report._is_near(RequirementRow(None, "met", "", ()))


def requirement(name, family="f", **more):
    return Requirement(name, f"5.{name}", f"title {name}", "s", "MUST", family, **more)


def test_a_row_of_the_page_has_the_number_that_decides_and_paragraphs_of_the_argument():
    numbers = (
        number(0.5, {"at_most": 1}, check="far", name="x"),
        number(2.0, {"at_most": 1}, check="", outcome="missed"),
        number(3.0, {"between": NO_BOUND}, decides=False, check="shown"),
    )
    row = report._row(RequirementRow(requirement("1"), "not met", "why", numbers, "a\n\nb"))
    assert (row["mark"], row["margin"], row["measured"]) == ("not-met", "-100 %", "2 ms")
    assert row["argument"] == ["a", "b"]
    # A number without a name has that of its requirement.
    assert [n["title"] for n in row["numbers"]] == ["far: x", "title 1", "shown"]
    assert [n["ours"] for n in row["numbers"]] == [False, False, True]
    empty = report._row(RequirementRow(requirement("1"), "text needed", "", ()))
    assert (empty["argument"], empty["expected"], empty["margin"]) == ([], "-", "-")
    assert (empty["at"], empty["measured"], empty["mark"]) == ("", "-", "text-needed")


def judged(outcome, reason="", not_checkable=""):
    claim = SimpleNamespace(not_checkable=not_checkable)
    return SimpleNamespace(outcome=outcome, reason=reason, claim=claim)


def test_a_verdict_is_of_text_first_then_of_what_was_measured():
    plain, text = requirement("1"), requirement("2", question="How?")
    shown = requirement("3", checks=(RequirementCheck(measure="SELECT 1 AS value"),))
    absent = requirement("4", inapplicable="has no such thing")
    assert _verdict(text, judged("met")) == ("text needed", "How?")
    assert _verdict(shown, judged("met"))[0] == "reported"
    assert _verdict(shown, judged(None, "x")) == ("undecided", "x")
    assert _verdict(plain, judged("missed", "far")) == ("not met", "far")
    assert _verdict(plain, judged("undecided", "wide")) == ("undecided", "wide")
    nothing = judged(None, "it measured nothing here")
    assert _verdict(absent, nothing) == ("not applicable", "has no such thing")
    assert _verdict(absent, judged(None, "", "x")) == ("not applicable", "has no such thing")
    assert _verdict(absent, judged(None, "failed")) == ("undecided", "failed")
    assert _verdict(absent, judged("undecided", "it measured nothing here"))[0] == "undecided"
    assert _verdict(plain, nothing)[0] == "undecided"


def test_a_row_is_argued_only_where_nothing_measured_decides():
    for verdict, argument, standing in [
        ("met", "", "measured"), ("undecided", "a", "measured"), ("reported", "", "measured"),
        ("text needed", "", "open"), ("text needed", "a", "argued"),
        ("not applicable", "", "open"), ("not applicable", "a", "argued"),
    ]:  # fmt: skip
        assert RequirementRow(None, verdict, "", (), argument).standing == standing


def difference(name, size, winner, family="f", before=1.0, after=2.0, low=0.5, high=1.5):
    change = BaselineChange(
        name, f"t {name}", before, after, after - before, low, high, "ms",
        is_worse=winner == 0, is_better=winner == 1, size=size,
    )  # fmt: skip
    row = RequirementRow(requirement(name, family), "met", "", ())
    return ControlDifference(row, change, "at most 3")


PAIR = ControlPair(
    ("a", "b"),
    (
        difference("1", 0.2, 0),
        difference("2", 0.9, 1, before=4.0, after=2.5, low=-2.0, high=-1.0),
        difference("3", 0.5, 0, before=3.0, after=5.0, low=1.0, high=3.0),
        difference("4", 0.7, None),
        difference("5", 0.8, 1, "g"),
    ),
)


def test_the_winner_is_the_first_where_the_second_is_worse_and_largest_differences_lead():
    assert [one.change.id for one in PAIR.wins(0)] == ["3", "1"]
    assert [one.change.id for one in PAIR.wins(1)] == ["2", "5"]
    assert [one.change.id for one in PAIR.wins(1, "g")] == ["5"]
    assert PAIR.wins(0, "g") == []
    rows = comparison_page._table(PAIR, "f")
    assert [row[0] for row in rows] == ["t 2", "t 3", "t 1"]
    assert rows[0][1:] == ["4", "2.5", "-1.5 [-2, -1]", "ms", "at most 3", "b"]
    assert [row[-1] for row in rows] == ["b", "a", "a"]
    # Better for the one : for the other : equal.
    assert comparison_page._count(PAIR, "1") == "1 : 0 : 0"
    assert comparison_page._count(PAIR, "2") == "0 : 1 : 0"
    assert comparison_page._count(PAIR, "4") == "0 : 0 : 1"


def test_sentences_name_the_winners_value_first_and_what_one_meets_alone():
    def results(label, *verdicts):
        rows = [RequirementRow(requirement(str(i)), v, "", ()) for i, v in enumerate(verdicts)]
        families = [{"id": "g", "title": "G"}, {"id": "f", "title": "F"}, {"id": "h"}]
        task = SimpleNamespace(
            control=SimpleNamespace(label=label), profile=SimpleNamespace(families=families)
        )
        return SimpleNamespace(task=task, rows=tuple(rows))

    compared = compare.Compared(
        (
            results("a", "met", "not met", "undecided", "met"),
            results("b", "not met", "met", "not met", "met"),
        ),
        (PAIR,),
    )
    assert comparison_page.sentences(compared, PAIR) == [
        "a and b: of 5 numbers, 2 are better for a, 2 for b, and 1 do not differ significantly.",
        "a meets and b does not: 5.0 title 0.",
        "b meets and a does not: 5.1 title 1.",
        "F: a is better in 2 of 4, most in t 3 (3 against 5 ms; difference 2, 99 % interval 1 to"
        " 3); b is better in 1 of 4, most in t 2 (2.5 against 4 ms; difference 1.5, 99 % interval"
        " 1 to 2).",
    ]
    # Only families with rows have a heading.
    assert [family["id"] for family in compared.families] == ["f"]


def test_controls_of_one_label_are_labelled_by_their_values():
    one, other = BoundControl("x", {"kind": "aimd", "b": 0.7}), BoundControl("x", "cubic")
    labels = [control.label for control in named_apart([one, other, BoundControl("y", "bbr")])]
    assert labels == ['{kind = "aimd", b = 0.7}', "cubic", "y"]
    with pytest.raises(AckclockError, match="cubic is named twice"):
        named_apart([other, other])


def test_a_study_without_the_control_is_predicted_once_if_runs_are_kept(monkeypatch):
    def task(label):
        studies = {"shared": SimpleNamespace(document={"cc": "bbr"}),
                   "own": SimpleNamespace(document={"cc": label})}  # fmt: skip
        return SimpleNamespace(
            control=SimpleNamespace(label=label), data=SimpleNamespace(studies=studies)
        )

    rows = tuple({"study": name, "runs": 1} for name in ("shared", "own", "audit game"))
    monkeypatch.setattr(compare, "predict", lambda task, means: run.DossierPlan(rows, 3))
    tasks = [task("a"), task("b")]
    kept = compare.predict_all(tasks, SimpleNamespace(store=None))
    assert [row["study"] for row in kept.rows] == [
        "a: shared", "a: own", "a: audit game", "b: own", "b: audit game",
    ]  # fmt: skip
    assert kept.workers == 3
    alone = compare.predict_all(tasks, SimpleNamespace(store=False))
    assert [row["study"] for row in alone.rows][3] == "b: shared"


def test_only_numbers_that_decide_and_that_both_have_are_compared():
    def results(*numbers):
        return SimpleNamespace(rows=(RequirementRow(requirement("1"), "met", "", numbers),))

    def six(name, value, *, decides=True):
        goal = target({"at_most": 4}, {})
        values = (value,) * 6
        part = Part(name, value, value, value, 6, goal.text, "met", "", goal=goal, values=values)
        return MeasuredNumber("c", name, part, "", (), decides)

    first = results(six("x", 2.0), six("y", 2.0), six("z", 2.0, decides=False), six("w", 2.0))
    second = results(six("w", 2.15), six("x", 3.0), six("z", 3.0))
    found = list(compare._differences(first, second))
    assert [one.change.title for one in found] == ["5.1 title 1: c: x", "5.1 title 1: c: w"]
    # 0.15 is less than 5 % of the threshold of 4.
    assert [one.winner for one in found] == [0, None]
    assert found[0].change.size == pytest.approx(0.25)


def test_a_value_between_two_bounds_is_to_be_near_their_middle():
    def entry(value, least, most):
        return {"check": "", "part": "", "unit": "", "values": [value], "at_least": least,
                "at_most": most}  # fmt: skip

    def away(before, after, least, most):
        return compare_pair("r", "t", entry(before, least, most), entry(after, least, most)).away

    assert away(1.0, 4.0, 0.0, 4.0) == pytest.approx(1.0)
    assert away(0.0, 3.0, 0.0, 4.0) == pytest.approx(-1.0)
    assert away(1.0, 3.5, None, 4.0) == pytest.approx(2.5)
    assert away(1.0, 3.5, 2.0, None) == pytest.approx(-2.5)
    assert away(0.2, 0.5, None, None) == pytest.approx(-0.3)


def test_values_that_one_seed_lacks_are_left_out_of_both():
    def entry(*values):
        return {"check": "c", "part": "", "unit": "", "values": values, "at_least": None,
                "at_most": None}  # fmt: skip

    change = compare_pair("r", "t", entry(1.0, None, 5.0, 7.0), entry(2.0, 9.0, 7.0))
    assert (change.before, change.after, change.difference) == (3.0, 4.5, 1.5)
    assert compare_pair("r", "t", entry(None, 1.0), entry(1.0, None)) is None
    nothing = compare_pair("r", "t", entry(0.0), entry(0.0))
    assert (nothing.size, nothing.p_value) == (0.0, 1.0)


def test_the_page_lists_twenty_changes_worse_ones_first():
    def change(i, *, is_worse):
        return BaselineChange(
            "r", f"t{i}", 1.0, 2.0, 1.0, 0.5, 1.5, "", is_worse=is_worse, is_better=not is_worse
        )

    changes = [change(i, is_worse=i % 2 == 0) for i in range(22)]
    lines = page._baseline(SimpleNamespace(changes=changes))
    assert lines[1] == (
        "Against the baseline: 22 numbers and verdicts compared, 11 worse, 11 better."
    )
    assert len(lines) == 2 + 20 + 1
    assert lines[2].startswith("  worse   t0:")
    assert lines[13].startswith("  better  t1:")
    assert lines[-1] == "  and 2 more"
    assert len(page._baseline(SimpleNamespace(changes=changes[:20]))) == 2 + 20
    assert page._baseline(SimpleNamespace(changes=None)) == []


def test_regressions_of_a_dossier_are_what_is_worse(monkeypatch):
    def change(name, *, is_worse):
        return BaselineChange(name, "t", 1.0, 2.0, 1.0, 0.5, 1.5, "", is_worse=is_worse)

    changes = [change("a", is_worse=True), change("b", is_worse=False)]
    monkeypatch.setattr("ackclock.dossier.finding.origin", lambda task: {})
    monkeypatch.setattr("ackclock.dossier.finding.command_of", lambda name, tasks: "")
    results = SimpleNamespace(
        task=SimpleNamespace(control=BoundControl("x", "aimd")), code_hash=None, rows=(),
        count=lambda verdict: 0, count_standing=lambda word: 0, runs=0, cpu_s=0.0, audits={},
        reproduction=SimpleNamespace(chance="", studies={}),
    )  # fmt: skip
    data = Finding(results, changes).to_dict()
    assert [one["id"] for one in data["regressions"]] == ["a"]
    assert Finding(results).to_dict()["regressions"] == []
    assert Finding(results, changes).failures == [str(changes[0])]
