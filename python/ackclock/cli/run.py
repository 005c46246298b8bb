"""The command ``ackclock run``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ackclock._util.progress import Bar
from ackclock.cli import completion
from ackclock.cli.options import (
    FILE,
    JSON,
    LIMITS,
    QUIET,
    SET,
    THREADS,
    WORKERS,
    load_scenario,
    print_json,
)
from ackclock.results.formats.registry import FORMATS

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario
    from ackclock.studies.twin.twin import Twin

__all__ = ["run"]


def _export_options(command: Callable[..., Any]) -> Callable[..., Any]:
    for form in reversed(FORMATS.values()):
        option = click.option(f"--{form.name}", type=FILE, metavar="FILE", help=form.help)
        command = option(command)
    return command


@click.command()
@click.argument("file", type=FILE)
@SET
@JSON
@click.option("--out", type=FILE, metavar="DIR", help="Write the run bundle into DIR.")
@click.option(
    "--record",
    multiple=True,
    metavar="TABLE",
    shell_complete=completion.tables,
    help="Record this table too, as windows or drops; may be repeated.",
)
@_export_options
@click.option("--twin", "with_twin", is_flag=True, help="Put theory beside the run's summary.")
@click.option("--link", metavar="ID", help="Link of --pcapng; left out: the one that carried most.")
@click.option("--seed", type=click.IntRange(min=0), help="Replace the scenario's seed.")
@click.option("--reps", type=click.IntRange(min=1), default=1, help="Replications.")
@click.option(
    "--threads",
    type=THREADS,
    metavar="N",
    help="Threads that share a run, or auto; the results are the same bits. Left out: one; with"
    " --reps auto.",
)
@WORKERS
@LIMITS
@QUIET
def run(
    file: Path,
    changes: tuple[str, ...],
    *,
    as_json: bool,
    out: Path | None,
    record: tuple[str, ...],
    link: str | None,
    seed: int | None,
    reps: int,
    threads: int | str | None,
    workers: int | None,
    with_twin: bool,
    quiet: bool,
    **exports: Path | None,
) -> None:
    """Simulate FILE and print the summary.

    With --reps, seeds count on from the scenario's; means have 95 % Student-t intervals, and DIR
    gets one run bundle per seed, in place of earlier runs. Ctrl-C keeps the replications that
    finished.
    """
    export_paths = {name: path for name, path in exports.items() if path is not None}
    first_export = next(iter(export_paths), None)
    if first_export is not None and reps > 1:
        limit_text = "the packets of one run" if first_export == "pcapng" else "one run"
        raise click.UsageError(f"--{first_export} writes {limit_text}; leave --reps out")
    if with_twin and reps > 1:
        raise click.UsageError("--twin compares one run; leave --reps out")
    if link is not None and "pcapng" not in export_paths:
        raise click.UsageError("--link goes with --pcapng FILE")
    from ackclock.cli.other_engines import load_other, run_other

    other, _ = load_other(file, changes)
    if other is not None:
        if first_export is not None:
            raise click.UsageError(
                f"--{first_export} is for packets; {other.engine} cases have none"
            )
        if with_twin:
            raise click.UsageError(f"--twin is for packets; {other.engine} cases are theory")
        if reps > 1:
            message = f"--reps is for packets; replications of {other.engine} cases need a sweep"
            raise click.UsageError(message)
        if threads not in (None, 1):
            message = f"--threads is for packets; {other.engine} cases use one thread"
            raise click.UsageError(message)
        question = other if seed is None else other.with_seed(seed)
        run_other(question, file, out, as_json=as_json, quiet=quiet)
        return
    scenario = load_scenario(file, changes)
    if seed is not None:
        scenario = scenario.replace(seed=seed)
    _check_exports(scenario, export_paths, link)
    scenario, link = (
        _at_one_link(scenario, link, file, threads or 1, quiet=quiet)
        if out is None and not record and set(export_paths) == {"pcapng"}
        else (scenario, link)
    )
    needed = [table for name in export_paths for table in FORMATS[name].tables]
    scenario = _recording(scenario, [*record, *needed])
    if out is not None:
        from ackclock._util.output_folder import may_replace, may_replicate

        # Before the run, so that no result is lost to a folder that cannot be written.
        (may_replace if reps == 1 else may_replicate)(out)
    if reps > 1:
        _run_many(scenario, reps, workers, threads or "auto", out, as_json=as_json, quiet=quiet)
        return
    finished: list[Run] = []
    try:
        with Bar(scenario.name or file.stem, is_shown=not quiet) as update:
            result = _run_one(scenario, out, update, finished, threads or 1)
        for name, path in export_paths.items():
            result.export(name, path, link=link if FORMATS[name].takes_link else None)
    finally:
        # Also where the folder could not be written, as on a disk that is full.
        for finished_run in finished:
            beside = _compare(scenario, finished_run) if with_twin else None
            if as_json:
                twin = {} if beside is None else {"twin": beside.to_dict()}
                print_json({**finished_run.summary, "warnings": finished_run.warnings, **twin})
            elif not quiet:
                click.echo(str(finished_run) if beside is None else f"{finished_run}\n\n{beside}")


def _check_exports(scenario: Scenario, export_paths: dict[str, Path], link: str | None) -> None:
    """Refuse what could not be written, before the run that would be lost."""
    from ackclock.cli.extras import missing_of
    from ackclock.errors import suggestion
    from ackclock.results.packet_case import without_code

    for name, path in export_paths.items():
        extra = FORMATS[name].extra
        if extra is not None and (missing := missing_of(extra)):
            raise click.ClickException(f"--{name}: {missing}")
        if not path.parent.is_dir():
            raise click.UsageError(f"--{name}: there is no folder {path.parent}")
        if path.is_dir():
            raise click.UsageError(f"--{name}: {path} is a folder; expected a file")
    if link is not None:
        ids = [
            str(link_facts["id"]) for link_facts in without_code(scenario).explain().data["links"]
        ]
        if link not in ids:
            raise click.UsageError(f'--link: there is no link "{link}"; {suggestion(link, ids)}')


def _at_one_link(
    scenario: Scenario, link: str | None, file: Path, threads: int | str, *, quiet: bool
) -> tuple[Scenario, str | None]:
    """Record packets of the link of a capture alone; a run without packets finds the busiest one.

    It takes a part of what the record of every link's packets would.
    """
    from ackclock.results.formats.pcapng import follows_packets, list_both_ways
    from ackclock.results.packet_case import without_code

    record = scenario.data.get("record", {})
    if {"flows", "links"} & {*record} or "packets" in record.get("tables", ()):
        return scenario, link
    if scenario.holds_lock or follows_packets(scenario):
        return scenario, link
    if link is None:
        plain = scenario.replace(record=None)
        with Bar(f"{scenario.name or file.stem}: busiest link", is_shown=not quiet) as update:
            links = _run_one(plain, None, update, [], threads).summary["links"]
        most = max(int(row["departed_packets"]) for row in links)
        if not most:
            return scenario, link
        link = min(str(row["id"]) for row in links if row["departed_packets"] == most)
        names = [str(row["id"]) for row in links]
    else:
        names = [str(row["id"]) for row in without_code(scenario).explain().data["links"]]
    return scenario.replace(**{"record.links": list_both_ways(link, names)}), link


def _compare(scenario: Scenario, run: Run) -> Twin:
    from ackclock.studies.twin.twin import compare

    return compare(scenario, run)


def _run_one(
    scenario: Scenario,
    out: Path | None,
    update: Callable[[float], object],
    finished: list[Run],
    threads: int | str,
) -> Run:
    """Run, into a bundle if one is wanted; note the run as soon as it has finished."""

    def progress(fraction: float, _: float) -> None:
        update(fraction)

    if out is None:
        finished.append(scenario.run(progress=progress, threads=threads))
        return finished[0]
    from ackclock._util.command_line import command_line
    from ackclock.scenario.execution import run_into
    from ackclock.scenario.threads import count_threads

    return run_into(
        scenario,
        out,
        progress=progress,
        command=command_line(),
        on_finish=finished.append,
        threads=count_threads(threads),
    )


def _recording(scenario: Scenario, tables: list[str]) -> Scenario:
    """Add tables to those that the scenario records."""
    from ackclock.errors import suggestion
    from ackclock.results.run import TABLES

    for name in tables:
        if name not in TABLES:
            raise click.UsageError(
                f'--record: there is no table "{name}"; {suggestion(name, TABLES)}'
            )
    if not tables:
        return scenario
    recorded = scenario.data.get("record", {}).get("tables", [])
    return scenario.replace(**{"record.tables": list(dict.fromkeys([*recorded, *tables]))})


def _save(result: Run, out: Path) -> None:
    from ackclock._util.command_line import command_line

    result.save(out, command=command_line())


def _run_many(
    scenario: Scenario,
    reps: int,
    workers: int | None,
    threads: int | str,
    out: Path | None,
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    from ackclock._util.output_folder import clear_replications, write_tables
    from ackclock.errors import AckclockError
    from ackclock.experiments.replication import replicate

    saved = 0
    unwritten: AckclockError | None = None

    def keep(_: int, result: Run) -> None:
        nonlocal saved, unwritten
        if out is None or unwritten is not None:
            return
        try:
            # Earlier runs stay until there is something in their place.
            if not saved:
                clear_replications(out)
            _save(result, out / f"seed-{result.summary['seed']}")
            saved += 1
        except AckclockError as error:
            # The means are still worth their time.
            unwritten = error

    with Bar(scenario.name or "replications", is_shown=not quiet) as update:
        result = replicate(
            scenario,
            reps,
            workers=workers,
            threads=threads,
            progress=update,
            on_finish=keep,
        )
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
        where = "are finished" if out is None else f"are kept in {out}"
        raise KeyboardInterrupt(f"{len(result.runs)} of {reps} replications {where}")
