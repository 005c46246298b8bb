"""Shows how far a sweep is, with rate and time left: a bar on a terminal, lines elsewhere."""

from __future__ import annotations

import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock._util.number_text import clock
from ackclock._util.progress import ProgressLines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


__all__ = ["Status", "show_status"]


@dataclass(frozen=True)
class Status:
    """How far a sweep is.

    Parameters
    ----------
    name
        Of the sweep.
    where
        Where runs happen.
    requested
        Runs wanted in all, as far as is known.
    stored
        Of these, runs that the store had.
    finished
        Runs done now, with the parts of those under way.
    seconds
        Time since the start [s].
    left_s
        Predicted time to the end [s]; None if not known yet.
    """

    name: str
    where: str
    requested: int
    stored: int
    finished: float
    seconds: float
    left_s: float | None

    @property
    def rate(self) -> float:
        """Runs per second."""
        return self.finished / self.seconds if self.seconds > 0 else 0.0


@contextmanager
def show_status(
    progress: bool | Callable[[Status], object],  # noqa: FBT001
) -> Iterator[Callable[[Status], object]]:
    """Give a function that takes a sweep's state.

    Parameters
    ----------
    progress
        Such a function; or whether to show a bar or, where standard error is no terminal, lines.
    """
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda _: None
        return
    if not sys.stderr.isatty():
        lines = ProgressLines()
        yield lambda status: lines.report(lambda _: f"{status.name}: {describe(status)}")
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.fields[status]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, status="")

        def report(status: Status) -> None:
            bar.update(
                task,
                description=status.name,
                total=status.requested,
                completed=status.stored + status.finished,
                status=describe(status),
            )

        yield report


def describe(status: Status) -> str:
    """Write a state in one line.

    Parameters
    ----------
    status
        The state.
    """
    clauses = [f"{status.stored + int(status.finished):,} of {status.requested:,} runs"]
    if status.stored:
        clauses.append(f"{status.stored:,} stored before")
    clauses.append(f"{status.rate:.3g} runs/s on {status.where}")
    if status.left_s is not None:
        clauses.append(f"{clock(status.left_s)} left")
    return ", ".join(clauses)
