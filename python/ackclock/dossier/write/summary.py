"""The dossier as one screen of Markdown, for the page of a working group."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ackclock._util.text_table import printable
from ackclock.dossier.write.page import answer, standing, write_measured

if TYPE_CHECKING:
    from ackclock.dossier.finding import Finding
    from ackclock.dossier.rows import RequirementRow

__all__ = ["escape", "write_summary"]

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>#|~])")


def write_summary(dossier: Finding) -> str:
    """Write what is not met, undecided, argued and open, each in a line, and name what is met.

    Parameters
    ----------
    dossier
        The dossier.

    Returns
    -------
    str
        Markdown of GitHub's kind; names from files are escaped.
    """
    results = dossier.results
    task = results.task
    profile = task.profile
    about = f" ({escape(dossier.source)})" if dossier.source else ""
    beside = ", ".join(map(escape, task.rivals)) or "none"
    lines = [
        f"# {escape(task.control.label)}{about}: {escape(profile.about['title'])}",
        "",
        f"{escape(answer(dossier))} {escape(standing(dossier))}".rstrip(),
        "",
        "| section | requirement | level | verdict | measured | threshold | where |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    lines += [_line(row) for word in ("not met", "undecided") for row in _of(dossier, word)]
    lines += [
        f"| {row.requirement.section} | {escape(row.requirement.title)} | {row.requirement.level} |"
        f" {row.standing} | | | |"
        for row in results.rows
        if row.standing != "measured"
    ]
    met = [f"{row.requirement.section} {row.requirement.title}" for row in _of(dossier, "met")]
    if met:
        lines += ["", f"Met: {escape('; '.join(met))}."]
    reported = [row.requirement.title for row in _of(dossier, "reported")]
    if reported:
        lines += ["", f"Without a threshold: {escape('; '.join(reported))}."]
    lines += [
        "",
        f"Beside {beside}; tier {task.tier}, {results.runs} runs by ackclock {dossier.version}."
        " Intervals are of 95 % over seeds; thresholds are ours unless the report names a source.",
        "",
        f"    {printable(dossier.command)}",
        "",
    ]
    return "\n".join(lines)


def _of(dossier: Finding, verdict: str) -> list[RequirementRow]:
    return [row for row in dossier.results.rows if row.verdict == verdict]


def _line(row: RequirementRow) -> str:
    decisive = row.decisive
    cells = [
        row.requirement.section,
        row.requirement.title,
        row.requirement.level,
        row.verdict,
        write_measured(row),
        decisive.result.expected if decisive else "",
        decisive.title if decisive else "",
    ]
    return f"| {' | '.join(map(escape, cells))} |"


def escape(text: str) -> str:
    """Escape what Markdown would read as a mark.

    Parameters
    ----------
    text
        A name from a file; ends of lines become spaces.
    """
    return _SPECIAL.sub(r"\\\1", printable(text).replace("\n", " "))
