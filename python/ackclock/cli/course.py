"""The command ``ackclock course``: lab sheets for a class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock.cli.options import FILE, JSON, QUIET, print_json

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["course"]


@click.group()
def course() -> None:
    """List lab sheets, start one, measure runs, grade what is handed in."""


@course.command("list")
@JSON
def list_(*, as_json: bool) -> None:
    """List the lab sheets that ship with ackclock."""
    from ackclock._util.text_table import table
    from ackclock.course.sheet import sheets

    all_sheets = sheets()
    if as_json:
        keys = ("name", "title", "hours", "points")
        print_json([{key: getattr(sheet, key) for key in keys} for sheet in all_sheets])
        return
    rows = [
        [s.name, s.title, f"{s.hours:g}", f"{s.points:g}", s.task.get("kind", "")]
        for s in all_sheets
    ]
    click.echo(table(["sheet", "title", "hours", "points", "code"], rows))


@course.command()
@click.argument("sheet")
@click.argument("folder", type=FILE, required=False)
@click.option("--key", is_flag=True, help="Write the instructor's key beside it.")
def start(sheet: str, folder: Path | None, *, key: bool) -> None:
    """Write SHEET into FOLDER, or one of its name.

    The folder has its questions, scenarios and the file of answers. SHEET is a name of
    `ackclock course list`, or a folder with a sheet of yours.
    """
    from pathlib import Path

    from ackclock.course.sheet import find_sheet
    from ackclock.course.start import start as write

    lab_sheet = find_sheet(sheet)
    written = write(lab_sheet, folder or Path(lab_sheet.name), key=key)
    click.echo(f"wrote {written}; begin with {written / 'sheet.md'}")


@course.command()
@click.argument("run", type=FILE)
@click.argument("metric")
def measure(run: Path, metric: str) -> None:
    """Print METRIC of RUN, a folder of `ackclock run --out`.

    METRIC is as of `ackclock sweep`, such as 'median(rtts[flow=ping].rtt_s)';
    the number is in SI units.
    """
    from ackclock.experiments.metrics import of_run
    from ackclock.scenario.load import load_run

    recorded_run = load_run(run)
    click.echo(f"{of_run(metric, recorded_run.summary, recorded_run.tables):.6g}")


@course.command()
@click.argument("folder", type=FILE)
def key(folder: Path) -> None:
    """Measure the key of your sheet in FOLDER.

    The numbers are written into its key.toml.
    """
    from ackclock.course.write_key import write_key

    click.echo(f"wrote {folder / 'key.toml'}: {write_key(folder)} numbers")


@course.command()
@click.argument("sheet")
@click.argument("submissions", type=FILE)
@click.option("--traces", type=FILE, metavar="PLACE", help="Mahimahi traces, a file or a folder.")
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=1,
    show_default=True,
    help="Of hidden traces and runs; keep yours secret.",
)
@click.option(
    "--time",
    "seconds",
    type=click.IntRange(min=1, max=3600),
    default=10,
    show_default=True,
    help="CPU time of a student's code [s].",
)
@click.option(
    "--memory",
    "megabytes",
    type=click.IntRange(min=64),
    default=1024,
    show_default=True,
    help="Memory of a student's code [MiB].",
)
@click.option("--out", type=FILE, metavar="DIR", help="Write report, marks and feedback into DIR.")
@JSON
@QUIET
def grade(
    sheet: str,
    submissions: Path,
    *,
    traces: Path | None,
    seed: int,
    seconds: int,
    megabytes: int,
    out: Path | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Grade SUBMISSIONS, what students handed in to SHEET.

    SUBMISSIONS has a folder for each student, with answers.toml and the file with code, or files
    NAME.toml and NAME.py; or is one student's folder or file. Code runs in a process with limits.
    """
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock.cli.extras import missing_of
    from ackclock.cli.studies.deliver import deliver
    from ackclock.course.grade import Grading
    from ackclock.course.grade import grade as work
    from ackclock.course.sheet import find_sheet
    from ackclock.course.students.run import StudentLimits

    if out is not None:
        if missing := missing_of("papers"):
            raise click.ClickException(missing)
        may_replace(out, Grading.MARKER)
    limits = StudentLimits(seconds, megabytes << 20)
    graded = work(find_sheet(sheet), submissions, traces=traces, seed=seed, limits=limits)
    deliver(graded, out, command_line(), as_json=as_json, quiet=quiet)
