"""Writes the page that puts every paper's runs beside theory.

``python tools/theory/write_twin.py`` runs at most 30 cases of each paper's smallest tier, one seed
each, and writes `docs/reference/twin.md`. That takes minutes, so the page is kept.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ackclock._util.number_text import percent
from ackclock.cli.studies.twin import paper_survey
from ackclock.reproduce.read.folder import names, read
from ackclock.studies.twin.laws import LAWS

if TYPE_CHECKING:
    from ackclock.studies.twin.survey import Survey

__all__ = ["main", "page"]

MARK = "<!-- Written by python tools/theory/write_twin.py; do not edit. -->\n"
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "twin.md"
MOST = 30
HEAD = """# Theory beside the papers' runs

At most 30 packet-level runs of each paper, evenly spaced over its smallest tier and with one seed,
beside each [law](../howto/twin.md) that applies to them. *Agrees*: within the law's accuracy.
*Parts, known*: further off, for something that the law does not know of the run, such as timeouts.
*Parts*: further off without such a reason. The deviation is the median of those that agree or part:
how far the measurement is from the prediction, or from the nearer end of its range.
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


def main() -> None:
    """Run the program."""
    surveys = {
        read(name).about["title"]: paper_survey(name, "first", MOST, shown=True) for name in names()
    }
    PAGE.write_text(page(surveys), encoding="utf-8")


if __name__ == "__main__":
    main()
