"""What the cases of all engines have in common: a document that cannot be changed."""

from __future__ import annotations

import copy
import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ackclock._util import core
from ackclock._util.documents import Typed
from ackclock.case import Parcel, engine_named
from ackclock.errors import Problem, ScenarioError, UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = [
    "DocumentCase",
    "cell_text",
    "folder_of",
    "locate_problems",
    "paths_of_plain",
    "read_problems",
]


class DocumentCase:
    """A case as plain data and the file that they came from; equal if the data are.

    A class of cases has `ackclock.case.Case`'s other members, and checks a document in ``_fill``.

    Parameters
    ----------
    data
        The document.
    file
        Where it came from: relative paths inside are relative to it, messages name it.

    Raises
    ------
    ScenarioError
        With every problem of form at once. What needs the whole network is found by `check`.
    """

    __slots__ = ("_data", "_file")
    _data: dict[str, Any]
    _file: Path | None

    engine = ""
    """Who answers; see `ackclock.engines.registry`."""

    def __init__(self, data: dict[str, Any], file: Path | None = None) -> None:
        self._fill_plain(data, file)

    def _fill_plain(self, data: dict[str, Any], file: Path | None) -> None:
        """Fill from data in which nulls and algorithms as objects may be."""
        from ackclock.catalogue.records import plain

        # A null of JSON says the same as a key left out, and TOML has none.
        self._fill(plain(data), file, ("",) if isinstance(data, Typed) else None)

    @classmethod
    def from_data(cls, data: dict[str, Any], file: Path | None = None) -> Self:
        """Make a case of plain data, as parsed from TOML or JSON.

        Parameters
        ----------
        data
            The tables of the file. Plain numbers are of SI units; but of what was read from TOML,
            as of all that people type, rates, sizes and delays need their units.
        file
            Where they came from: relative paths inside are relative to it, messages name it.

        Raises
        ------
        ScenarioError
            With every problem of form at once.
        """
        case = cls.__new__(cls)
        case._fill_plain(data, file)
        return case

    @classmethod
    def from_document(cls, document: dict[str, Any], file: Path | None = None) -> Self:
        """Make a case of a document that may name its engine.

        Parameters
        ----------
        document
            As of `from_data`; its ``engine``, if given, is that of the class.
        file
            As of `from_data`.

        Raises
        ------
        ScenarioError
            With every problem of form at once.
        UnsupportedError
            The document is for another engine.
        """
        # A table stays what it is: of one that a person typed more is expected.
        data = copy.copy(document)
        cls.check_engine(data.pop("engine", cls.engine), file)
        return cls.from_data(data, file)

    @classmethod
    def check_engine(cls, name: object, file: Path | None = None) -> None:
        """Refuse an engine that is not the one of the class.

        Parameters
        ----------
        name
            Of the engine.
        file
            The document that names it.

        Raises
        ------
        UnsupportedError
            It is another engine, or none that there is.
        """
        if name != cls.engine:
            engine_named(name, file)
            where = f"{file}: " if file is not None else ""
            expected = f'"{cls.engine}", the engine of a {cls.__name__}'
            raise UnsupportedError(f'{where}engine: "{name}" is not {expected}')

    def __reduce__(self) -> tuple[Any, ...]:
        return (type(self).from_data, (self._data, self._file))

    def _freeze(self, **values: Any) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def _fill(
        self, data: dict[str, Any], file: Path | None, typed: Iterable[str] | None = None
    ) -> None:
        """Check the form of a document and take it over; ``typed``: paths that a person typed."""
        raise NotImplementedError

    def replace(self, **changes: Any) -> Self:
        """Copy with values changed.

        Parameters
        ----------
        **changes
            New values by path, as in ``**{"net.buffer": "2 bdp", "flows[*].cc": ac.cc.Vegas()}``;
            None takes the default.

        Raises
        ------
        ScenarioError
            A path leads nowhere, or a value cannot be.
        """
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

    def to_document(self) -> dict[str, Any]:
        """Plain data that names no file of data; an equal case can be made of it."""
        return {"engine": self.engine, **copy.deepcopy(self._data)}

    def to_toml(self) -> str:
        """Write as TOML; `ackclock.engines.registry.load_case` gives an equal case back."""
        import tomli_w

        return tomli_w.dumps({"engine": self.engine, **self._data})

    def parcel(self) -> Parcel:
        """All that another machine needs to run the case."""
        return Parcel(self.to_document(), {})

    @property
    def folder(self) -> Path:
        """What file names in the document are relative to."""
        return folder_of(self._file)

    def locate_problems(self, problems: Iterable[Problem]) -> ScenarioError:
        """Make an error of problems of the document, which names its file.

        Parameters
        ----------
        problems
            One or more.
        """
        return locate_problems(problems, self._file)


def folder_of(file: Path | None) -> Path:
    """Give the folder that names in a document are relative to; the current one without a file."""
    return Path() if file is None else file.parent


def locate_problems(problems: Iterable[Problem], file: Path | None) -> ScenarioError:
    """Make an error of problems of a document, which names its file.

    Parameters
    ----------
    problems
        One or more; those that name another file keep that.
    file
        The document's, if it came from one.
    """
    name = None if file is None else str(file)
    return ScenarioError([dataclasses.replace(p, file=p.file or name) for p in problems])


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
