"""What every engine offers to sweeps, stores and reports: one protocol and one registry.

A *case* is one question put to an engine: an immutable object made of a document (plain data, a
TOML file) whose key ``engine`` says who answers. `ackclock.Scenario` is the case of the packet
engine. Sweeps, executors, the store and reports know cases only by the protocol `Case`.

To add an engine: write a class with the members of `Case` in a module of its own, and one line in
`ENGINES`.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import importlib
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self, runtime_checkable

from ackclock._util import paths
from ackclock.errors import Problem, ScenarioError, UnsupportedError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pyarrow as pa

    Document = dict[str, Any]
    Make = Callable[[Document, Path | None], "Case"]

__all__ = [
    "ENGINES",
    "Case",
    "Cost",
    "Engine",
    "Outcome",
    "Parcel",
    "case",
    "core_version",
    "load_case",
    "register",
]


@dataclass(frozen=True)
class Cost:
    """What a run is predicted to need.

    Parameters
    ----------
    events
        Events of the engine, or its elementary steps.
    cpu_s
        Time of one core [s].
    """

    events: float
    cpu_s: float


@functools.cache
def _temporary_folder(content: tuple[tuple[str, str], ...]) -> Path:
    import shutil
    import tempfile

    names = hashlib.sha256(repr(content).encode()).hexdigest()
    folder = Path(tempfile.gettempdir()) / f"ackclock-{os.getpid()}-{names[:16]}"
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@dataclass(frozen=True)
class Parcel:
    """A case as text: for other processes, other machines, and archives.

    Parameters
    ----------
    document
        With its key ``engine``; names no files but those of the parcel.
    files
        Text of the files that the document names, by relative path: code of the user's own.
    """

    document: dict[str, Any]
    files: Mapping[str, str]

    def open(self, folder: Path | None = None) -> Case:
        """Make the case.

        Parameters
        ----------
        folder
            Gets the files; left out: a temporary folder, made once per content, that is gone when
            the process ends.
        """
        if not self.files:
            return case(self.document)
        if folder is None:
            folder = _temporary_folder(tuple(sorted(self.files.items())))
        for name, text in self.files.items():
            place = folder / name
            if not place.is_file() or place.read_text(encoding="utf-8") != text:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_text(text, encoding="utf-8")
        return case(self.document, folder / "scenario.toml")


class Outcome(Protocol):
    """What a finished run leaves. `ackclock.Run` is one."""

    @property
    def summary(self) -> dict[str, Any]:
        """Plain data for JSON.

        An outcome that has it as text already may have ``summary_json`` besides.
        """

    @property
    def tables(self) -> Mapping[str, pa.Table]:
        """Arrow tables by name; names of columns end in their units."""


@runtime_checkable
class Case(Protocol):
    """One question put to an engine. Immutable; can be pickled."""

    @property
    def engine(self) -> str:
        """Name of the engine in `ENGINES`."""

    @property
    def engine_version(self) -> str:
        """Changes whenever the engine could give other results for the same case."""

    @property
    def name(self) -> str:
        """A title; empty if there is none. Does not count for `fingerprint`."""

    @property
    def seed(self) -> int:
        """Seed of every random number of the run."""

    @property
    def is_random(self) -> bool:
        """Whether results depend on the seed; if not, one replicate is all there is."""

    @property
    def holds_lock(self) -> bool:
        """Whether a run holds the interpreter's lock, so that only processes run in parallel."""

    @property
    def fingerprint(self) -> str:
        """Hash [hex] of the compiled question: cases that ask the same have the same.

        Seed, name and what is recorded do not count.
        """

    @property
    def recorded(self) -> str:
        """What is recorded besides the summary, as canonical text; part of a stored run's key."""

    def replace(self, **changes: Any) -> Self:
        """Copy with values changed by path, as in ``**{"net.buffer": "2 bdp"}``; None: default.

        Raises `ScenarioError` for a path that leads nowhere or a value that cannot be.
        """

    def seeded(self, seed: int) -> Self:
        """Copy with another seed; cheap, for it is done for every run."""

    def to_document(self) -> dict[str, Any]:
        """Plain data that names no file of data; `case` makes a case of it that asks the same."""

    def parcel(self) -> Parcel:
        """All that another machine needs to ask the same; `Parcel.open` gives the case back."""

    def check(self) -> None:
        """Check form and meaning; raise `ScenarioError` with every problem at once."""

    def cost(self) -> Cost:
        """Predict what `execute` will need."""

    def execute(self, progress: Callable[[float, float], object] | None = None) -> Outcome:
        """Run to the end.

        ``progress`` is called a few times a second with the fraction done and the simulated time
        [s]; what it raises stops the run.
        """


class Engine(NamedTuple):
    """An engine in the registry.

    Parameters
    ----------
    title
        One sentence.
    home
        ``module:function``: makes a case of a document and of the file it came from, if any.
    """

    title: str
    home: str | Make


ENGINES: dict[str, Engine] = {
    "packet": Engine(
        "every packet on every link, as discrete events", "ackclock.scenario.scenario:from_document"
    ),
    "fluid": Engine("rates in the steady state", "ackclock.engines.fluid.case:from_document"),
    "model": Engine(
        "closed forms over grids of their parameters", "ackclock.engines.model.case:from_document"
    ),
}
"""Engines by name; modules are imported when one is first asked for."""

DEFAULT = "packet"

MOST_DEEP = 100
"""Levels of tables and lists in a document; none that means something has ten."""


def register(name: str, make: Make, title: str = "") -> None:
    """Add an engine of one's own, for this process.

    Parameters
    ----------
    name
        What documents say after ``engine =``.
    make
        Makes a case of a document (without the key ``engine``) and of its file, if any.
    title
        One sentence.
    """
    ENGINES[name] = Engine(title, make)


@functools.cache
def core_version() -> str:
    """Version of the compiled core with a hash of its binary: other bits, other runs."""
    from ackclock import _core

    binary = Path(str(_core.__file__)).read_bytes()
    return f"{_core.version()}+{hashlib.sha256(binary).hexdigest()[:12]}"


def case(document: Mapping[str, Any], file: Path | None = None) -> Case:
    """Make a case of plain data.

    Parameters
    ----------
    document
        Its key ``engine`` names the engine; left out: ``packet``.
    file
        Where it came from: relative paths inside are relative to its folder, messages name it.

    Raises
    ------
    UnsupportedError
        There is no such engine.
    ScenarioError
        The document is wrong.
    """
    rest = dict(document)
    name = rest.pop("engine", DEFAULT)
    if not isinstance(name, str) or name not in ENGINES:
        where = f"{file}: " if file is not None else ""
        message = f'{where}engine: there is no engine "{name}"; {suggestion(str(name), ENGINES)}'
        raise UnsupportedError(message)
    make = ENGINES[name].home
    if isinstance(make, str):
        module, _, function = make.partition(":")
        make = getattr(importlib.import_module(module), function)
    made: Case = make(rest, file)
    return made


def load_case(file: str | Path) -> Case:
    """Read a case of any engine from a TOML or JSON file.

    Parameters
    ----------
    file
        The path.

    Raises
    ------
    ScenarioError
        The file cannot be read or has problems.
    UnsupportedError
        It names no engine that there is.
    """
    return case(read_document(Path(file)), Path(file))


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
        text = file.read_text(encoding="utf-8")
    except OSError as error:
        raise _unreadable(file, f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise _unreadable(file, "is not UTF-8 text") from None
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
        deep = _is_deep(data)
    except ValueError as error:
        form = "JSON" if is_json else "TOML"
        raise _unreadable(file, f"not valid {form}: {error}") from None
    except RecursionError:
        deep = True
    if deep:
        message = f"tables and lists are nested more than {MOST_DEEP} levels deep; expected a few"
        raise _unreadable(file, message)
    if not isinstance(data, dict):
        what = "a list" if isinstance(data, list) else f"the value {data!r}"
        message = f"holds {what} of JSON; expected an object, as in {{...}}"
        raise _unreadable(file, message)
    if twice:
        name = None if file is None else str(file)
        raise ScenarioError(
            [
                Problem(paths.text(list(steps)), "is given twice; expected it once", name)
                for steps in _twice(data)
            ]
        )
    return dict(data)


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


def _is_deep(data: Any) -> bool:
    """Whether something is nested deeper than code that calls itself can follow."""
    level = [data] if isinstance(data, dict | list) else []
    for _ in range(MOST_DEEP):
        level = [
            value
            for outer in level
            for value in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(value, dict | list)
        ]
        if not level:
            return False
    return True


def _unreadable(file: Path | None, message: str) -> ScenarioError:
    return ScenarioError([Problem("", message, None if file is None else str(file))])
