"""The pages: one for a paper, one over all papers. They load nothing from a network."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.foreign_files import read_json
from ackclock._util.number_text import bounds
from ackclock._util.page import render
from ackclock.reproduce.run.standing import STANDINGS
from ackclock.reproduce.run.wording import describe_orders, write_measured
from ackclock.reproduce.write.files import MARKER, figure_files
from ackclock.reproduce.write.opening import sentences

if TYPE_CHECKING:
    from ackclock.reproduce.run.measure import ClaimResult
    from ackclock.reproduce.run.reproduction import Drawn, Reproduction

__all__ = ["figure_on_page", "index_page", "paper_page"]

WORDS = {
    "holds": "holds at the default settings",
    "holds-inferred": "holds at the inferred settings, on fresh seeds",
    "undetermined": "holds in a part of what is plausible",
    "paper-error": "the paper's own error, proved",
    "not-public": "rests on data that is not public",
    "open": "not met, and why is not known",
    "not-judged": "not judged here",
    "repeats": "says again what another claim says",
    "erratum": "an error of the paper, shown here",
}
"""Standings, in words."""

MARKS = {"met": "✓", "missed": "✗", "undecided": "?"}
"""Outcomes of numbers, as marks."""


def paper_page(reproduction: Reproduction, folder: Path) -> str:
    """Write the page of a paper.

    Parameters
    ----------
    reproduction
        The reproduction.
    folder
        Has the figures' files.
    """
    from ackclock import _core
    from ackclock.reproduce.paper import KINDS

    claims = [_claim(result) for result in reproduction.claims]
    many: dict[str, list[dict[str, Any]]] = {}
    for row in claims:
        if row["made_from"]:
            many.setdefault(row["made_from"], []).append(row)
    judged = {
        file: [row for row in rows if row["standing"] not in ("not-judged", "repeats")]
        for file, rows in many.items()
    }
    used = dict.fromkeys(word for result in reproduction.claims for word in result.claim.unstated)
    return render(
        Path(__file__).with_name("paper.html"),
        paper=reproduction.paper,
        about=reproduction.paper.about,
        tier=reproduction.tier,
        tier_about=reproduction.paper.about.get("tiers", {})
        .get(reproduction.tier, {})
        .get("about", ""),
        version=_core.version(),
        command=reproduction.command,
        chance=reproduction.chance,
        orders=reproduction.orders,
        marks=MARKS,
        kinds=KINDS,
        sentences=sentences(reproduction),
        standings={name: reproduction.count_standing(name) for name in STANDINGS},
        words=WORDS,
        readings=reproduction.paper.readings,
        reading=reproduction.reading,
        claims=[row for row in claims if row["kind"] != "E" and not row["made_from"]],
        judged=judged,
        errata=[row for row in claims if row["kind"] == "E"],
        many=many,
        figures=[
            _figure(reproduction, figure_data, folder) for figure_data in reproduction.figures
        ],
        parameters=reproduction.paper.parameters.values(),
        used=used,
        plain=_plain,
        studies={name: result.provenance for name, result in reproduction.studies.items()},
    )


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _claim(result: ClaimResult) -> dict[str, Any]:
    claim = result.claim
    units = [check.unit for check in claim.checks]
    deciding = result.deciding
    return {
        "id": claim.id,
        "kind": claim.kind,
        "statement": claim.statement,
        "where": claim.where,
        "paper": claim.paper,
        "note": claim.note,
        "outcome": result.outcome or "",
        "headline": write_measured(result),
        "count": describe_orders(result.orders),
        "expected": deciding.expected.replace(" %", "\u00a0%") if deciding else "",
        "decided_by": deciding.name if deciding else "",
        "is_known": result.is_known_deviation,
        "reason": result.reason,
        "unstated": claim.unstated,
        "made_from": claim.made_from,
        "unit": units[0] if len(units) == 1 else "",
        "standing": result.standing.name if result.standing else "not-judged",
        "standing_reason": result.standing.reason if result.standing else "",
        "parts": [
            {
                "ours": number.ours,
                "name": number.name,
                "measured": bounds(number.measured, number.low, number.high),
                "expected": number.expected.replace(" %", "\u00a0%"),
                "outcome": number.outcome,
            }
            for number in result.results
        ],
    }


def _figure(done: Reproduction, drawn: Drawn, folder: Path) -> dict[str, Any]:
    name, id_ = done.paper.name, drawn.figure.id
    command = f"ackclock reproduce {name} --figure {id_} --tier {done.tier}"
    return {**figure_on_page(drawn, folder), "command": command}


def figure_on_page(figure_data: Drawn, folder: Path) -> dict[str, Any]:
    """What a page shows of a figure: texts, names of files, and the picture itself.

    Parameters
    ----------
    figure_data
        The figure.
    folder
        Where its files are.
    """
    figure, files = figure_data.figure, figure_files(figure_data.figure.id)
    picture = ""
    if not figure_data.missing:
        picture = base64.b64encode((folder / files["svg"]).read_bytes()).decode()
    return {
        "id": figure.id,
        "title": figure.title,
        "caption": figure.entry.get("caption", ""),
        "missing": figure_data.missing,
        "picture": picture,
        "files": files,
    }


def index_page(folder: Path) -> str:
    """Write the page over all reproductions in a folder.

    Parameters
    ----------
    folder
        Reproductions are its subfolders.
    """
    papers = []
    for marker in sorted(folder.glob(f"*/{MARKER}")):
        provenance = read_json(marker)
        papers.append({**provenance, "page": f"{marker.parent.name}/report.html"})
    return render(
        Path(__file__).with_name("papers.html"), papers=papers, standings=STANDINGS, words=WORDS
    )
