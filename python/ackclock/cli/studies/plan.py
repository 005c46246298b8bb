"""``ackclock plan``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import FILE, JSON, QUIET, print_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ackclock.studies.planner.answers import Answer
    from ackclock.studies.planner.hashing import Hashing
    from ackclock.studies.planner.situation import Situation

__all__ = ["plan"]


@click.group()
def plan() -> None:
    """Answer a network planner's questions: loads, failures, upgrades, weights, enforcement.

    NETWORK is a folder with edges.csv, a CSV file of links (source, target, capacity_bps,
    back_capacity_bps, weight, back_weight, srlg), a file of GraphML, SNDlib (XML, native) or
    Repetita (.graph), or topohub:NAME. Routes are
    shortest paths by weight; where several are equal, traffic is divided over them in equal parts,
    or with --ecmp hash its flows are hashed to them.
    """


_FILES = (
    click.argument("network"),
    click.option("--demands", type=FILE, metavar="FILE", help="CSV: source, target, demand_bps"
                 " and, for several matrices, time; for --ecmp hash, flows. Or a file of SNDlib or"
                 " Repetita (.demands)."),
    click.option("--gravity", type=FILE, metavar="FILE", help="CSV: node, out_bps and, where it"
                 " differs, in_bps; demands follow by the gravity model."),
    click.option("--metric", default="weight", show_default=True,
                 type=click.Choice(["weight", "hops", "inverse-capacity"]),
                 help="What shortest paths add up."),
    click.option("--reference-bandwidth", "reference", metavar="RATE", help="Of inverse capacities:"
                 " a link costs this over its capacity, whole and at least 1. Left out: the"
                 " capacity of the largest link."),
    click.option("--rate", metavar="RATE", help="Capacity of links for which the file gives none."),
    click.option("--merge-parallel", is_flag=True, help="Add up links between the same two nodes."),
    click.option("--scale", type=click.FloatRange(0, min_open=True), default=1.0,
                 show_default=True, help="Factor on demands."),
    JSON,
    QUIET,
)  # fmt: skip
_INPUTS = (
    *_FILES,
    click.option("--paths", type=FILE, metavar="FILE", help="CSV: path, nodes with ; between them,"
                 " and share; such demands take it while all of its links work."),
    click.option("--out", type=FILE, metavar="DIR", help="Write a page, a map and the numbers."),
    click.option("--map", "picture", type=FILE, metavar="FILE", help="Draw the network: .svg, .png"
                 " or .pdf."),
)  # fmt: skip
_HASHING = (
    click.option("--ecmp", type=click.Choice(["equal", "hash"]), default="equal", show_default=True,
                 help="How routers use equal paths: in equal parts, or one for each flow by its"
                 " hash."),
    click.option("--flow-rate", metavar="RATE", default="10 Mbps", show_default=True,
                 help="Of --ecmp hash: rate of a flow, where the file gives no number of flows."),
    click.option("--hash-seed", type=click.IntRange(0), default=1, show_default=True,
                 help="Of --ecmp hash."),
    click.option("--same-hash", is_flag=True, help="Of --ecmp hash: all routers have one hash"
                 " function, so that a choice decides the later ones."),
)  # fmt: skip
_HASHES = click.option(
    "--hashes", type=click.IntRange(1), default=1, show_default=True, metavar="N",
    help="Of --ecmp hash: try so many seeds and show the 5th, 50th and 95th percentile.",
)  # fmt: skip
_AT = click.option("--at", metavar="TIME", help="Time to look at; left out: when most is demanded.")
_MEMORY = click.option(
    "--memory", type=click.IntRange(1), default=1024, show_default=True, metavar="MB",
    help="For loads under failures; with less, it takes longer.",
)  # fmt: skip

_RESUME = click.option(
    "--resume", type=FILE, metavar="DIR",
    help="Keep failures that are done there, and go on from them after an interruption.",
)  # fmt: skip


def _with(
    options: tuple[Callable[..., Any], ...],
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command several options."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def _hashing(options: dict[str, Any]) -> Hashing | None:
    """Read how flows are hashed; None where they are not."""
    from ackclock._util.units import bare_or_rate
    from ackclock.errors import Problem, ScenarioError
    from ackclock.studies.planner.hashing import Hashing

    if options.get("ecmp", "equal") == "equal":
        return None
    rate = bare_or_rate(options["flow_rate"])
    if not 0 < rate < float("inf"):
        message = f'is "{options["flow_rate"]}"; expected a rate above 0, such as 10 Mbps'
        raise ScenarioError([Problem("--flow-rate", message)])
    return Hashing(rate, options["hash_seed"], options["same_hash"])


def _read(options: dict[str, Any]) -> Situation:
    """Read network and demands."""
    from ackclock.studies.planner.situation import read_situation

    return read_situation(
        options["network"],
        demands=options["demands"],
        gravity_file=options["gravity"],
        time=options.get("at"),
        metric=options["metric"],
        rate=options["rate"],
        merge_parallel=options["merge_parallel"],
        scale=options["scale"],
        hashing=_hashing(options),
        paths=options.get("paths"),
        reference=options["reference"],
    )


def _answer(
    options: dict[str, Any], find: Callable[[Situation, Callable[[float], None]], Answer]
) -> None:
    """Read the inputs, find the answer with a progress bar, and print, draw and write it."""
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock._util.progress import Bar
    from ackclock.errors import Problem, ScenarioError
    from ackclock.plot.style import save
    from ackclock.studies.planner.answers import text
    from ackclock.studies.planner.page import Report, picture

    out: Path | None = options["out"]
    drawing: Path | None = options["picture"]
    if drawing is not None and drawing.suffix not in (".svg", ".png", ".pdf"):
        message = f'"{drawing}" should end in .svg, .png or .pdf'
        raise ScenarioError([Problem("--map", message)])
    if out is not None:
        may_replace(out, Report.MARKER)
    situation = _read(options)
    silent = options["quiet"] or options["as_json"]
    with Bar("planning", is_shown=not silent) as progress:
        answer = find(situation, progress)
    if drawing is not None:
        save(picture(answer), drawing, command=command_line())
    page = None if out is None else Report(answer).save(out, command=command_line())
    if options["as_json"]:
        print_json(answer.to_data())
    elif not options["quiet"]:
        click.echo(text(answer))
        if page is not None:
            click.echo(f"\npage: {page}")


@plan.command()
@_with(_INPUTS)
@_AT
@click.option("--count", type=click.IntRange(1), default=2, show_default=True,
              help="Links to upgrade.")  # fmt: skip
@click.option(
    "--factor", type=click.FloatRange(1.0, min_open=True), default=2.0, show_default=True,
    help="What an upgrade multiplies a link's capacity by.",
)  # fmt: skip
@click.option(
    "--tries", type=click.IntRange(1), default=2000, show_default=True, help="Weights to try."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the search.")
@_MEMORY
def report(
    *, count: int, factor: float, tries: int, seed: int, memory: int, **options: Any
) -> None:
    """Answer load, failures, upgrades, weights at once."""
    from ackclock.studies.planner.overview import overview

    _answer(
        options,
        lambda situation, progress: overview(
            situation,
            count=count,
            factor=factor,
            tries=tries,
            seed=seed,
            memory=memory << 20,
            progress=progress,
        ),
    )


@plan.command()
@_with(_INPUTS)
@_with(_HASHING)
@_HASHES
def load(*, hashes: int, **options: Any) -> None:
    """Find how busy links are.

    Over several times, also the 95th percentile.
    """
    from ackclock.studies.planner.utilisation import utilisation

    _answer(options, lambda situation, progress: utilisation(situation, progress, hashes=hashes))


@plan.command()
@_with(_INPUTS)
@_AT
@click.option(
    "--of", "kind", type=click.Choice(["links", "nodes", "risk-groups", "pairs"]), default="links",
    show_default=True, help="What fails: each alone, or each two links.",
)  # fmt: skip
@click.option(
    "--fail", multiple=True, metavar="NAME",
    help="Fail this node, link (a - b) or risk group; several fail together.",
)  # fmt: skip
@_RESUME
@_with(_HASHING)
@_HASHES
@_MEMORY
def failures(
    *,
    kind: str,
    fail: tuple[str, ...],
    memory: int,
    hashes: int,
    resume: Path | None,
    **options: Any,
) -> None:
    """Find what breaks when links, nodes or risk groups fail."""
    from ackclock.studies.planner.failures import failure_from_names, survey

    _answer(
        options,
        lambda situation, progress: survey(
            situation,
            kind,  # type: ignore[arg-type]  # click checks it
            failed=[failure_from_names(situation, fail)] if fail else None,
            memory=memory << 20,
            hashes=hashes,
            resume=resume,
            progress=progress,
        ),
    )


@plan.command()
@_with(_INPUTS)
@_AT
@click.option(
    "--goal", type=click.Choice(["utilisation", "failure", "minimum", "total"]), default="failure",
    show_default=True, help="What to improve: the busiest link, the same under the worst failure"
    " of a link, the least or the sum of max-min rates.",
)  # fmt: skip
@click.option("--count", type=click.IntRange(1), default=2, show_default=True, help="Links.")
@click.option(
    "--factor", type=click.FloatRange(1.0, min_open=True), default=2.0, show_default=True,
    help="What an upgrade multiplies a link's capacity by.",
)  # fmt: skip
@_RESUME
@_with(_HASHING)
@_MEMORY
def upgrades(
    *,
    goal: str,
    count: int,
    factor: float,
    memory: int,
    resume: Path | None,
    **options: Any,
) -> None:
    """Find the links whose upgrade helps most."""
    from ackclock.studies.planner.upgrades import upgrades as work

    _answer(
        options,
        lambda situation, progress: work(
            situation,
            goal,  # type: ignore[arg-type]  # click checks it
            count=count,
            factor=factor,
            memory=memory << 20,
            resume=resume,
            progress=progress,
        ),
    )


@plan.command()
@_with(_INPUTS)
@_AT
@click.option(
    "--tries", type=click.IntRange(1), default=2000, show_default=True, help="Weights to try."
)
@click.option(
    "--most", type=click.IntRange(1, 65535), default=20, show_default=True, help="Largest weight."
)
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the search.")
def weights(*, tries: int, most: int, seed: int, **options: Any) -> None:
    """Search for link weights that make the busiest link less busy."""
    from ackclock.studies.planner.weights import search

    _answer(
        options,
        lambda situation, progress: search(
            situation, tries=tries, most=most, seed=seed, progress=progress
        ),
    )


@plan.command()
@_with(_INPUTS)
@_AT
@click.option("--count", type=click.IntRange(1), default=1, show_default=True, help="Routers.")
@click.option(
    "--hoses", type=click.FloatRange(0, 1, max_open=True), default=0.5, show_default=True,
    help="Part of the demands that turn to fire hoses.",
)  # fmt: skip
@click.option(
    "--push", type=click.FloatRange(1), default=3.0, show_default=True,
    help="What a fire hose pushes, as a multiple of its demand.",
)  # fmt: skip
@click.option("--draws", type=click.IntRange(1), default=10, show_default=True,
              help="How often the demands that turn are drawn.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True,
              help="Of the draws.")  # fmt: skip
@_with(_HASHING)
def enforce(
    *, count: int, hoses: float, push: float, draws: int, seed: int, **options: Any
) -> None:
    """Find where fair queueing saves most.

    At which routers, if traffic turns to fire hoses.
    """
    from ackclock.studies.planner.enforcement import enforcement

    _answer(
        options,
        lambda situation, progress: enforcement(
            situation,
            count=count,
            share=hoses,
            push=push,
            draws=draws,
            seed=seed,
            progress=progress,
        ),
    )


@plan.command()
@_with(_FILES)
@_AT
@click.option(
    "--sizes",
    required=True,
    metavar="TABLE",
    help='Sizes of flows, such as {kind = "pareto", mean = "10 MB", shape = 1.3}; the kinds are'
    " fixed, exponential, pareto, bounded-pareto, log-normal and empirical.",
)
@click.option("--flow-rate", metavar="RATE", help="Rate of a flow; left out: it sends all at once.")
@click.option(
    "--bin", "bin_s", default="5 min", show_default=True, metavar="TIME", help="Length of a bin."
)
@click.option("--bins", type=click.IntRange(1), default=288, show_default=True, help="How many.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Of the draws.")
@click.option("--series", type=FILE, required=True, metavar="FILE", help="The CSV to write.")
def sample(
    *,
    sizes: str,
    flow_rate: str | None,
    bin_s: str,
    bins: int,
    seed: int,
    series: Path,
    **options: Any,
) -> None:
    """Draw demands over time.

    Flows have random sizes; their mean is the given matrix. The series is a CSV
    that the other commands read; its column flows is for --ecmp hash.
    """
    from ackclock._util.units import bare_or_rate, parse, quantity_problem
    from ackclock.errors import Problem, ScenarioError
    from ackclock.studies.planner.answers import text
    from ackclock.studies.planner.sampling import read_sizes, write_series
    from ackclock.studies.planner.sampling import sample as work

    rate = float("inf") if flow_rate is None else bare_or_rate(flow_rate)
    problems = []
    if not rate > 0:
        message = f'is "{flow_rate}"; expected a rate above 0, such as 10 Mbps'
        problems.append(Problem("--flow-rate", message))
    wrong = quantity_problem(bin_s, "duration")
    if wrong or not 0 < parse(bin_s, "duration") < float("inf"):
        problems.append(Problem("--bin", wrong or f'is "{bin_s}"; expected a time above 0'))
    try:
        size_distribution = read_sizes(sizes)
    except ScenarioError as error:
        problems += error.problems
    if problems:
        raise ScenarioError(problems)
    sampled = work(
        _read(options),
        size_distribution,
        rate_bps=rate,
        bin_s=parse(bin_s, "duration"),
        bins=bins,
        seed=seed,
    )
    write_series(sampled, series)
    if options["as_json"]:
        print_json(sampled.to_data())
    elif not options["quiet"]:
        click.echo(f"{text(sampled)}\n\nseries: {series}")
