"""Paths into a scenario: ``net.buffer``, ``flows[3].start``, ``flows[bulk].cc``, ``flows[*].cc``.

The same strings serve in `Scenario.replace`, in ``--set`` and in error messages.
"""

from __future__ import annotations

import copy
import re
from dataclasses import dataclass
from typing import Any

from ackclock.errors import Problem, ScenarioError, suggestion

__all__ = ["Id", "Step", "position", "replace_values", "split", "text"]


@dataclass(frozen=True)
class Id:
    """An entry of a list by its key ``id``.

    Parameters
    ----------
    name
        The value of the key.
    """

    name: str


Step = str | int | Id | None
"""A key, an index, an entry by its id, or None for every index."""

_STEP = re.compile(r"""([A-Za-z_][A-Za-z0-9_-]*)|\[(?:(\d+|\*)|"([^"]+)"|([^\]["*]+))\]""")


def split(path: str) -> list[Step]:
    """Split a path into its steps.

    Parameters
    ----------
    path
        As in ``flows[*].cc``.

    Returns
    -------
    list
        Keys, indices, ids as `Id`, and None for ``[*]``. An id of digits is quoted:
        ``flows["1"]``.

    Raises
    ------
    ScenarioError
        The text is not a path.
    """
    steps: list[Step] = []
    at = 0
    while at < len(path):
        if steps and path[at] == ".":
            at += 1
        match = _STEP.match(path, at)
        if match is None:
            break
        key, index, quoted, name = match.groups()
        if key:
            steps.append(key)
        elif index:
            steps.append(None if index == "*" else int(index))
        else:
            steps.append(Id(quoted or name))
        at = match.end()
    if not steps or at < len(path) or not isinstance(steps[0], str):
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
        elif isinstance(step, Id):
            out += f'["{step.name}"]' if step.name.isdigit() else f"[{step.name}]"
        else:
            out += f".{step}" if out else step
    return out


def position(entries: list[Any], entry: Id) -> int | None:
    """Find an entry of a list by its id; None if there is none.

    Parameters
    ----------
    entries
        The list.
    entry
        The id.
    """
    ids = [item.get("id") if isinstance(item, dict) else None for item in entries]
    return ids.index(entry.name) if entry.name in ids else None


def replace_values(data: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
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


def _set(holder: Any, steps: list[Step], value: Any, path: str, way: list[Any]) -> None:
    step, further = steps[0], steps[1:]
    if isinstance(step, str):
        if not isinstance(holder, dict):
            raise ScenarioError(
                [Problem(path, f"{text(way)} holds {holder!r}, which has no key {step!r}")]
            )
        if not further:
            if value is None:
                holder.pop(step, None)
            else:
                holder[step] = copy.deepcopy(value)
            return
        child = holder.get(step)
        if child is None and isinstance(further[0], str):
            child = holder[step] = {}
        elif child is None:
            hint = suggestion(step, [k for k, v in holder.items() if isinstance(v, list)])
            raise ScenarioError([Problem(path, f'there is no list "{text([*way, step])}"; {hint}')])
        elif isinstance(child, str) and isinstance(further[0], str) and step != "id":
            # "aimd" is short for { kind = "aimd" }: a parameter may be set on it.
            child = holder[step] = _spelled_out(child)
        _set(child, further, value, path, [*way, step])
        return
    if not isinstance(holder, list):
        raise ScenarioError([Problem(path, f"{text(way)} is not a list")])
    if isinstance(step, Id):
        entry_index = position(holder, step)
        if entry_index is None:
            ids = [entry["id"] for entry in holder if isinstance(entry, dict) and "id" in entry]
            hint = suggestion(step.name, ids) if ids else "no entry has an id; number them from 0"
            message = f'{text(way)} has no entry with id "{step.name}"; {hint}'
            raise ScenarioError([Problem(path, message)])
        step = entry_index
    indices = range(len(holder)) if step is None else [step]
    for index in indices:
        if index >= len(holder):
            count = f"{text(way)} has {len(holder)} entries, numbered from 0"
            raise ScenarioError([Problem(path, f"there is no entry {index}; {count}")])
        if further:
            _set(holder[index], further, value, path, [*way, index])
        else:
            holder[index] = copy.deepcopy(value)


def _spelled_out(algorithm: str) -> dict[str, Any]:
    is_class = ".py:" in algorithm or algorithm.startswith("session:")
    return {"kind": "python", "class": algorithm} if is_class else {"kind": algorithm}
