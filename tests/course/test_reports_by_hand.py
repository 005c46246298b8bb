"""The report of a class: leaderboard, marks and matrices of a few students, by hand."""

from types import SimpleNamespace

import pytest

from ackclock.course import page
from ackclock.course.graded import Graded, Marks
from ackclock.course.page import feedback, leaderboard, protection, text
from ackclock.course.students.confine import Holds
from ackclock.course.tasks.control import NOTHING
from ackclock.course.tasks.task import Item, Measured


def result(score, throughput_bps=2.5e6, delay_s=0.12):
    return {"score": score, "throughput_bps": throughput_bps, "delay_s": delay_s}


def student(name, results, points=3.0, code=1.0, problems=(), marks=None):
    measured = None if results is None else Measured(results)
    marked = SimpleNamespace(marks=marks or {})
    return Graded(name, marked, measured, code, points, tuple(problems))


def question(id_, kind="choice", points=2.0):
    return SimpleNamespace(id=id_, kind=kind, points=points, answers=("x", "y"))


def sheet(task, *questions):
    questions = questions or (question("q1"), question("why", "open", 4.0))
    return SimpleNamespace(
        title="A contest", task=task, questions=questions,
        points=sum(q.points for q in questions) + (task.get("points", 0) if task else 0),
    )  # fmt: skip


CONTROL = {"kind": "control", "points": 5}
ITEMS = (Item("a", {}), Item("b", {}))


def contest(**more):
    graded = (
        student("ann", {"a": result(4.0), "b": result(2.0, 1e6, 0.05)}),
        student("bob", {"a": result(5.0)}, problems=["line 3: it fails", "more"]),
        student("eve", None, points=2.0, code=0.0),
    )
    cubic = Measured({"a": result(3.5), "b": result(3.5)})
    return Marks(sheet(CONTROL), graded, ITEMS, {"cubic": cubic}, **more)


def test_students_are_ordered_by_their_mean_score_and_controls_have_no_rank():
    head, rows = leaderboard(contest())
    assert head == ["", "control", "mean score", "a", "b"]
    bob = (5.0 + NOTHING) / 2
    assert rows == [
        ["", "[cubic]", "3.500", "3.50 (2.50 / 120)", "3.50 (2.50 / 120)"],
        ["1", "ann", "3.000", "4.00 (2.50 / 120)", "2.00 (1.00 / 50)"],
        ["2", "bob", f"{bob:.3f}", "5.00 (2.50 / 120)", "-"],
    ]


def test_a_report_has_marks_remarks_and_what_is_left_to_a_person():
    holds = Holds(*[name != "network" for name in Holds._fields])
    blocks = text(contest(notes=("c.doc is no answer",), holds=holds)).split("\n\n")
    assert blocks[0] == "A contest"
    lines = [line.split() for line in blocks[1].splitlines()]
    assert lines[0] == ["student", "answers", "code", "points", "of", "7", "remarks"]
    # Of 3 points one is of the code.
    assert lines[1] == ["ann", "2", "1.00", "3.00"]
    assert lines[2] == ["bob", "2", "1.00", "3.00", "line", "3:", "it", "fails"]
    assert lines[3] == ["eve", "2", "0.00", "2.00"]
    assert "[cubic]" in blocks[2]
    assert blocks[3:] == [
        "In a cell: score (Mbit/s / 95th percentile of round trips in ms).",
        "To be marked by you, 4 points: why.",
        "left out: c.doc is no answer",
        "Limits that this machine enforced: CPU time, memory, files. Not enforced: network and"
        " other processes; grade in a virtual machine.",
    ]


def test_a_sheet_without_code_has_marks_alone():
    plain = Marks(sheet({}, question("q1")), (student("ann", None, points=1.5, code=0.0),))
    title, marks = text(plain).split("\n\n")
    assert title == "A contest"
    assert [line.split() for line in marks.splitlines()] == [
        ["student", "answers", "points", "of", "2", "remarks"], ["ann", "1.5", "1.50"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("states", "sentence"),
    [
        ({}, "Limits that this machine enforced: CPU time, memory, files, network and other"
             " processes."),
        ({"time": False, "memory": False, "files": False, "network": False},
         "Limits that this machine enforced: none. Not enforced: CPU time, memory, files, network"
         " and other processes; grade in a virtual machine."),
    ],
)  # fmt: skip
def test_limits_are_said_that_hold_and_that_do_not(states, sentence):
    holds = Holds(**{**dict.fromkeys(Holds._fields, True), **states})
    assert protection(SimpleNamespace(holds=holds)) == sentence


def classes(*answers):
    items = tuple(Item(f"r{i}", {}, answer=true) for i, true in enumerate(("reno", "reno", "bbr")))
    graded = tuple(
        student(name, {f"r{i}": {"label": label} for i, label in enumerate(labels)})
        for name, labels in answers
    )
    task = {"kind": "classifier", "points": 5, "labels": ["reno", "bbr"]}
    return Marks(sheet(task), graded, items)


def test_classifiers_are_ordered_by_accuracy_and_the_best_three_have_a_matrix():
    marks = classes(
        ("ann", ("reno", "bbr", "bbr")), ("bob", ("reno", "reno", "bbr")),
        ("eve", ("bbr", "bbr", "reno")), ("dan", ("reno", "vegas", "reno")),
    )  # fmt: skip
    head, rows = leaderboard(marks)
    assert head == ["", "classifier", "accuracy"]
    assert rows == [
        ["1", "bob", "1.000"], ["2", "ann", "0.667"], ["3", "dan", "0.333"], ["4", "eve", "0.000"],
    ]  # fmt: skip
    written = text(marks)
    assert [name for name, _ in page._best(marks)] == ["bob", "ann", "dan"]
    matrix = written.split("dan:\n")[1].split("\n\n")[0]
    assert [line.split() for line in matrix.splitlines()] == [
        ["true", "\\", "named", "reno", "bbr", "other"], ["reno", "1", "0", "1"],
        ["bbr", "1", "0", "0"],
    ]  # fmt: skip
    assert "eve:" not in written
    assert "In a cell" not in written


def test_a_student_gets_marks_and_remarks_without_the_key():
    def mark(points, answer="b", remark=""):
        return SimpleNamespace(points=points, answer=answer, remark=remark)

    marks = {"q1": mark(1.5, " b ", "which unit?"), "why": mark(None, "for fairness")}
    graded = student("ann", {"a": result(1.0)}, points=2.5, problems=["no toml"], marks=marks)
    assert feedback(contest(), graded) == (
        "# A contest: ann\n\n"
        "2.50 of 7 points that are counted by the program.\n\n"
        "- no toml\n"
        "- q1: 1.5 of 2 (which unit?). Your answer: b\n"
        "- why: marked by hand of 4.\n"
        "- your code: 1.00 of 5.\n"
    )
    none = student("bob", None, points=0.0, marks={"q1": mark(0.0, "  ")})
    assert feedback(contest(), none).splitlines()[-1] == "- q1: 0 of 2."


def test_a_file_of_a_student_is_python_of_at_most_a_mebibyte(tmp_path):
    from ackclock.course.tasks.source import NotUsableError, read_source

    file = tmp_path / "mine.py"
    file.write_bytes(b"#" * 2**20)
    assert read_source(file).body == []
    file.write_bytes(b"#" * (2**20 + 1))
    for content, message in (
        (None, "mine.py is larger than 1 MiB; expected a Python file"),
        (b"x = 1\ny = (\n", "mine.py, line 2: is not Python: '(' was never closed"),
    ):
        if content is not None:
            file.write_bytes(content)
        with pytest.raises(NotUsableError) as caught:
            read_source(file)
        assert str(caught.value).startswith(message)
    file.unlink()
    with pytest.raises(NotUsableError, match=r"^mine\.py cannot be read: No such file"):
        read_source(file)
