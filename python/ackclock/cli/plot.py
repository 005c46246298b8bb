"""The command ``ackclock plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock.cli import completion
from ackclock.cli.options import FILE

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["plot"]


@click.command()
@click.argument("rundir", type=FILE)
@click.option(
    "--kind",
    required=True,
    shell_complete=completion.figures,
    help="cwnd, throughput, queue, delay, fairness or map.",
)
@click.option("--out", type=FILE, required=True, metavar="FILE", help="SVG, PNG or PDF.")
@click.option("--flow", "flows", multiple=True, help="Only this flow; may be repeated.")
@click.option("--link", "links", multiple=True, help="Only this link; may be repeated.")
def plot(
    rundir: Path, kind: str, out: Path, flows: tuple[str, ...], links: tuple[str, ...]
) -> None:
    """Draw a figure of the run bundle RUNDIR; its recipe travels in the file."""
    from ackclock import plot as plots
    from ackclock._util.command_line import command_line
    from ackclock.scenario.load import load_run

    figure = plots.draw(
        kind, load_run(rundir), flows=list(flows) or None, links=list(links) or None
    )
    plots.save(figure, out, command=command_line())
    click.echo(f"wrote {out}")
