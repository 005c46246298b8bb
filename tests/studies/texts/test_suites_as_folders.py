"""Suites of conformance as folders: what their files become, and what is wrong in them."""

import textwrap

import pytest

from ackclock.errors import Problem, ScenarioError
from ackclock.studies.conform.suite import (
    CaseCheck,
    Losses,
    Trigger,
    find_suite,
    read_suite,
)

HEAD = """
title = "Mine"
source = "RFC 5681"
views = "  CREATE VIEW x AS SELECT 1;  "
beside = "bbr"
unseen = "pacing"
for_guests = "mine-guests"
[states]
up = "grows"
[probes]
bw = "bandwidth"
[scenario]
duration = "3 s"
[ranges]
reps = 3
"""
FULL = """
title = "Two packets"
note = "of section 3"
[scenario]
seed = 2
[lose]
link = "a->b"
at = "1 s"
every = 10
count = 4
[[when]]
event = "first"
state = "up"
[[when]]
event = "second"
state = ["up", "down"]
after = "first"
nth = 2
[when.set]
"flows[0].stop" = "second + 1 s"
[when.lose]
link = "b->a"
at = "second"
every = 1
count = 1
[[check]]
step = 1
text = "grows"
value = "SELECT 1 AS value"
at_least = 2
unit = "pkt"
advice = "count"
[[check]]
step = 2
text = "is near"
value = "SELECT 2 AS value"
equals = 4
tolerance = 0.5
reason = "the clock's grain"
"""
PLAIN = 'title = "A"\n[[check]]\nstep = 1\ntext = "t"\nvalue = "v"\nabove = 0\n'


@pytest.fixture
def write(tmp_path):
    def write(head=HEAD, **cases):
        folder = tmp_path / "mine"
        (folder / "cases").mkdir(parents=True)
        (folder / "suite.toml").write_text(head)
        for name, text in cases.items():
            (folder / "cases" / f"{name.replace('_', '-')}.toml").write_text(textwrap.dedent(text))
        return folder

    return write


def problems_of(folder):
    with pytest.raises(ScenarioError) as caught:
        read_suite(folder)
    return [
        (problem.file.removeprefix(f"{folder}/"), problem.path, problem.message)
        for problem in caught.value.problems
    ]


def test_a_suite_has_all_that_its_files_say(write):
    suite = read_suite(write(**{"002_full": FULL, "10a_plain": PLAIN}))
    assert (suite.name, suite.title, suite.source) == ("mine", "Mine", "RFC 5681")
    assert (suite.states, suite.probes) == ({"up": "grows"}, {"bw": "bandwidth"})
    assert (suite.scenario, suite.ranges) == ({"duration": "3 s"}, {"reps": 3})
    assert suite.views == "CREATE VIEW x AS SELECT 1;"
    assert (suite.beside, suite.unseen, suite.for_guests) == ("bbr", "pacing", "mine-guests")
    case, plain = suite.cases
    assert (case.key, case.title, case.note, case.scenario) == (
        "2", "Two packets", "of section 3", {"seed": 2},
    )  # fmt: skip
    assert case.losses == Losses("a->b", "1 s", 10, 4)
    assert case.triggers == (
        Trigger("first", ("up",), None, 1, {}, None),
        Trigger("second", ("up", "down"), "first", 2, {"flows[0].stop": "second + 1 s"},
                Losses("b->a", "second", 1, 1)),
    )  # fmt: skip
    assert case.checks == (
        CaseCheck(1, "grows", "SELECT 1 AS value", {"at_least": 2}, "pkt", "", "count"),
        CaseCheck(2, "is near", "SELECT 2 AS value", {"equals": 4, "tolerance": 0.5}, "",
                  "the clock's grain", ""),
    )  # fmt: skip
    assert (case.inexpressible, case.file.name) == ("", "002-full.toml")
    assert (plain.key, plain.note, plain.triggers, plain.losses) == ("10a", "", (), None)


def test_what_a_suite_may_leave_out_is_empty(write):
    suite = read_suite(write('title = "Mine"\nsource = "x"\n', **{"1_a": PLAIN}))
    assert (suite.states, suite.probes, suite.scenario, suite.ranges) == ({}, {}, {}, None)
    assert (suite.views, suite.beside, suite.unseen, suite.for_guests) == ("", "", "", "")


def test_cases_are_chosen_by_number_with_or_without_their_letter(write):
    suite = read_suite(write(**{"01_x": PLAIN, "02a_x": PLAIN, "02b_x": PLAIN, "12_x": PLAIN}))

    def keys(*chosen):
        return [case.key for case in suite.choose_cases(chosen)]

    assert keys() == ["1", "2a", "2b", "12"]
    # In the order of the suite.
    assert keys("12", "2") == ["2a", "2b", "12"]
    assert keys("2b") == ["2b"]
    assert keys("2a", "1") == ["1", "2a"]
    with pytest.raises(ScenarioError) as caught:
        suite.choose_cases(["1", "2c", "77"])
    first, second = caught.value.problems
    assert (first.path, second.path) == ("case", "case")
    assert first.message.startswith('mine has no case "2c"; did you mean "2')
    assert second.message.startswith('mine has no case "77"; ')


def test_a_suite_is_that_of_a_folder_or_one_that_ships(write, monkeypatch, tmp_path):
    folder = write(**{"1_a": PLAIN})
    assert find_suite(str(folder)).title == "Mine"
    monkeypatch.chdir(tmp_path)
    assert find_suite("mine").name == "mine"
    shipped = find_suite("bbr").name
    assert shipped == "bbr"
    # A path is never a name of ours.
    (tmp_path / "bbr").mkdir()
    with pytest.raises(ScenarioError):
        find_suite("./bbr")
    with pytest.raises(ScenarioError) as caught:
        find_suite("bbbr")
    (problem,) = caught.value.problems
    assert problem.path == ""
    assert problem.message.startswith(
        'there is no suite "bbbr", neither one of ackclock nor a folder with suite.toml; '
    )
    assert '"bbr"' in problem.message


def test_a_suite_without_cases_or_keys_is_refused_with_all_of_that(write):
    folder = write("sorce = 3\ntitle = 4\nstates = 5\n")
    assert problems_of(folder) == [
        ("suite.toml", "states", "is 5; expected a table"),
        ("suite.toml", "title", "is 4; expected text"),
        ("suite.toml", "source", "is missing; expected text"),
        ("suite.toml", "sorce", 'is not known; did you mean "source"?'),
        (str(folder), "", "has no case; expected cases/*.toml"),
    ]


def test_what_is_not_toml_or_not_text_is_said_with_its_file(write):
    folder = write(**{"1_a": "x = ", "2_b": PLAIN})
    (folder / "cases" / "3-c.toml").write_bytes(b"\xff")
    said = problems_of(folder)
    assert said[0][:2] == ("cases/1-a.toml", "")
    assert said[0][2].startswith("is not TOML: ")
    assert {name for name, _, _ in said} == {"cases/1-a.toml", "cases/3-c.toml"}


@pytest.mark.parametrize(
    ("text", "path", "message"),
    [
        (PLAIN.replace("above = 0", ""), "check[0]",
         "says nothing of what must be; expected one of ('equals', 'between', 'at_least',"
         " 'at_most', 'above', 'below', 'is')"),
        (PLAIN + "below = 3\n", "check[0]",
         "says ['above', 'below'] of what must be; expected one of ('equals', 'between',"
         " 'at_least', 'at_most', 'above', 'below', 'is')"),
        (PLAIN.replace("above", "equals"), "check[0].tolerance",
         "belongs to equals, and equals to it"),
        (PLAIN + 'tolerance = 1\nreason = "x"\n', "check[0].tolerance",
         "belongs to equals, and equals to it"),
        (PLAIN.replace("above = 0", "equals = 3\ntolerance = 1"), "check[0].reason",
         "is missing; a tolerance has one"),
        (PLAIN + "abov = 1\n", "check[0].abov", 'is not known; did you mean "above"?'),
        (PLAIN.replace("step = 1", "step = 0"), "check[0].step",
         "is 0; expected a whole number from 1"),
        (PLAIN + 'units = "s"\n', "check[0].units", 'is not known; did you mean "unit"?'),
        (PLAIN + "[lose]\nlink = 'a'\nat = '1 s'\nevery = 0\ncount = 1\n", "lose.every",
         "is 0; expected a whole number from 1"),
        (PLAIN + "[lose]\nlink = 'a'\nat = '1 s'\nevery = 1\ncount = 1\nx = 2\n", "lose.x",
         "is not known; "),
        (PLAIN + "[[when]]\nevent = 'e'\nstate = []\n", "when[0].state",
         "is []; expected text or a list of text"),
        (PLAIN + "[[when]]\nevent = 'e'\nstate = ['a', 3]\n", "when[0].state",
         "is ['a', 3]; expected text or a list of text"),
        (PLAIN + "[[when]]\nevent = 'e'\nstate = 's'\nafter = 'e'\n", "when[0].after",
         'there is no earlier event "e"; '),
        (PLAIN + "[[when]]\nevent = 'e'\nstate = 's'\n[[when]]\nevent = 'f'\nstate = 's'\n"
         "after = 'g'\n", "when[1].after", 'there is no earlier event "g"; '),
        (PLAIN + "[[when]]\nevent = 'e'\nstate = 's'\nnth = 0\n", "when[0].nth",
         "is 0; expected a whole number from 1"),
        ("when = 3\n" + PLAIN, "when", "is 3; expected a list of tables"),
        ("when = [3]\n" + PLAIN, "when[0]", "is not a table"),
        ('title = "A"\n', "check",
         "a case has checks, or says by inexpressible why it has none"),
        ('inexpressible = "why"\n' + PLAIN, "check",
         "a case has checks, or says by inexpressible why it has none"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_case_is_said_with_its_place(write, text, path, message):
    said = problems_of(write(**{"1_a": text}))
    assert ("cases/1-a.toml", path) in [place[:2] for place in said]
    of_path = [text for _, where, text in said if where == path]
    assert any(text.startswith(message) for text in of_path)
    # What hangs together is said once.
    assert len(said) == 1 or path == "when[0]"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("step = true", "is True; expected a whole number from 1"),
        ("step = 1.5", "is 1.5; expected a whole number from 1"),
        ("step = -1", "is -1; expected a whole number from 1"),
        ("", "is missing; expected a whole number from 1"),
    ],
)
def test_a_count_that_is_none_is_said_once(write, step, message):
    folder = write(**{"1_a": PLAIN.replace("step = 1", step)})
    assert problems_of(folder) == [("cases/1-a.toml", "check[0].step", message)]


def test_all_that_is_wrong_is_one_error(write):
    folder = write(**{"1_a": PLAIN + "x = 1\n", "2_b": PLAIN + "y = 1\n"})
    assert [(file, path) for file, path, _ in problems_of(folder)] == [
        ("cases/1-a.toml", "check[0].x"), ("cases/2-b.toml", "check[0].y"),
    ]  # fmt: skip
    with pytest.raises(ScenarioError) as caught:
        read_suite(folder)
    assert all(isinstance(problem, Problem) for problem in caught.value.problems)
