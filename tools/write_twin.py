"""Writes the page that puts every paper's runs beside theory.

``python tools/write_twin.py docs/reference/generated/twin.md`` runs the smallest tier of each paper,
one seed a run.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock._util.number_text import percent
from ackclock.cli.studies.twin import paper_survey
from ackclock.reproduce.read.folder import names, read
from ackclock.studies.twin.laws import LAWS

if TYPE_CHECKING:
    from ackclock.studies.twin.survey import Survey

__all__ = ["main", "page"]

MARK = "<!-- Written by python tools/write_twin.py; do not edit. -->\n"
HEAD = """# Theory beside the papers' runs

Every packet-level run of every paper, in its smallest tier and with one seed, beside each
[law](../../howto/twin.md) that applies to it. *Agrees*: within the law's accuracy. *Parts, known*:
further off, for something that the law does not know of the run, such as timeouts. *Parts*: further
off without such a reason. The deviation is the median of those that agree or part: how far the
measurement is from the prediction, or from the nearer end of its range.
"""


def page(surveys: dict[str, Survey]) -> str:
    """The page as Markdown.

    Parameters
    ----------
    surveys
        Of each paper, by its title.
    """
    parts = [MARK, HEAD, "## The laws\n", _laws()]
    for title, survey in surveys.items():
        parts += [f"## {title}\n", f"{survey.runs} runs, {len(survey.rows)} predictions.\n"]
        if survey.rows:
            parts.append(_counts(survey))
        if survey.parted:
            parts.append("Without a known reason, the worst first:\n")
            parts.append("".join(f"- {label}: {row.sentence}.\n" for label, row in survey.parted))
    return "\n".join(parts)


def _laws() -> str:
    rows = [[f"`{law.name}`", law.title, law.source, percent(law.accuracy)] for law in LAWS]
    return _table(["law", "says", "source", "accuracy"], rows)


def _counts(survey: Survey) -> str:
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


def main(arguments: list[str]) -> int:
    """Run the program.

    Parameters
    ----------
    arguments
        The file to write.
    """
    if len(arguments) != 1:
        print("usage: python tools/write_twin.py FILE, the page to write")
        return 2
    surveys = {
        read(name).about["title"]: paper_survey(name, "first", shown=True) for name in names()
    }
    file = Path(arguments[0])
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(page(surveys), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
