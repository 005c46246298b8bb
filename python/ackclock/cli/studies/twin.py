"""The command ``ackclock twin``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ackclock._util.progress import Bar
from ackclock.cli import completion
from ackclock.cli.options import FILE, JSON, QUIET, SET, load_scenario, print_json

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.studies.twin.survey import TheorySurvey
    from ackclock.studies.twin.twin import Twin

__all__ = ["paper_survey", "twin"]


@click.command()
@click.argument("file", type=FILE, required=False)
@click.option(
    "--paper",
    shell_complete=completion.papers,
    metavar="PAPER",
    help="Compare packet-level runs of this paper, by its name or folder, in place of FILE.",
)
@click.option(
    "--tier",
    type=click.Choice(["first", "fast", "full"]),
    default="first",
    show_default=True,
    help="Of --paper: which of its runs; `first` is the smallest.",
)
@click.option(
    "--most",
    type=click.IntRange(min=1),
    default=100,
    show_default=True,
    help="Of --paper: compare at most this many runs, evenly spaced in the order of its studies.",
)
@SET
@JSON
@QUIET
def twin(
    file: Path | None,
    paper: str | None,
    tier: str,
    most: int,
    changes: tuple[str, ...],
    *,
    as_json: bool,
    quiet: bool,
) -> None:
    """Put theory beside a run: what closed forms predict for flows and links, and where they part.

    FILE is a scenario, which is run, or the folder of a run (`ackclock run --out`). Each law has a
    domain, outside of which it says nothing, and an accuracy. Where run and law part by more, a
    sentence says by how much, and what the law does not know of this run, timeouts say.

    With --paper, runs of a paper are compared, with one seed each, and laws are counted.
    """
    if (file is None) == (paper is None):
        raise click.UsageError("expected FILE or --paper PAPER")
    comparison: Twin | TheorySurvey
    if paper is not None:
        if changes:
            raise click.UsageError("--set is for FILE; a paper's runs are as its folder has them")
        comparison = paper_survey(paper, tier, most, with_bar=not quiet)
    else:
        assert file is not None
        comparison = _of_file(file, changes)
    if as_json:
        print_json(comparison.to_dict())
    else:
        click.echo(str(comparison))


def _of_file(file: Path, changes: tuple[str, ...]) -> Twin:
    from ackclock.studies.twin.twin import compare

    if not file.is_dir():
        return compare(load_scenario(file, changes))
    if changes:
        raise click.UsageError(f"--set: {file} is a run, which has been; name its scenario")
    from ackclock.scenario.load import load, load_run

    return compare(load(file / "scenario.toml"), load_run(file))


def paper_survey(paper: str, tier: str, most: int, *, with_bar: bool) -> TheorySurvey:
    """Run packet-level cases of a paper, with one seed each, beside the laws.

    Parameters
    ----------
    paper
        Name or folder.
    tier
        ``first``, ``fast`` or ``full``.
    most
        Runs at most, evenly spaced.
    with_bar
        Whether progress is.

    Raises
    ------
    AckclockError
        There is no such paper, or it is wrong.
    """
    from ackclock.reproduce.read.folder import read
    from ackclock.reproduce.run.studies import cases_of
    from ackclock.scenario.scenario import Scenario
    from ackclock.studies.twin.survey import TheorySurvey
    from ackclock.studies.twin.twin import compare

    every = [
        (label, case) for label, case in cases_of(read(paper), tier) if isinstance(case, Scenario)
    ]
    cases = every[:: -(-len(every) // most)] if every else []
    costs = [case.cost().cpu_s for _, case in cases]
    total, spent = sum(costs), 0.0
    survey = TheorySurvey()
    with Bar(f"{paper}: {len(cases)} runs", is_shown=with_bar) as update:
        for (label, case), cost in zip(cases, costs, strict=True):
            survey.add(label, compare(case))
            spent += cost
            update(spent / total)
    return survey
