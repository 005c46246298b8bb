"""The command ``ackclock game``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock.cli.options import CLUSTER, DRY_RUN, FILE, JSON, REPS, STORE, WORKERS, print_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["game"]


@click.command()
@click.argument("file", type=FILE)
@REPS
@WORKERS
@CLUSTER
@STORE
@DRY_RUN
@JSON
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

    from ackclock._util.command_line import command_line
    from ackclock.experiments.store import look
    from ackclock.studies.game import load_game, plan, play

    loaded_game = load_game(file)
    if reps is not None:
        loaded_game = replace(loaded_game, reps=reps)
    if dry_run:
        needed = plan(loaded_game, workers, look(store))
        print_json(needed.to_dict()) if as_json else click.echo(str(needed))
        return
    played = play(
        loaded_game,
        workers=workers,
        cluster=cluster,
        store=store,
        progress=not quiet,
        command=command_line(),
    )
    print_json(played.to_dict()) if as_json else click.echo(str(played))
