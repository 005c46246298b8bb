"""Where a scenario names user-defined algorithms, found without loading what runs them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.catalogue import schema

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["SESSION", "form_problem", "list_classes", "reference"]

SESSION = "session"
"""In a reference, in place of the file: the class was defined in an interactive session."""

FEW = 1000
"""Entries up to which a list is searched as it is."""


def reference(value: Any) -> tuple[str, schema.Data] | None:
    """Split a user-defined algorithm into reference and parameters; None for any other value.

    Parameters
    ----------
    value
        What a scenario has in the place of an algorithm.
    """
    if isinstance(value, str):
        is_user_defined = ".py:" in value or value.startswith(f"{SESSION}:")
        return (value, {}) if is_user_defined else None
    if not isinstance(value, dict) or value.get("kind") != "python":
        return None
    values = {key: item for key, item in value.items() if key not in ("kind", "class")}
    return str(value.get("class", "")), values


def form_problem(value: Any) -> str | None:
    """Say what is wrong with the form of a user-defined algorithm; None if nothing is.

    Parameters
    ----------
    value
        What a scenario has in its place.
    """
    name = value if isinstance(value, str) else value.get("class")
    expected = 'expected class = "file.py:Class"'
    if name is None:
        return f'"class" is missing; {expected}'
    file, _, cls = str(name).rpartition(":")
    if not isinstance(name, str) or not cls or not (file.endswith(".py") or file == SESSION):
        return f"{name!r} names no class of a file; {expected}"
    return None


def list_classes(data: Any, steps: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], str]]:
    """List the places of user-defined algorithms with their rooms.

    Parameters
    ----------
    data
        A scenario as plain data, or a part of it.
    steps
        Where the part is.
    """
    items = data.items() if isinstance(data, dict) else enumerate(data)
    kind = data.get("kind") if isinstance(data, dict) else None
    for key, value in items:
        if reference(value) is not None and isinstance(key, str):
            room = schema.room_of(key)
            if room is not None:
                yield (*steps, key), room
                continue
        is_searched = isinstance(value, dict) or (
            isinstance(value, list) and not _is_replayed(kind, key, value)
        )
        if is_searched:
            yield from list_classes(value, (*steps, key))


def _is_replayed(kind: Any, key: Any, entries: list[Any]) -> bool:
    """Whether a list is one that may be in a file: such hold numbers only, and may be long."""
    return len(entries) > FEW and (kind, key) in schema.list_replayed_parameters()
