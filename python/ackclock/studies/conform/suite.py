"""A conformance suite as a folder: what it is, its path, its cases with checks."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import Problem, ScenarioError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["CaseCheck", "ConformanceCase", "Losses", "Suite", "Trigger", "find_suite", "read_suite"]

HOME = Path(__file__).parent / "suites"

GOALS = ("equals", "between", "at_least", "at_most", "above", "below", "is")
"""Keys of a check of which exactly one says what must be."""


@dataclass(frozen=True)
class Losses:
    """Packets of a link that are dropped from a time on.

    Parameters
    ----------
    link
        Name of the direction.
    at
        From when, as `ackclock.studies.conform.stages.fill` reads it.
    every
        One of so many arrivals is dropped.
    count
        How many are dropped.
    """

    link: str
    at: str
    every: int
    count: int


@dataclass(frozen=True)
class Trigger:
    """An event of the run that the scenario's changes depend on.

    Parameters
    ----------
    event
        Its name.
    states
        The states of the control, one of whose entries it is.
    after
        An earlier event that it follows; None: the start.
    nth
        Which entry after that, from 1.
    changes
        Values by path of the scenario that apply from here on; text may name times of events.
    losses
        Packets that are lost from here on.
    """

    event: str
    states: tuple[str, ...]
    after: str | None
    nth: int
    changes: Mapping[str, Any]
    losses: Losses | None


@dataclass(frozen=True)
class CaseCheck:
    """Something that must be so after a run.

    Parameters
    ----------
    step
        Number of the step of the case.
    text
        What it checks.
    value
        One SELECT with the column `value`, and `since_s` [s] if what it measures has a begin.
    goal
        One of `GOALS` with its bound, and `tolerance` beside `equals`.
    unit
        Of the value.
    reason
        Why this bound.
    advice
        What a control that fails does, to act on.
    """

    step: int
    text: str
    value: str
    goal: Mapping[str, Any]
    unit: str
    reason: str
    advice: str = ""


@dataclass(frozen=True)
class ConformanceCase:
    """One test case.

    Parameters
    ----------
    key
        Number, with a letter where one case of the source is several runs.
    title
        As in the source.
    note
        Where the case had to choose or to deviate, and why.
    scenario
        What is run, over the suite's own.
    triggers
        In the order in which they happen.
    checks
        In the order of the steps.
    inexpressible
        Why it cannot be run; empty: it can.
    file
        Where it is.
    losses
        Packets that are lost whatever the control does; None: none.
    """

    key: str
    title: str
    note: str
    scenario: Mapping[str, Any]
    triggers: tuple[Trigger, ...]
    checks: tuple[CaseCheck, ...]
    inexpressible: str
    file: Path
    losses: Losses | None = None


@dataclass(frozen=True)
class Suite:
    """A conformance suite.

    Parameters
    ----------
    name
        Of its folder.
    title, source
        What it is, and who says so.
    states, probes
        Names that a control must record: what they mean.
    scenario
        What all cases have in common.
    cases
        By key.
    ranges
        The sweep over ranges of the path; None: there is none.
    views
        SQL that is executed before the checks of a case.
    beside
        The control of ours that a guest is measured beside.
    unseen
        What the suite cannot show of any control.
    for_guests
        Name of the suite that is in the place of this one for guests; empty: this one.
    """

    name: str
    title: str
    source: str
    states: Mapping[str, str]
    probes: Mapping[str, str]
    scenario: Mapping[str, Any]
    cases: tuple[ConformanceCase, ...]
    ranges: Mapping[str, Any] | None = field(default=None)
    views: str = ""
    beside: str = ""
    unseen: str = ""
    for_guests: str = ""

    def choose_cases(self, keys: Iterable[str]) -> tuple[ConformanceCase, ...]:
        """Choose cases.

        Parameters
        ----------
        keys
            Numbers of cases, with or without the letter of a part; none: all.

        Raises
        ------
        ScenarioError
            There is no such case.
        """
        requested = list(keys)
        if not requested:
            return self.cases
        case_keys = {case.key for case in self.cases} | {
            case.key.rstrip("abc") for case in self.cases
        }
        wrong = [key for key in requested if key not in case_keys]
        if wrong:
            raise ScenarioError(
                [
                    Problem(
                        "case", f'{self.name} has no case "{key}"; {suggestion(key, case_keys)}'
                    )
                    for key in wrong
                ]
            )
        return tuple(
            c for c in self.cases if c.key in requested or c.key.rstrip("abc") in requested
        )


def find_suite(name: str) -> Suite:
    """Read a suite by name, or from a folder.

    Parameters
    ----------
    name
        Of a suite that ships with ackclock, or a path.

    Raises
    ------
    ScenarioError
        There is none, or something is wrong in its files.
    """
    folder = HOME / name
    if "/" in name or "\\" in name or not (folder / "suite.toml").is_file():
        folder = Path(name)
    if not (folder / "suite.toml").is_file():
        suite_names = sorted(file.parent.name for file in HOME.glob("*/suite.toml"))
        message = (
            f'there is no suite "{name}", neither one of ackclock nor a folder with suite.toml'
        )
        raise ScenarioError([Problem("", f"{message}; {suggestion(name, suite_names)}")])
    return read_suite(folder)


def read_suite(folder: Path) -> Suite:
    """Read a suite from its folder.

    Parameters
    ----------
    folder
        With `suite.toml` and `cases/*.toml`.

    Raises
    ------
    ScenarioError
        With all that is wrong in its files.
    """
    problems: list[Problem] = []
    head = _Form(_load(folder / "suite.toml", problems), folder / "suite.toml", problems)
    states, probes = head.table("states"), head.table("probes")
    shared, ranges = head.table("scenario"), head.table("ranges")
    title, source = head.text("title"), head.text("source")
    more = [head.text(key, "").strip() for key in ("views", "beside", "unseen", "for_guests")]
    head.close()
    cases = tuple(_case(file, problems) for file in sorted((folder / "cases").glob("*.toml")))
    if not cases:
        problems.append(Problem("", "has no case; expected cases/*.toml", str(folder)))
    if problems:
        raise ScenarioError(problems)
    name = folder.name
    return Suite(name, title, source, states, probes, shared, cases, ranges or None, *more)


def _load(file: Path, problems: list[Problem]) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        problems.append(Problem("", f"is not TOML: {error}", str(file)))
    return {}


class _Form:
    """Takes keys out of a table and notes what is missing, of the wrong type, or left over."""

    def __init__(self, data: Any, file: Path, problems: list[Problem], base_path: str = "") -> None:
        self.data = dict(data) if isinstance(data, dict) else {}
        self.file, self.problems, self.base_path = file, problems, base_path
        self.known_keys: list[str] = []
        if not isinstance(data, dict):
            self.wrong("", "is not a table")

    def wrong(self, key: str, message: str) -> None:
        path = f"{self.base_path}.{key}".strip(".")
        self.problems.append(Problem(path, message, str(self.file)))

    def take(self, key: str, kind: type, default: Any, expected: str) -> Any:
        self.known_keys.append(key)
        if key not in self.data:
            if default is None:
                self.wrong(key, f"is missing; expected {expected}")
                return kind()
            return default
        value = self.data.pop(key)
        if not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
            self.wrong(key, f"is {value!r}; expected {expected}")
            return kind() if default is None else default
        return value

    def text(self, key: str, default: str | None = None) -> str:
        found: str = self.take(key, str, default, "text")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """One text, or a list of them."""
        content = self.data.get(key)
        if not isinstance(content, list):
            return (self.text(key),)
        self.known_keys.append(key)
        del self.data[key]
        if not content or not all(isinstance(entry, str) for entry in content):
            self.wrong(key, f"is {content!r}; expected text or a list of text")
            return ()
        return tuple(content)

    def count(self, key: str, default: int | None = None) -> int:
        known_problems = len(self.problems)
        found: int = self.take(key, int, default, "a whole number from 1")
        if found < 1 and len(self.problems) == known_problems:
            self.wrong(key, f"is {found}; expected a whole number from 1")
        return max(found, 1)

    def table(self, key: str) -> dict[str, Any]:
        found: dict[str, Any] = self.take(key, dict, {}, "a table")
        return found

    def forms(self, key: str) -> list[_Form]:
        rows: list[Any] = self.take(key, list, [], "a list of tables")
        place = f"{self.base_path}.{key}".strip(".")
        return [_Form(row, self.file, self.problems, f"{place}[{i}]") for i, row in enumerate(rows)]

    def close(self) -> None:
        for key in self.data:
            self.wrong(key, f"is not known; {suggestion(key, self.known_keys)}")


def _case(file: Path, problems: list[Problem]) -> ConformanceCase:
    form = _Form(_load(file, problems), file, problems)
    triggers = tuple(_trigger(entry) for entry in form.forms("when"))
    checks = tuple(_check(entry) for entry in form.forms("check"))
    losses = _losses(form)
    case = ConformanceCase(
        key=file.stem.partition("-")[0].lstrip("0"),
        title=form.text("title"),
        note=form.text("note", ""),
        scenario=form.table("scenario"),
        triggers=triggers,
        checks=checks,
        inexpressible=form.text("inexpressible", ""),
        file=file,
        losses=losses,
    )
    form.close()
    if bool(checks) == bool(case.inexpressible):
        form.wrong("check", "a case has checks, or says by inexpressible why it has none")
    earlier: set[str] = set()
    for i, trigger in enumerate(triggers):
        if trigger.after is not None and trigger.after not in earlier:
            message = (
                f'there is no earlier event "{trigger.after}"; {suggestion(trigger.after, earlier)}'
            )
            form.wrong(f"when[{i}].after", message)
        earlier.add(trigger.event)
    return case


def _losses(form: _Form) -> Losses | None:
    loss_table = form.table("lose")
    if not loss_table:
        return None
    inner = _Form(loss_table, form.file, form.problems, f"{form.base_path}.lose".strip("."))
    losses = Losses(
        inner.text("link"), inner.text("at"), inner.count("every"), inner.count("count")
    )
    inner.close()
    return losses


def _trigger(form: _Form) -> Trigger:
    losses = _losses(form)
    after = form.text("after", "")
    trigger = Trigger(
        form.text("event"),
        form.texts("state"),
        after or None,
        form.count("nth", 1),
        form.table("set"),
        losses,
    )
    form.close()
    return trigger


def _check(form: _Form) -> CaseCheck:
    goal = {key: form.data.pop(key) for key in (*GOALS, "tolerance") if key in form.data}
    form.known_keys += [*GOALS, "tolerance"]
    check = CaseCheck(
        form.count("step"),
        form.text("text"),
        form.text("value"),
        goal,
        form.text("unit", ""),
        form.text("reason", ""),
        form.text("advice", ""),
    )
    form.close()
    named = [key for key in GOALS if key in goal]
    if len(named) != 1:
        form.wrong("", f"says {named or 'nothing'} of what must be; expected one of {GOALS}")
    elif ("equals" in goal) != ("tolerance" in goal):
        form.wrong("tolerance", "belongs to equals, and equals to it")
    elif "tolerance" in goal and not check.reason:
        form.wrong("reason", "is missing; a tolerance has one")
    return check
