"""Lab sheets of a course: list, start, grade."""

from __future__ import annotations

from ackclock.course.grade import Grading, grade
from ackclock.course.sheet import Sheet, find_sheet, sheets
from ackclock.course.start import start
from ackclock.course.students.run import StudentLimits

__all__ = ["Grading", "Sheet", "StudentLimits", "find_sheet", "grade", "sheets", "start"]
