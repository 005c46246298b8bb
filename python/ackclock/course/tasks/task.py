"""What the grader requires of a kind of task."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ackclock.course.tasks.source import SourceEntry

__all__ = ["CourseTask", "Item", "Measured"]


@dataclass(frozen=True)
class Item:
    """One thing that a student's code is put to: a trace, a run."""

    name: str
    data: Mapping[str, Any]
    """What the student's process gets."""
    answer: str = ""
    """What it does not get: the label of a run."""


@dataclass(frozen=True)
class Measured:
    """What became of one student's code on all items.

    Attributes
    ----------
    results
        By the name of the item; an item that failed is not in it.
    problem
        Why the rest is missing, in one sentence that names the student's line; empty: nothing is.
    cpu_s
        CPU time of the process [s].
    """

    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    problem: str = ""
    cpu_s: float = 0.0


class CourseTask(Protocol):
    """A kind of task."""

    FILE: str
    """Name of the file that a student hands in."""

    def find_entry(self, file: Path) -> SourceEntry:
        """Find what is called in a student's file, without running it.

        Raises
        ------
        NotUsableError
            It is not there.
        """
        ...

    def items(
        self, settings: Mapping[str, Any], seed: int, traces: Path | None, folder: Path
    ) -> tuple[list[Item], list[str]]:
        """Make what all students are put to, and say what of the teacher's files is unusable.

        Parameters
        ----------
        settings
            The table ``task`` of the sheet.
        seed
            Of the hidden part; another number gives other items.
        traces
            Folder of the teacher's traces; None: made from the seed.
        folder
            For files that a student's process reads, named ``file`` in the data of an item.
        """
        ...

    def work(self, file: str, entry: str, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put a student's code to one item; called in the student's process.

        Parameters
        ----------
        file, entry
            Whose code, and what of it.
        data
            Of the item.
        """
        ...

    def share(
        self,
        measured: Measured,
        items: Sequence[Item],
        baselines: Mapping[str, Measured],
        settings: Mapping[str, Any],
    ) -> float:
        """Give the share of the points, 0 to 1."""
        ...
