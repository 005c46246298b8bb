"""The command line.

Exit codes: 0 done, 1 a check failed, 2 wrong input, 3 interrupted, 70 our fault.
"""

from __future__ import annotations

import pkgutil
import sys
from typing import TYPE_CHECKING

import click

from ackclock._util.progress import Bar
from ackclock.cli.options import FILE, JSON, QUIET, SET, WORKERS, print_json, with_changes

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["cli", "main"]

EXIT_CHECK, EXIT_INPUT, EXIT_INTERRUPTED, EXIT_INTERNAL = 1, 2, 3, 70


HOMES = {
    "adversary": "ackclock.cli.adversary:adversary",
    "artifact": "ackclock.cli.reproduce:artifact",
    "audit": "ackclock.cli.audit:audit",
    "evaluate": "ackclock.cli.evaluate:evaluate",
    "evaluate-queue": "ackclock.cli.evaluate:evaluate_queue",
    "fluid": "ackclock.cli.fluid:fluid",
    "game": "ackclock.cli.game:game",
    "reproduce": "ackclock.cli.reproduce:reproduce",
    "results": "ackclock.cli.results:results",
    "sweep": "ackclock.cli.sweep:sweep",
}
"""Commands with a module of their own, which is imported when one is asked for."""


class _Commands(click.Group):
    """The commands of this file and those of `HOMES`."""

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in HOMES:
            return super().get_command(ctx, cmd_name)
        found: click.Command = pkgutil.resolve_name(HOMES[cmd_name])
        return found

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), *HOMES])


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
def cli() -> None:
    """A laboratory for congestion control: ask what would happen, get an answer to trust."""


@cli.command()
def version() -> None:
    """Print the version."""
    from ackclock import _core

    click.echo(_core.version())


def _load(file: Path, changes: tuple[str, ...]) -> Scenario:
    from ackclock.scenario.load import load

    scenario = load(file)
    return with_changes(changes, lambda given: scenario.replace(**given) if given else scenario)


@cli.command()
@click.argument("files", nargs=-1, required=True, type=FILE)
@SET
def check(files: tuple[Path, ...], changes: tuple[str, ...]) -> None:
    """Check scenario FILES: form, names, routes, parameters. All problems are told."""
    from ackclock.errors import ScenarioError

    failed = False
    for file in files:
        try:
            found = _load(file, changes)
            warnings = found.explain().data["warnings"]
            click.echo(f"{file}: right" + ("" if not warnings else ", but"))
            for warning in warnings:
                click.echo(f"  warning: {warning}")
        except ScenarioError as error:
            failed = True
            click.echo(str(error), err=True)
    if failed:
        sys.exit(EXIT_INPUT)


@cli.command()
@click.argument("file", type=FILE)
@SET
@JSON
def explain(file: Path, changes: tuple[str, ...], *, as_json: bool) -> None:
    """Say what FILE would run: routes, defaults used and their era, predicted cost."""
    import json

    explanation = _load(file, changes).explain()
    click.echo(json.dumps(explanation.data, indent=2) if as_json else str(explanation))


@cli.command()
@click.argument("file", type=FILE)
@SET
@JSON
@click.option("--out", type=FILE, metavar="DIR", help="Write the run bundle into DIR.")
@click.option("--seed", type=click.IntRange(min=0), help="Replace the scenario's seed.")
@click.option("--reps", type=click.IntRange(min=1), default=1, help="Replications.")
@WORKERS
@QUIET
def run(
    file: Path,
    changes: tuple[str, ...],
    *,
    as_json: bool,
    out: Path | None,
    seed: int | None,
    reps: int,
    workers: int | None,
    quiet: bool,
) -> None:
    """Simulate FILE and print the summary.

    With --reps, seeds count on from the scenario's; means have 95 % Student-t intervals, and DIR
    gets one run bundle per seed, in place of earlier runs. Ctrl-C keeps the replications that
    finished.
    """
    scenario = _load(file, changes)
    if seed is not None:
        scenario = scenario.replace(seed=seed)
    if out is not None:
        from ackclock._util.output_folder import may_replace, may_replicate

        # Before the run, so that no result is lost to a folder that cannot be written.
        (may_replace if reps == 1 else may_replicate)(out)
    if reps > 1:
        _run_many(scenario, reps, workers, out, as_json=as_json, quiet=quiet)
        return
    with Bar(scenario.name or file.stem, shown=not quiet) as update:
        result = scenario.run(progress=lambda fraction, _: update(fraction))
    try:
        if out is not None:
            _save(result, out)
    finally:
        # Also where the folder could not be written, as on a disk that is full.
        if as_json:
            print_json(result.summary)
        elif not quiet:
            click.echo(str(result))


def _save(result: Run, out: Path) -> None:
    from ackclock._util.command_line import command_line

    result.save(out, command=command_line())


def _run_many(
    scenario: Scenario,
    reps: int,
    workers: int | None,
    out: Path | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from ackclock._util.output_folder import clear_replications, write_tables
    from ackclock.errors import AckclockError
    from ackclock.experiments.replication import replicate

    kept = 0
    unwritten: AckclockError | None = None

    def keep(_: int, result: Run) -> None:
        nonlocal kept, unwritten
        if out is None or unwritten is not None:
            return
        try:
            # Earlier runs stay until there is something in their place.
            if not kept:
                clear_replications(out)
            _save(result, out / f"seed-{result.summary['seed']}")
            kept += 1
        except AckclockError as error:
            # The means are still worth their time.
            unwritten = error

    with Bar(scenario.name or "replications", shown=not quiet) as update:
        result = replicate(scenario, reps, workers=workers, progress=update, on_finish=keep)
    try:
        if unwritten is not None:
            raise unwritten
        if out is not None and result.runs:
            write_tables(out, {"means": result.means, "observations": result.observations})
    finally:
        if as_json:
            print_json(result.to_dict())
        elif not quiet:
            click.echo(str(result))
    if result.interrupted:
        raise KeyboardInterrupt


@cli.command()
@click.argument("rundir", type=FILE)
@click.option("--kind", required=True, help="cwnd, throughput, queue, delay, fairness or map.")
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


class _WithRooms(click.Command):
    """A command whose help names the rooms; only there are they worth loading the core."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        from ackclock.catalogue import schema

        formatter.write_paragraph()
        formatter.write_text(f"Rooms: {', '.join(schema.ROOMS)}.")
        super().format_epilog(ctx, formatter)


@cli.command("list", cls=_WithRooms)
@click.argument("room", required=False)
def list_(room: str | None) -> None:
    """List algorithms, all or those of one ROOM."""
    from ackclock._util.text_table import table
    from ackclock.catalogue import schema
    from ackclock.errors import suggestion

    if room is not None and room.replace("-", "_") not in schema.ROOMS:
        raise click.UsageError(f'there is no room "{room}"; {suggestion(room, schema.ROOMS)}')
    rows = [
        [name, entry["name"], entry["title"], entry["status"]]
        for name, entries in schema.catalogue().items()
        if room is None or name == room.replace("-", "_")
        for entry in entries.values()
    ]
    click.echo(table(["room", "name", "title", "status"], rows, most=1000))


@cli.command()
@click.argument("name")
def show(name: str) -> None:
    """Show the algorithm NAME: source, parameters, defaults."""
    from ackclock.catalogue import schema
    from ackclock.catalogue.records import class_name, documentation
    from ackclock.errors import suggestion

    every = [(room, e) for room, entries in schema.catalogue().items() for e in entries.values()]
    found = [
        (room, entry) for room, entry in every if name in (entry["name"], f"{room}.{entry['name']}")
    ]
    if not found:
        hint = suggestion(name, sorted({entry["name"] for _, entry in every}))
        raise click.UsageError(f'there is no algorithm "{name}"; {hint}')
    parts = []
    for room, entry in found:
        doc = documentation(entry["title"], entry["source"], entry["status"], entry["params"])
        python = f"ackclock.{room}.{class_name(entry['name'])}"
        parts.append(f"{room} {entry['name']}   (Python: {python})\n\n{doc}")
    click.echo("\n\n".join(parts))


def _messages(error: click.ClickException) -> Iterator[str]:
    context = getattr(error, "ctx", None)
    yield error.format_message()
    if context is not None:
        yield f"see: {context.command_path} --help"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Parameters
    ----------
    arguments
        Left out: those of this process.

    Returns
    -------
    int
        The exit code.
    """
    try:
        result = cli.main(arguments, prog_name="ackclock", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        return EXIT_INPUT
    except click.ClickException as error:
        click.echo("\n".join(_messages(error)), err=True)
        return EXIT_INPUT
    except (KeyboardInterrupt, click.Abort):
        click.echo("interrupted; what had finished is kept", err=True)
        return EXIT_INTERRUPTED
    except SystemExit as error:
        return error.code if isinstance(error.code, int) else EXIT_INTERNAL
    except BrokenPipeError:
        return 0
    except BaseException as error:
        return _failed(error)
    return result if isinstance(result, int) else 0


def _failed(error: BaseException) -> int:
    from ackclock.errors import AckclockError

    # An attribute, so that other errors need not wait for what `told` imports.
    if any(name.startswith("__ackclock_") for name in vars(error)):
        from ackclock.catalogue.python_source import told

        click.echo(told(error), err=True)
        return EXIT_INPUT
    if isinstance(error, AckclockError):
        click.echo(str(error), err=True)
        return EXIT_INPUT
    if isinstance(error, OSError) and error.filename is not None:
        click.echo(f"{error.filename}: {error.strerror}", err=True)
        return EXIT_INPUT
    import errno
    import os
    import traceback

    # No file name: what could not be written is standard output.
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
        click.echo(f"the output could not be written: {error.strerror}", err=True)
        return EXIT_INPUT

    kind = type(error).__name__
    click.echo(
        f"ackclock failed by its own fault ({kind}: {error}); please report it to the"
        " project with this command, its scenario, `ackclock version`, and the traceback that"
        " ACKCLOCK_TRACEBACK=1 prints.",
        err=True,
    )
    if os.environ.get("ACKCLOCK_TRACEBACK"):
        traceback.print_exception(error)
    return EXIT_INTERNAL


def entry() -> None:
    """What the installed command calls."""
    sys.exit(main())
