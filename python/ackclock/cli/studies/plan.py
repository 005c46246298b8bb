"""``ackclock plan``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import FILE, JSON, QUIET, print_json

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ackclock.studies.planner.answers import Answer
    from ackclock.studies.planner.situation import Situation

__all__ = ["plan"]


@click.group()
def plan() -> None:
    """Answer a network planner's questions: loads, failures, upgrades, weights, enforcement.

    NETWORK is a folder with edges.csv, a CSV file of links (source, target, capacity_bps,
    back_capacity_bps, weight, back_weight, srlg), a GraphML file, or topohub:NAME. Routes are
    shortest paths by weight; where several are equal, traffic is divided over them in equal parts.
    """


_INPUTS = (
    click.argument("network"),
    click.option("--demands", type=FILE, metavar="FILE", help="CSV: source, target, demand_bps"
                 " and, for several matrices, time."),
    click.option("--gravity", type=FILE, metavar="FILE", help="CSV: node, out_bps and, where it"
                 " differs, in_bps; demands follow by the gravity model."),
    click.option("--metric", default="weight", show_default=True,
                 type=click.Choice(["weight", "hops", "inverse-capacity"]),
                 help="What shortest paths add up."),
    click.option("--rate", metavar="RATE", help="Capacity of links for which the file gives none."),
    click.option("--merge-parallel", is_flag=True, help="Add up links between the same two nodes."),
    click.option("--scale", type=click.FloatRange(0, min_open=True), default=1.0,
                 show_default=True, help="Factor on demands."),
    click.option("--out", type=FILE, metavar="DIR", help="Write a page, a map and the numbers."),
    click.option("--map", "picture", type=FILE, metavar="FILE", help="Draw the network: .svg, .png"
                 " or .pdf."),
    JSON,
    QUIET,
)  # fmt: skip
_AT = click.option("--at", metavar="TIME", help="Time to look at; left out: when most is demanded.")
_MEMORY = click.option(
    "--memory", type=click.IntRange(1), default=1024, show_default=True, metavar="MB",
    help="For loads under failures; with less, it takes longer.",
)  # fmt: skip


def _inputs(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_INPUTS):
        command = option(command)
    return command


def _answer(
    options: dict[str, Any], find: Callable[[Situation, Callable[[float], None]], Answer]
) -> None:
    """Read the inputs, find the answer with a progress bar, and print, draw and write it."""
    from ackclock._util.command_line import command_line
    from ackclock._util.output_folder import may_replace
    from ackclock._util.progress import Bar
    from ackclock.errors import Problem, ScenarioError
    from ackclock.studies.planner.answers import text
    from ackclock.studies.planner.page import Report, picture
    from ackclock.studies.planner.situation import read_situation

    out: Path | None = options["out"]
    drawing: Path | None = options["picture"]
    if drawing is not None and drawing.suffix not in (".svg", ".png", ".pdf"):
        message = f'"{drawing}" should end in .svg, .png or .pdf'
        raise ScenarioError([Problem("--map", message)])
    if out is not None:
        may_replace(out, Report.MARKER)
    situation = read_situation(
        options["network"],
        demands=options["demands"],
        gravity_file=options["gravity"],
        at=options.get("at"),
        metric=options["metric"],
        rate=options["rate"],
        merge_parallel=options["merge_parallel"],
        scale=options["scale"],
    )
    silent = options["quiet"] or options["as_json"]
    with Bar("planning", shown=not silent) as progress:
        found = find(situation, progress)
    if drawing is not None:
        picture(found).savefig(drawing, dpi=150)
    page = None if out is None else Report(found).save(out, command=command_line())
    if options["as_json"]:
        print_json(found.to_data())
    elif not options["quiet"]:
        click.echo(text(found))
        if page is not None:
            click.echo(f"\npage: {page}")


@plan.command()
@_inputs
def load(**options: Any) -> None:
    """Find how busy links are, and over several times their 95th percentile."""
    from ackclock.studies.planner.utilisation import utilisation

    _answer(options, utilisation)


@plan.command()
@_inputs
@_AT
@click.option(
    "--of", "kind", type=click.Choice(["links", "nodes", "risk-groups", "pairs"]), default="links",
    show_default=True, help="What fails: each alone, or each two links.",
)  # fmt: skip
@click.option(
    "--fail", multiple=True, metavar="NAME",
    help="Fail this node, link (a - b) or risk group; several fail together.",
)  # fmt: skip
@_MEMORY
def failures(*, kind: str, fail: tuple[str, ...], memory: int, **options: Any) -> None:
    """Find what breaks when links, nodes or risk groups fail."""
    from ackclock.studies.planner.failures import named, survey

    _answer(
        options,
        lambda situation, progress: survey(
            situation,
            kind,  # type: ignore[arg-type]  # click checks it
            failed=[named(situation, fail)] if fail else None,
            memory=memory << 20,
            progress=progress,
        ),
    )


@plan.command()
@_inputs
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
@_MEMORY
def upgrades(*, goal: str, count: int, factor: float, memory: int, **options: Any) -> None:
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
            progress=progress,
        ),
    )


@plan.command()
@_inputs
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
@_inputs
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
def enforce(
    *, count: int, hoses: float, push: float, draws: int, seed: int, **options: Any
) -> None:
    """Find the routers at which fair queueing saves most if traffic turns to fire hoses."""
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
