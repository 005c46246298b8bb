"""Writes the page that puts every paper's runs beside theory.

``python tools/theory/write_twin.py`` runs some cases of each paper's smallest tier, one seed each,
and writes `docs/reference/twin.md`. That takes minutes, so the page is kept. ``--only NAME`` runs
one paper anew and leaves the sections of the others as they are.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock._util.number_text import percent
from ackclock.cli.studies.twin import paper_survey
from ackclock.reproduce.read.folder import names, read
from ackclock.studies.twin.laws import LAWS

if TYPE_CHECKING:
    from ackclock.studies.twin.survey import TheorySurvey

__all__ = ["main", "page", "section"]

MARK = "<!-- Written by python tools/theory/write_twin.py; do not edit. -->\n"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "twin.md"
MOST = 24
LISTED = 20
HEAD = f"""# Theory beside the papers' runs

At most {MOST} packet-level runs of each paper, evenly spaced over its smallest tier and with one
seed, beside each [law](../howto/twin.md) that applies to them. *Agrees*: within the law's accuracy.
*Parts, known*: further off, for something that the law does not know of the run; the reasons are
counted below each table. *Parts*: further off without such a reason, which is a finding. The
deviation is the median of those that agree or part without a reason: how far the measurement is
from the prediction, or from the nearer end of its range.
"""


def page(sections: dict[str, str]) -> str:
    """The page as Markdown.

    Parameters
    ----------
    sections
        Of each paper, by its title.
    """
    laws = [[f"`{law.name}`", law.title, law.source, percent(law.accuracy)] for law in LAWS]
    parts = [MARK, HEAD, "## The laws\n", _table(["law", "says", "source", "accuracy"], laws)]
    for title, text in sections.items():
        parts += [f"## {title}\n", text]
    return "\n".join(parts)


def section(survey: TheorySurvey) -> str:
    """What a paper's runs show.

    Parameters
    ----------
    survey
        Its runs.
    """
    parts = [f"{survey.runs} runs, {len(survey.rows)} predictions.\n"]
    if survey.rows:
        parts.append(_counts(survey))
    if survey.reasons:
        rows = [[f"`{law}`", reason, str(count)] for law, reason, count in survey.reasons]
        parts.append(_table(["law", "known reason (N: its numbers)", "times"], rows))
    if survey.parted:
        parts.append("Without a known reason, the worst first:\n")
        lines = [f"- {label}: {row.sentence}.\n" for label, row in survey.parted]
        more = len(lines) - LISTED
        parts.append("".join(lines[:LISTED]) + (f"- and {more} more.\n" if more > 0 else ""))
    return "\n".join(parts)


def _counts(survey: TheorySurvey) -> str:
    rows = [
        [
            f"`{c.law.name}`",
            str(c.agrees),
            str(c.known),
            str(c.parts),
            f"{100 * c.median_deviation:+.1f} %" if c.agrees + c.parts else "",
        ]
        for c in survey.counts
    ]
    return _table(["law", "agrees", "parts, known", "parts", "median deviation"], rows)


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def _kept() -> dict[str, str]:
    """The sections that the page has, by title."""
    if not PAGE.is_file():
        return {}
    parts = re.split(r"^## (.*)\n\n", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    return {
        title: text.rstrip() + "\n" for title, text in zip(parts[::2], parts[1::2], strict=True)
    }


def main() -> None:
    """Run the program."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=names(), help="run this paper anew")
    only = parser.parse_args().only
    kept = _kept() if only else {}
    sections = {}
    for name in names():
        title = str(read(name).about["title"])
        if only in (None, name):
            sections[title] = section(paper_survey(name, "first", MOST, with_bar=True))
        elif title in kept:
            sections[title] = kept[title]
        # After each paper: an interruption costs one.
        PAGE.write_text(page(sections), encoding="utf-8")


if __name__ == "__main__":
    main()
