"""A link's schedule in a CSV file: rates and loss ratios over time."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ackclock._util import csv_rows
from ackclock._util.units import parse, quantity_problem
from ackclock.errors import Problem, ScenarioError

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["read_steps"]

_AT = ("at", "t_s", "time_s", "time")
_RATE = ("rate", "rate_bps")
_LOSS = ("loss",)
_QUANTITIES = {
    **dict.fromkeys(_AT, "duration"),
    **dict.fromkeys(_RATE, "rate"),
    **dict.fromkeys(_LOSS, "ratio"),
}
_MOST_REPORTED = 20


def read_steps(file: Path, where: str) -> list[dict[str, float]]:
    """Read the steps of a schedule.

    Parameters
    ----------
    file
        CSV with a column for the time (``at``, ``t_s``, ``time_s`` or ``time``; s), and with
        ``rate`` or ``rate_bps`` (bit/s), ``loss`` (0 to 1), or both; heads or cells may have other
        units, such as ``rate [Mbit/s]`` and ``loss [%]``. An empty cell: as before.
    where
        Path in the scenario, for messages.

    Raises
    ------
    ScenarioError
        The file cannot be read or a value is wrong; the message names file and line.
    """
    try:
        rows = csv_rows.rows(file, _AT, quantities=_QUANTITIES)
    except csv_rows.CsvError as error:
        raise ScenarioError([Problem(where, error.of(file))]) from None
    if not rows:
        raise ScenarioError([Problem(where, f"{file} has no step; expected one line or more")])
    heads = rows[0][1]
    at, rate, loss = (
        next((name for name in names if name in heads), "") for names in (_AT, _RATE, _LOSS)
    )
    if not rate and not loss:
        message = f"{file}, line 1: there is no column rate, and none loss; expected one of them"
        raise ScenarioError([Problem(where, message)])
    problems: list[Problem] = []
    steps: list[dict[str, float]] = []
    last = -math.inf
    for line, row in rows:
        step: dict[str, float] = {}
        wrong = [f"{at}: {text}" for text in [quantity_problem(row[at], "duration")] if text]
        if not wrong:
            step["at"] = parse(row[at], "duration")
            if step["at"] <= last:
                wrong = [f"{at}: {row[at]} is not after the line above; expected times in order"]
            last = step["at"]
        if given := row.get(rate, "").strip():
            problem = quantity_problem(given, "rate")
            wrong += [f"{rate}: {problem}"] if problem else []
            step["rate"] = math.nan if problem else parse(given, "rate")
        if given := row.get(loss, "").strip():
            step["loss"] = _ratio(given)
            if not 0 <= step["loss"] <= 1:
                wrong.append(f'{loss}: "{given}" is out of range; expected 0 to 1')
        if len(step) < 2 and not wrong:
            wrong = ["changes nothing; expected a rate or a loss ratio"]
        problems += [Problem(where, f"{file}, line {line}: {message}") for message in wrong]
        steps.append(step)
    if problems:
        raise ScenarioError(problems[:_MOST_REPORTED])
    return steps


def _ratio(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
