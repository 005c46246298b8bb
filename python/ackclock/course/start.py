"""Writes a sheet into a folder, for a student or with the key for a teacher."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

from ackclock._util.output_folder import whole_folder
from ackclock.course.tasks.classifier import labelled_runs, observe

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.course.sheet import ExpectedAnswer, Sheet, SheetQuestion

__all__ = ["letter", "sheet_text", "start", "template"]

MARKER = "answers.toml"
"""The file by which such a folder is known."""

PRACTICE = 1
"""Seed of the labelled runs; those of the grader begin at 1001."""


def letter(place: int) -> str:
    """Name an answer by its place: a, b, c.

    Parameters
    ----------
    place
        From 0.
    """
    return "abcdefghijklmnopqrstuvwxyz"[place]


def start(sheet: Sheet, folder: Path, *, key: bool = False) -> Path:
    """Write the sheet, its scenarios, and a file for the answers.

    Parameters
    ----------
    sheet
        The sheet.
    folder
        Is made; may not hold anything yet, so that no answers are lost.
    key
        Write ``key.md`` too, and the instructor's solution.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    AckclockError
        The folder holds something.
    """

    def fill(target: Path) -> None:
        for name in sheet.files:
            shutil.copyfile(sheet.folder / name, target / name)
        if sheet.task.get("kind") == "classifier":
            runs = labelled_runs(sheet.task["labels"], sheet.task["practice_each"], PRACTICE)
            lines = [json.dumps({"label": label, "run": observe(run)}) for label, run in runs]
            (target / "practice.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (target / "sheet.md").write_text(sheet_text(sheet), encoding="utf-8")
        (target / MARKER).write_text(template(sheet), encoding="utf-8")
        if key:
            (target / "key.md").write_text(key_text(sheet), encoding="utf-8")
            for file in sheet.folder.glob("reference.py"):
                shutil.copyfile(file, target / file.name)

    # A marker that no folder has: answers are never replaced.
    return whole_folder(folder, fill, marker="\0")


def sheet_text(sheet: Sheet) -> str:
    """Write the sheet as Markdown.

    Parameters
    ----------
    sheet
        The sheet.
    """
    blocks = [
        f"# {sheet.title}",
        sheet.about,
        f"About {sheet.hours:g} hours, {sheet.points:g} points.",
    ]
    blocks.append(
        "Write your answers into `answers.toml`: a letter, a number in the unit that the question"
        " names, or text. Answer before you run; then run, look at the figure, and change what you"
        " now know better. `ackclock course measure` prints a number of a run in SI units, as s"
        " and bit/s."
    )
    if sheet.runs:
        commands = "\n".join(run.command for run in sheet.runs.values())
        blocks += ["## Runs", f"```sh\n{commands}\n```"]
    blocks.append("## Questions")
    for number, question in enumerate(sheet.questions, start=1):
        blocks.append(_question_text(number, question, sheet.key[question.id]))
    if sheet.task:
        file = {"control": "control.py", "classifier": "classify.py"}[sheet.task["kind"]]
        blocks.append(
            f"## Your code\n\n`{file}`, {sheet.task['points']:g} points; see its first lines."
            " Put it beside `answers.toml`. It runs in a process with limits of time and memory,"
            " without files and network; what it prints is thrown away."
        )
    blocks += ["## Sources", "\n".join(f"- {source.rstrip('.')}." for source in sheet.sources)]
    return "\n\n".join(blocks) + "\n"


def _question_text(number: int, question: SheetQuestion, expected: ExpectedAnswer) -> str:
    points = f"{question.points:g} point{'s' if question.points != 1 else ''}"
    lines = [f"### {number}. `{question.id}` ({points})", question.text]
    if question.answers:
        lines.append("\n".join(f"- {letter(i)}) {a}" for i, a in enumerate(question.answers)))
    elif question.unit:
        lines.append(f"A number, {question.unit}.")
    if question.plot:
        commands = [question.plot]
        # What is computed by hand before any run has no measured number.
        if question.kind == "number" and expected.answer is None:
            numbers = expected.numbers if expected.ratio else expected.numbers[:1]
            commands += [number.command for number in numbers]
        lines.append("```sh\n{}\n```".format("\n".join(commands)))
    return "\n\n".join(lines)


def template(sheet: Sheet) -> str:
    """Write an empty ``answers.toml``.

    Parameters
    ----------
    sheet
        The sheet.
    """
    lines = [f"# Answers to: {sheet.title}", f'sheet = "{sheet.name}"', "", "[answers]"]
    for question in sheet.questions:
        if question.answers:
            letters = ", ".join(letter(i) for i in range(len(question.answers)))
            lines += [f'{question.id} = ""   # one of {letters}']
        elif question.unit:
            lines += [f"# {question.id} =       # a number, {question.unit}"]
        else:
            lines += [f'{question.id} = """\n"""']
    return "\n".join(lines) + "\n"


def key_text(sheet: Sheet) -> str:
    """Write the instructor's key as Markdown.

    Parameters
    ----------
    sheet
        The sheet.
    """
    blocks = [f"# Key: {sheet.title}", "Not for students. Its numbers are measured anew by tests."]
    for question in sheet.questions:
        expected = sheet.key[question.id]
        if question.answers and expected.choice is not None:
            answer = f"{letter(expected.choice)}) {question.answers[expected.choice]}"
        elif question.unit:
            low, high = expected.range
            answer = f"{expected.number:.4g} {question.unit} ({low:.4g} to {high:.4g} count)"
        else:
            answer = "marked by you"
        blocks.append(f"## {question.id}\n\n{question.text}\n\n**{answer}** {expected.explanation}")
    return "\n\n".join(blocks) + "\n"
