"""What students hand in beside answers: a control that is scored, a classifier of runs.

A new kind is a module with a `Task` and one line in `TASKS`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.course.tasks.task import CourseTask

__all__ = ["TASKS", "find_task"]

TASKS = {
    "control": "ackclock.course.tasks.control:ControlTask",
    "classifier": "ackclock.course.tasks.classifier:ClassifierTask",
}
"""Classes by the name that sheets have for them."""


def find_task(kind: str) -> CourseTask:
    """Make a task.

    Parameters
    ----------
    kind
        As in ``task.kind`` of a sheet.
    """
    module, _, name = TASKS[kind].partition(":")
    task: CourseTask = getattr(import_module(module), name)()
    return task
