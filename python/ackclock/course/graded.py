"""What grading a class gave, as plain data."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ackclock.course.students.run import StudentLimits

if TYPE_CHECKING:
    from ackclock.course.answers import Marked
    from ackclock.course.sheet import Sheet
    from ackclock.course.students.confine import Holds
    from ackclock.course.tasks.task import Item, Measured

__all__ = ["Graded", "Marks"]


@dataclass(frozen=True)
class Graded:
    """What one student gets.

    Attributes
    ----------
    points
        Of answers and code; open answers are not in it.
    problems
        One sentence each: a file that is not usable, a line that failed.
    """

    student: str
    marked: Marked
    measured: Measured | None
    code_points: float
    points: float
    problems: tuple[str, ...]


@dataclass(frozen=True)
class Marks:
    """Marks of a class, and what they rest on.

    Attributes
    ----------
    items
        What all students' code was put to.
    baselines
        What built-in controls did there, by name.
    holds
        Which limits this machine enforced; None: no code ran.
    notes
        What of the teacher's files was left out, a sentence each.
    """

    sheet: Sheet
    graded: tuple[Graded, ...]
    items: tuple[Item, ...] = ()
    baselines: dict[str, Measured] = field(default_factory=dict)
    holds: Holds | None = None
    limits: StudentLimits = field(default_factory=StudentLimits)
    notes: tuple[str, ...] = ()

    @property
    def by_machine(self) -> float:
        """Points that can be had without a person's marks."""
        open_ = sum(q.points for q in self.sheet.questions if q.kind == "open")
        return self.sheet.points - open_
