"""The command ``ackclock check-guest``."""

from __future__ import annotations

import dataclasses
import sys

import click

from ackclock.cli.options import EXIT_CHECK, JSON, print_json

__all__ = ["check_guest"]


@click.command(
    "check-guest",
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
)
@JSON
@click.option("--patience", type=click.FloatRange(min=0, min_open=True), default=30.0,
              show_default=True, metavar="S",
              help="Longest wait for an answer, by the wall's clock.")  # fmt: skip
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def check_guest(command: tuple[str, ...], *, as_json: bool, patience: float) -> None:
    """Try the guest protocol on a program: COMMAND and its arguments.

    The program is started several times, with your rights, as client and server of small transfers.
    Exits with 1 if it breaks a rule. Options of ackclock come before COMMAND.

    As JSON: a list of rule, ok, what.
    """
    from ackclock.studies.guests import check_guest as attempt

    checks = attempt(command, patience_s=patience)
    if as_json:
        print_json([dataclasses.asdict(check) for check in checks])
    else:
        for check in checks:
            click.echo(f"{'ok  ' if check.ok else 'FAIL'}  {check.rule}: {check.what}")
    if not all(check.ok for check in checks):
        sys.exit(EXIT_CHECK)
