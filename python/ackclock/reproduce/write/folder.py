"""Writes a reproduction into a folder: figures, the data behind each, claims, the report."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.json_text import json_text
from ackclock._util.output_folder import whole_folder
from ackclock.reproduce.run.standing import STANDINGS
from ackclock.reproduce.write.files import MARKER, figure_files
from ackclock.reproduce.write.html import paper_page

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.reproduce.run.reproduction import Drawn, Reproduction

__all__ = ["as_data", "claims_of", "write", "write_figure"]


def write(reproduction: Reproduction, folder: str | Path) -> Path:
    """Write a reproduction; the folder appears when it is whole.

    Parameters
    ----------
    reproduction
        The reproduction.
    folder
        Is made, or replaced if it is a reproduction.

    Returns
    -------
    Path
        The folder.

    Raises
    ------
    AckclockError
        Something else is there.
    """

    def fill(at: Path) -> None:
        (at / "figures").mkdir()
        for drawn in reproduction.figures:
            if not drawn.missing:
                known = {"paper": reproduction.paper.name}
                write_figure(reproduction, drawn, at, known, _command(reproduction, drawn))
        _json(at / "claims.json", claims_of(reproduction))
        _json(at / MARKER, provenance(reproduction))
        page = paper_page(reproduction, at)
        (at / "report.html").write_text(page, encoding="utf-8")

    return whole_folder(Path(folder), fill, marker=MARKER)


def _command(done: Reproduction, drawn: Drawn) -> str:
    import shlex

    name, figure = done.paper.name, drawn.figure.id
    return shlex.join(["ackclock", "reproduce", name, "--figure", figure, "--tier", done.tier])


def claims_of(done: Reproduction) -> list[dict[str, Any]]:
    """The content of ``claims.json``.

    Parameters
    ----------
    done
        The reproduction.
    """
    return [result.to_dict() for result in done.claims]


def as_data(reproduction: Reproduction) -> dict[str, Any]:
    """What ``--json`` prints.

    Parameters
    ----------
    reproduction
        The reproduction.
    """
    figures = [
        {"id": item.figure.id, "title": item.figure.title, "missing": item.missing or None,
         "files": None if item.missing else figure_files(item.figure.id)}
        for item in reproduction.figures
    ]  # fmt: skip
    return {**provenance(reproduction), "claims": claims_of(reproduction), "figures": figures}


def provenance(reproduction: Reproduction) -> dict[str, Any]:
    """What led to the results; nothing of it depends on when or where they were made.

    Parameters
    ----------
    reproduction
        The reproduction.
    """
    from ackclock import _core

    counts = {v: reproduction.count(v) for v in ("reproduced", "deviates", "not-checkable")}
    return {
        "reproduction": 1,
        "paper": reproduction.paper.name,
        "title": reproduction.paper.about["title"],
        "tier": reproduction.tier,
        "version": _core.version(),
        "command": reproduction.command,
        "counts": counts,
        "orders": reproduction.orders,
        "standings": {name: reproduction.count_standing(name) for name in STANDINGS},
        "reading": dict(reproduction.reading),
        "unexpected": [result.claim.id for result in reproduction.deviations],
        "studies": {name: dict(result.provenance) for name, result in reproduction.studies.items()},
    }


def write_figure(
    reproduction: Reproduction,
    figure_data: Drawn,
    folder: Path,
    details: Mapping[str, str],
    command: str,
) -> None:
    """Write a figure as SVG, PNG and CSV, with its recipe.

    Parameters
    ----------
    reproduction
        The reproduction that it is of.
    figure_data
        The figure.
    folder
        Its files are placed in ``figures``.
    details
        What else the recipe says.
    command
        What makes it again.
    """
    from ackclock import _core
    from ackclock.plot import style
    from ackclock.reproduce.run.layers import csv_columns
    from ackclock.reproduce.write.draw import draw

    figure = figure_data.figure
    canvas = draw(figure, figure_data.layers)
    studies = [reproduction.studies[name].provenance for name in figure_data.studies]
    random = [study for name, study in zip(figure_data.studies, studies, strict=True)
              if reproduction.studies[name].is_random]  # fmt: skip
    seeds = sorted({seed for study in random for seed in study["seeds"]})
    recipe = {
        "version": _core.version(),
        **details,
        "figure_id": figure.id,
        "tier": reproduction.tier,
    }
    for name, study in zip(figure_data.studies, studies, strict=True):
        recipe[f"study_{name}"] = study["study_hash"]
    if seeds:
        recipe["seeds"] = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    style.recipe(canvas, **recipe)
    files = figure_files(figure.id)
    for ending in ("svg", "png"):
        style.save(canvas, folder / files[ending], command=command)
        # The second file has the places of the first; finding them takes as long as drawing.
        canvas.set_layout_engine("none")
    _csv(folder / files["csv"], csv_columns(figure, figure_data.layers))


def _csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _json(path: Path, data: Any) -> None:
    text = json_text(data, indent=2)
    path.write_text(text + "\n", encoding="utf-8")
