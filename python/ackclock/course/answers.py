"""Reads a student's ``answers.toml`` and marks it by the key."""

from __future__ import annotations

import math
import tomllib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ackclock._util.foreign_files import ForeignFileError, read_bytes
from ackclock.course.start import letter
from ackclock.errors import suggestion

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.course.sheet import Sheet, SheetQuestion

__all__ = ["Mark", "Marked", "mark_answers"]

_MOST_TEXT = 20_000
"""Characters of an open answer that the report keeps."""


@dataclass(frozen=True)
class Mark:
    """What an answer is worth.

    Attributes
    ----------
    answer
        As text.
    points
        None: a person marks it.
    remark
        Why it has none; empty if nothing is to be said.
    """

    answer: str
    points: float | None
    remark: str = ""


@dataclass(frozen=True)
class Marked:
    """All answers of a student."""

    marks: dict[str, Mark] = field(default_factory=dict)
    problem: str = ""
    """Why the file is not usable, in one sentence."""


def mark_answers(sheet: Sheet, file: Path) -> Marked:
    """Mark a file of answers; what is wrong with it is said, and never raised.

    Parameters
    ----------
    sheet
        With its key.
    file
        Of a student.
    """
    try:
        data = tomllib.loads(read_bytes(file).decode("utf-8"))
    except OSError as error:
        return Marked(problem=f"{file.name} cannot be read: {error.strerror}")
    except ForeignFileError as error:
        return Marked(problem=f"{file.name} cannot be read: {error.reason}")
    except (ValueError, RecursionError) as error:
        return Marked(problem=f"{file.name} is not TOML: {error}")
    for_sheet, answers = data.get("sheet", sheet.name), data.get("answers")
    if for_sheet != sheet.name:
        return Marked(problem=f'{file.name}: sheet is "{for_sheet}"; expected "{sheet.name}"')
    if not isinstance(answers, dict):
        return Marked(problem=f"{file.name}: has no table answers")
    question_ids = [question.id for question in sheet.questions]
    strangers = [name for name in answers if name not in question_ids]
    problem = ""
    if strangers:
        hint = suggestion(strangers[0], question_ids)
        problem = f"{file.name}: answers.{strangers[0]}: there is no such question; {hint}"
    marks = {q.id: _mark(sheet, q, answers.get(q.id)) for q in sheet.questions}
    return Marked(marks, problem)


def _mark(sheet: Sheet, question: SheetQuestion, answer: Any) -> Mark:
    expected = sheet.key[question.id]
    if answer is None or (isinstance(answer, str) and not answer.strip()):
        return Mark("", 0.0, "no answer")
    if question.kind == "open":
        return Mark(str(answer)[:_MOST_TEXT], None)
    if question.kind == "choice":
        text = str(answer).strip().lower().rstrip(").")
        letters = [letter(index) for index in range(len(question.answers))]
        if text not in letters:
            return Mark(text[:40], 0.0, f"expected one of {', '.join(letters)}")
        is_right = letters.index(text) == expected.choice
        return Mark(text, question.points if is_right else 0.0)
    number = _number(answer)
    if number is None:
        return Mark(str(answer)[:40], 0.0, f"is not a number; expected {question.unit}")
    low, high = expected.range
    is_right = low <= number <= high
    remark = ""
    # Wrong units are the commonest mistake.
    for power in (-6, -3, 3, 6):
        if not is_right and low <= number * 10.0**power <= high:
            remark = f"right in another unit; expected {question.unit}"
    return Mark(f"{number:g}", question.points if is_right else 0.0, remark)


def _number(answer: Any) -> float | None:
    if isinstance(answer, bool):
        return None
    try:
        number = float(answer)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None
