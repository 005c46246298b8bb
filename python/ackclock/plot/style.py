"""The look of figures, and the recipe that travels in their files."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["figure", "line", "recipe", "save", "style"]


@cache
def style() -> dict[str, Any]:
    """The content of ``style.toml``."""
    return tomllib.loads((files("ackclock.plot") / "style.toml").read_text(encoding="utf-8"))


def line(index: int) -> dict[str, Any]:
    """Colour and dash of the curve with this number; no two of the first 28 are alike.

    Parameters
    ----------
    index
        From 0.
    """
    colours, dashes = style()["colours"], style()["dashes"]
    return {
        "color": colours[index % len(colours)],
        "linestyle": dashes[index // len(colours) % len(dashes)],
    }


def figure(summary: dict[str, Any] | None, width: float = 7.2, height: float = 4.0) -> Figure:
    """Make an empty figure in our style that knows its recipe.

    Parameters
    ----------
    summary
        Of the run that is drawn; None for figures of several runs.
    width, height
        In inches.
    """
    import matplotlib as mpl

    from ackclock.plot.notebook import NotebookFigure

    with mpl.rc_context(style()["rc"]):
        chart = NotebookFigure(figsize=(width, height), layout="constrained")
    if summary is not None:
        recipe(
            chart,
            scenario=str(summary["scenario_hash"]),
            seeds=str(summary["seed"]),
            version=str(summary["version"]),
        )
    return chart


def recipe(figure: Figure, **fields: str) -> None:
    """Attach to a figure what is needed to make it again, and print it small below.

    Parameters
    ----------
    figure
        The figure.
    **known
        ``scenario`` (hash, or names and hashes), ``seeds``, ``version``.
    """
    figure._ackclock_recipe = fields  # type: ignore[attr-defined]
    names = [word[:12] for word in fields.get("scenario", "").split()]
    text = "ackclock " + ", ".join(
        clause
        for clause in (
            fields.get("version", ""),
            f"scenario{'s' * (len(names) > 2)} {' '.join(names)}" if names else "",
            f"seed{'s' * (' ' in fields['seeds'])} {fields['seeds']}" if "seeds" in fields else "",
        )
        if clause
    )
    figure.supxlabel(text, fontsize=6, color="#777777", x=0.995, ha="right")


def save(figure: Figure, path: str | Path, *, command: str = "") -> None:
    """Write a figure with its recipe in the file's metadata.

    Parameters
    ----------
    figure
        Made by a function of this package.
    path
        Ends in ``.svg``, ``.png`` or ``.pdf``.
    command
        What the user typed.
    """
    import matplotlib as mpl

    from ackclock._util.json_text import json_text
    from ackclock.errors import UnsupportedError

    recipe_fields = dict(getattr(figure, "_ackclock_recipe", {}))
    if command:
        recipe_fields["command"] = command
    text = json_text(dict(sorted(recipe_fields.items())))
    path = Path(path)
    kind = path.suffix.lower()
    metadata: dict[str, Any] = {
        ".svg": {"Creator": "ackclock", "Description": text, "Date": None},
        ".png": {"Software": "ackclock", "Description": text},
        ".pdf": {"Creator": "ackclock", "Subject": text, "CreationDate": None},
    }
    if kind not in metadata:
        message = f'cannot write a figure as "{path.name}"; expected .svg, .png or .pdf'
        raise UnsupportedError(message)
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context(style()["rc"]):
        figure.savefig(path, metadata=metadata[kind])
