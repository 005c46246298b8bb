"""The commands ``ackclock check`` and ``ackclock explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ackclock.cli.options import EXIT_INPUT, FILE, JSON, SET, load_scenario

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check", "explain"]


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@SET
def check(files: tuple[Path, ...], changes: tuple[str, ...]) -> None:
    """Check scenario FILES: form, names, routes, parameters. All problems are told."""
    from ackclock.errors import ScenarioError

    failed = False
    for file in files:
        try:
            found = load_scenario(file, changes)
            warnings = found.explain().data["warnings"]
            click.echo(f"{file}: right" + ("" if not warnings else ", but"))
            for warning in warnings:
                click.echo(f"  warning: {warning}")
        except ScenarioError as error:
            failed = True
            click.echo(str(error), err=True)
    if failed:
        sys.exit(EXIT_INPUT)


@click.command()
@click.argument("file", type=FILE)
@SET
@JSON
def explain(file: Path, changes: tuple[str, ...], *, as_json: bool) -> None:
    """Say what FILE would run: routes, defaults used and their era, predicted cost."""
    import json

    explanation = load_scenario(file, changes).explain()
    click.echo(json.dumps(explanation.data, indent=2) if as_json else str(explanation))
