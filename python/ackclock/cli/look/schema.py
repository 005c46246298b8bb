"""The command ``ackclock schema``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import FILE

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["NAMES", "schema"]

NAMES = (
    "scenario", "sweep", "fluid", "hybrid", "model", "game", "paper", "claims", "figures",
    "unstated", "views", "profile", "requirements", "dossier", "comparison",
)  # fmt: skip
"""Kinds of documents with a schema."""


@click.command()
@click.argument("name", required=False, type=click.Choice(NAMES))
@click.option(
    "--out",
    type=FILE,
    metavar="DIR",
    help="Write the schema to DIR/NAME.json; without NAME, all of them, which refer to each other.",
)
def schema(name: str | None, *, out: Path | None) -> None:
    """Print the JSON Schema (draft 7) of a kind of document, for editors; left out: scenario.

    A scenario, a sweep, a fluid case, a closed form (model), a game; of a paper paper.toml,
    claims.toml (errata.toml has its form), figures.toml, unstated.toml, views.toml; of a profile
    profile.toml and requirements.toml; dossier, what evaluate --profile writes; comparison, what
    compare writes.
    In a TOML file, a first line "#:schema PATH" names its schema.

    A schema has names, types and ranges of numbers; `ackclock check` also reads units and finds
    what does not exist.
    """
    if out is None:
        click.echo(_text(name or "scenario"), nl=False)
        return
    out.mkdir(parents=True, exist_ok=True)
    for each in [name] if name else NAMES:
        file = out / f"{each}.json"
        beside = out / f".{each}.json.part"
        beside.write_text(_text(each) if name else _file_text(each), encoding="utf-8")
        beside.replace(file)
        click.echo(f"wrote {file}")


def _text(name: str) -> str:
    """A schema that refers to no other file."""
    rules = json.loads(_file_text(name))
    definitions: dict[str, Any] = {}
    result = _within({k: v for k, v in rules.items() if k != "definitions"}, rules, definitions)
    if definitions:
        result["definitions"] = dict(sorted(definitions.items()))
    return json.dumps(result, indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def _within(rules: Any, root: dict[str, Any], definitions: dict[str, Any]) -> Any:
    """Copy rules with what they refer to, in this file or another, among the definitions."""
    if isinstance(rules, list):
        return [_within(item, root, definitions) for item in rules]
    if not isinstance(rules, dict):
        return rules
    if not isinstance(rules.get("$ref"), str):
        return {key: _within(item, root, definitions) for key, item in rules.items()}
    file, _, pointer = rules["$ref"].partition("#")
    if file:
        root = json.loads(_file_text(file.removesuffix(".json")))
    # Names of definitions are those of one translation: the same in all files.
    key = pointer.rpartition("/")[2] or f"document-{file.removesuffix('.json')}"
    if key not in definitions:
        left_out = ("$schema", "title", "definitions")
        target = root["definitions"][key] if pointer else root
        definitions[key] = None  # A queue may hold queues.
        definitions[key] = _within(
            {k: v for k, v in target.items() if pointer or k not in left_out}, root, definitions
        )
    return {**rules, "$ref": f"#/definitions/{key}"}


def _file_text(name: str) -> str:
    from ackclock.document_schemas import schemas

    return schemas()[f"{name}.json"]
