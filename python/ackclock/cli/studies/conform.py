"""``ackclock conform``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock.cli import completion
from ackclock.cli.options import EXIT_CHECK, FILE, JSON, QUIET, WORKERS, print_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["conform"]


@click.command()
@click.argument("suite")
@click.argument("control", shell_complete=completion.algorithms("cc"))
@click.option(
    "--case", "cases", multiple=True, metavar="NUMBER", help="Only this case; may be repeated."
)
@click.option(
    "--ranges",
    "over_ranges",
    is_flag=True,
    help="In place of the cases: one flow over the suite's ranges of rate and round-trip time.",
)
@click.option(
    "--beside",
    metavar="NAME",
    help="Our control to measure beside; left out: for a guest the suite's (bbr3).",
)
@click.option("--seed", type=click.IntRange(min=0), default=1, help="Seed of every run.")
@click.option("--junit", type=FILE, metavar="FILE", help="Write JUnit XML.")
@click.option(
    "--html",
    type=FILE,
    metavar="FILE",
    help="Write one page: verdicts, then a figure of each case.",
)
@click.option("--out", type=FILE, metavar="DIR", help="Write the table and all data into DIR.")
@WORKERS
@JSON
@QUIET
@click.pass_context
def conform(
    ctx: click.Context,
    suite: str,
    control: str,
    *,
    cases: tuple[str, ...],
    over_ranges: bool,
    beside: str | None,
    seed: int,
    junit: Path | None,
    html: Path | None,
    out: Path | None,
    workers: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Put CONTROL through the test cases of SUITE; exit with 1 if one fails.

    SUITE is a name (bbr) or a folder with suite.toml. CONTROL is a registry name, a class as
    file.py:Class, or a table as '{kind = "bbr3", beta = 0.8}'; the names that its states and
    probes must have are those of the suite. A program that uses the guest protocol is
    'guest:COMMAND', as 'guest:target/guests/quiche bbr2_gcongestion'; bbr judges it by its packets,
    beside a control of ours: where both fail nothing is decided.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock.studies.conform import Conformance
    from ackclock.studies.conform import conform as work
    from ackclock.studies.conform.ranges import conform_over_ranges

    if over_ranges and cases:
        raise click.UsageError("--case and --ranges exclude each other")
    if out is not None:
        may_replace(out, Conformance.MARKER)
    if over_ranges:
        conformance = conform_over_ranges(suite, control, seed=seed, workers=workers)
    else:
        conformance = work(
            suite,
            control,
            cases=cases,
            seed=seed,
            workers=workers,
            draw=html is not None,
            beside=beside,
        )
    command = command_line()
    if junit is not None:
        junit.write_text(conformance.to_junit(), encoding="utf-8")
    if html is not None:
        html.write_text(conformance.to_html(command), encoding="utf-8")
    if out is not None:
        conformance.save(out, command=command)
    if as_json:
        print_json(conformance.to_dict())
    elif not quiet:
        click.echo(str(conformance))
    if not conformance.passed:
        ctx.exit(EXIT_CHECK)
