"""Finds the user-defined algorithms of a scenario, makes them for a run, keeps their code."""

from __future__ import annotations

import copy
import dataclasses
import dis
import hashlib
import importlib.machinery
import importlib.util
import json
import os
import random
import sys
import traceback
from contextlib import contextmanager, nullcontext, redirect_stdout, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util import paths
from ackclock._util.end_signals import find_end_signal, running_code, user_files
from ackclock.catalogue.class_loading import StartsRunError, loading
from ackclock.catalogue.class_names import SESSION, list_classes, reference
from ackclock.catalogue.code_permission import why_forbidden
from ackclock.catalogue.guest_programs import Hired, describe_command, hire, list_guests
from ackclock.catalogue.python_class import (
    AQM,
    CONTROL,
    Definition,
    DefinitionError,
    known,
    lock,
)
from ackclock.errors import AlgorithmError, Problem, ScenarioError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from types import CodeType

    from ackclock.catalogue import schema

__all__ = [
    "Made",
    "Workshop",
    "bound",
    "check",
    "contain_exits",
    "copy_code",
    "describe_failure",
]


def _at(data: Any, steps: tuple[Any, ...]) -> Any:
    for step in steps:
        data = data[step]
    return data


def check(data: schema.Data, folder: Path) -> None:
    """Find the classes that a scenario names and check their parameters.

    Parameters
    ----------
    data
        The scenario as plain data, right in form.
    folder
        What file names are relative to.

    Raises
    ------
    ScenarioError
        A class is not to be had, or a parameter is wrong.
    """
    problems: list[Problem] = []
    for steps, room in list_classes(data):
        path = paths.text(list(steps))
        name, values = reference(_at(data, steps)) or ("", {})
        try:
            definition = _find(name, folder, fresh=True)
        except _NotFoundError as error:
            # Flows that share a file share its traceback.
            again = any(problem.trace == error.trace for problem in problems)
            problems.append(Problem(path, str(error), trace="" if again else error.trace))
            continue
        if definition.room != room:
            expected = CONTROL.word if room == "cc" else AQM.word
            title = definition.cls.__name__
            problems.append(Problem(path, f"{title} is {definition.word}; expected {expected}"))
        elif room == "cc" and data.get("era", "rfc") != "rfc":
            message = f'controls of one\'s own run in era "rfc", not "{data["era"]}"'
            problems.append(Problem(path, message))
        problems += [
            Problem(paths.text([*steps, p.path]), p.message) for p in definition.problems(values)
        ]
    if problems:
        raise ScenarioError(problems)


class _NotFoundError(Exception):
    """Why a class is not available, in one sentence, and the traceback of user code if any."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


def bound(data: schema.Data, folder: Path) -> dict[str, Definition]:
    """Look up the classes of a scenario by the names that it has for them.

    Parameters
    ----------
    data
        The scenario as plain data, checked.
    folder
        What file names are relative to.
    """
    named = (reference(_at(data, steps)) or ("", {}) for steps, _ in list_classes(data))
    return {name: _find(name, folder) for name, _ in named}


def _find(name: str, folder: Path, *, fresh: bool = False) -> Definition:
    """Find a class; with ``fresh`` its file is read again if it has changed since."""
    module_name, _, cls = name.rpartition(":")
    if module_name == SESSION:
        if name not in known:
            message = (
                f'"{name}" was defined in a session that is over; put the class into a file and'
                " name it as file.py:Class"
            )
            raise _NotFoundError(message)
        return known[name]
    file = (folder / module_name).resolve()
    key = f"{file}:{cls}"
    with lock:
        if fresh and _has_changed(file):
            _forget(file)
        if key not in known:
            if reason := why_forbidden():
                message = f"{module_name} is Python code, which was not run: {reason}"
                raise _NotFoundError(message)
            _execute(file)
        if key in known:
            return known[key]
    here = [d.cls.__qualname__ for d in known.values() if d.file == file]
    trouble = suggestion(cls, here) if here else "it has no class decorated with @ackclock.control"
    if file in loading.stopped_at:
        trouble = (
            f"it was read up to line {loading.stopped_at[file]}, which starts a run; put the class"
            ' before that, or the run under if __name__ == "__main__":'
        )
    raise _NotFoundError(f'{file.name} has no decorated class "{cls}"; {trouble}')


@dataclasses.dataclass
class _Version:
    """A file when it was run: its time and size, which may change alone, and a hash of its text."""

    stat: tuple[int, int]
    sha256: str


_versions: dict[Path, _Version] = {}
"""Of the files that were run for their classes. Modules of the program itself are not among them:
what they have defined holds until it ends."""


def _version(file: Path) -> _Version:
    state = file.stat()
    return _Version(
        (state.st_mtime_ns, state.st_size), hashlib.sha256(file.read_bytes()).hexdigest()
    )


def _has_changed(file: Path) -> bool:
    """Whether a file that was run for its classes has another text since."""
    then = _versions.get(file)
    if then is None:
        return False
    try:
        state = file.stat()
        if (state.st_mtime_ns, state.st_size) == then.stat:
            return False
        now = _version(file)
    except OSError:  # it is gone; its classes are not
        return False
    then.stat = now.stat
    return now.sha256 != then.sha256


def _forget(file: Path) -> None:
    """Let a file be run again. Scenarios that were made before keep their classes."""
    for key in [key for key, definition in known.items() if definition.file == file]:
        del known[key]
    sys.modules.pop(_module_name(file), None)
    _versions.pop(file, None)
    loading.stopped_at.pop(file, None)


def _module_name(file: Path) -> str:
    return f"_ackclock_user_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"


class _Loader(importlib.machinery.SourceFileLoader):
    """Compiles a file as it is: kept bytecode is recognised by time and size alone."""

    def get_code(self, fullname: str) -> CodeType:
        path = self.get_filename(fullname)
        code: CodeType = self.source_to_code(self.get_data(path), path)
        return code


def _execute(file: Path) -> None:
    """Run a file as a module, so that its classes become known."""
    name = _module_name(file)
    if name in sys.modules:
        return
    spec = importlib.util.spec_from_file_location(name, file, loader=_Loader(name, str(file)))
    if spec is None or spec.loader is None or file.suffix != ".py":
        raise _NotFoundError(f'"{file}" is not a Python file')
    with suppress(OSError):  # why it cannot be read is reported below
        _versions[file] = _version(file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    before, loading.file = loading.file, file
    try:
        with redirect_stdout(None) if loading.is_quiet else nullcontext():
            spec.loader.exec_module(module)
    except StartsRunError as error:
        lines = [
            f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)
        ]
        loading.stopped_at[file] = lines[0] or 0
    except BaseException as error:
        del sys.modules[name]
        _versions.pop(file, None)
        if isinstance(error, KeyboardInterrupt) and not _is_raised(error):
            raise
        trace = _trace(error, {str(file)})
        if isinstance(error, OSError) and not trace:
            raise _NotFoundError(f'cannot read "{file}": {error.strerror}') from None
        if isinstance(error, DefinitionError):
            # It says what is wrong with which class; the frames would be ours.
            trace = ""
        elif isinstance(error, SyntaxError) and not trace:
            trace = "".join(traceback.format_exception_only(error)).rstrip()
        where = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
        line = where[-1].lineno if where else getattr(error, "lineno", 0)
        reason = error.msg if isinstance(error, SyntaxError) else str(error)
        kind = () if isinstance(error, DefinitionError) else (type(error).__name__,)
        text = ": ".join(filter(None, (*kind, reason)))
        raise _NotFoundError(f"{file}, line {line}: {text}", trace) from error
    finally:
        loading.file = before


def _trace(error: BaseException, files: set[str]) -> str:
    """The traceback from the first line in one of some files on; empty if there is none."""
    start = error.__traceback__
    while start is not None and start.tb_frame.f_code.co_filename not in files:
        start = start.tb_next
    if start is None:
        return ""
    return "".join(traceback.format_exception(type(error), error, start)).rstrip()


def _is_raised(error: BaseException) -> bool:
    """Whether a line of Python raised it; Ctrl-C comes in between two instructions."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    return trace.tb_frame.f_code.co_code[trace.tb_lasti] == dis.opmap["RAISE_VARARGS"]


def _note_files() -> None:
    """Let a command that is ended by force say where in the user's files it was."""
    user_files.update(str(definition.file) for definition in known.values())


@contextmanager
def contain_exits() -> Iterator[None]:
    """Treat user code that would end the program as code that fails.

    Raises
    ------
    AlgorithmError
        It called ``sys.exit`` or raised KeyboardInterrupt.
    KeyboardInterrupt
        Ctrl-C; if user code was running, as in a loop without end, it says where.
    """
    _note_files()
    try:
        yield
    except (SystemExit, KeyboardInterrupt) as error:
        trace = _trace(error, {str(definition.file) for definition in known.values()})
        is_signal = find_end_signal() is not None or not _is_raised(error)
        if not trace:
            raise
        if isinstance(error, KeyboardInterrupt) and is_signal:
            frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
            raise KeyboardInterrupt(f"{running_code(frames)}; what had finished is kept") from error
        message = f"user-defined code raised {error!r}, which may not end the program"
        failure = AlgorithmError(message)
        failure.__ackclock_report__ = f"{trace}\n{message}"  # type: ignore[attr-defined]
        raise failure from error


@dataclasses.dataclass(frozen=True)
class Made:
    """An instance for one flow or link of one run, as the core takes it."""

    instance: Any
    class_name: str
    file: str
    cadence: str | float
    slow_start: bool


class Workshop:
    """Makes user-defined algorithms of one scenario, a new instance for every flow and run.

    Parameters
    ----------
    data
        The scenario as plain data, checked.
    seed
        From which every instance's ``rng`` is seeded, together with its place.
    classes
        Its classes, as `bound` found them.
    folder
        What file names are relative to.
    """

    def __init__(
        self, data: schema.Data, seed: int, classes: Mapping[str, Definition], folder: Path
    ) -> None:
        self._seed = seed
        self._data = data
        self._folder = folder
        self._classes = classes
        # By what is passed to the core: the hash shortened, numbered where classes share it.
        self._definitions: dict[str, Definition] = {}
        self._codes: dict[str, str] = {}
        for steps, _ in list_classes(data) if classes else ():
            name, _ = reference(_at(data, steps)) or ("", {})
            definition = classes[name]
            if definition.reference not in self._codes:
                short = definition.sha256[:12]
                number = sum(code.split("#")[0] == short for code in self._definitions)
                code = f"{short}#{number + 1}" if number else short
                self._codes[definition.reference] = code
                self._definitions[code] = definition

    def core_form(self) -> schema.Data:
        """The scenario with each class named by its name and the hash of its code."""
        if not self._definitions:
            return self._data
        data = copy.deepcopy(self._data)
        for steps, _ in list(list_classes(data)):
            name, values = reference(_at(data, steps)) or ("", {})
            definition = self._classes[name]
            kind = f"python:{definition.cls.__name__}"
            _at(data, steps[:-1])[steps[-1]] = {
                "kind": kind,
                "code": self._codes[definition.reference],
                **values,
            }
        return data

    def __call__(self, room: str, parameters: str, index: int) -> Made | Hired:
        """Make an instance, or say how a guest is started.

        Parameters
        ----------
        room
            ``cc``, ``qdisc`` or ``guest``.
        parameters
            JSON of the parameters, with ``code``; of a guest its table in the scenario.
        index
            Number of the flow or link.
        """
        values = json.loads(parameters)
        if room == "guest":
            return hire(values, self._folder, self._seed)
        definition = self._definitions[values.pop("code")]
        instance = definition.cls(**values)
        instance.rng = random.Random(f"{self._seed}/{room}/{index}")
        file = str(definition.file or definition.reference)
        title = definition.cls.__name__
        return Made(instance, title, file, definition.cadence, definition.slow_start)

    def summary(self) -> schema.Data:
        """What a run's summary says of the user's code: hash of all of it, each class and guest."""
        classes = [
            {
                "class": d.cls.__qualname__,
                "file": d.file.name if d.file is not None else None,
                "sha256": d.sha256,
            }
            for d in self._definitions.values()
        ]
        guests = {
            describe_command(guest): guest.get("code") for _, guest in list_guests(self._data)
        }
        known = {d.sha256 for d in self._definitions.values()} | {str(h) for h in guests.values()}
        digest = hashlib.sha256("\n".join(sorted(known)).encode()).hexdigest()
        result: schema.Data = {"user_code": classes, "user_code_hash": digest}
        if guests:
            result["guests"] = [{"command": c, "code": code} for c, code in guests.items()]
        return result


def copy_code(data: schema.Data, classes: Mapping[str, Definition], target: Path) -> schema.Data:
    """Copy the files of a scenario's classes into a folder and name them there.

    Parameters
    ----------
    data
        The scenario as plain data.
    classes
        Its classes, as `bound` found them.
    target
        Gets a folder ``code`` with the files as they were when the classes were defined.
    """
    data = copy.deepcopy(data)
    path_of_file: dict[Path, str] = {}
    for steps, _ in list(list_classes(data)):
        name, values = reference(_at(data, steps)) or ("", {})
        definition = classes[name]
        file = definition.file
        if file is None or definition.reference.startswith(f"{SESSION}:"):
            continue
        if file not in path_of_file:
            same = sum(other.name == file.name for other in path_of_file)
            path_of_file[file] = f"code/{same}/{file.name}" if same else f"code/{file.name}"
            copy_path = target / path_of_file[file]
            copy_path.parent.mkdir(parents=True, exist_ok=True)
            copy_path.write_text(definition.text, encoding="utf-8")
        here = f"{path_of_file[file]}:{definition.cls.__qualname__}"
        _at(data, steps[:-1])[steps[-1]] = {"kind": "python", "class": here, **values}
    return data


def describe_failure(error: BaseException) -> str | None:
    """Write what a user's code raised during a run, from its own first line on.

    Parameters
    ----------
    error
        Any exception; the result is None if it came from elsewhere.
    """
    if hasattr(error, "__ackclock_report__"):
        return str(error.__ackclock_report__)
    if not hasattr(error, "__ackclock_where__"):
        return None
    trace = _trace(error, {str(definition.file) for definition in known.values()})
    report = trace or "".join(traceback.format_exception(error)).rstrip()
    # Files of the current folder by their short names, as a run in another process has them.
    return report.replace(f'File "{Path.cwd()}{os.sep}', 'File "')
