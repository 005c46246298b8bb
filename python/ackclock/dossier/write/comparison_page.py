"""A comparison as text, as sentences that follow from its intervals, and as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.command_line import without_places
from ackclock._util.number_text import number, percent
from ackclock._util.text_table import table
from ackclock.dossier.baseline import CONFIDENCE, LEAST, LEVEL
from ackclock.dossier.write.page import measured

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.dossier.compare import Compared, Difference, Pair

__all__ = ["page", "sentences", "write_html"]

INTERVAL = f"{percent(CONFIDENCE, 0)} interval"

RULE = (
    "One is called better where the paired differences are above chance among all numbers and their"
    f" mean is more than {percent(LEAST, 0)} of the larger value or of the threshold. Of equal"
    f" controls, any number would be called different by chance with at most {percent(LEVEL, 0)}."
)


def sentences(compared: Compared, pair: Pair) -> list[str]:
    """Write what follows from the intervals of two controls.

    Parameters
    ----------
    compared
        The comparison.
    pair
        The two.
    """
    first, second = pair.names
    one, two = len(pair.wins(0)), len(pair.wins(1))
    rest = len(pair.differences) - one - two
    found = [
        f"{first} and {second}: of {len(pair.differences)} numbers, {one} are better for {first},"
        f" {two} for {second}, and {rest} do not differ significantly."
    ]
    found += _verdicts(compared, pair)
    for family in compared.families:
        parts = [
            _won(pair, which, family["id"]) for which in (0, 1) if pair.wins(which, family["id"])
        ]
        if parts:
            found.append(f"{family['title']}: {'; '.join(parts)}.")
    return found


def _verdicts(compared: Compared, pair: Pair) -> Iterator[str]:
    at = [compared.names.index(name) for name in pair.names]
    for which in (0, 1):
        met = [
            f"{rows[0].requirement.section} {rows[0].requirement.title}"
            for rows in compared.rows()
            if rows[at[which]].verdict == "met" and rows[at[1 - which]].verdict == "not met"
        ]
        if met:
            other = pair.names[1 - which]
            yield f"{pair.names[which]} meets and {other} does not: {'; '.join(met)}."


def _won(pair: Pair, which: int, family: str) -> str:
    wins = pair.wins(which, family)
    of = sum(one.family == family for one in pair.differences)
    return f"{pair.names[which]} is better in {len(wins)} of {of}, most in {_largest(wins[0])}"


def _largest(one: Difference) -> str:
    change = one.change
    values = [change.before, change.after]
    if one.winner == 1:
        values.reverse()
    unit = f" {change.unit}" if change.unit else ""
    ends = sorted((abs(change.low), abs(change.high)))
    return (
        f"{change.title} ({number(values[0], 3)} against {number(values[1], 3)}{unit}; difference"
        f" {number(abs(change.difference), 3)}, {INTERVAL} {number(ends[0], 3)} to"
        f" {number(ends[1], 3)})"
    )


def page(found: Compared) -> str:
    """Write the page of text.

    Parameters
    ----------
    found
        The comparison.
    """
    task = found.results[0].task
    beside = ", ".join(task.others) or "none"
    lines = [f"{task.profile.about['title']}, tier {task.tier}; beside {beside}.", ""]
    for pair in found.pairs:
        lines += [*sentences(found, pair), ""]
    head = ["section", "requirement", *found.names, *(_versus(pair) for pair in found.pairs)]
    cells = [
        [
            rows[0].requirement.section,
            rows[0].requirement.title,
            *(row.verdict for row in rows),
            *(_count(pair, rows[0].requirement.id) for pair in found.pairs),
        ]
        for rows in found.rows()
    ]
    lines += [
        table(head, cells, most=1000),
        "",
        "a : b : numbers of the requirement that are better for the one : the other : equal.",
        RULE,
        f"{sum(one.runs for one in found.results)} runs,"
        f" {sum(one.cpu_s for one in found.results):.1f} s of one core.",
    ]
    return "\n".join(lines)


def _versus(pair: Pair) -> str:
    return f"{pair.names[0]} : {pair.names[1]}"


def _count(pair: Pair, id_: str) -> str:
    inside = [one for one in pair.differences if one.change.id == id_]
    if not inside:
        return "-"
    counts = [sum(one.winner == which for one in inside) for which in (0, 1, None)]
    return " : ".join(str(count) for count in counts)


def write_html(found: Compared, at: Path, command: str) -> str:
    """Write the page.

    Parameters
    ----------
    found
        The comparison.
    at
        The folder, with each control's dossier in it.
    command
        What gives it again.
    """
    from ackclock import _core
    from ackclock._util.page import render
    from ackclock.reproduce.write.html import figure_on_page

    task = found.results[0].task
    figures: dict[str, list[dict[str, Any]]] = {}
    for place, one in enumerate(found.results, start=1):
        for drawn in one.made.figures:
            if not drawn.missing:
                shown = figure_on_page(drawn, at / f"dossier-{place}")
                of = {"of": found.names[place - 1]}
                figures.setdefault(drawn.figure.id, []).append({**shown, **of})
    families = []
    for family in found.families:
        rows = [rows for rows in found.rows() if rows[0].requirement.family == family["id"]]
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
                                "verdict": one.verdict,
                                "mark": one.verdict.replace(" ", "-"),
                                "measured": measured(one),
                            }
                            for one in row
                        ],
                        "counts": [_count(pair, row[0].requirement.id) for pair in found.pairs],
                    }
                    for row in rows
                ],
                "better": [
                    {"pair": _versus(pair), "rows": _table(pair, family["id"])}
                    for pair in found.pairs
                    if _table(pair, family["id"])
                ],
                "figures": [figures[id_] for id_ in ids if id_ in figures],
            }
        )
    return render(
        Path(__file__).with_name("comparison.html"),
        title=" and ".join(found.names),
        names=found.names,
        profile=task.profile,
        document=task.profile.document,
        tier=task.tier,
        tier_about=task.profile.tier(task.tier)["about"],
        others=task.others,
        sentences=[sentences(found, pair) for pair in found.pairs],
        versus=[_versus(pair) for pair in found.pairs],
        families=families,
        rule=RULE,
        interval=INTERVAL,
        values=[without_places(one.task.control.value) for one in found.results],
        version=_core.version(),
        command=command,
        runs=number(sum(one.runs for one in found.results)),
        cpu=number(sum(one.cpu_s for one in found.results), 3),
    )


def _table(pair: Pair, family: str) -> list[list[str]]:
    """Numbers of a family that differ significantly, the largest difference first."""
    found = sorted((*pair.wins(0, family), *pair.wins(1, family)), key=lambda one: -one.change.size)
    return [
        [
            one.change.title,
            number(one.change.before, 3),
            number(one.change.after, 3),
            f"{number(one.change.difference, 3, sign=True)} [{number(one.change.low, 3)},"
            f" {number(one.change.high, 3)}]",
            one.change.unit,
            one.expected,
            pair.names[1 if one.winner else 0],
        ]
        for one in found
    ]
