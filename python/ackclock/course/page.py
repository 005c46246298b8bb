"""The report of a graded class: text, a page with the key and its figures, what students get."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.page import render
from ackclock._util.text_table import table
from ackclock.course.measure import draw_figure
from ackclock.course.start import letter

if TYPE_CHECKING:
    from ackclock.course.graded import Graded, Marks
    from ackclock.course.tasks.task import Measured

__all__ = ["feedback", "html", "leaderboard", "text"]

PROTECTION = {
    "time": "CPU time",
    "memory": "memory",
    "files": "files",
    "network": "network and other processes",
}


def leaderboard(grading: Marks) -> tuple[list[str], list[list[str]]]:
    """Order students, and built-in controls, by their mean score or accuracy.

    Parameters
    ----------
    grading
        With code.

    Returns
    -------
    tuple
        Head and rows of a table.
    """
    if grading.sheet.task["kind"] == "control":
        return _by_score(grading)
    return _by_accuracy(grading)


def _by_score(grading: Marks) -> tuple[list[str], list[list[str]]]:
    from ackclock.course.tasks.control import mean_score

    entries: list[tuple[str, Measured, bool]] = [
        (graded.student, graded.measured, True)
        for graded in grading.graded
        if graded.measured is not None
    ]
    entries += [(name, baseline, False) for name, baseline in grading.baselines.items()]
    ordered = sorted(entries, key=lambda e: -mean_score(e[1], grading.items))
    rows, student_rank = [], 0
    for name, measured, is_student in ordered:
        student_rank += is_student
        cells = []
        for item in grading.items:
            result = measured.results.get(item.name)
            cells.append(
                "-"
                if result is None
                else f"{result['score']:.2f} ({result['throughput_bps'] / 1e6:.2f} / "
                f"{result['delay_s'] * 1e3:.0f})"
            )
        label = name if is_student else f"[{name}]"
        rank = str(student_rank) if is_student else ""
        rows.append([rank, label, f"{mean_score(measured, grading.items):.3f}", *cells])
    return ["", "control", "mean score", *(item.name for item in grading.items)], rows


def _by_accuracy(grading: Marks) -> tuple[list[str], list[list[str]]]:
    from ackclock.course.tasks.classifier import accuracy

    entries = [(one.student, one.measured) for one in grading.graded if one.measured is not None]
    ordered = sorted(entries, key=lambda entry: -accuracy(entry[1], grading.items))
    rows = [
        [str(place), name, f"{accuracy(measured, grading.items):.3f}"]
        for place, (name, measured) in enumerate(ordered, start=1)
    ]
    return ["", "classifier", "accuracy"], rows


def text(grading: Marks) -> str:
    """Write the result as text.

    Parameters
    ----------
    grading
        The graded class.
    """
    sheet = grading.sheet
    code = ["code"] if sheet.task else []
    head = ["student", "answers", *code, f"points of {grading.by_machine:g}", "remarks"]
    rows = []
    for graded in grading.graded:
        answered = graded.points - graded.code_points
        extra = [f"{graded.code_points:.2f}"] if sheet.task else []
        remark = graded.problems[0] if graded.problems else ""
        rows.append([graded.student, f"{answered:g}", *extra, f"{graded.points:.2f}", remark])
    blocks = [sheet.title, table(head, rows, most=400)]
    if sheet.task:
        board = leaderboard(grading)
        blocks.append(table(*board, most=400))
        if sheet.task["kind"] == "control":
            blocks.append("In a cell: score (Mbit/s / 95th percentile of round trips in ms).")
        else:
            blocks += [f"{name}:\n{_confusion_text(grading, m)}" for name, m in _best(grading)]
    open_ = [question.id for question in sheet.questions if question.kind == "open"]
    if open_:
        blocks.append(f"To be marked by you, {sheet.points - grading.by_machine:g} points: "
                     f"{', '.join(open_)}.")  # fmt: skip
    blocks += [f"left out: {note}" for note in grading.notes]
    if grading.holds is not None:
        blocks.append(protection(grading))
    return "\n\n".join(blocks)


def _best(grading: Marks) -> list[tuple[str, Measured]]:
    from ackclock.course.tasks.classifier import accuracy

    entries = [(one.student, one.measured) for one in grading.graded if one.measured is not None]
    return sorted(entries, key=lambda entry: -accuracy(entry[1], grading.items))[:3]


def _confusion(grading: Marks, measured: Measured) -> list[tuple[str, list[int]]]:
    from ackclock.course.tasks.classifier import confusion

    labels = grading.sheet.task["labels"]
    return list(zip(labels, confusion(measured, grading.items, labels), strict=True))


def _confusion_text(grading: Marks, measured: Measured) -> str:
    head = ["true \\ named", *grading.sheet.task["labels"], "other"]
    rows = [[name, *map(str, row)] for name, row in _confusion(grading, measured)]
    return table(head, rows)


def protection(grading: Marks) -> str:
    """Say which limits this machine enforced, and which it did not.

    Parameters
    ----------
    grading
        With code that ran.
    """
    assert grading.holds is not None
    state = grading.holds._asdict()
    enforced = [word for name, word in PROTECTION.items() if state[name]]
    open_ = [word for name, word in PROTECTION.items() if not state[name]]
    sentence = f"Limits that this machine enforced: {', '.join(enforced) or 'none'}."
    if open_:
        sentence += f" Not enforced: {', '.join(open_)}; grade in a virtual machine."
    return sentence


def feedback(grading: Marks, graded: Graded) -> str:
    """Write what a student gets back: marks and remarks, without the key.

    Parameters
    ----------
    grading
        The class.
    graded
        The student.
    """
    lines = [f"- {problem}" for problem in graded.problems]
    for question in grading.sheet.questions:
        mark = graded.marked.marks.get(question.id)
        if mark is None:
            continue
        points = "marked by hand" if mark.points is None else f"{mark.points:g}"
        remark = f" ({mark.remark})" if mark.remark else ""
        short = mark.points is not None and mark.answer.strip()
        answer = f" Your answer: {mark.answer.strip()}" if short else ""
        lines.append(f"- {question.id}: {points} of {question.points:g}{remark}.{answer}")
    if graded.measured is not None:
        lines.append(f"- your code: {graded.code_points:.2f} of {grading.sheet.task['points']:g}.")
    got = f"{graded.points:.2f} of {grading.by_machine:g} points that are counted by the program."
    title = f"# {grading.sheet.title}: {graded.student}"
    return "\n\n".join([title, got, "\n".join(lines)]) + "\n"


def html(grading: Marks, command: str) -> str:
    """Write the teacher's page: marks, leaderboard, each question with its key and its figure.

    Parameters
    ----------
    grading
        The graded class.
    command
        What the user typed.
    """
    sheet = grading.sheet
    questions: list[dict[str, Any]] = []
    for question in sheet.questions:
        expected = sheet.key[question.id]
        marks = [graded.marked.marks.get(question.id) for graded in grading.graded]
        counts = [0] * len(question.answers)
        for mark in marks:
            for index in range(len(question.answers)):
                counts[index] += mark is not None and mark.answer == letter(index)
        got = [mark.points for mark in marks if mark is not None and mark.points is not None]
        questions.append(
            {
                "question": question,
                "expected": expected,
                "figure": draw_figure(sheet, question),
                "answers": [
                    (letter(index), answer, counts[index], index == expected.choice)
                    for index, answer in enumerate(question.answers)
                ],
                "right": sum(points == question.points for points in got),
                "graded": len(got),
                "texts": [
                    (graded.student, mark.answer)
                    for graded, mark in zip(grading.graded, marks, strict=True)
                    if question.kind == "open" and mark is not None and mark.answer.strip()
                ],
            }
        )
    is_classifier = sheet.task.get("kind") == "classifier"
    return render(
        Path(__file__).with_name("grading.html"),
        grading=grading,
        sheet=sheet,
        questions=questions,
        board=leaderboard(grading) if sheet.task else None,
        matrices=[(n, _confusion(grading, m)) for n, m in _best(grading)] if is_classifier else [],
        protection=protection(grading) if grading.holds is not None else "",
        command=command,
    )
