"""The command ``ackclock schema``."""

from __future__ import annotations

from pathlib import Path

import click

from ackclock.cli.options import FILE

__all__ = ["NAMES", "schema"]

NAMES = (
    "scenario", "sweep", "fluid", "hybrid", "model", "paper", "claims", "figures", "unstated",
    "views", "profile", "requirements", "dossier", "comparison",
)  # fmt: skip
"""Kinds of documents with a schema in `ackclock/schemas`."""

_FOLDER = Path(__file__).parents[1] / "schemas"


@click.command()
@click.argument("name", required=False, type=click.Choice(NAMES))
@click.option(
    "--out",
    type=FILE,
    metavar="DIR",
    help="Write the schema to DIR/NAME.json; without NAME, all of them.",
)
def schema(name: str | None, *, out: Path | None) -> None:
    """Print the JSON Schema (draft 7) of a kind of document, for editors; left out: scenario.

    A scenario, a sweep, a fluid case, a closed form (model); of a paper paper.toml, claims.toml
    (errata.toml has its form), figures.toml, unstated.toml, views.toml; of a profile profile.toml
    and requirements.toml; dossier, what evaluate --profile writes; comparison, what compare writes.
    In a TOML file, a first line "#:schema PATH" names its schema.

    A schema has names, types and ranges of numbers; `ackclock check` also reads units and finds
    what does not exist.
    """
    if out is None:
        click.echo(_text(name or "scenario"), nl=False)
        return
    out.mkdir(parents=True, exist_ok=True)
    for one in [name] if name else NAMES:
        file = out / f"{one}.json"
        beside = out / f".{one}.json.part"
        beside.write_text(_text(one), encoding="utf-8")
        beside.replace(file)
        click.echo(f"wrote {file}")


def _text(name: str) -> str:
    return (_FOLDER / f"{name}.json").read_text(encoding="utf-8")
