"""The dossier as one HTML file that loads nothing, with figures and studies beside it."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.command_line import without_places
from ackclock._util.json_text import json_text
from ackclock._util.number_text import bounds, number
from ackclock._util.page import render
from ackclock.dossier.form import VERDICTS
from ackclock.dossier.profile import LEVELS
from ackclock.dossier.write.page import answer, away, order, standing, write_measured
from ackclock.reproduce.write.folder import write_figure
from ackclock.reproduce.write.html import figure_on_page

if TYPE_CHECKING:
    from ackclock.dossier.audits import Audited
    from ackclock.dossier.finding import Finding
    from ackclock.dossier.rows import RequirementRow

__all__ = ["write_figures", "write_html", "write_studies"]

Data = dict[str, Any]

NEAR = 0.1
"""Margins up to this part of a threshold are called near."""


def write_figures(dossier: Finding, folder: Path) -> None:
    """Write the figures and the data behind each.

    Parameters
    ----------
    dossier
        The dossier.
    folder
        The folder.
    """
    (folder / "figures").mkdir()
    task = dossier.results.task
    recipe = {"profile": task.profile.name, "control": task.control.label}
    for figure_data in dossier.results.reproduction.figures:
        if not figure_data.missing:
            write_figure(dossier.results.reproduction, figure_data, folder, recipe, dossier.command)


def write_studies(dossier: Finding, folder: Path) -> None:
    """Write the studies as sweep files, with the control in its place.

    Parameters
    ----------
    dossier
        The dossier.
    folder
        The folder.
    """
    (folder / "scenarios").mkdir()
    data = dossier.results.reproduction.paper
    for name in dossier.results.reproduction.studies:
        text = json_text(without_places(data.studies[name].document), indent=1)
        (folder / "scenarios" / f"{name}.json").write_text(f"{text}\n", encoding="utf-8")


def write_html(dossier: Finding, folder: Path) -> str:
    """Write the page.

    Parameters
    ----------
    dossier
        The dossier.
    folder
        The folder, with the figures in it.
    """
    results = dossier.results
    profile = results.task.profile
    rows = [_row(row) for row in results.rows]
    figures = {
        figure_data.figure.id: {
            **figure_on_page(figure_data, folder),
            "studies": figure_data.studies,
        }
        for figure_data in results.reproduction.figures
    }
    families = []
    for family in profile.families:
        inside = [row for row in rows if row["family"] == family["id"]]
        if inside:
            ids = dict.fromkeys(name for row in inside for name in row["figures"])
            families.append(
                {"about": "", **family, "rows": inside, "shown": [figures[name] for name in ids]}
            )
    return render(
        Path(__file__).with_name("dossier.html"),
        control=results.task.control,
        value=json_text(without_places(results.task.control.value)),
        tcp=results.task.control.tcp,
        flow=results.task.control.flow,
        code=results.code_hash,
        profile=profile,
        document=profile.document,
        tier=results.task.tier,
        tier_about=profile.tier(results.task.tier)["about"],
        others=results.task.rivals,
        answer=f"{answer(dossier)} {standing(dossier)}",
        source=dossier.source,
        chance=results.reproduction.chance,
        verdicts={word: about for word, about in VERDICTS.items() if results.count(word)},
        levels={
            word: about
            for word, about in LEVELS.items()
            if any(row["level"] == word for row in rows)
        },
        near=[row for row in rows if row["is_near"]],
        missed=[row for row in rows if row["verdict"] == "not met"],
        rows=sorted(rows, key=lambda row: order(row["verdict"])),
        families=families,
        audits=[_audit(name, audited, folder) for name, audited in results.audits.items()],
        changes=dossier.changes,
        studies={name: study.provenance for name, study in results.reproduction.studies.items()},
        version=dossier.version,
        command=dossier.command,
        runs=number(results.runs),
        cpu=number(results.cpu_s, 3),
    )


def _audit(name: str, audited: Audited, folder: Path) -> Data:
    """What the page shows of an audit, with its picture where it has one."""
    picture_file = folder / "audits" / name / "pattern.svg"
    return {
        "title": audited.title,
        "about": audited.about,
        "answer": audited.answer,
        "text": audited.text,
        "link": f"audits/{name}/{audited.outcome.PAGE}" if audited.outcome else "",
        "picture": b64encode(picture_file.read_bytes()).decode() if picture_file.is_file() else "",
    }


def _is_near(row: RequirementRow) -> bool:
    """Whether a threshold that is a little stricter or laxer would give another verdict."""
    one = row.decisive
    if one is None or one.distance is None or not one.decides or one.result.goal is None:
        return False
    # Where the bound is 0 the distance is not a part of it.
    ends = (one.result.goal.low, one.result.goal.high)
    return 0.0 not in ends and abs(one.distance) <= NEAR


def _row(row: RequirementRow) -> Data:
    requirement = row.requirement
    return {
        "id": requirement.id,
        "section": requirement.section,
        "title": requirement.title,
        "statement": requirement.statement,
        "level": requirement.level,
        "family": requirement.family,
        "note": requirement.note,
        "question": requirement.question,
        "figures": requirement.figures,
        "verdict": row.verdict,
        "mark": row.verdict.replace(" ", "-"),
        "reason": row.reason,
        "argument": row.argument.split("\n\n") if row.argument else [],
        "measured": write_measured(row),
        "expected": row.decisive.result.expected if row.decisive else "-",
        "margin": away(row.decisive.distance if row.decisive else None),
        "is_near": _is_near(row),
        "at": row.decisive.title if row.decisive else "",
        "studies": list(dict.fromkeys(name for n in row.numbers for name in n.studies)),
        "thresholds": requirement.thresholds,
        "numbers": [
            {
                "title": n.title or requirement.title,
                "measured": bounds(n.result.measured, n.result.low, n.result.high, figures=3),
                "unit": n.unit,
                "expected": n.result.expected,
                "margin": away(n.distance),
                "outcome": n.result.outcome if n.result.expected else "reported",
                "ours": not n.decides,
            }
            for n in row.numbers
        ],
    }
