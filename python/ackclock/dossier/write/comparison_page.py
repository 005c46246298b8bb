"""A comparison as text, as sentences that follow from its intervals, and as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.command_line import without_places
from ackclock._util.number_text import number, percent
from ackclock._util.text_table import table
from ackclock.dossier.baseline import CONFIDENCE, LEAST, LEVEL
from ackclock.dossier.write.page import write_measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.dossier.compare import Compared, ControlDifference, ControlPair

__all__ = ["page", "sentences", "write_html"]

INTERVAL = f"{percent(CONFIDENCE, 0)} interval"

RULE = (
    "One is called better where the paired differences are above chance among all numbers and their"
    f" mean is more than {percent(LEAST, 0)} of the larger value or of the threshold. Of equal"
    f" controls, any number would be called different by chance with at most {percent(LEVEL, 0)}."
)


def sentences(compared: Compared, pair: ControlPair) -> list[str]:
    """Write what follows from the intervals of two controls.

    Parameters
    ----------
    compared
        The comparison.
    pair
        The two.
    """
    first, second = pair.names
    first_wins, second_wins = len(pair.wins(0)), len(pair.wins(1))
    equal_count = len(pair.differences) - first_wins - second_wins
    lines = [
        f"{first} and {second}: of {len(pair.differences)} numbers, {first_wins} are better for"
        f" {first}, {second_wins} for {second}, and {equal_count} do not differ significantly."
    ]
    lines += _verdicts(compared, pair)
    for family in compared.families:
        won_texts = [
            _won(pair, which, family["id"]) for which in (0, 1) if pair.wins(which, family["id"])
        ]
        if won_texts:
            lines.append(f"{family['title']}: {'; '.join(won_texts)}.")
    return lines


def _verdicts(compared: Compared, pair: ControlPair) -> Iterator[str]:
    columns = [compared.names.index(name) for name in pair.names]
    for which in (0, 1):
        met = [
            f"{rows[0].requirement.section} {rows[0].requirement.title}"
            for rows in compared.rows()
            if rows[columns[which]].verdict == "met"
            and rows[columns[1 - which]].verdict == "not met"
        ]
        if met:
            other = pair.names[1 - which]
            yield f"{pair.names[which]} meets and {other} does not: {'; '.join(met)}."


def _won(pair: ControlPair, which: int, family: str) -> str:
    wins = pair.wins(which, family)
    of = sum(one.family == family for one in pair.differences)
    return f"{pair.names[which]} is better in {len(wins)} of {of}, most in {_largest(wins[0])}"


def _largest(difference: ControlDifference) -> str:
    change = difference.change
    values = [change.before, change.after]
    if difference.winner == 1:
        values.reverse()
    unit = f" {change.unit}" if change.unit else ""
    ends = sorted((abs(change.low), abs(change.high)))
    return (
        f"{change.title} ({number(values[0], 3)} against {number(values[1], 3)}{unit}; difference"
        f" {number(abs(change.difference), 3)}, {INTERVAL} {number(ends[0], 3)} to"
        f" {number(ends[1], 3)})"
    )


def page(compared: Compared) -> str:
    """Write the page of text.

    Parameters
    ----------
    compared
        The comparison.
    """
    task = compared.results[0].task
    beside = ", ".join(task.rivals) or "none"
    lines = [f"{task.profile.about['title']}, tier {task.tier}; beside {beside}.", ""]
    for pair in compared.pairs:
        lines += [*sentences(compared, pair), ""]
    head = ["section", "requirement", *compared.names, *(_versus(pair) for pair in compared.pairs)]
    cells = [
        [
            rows[0].requirement.section,
            rows[0].requirement.title,
            *(row.verdict for row in rows),
            *(_count(pair, rows[0].requirement.id) for pair in compared.pairs),
        ]
        for rows in compared.rows()
    ]
    lines += [
        table(head, cells, most=1000),
        "",
        "a : b : numbers of the requirement that are better for the one : the other : equal.",
        RULE,
        f"{sum(result.runs for result in compared.results)} runs,"
        f" {sum(result.cpu_s for result in compared.results):.1f} s of one core.",
    ]
    return "\n".join(lines)


def _versus(pair: ControlPair) -> str:
    return f"{pair.names[0]} : {pair.names[1]}"


def _count(pair: ControlPair, id_: str) -> str:
    inside = [one for one in pair.differences if one.change.id == id_]
    if not inside:
        return "-"
    counts = [sum(one.winner == which for one in inside) for which in (0, 1, None)]
    return " : ".join(str(count) for count in counts)


def write_html(compared: Compared, folder: Path, command: str) -> str:
    """Write the page.

    Parameters
    ----------
    compared
        The comparison.
    folder
        The folder, with each control's dossier in it.
    command
        What gives it again.
    """
    from ackclock import _core
    from ackclock._util.page import render
    from ackclock.reproduce.write.html import figure_on_page

    task = compared.results[0].task
    figures: dict[str, list[dict[str, Any]]] = {}
    for position, result in enumerate(compared.results, start=1):
        for figure_data in result.reproduction.figures:
            if not figure_data.missing:
                on_page = figure_on_page(figure_data, folder / f"dossier-{position}")
                of = {"of": compared.names[position - 1]}
                figures.setdefault(figure_data.figure.id, []).append({**on_page, **of})
    families = []
    for family in compared.families:
        rows = [rows for rows in compared.rows() if rows[0].requirement.family == family["id"]]
        ids = dict.fromkeys(name for row in rows for name in row[0].requirement.figures)
        families.append(
            {
                "about": "",
                **family,
                "rows": [
                    {
                        "section": row[0].requirement.section,
                        "title": row[0].requirement.title,
                        "cells": [
                            {
                                "verdict": requirement_row.verdict,
                                "mark": requirement_row.verdict.replace(" ", "-"),
                                "measured": write_measured(requirement_row),
                            }
                            for requirement_row in row
                        ],
                        "counts": [_count(pair, row[0].requirement.id) for pair in compared.pairs],
                    }
                    for row in rows
                ],
                "better": [
                    {"pair": _versus(pair), "rows": _table(pair, family["id"])}
                    for pair in compared.pairs
                    if _table(pair, family["id"])
                ],
                "figures": [figures[id_] for id_ in ids if id_ in figures],
            }
        )
    return render(
        Path(__file__).with_name("comparison.html"),
        title=" and ".join(compared.names),
        names=compared.names,
        profile=task.profile,
        document=task.profile.document,
        tier=task.tier,
        tier_about=task.profile.tier(task.tier)["about"],
        others=task.rivals,
        sentences=[sentences(compared, pair) for pair in compared.pairs],
        versus=[_versus(pair) for pair in compared.pairs],
        families=families,
        rule=RULE,
        interval=INTERVAL,
        values=[without_places(result.task.control.value) for result in compared.results],
        version=_core.version(),
        command=command,
        runs=number(sum(result.runs for result in compared.results)),
        cpu=number(sum(result.cpu_s for result in compared.results), 3),
    )


def _table(pair: ControlPair, family: str) -> list[list[str]]:
    """Numbers of a family that differ significantly, the largest difference first."""
    significant = sorted(
        (*pair.wins(0, family), *pair.wins(1, family)),
        key=lambda difference: -difference.change.size,
    )
    return [
        [
            difference.change.title,
            number(difference.change.before, 3),
            number(difference.change.after, 3),
            f"{number(difference.change.difference, 3, sign=True)}"
            f" [{number(difference.change.low, 3)}, {number(difference.change.high, 3)}]",
            difference.change.unit,
            difference.expected,
            pair.names[1 if difference.winner else 0],
        ]
        for difference in significant
    ]
