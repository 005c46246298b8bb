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


def write(done: Reproduction, folder: str | Path) -> Path:
    """Write a reproduction; the folder appears when it is whole.

    Parameters
    ----------
    done
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
        for drawn in done.figures:
            if not drawn.missing:
                known = {"paper": done.paper.name}
                write_figure(done, drawn, at, known, _command(done, drawn))
        _json(at / "claims.json", claims_of(done))
        _json(at / MARKER, provenance(done))
        page = paper_page(done, at)
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


def as_data(done: Reproduction) -> dict[str, Any]:
    """What ``--json`` prints.

    Parameters
    ----------
    done
        The reproduction.
    """
    figures = [
        {"id": item.figure.id, "title": item.figure.title, "missing": item.missing or None,
         "files": None if item.missing else figure_files(item.figure.id)}
        for item in done.figures
    ]  # fmt: skip
    return {**provenance(done), "claims": claims_of(done), "figures": figures}


def provenance(done: Reproduction) -> dict[str, Any]:
    """What led to the results; nothing of it depends on when or where they were made.

    Parameters
    ----------
    done
        The reproduction.
    """
    from ackclock import _core

    counts = {v: done.count(v) for v in ("reproduced", "deviates", "not-checkable")}
    return {
        "reproduction": 1,
        "paper": done.paper.name,
        "title": done.paper.about["title"],
        "tier": done.tier,
        "version": _core.version(),
        "command": done.command,
        "counts": counts,
        "orders": done.orders,
        "standings": {name: done.count_standing(name) for name in STANDINGS},
        "reading": dict(done.reading),
        "unexpected": [result.claim.id for result in done.deviations],
        "studies": {name: dict(result.provenance) for name, result in done.studies.items()},
    }


def write_figure(
    done: Reproduction, drawn: Drawn, folder: Path, known: Mapping[str, str], command: str
) -> None:
    """Write a figure as SVG, PNG and CSV, with its recipe.

    Parameters
    ----------
    done
        The reproduction that it is of.
    drawn
        The figure.
    folder
        Its files are placed in ``figures``.
    known
        What else the recipe says.
    command
        What makes it again.
    """
    from ackclock import _core
    from ackclock.plot import style
    from ackclock.reproduce.run.layers import csv_columns
    from ackclock.reproduce.write.draw import draw

    figure = drawn.figure
    canvas = draw(figure, drawn.layers)
    studies = [done.studies[name].provenance for name in drawn.studies]
    random = [study for name, study in zip(drawn.studies, studies, strict=True)
              if done.studies[name].is_random]  # fmt: skip
    seeds = sorted({seed for study in random for seed in study["seeds"]})
    said = {"version": _core.version(), **known, "figure_id": figure.id, "tier": done.tier}
    for name, study in zip(drawn.studies, studies, strict=True):
        said[f"study_{name}"] = study["study_hash"]
    if seeds:
        said["seeds"] = f"{seeds[0]}" if len(seeds) == 1 else f"{seeds[0]} to {seeds[-1]}"
    style.recipe(canvas, **said)
    files = figure_files(figure.id)
    for ending in ("svg", "png"):
        style.save(canvas, folder / files[ending], command=command)
    _csv(folder / files["csv"], csv_columns(figure, drawn.layers))


def _csv(path: Path, rows: Sequence[dict[str, Any]]) -> None:
    names = list(dict.fromkeys(key for row in rows for key in row))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def _json(path: Path, data: Any) -> None:
    text = json_text(data, indent=2)
    path.write_text(text + "\n", encoding="utf-8")
