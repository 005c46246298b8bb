"""The command ``ackclock emulate``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ackclock.cli import completion
from ackclock.cli.options import EXIT_CHECK, FILE, JSON, QUIET, SET, load_scenario, print_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["emulate"]


@click.command()
@click.argument("file", type=FILE)
@SET
@JSON
@click.option("--out", type=FILE, metavar="DIR", help="Write the run bundle into DIR.")
@click.option("--record", multiple=True, metavar="TABLE", shell_complete=completion.tables,
              help="Record this table too, as windows or drops; may be repeated.")  # fmt: skip
@click.option("--pcapng", type=FILE, metavar="FILE",
              help="Write the headers of all packets, as the kernel made them.")  # fmt: skip
@click.option("--control", "controls", multiple=True, metavar="OURS=KERNEL",
              help="Name of the kernel's control for a cc, as of a program in BPF.")  # fmt: skip
@click.option("--seed", type=click.IntRange(min=0), help="Replace the scenario's seed.")
@click.option("--lateness", type=click.FloatRange(min=0, min_open=True), default=0.5,
              show_default=True, metavar="MS",
              help="The run is invalid if 1 % of the packets are later than this, or any by a tenth"
              " of the shortest round trip.")  # fmt: skip
@QUIET
def emulate(
    file: Path,
    changes: tuple[str, ...],
    *,
    as_json: bool,
    out: Path | None,
    record: tuple[str, ...],
    pcapng: Path | None,
    controls: tuple[str, ...],
    seed: int | None,
    lateness: float,
    quiet: bool,
) -> None:
    """Run FILE in real time: its links here, TCP of the running Linux as senders.

    Takes as long as the scenario. Queue disciplines are ours, connections are the kernel's, between
    two network namespaces that nothing leaves and that end with the command. The scenario has one
    bottleneck. Exits with 1 if the machine was too busy for a valid run.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock._util.progress import Bar
    from ackclock.peers.emulate.emulate import emulate as work

    scenario = load_scenario(file, changes)
    if seed is not None:
        scenario = scenario.replace(seed=seed)
    if record:
        given = scenario.data.get("record", {}).get("tables", [])
        tables = list(dict.fromkeys([*given, *record]))
        scenario = scenario.replace(**{"record.tables": tables})
    known_as = {}
    for given in controls:
        ours, equals, theirs = given.partition("=")
        if not (ours and equals and theirs):
            raise click.UsageError(f"--control {given}: expected OURS=KERNEL, as cubic=bpf_cubic")
        known_as[ours] = theirs
    if out is not None:
        may_replace(out)
    with Bar(scenario.name or file.stem, is_shown=not quiet and not as_json) as update:
        run = work(
            scenario,
            limit_s=lateness / 1e3,
            captures=pcapng is not None,
            known_as=known_as,
            progress=lambda fraction, _: update(fraction),
        )
    try:
        if pcapng is not None:
            run.to_pcapng(pcapng)
        if out is not None:
            run.save(out, command=command_line())
    finally:
        if as_json:
            print_json(run.summary)
        elif not quiet:
            click.echo(str(run))
    if not run.is_valid:
        sys.exit(EXIT_CHECK)
