"""``ackclock differ``."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from ackclock.cli.options import EXIT_CHECK, FILE, JSON, QUIET, SET, load_scenario
from ackclock.cli.studies.deliver import deliver

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["differ"]


@click.command()
@click.argument("file", type=FILE)
@click.option("--against", metavar="A,B",
              help="Peers, by their names; left out: all that can run it.")  # fmt: skip
@SET
@click.option("--reps", type=click.IntRange(min=1), default=1, show_default=True,
              help="Runs of each, with seeds one after another.")  # fmt: skip
@click.option("--tolerance", type=click.FloatRange(min=0), default=0.05, show_default=True,
              help="Share of our mean by which the range of our values is widened.")  # fmt: skip
@click.option("--path", "paths", multiple=True, metavar="PEER=FILE",
              help="Where the program of a peer is; left out: on PATH.")  # fmt: skip
@click.option("--time-limit", type=click.FloatRange(min=0, min_open=True), default=600,
              show_default=True, help="Most seconds of a run of a program.")  # fmt: skip
@click.option("--strict", is_flag=True, help="Exit 1 if a quantity is apart.")
@click.option("--out", type=FILE, metavar="DIR", help="Write page and data into DIR.")
@JSON
@QUIET
def differ(
    file: Path,
    *,
    against: str | None,
    changes: tuple[str, ...],
    reps: int,
    tolerance: float,
    paths: tuple[str, ...],
    time_limit: float,
    strict: bool,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Run the scenario FILE here and by peers, and say where they differ.

    Prints, for each flow, link and quantity, whether both are equal, the peer is inside a band
    about ours, apart, or undecided, and where their windows part; with s2n, and with ns2 in era
    ns2, also the first event that is not the same.

    Peers: linux, TCP of the running kernel over our links, in real time ("ackclock emulate").
    Released libraries that this build has ("make stacks"), in the place of our controls: s2n,
    controllers of s2n-quic; quinn and noq, whole connections. Simulators that are installed, which
    get the scenario as a program: ns2, ns-2.35; ns3, ns-3. Programs that use the guest protocol,
    in the place of the flows that have the control of the first one, if --against names them:
    'guest:COMMAND', as 'guest:target/guests/quiche cubic'.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock._util.progress import Bar
    from ackclock.peers import registry
    from ackclock.studies.differ.differ import Difference
    from ackclock.studies.differ.differ import differ as work

    if out is not None:
        may_replace(out, Difference.MARKER)
    scenario = load_scenario(file, changes)
    names = None if against is None else registry.read_peers(against)
    options = registry.Options(registry.named_paths(paths), time_limit)
    with Bar("differ", is_shown=not quiet and not as_json) as progress:
        difference = work(
            scenario, names, reps=reps, tolerance=tolerance, options=options, progress=progress
        )
    deliver(difference, out, command_line(), as_json=as_json, quiet=quiet)
    if strict and difference.apart:
        for sentence in difference.apart:
            click.echo(f"apart: {sentence}", err=True)
        sys.exit(EXIT_CHECK)
