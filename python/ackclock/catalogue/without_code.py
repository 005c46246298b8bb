"""Checks scenarios that name Python classes without importing their files."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from ackclock._util import paths
from ackclock.catalogue.class_names import form_problem, list_classes, reference
from ackclock.catalogue.guest_programs import without_guests
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.catalogue import schema

__all__ = ["IN_PLACE", "replace_classes"]

IN_PLACE = {"cc": "aimd", "qdisc": "fifo"}
"""An algorithm of the same room, so that all else of the scenario can be checked."""


def replace_classes(data: schema.Data, file: Path) -> tuple[schema.Data, list[str]]:
    """Put algorithms of the core in place of user-defined classes, whose files are not imported.

    Parameters
    ----------
    data
        The scenario as plain data.
    file
        Where it came from; Python files are relative to it.

    Returns
    -------
    tuple
        A copy of the scenario, and the classes that it named, as ``file.py:Class``, and commands
        of guests.

    Raises
    ------
    ScenarioError
        A reference has a wrong form, or its file is missing.
    """
    result, guests = without_guests(copy.deepcopy(data))
    named: list[str] = []
    problems: list[Problem] = []
    for steps, room in list(list_classes(result)):
        table = result
        for step in steps[:-1]:
            table = table[step]
        value = table[steps[-1]]
        name, _ = reference(value) or ("", {})
        problem = form_problem(value)
        source = name.rpartition(":")[0]
        if problem is None and not (file.parent / source).is_file():
            problem = f'there is no file "{source}"'
        if problem is not None:
            problems.append(Problem(paths.text(list(steps)), problem, str(file)))
        named.append(name)
        table[steps[-1]] = IN_PLACE[room]
    if problems:
        raise ScenarioError(problems)
    return result, list(dict.fromkeys([*named, *guests]))
