"""Grades a folder of submissions: answers by the key, code in processes with limits."""

from __future__ import annotations

import csv
import tempfile
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock.course import page
from ackclock.course.answers import Marked, mark_answers
from ackclock.course.graded import Graded, Marks
from ackclock.course.students.run import StudentLimits, run_student
from ackclock.course.submissions import Submission, find_submissions
from ackclock.course.tasks import find_task
from ackclock.course.tasks.task import Item, Measured
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Callable

    from ackclock.course.sheet import Sheet
    from ackclock.course.students.confine import Holds
    from ackclock.course.tasks.task import CourseTask

__all__ = ["Graded", "Grading", "grade"]


@dataclass(frozen=True)
class Grading(Marks, StudyOutcome):
    """A graded class."""

    MARKER: ClassVar[str] = "grading.json"
    PAGE: ClassVar[str] = "grading.html"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        return {
            "sheet": self.sheet.name,
            "points": self.sheet.points,
            "points_by_machine": self.by_machine,
            "students": [
                {
                    "student": graded.student,
                    "points": graded.points,
                    "code_points": graded.code_points,
                    "problems": list(graded.problems),
                    "answers": {name: asdict(mark) for name, mark in graded.marked.marks.items()},
                    "results": None if graded.measured is None else dict(graded.measured.results),
                    "cpu_s": None if graded.measured is None else graded.measured.cpu_s,
                }
                for graded in self.graded
            ],
            "baselines": {
                name: dict(baseline.results) for name, baseline in self.baselines.items()
            },
            "items": [{"name": item.name, "answer": item.answer} for item in self.items],
            "limits": asdict(self.limits),
            "enforced": None if self.holds is None else self.holds._asdict(),
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        return page.text(self)

    def pages(self, command: str) -> dict[str, str]:
        """The report, marks for a spreadsheet."""
        return {self.PAGE: page.html(self, command), "marks.csv": self.marks_csv()}

    def write_files(self, folder: Path, command: str) -> None:
        """Write what each student gets back."""
        del command
        feedback = folder / "feedback"
        feedback.mkdir()
        for graded in self.graded:
            name = "".join(c if c.isalnum() or c in "-_." else "_" for c in graded.student)
            (feedback / f"{name}.md").write_text(page.feedback(self, graded), encoding="utf-8")

    def marks_csv(self) -> str:
        """Points by student and question; an open answer is an empty cell."""
        out = StringIO()
        writer = csv.writer(out, lineterminator="\n")
        names = [question.id for question in self.sheet.questions]
        code = ["code"] if self.sheet.task else []
        writer.writerow(["student", *names, *code, "points"])
        for graded in self.graded:
            marks = [graded.marked.marks.get(name) for name in names]
            cells = ["" if m is None or m.points is None else f"{m.points:g}" for m in marks]
            extra = [f"{graded.code_points:.2f}"] if self.sheet.task else []
            # A name that begins as a formula stays a name in a spreadsheet.
            student = f"'{graded.student}" if graded.student[:1] in "=+-@" else graded.student
            writer.writerow([student, *cells, *extra, f"{graded.points:.2f}"])
        return out.getvalue()


def grade(
    sheet: Sheet,
    path: Path,
    *,
    traces: Path | None = None,
    seed: int = 1,
    limits: StudentLimits | None = None,
    progress: Callable[[str], object] | None = None,
) -> Grading:
    """Grade what students handed in.

    Parameters
    ----------
    sheet
        The sheet, with its key.
    path
        As of `find_submissions`.
    traces
        Mahimahi traces of the teacher, a file or a folder; None: drawn from the seed.
    seed
        Of hidden traces and runs. Choose another than 1: students have this program too.
    limits
        Of each student's process.
    progress
        Called with each student's name before their code runs.

    Raises
    ------
    AckclockError
        There is no submission, or no usable trace.
    """
    limits = limits or StudentLimits()
    if not sheet.task:
        submissions = find_submissions(path, None)
        return Grading(
            sheet,
            tuple(
                _grade_submission(sheet, submission, None, 0.0, []) for submission in submissions
            ),
        )
    task = find_task(sheet.task["kind"])
    submissions = find_submissions(path, task.FILE)
    with tempfile.TemporaryDirectory(prefix="ackclock-course-") as folder:
        items, notes = task.items(sheet.task, seed, traces, Path(folder))
        baselines = _baselines(sheet, items)
        protections: Holds | None = None
        graded = []
        for submission in submissions:
            if progress is not None:
                progress(submission.student)
            measured, problems = None, []
            if submission.code is None:
                problems.append(f"{task.FILE} is missing")
            else:
                measured, holds = run_student(sheet.task["kind"], submission.code, items, limits)
                protections = holds or protections
                problems += [measured.problem] if measured.problem else []
            share = _share(task, sheet, measured, items, baselines)
            graded.append(
                _grade_submission(
                    sheet, submission, measured, share * sheet.task["points"], problems
                )
            )
    return Grading(sheet, tuple(graded), tuple(items), baselines, protections, limits, tuple(notes))


def _share(
    task: CourseTask,
    sheet: Sheet,
    measured: Measured | None,
    items: list[Item],
    baselines: dict[str, Measured],
) -> float:
    if measured is None or not measured.results:
        return 0.0
    return task.share(measured, items, baselines, sheet.task)


def _baselines(sheet: Sheet, items: list[Item]) -> dict[str, Measured]:
    """Built-in controls on the same traces, for the leaderboard."""
    if sheet.task["kind"] != "control":
        return {}
    from ackclock.course.tasks.control import measure

    return {
        name: Measured({item.name: measure(item.data["file"], name) for item in items})
        for name in sheet.task["baselines"]
    }


def _grade_submission(
    sheet: Sheet,
    submission: Submission,
    measured: Measured | None,
    code_points: float,
    problems: list[str],
) -> Graded:
    marked = Marked()
    if submission.answers is not None:
        marked = mark_answers(sheet, submission.answers)
        problems = [*problems, *([marked.problem] if marked.problem else [])]
    elif not sheet.task:
        problems = [*problems, "answers.toml is missing"]
    answered = sum(mark.points or 0.0 for mark in marked.marks.values())
    return Graded(
        submission.student, marked, measured, code_points, answered + code_points, tuple(problems)
    )
