"""What a command does with a finished study: writes its report, prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import print_json

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.studies.outcome import StudyOutcome

__all__ = ["deliver", "print_plan"]


def deliver(
    outcome: StudyOutcome, out: Path | None, command: str, *, as_json: bool, quiet: bool
) -> None:
    """Write the report, then print its page or its data.

    Parameters
    ----------
    outcome
        The finished study.
    out
        Folder of the report; None: none is written.
    command
        What the user typed.
    as_json
        Print data, whether or not `quiet`.
    quiet
        Print no page.
    """
    written = outcome.save(out, command=command) if out is not None else None
    if as_json:
        print_json(outcome.to_dict())
    elif not quiet:
        click.echo(str(outcome))
        if written is not None:
            click.echo(f"\nwrote {written}")


def print_plan(plan: Any, *, as_json: bool) -> None:
    """Print what would run and what it would cost.

    Parameters
    ----------
    plan
        Has rows and, as text, a table.
    as_json
        Print the rows as data.
    """
    if as_json:
        print_json([dict(row) for row in plan.rows])
    else:
        click.echo(str(plan))
