"""Lab sheets: one folder each, read from its files.

``sheet.toml`` has what students see, ``key.toml`` the instructor's key; both are described in
``docs/howto/teach.md``. A folder in `FOLDER` is a sheet; nothing else has to be changed.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from shlex import quote
from typing import Any

from ackclock.errors import AckclockError, suggestion

__all__ = [
    "FOLDER",
    "ExpectedAnswer",
    "SetUp",
    "Sheet",
    "SheetNumber",
    "SheetQuestion",
    "find_sheet",
    "sheets",
]

FOLDER = Path(__file__).with_name("sheets")
"""The sheets that ship with ackclock."""

_SHEET = {"title", "about", "sources", "hours", "files", "runs", "questions", "task"}
_QUESTION = {"id", "text", "answers", "unit", "points", "runs", "figure"}
_KEY = {"choice", "answer", "tolerance", "numbers", "ratio", "scale", "why"}


@dataclass(frozen=True)
class SetUp:
    """A run of a sheet: a scenario file of its folder, and changes."""

    id: str
    file: str
    set: dict[str, Any] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The command that makes its bundle."""
        changes = "".join(f" --set {quote(f'{path}={value}')}" for path, value in self.set.items())
        return f"ackclock run {self.file}{changes} --out runs/{self.id} --quiet"


@dataclass(frozen=True)
class SheetQuestion:
    """One question.

    Attributes
    ----------
    kind
        ``choice`` (one of `answers`), ``number`` (in `unit`), or ``open``, which a person marks.
    runs
        Ids of the runs that its figure shows.
    figure
        ``kind`` as of ``ackclock plot``, and options of that command by name.
    """

    id: str
    text: str
    points: float
    answers: tuple[str, ...] = ()
    unit: str | None = None
    runs: tuple[str, ...] = ()
    figure: dict[str, Any] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """What is expected of a student."""
        return "choice" if self.answers else "open" if self.unit is None else "number"

    @property
    def plot(self) -> str:
        """The command that draws its figure; empty if it has none."""
        if not self.figure:
            return ""
        options = "".join(f" --{name} {quote(str(value))}" for name, value in self.figure.items())
        places = " ".join(f"runs/{run}" for run in self.runs)
        return f"ackclock plot {places}{options} --out {self.id}.svg"


@dataclass(frozen=True)
class SheetNumber:
    """A measured number of the key.

    Attributes
    ----------
    run
        Id of a run.
    metric
        As of ``ackclock sweep``.
    value
        Of that metric, rounded as the key has it.
    """

    run: str
    metric: str
    value: float = 0.0

    @property
    def command(self) -> str:
        """The command that measures it in a student's folder."""
        return f"ackclock course measure runs/{self.run} {quote(self.metric)}"


@dataclass(frozen=True)
class ExpectedAnswer:
    """The right answer to a question, with the numbers that show it."""

    why: str
    choice: int | None = None
    answer: float | None = None
    numbers: tuple[SheetNumber, ...] = ()
    tolerance: float = 0.0
    ratio: bool = False
    scale: float = 1.0

    @property
    def number(self) -> float:
        """The right number, in the unit of the question."""
        if self.answer is not None:
            return self.answer
        values = [number.value for number in self.numbers]
        return values[0] / values[1] if self.ratio else values[0] * self.scale

    @property
    def range(self) -> tuple[float, float]:
        """The least and the greatest number that count as right."""
        apart = abs(self.number) * self.tolerance
        return self.number - apart, self.number + apart

    @property
    def explanation(self) -> str:
        """`why` with its numbers filled in."""
        return self.why.format(*(f"{number.value * self.scale:.4g}" for number in self.numbers))


@dataclass(frozen=True)
class Sheet:
    """A lab sheet."""

    name: str
    folder: Path
    title: str
    about: str
    sources: tuple[str, ...]
    hours: float
    files: tuple[str, ...]
    runs: dict[str, SetUp]
    questions: tuple[SheetQuestion, ...]
    key: dict[str, ExpectedAnswer]
    task: dict[str, Any]

    @property
    def points(self) -> float:
        """Points of all questions and of the task."""
        return sum(q.points for q in self.questions) + float(self.task.get("points", 0))


def sheets(folder: Path = FOLDER) -> list[Sheet]:
    """Read all sheets, in the order of their names.

    Parameters
    ----------
    folder
        Of folders with a ``sheet.toml``.
    """
    return [read_sheet(file.parent) for file in sorted(folder.glob("*/sheet.toml"))]


def find_sheet(name: str) -> Sheet:
    """Find a sheet by the name of its folder, or by a path to one.

    Parameters
    ----------
    name
        As of ``ackclock course list``, or a folder of the teacher's with a ``sheet.toml``.

    Raises
    ------
    AckclockError
        There is none; the nearest name is said.
    """
    names = [file.parent.name for file in sorted(FOLDER.glob("*/sheet.toml"))]
    if name in names:
        return read_sheet(FOLDER / name)
    if (Path(name) / "sheet.toml").is_file():
        return read_sheet(Path(name).resolve())
    raise AckclockError(f'there is no sheet "{name}"; {suggestion(name, names)}')


def read_sheet(folder: Path) -> Sheet:
    """Read a sheet from its folder.

    Parameters
    ----------
    folder
        With ``sheet.toml`` and ``key.toml``.

    Raises
    ------
    AckclockError
        A file is missing, is no TOML, or names what is not there.
    """
    data, key = _toml(folder / "sheet.toml"), _toml(folder / "key.toml")
    where = folder / "sheet.toml"
    _check_keys(where, "", data, _SHEET)
    runs = {run["id"]: SetUp(**run) for run in data.get("runs", ())}
    questions = []
    for number, table in enumerate(data["questions"]):
        _check_keys(where, f"questions[{number}].", table, _QUESTION)
        questions.append(
            SheetQuestion(
                **{**table, "answers": tuple(table.get("answers", ()))}
                | {"runs": tuple(table.get("runs", ()))}
            )
        )
    for run in {run for question in questions for run in question.runs}:
        if run not in runs:
            raise AckclockError(f'{where}: there is no run "{run}"; {suggestion(run, runs)}')
    expected = {}
    for name, table in key.items():
        _check_keys(folder / "key.toml", f"{name}.", table, _KEY)
        numbers = tuple(SheetNumber(**number) for number in table.get("numbers", ()))
        expected[name] = ExpectedAnswer(**{**table, "numbers": numbers})
    missing = [question.id for question in questions if question.id not in expected]
    if missing:
        raise AckclockError(f"{folder / 'key.toml'}: has no answer to {', '.join(missing)}")
    return Sheet(
        name=folder.name,
        folder=folder,
        title=data["title"],
        about=data["about"].strip(),
        sources=tuple(data.get("sources", ())),
        hours=data.get("hours", 1),
        files=tuple(data.get("files", ())),
        runs=runs,
        questions=tuple(questions),
        key=expected,
        task=data.get("task", {}),
    )


def _toml(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise AckclockError(f"{file}: cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise AckclockError(f"{file}: is not TOML: {error}") from None


def _check_keys(file: Path, where: str, table: dict[str, Any], known: set[str]) -> None:
    for name in table:
        if name not in known:
            raise AckclockError(f"{file}: {where}{name} is not a key; {suggestion(name, known)}")
