"""The command ``ackclock fluid``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ackclock.cli.options import JSON, print_json

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.studies.bottlenecks.survey import Survey

__all__ = ["fluid"]

MARKER = "survey.json"


@click.command()
@click.argument("network")
@click.option(
    "--demands",
    metavar="FILE",
    help="CSV: source, target, demand_bps and, for several matrices,"
    " time; or a file of SNDlib or Repetita. Left out: all pairs.",
)
@click.option("--at", metavar="TIME", help="Time to look at; left out: when most is demanded.")
@click.option("--leaves", is_flag=True, help="All pairs of nodes with one neighbour, not of all.")
@click.option("--rate", metavar="RATE", help="Capacity of links for which the file gives none.")
@click.option("--merge-parallel", is_flag=True, help="Add up links between the same two nodes.")
@click.option("--scale", type=float, default=1.0, show_default=True, help="Factor on demands.")
@click.option(
    "--fair-at",
    metavar="NODES",
    help='Only these nodes (a,b,"c, d") are max-min fair; the others share as FIFO does.',
)
@click.option(
    "--upgrade", type=click.IntRange(0), default=0, help="Find the best links to upgrade."
)
@click.option(
    "--factor",
    type=click.FloatRange(1.0, min_open=True),
    default=2.0,
    show_default=True,
    help="What an upgrade multiplies a link's capacity by.",
)
@click.option("--sender", default="naive", show_default=True, help="Senders of the map.")
@click.option("--map", "picture", metavar="FILE", help="Draw the network: .svg, .png or .pdf.")
@click.option(
    "--out", metavar="DIR", help="Write a page, survey.json, flows.csv, links.csv and map.svg."
)
@JSON
def fluid(
    network: str,
    *,
    demands: str | None,
    at: str | None,
    leaves: bool,
    rate: str | None,
    merge_parallel: bool,
    scale: float,
    fair_at: str | None,
    upgrade: int,
    factor: float,
    sender: str,
    picture: str | None,
    out: str | None,
    as_json: bool,
) -> None:
    """Survey a NETWORK: fair rates, bottlenecks, and what aggressive senders would do to it.

    NETWORK is a folder with edges.csv (source, target, capacity_bps) and, if wanted, nodes.csv; a
    CSV file of links; a file of GraphML, SNDlib (XML, native) or Repetita; or topohub:NAME. Links
    are full duplex. Flows take the first shortest path by the column weight, or of fewest links
    where there are no weights.
    """
    from ackclock._util.output_folder import may_replace
    from ackclock.errors import Problem, ScenarioError, suggestion
    from ackclock.studies.bottlenecks.survey import SENDERS, survey
    from ackclock.studies.bottlenecks.survey_text import text

    problems = []
    if sender not in SENDERS:
        problems.append(
            Problem("--sender", f'"{sender}" is not one; {suggestion(sender, SENDERS)}')
        )
    if not (scale > 0 and scale < float("inf")):
        problems.append(Problem("--scale", f"is {scale}; expected more than 0"))
    if leaves and demands is not None:
        problems.append(Problem("--leaves", "has no effect on --demands; expected one of them"))
    if at is not None and demands is None:
        problems.append(Problem("--at", "needs --demands with a column time"))
    if picture is not None and Path(picture).suffix not in (".svg", ".png", ".pdf"):
        problems.append(Problem("--map", f'"{picture}" should end in .svg, .png or .pdf'))
    if problems:
        raise ScenarioError(problems)
    if out is not None:
        may_replace(Path(out), MARKER)
    survey_result = survey(
        network,
        demands,
        rate=rate,
        merge_parallel=merge_parallel,
        scale=scale,
        leaves=leaves,
        fair_at=None if fair_at is None else _names(fair_at),
        upgrade=upgrade,
        factor=factor,
        time_name=at,
    )
    if picture is not None:
        from ackclock._util.command_line import command_line
        from ackclock.plot.style import save

        save(_draw_survey(survey_result, sender), picture, command=command_line())
    if out is not None:
        _save(survey_result, sender, Path(out))
    if as_json:
        print_json(survey_result.to_data())
    else:
        click.echo(text(survey_result))
        if out is not None:
            click.echo(f"\npage: {Path(out) / 'index.html'}")


def _names(text: str) -> list[str]:
    """Names with commas between them; one that has a comma is quoted."""
    import csv

    return [
        name.strip() for name in next(csv.reader([text], skipinitialspace=True)) if name.strip()
    ]


def _draw_survey(found: Survey, sender: str) -> Figure:
    from ackclock.studies.bottlenecks.maps import draw

    return draw(
        found.network.graph,
        found.links[sender],
        found.network.coordinates,
        title=f"{found.network.title}, {sender} senders",
        unit="bit/s",
    )


def _save(survey_result: Survey, sender: str, folder: Path) -> None:
    from pyarrow import csv

    from ackclock._util.command_line import command_line
    from ackclock._util.page import save_report
    from ackclock.plot.style import save
    from ackclock.studies.bottlenecks.survey_text import page

    figure = _draw_survey(survey_result, sender)

    def fill(at: Path) -> None:
        for name in ("flows", "links"):
            csv.write_csv(_plain(getattr(survey_result, name)), at / f"{name}.csv")
        save(figure, at / "map.svg", command=command_line())

    pages = {"index.html": page(survey_result, figure, command_line())}
    save_report(folder, MARKER, survey_result.to_data(), pages, fill)


def _plain(by_sender: dict[str, Any]) -> Any:
    """All senders' tables below each other, with a column ``sender``, without dictionaries."""
    import pyarrow as pa

    tables = []
    for sender, sender_table in by_sender.items():
        columns = {
            name: sender_table[name].cast(pa.string())
            if pa.types.is_dictionary(sender_table[name].type)
            else sender_table[name]
            for name in sender_table.column_names
        }
        tables.append(pa.table({"sender": pa.array([sender] * len(sender_table)), **columns}))
    return pa.concat_tables(tables)
