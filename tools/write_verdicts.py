"""Writes the tables of docs/explanation/papers.md from reproductions, between two markers.

``ackclock reproduce --all --out DIR`` first, then ``python tools/write_verdicts.py DIR``. A paper
that DIR lacks gets a row that says so: numbers of another state of the code are never kept.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from ackclock.reproduce.read.folder import names, read
from ackclock.reproduce.run.standing import STANDINGS
from ackclock.reproduce.run.wording import OUTCOMES
from ackclock.reproduce.write.files import MARKER

__all__ = ["filled", "tables"]

PAGE = Path(__file__).resolve().parents[1] / "docs" / "explanation" / "papers.md"
BEGIN = "<!-- verdicts: written by tools/write_verdicts.py -->"
END = "<!-- end of verdicts -->"
CLAIMS = "claims.json"
EXAMPLE = "example"
"""The folder that shows the form of one: it is no paper."""


def tables(folder: Path) -> str:
    """Tables of standings and of open claims as Markdown.

    Claims that are made from the rows of one file, as the pairs of an appendix, have one row.

    Parameters
    ----------
    folder
        Has a reproduction of each paper, by the paper's name.
    """
    rows, left = [], []
    standings = [name for name in STANDINGS if name != "erratum"]
    head = [
        "paper",
        "tier",
        "claims",
        *(f"`{name}`" for name in standings),
        "numbers met",
        "errata",
    ]
    for name in (name for name in names() if name != EXAMPLE):
        paper = read(name)
        title = f"{paper.about['title'].split(':')[0]} ({paper.about['year']})"
        at = folder / name
        if not (at / MARKER).is_file():
            rows.append([title, "not run", *("" for _ in head[2:])])
            continue
        tier = json.loads((at / MARKER).read_text(encoding="utf-8"))["tier"]
        found = json.loads((at / CLAIMS).read_text(encoding="utf-8"))
        made_from = {claim.id: claim.made_from for claim in paper.claims.values()}
        errata = [claim for claim in found if claim["kind"] == "E"]
        groups: dict[str, list[dict[str, Any]]] = {"": []}
        for claim in found:
            if claim["kind"] != "E":
                groups.setdefault(made_from.get(claim["id"], ""), []).append(claim)
        for file, claims in groups.items():
            counts = Counter(claim["standing"] for claim in claims)
            label = f"... rows of {file}" if file else title
            shown = sum(claim["standing"] == "erratum" for claim in errata)
            faults = f"{shown} of {len(errata)}" if errata and not file else ""
            rows.append(
                [label, tier, str(len(claims)), *(str(counts[n]) for n in standings),
                 _numbers(claims), faults]
            )  # fmt: skip
        left += [
            [title, claim["id"], claim["statement"], _numbers([claim])]
            for claim in groups[""]
            if claim["standing"] == "open"
        ]
    text = _table(head, rows)
    if left:
        text += "\n\nOpen are:\n\n" + _table(
            ["paper", "claim", "what the paper says", "numbers met"], left
        )
    return text


def _numbers(claims: list[dict[str, Any]]) -> str:
    """How many of the numbers that decide are met."""
    orders = [claim["orders"] for claim in claims]
    count = sum(one[name] for one in orders for name in OUTCOMES)
    return f"{sum(one['met'] for one in orders)} of {count}" if count else ""


def _table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def filled(page: str, content: str) -> str:
    """Put content between the page's markers.

    Parameters
    ----------
    page, content
        The two texts.

    Raises
    ------
    SystemExit
        The page has no markers.
    """
    if page.count(BEGIN) != 1 or page.count(END) != 1 or page.index(BEGIN) > page.index(END):
        raise SystemExit(f"{PAGE}: expected the lines {BEGIN} and {END}, once each")
    before, after = page.split(BEGIN, maxsplit=1)[0], page.split(END)[1]
    return f"{before}{BEGIN}\n\n{content}\n\n{END}{after}"


def main(arguments: list[str]) -> int:
    """Run the program.

    Parameters
    ----------
    arguments
        The folder of reproductions.
    """
    if len(arguments) != 1 or not Path(arguments[0]).is_dir():
        print("usage: python tools/write_verdicts.py DIR, a folder of reproductions")
        return 2
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(filled(page, tables(Path(arguments[0]))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
