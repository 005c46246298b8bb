"""What a scenario and a fluid case have in common: plain data that cannot be changed."""

from __future__ import annotations

import copy
import json
from typing import TYPE_CHECKING, Any, Self

from ackclock._util import core
from ackclock.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

__all__ = ["Frozen", "cell_text", "paths_of_plain", "read_problems"]


class Frozen:
    """A document as plain data and the file it came from; equal if the data are."""

    __slots__ = ("_data", "_file")
    _data: dict[str, Any]
    _file: Path | None

    def _freeze(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _fill(
        self, data: dict[str, Any], file: Path | None, typed: Iterable[str] | None = None
    ) -> None:
        """Check the form of a document and take it over; ``typed``: paths that a person typed."""
        raise NotImplementedError

    def _replace_values(self, changes: Mapping[str, Any]) -> Self:
        """Copy with values changed by path."""
        from ackclock._util import paths
        from ackclock.catalogue.records import plain

        values = {path: plain(value) for path, value in changes.items()}
        changed = type(self).__new__(type(self))
        changed._fill(paths.replace_values(self._data, values), self._file, values)
        return changed

    def __setattr__(self, name: str, value: object) -> None:
        message = f"a {type(self).__name__} cannot be changed; use .replace({name}=...)"
        raise AttributeError(message)

    def __eq__(self, other: object) -> bool:
        return self._data == other._data if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(json.dumps(self._data, sort_keys=True))

    @property
    def data(self) -> dict[str, Any]:
        """A copy as plain data, values as they were given."""
        return copy.deepcopy(self._data)

    @property
    def name(self) -> str:
        """Its name; empty if it has none."""
        return str(self._data.get("name", ""))

    @property
    def file(self) -> Path | None:
        """Where it was read from; None if it was made by a program."""
        return self._file

    @property
    def seed(self) -> int:
        """Seed of every random number."""
        return int(self._data.get("seed", 1))

    @property
    def engine_version(self) -> str:
        """Version of the core and a hash of its binary: other bits, other runs."""
        return core.core_version()


def paths_of_plain(given: dict[str, Any]) -> Iterator[str]:
    """Find where values are that are no records."""
    from ackclock.catalogue.records import Record

    for key, value in given.items():
        entries = value if isinstance(value, list) else None
        if entries is None and not isinstance(value, Record):
            yield key
        for index, entry in enumerate(entries or ()):
            if not isinstance(entry, Record):
                yield f"{key}[{index}]"


def cell_text(value: Any) -> str:
    """Write a value of a document: text as it is, an algorithm by its name, the rest as JSON."""
    if isinstance(value, dict) and set(value) == {"kind"}:
        return str(value["kind"])
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 80 else f"{text[:77]}..."


def read_problems(text: str) -> list[Problem]:
    """Read problems as the core reports them, in JSON."""
    return [Problem(**item) for item in json.loads(text)]
