"""The command ``ackclock game``."""

from __future__ import annotations

from pathlib import Path

import click

from ackclock.commands.options import print_json

__all__ = ["game"]

_FILE = click.Path(path_type=Path)


@click.command()
@click.argument("file", type=_FILE)
@click.option("--reps", type=click.IntRange(min=1), help="Replications, in place of FILE's.")
@click.option("--workers", type=click.IntRange(min=1), help="Runs at a time; default: one a core.")
@click.option("--cluster", metavar="ADDR", help="Run on a Dask cluster: tcp://HOST:PORT.")
@click.option(
    "--store",
    type=_FILE,
    metavar="DIR",
    help="Folder that keeps the runs; default: $ACKCLOCK_STORE or ackclock-store.",
)
@click.option("--dry-run", is_flag=True, help="Say how many runs it takes, and how long.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
@click.option("--quiet", is_flag=True, help="Show no progress.")
def game(
    file: Path,
    *,
    reps: int | None,
    workers: int | None,
    cluster: str | None,
    store: Path | None,
    dry_run: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find what selfish players would choose in the game of FILE, and what it costs all.

    Every way in which the players may choose is simulated. A profile is an equilibrium if no player
    gains by changing alone. Runs are kept: a game that was stopped goes on where it was.
    """
    from dataclasses import replace

    from ackclock.game import load_game, plan, play
    from ackclock.results import look
    from ackclock.run import command_line

    made = load_game(file)
    if reps is not None:
        made = replace(made, reps=reps)
    if dry_run:
        needed = plan(made, workers, look(store))
        print_json(needed.to_dict()) if as_json else click.echo(str(needed))
        return
    played = play(
        made,
        workers=workers,
        cluster=cluster,
        store=store,
        progress=not quiet,
        command=command_line(),
    )
    print_json(played.to_dict()) if as_json else click.echo(str(played))
