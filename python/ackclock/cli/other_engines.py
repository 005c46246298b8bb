"""What `ackclock check` and `ackclock run` do with cases of other engines than packets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import print_json, with_changes

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from ackclock.case import Case, Outcome

__all__ = ["describe_left_out", "load_other", "run_other"]

MARKER = "summary.json"
"""A file by which the folder of a run is known."""


def load_other(
    file: Path, changes: tuple[str, ...], *, no_code: bool = False
) -> tuple[Case | None, list[str]]:
    """Read a case that names another engine than ``packet``, with the values of --set.

    Parameters
    ----------
    file
        The file.
    changes
        As typed, ``PATH=VALUE``.
    no_code
        Whether the core's algorithms take the place of user-defined classes.

    Returns
    -------
    tuple
        The case, None where the file is a scenario of packets, or is not readable as a document at
        all; and a warning for each class that was left out.
    """
    from ackclock._util.documents import read_document
    from ackclock.engines.registry import DEFAULT, case
    from ackclock.errors import ScenarioError

    try:
        document = read_document(file)
    except ScenarioError:
        # Scenarios report it in their own words.
        return None, []
    if document.get("engine", DEFAULT) == DEFAULT:
        return None, []
    classes: list[str] = []
    if no_code:
        from ackclock.catalogue.without_code import replace_classes

        document, classes = replace_classes(document, file)
    base_case = case(document, file)
    changed = with_changes(
        changes, lambda given: base_case.replace(**given) if given else base_case
    )
    return changed, describe_left_out(classes)


def describe_left_out(classes: Iterable[str]) -> list[str]:
    """Warn of classes and guests that were not checked.

    Parameters
    ----------
    classes
        As ``file.py:Class``, or commands of guests.
    """
    verb = {True: "imported", False: "run"}
    return [f"{name} was not {verb['.py:' in name]}, so it was not checked" for name in classes]


def run_other(question: Case, file: Path, out: Path | None, *, as_json: bool, quiet: bool) -> None:
    """Run a case and print its summary.

    Parameters
    ----------
    question
        The case.
    file
        Where it came from.
    out
        Gets the summary and a Parquet file for each table.
    as_json
        Whether the summary is printed as JSON.
    quiet
        Whether nothing is printed.
    """
    from ackclock._util.output_folder import may_replace
    from ackclock._util.progress import Bar

    if out is not None:
        may_replace(out, MARKER)
    question.check()
    with Bar(question.name or file.stem, is_shown=not quiet) as update:
        result = question.execute(lambda fraction, _: update(fraction))
    try:
        if out is not None:
            _save(result, out)
    finally:
        if as_json:
            print_json(result.summary)
        elif not quiet:
            click.echo(str(result))


def _save(result: Outcome, out: Path) -> None:
    from ackclock._util.json_text import json_text
    from ackclock._util.output_folder import whole_folder

    def fill(folder: Path) -> None:
        import pyarrow.parquet as pq

        (folder / MARKER).write_text(json_text(result.summary) + "\n", encoding="utf-8")
        for name, table in result.tables.items():
            write: Any = pq.write_table
            write(table, folder / f"{name}.parquet")

    whole_folder(out, fill, MARKER)
