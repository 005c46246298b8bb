"""The commands ``ackclock check`` and ``ackclock explain``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ackclock.catalogue.code_permission import why_forbidden
from ackclock.cli.options import (
    EXIT_INPUT,
    FILE,
    JSON,
    LIMITS,
    SET,
    load_scenario,
    print_json,
    with_changes,
)

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.scenario.scenario import Scenario

__all__ = ["check", "explain"]


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@SET
@LIMITS
@click.option(
    "--no-code",
    is_flag=True,
    help="Import no Python file that a scenario, of any engine, names; check all else.",
)
@JSON
def check(
    files: tuple[Path, ...], changes: tuple[str, ...], *, no_code: bool, as_json: bool
) -> None:
    """Check scenario FILES: form, names, routes, parameters. All problems are reported.

    Of the folder of a paper or of a profile the form is checked, and what queries name; its
    scenarios are checked as a whole before they run.

    Python files that a scenario names, as in cc = "mine.py:Mine", are imported, which runs their
    code with your rights: check a scenario from a stranger with --no-code.

    As JSON: a list of file, ok, problems (path, message), warnings.
    """
    no_code = no_code or why_forbidden() is not None
    if no_code and any(".py:" in change for change in changes):
        raise click.UsageError("--no-code: --set names a Python class; leave one of them out")
    from ackclock.errors import ScenarioError

    checked: list[dict[str, Any]] = []
    for file in files:
        problems: list[dict[str, str]] = []
        warnings: list[str] = []
        try:
            warnings = _check_one(file, changes, no_code=no_code)
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
    if not all(report["ok"] for report in checked):
        sys.exit(EXIT_INPUT)


def _check_one(path: Path, changes: tuple[str, ...], *, no_code: bool) -> list[str]:
    """Check a file or a folder; what it gives are warnings."""
    from ackclock.cli.other_engines import load_other

    if path.is_dir():
        _check_folder(path)
        return []
    other, left_out = load_other(path, changes, no_code=no_code)
    if other is not None:
        other.check()
        return left_out
    scenario, left_out = _load_case(path, changes, no_code=no_code)
    return [*scenario.warnings(), *left_out]


def _check_folder(folder: Path) -> None:
    if (folder / "profile.toml").is_file():
        from ackclock.dossier.read import read as read_profile

        read_profile(folder)
    else:
        from ackclock.reproduce.read.folder import read as read_paper

        read_paper(folder)


def _load_case(
    file: Path, changes: tuple[str, ...], *, no_code: bool
) -> tuple[Scenario, list[str]]:
    """Read a scenario; with ``no_code`` also give a warning for each class that was left out."""
    if not no_code:
        return load_scenario(file, changes), []
    from ackclock._util.documents import read_document
    from ackclock.catalogue.without_code import replace_classes
    from ackclock.cli.other_engines import describe_left_out
    from ackclock.scenario.scenario import Scenario

    document, classes = replace_classes(read_document(file), file)
    scenario = Scenario.from_document(document, file)
    changed = with_changes(changes, lambda given: scenario.replace(**given) if given else scenario)
    return changed, describe_left_out(classes)


@click.command()
@click.argument("file", type=FILE)
@SET
@LIMITS
@click.option(
    "--parallel",
    is_flag=True,
    help="Run a short stretch and say how much of it could happen at once, and on how many cores.",
)
@JSON
def explain(file: Path, changes: tuple[str, ...], *, parallel: bool, as_json: bool) -> None:
    """Say what FILE would run: routes, defaults used and their era, predicted cost."""
    from ackclock._util.json_text import json_text

    scenario = load_scenario(file, changes)
    explanation = scenario.parallelism() if parallel else scenario.explain()
    click.echo(json_text(explanation.data, indent=2) if as_json else str(explanation))
