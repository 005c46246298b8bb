"""Looks for columns that queries name and studies do not have, before anything long is run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.read.folder import PaperError
from ackclock.reproduce.run.database import Database

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    import pyarrow as pa

    from ackclock.errors import Problem
    from ackclock.experiments.sweeps import Sweep
    from ackclock.reproduce.paper import PaperData
    from ackclock.reproduce.run.studies import RunOptions

__all__ = ["probe"]


def probe(
    paper: PaperData,
    sweeps: Mapping[str, Sweep],
    queries: Iterable[tuple[Path, str, str]],
    options: RunOptions,
) -> None:
    """Run the first point of each study once, and bind every query to its columns.

    The runs go into the store like all others, so nothing is run twice.

    Parameters
    ----------
    paper
        The paper.
    sweeps
        Its studies that are to be run.
    queries
        File, place and text of each query.
    options
        Where and how runs happen.

    Raises
    ------
    PaperError
        Queries name tables or columns that there are not; all are reported.
    """
    database = Database(paper)
    for name, sweep in sweeps.items():
        database.add(name, _first(sweep, options))
    problems: list[Problem] = []
    for file, key_path, text in queries:
        if all(study in sweeps for study in studies_of(paper, text)):
            problems += _wrong(database, text, file, key_path)
    if problems:
        raise PaperError(problems)


def _wrong(database: Database, text: str, file: Path, place: str) -> Iterator[Problem]:
    try:
        database.columns(text, file, place)
    except PaperError as error:
        yield from error.problems


def _first(sweep: Sweep, options: RunOptions) -> dict[str, pa.Table]:
    """Tables of the first point, with a column for each axis."""
    import pyarrow as pa

    from ackclock._util.labels import own_name
    from ackclock.experiments.design import Replicates
    from ackclock.experiments.sweeps import Sweep
    from ackclock.reproduce.run.studies import tables_of

    point = sweep.points[0]
    first_run = Sweep(sweep.case_at(point), (), Replicates(1), name=sweep.name)
    result = first_run.run(workers=1, store=options.store, progress=False, command=options.command)
    if result.interrupted:
        raise KeyboardInterrupt
    labels = {axis: _column(sweep, axis) for axis in sweep.axes}
    tables = {}
    for name, table in tables_of(result).items():
        column_names = [
            own_name(name, title) if title in labels else title for title in table.column_names
        ]
        labelled = table.rename_columns(column_names)
        for axis, column in labels.items():
            labelled = labelled.append_column(axis, column.take(pa.array([0] * table.num_rows)))
        tables[name] = labelled
    return tables


def _column(sweep: Sweep, axis: str) -> Any:
    """Labels of an axis, typed as in the tidy tables of the whole sweep."""
    from ackclock._util.labels import label_column

    return label_column([point.labels[axis] for point in sweep.points])
