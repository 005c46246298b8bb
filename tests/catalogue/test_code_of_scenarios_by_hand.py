"""Classes that scenarios name: how they are looked up, made for a run, hashed and copied."""

import hashlib
import json
import os
import random

import pytest

import ackclock as ac
from ackclock._util.end_signals import user_files
from ackclock.catalogue.guest_programs import Hired
from ackclock.catalogue.python_source import (
    Workshop,
    bound,
    check,
    contain_exits,
    copy_code,
    describe_failure,
)

MINE = """import ackclock as ac


@ac.control(cadence="round", slow_start=False)
class Mine:
    gain: float = 1.0

    def on_ack(self, window, ack):
        pass

    def on_congestion(self, window, event):
        pass


@ac.control
class Other(Mine):
    pass


@ac.aqm
class Queue:
    limit: int = 3

    def on_enqueue(self, packet, queue):
        return ac.Pass
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    return tmp_path


def scenario(*controls, qdisc="fifo", **more):
    """A scenario as plain data."""
    return {
        "net": {"kind": "dumbbell", "pairs": 1, "rate": 1e6, "rtt": 0.1, "qdisc": qdisc},
        "flows": [{"pair": 0, "cc": cc} for cc in controls],
        "duration": 1,
        **more,
    }


def reported(data, folder):
    with pytest.raises(ac.ScenarioError) as caught:
        check(data, folder)
    return [(problem.path, problem.message) for problem in caught.value.problems]


# -- what a scenario names ------------------------------------------------------------------------


def test_all_that_is_wrong_is_reported_with_its_place(folder):
    data = scenario(
        "mine.py:Queue", "mine.py:Mein", {"kind": "python", "class": "mine.py:Mine", "gian": 1},
        {"kind": "python", "class": "mine.py:Mine", "gain": "x"}, "mine.py:Mine",
        qdisc="mine.py:Mine",
    )  # fmt: skip
    assert reported(data, folder) == [
        ("net.qdisc", "Mine is a congestion control; expected an AQM"),
        ("flows[0].cc", "Queue is an AQM; expected a congestion control"),
        ("flows[1].cc", 'mine.py has no decorated class "Mein"; did you mean "Mine"?'),
        ("flows[2].cc.gian", 'Mine has no parameter "gian"; did you mean "gain"?'),
        ("flows[3].cc.gain", "'x' is not a number"),
    ]
    check(scenario("mine.py:Mine", "cubic", qdisc="mine.py:Queue"), folder)


def test_a_control_of_ones_own_is_for_the_era_of_the_rfcs_and_a_queue_for_all(folder):
    message = 'controls of one\'s own run in era "rfc", not "2002"'
    assert reported(scenario("mine.py:Mine", era="2002"), folder) == [("flows[0].cc", message)]
    check(scenario("mine.py:Mine", era="rfc"), folder)
    check(scenario("cubic", qdisc="mine.py:Queue", era="2002"), folder)


def test_a_file_without_decorated_classes_and_a_session_that_is_over_are_said(folder):
    (folder / "empty.py").write_text("class Mine:\n    pass\n")
    assert reported(scenario("empty.py:Mine", "session:Gone#2"), folder) == [
        ("flows[0].cc", 'empty.py has no decorated class "Mine"; it has no class decorated with'
                        " @ackclock.control"),
        ("flows[1].cc", '"session:Gone#2" was defined in a session that is over; put the class'
                        " into a file and name it as file.py:Class"),
    ]  # fmt: skip


def test_a_file_that_is_not_there_or_not_python_is_said(folder):
    (folder / "folder.py").mkdir()
    (folder / "mine.txt").write_text(MINE)
    data = scenario("gone.py:Mine", "folder.py:Mine", {"kind": "python", "class": "mine.txt:Mine"})
    assert reported(data, folder) == [
        ("flows[0].cc", f'cannot read "{folder}/gone.py": No such file or directory'),
        ("flows[1].cc", f'cannot read "{folder}/folder.py": Is a directory'),
        ("flows[2].cc", f'"{folder}/mine.txt" is not a Python file'),
    ]


def test_flows_that_share_a_file_share_its_traceback(folder):
    (folder / "broken.py").write_text("import ackclock\n\n\ndef work():\n    1 / 0\n\n\nwork()\n")
    (folder / "wrong.py").write_text("x = 1\ny = (\n")
    (folder / "bare.py").write_text(
        "import ackclock as ac\n\n\n@ac.control\nclass Mine:\n    x = 1\n"
    )
    with pytest.raises(ac.ScenarioError) as caught:
        check(scenario("broken.py:A", "wrong.py:B", "broken.py:C", "bare.py:Mine"), folder)
    first, second, third, fourth = caught.value.problems
    assert first.message == f"{folder}/broken.py, line 5: ZeroDivisionError: division by zero"
    assert third.message == first.message
    assert third.trace == ""
    head, *lines, last = first.trace.splitlines()
    assert head == "Traceback (most recent call last):"
    assert lines[0] == f'  File "{folder}/broken.py", line 8, in <module>'
    assert f'  File "{folder}/broken.py", line 5, in work' in lines
    assert last == "ZeroDivisionError: division by zero"
    assert second.message == f"{folder}/wrong.py, line 2: SyntaxError: '(' was never closed"
    assert second.trace.splitlines()[0] == f'  File "{folder}/wrong.py", line 2'
    assert second.trace.splitlines()[-1] == "SyntaxError: '(' was never closed"
    # A class that cannot serve is a sentence, without kind and without frames.
    assert fourth.message.startswith(f"{folder}/bare.py, line 4: Mine has no method on_ack")
    assert fourth.trace == ""


def test_an_error_without_text_is_named_alone(folder):
    (folder / "mute.py").write_text("raise RuntimeError\n")
    assert reported(scenario("mute.py:A"), folder) == [
        ("flows[0].cc", f"{folder}/mute.py, line 1: RuntimeError")
    ]


def test_a_class_after_the_start_of_a_run_is_not_there_and_the_line_is_said(folder):
    start = "from ackclock.catalogue.class_loading import before_run\n\n\nbefore_run()\n"
    (folder / "script.py").write_text(start + MINE)
    message = (
        'script.py has no decorated class "Mine"; it was read up to line 4, which starts a run; put'
        ' the class before that, or the run under if __name__ == "__main__":'
    )
    assert reported(scenario("script.py:Mine"), folder) == [("flows[0].cc", message)]
    (folder / "script.py").write_text(MINE + start)
    check(scenario("script.py:Mine"), folder)


def test_classes_of_a_file_hold_after_it_is_gone(folder):
    data = scenario("mine.py:Mine")
    check(data, folder)
    (folder / "mine.py").unlink()
    check(data, folder)
    assert list(bound(data, folder)) == ["mine.py:Mine"]


def test_a_file_that_was_touched_only_is_not_run_again(folder):
    (folder / "mine.py").write_text(MINE + "\n\nac.runs = getattr(ac, 'runs', 0) + 1\n")
    data = scenario("mine.py:Mine")
    try:
        check(data, folder)
        os.utime(folder / "mine.py", ns=(1, 1))
        check(data, folder)
        os.utime(folder / "mine.py", ns=(2, 2))
        check(data, folder)
        assert ac.runs == 1
        (folder / "mine.py").write_text((folder / "mine.py").read_text() + "\n")
        check(data, folder)
        assert ac.runs == 2
    finally:
        del ac.runs


# -- for a run ------------------------------------------------------------------------------------


def workshop(data, folder, seed=7):
    check(data, folder)
    return Workshop(data, seed, bound(data, folder), folder)


def test_the_core_gets_names_and_hashes_in_the_place_of_files(folder):
    data = scenario(
        "mine.py:Mine", "cubic", {"kind": "python", "class": "mine.py:Other", "gain": 2},
        "mine.py:Mine", qdisc="mine.py:Queue",
    )  # fmt: skip
    before = json.dumps(data)
    form = workshop(data, folder).core_form()
    short = hashlib.sha256(MINE.encode()).hexdigest()[:12]
    # Classes of one file share its hash and are numbered, in the order of the scenario.
    assert form["net"]["qdisc"] == {"kind": "python:Queue", "code": short}
    assert [flow["cc"] for flow in form["flows"]] == [
        {"kind": "python:Mine", "code": f"{short}#2"},
        "cubic",
        {"kind": "python:Other", "code": f"{short}#3", "gain": 2},
        {"kind": "python:Mine", "code": f"{short}#2"},
    ]
    assert json.dumps(data) == before
    plain = scenario("cubic")
    assert workshop(plain, folder).core_form() is plain


def test_an_instance_has_its_parameters_and_random_numbers_of_its_place(folder):
    data = scenario("mine.py:Mine", qdisc="mine.py:Queue")
    made_by = workshop(data, folder)
    form = made_by.core_form()
    code = form["flows"][0]["cc"]["code"]
    control = made_by("cc", json.dumps({"code": code, "gain": 2}), 4)
    assert (control.class_name, control.cadence, control.slow_start) == ("Mine", "round", False)
    assert control.file == str(folder / "mine.py")
    assert control.instance.gain == 2.0
    queue = made_by("qdisc", json.dumps({"code": form["net"]["qdisc"]["code"]}), 4)
    assert (queue.class_name, queue.cadence, queue.instance.limit) == ("Queue", "packet", 3)

    def draw(seed, room, index):
        parameters = json.dumps({"code": code})
        return workshop(data, folder, seed)(room, parameters, index).instance.rng.random()

    assert control.instance.rng.random() == draw(7, "cc", 4) == random.Random("7/cc/4").random()
    places = [(7, "cc", 4), (8, "cc", 4), (7, "cc", 5), (7, "qdisc", 4)]
    assert len({draw(*place) for place in places}) == 4
    assert made_by("cc", json.dumps({"code": code}), 4).instance is not control.instance


def test_a_guest_is_said_to_be_started_in_the_folder_of_the_scenario(folder):
    hired = workshop(scenario("cubic"), folder)("guest", json.dumps({"command": ["true"]}), 0)
    assert isinstance(hired, Hired)


def test_a_summary_lists_each_class_once_and_hashes_each_file_once(folder):
    text = MINE + "\n"
    (folder / "two.py").write_text(text)
    one, two = (hashlib.sha256(t.encode()).hexdigest() for t in (MINE, text))
    data = scenario("mine.py:Other", "two.py:Mine", "mine.py:Other", "mine.py:Mine")
    summary = workshop(data, folder).summary()
    assert summary["user_code"] == [
        {"class": "Other", "file": "mine.py", "sha256": one},
        {"class": "Mine", "file": "two.py", "sha256": two},
        {"class": "Mine", "file": "mine.py", "sha256": one},
    ]
    assert "guests" not in summary
    both = hashlib.sha256("\n".join(sorted([one, two])).encode()).hexdigest()
    assert summary["user_code_hash"] == both
    turned = scenario("two.py:Other", "mine.py:Mine")
    assert workshop(turned, folder).summary()["user_code_hash"] == both
    alone = workshop(scenario("mine.py:Mine"), folder).summary()["user_code_hash"]
    assert alone == hashlib.sha256(one.encode()).hexdigest()


def test_a_class_of_no_file_is_so_in_the_summary(folder):
    text = MINE.partition("@ac.control")[2].partition("@ac")[0].partition("class Mine")[2]
    space = {"ac": ac, "__name__": "__nowhere__"}
    exec(f"@ac.control\nclass OfNoFile{text}", space)
    definition = space["OfNoFile"].__ackclock__
    data = scenario(definition.reference)
    made_by = workshop(data, folder)
    (entry,) = made_by.summary()["user_code"]
    assert entry == {"class": "OfNoFile", "file": None, "sha256": definition.sha256}
    form = made_by.core_form()["flows"][0]["cc"]
    assert form == {"kind": "python:OfNoFile", "code": definition.sha256[:12]}
    # It has no file that could be copied.
    assert copy_code(data, bound(data, folder), folder / "copy") == data
    assert not (folder / "copy").exists()


# -- copies ---------------------------------------------------------------------------------------


def test_files_are_copied_as_they_were_and_those_of_one_name_stay_apart(folder):
    for name in ("a", "b"):
        (folder / name).mkdir()
        (folder / name / "mine.py").write_text(MINE + f"# {name}\n")
    data = scenario(
        "mine.py:Mine", "a/mine.py:Mine", {"kind": "python", "class": "mine.py:Other", "gain": 2},
        "b/mine.py:Mine", "cubic", qdisc="mine.py:Queue",
    )  # fmt: skip
    check(data, folder)
    classes = bound(data, folder)
    (folder / "mine.py").write_text("")
    copied = copy_code(data, classes, folder / "run")

    def named(name, **more):
        return {"kind": "python", "class": name, **more}

    assert copied["net"]["qdisc"] == named("code/mine.py:Queue")
    assert [flow["cc"] for flow in copied["flows"]] == [
        named("code/mine.py:Mine"),
        named("code/1/mine.py:Mine"),
        named("code/mine.py:Other", gain=2),
        named("code/2/mine.py:Mine"),
        "cubic",
    ]
    assert (folder / "run/code/mine.py").read_text() == MINE
    assert (folder / "run/code/1/mine.py").read_text() == MINE + "# a\n"
    assert (folder / "run/code/2/mine.py").read_text() == MINE + "# b\n"
    assert data["flows"][0]["cc"] == "mine.py:Mine"
    check(copied, folder / "run")


# -- code that ends or fails ----------------------------------------------------------------------

ENDS = """import sys

import ackclock as ac


@ac.control
class Ends:
    def on_ack(self, window, ack):
        sys.exit(5)

    def on_congestion(self, window, event):
        raise KeyboardInterrupt

    def phase(self):
        return 1 / 0
"""


@pytest.fixture
def ends(folder):
    (folder / "ends.py").write_text(ENDS)
    data = scenario("ends.py:Ends")
    made_by = workshop(data, folder)
    code = made_by.core_form()["flows"][0]["cc"]["code"]
    return made_by("cc", json.dumps({"code": code}), 0).instance


@pytest.mark.parametrize(
    ("method", "line", "what"),
    [("on_ack", 9, "SystemExit(5)"), ("on_congestion", 12, "KeyboardInterrupt()")],
)
def test_code_that_would_end_the_program_is_an_error_of_the_algorithm(
    folder, ends, method, line, what
):
    with pytest.raises(ac.AlgorithmError) as caught, contain_exits():
        getattr(ends, method)(None, None)
    message = f"user-defined code raised {what}, which may not end the program"
    assert str(caught.value) == message
    report = describe_failure(caught.value).splitlines()
    assert report[1] == f'  File "{folder}/ends.py", line {line}, in {method}'
    assert report[-1] == message
    assert str(folder / "ends.py") in user_files


def test_an_end_that_is_not_of_users_code_passes_as_it_is():
    for end in (SystemExit(4), KeyboardInterrupt("stop")):
        with pytest.raises(type(end)) as caught, contain_exits():
            raise end
        assert caught.value is end


def test_what_users_code_raised_is_described_from_its_first_line_on(folder, ends, monkeypatch):
    with pytest.raises(ZeroDivisionError) as caught:
        ends.phase()
    error = caught.value
    # Only what a run has marked is of user code.
    assert describe_failure(error) is None
    error.__ackclock_where__ = "flow f0"
    report = describe_failure(error).splitlines()
    assert report[:2] == [
        "Traceback (most recent call last):", f'  File "{folder}/ends.py", line 15, in phase',
    ]  # fmt: skip
    assert report[-1] == "ZeroDivisionError: division by zero"
    monkeypatch.chdir(folder)
    assert describe_failure(error).splitlines()[1] == '  File "ends.py", line 15, in phase'


def test_an_error_that_passed_no_line_of_users_code_has_its_whole_traceback():
    error = ValueError("of the core")
    error.__ackclock_where__ = "flow f0"
    assert describe_failure(error) == "ValueError: of the core"
