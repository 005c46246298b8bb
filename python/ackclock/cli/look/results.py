"""The commands ``ackclock results ...``: what the store holds."""

from __future__ import annotations

import json
import sys
import time
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import DRY_RUN, FILE, JSON, print_json
from ackclock.results.formats.registry import FORMATS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from ackclock.experiments.store import Store

__all__ = ["results"]

_STORE = click.option(
    "--store",
    "store_folder",
    type=FILE,
    metavar="DIR",
    help="The store; default: $ACKCLOCK_STORE or ackclock-store.",
)
_WHERE = click.option(
    "--where",
    "filters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Only runs with this: a column (engine, seed, sweep, ...), an axis of their sweep, or a"
    " path of their scenario, as in --where net.buffer='1 bdp' or --where 'flows[*].cc=vegas'."
    " Also !=, <, <=, >, >=, which compare quantities with their units. May be repeated.",
)


_ALL = click.option(
    "--all",
    "hidden",
    is_flag=True,
    help="Also runs that evaluate, compare, audit and adversary did for their reports.",
)


@click.group()
def results() -> None:
    """List, show, export, query and clean the runs that sweeps have kept."""


def _open_store(store_folder: Path | None) -> Store:
    from ackclock.experiments.store import StoreError, default_place, look

    store = look(store_folder)
    if store is None:
        folder = store_folder or default_place()
        raise StoreError(f"{folder}: there is no store; `ackclock sweep` makes one")
    return store


MOST_SHOWN = 40


@cache
def _when(seconds: int) -> str:
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


@results.command("list")
@_STORE
@_WHERE
@_ALL
@click.option("--limit", type=click.IntRange(min=1), help="Only the last so many.")
@JSON
def list_(
    store_folder: Path | None,
    filters: tuple[str, ...],
    limit: int | None,
    *,
    hidden: bool,
    as_json: bool,
) -> None:
    """List runs, the latest last."""
    from ackclock._util.json_text import json_text
    from ackclock.experiments.store import query

    with _open_store(store_folder) as store:
        run_rows = query.find(store, filters, limit, hidden=hidden)
        count, unseen = store.index.count(), 0 if hidden else query.count_hidden(store)
    if as_json:
        parsed = cache(json.loads)
        lines = [
            json_text({**row, "labels": parsed(row["labels"]), "tables": parsed(row["tables"])})
            for row in run_rows
        ]
        click.echo("\n".join(lines), nl=bool(lines))
        return

    # On a terminal a long list is cut; what is not shown is not written either.
    _show_runs(run_rows, MOST_SHOWN if sys.stdout.isatty() else len(run_rows))
    click.echo(f"{len(run_rows):,} of {count:,} runs in {store.folder}")
    if unseen:
        click.echo(f"{unseen:,} of them are of commands such as evaluate; --all shows these too")


def _show_runs(run_rows: Sequence[Mapping[str, Any]], most: int) -> None:
    """Print a table of runs, the last of them if there are many."""
    from ackclock._util.number_text import working_time
    from ackclock._util.text_table import table

    @cache
    def where(labels: str) -> str:
        return ", ".join(f"{name}={label}" for name, label in json.loads(labels).items())

    cut = len(run_rows) > most
    rows = [
        [
            row["key"][:12],
            row["sweep"] or row["name"],
            where(row["labels"]),
            str(row["seed"]),
            row["engine"],
            row["version"].partition("+")[0],
            _when(int(row["finished_at"])),
            working_time(row["cpu_s"]),
        ]
        for row in (run_rows[-most:] if cut else run_rows)
    ]
    head = ["run", "sweep", "at", "seed", "engine", "version", "finished", "cpu"]
    if cut:
        click.echo(f"... {len(run_rows) - most:,} earlier runs, see --limit, --where, --json ...")
    if rows:
        click.echo(table(head, rows, most=len(rows)))


@results.command()
@click.argument("run")
@_STORE
@JSON
def show(run: str, store_folder: Path | None, *, as_json: bool) -> None:
    """Show one RUN: where it comes from, its summary, its tables. RUN: first digits of its key."""
    import tomli_w

    from ackclock._util.text_table import printable
    from ackclock.experiments.store import query

    with _open_store(store_folder) as store:
        row = query.one_run(store, run)
    data: dict[str, Any] = {
        name: json.loads(row[name]) if name in _PARSED else row[name]
        for name in row
        if name != "files"
    }
    if as_json:
        print_json(data)
        return
    fields = {
        "run": data["key"],
        "sweep": data["sweep"],
        "at": ", ".join(f"{k} = {v}" for k, v in data["labels"].items()),
        "seed": data["seed"],
        "engine": f"{data['engine']} {data['version']}",
        "scenario hash": data["scenario_hash"],
        "finished": f"{_when(int(data['finished_at']))} on {data['host']}",
        "command": data["command"],
        "tables": ", ".join(data["tables"]),
    }
    width = max(map(len, fields))
    head = "\n".join(f"{name:{width}}  {value}" for name, value in fields.items() if value != "")
    click.echo(printable(f"{head}\n\n{tomli_w.dumps(data['document'])}"))


_PARSED = ("labels", "tables", "summary", "document")


@results.command()
@click.argument("run", required=False)
@_STORE
@_WHERE
@_ALL
@click.option("--table", help="Instead of one RUN: this table of all runs, with their labels.")
@click.option(
    "--format",
    "form",
    type=click.Choice(list(FORMATS)),
    help="Write the RUN as a file of this format instead of a bundle.",
)
@click.option("--link", metavar="ID", help="Link of the format pcapng.")
@click.option(
    "--out",
    required=True,
    type=FILE,
    metavar="PATH",
    help="Folder for a run bundle; a file for --format; FILE.csv or FILE.parquet for a table.",
)
def export(
    run: str | None,
    store_folder: Path | None,
    filters: tuple[str, ...],
    *,
    hidden: bool,
    table: str | None,
    form: str | None,
    link: str | None,
    out: Path,
) -> None:
    """Write a run, or many runs as a table.

    One RUN is written as a run bundle or in a format, many as one file. A RUN is
    one of the store, or the folder of a run bundle.
    """
    from ackclock.experiments.store import query

    if (run is None) == (table is None):
        raise click.UsageError("expected either a RUN or --table")
    if form is None and link is not None:
        raise click.UsageError("--link goes with --format pcapng")
    if form is not None:
        if run is None:
            raise click.UsageError("--format is for one RUN; leave --table out")
        click.echo(f"wrote {_export_as(form, run, store_folder, link, out)}")
        return
    with _open_store(store_folder) as store:
        if run is not None:
            click.echo(f"wrote {query.export_run(store, run, out)}")
            return
        assert table is not None
        count = query.export_table(store, table, query.find(store, filters, hidden=hidden), out)
    click.echo(f"wrote {count:,} rows to {out}")


def _export_as(form: str, run: str, store_path: Path | None, link: str | None, out: Path) -> Path:
    import tempfile
    from pathlib import Path

    from ackclock.experiments.store import query
    from ackclock.scenario.load import load_run

    if (Path(run) / "provenance.json").is_file():
        return load_run(run).export(form, out, link=link)
    with tempfile.TemporaryDirectory() as folder:
        # A bundle has the files that the scenario names, which a run needs to be read.
        with _open_store(store_path) as store:
            bundle = query.export_run(store, run, Path(folder) / "run")
        return load_run(bundle).export(form, out, link=link)


@results.command()
@_STORE
@_WHERE
@_ALL
@click.option("--sweep", "sweeps", multiple=True, help="Only this sweep; may be repeated.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    help="Shown of each sweep; may be repeated. Left out: mean(flows.goodput_bps) and"
    " max(links.delay_mean_s), where there are such.",
)
@click.option("--out", type=FILE, metavar="FILE", required=True, help="The page, HTML.")
def page(
    store_folder: Path | None,
    filters: tuple[str, ...],
    sweeps: tuple[str, ...],
    metrics: tuple[str, ...],
    out: Path,
    *,
    hidden: bool,
) -> None:
    """Write sweeps, their figures and what is missing as one page.

    The page loads nothing.
    """
    from ackclock.experiments.store_page import store_page

    text = store_page(_open_store(store_folder), metrics, sweeps, filters, hidden=hidden)
    out.write_text(text, encoding="utf-8")
    click.echo(f"page: {out}")


@results.command()
@click.argument("sql")
@_STORE
@click.option(
    "--unconfined",
    is_flag=True,
    help="Let the query reach files, network and extensions, without bounds of memory and time.",
)
@JSON
def query(sql: str, store_folder: Path | None, *, unconfined: bool, as_json: bool) -> None:
    """Query the whole store in SQL (DuckDB).

    Tables: runs, flows, links, and every recorded table; the column key joins them. A query reads
    these tables only, within 2 GiB of memory and 300 s, unless --unconfined is given.
    """
    from ackclock._util.json_text import json_text
    from ackclock._util.text_table import table
    from ackclock.experiments.store import query as queries

    with _open_store(store_folder) as store:
        result_table = queries.sql(store, sql, confined=not unconfined)
    if as_json:
        click.echo(json_text(result_table.to_pylist(), default=_plain))
        return
    rows = [
        ["-" if v is None else str(v) for v in row.values()] for row in result_table.to_pylist()
    ]
    click.echo(
        table(result_table.column_names, rows, most=40 if sys.stdout.isatty() else 1_000_000)
    )


def _plain(value: object) -> float | int | str:
    """What JSON has for a value of SQL: numbers for decimals (sums of counts), text for dates."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return str(value)


@results.command()
@_STORE
@_WHERE
@_ALL
@click.option("--old-versions", is_flag=True, help="Runs of engines other than this ackclock's.")
@click.option("--older-than", type=click.FloatRange(min=0), metavar="DAYS", help="Older runs.")
@click.option("--yes", is_flag=True, help="Remove the selected runs without a question.")
@DRY_RUN
@JSON
def gc(
    store_folder: Path | None,
    filters: tuple[str, ...],
    *,
    hidden: bool,
    old_versions: bool,
    older_than: float | None,
    yes: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Remove leftovers of killed programs, damaged packs and duplicates.

    Runs are removed only if --where, --old-versions or --older-than select them; all that are given
    must hold. They are shown first, with how many stay, and removed after a yes, or with --yes.
    While a sweep uses the store, no run is removed.
    """
    from ackclock._util.core import core_version
    from ackclock.experiments.store import Store, StoreError
    from ackclock.experiments.store import query as queries
    from ackclock.experiments.store.garbage import collect

    conditions = list(filters)
    if old_versions:
        conditions.append(f"version!={core_version()}")
    if older_than is not None:
        conditions.append(f"finished_at<{time.time() - older_than * 86400}")
    going, selection = list[str](), ""
    with _open_store(store_folder) as store:
        if conditions:
            # What is old is so, whatever did it; a filter chooses what a list with it shows.
            rows = queries.find(store, conditions, hidden=hidden or not filters)
            going = [row["key"] for row in rows]
            stay = store.index.count() - len(going)
            selection = f"{len(going):,} of {len(going) + stay:,} runs are selected, {stay:,} stay"
            if not as_json:
                _show_runs(rows, MOST_SHOWN)
                click.echo(selection)
    if going and not dry_run and not yes:
        # Nothing is held while a person thinks.
        if as_json or not _is_terminal():
            raise StoreError(
                f"{store_folder or 'the store'}: {selection}; nothing is removed without --yes, and"
                " --dry-run shows what would be"
            )
        if not click.confirm(f"Remove {len(going):,} run{'s' * (len(going) != 1)}?"):
            click.echo("nothing was removed")
            return
    with Store(store_folder, writes=True) as store:
        collected = collect(store, going, dry=dry_run)
    print_json(collected.to_dict()) if as_json else click.echo(str(collected))


def _is_terminal() -> bool:
    """Whether somebody can answer."""
    return sys.stdin.isatty()
