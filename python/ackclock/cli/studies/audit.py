"""``ackclock audit``."""

from __future__ import annotations

from pathlib import Path

import click

from ackclock.cli import completion
from ackclock.cli.options import FILE, JSON, QUIET, TIER, WORKERS
from ackclock.cli.studies.deliver import deliver

__all__ = ["audit"]


@click.group()
def audit() -> None:
    """Put a control through a test and get a page of verdicts."""


@audit.command()
@click.argument("control", shell_complete=completion.algorithms("cc"))
@TIER
@click.option(
    "--gap",
    "gap_s",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="Between two starts; left out: as the tier says.",
)
@click.option("--out", type=FILE, metavar="DIR", help="Write a page into DIR.")
@WORKERS
@JSON
@QUIET
def latecomer(
    control: str,
    *,
    tier: str,
    gap_s: float | None,
    out: Path | None,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Measure what a late flow of CONTROL gets.

    It starts after others of its kind. CONTROL is a registry name, a class as file.py:Class, or
    a table as '{kind = "fast", alpha = 50}'. Five situations: one after another, one joining n,
    departures, beside CUBIC, beside noise; each over round trips and buffers, against fair
    shares and against the closed forms of persistent congestion.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock.studies.evaluate_control.grid import read_control
    from ackclock.studies.late_comer.audit import Audit
    from ackclock.studies.late_comer.audit import audit as work

    if out is not None:
        may_replace(out, Audit.MARKER)
    silent = quiet or as_json

    def report(line: str) -> None:
        if not silent:
            click.echo(line, err=True)

    audit = work(
        read_control(control, Path.cwd()), tier, gap_s=gap_s, workers=workers, report=report
    )
    deliver(audit, out, command_line(), as_json=as_json, quiet=quiet)
