"""The command ``ackclock read``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import FILE, JSON, QUIET

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["read"]

_INTERFACE = click.option(
    "--interface", type=click.IntRange(min=0), metavar="NUMBER",
    help="Interface of a capture, from 0; left out: where packets were seen first.",
)  # fmt: skip
_INTERVAL = click.option(
    "--interval", "interval_s", type=click.FloatRange(min=0, min_open=True), default=1.0,
    show_default=True, metavar="SECONDS",
    help="Time between outputs of ss where its log has no times.",
)  # fmt: skip


def _source(command: Callable[..., Any]) -> Callable[..., Any]:
    return _INTERFACE(_INTERVAL(command))


def _extra() -> None:
    from ackclock.cli.extras import missing_of

    if missing := missing_of("read"):
        raise click.ClickException(missing)


@click.command()
@click.argument("file", type=FILE)
@_source
@click.option("--keep-addresses", is_flag=True, help="Print addresses and ports.")
@click.option("--csv", is_flag=True, help="With --out: write the tables as CSV too.")
@click.option("--out", type=FILE, metavar="DIR", help="Write page, tables and figures into DIR.")
@JSON
@QUIET
def read(
    file: Path,
    *,
    interface: int | None,
    interval_s: float,
    keep_addresses: bool,
    csv: bool,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Read a capture or a log: what was sent, acknowledged, lost, marked, and when.

    FILE is pcap, pcapng, qlog, a log of `ss -tin`, or JSON of iperf3, Flent, or M-Lab's ndt7 and
    tcp-info; gzip and zstd are unpacked. No address is printed unless --keep-addresses is given.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock.captures.read.reading import Reading
    from ackclock.captures.read.reading import read as work
    from ackclock.cli.studies.deliver import deliver

    _extra()
    if out is not None:
        may_replace(out, Reading.MARKER)
    reading = work(
        file, interface=interface, interval_s=interval_s, keep_addresses=keep_addresses, csv=csv
    )
    deliver(reading, out, command_line(), as_json=as_json, quiet=quiet)
