"""The names that a document has for algorithms with several.

Two documents that differ in these alone are one run. Its rows have the names of the document that
ran first; a result shows those of the document that it belongs to.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.catalogue import schema

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from ackclock.case import Case

__all__ = ["COLUMNS", "has_other_name", "respell", "writes_other_name", "written_names"]

COLUMNS = ("cc", "recovery")
"""Columns of tables that hold names of algorithms, each called as its room."""


def written_names(data: Any) -> dict[tuple[str, str], str]:
    """Find how a document writes algorithms, by room and registry name.

    Parameters
    ----------
    data
        The document, or a part of it, as plain data.

    Returns
    -------
    dict
        Without those that it writes in several ways.
    """
    names: dict[tuple[str, str], set[str]] = {}
    for room, name in _names(data):
        names.setdefault((room, schema.registry_name(room, name)), set()).add(name)
    return {key: next(iter(each)) for key, each in names.items() if len(each) == 1}


def _names(data: Any) -> Iterator[tuple[str, str]]:
    for key, value in data.items() if isinstance(data, dict) else ():
        if key in COLUMNS:
            name = value.get("kind") if isinstance(value, dict) else value
            if isinstance(name, str):
                yield key, name
        else:
            yield from _names(value)
    if isinstance(data, list) and data and isinstance(data[0], dict):
        for entry in data:
            yield from _names(entry)


def has_other_name(names: Iterable[tuple[str, str]]) -> bool:
    """Whether one of these names, with their rooms, is not the registry's.

    Parameters
    ----------
    names
        Room and name of each.
    """
    return any(schema.registry_name(room, name) != name for room, name in names)


def writes_other_name(case: Case, changes: Iterable[Mapping[str, Any]]) -> bool:
    """Whether a case, or what changes it, has a name that is not the registry's.

    Parameters
    ----------
    case
        What is changed.
    changes
        New values by path.
    """
    values = (value for each in changes for value in each.values())
    texts = {value if isinstance(value, str) else value["kind"] for value in _plain(values)}
    return has_other_name(
        [*_names(case.to_document()), *((room, text) for room in COLUMNS for text in texts)]
    )


def _plain(values: Iterable[Any]) -> Iterator[Any]:
    from ackclock.catalogue.records import plain

    for value in values:
        data = plain(value)
        if isinstance(data, str) or (isinstance(data, dict) and isinstance(data.get("kind"), str)):
            yield data


def respell(room: str, name: str, written: dict[tuple[str, str], str]) -> str:
    """Write a name of an algorithm as a document does.

    Parameters
    ----------
    room, name
        The algorithm, by any of its names.
    written
        As `written_names` gives it; a name that is not in it stays.
    """
    return written.get((room, schema.registry_name(room, name)), name)
