"""Marks of single answers at their limits, who is a student, and cells of a spreadsheet."""

import csv
import math
from dataclasses import replace
from io import StringIO

import pytest

from ackclock.course.answers import Marked, mark_answers
from ackclock.course.grade import Grading
from ackclock.course.graded import Graded
from ackclock.course.sheet import ExpectedAnswer, SheetQuestion, find_sheet
from ackclock.course.submissions import find_submissions

SHEET = replace(
    find_sheet("bufferbloat"),
    questions=(
        SheetQuestion("wait", "How long?", 2, unit="ms"),
        SheetQuestion("why", "Why?", 1, answers=("this", "that", "neither")),
    ),
    key={
        "wait": ExpectedAnswer("It is {0}.", answer=512.0, tolerance=0.125),
        "why": ExpectedAnswer("That.", choice=1),
    },
)


def mark(folder, question, answer):
    """Mark one answer, written as TOML."""
    file = folder / "answers.toml"
    file.write_text(f"[answers]\n{question} = {answer}\n")
    marked = mark_answers(SHEET, file)
    assert marked.problem == ""
    return marked.marks[question]


@pytest.mark.parametrize("end", [448.0, 576.0])
def test_a_number_at_an_end_of_its_range_is_right_and_one_beyond_is_not(tmp_path, end):
    assert mark(tmp_path, "wait", end).points == 2
    beyond = math.nextafter(end, 0 if end < 512 else math.inf)
    assert mark(tmp_path, "wait", beyond).points == 0


@pytest.mark.parametrize("power", [-6, -3, 3, 6])
def test_a_number_in_another_unit_has_no_points_and_says_so(tmp_path, power):
    found = mark(tmp_path, "wait", 512.0 * 10.0**power)
    assert found.points == 0
    assert found.remark == "right in another unit; expected ms"
    assert mark(tmp_path, "wait", 512.0 * 10.0 ** (power + 1)).remark == ""


@pytest.mark.parametrize("letter", ["b", "B", "b)", "b.", " b ", "B.)"])
def test_a_letter_counts_with_what_is_written_after_it(tmp_path, letter):
    assert mark(tmp_path, "why", f'"{letter}"').points == 1
    assert mark(tmp_path, "why", f'"{letter.lower().replace("b", "a")}"').points == 0


@pytest.mark.parametrize("first", ["=", "+", "-", "@"])
def test_a_name_that_begins_as_a_formula_is_a_name_in_a_spreadsheet(first):
    students = tuple(Graded(name, Marked(), None, 0.0, 0.0, ()) for name in (f"{first}1", "ann"))
    rows = list(csv.DictReader(StringIO(Grading(SHEET, students).marks_csv())))
    assert [row["student"] for row in rows] == [f"'{first}1", "ann"]


def hand_in(folder, *files):
    folder.mkdir(parents=True)
    for file in files:
        (folder / file).write_text("")


def test_a_folder_has_code_if_it_is_named_so_or_is_the_only_one(tmp_path):
    hand_in(tmp_path / "named", "answers.toml", "control.py", "other.py")
    hand_in(tmp_path / "only", "answers.toml", "mine.py")
    hand_in(tmp_path / "which", "answers.toml", "one.py", "two.py")
    found = find_submissions(tmp_path, "control.py")
    assert {one.student: one.code and one.code.name for one in found} == {
        "named": "control.py",
        "only": "mine.py",
        "which": None,
    }


def test_hidden_folders_and_files_are_no_students(tmp_path):
    hand_in(tmp_path / "ann", "answers.toml")
    hand_in(tmp_path / ".trash", "answers.toml")
    (tmp_path / ".bob.toml").write_text("")
    assert [one.student for one in find_submissions(tmp_path, None)] == ["ann"]
