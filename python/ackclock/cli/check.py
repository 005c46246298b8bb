"""The commands ``ackclock check`` and ``ackclock explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import EXIT_INPUT, FILE, JSON, SET, load_scenario, print_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["check", "explain"]


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@SET
@JSON
def check(files: tuple[Path, ...], changes: tuple[str, ...], *, as_json: bool) -> None:
    """Check scenario FILES: form, names, routes, parameters. All problems are reported.

    As JSON: a list of file, ok, problems (path, message), warnings.
    """
    from ackclock.cli.other_engines import load_other
    from ackclock.errors import ScenarioError

    checked: list[dict[str, Any]] = []
    for file in files:
        problems: list[dict[str, str]] = []
        warnings: list[str] = []
        try:
            other = load_other(file, changes)
            if other is not None:
                other.check()
            else:
                warnings = load_scenario(file, changes).explain().data["warnings"]
            if not as_json:
                click.echo(f"{file}: OK" + ("" if not warnings else ", with warnings:"))
                for warning in warnings:
                    click.echo(f"  warning: {warning}")
        except ScenarioError as error:
            problems = [{"path": p.path, "message": p.message} for p in error.problems]
            if not as_json:
                click.echo(str(error), err=True)
        checked.append(
            {
                "file": str(file),
                "ok": not problems,
                "problems": problems,
                "warnings": warnings,
            }
        )
    if as_json:
        print_json(checked)
    if not all(found["ok"] for found in checked):
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
