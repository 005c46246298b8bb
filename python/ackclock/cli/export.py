"""The command ``ackclock export``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock._util.text_table import printable
from ackclock.cli.options import FILE, QUIET, SET, load_scenario
from ackclock.peers.simulators import SIMULATORS

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["export"]

TITLES = "; ".join(f"{one.name}: {one.title}" for one in SIMULATORS.values())


@click.command()
@click.argument("file", type=FILE)
@click.option(
    "--to", "simulator", required=True, type=click.Choice(list(SIMULATORS)), help=f"{TITLES}."
)
@SET
@click.option("--out", type=FILE, metavar="FILE", help="Write it there; left out: print it.")
@QUIET
def export(
    file: Path, *, simulator: str, changes: tuple[str, ...], out: Path | None, quiet: bool
) -> None:
    """Write the scenario FILE out as a program for another simulator.

    What the simulator does otherwise is named on standard error, a sentence each; a scenario with
    what it cannot express is refused. `ackclock differ` also runs the program and compares.
    """
    from ackclock.peers.simulators import write_for

    written = write_for(load_scenario(file, changes), simulator)
    if not quiet:
        for note in written.notes:
            click.echo(printable(f"different: {note}"), err=True)
    if out is None:
        click.echo(written.text, nl=False)
        return
    beside = out.with_name(f".{out.name}.part")
    try:
        beside.write_text(written.text, encoding="ascii")
        beside.replace(out)
    finally:
        beside.unlink(missing_ok=True)
    if not quiet:
        click.echo(f"wrote {out}")
