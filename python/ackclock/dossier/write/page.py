"""The dossier as one page of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.number_text import bounds, percent
from ackclock._util.text_table import printable, table
from ackclock.dossier.form import STANDINGS, VERDICTS

if TYPE_CHECKING:
    from ackclock.dossier.finding import Finding
    from ackclock.dossier.rows import RequirementRow

__all__ = ["answer", "away", "order", "page", "standing", "write_measured"]

MOST_CHANGES = 20

_FIRST = ("not met", "undecided")
"""Verdicts in the order in which a dossier has them; the others follow."""


def order(verdict: str) -> int:
    """Give the place of a verdict: a dossier begins with what is not met.

    Parameters
    ----------
    verdict
        Of `ackclock.dossier.form.VERDICTS`.
    """
    return _FIRST.index(verdict) if verdict in _FIRST else len(_FIRST)


def answer(dossier: Finding) -> str:
    """Write the finding in a sentence.

    Parameters
    ----------
    dossier
        The dossier.
    """
    results = dossier.results
    counts = [f"{results.count(v)} {v}" for v in VERDICTS if results.count(v)]
    name = results.task.control.label
    said = f"{name}: of {len(results.rows)} requirements {', '.join(counts)}."
    if results.task.reps == 1:
        said += " One seed has no interval and decides nothing: leave --reps out, or give more."
    return said


def _beside(dossier: Finding) -> str:
    """Say that the time of a guest's programs is not counted."""
    return " beside what the guest took" if dossier.results.task.control.is_guest else ""


def standing(dossier: Finding) -> str:
    """Write how many requirements are measured, argued and open; nothing if all are measured.

    Parameters
    ----------
    dossier
        The dossier.
    """
    counts = [
        f"{dossier.results.count_standing(word)} {word}"
        for word in STANDINGS
        if dossier.results.count_standing(word)
    ]
    is_whole = dossier.results.count_standing("measured") == len(dossier.results.rows)
    return "" if is_whole else f"Of them {', '.join(counts)}."


def write_measured(row: RequirementRow) -> str:
    """Write the number that decides, with its interval and unit.

    Parameters
    ----------
    row
        The row.
    """
    decisive = row.decisive
    if decisive is None:
        return "-"
    judgement = decisive.result
    if judgement.goal is not None and judgement.expected.endswith(" true"):
        return percent(judgement.measured, 0)
    unit = f" {decisive.unit}" if decisive.unit else ""
    return bounds(judgement.measured, judgement.low, judgement.high, figures=3) + unit


def away(distance: float | None) -> str:
    """Write a distance from a threshold.

    Parameters
    ----------
    distance
        As of `ackclock.dossier.rows.MeasuredNumber`.
    """
    return "-" if distance is None else percent(distance, 0, sign=True)


def page(dossier: Finding) -> str:
    """Write the page.

    Parameters
    ----------
    dossier
        The dossier.
    """
    results = dossier.results
    profile = results.task.profile
    rows = []
    for row in sorted(results.rows, key=lambda row: order(row.verdict)):
        decisive = row.decisive
        rows.append(
            [
                row.requirement.section,
                row.requirement.title,
                row.requirement.level,
                row.verdict,
                write_measured(row),
                decisive.result.expected if decisive else "-",
                away(decisive.distance if decisive else None),
                decisive.title if decisive else "",
            ]
        )
    head = ["section", "requirement", "level", "verdict", "measured", "threshold", "margin", "at"]
    beside = ", ".join(results.task.rivals) or "none"
    lines = [
        answer(dossier),
        *filter(None, [standing(dossier)]),
        f"{profile.about['title']}, tier {results.task.tier}; beside {beside}.",
        "",
        table(head, rows, most=1000),
        "",
        "measured: the number that decides, with its 95 % interval; margin: its distance from the"
        " threshold,",
        "as a part of the threshold, negative beyond it; at: the scenario that it is of.",
        *filter(None, [results.reproduction.chance]),
        f"{results.runs} runs, {results.cpu_s:.1f} s of one core{_beside(dossier)}.",
    ]
    for audited in results.audits.values():
        lines += ["", f"{audited.title}. {audited.answer}"]
    lines += _arguments(dossier)
    lines += _baseline(dossier)
    return "\n".join(lines)


def _arguments(dossier: Finding) -> list[str]:
    """What the author argues, under each requirement."""
    lines: list[str] = []
    for row in dossier.results.rows:
        if row.argument:
            head = f"{row.requirement.section} {row.requirement.title}, argued by the author:"
            text = printable(row.argument).splitlines()
            lines += ["", head, *(f"  {line}".rstrip() for line in text)]
    return lines


def _baseline(dossier: Finding) -> list[str]:
    if dossier.changes is None:
        return []
    worse = [str(change) for change in dossier.changes if change.is_regression]
    better = [str(change) for change in dossier.changes if change.is_better]
    head = (
        f"Against the baseline: {len(dossier.changes)} numbers and verdicts compared,"
        f" {len(worse)} worse, {len(better)} better."
    )
    change_lines = [f"  worse   {text}" for text in worse] + [
        f"  better  {text}" for text in better
    ]
    if len(change_lines) > MOST_CHANGES:
        change_lines = [
            *change_lines[:MOST_CHANGES],
            f"  and {len(change_lines) - MOST_CHANGES} more",
        ]
    return ["", head, *change_lines]
