"""Paths into a scenario: ``net.buffer``, ``flows[3].start``, ``flows[*].cc``.

The same strings serve in `Scenario.replace`, in ``--set`` and in error messages.
"""

from __future__ import annotations

import copy
import re
from typing import Any

from ackclock.errors import Problem, ScenarioError, suggestion

__all__ = ["replaced", "split", "text"]

Step = str | int | None
"""A key, an index, or None for every index."""

_STEP = re.compile(r"([A-Za-z_][A-Za-z0-9_-]*)|\[(\d+|\*)\]")


def split(path: str) -> list[Step]:
    """Split a path into its steps.

    Parameters
    ----------
    path
        As in ``flows[*].cc``.

    Returns
    -------
    list
        Keys, indices, and None for ``[*]``.

    Raises
    ------
    ScenarioError
        The text is not a path.
    """
    steps: list[Step] = []
    position = 0
    while position < len(path):
        if steps and path[position] == ".":
            position += 1
        match = _STEP.match(path, position)
        if match is None:
            break
        key, index = match.groups()
        steps.append(key if key else None if index == "*" else int(index))
        position = match.end()
    if not steps or position < len(path) or not isinstance(steps[0], str):
        message = "is not a path; expected something like net.buffer, flows[3].start or flows[*].cc"
        raise ScenarioError([Problem("", f'"{path}" {message}')])
    return steps


def text(steps: list[Any]) -> str:
    """Write steps as a path, the inverse of `split`.

    Parameters
    ----------
    steps
        Keys and indices.
    """
    out = ""
    for step in steps:
        if step is None:
            out += "[*]"
        elif isinstance(step, int):
            out += f"[{step}]"
        else:
            out += f".{step}" if out else step
    return out


def replaced(data: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Copy a scenario's data with values replaced.

    Parameters
    ----------
    data
        The scenario as plain data; left as it is.
    changes
        New values by path; None removes a value, so that its default applies.

    Returns
    -------
    dict
        The changed copy.

    Raises
    ------
    ScenarioError
        A path leads nowhere.
    """
    result = copy.deepcopy(data)
    for path, value in changes.items():
        _set(result, split(path), value, path, [])
    return result


def _set(at: Any, steps: list[Step], value: Any, path: str, done: list[Any]) -> None:
    step, rest = steps[0], steps[1:]
    if isinstance(step, str):
        if not isinstance(at, dict):
            raise ScenarioError(
                [Problem(path, f"{text(done)} holds {at!r}, which has no key {step!r}")]
            )
        if not rest:
            if value is None:
                at.pop(step, None)
            else:
                at[step] = copy.deepcopy(value)
            return
        child = at.get(step)
        if child is None and isinstance(rest[0], str):
            child = at[step] = {}
        elif child is None:
            hint = suggestion(step, [k for k, v in at.items() if isinstance(v, list)])
            raise ScenarioError(
                [Problem(path, f'there is no list "{text([*done, step])}"; {hint}')]
            )
        elif isinstance(child, str) and isinstance(rest[0], str) and step != "id":
            # "aimd" is short for { kind = "aimd" }: a parameter may be set on it.
            child = at[step] = {"kind": child}
        _set(child, rest, value, path, [*done, step])
        return
    if not isinstance(at, list):
        raise ScenarioError([Problem(path, f"{text(done)} is not a list")])
    indices = range(len(at)) if step is None else [step]
    for index in indices:
        if index >= len(at):
            count = f"{text(done)} has {len(at)} entries, numbered from 0"
            raise ScenarioError([Problem(path, f"there is no entry {index}; {count}")])
        if rest:
            _set(at[index], rest, value, path, [*done, index])
        else:
            at[index] = copy.deepcopy(value)
