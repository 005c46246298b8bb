"""The command ``ackclock demo``."""

from __future__ import annotations

from pathlib import Path

import click

from ackclock.cli.options import FILE

__all__ = ["demo"]


@click.command()
@click.option(
    "--out",
    type=FILE,
    default=Path("out/demo"),
    show_default=True,
    metavar="DIR",
    help="Folder for the page and its figures.",
)
@click.option("--quick", is_flag=True, help="2 replications of 4 s.")
def demo(out: Path, *, quick: bool) -> None:
    """Compare four queues under 120 TCP flows in the GEANT network; write a page with figures."""
    from ackclock.studies.geant_demo import demonstrate

    click.echo(demonstrate(out, quick=quick))
