"""The commands ``reproduce``, ``forensics`` and ``artifact``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli import completion
from ackclock.cli.options import (
    ALLOW_CODE,
    CLUSTER,
    DRY_RUN,
    EXIT_CHECK,
    FILE,
    JSON,
    QUIET,
    STORE,
    TIER,
    WORKERS,
    print_json,
)

if TYPE_CHECKING:
    from ackclock.reproduce.paper import PaperData
    from ackclock.reproduce.run.studies import RunOptions

__all__ = ["artifact", "forensics", "reproduce"]


@click.command()
@click.argument("papers", nargs=-1, metavar="[PAPER]...", shell_complete=completion.papers)
@click.option("--list", "list_", is_flag=True, help="List the papers that ship with ackclock.")
@click.option("--all", "all_", is_flag=True, help="Reproduce all of them.")
@click.option("--figure", "figures", multiple=True, metavar="F", help="Only this; repeatable.")
@click.option("--claim", "claims", multiple=True, metavar="C", help="Only this; repeatable.")
@TIER
@click.option("--out", type=FILE, metavar="DIR", help="Left out: reproductions/PAPER.")
@JSON
@click.option("--strict", is_flag=True, help="Exit 1 on a deviation that is not listed as known.")
@click.option("--inferred", type=FILE, metavar="FILE", help="Result of ackclock forensics.")
@click.option("--sensitivity", metavar="CLAIM", help="Vary what this claim leaves unstated.")
@DRY_RUN
@click.option("--pairs", is_flag=True, help="With --sensitivity: also two parameters at a time.")
@WORKERS
@CLUSTER
@STORE
@QUIET
@ALLOW_CODE
def reproduce(
    papers: tuple[str, ...],
    *,
    list_: bool,
    all_: bool,
    figures: tuple[str, ...],
    claims: tuple[str, ...],
    tier: str,
    out: Path | None,
    as_json: bool,
    strict: bool,
    inferred: Path | None,
    sensitivity: str | None,
    dry_run: bool,
    pairs: bool,
    workers: int | None,
    cluster: str | None,
    store: Path | None,
    quiet: bool,
) -> None:
    """Run a paper's studies, draw its figures, judge its claims, write a report.

    PAPER is a name of --list or a folder. With several papers, or --all, DIR gets a folder for each
    and an index. Runs are kept: what was stopped goes on where it was.
    """
    from ackclock.reproduce.read.folder import names, read

    if list_:
        click.echo(_list_papers(as_json=as_json))
        return
    paper_names = list(papers) or (names() if all_ else [])
    if not paper_names:
        raise click.UsageError("name a paper, as in: ackclock reproduce example; --list lists them")
    several = len(paper_names) > 1 or all_
    if several and (figures or claims or sensitivity or inferred):
        message = "--figure, --claim, --inferred and --sensitivity are for one paper"
        raise click.UsageError(message)
    if pairs and not sensitivity:
        raise click.UsageError("--pairs goes with --sensitivity CLAIM")
    read_all = [read(paper) for paper in paper_names]
    options = _run_options(workers, cluster, store, quiet=quiet or as_json)
    if dry_run:
        _dry_run(read_all, tier, options, figures, claims, as_json=as_json)
        return
    if sensitivity:
        _sensitivity(read_all[0], sensitivity, tier, options, out, pairs=pairs, as_json=as_json,
                     quiet=quiet)  # fmt: skip
        return
    is_partial = bool(figures or claims)
    printed: list[Any] = []
    unexpected = []
    for paper in read_all:
        folder = _folder(out, paper, several=several, parts=is_partial)
        outcome = _one(
            paper, tier, figures, claims, options, folder, inferred, quiet=quiet or as_json
        )
        printed.append(outcome[0])
        unexpected += outcome[1]
    if several or out is None:
        _index(out or Path("reproductions"))
    if as_json:
        print_json(printed if several else printed[0])
    if strict and unexpected:
        click.echo(f"deviations that are not listed as known: {', '.join(unexpected)}", err=True)
        sys.exit(EXIT_CHECK)


def _folder(out: Path | None, paper: PaperData, *, several: bool, parts: bool) -> Path:
    """Where a paper goes. A part does not take the place of the whole."""
    if out is not None and not several:
        return out
    return (out or Path("reproductions")) / (f"{paper.name}.part" if parts else paper.name)


def _run_options(
    workers: int | None, cluster: str | None, store: Path | None, *, quiet: bool
) -> RunOptions:
    from ackclock._util.command_line import command_line
    from ackclock.reproduce.run.studies import RunOptions

    return RunOptions(
        workers=workers,
        cluster=cluster,
        store=store,
        progress=not quiet,
        command=command_line(),
        report=(lambda _: None) if quiet else (lambda text: click.echo(text, err=True)),
    )


def _one(
    paper: PaperData,
    tier: str,
    figures: tuple[str, ...],
    claims: tuple[str, ...],
    options: RunOptions,
    folder: Path,
    inferred: Path | None,
    *,
    quiet: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Reproduce one paper; what --json prints, and deviations that nobody expected."""
    from ackclock._util.output_folder import may_replace
    from ackclock.reproduce.run.inference import load
    from ackclock.reproduce.run.reproduction import reproduce
    from ackclock.reproduce.write.files import MARKER
    from ackclock.reproduce.write.folder import as_data, write
    from ackclock.reproduce.write.text import summary

    # Before the runs, so that no result is lost to a folder that cannot be written.
    may_replace(folder, MARKER)
    inference = load(paper, inferred)
    reproduction = reproduce(
        paper, tier=tier, figures=figures, claims=claims, options=options, inference=inference
    )
    write(reproduction, folder)
    if not quiet:
        click.echo(summary(reproduction))
        click.echo(f"\nwrote {folder / 'report.html'}")
    return as_data(reproduction), [
        f"{paper.name} {claim.claim.id}" for claim in reproduction.deviations
    ]


def _index(folder: Path) -> None:
    from ackclock.reproduce.write.html import index_page

    if folder.is_dir():
        (folder / "index.html").write_text(index_page(folder), encoding="utf-8")


def _dry_run(
    papers: list[PaperData],
    tier: str,
    options: RunOptions,
    figures: tuple[str, ...],
    claims: tuple[str, ...],
    *,
    as_json: bool,
) -> None:
    """Say what each needed study would run, at most too, and what of it is stored already."""
    from ackclock._util.number_text import working_time
    from ackclock._util.text_table import table
    from ackclock.experiments.executors.local import cores
    from ackclock.experiments.store import look
    from ackclock.reproduce.run.predict import predict_rest, predict_studies
    from ackclock.reproduce.run.reproduction import find_wanted

    opened_store = look(options.store)
    wanted = [(paper, *find_wanted(paper, figures, claims)) for paper in papers]
    studies = sum(len(needed) for *_, needed in wanted)
    rows: list[dict[str, Any]] = []
    workers = options.workers or cores()
    for paper, drawn, judged, needed in wanted:
        costs = list(
            predict_studies(
                paper, tier, options, opened_store, studies=needed, claims=judged, of=studies
            )
        )
        drawable = [figure for figure in drawn if not figure.not_drawable]
        costs.append(predict_rest(costs, judged, len(drawable)))
        for cost in costs:
            least_s, most_s = cost.seconds(workers)
            times = {"seconds": least_s, "most_seconds": most_s}
            rows.append({"paper": paper.name, **cost.to_row(), **times})
    if as_json:
        print_json(rows)
        return
    keys = ("paper", "study", "points", "runs", "most_runs", "stored")
    cells = [
        [str(row[key]) if row["runs"] or key in keys[:2] else "" for key in keys]
        + [working_time(row["seconds"])]
        for row in rows
    ]
    head = ["paper", "study", "points", "runs", "at most", "stored", "predicted"]
    click.echo(table(head, cells, most=1000))
    total, most_total = (
        working_time(sum(row[key] for row in rows)) for key in ("seconds", "most_seconds")
    )
    click.echo(f"\ntier {tier}: about {total} for what is not stored")
    if any(row["most_runs"] > row["runs"] for row in rows):
        click.echo(f"with more replicates, if all claims stay undecided: about {most_total}")


def _list_papers(*, as_json: bool) -> str:
    from ackclock._util.json_text import json_text
    from ackclock._util.text_table import table
    from ackclock.reproduce.read.folder import names, read

    rows = []
    for name in names():
        paper = read(name)
        checkable = sum(not claim.not_checkable for claim in paper.claims.values())
        rows.append((name, str(paper.about["year"]), len(paper.claims), checkable,
                     sum(not figure.not_drawable for figure in paper.figures.values()),
                     paper.about["title"]))  # fmt: skip
    head = ("paper", "year", "claims", "checkable", "figures", "title")
    if as_json:
        return json_text([dict(zip(head, row, strict=True)) for row in rows])
    return table(head, [[str(cell) for cell in row] for row in rows], most=1000)


def _sensitivity(
    paper: PaperData,
    claim: str,
    tier: str,
    options: RunOptions,
    out: Path | None,
    *,
    pairs: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    from ackclock._util.output_folder import may_replace
    from ackclock.reproduce.run.sensitivity import sensitivity
    from ackclock.reproduce.write.sensitivity import MARKER, write

    folder = out or Path("reproductions") / f"{paper.name}.{claim}"
    may_replace(folder, MARKER)
    result = sensitivity(paper, claim, tier=tier, options=options, pairs=pairs)
    write(result, folder)
    if as_json:
        print_json(result.to_dict())
    elif not quiet:
        click.echo(str(result))
        click.echo(f"\nwrote {folder}")


@click.command()
@click.argument("paper", shell_complete=completion.papers)
@click.option(
    "--tier",
    type=click.Choice(["first", "fast", "full"]),
    default="fast",
    show_default=True,
    help="In which the best is judged; first: only what all settings are tried in.",
)
@click.option("--claim", "claims", multiple=True, metavar="C", help="Only this; repeatable.")
@click.option("--vary", "vary", multiple=True, metavar="P", help="Only this; repeatable.")
@click.option("--points", type=click.IntRange(1), help="Left out: what the budget allows.")
@click.option(
    "--minutes",
    type=click.FloatRange(0, min_open=True),
    help="Budget of CPU time; left out: the paper's, or 10 (full: 60).",
)
@click.option("--out", type=FILE, metavar="DIR", help="Left out: reproductions/PAPER.forensics.")
@DRY_RUN
@JSON
@WORKERS
@CLUSTER
@STORE
@QUIET
@ALLOW_CODE
def forensics(
    paper: str,
    *,
    tier: str,
    claims: tuple[str, ...],
    vary: tuple[str, ...],
    points: int | None,
    minutes: float | None,
    out: Path | None,
    dry_run: bool,
    as_json: bool,
    workers: int | None,
    cluster: str | None,
    store: Path | None,
    quiet: bool,
) -> None:
    """Find out which unstated settings would have given the numbers of PAPER.

    Tries points of the space that unstated.toml spans, many cheaply and few well, fits them to half
    of the claims and judges the best on the other half and on fresh seeds. What was stopped goes on
    where it was.
    """
    from ackclock._util.output_folder import may_replace
    from ackclock.reproduce.read.folder import read
    from ackclock.reproduce.run.inference import FILE as MARKER
    from ackclock.reproduce.search.design import plan
    from ackclock.reproduce.search.search import search
    from ackclock.reproduce.search.space import find_space
    from ackclock.reproduce.search.surrogate import need_library
    from ackclock.reproduce.write.forensics import summary, write

    need_library()
    data = read(paper)
    planned = plan(find_space(data, tier, claims, vary), tier, points, minutes)
    if dry_run:
        print_json(planned.to_dict()) if as_json else click.echo(str(planned))
        return
    folder = out or Path("reproductions") / f"{data.name}.forensics"
    may_replace(folder, MARKER)
    options = _run_options(workers, cluster, store, quiet=quiet or as_json)
    options.report(str(planned))
    written = write(search(planned, options), folder, planned.command(claims, vary))
    if as_json:
        print_json(written)
    elif not quiet:
        click.echo(summary(written))
        click.echo(f"\nwrote {folder / 'forensics.html'}")


@click.command()
@click.argument("paper", shell_complete=completion.papers)
@TIER
@click.option("--out", type=FILE, metavar="FILE", help="Left out: PAPER-TIER.tar.gz.")
@WORKERS
@CLUSTER
@STORE
@QUIET
@ALLOW_CODE
def artifact(
    paper: str,
    *,
    tier: str,
    out: Path | None,
    workers: int | None,
    cluster: str | None,
    store: Path | None,
    quiet: bool,
) -> None:
    """Pack PAPER with scenarios, seeds, results, environment and a script that reruns it.

    Inside, ./rerun.sh makes the results again and compares them byte for byte.
    """
    from ackclock.reproduce.read.folder import read
    from ackclock.reproduce.write.artifact import pack

    data = read(paper)
    file = out or Path(f"{data.name}-{tier}.tar.gz")
    pack(data, file, tier=tier, options=_run_options(workers, cluster, store, quiet=quiet))
    if not quiet:
        click.echo(f"wrote {file}")
