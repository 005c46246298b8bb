"""The command ``ackclock plot``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock.cli import completion
from ackclock.cli.options import FILE

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from ackclock.plot import Shape

__all__ = ["plot"]


@click.command()
@click.argument("sources", metavar="PLACE...", type=FILE, nargs=-1, required=True)
@click.option(
    "--kind",
    required=True,
    shell_complete=completion.figures,
    help="Of runs: cwnd, throughput, queue, queue-delay, rtt, delay, fairness, sequence, states,"
    " ledger or map. Of a store: lines, heatmap, ranked, ecdf or pareto.",
)
@click.option("--out", type=FILE, required=True, metavar="FILE", help="SVG, PNG or PDF.")
@click.option("--flow", "flows", multiple=True, help="Only this flow; may be repeated.")
@click.option("--link", "links", multiple=True, help="Only this link; may be repeated.")
@click.option("--since", metavar="TIME", help="Of runs: show the time from here, as '5 s'.")
@click.option("--until", metavar="TIME", help="Of runs: show the time up to here.")
@click.option("--title", metavar="TEXT", help="In place of the figure's title.")
@click.option("--size", metavar="WxH", help="In inches, as 7.2x4.")
@click.option("--x-label", metavar="TEXT", help="In place of the label of the horizontal axis.")
@click.option("--y-label", metavar="TEXT", help="In place of the label of the vertical axis.")
@click.option("--metric", help="Of a store: one number per run, as mean(flows.goodput_bps).")
@click.option("--x", metavar="AXIS", help="Of a store: along this axis.")
@click.option("--by", metavar="AXIS", help="Of a store: a curve, row or point for each label.")
@click.option("--between", metavar="AXIS", help="Of a store: the axis that is ranked.")
@click.option("--delay", metavar="METRIC", help="Of a store, pareto: what is to be small.")
@click.option("--throughput", metavar="METRIC", help="Of a store, pareto: what is to be large.")
@click.option("--sweep", metavar="NAME", help="Of a store: its sweep, if there are several.")
@click.option(
    "--where",
    "filters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Of a store: only these runs; see `ackclock results list`. May be repeated.",
)
@click.option("--all", "hidden", is_flag=True, help="Of a store: also runs of evaluate and others.")
def plot(
    sources: tuple[Path, ...],
    kind: str,
    out: Path,
    flows: tuple[str, ...],
    links: tuple[str, ...],
    sweep: str | None,
    filters: tuple[str, ...],
    since: str | None,
    until: str | None,
    title: str | None,
    size: str | None,
    x_label: str | None,
    y_label: str | None,
    *,
    hidden: bool,
    **options: str | None,
) -> None:
    """Draw a figure of a run bundle, of several over each other, or of a sweep in a store.

    PLACE is the folder of a run bundle, several of them for one figure, or the folder of a store.
    The recipe of the figure travels in its file.
    """
    from ackclock import plot as plots
    from ackclock._util.command_line import command_line

    shape = _read_shape(since, until, title, size, x_label, y_label)
    stated_options = [f"--{name}" for name, value in options.items() if value is not None]
    stated_options += (
        ["--sweep"] * (sweep is not None) + ["--where"] * bool(filters) + ["--all"] * hidden
    )
    if len(sources) == 1 and (sources[0] / "store.json").is_file():
        if flows or links:
            raise click.UsageError("--flow and --link are for figures of runs")
        figure = _of_store(sources[0], kind, sweep, filters, options, hidden=hidden)
        shape.apply(figure, kind)
    else:
        if stated_options:
            raise click.UsageError(f"{', '.join(stated_options)}: only for figures of a store")
        figure = _of_runs(sources, kind, flows, links, shape)
    plots.save(figure, out, command=command_line())
    click.echo(f"wrote {out}")


def _read_shape(
    since: str | None,
    until: str | None,
    title: str | None,
    size: str | None,
    x_label: str | None,
    y_label: str | None,
) -> Shape:
    from ackclock.plot import Shape

    width = height = None
    if size is not None:
        try:
            width, height = (float(number) for number in size.lower().split("x"))
        except ValueError:
            message = f"--size is {size!r}; expected two numbers of inches, as 7.2x4"
            raise click.UsageError(message) from None
    return Shape(
        _read_time("--since", since), _read_time("--until", until), title, width, height,
        x_label, y_label,
    )  # fmt: skip


def _read_time(option: str, text: str | None) -> float | None:
    from ackclock._util import units

    if text is None:
        return None
    if problem := units.quantity_problem(text, "duration"):
        raise click.UsageError(f"{option}: {problem}")
    return units.parse(text, "duration")


def _of_runs(
    paths: tuple[Path, ...],
    kind: str,
    flows: tuple[str, ...],
    links: tuple[str, ...],
    shape: Shape,
) -> Figure:
    from ackclock import plot as plots
    from ackclock.scenario.load import load_run

    flow_names, among = list(flows) or None, list(links) or None
    if len(paths) == 1:
        return plots.draw(kind, load_run(paths[0]), flows=flow_names, links=among, shape=shape)
    names = [path.name for path in paths]
    if len(set(names)) < len(names):
        names = [str(path) for path in paths]
    if len(set(names)) < len(names):
        raise click.UsageError("a run is named twice")
    runs = {name: load_run(path) for name, path in zip(names, paths, strict=True)}
    return plots.overlay(kind, runs, flows=flow_names, links=among, shape=shape)


def _of_store(
    path: Path,
    kind: str,
    sweep: str | None,
    filters: tuple[str, ...],
    options: dict[str, str | None],
    *,
    hidden: bool,
) -> Figure:
    from ackclock.experiments.store import Store
    from ackclock.experiments.stored import stored_result

    return stored_result(Store(path), sweep, filters, hidden=hidden).plot(kind, **options)
