"""The commands ``ackclock read``, ``ackclock calibrate`` and ``ackclock identify``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import FILE, JSON, QUIET, WORKERS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["calibrate", "identify", "read"]

_INTERFACE = click.option(
    "--interface", type=click.IntRange(min=0), metavar="NUMBER",
    help="Interface of a capture, or node of ns-2, from 0; left out: where packets were seen"
    " first.",
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

    FILE is pcap, pcapng, qlog, a log of `ss -tin`, a trace of ns-2, or JSON of iperf3, Flent, or
    M-Lab's ndt7 and tcp-info; gzip and zstd are unpacked. No address is printed unless
    --keep-addresses is given.
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


@click.command()
@click.argument("file", type=FILE)
@click.option("--flow", type=click.IntRange(min=1), default=1, show_default=True, metavar="NUMBER",
              help="Number of the flow, as `ackclock read` prints it.")  # fmt: skip
@click.option("--cc", "control", metavar="NAME",
              help="Control of the flow; left out: named in FILE, else identified.")  # fmt: skip
@click.option("--try", "alternatives", metavar="NAMES", default="cubic,aimd,bbr,vegas",
              show_default=True,
              help='Controls to try on the path, as in --try bbr3,copa; "" for none.')  # fmt: skip
@click.option("--qdisc", "qdiscs", metavar="NAMES",
              help="Queues to try beside the path's, as in --qdisc fq-codel.")  # fmt: skip
@click.option("--draws", type=click.IntRange(2, 1000), default=20, show_default=True,
              help="Paths drawn from the intervals for each alternative.")  # fmt: skip
@_source
@WORKERS
@click.option("--out", type=FILE, metavar="DIR",
              help="Write page, scenario and data into DIR.")  # fmt: skip
@JSON
@QUIET
def calibrate(
    file: Path,
    *,
    flow: int,
    control: str | None,
    alternatives: str | None,
    qdiscs: str | None,
    draws: int,
    interface: int | None,
    interval_s: float,
    workers: int | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Say what path a flow of FILE had, what sent it, and what others would have done.

    Rate, traffic of others, base round trip, buffer and random loss have an interval each, kinds
    of queues and controls a probability, or it is said that they cannot be known. --out has a page
    with figures, and the path as a scenario, path.toml.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock._util.progress import Bar
    from ackclock.captures.calibrate.calibration import Calibration
    from ackclock.captures.calibrate.calibration import calibrate as work
    from ackclock.cli.studies.deliver import deliver

    _extra()
    controls, queues = _names(alternatives, "cc", "--try"), _names(qdiscs, "qdisc", "--qdisc")
    _names(control, "cc", "--cc")
    if out is not None:
        may_replace(out, Calibration.MARKER)
    with Bar("calibrate", is_shown=not quiet) as progress:
        result = work(
            file, flow=flow, control=control, alternatives=controls, qdiscs=queues, draws=draws,
            workers=workers, interface=interface, interval_s=interval_s, progress=progress,
        )  # fmt: skip
    deliver(result, out, command_line(), as_json=as_json, quiet=quiet)


@click.command()
@click.argument("file", type=FILE)
@click.option("--flow", type=click.IntRange(min=1), default=1, show_default=True, metavar="NUMBER",
              help="Number of the flow, as `ackclock read` prints it.")  # fmt: skip
@click.option("--among", metavar="NAMES",
              help="Controls of which it can be one, as in --among reno,cubic,bbr.")  # fmt: skip
@_INTERFACE
@click.option("--out", type=FILE, metavar="DIR", help="Write the answer and its features into DIR.")
@JSON
@QUIET
def identify(
    file: Path,
    *,
    flow: int,
    among: str | None,
    interface: int | None,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Identify the congestion control of a flow of FILE, captured near one of its ends.

    Prints the probability of each control that ackclock has, and of none of them.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock.captures.identify.identification import Identification
    from ackclock.captures.identify.identification import identify as work
    from ackclock.cli.studies.deliver import deliver

    _extra()
    controls = _names(among, "cc", "--among")
    if out is not None:
        may_replace(out, Identification.MARKER)
    deliver(
        work(file, flow=flow, among=controls, interface=interface), out, command_line(),
        as_json=as_json, quiet=quiet,
    )  # fmt: skip


def _names(text: str | None, room: str, option: str) -> list[str]:
    """Names of algorithms, checked."""
    from ackclock.catalogue.schema import names as names_of
    from ackclock.errors import suggestion

    names = [name.strip() for name in (text or "").split(",") if name.strip()]
    for name in names:
        if name not in names_of(room):
            message = f'{option}: there is no {room} "{name}"; '
            raise click.UsageError(message + suggestion(name, names_of(room)))
    return names
