"""Reads documents: TOML or JSON files as plain data."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ackclock._util import paths
from ackclock._util.foreign_files import ForeignFileError, describe_bytes, read_bytes
from ackclock._util.json_text import MOST_DEEP, is_deep
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = [
    "Typed",
    "check_depth",
    "parse_document",
    "read_document",
]


class Typed(dict[str, Any]):
    """A table that a person typed: its rates, sizes and delays need their units.

    TOML documents are such tables, and so are the tables at their top level. What programs write,
    JSON, may have plain numbers of SI units.
    """


def read_document(file: Path) -> dict[str, Any]:
    """Read a TOML or JSON file as plain data.

    Parameters
    ----------
    file
        The path.

    Raises
    ------
    ScenarioError
        It cannot be read, or is neither.
    """
    try:
        content = read_bytes(file, links=True)
        text = content.decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    except OSError as error:
        raise _unreadable(file, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _unreadable(file, f"is {describe_bytes(content)}") from None
    except ForeignFileError as error:
        raise _unreadable(file, f"cannot be read: {error.reason}") from None
    except ValueError as error:  # a path with a null character
        raise _unreadable(file, f"cannot be read: {error}") from None
    return parse_document(text, file)


def parse_document(text: str, file: Path | None = None) -> dict[str, Any]:
    """Parse TOML, or JSON if it begins with a brace or comes from a file named so.

    Parameters
    ----------
    text
        The document; a byte order mark before it is left out.
    file
        Where it came from, for the message.

    Raises
    ------
    ScenarioError
        It is neither, a key is given twice, or it is nested too deep.
    """
    import json
    import tomllib

    text = text.removeprefix("\ufeff")
    is_json = text.lstrip().startswith("{") or (file is not None and file.suffix == ".json")
    twice: list[str] = []

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) == len(pairs):
            return found
        counts = Counter(key for key, _ in pairs)
        doubled = _Table(found)
        doubled.twice = [key for key, count in counts.items() if count > 1]
        twice.extend(doubled.twice)
        return doubled

    try:
        data = json.loads(text, object_pairs_hook=table) if is_json else tomllib.loads(text)
        deep = is_deep(data)
    except ValueError as error:
        form = "JSON" if is_json else "TOML"
        raise _unreadable(file, f"not valid {form}: {error}") from None
    except RecursionError:
        deep = True
    if deep:
        raise _too_deep(file)
    if not isinstance(data, dict):
        content = "a list" if isinstance(data, list) else f"the value {data!r}"
        message = f"holds {content} of JSON; expected an object, as in {{...}}"
        raise _unreadable(file, message)
    if twice:
        name = None if file is None else str(file)
        raise ScenarioError(
            [
                Problem(paths.text(list(steps)), "is given twice; expected it once", name)
                for steps in _twice(data)
            ]
        )
    return dict(data) if is_json else _to_typed(data)


def _to_typed(data: dict[str, Any]) -> Typed:
    tables = {key: Typed(table) for key, table in data.items() if isinstance(table, dict)}
    return Typed({**data, **tables})


class _Table(dict[str, Any]):
    """An object of JSON that has keys more than once: `json` would keep the last and be silent."""

    twice: list[str]


def _twice(data: Any, steps: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Where keys are that were given twice."""
    if isinstance(data, _Table):
        yield from ((*steps, key) for key in data.twice)
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from _twice(value, (*steps, key))


def check_depth(data: object, file: Path | None = None) -> None:
    """Refuse plain data that is nested deeper than `MOST_DEEP` levels.

    Parameters
    ----------
    data
        The tables of a document.
    file
        Where they came from, for the message.

    Raises
    ------
    ScenarioError
        It is.
    """
    if is_deep(data):
        raise _too_deep(file)


def _too_deep(file: Path | None) -> ScenarioError:
    message = f"tables and lists are nested more than {MOST_DEEP} levels deep; expected a few"
    return _unreadable(file, message)


def _unreadable(file: Path | None, message: str) -> ScenarioError:
    return ScenarioError([Problem("", message, None if file is None else str(file))])
