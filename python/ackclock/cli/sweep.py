"""The command ``ackclock sweep``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock.cli.options import (
    CLUSTER,
    DRY_RUN,
    FILE,
    JSON,
    LIMITS,
    QUIET,
    SET,
    STORE,
    WORKERS,
    print_json,
    with_changes,
)

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["sweep"]


@click.command()
@click.argument("file", type=FILE)
@SET
@click.option("--tier", help="Use the settings of a tier of FILE, as in --tier fast.")
@WORKERS
@LIMITS
@CLUSTER
@STORE
@DRY_RUN
@JSON
@QUIET
def sweep(
    file: Path,
    changes: tuple[str, ...],
    *,
    tier: str | None,
    workers: int | None,
    cluster: str | None,
    store: Path | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the grid of scenarios of the sweep FILE and print means with intervals.

    Runs that the store has are not run again: a sweep that was stopped, by whatever, goes on where
    it was. Ctrl-C keeps the runs that finished.
    """
    from ackclock._util.command_line import command_line
    from ackclock.experiments.file_form import load_sweep

    sweep_of_file = with_changes(changes, lambda given: load_sweep(file, tier=tier, changes=given))
    if dry_run:
        from ackclock.experiments.store import look

        plan = sweep_of_file.plan(workers, look(store))
        print_json(plan.to_dict()) if as_json else click.echo(str(plan))
        return
    result = sweep_of_file.run(
        workers=workers,
        cluster=cluster,
        store=store,
        progress=not quiet,
        command=command_line(),
    )
    if as_json:
        print_json(result.to_dict())
    elif not quiet:
        click.echo(str(result))
    if result.interrupted:
        raise KeyboardInterrupt(f"{len(result.slots):,} of {result.requested:,} runs are kept")
