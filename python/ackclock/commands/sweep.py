"""The command ``ackclock sweep``."""

from __future__ import annotations

from pathlib import Path

import click

from ackclock.commands.options import SET, print_json, with_changes

__all__ = ["sweep"]

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("file", type=_FILE)
@SET
@click.option("--tier", help="Use the settings of a tier of FILE, as in --tier fast.")
@click.option("--workers", type=click.IntRange(min=1), help="Runs at a time; default: one a core.")
@click.option("--cluster", metavar="ADDR", help="Run on a Dask cluster: tcp://HOST:PORT.")
@click.option(
    "--store",
    type=_FILE,
    metavar="DIR",
    help="Folder that keeps the runs; default: $ACKCLOCK_STORE or ackclock-store.",
)
@click.option("--dry-run", is_flag=True, help="Say what would run, and what is stored already.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="Print nothing but errors.")
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
    from ackclock.experiments import report
    from ackclock.experiments.form import load_sweep
    from ackclock.run import command_line

    made = with_changes(changes, lambda given: load_sweep(file, tier=tier, changes=given))
    if dry_run:
        from ackclock.results import look

        plan = made.plan(workers, look(store))
        print_json(plan.to_dict()) if as_json else click.echo(str(plan))
        return
    result = made.run(
        workers=workers,
        cluster=cluster,
        store=store,
        progress=not quiet,
        command=command_line(),
    )
    if as_json:
        print_json(report.data(result))
    elif not quiet:
        click.echo(str(result))
    if result.interrupted:
        raise KeyboardInterrupt
