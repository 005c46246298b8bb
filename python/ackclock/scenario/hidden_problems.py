"""Finds errors masked by other errors, so that all are reported at once.

A dumbbell whose round trip is wrong cannot be laid out, so nothing is known yet of its loss. The
scenario is checked again twice: without the values that are wrong, and with others in place of
numbers. Values that it must have are filled in, differently. A problem that is reported both times
in the same form does not depend on the missing values.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ackclock._util import paths
from ackclock.catalogue import schema
from ackclock.catalogue.form import missing, problems, wrong
from ackclock.errors import ScenarioError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from ackclock.errors import Problem

    Probe = Callable[[schema.Data], list[Problem]]

__all__ = ["find_hidden"]

_ROUNDS = 8
"""Most problems that may hide one another in a row."""

_FILLED = {"rate": (1e6, 1e9), "duration": (0.05, 600.0), "integer": (4, 1000)}
"""What stands for values that must be there."""

_OTHER = 7
"""What stands for a wrong number: as a time, a rate, a size or a count nothing out of the way."""


def find_hidden(found: Iterable[Problem], data: schema.Data, probe: Probe) -> list[Problem]:
    """Find the problems that others hide.

    Parameters
    ----------
    found
        Those that are known.
    data
        The scenario as plain data.
    probe
        Finds the first problems of a scenario of valid form.

    Returns
    -------
    list of Problem
        What does not follow from leaving wrong values out; none where a value that must be there
        can only be guessed.
    """
    hidden: list[Problem] = []
    places = wrong(data) or [_steps(problem.path) for problem in found]
    for _ in range(_ROUNDS):
        known_places = [paths.text(steps) for steps in places if steps]
        tries = [_mended(data, places, which) for which in (0, 1)]
        first = _first_problems(tries[0], probe)
        second = first if tries[0] == tries[1] else _first_problems(tries[1], probe)
        both = [problem for problem in first if problem in second]
        new = [p for p in both if p.path and not any(map(p.touches, known_places))]
        if not new:
            break
        hidden += new
        places += [_steps(problem.path) for problem in new]
    return hidden


def _steps(path: str) -> list[paths.Step]:
    try:
        return paths.split(path)
    except ScenarioError:  # it is of the whole, or of no key
        return []


def _mended(data: schema.Data, places: list[list[paths.Step]], which: int) -> schema.Data:
    """The scenario without the values at these places, or with others; what must be filled in."""
    mended = copy.deepcopy(data)
    for steps in places:
        _mend(mended, steps, which)
    # A number may not be what is wanted there, or nothing at all.
    for steps in wrong(mended) if which == 1 else ():
        _mend(mended, steps, 0)
    for steps, table, key, rules in list(missing(mended)):
        value = _filled(rules, which)
        if value is not None:
            table[key] = value
        elif steps[:1] == ["links"]:  # nothing hangs on them
            mended.pop("links", None)
    return mended


def _mend(at: Any, steps: list[paths.Step], which: int) -> None:
    """Takes out a value, or the list of values that it is one of; the second time, no number."""
    for i, step in enumerate(steps):
        last = i + 1 == len(steps) or (
            i + 2 == len(steps) and isinstance(steps[-1], int) and not _holds_tables(at, step)
        )
        if last:
            if isinstance(at, dict):
                old = at.pop(step, None)
                if which == 1 and _is_number(old):
                    at[step] = _OTHER
            return
        try:
            at = at[step]
        except (KeyError, IndexError, TypeError):  # it is gone with what held it
            return


def _is_number(value: Any) -> bool:
    """Whether it is a number, or the text of a quantity."""
    if isinstance(value, str):
        return value[:1].isdigit()
    return isinstance(value, int | float) and not isinstance(value, bool)


def _holds_tables(at: Any, step: paths.Step) -> bool:
    return isinstance(at, dict) and any(isinstance(x, dict) for x in at.get(step) or ())


def _filled(rules: schema.Data, which: int) -> float | None:
    if "$ref" in rules:
        rules = schema.definition(rules["$ref"].rsplit("/", 1)[-1])
    values = _FILLED.get(str(rules.get("x-quantity") or rules.get("type")))
    return values[which] if values else None


def _first_problems(data: schema.Data, probe: Probe) -> list[Problem]:
    """What is wrong with a scenario at first sight; nothing if its form is."""
    return [] if problems(data) else probe(data)
