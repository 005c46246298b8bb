"""The sweep: a case, a grid over it, replications. Lazy until it is run."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from ackclock.case import Case
from ackclock.engines import registry
from ackclock.errors import Problem, ScenarioError
from ackclock.experiments.design import Replicates
from ackclock.experiments.grid import Block, Choice, Point, SweepError, blocks, points

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ackclock.experiments.plan import Plan
    from ackclock.experiments.result import SweepResult
    from ackclock.experiments.statistics import Precision
    from ackclock.experiments.status_line import Status
    from ackclock.experiments.store import Keeper, Place

__all__ = ["Sweep", "sweep"]


class Sweep:
    """A case, a grid over it, and replications.

    Replicate ``r`` of every point has the seed of the case plus ``r``: compared points share their
    random numbers. A case whose results do not depend on the seed is run once per point.

    Parameters
    ----------
    case
        What the grid changes.
    grid
        Blocks that multiply; see `ackclock.experiments.grid`.
    replicates
        How often each point is repeated.
    name
        A title; left out: that of the case.
    metrics
        Metrics that a report of the sweep shows.
    file
        The sweep file, for messages.
    """

    def __init__(
        self,
        case: Case,
        grid: Sequence[Block],
        replicates: Replicates,
        *,
        name: str = "",
        metrics: Sequence[str] = (),
        file: Path | None = None,
    ) -> None:
        self.case = case
        self.grid = tuple(grid)
        self.replicates = replicates if case.is_random else Replicates(1)
        self.name = name or case.name or "sweep"
        self.metrics = tuple(metrics)
        self.file = file
        self._cases: dict[int, Case] = {}
        self._paths_exist()

    @property
    def axes(self) -> tuple[str, ...]:
        """Names of the axes, in the order of the grid."""
        return tuple(name for block in self.grid for name in block.names)

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every point of the grid."""
        return tuple(points(self.grid))

    def case_at(self, point: Point, *, is_rough: bool = False) -> Case:
        """Make the case of a point, checked.

        Parameters
        ----------
        point
            One of `points`.
        is_rough
            Whether only its rough cost is wanted, which is its check.

        Raises
        ------
        ScenarioError
            The values of the point do not make a case.
        """
        if is_rough:
            return self.case.replace(**point.changes)
        if point.index not in self._cases:
            case = self.case.replace(**point.changes)
            case.check(spills=True)
            self._cases[point.index] = case
        return self._cases[point.index]

    def _paths_exist(self) -> None:
        """Try each choice, so that a wrong path or value is reported before anything else happens.

        One that is wrong alone may be right together with the other axes, as a flow's new field
        with the flows of another axis; so it is tried with the first choices of these too.
        """
        first = [block.rows[0] for block in self.grid]
        errors_by_names: dict[str, ScenarioError] = {}
        for index, block in enumerate(self.grid):
            for row in block.rows:
                error = self._wrong([row]) and self._wrong(
                    [*first[:index], row, *first[index + 1 :]]
                )
                if error is not None:
                    names = zip(block.names, row, strict=True)
                    where = ", ".join(f'axis "{name}", {choice.label}' for name, choice in names)
                    errors_by_names.setdefault(" ".join(block.names), self._at_point(error, where))
        if errors_by_names:
            raise ScenarioError(
                [problem for error in errors_by_names.values() for problem in error.problems]
            )

    def _wrong(self, rows: Sequence[Sequence[Choice]]) -> ScenarioError | None:
        try:
            self.case.replace(
                **{path: v for row in rows for choice in row for path, v in choice.changes.items()}
            )
        except ScenarioError as error:
            return error
        return None

    def _at_point(self, error: ScenarioError, where: str) -> ScenarioError:
        file = None if self.file is None else str(self.file)
        return ScenarioError(
            [
                Problem(p.path, f"{p.message} ({where})", file or p.file, p.trace)
                for p in error.problems
            ]
        )

    def plan(
        self,
        workers: int | None = None,
        store: Keeper | None = None,
        most_points: int | None = None,
    ) -> Plan:
        """Say what would run: points, runs, events, time. Nothing is run.

        Parameters
        ----------
        workers
            Runs at a time; left out: one per core.
        store
            If given, runs that it has are counted as done.
        most_points
            Points from which all are predicted, roughly; left out: each is, and checked.

        Raises
        ------
        ScenarioError
            A point of the grid is not a case; every wrong point is reported, up to ten.
        """
        from ackclock.experiments.plan import plan

        return plan(self, workers, store, most_points)

    def run(
        self,
        *,
        workers: int | None = None,
        cluster: object | None = None,
        store: Place = None,
        progress: bool | Callable[[Status], object] = True,
        command: str | None = None,
    ) -> SweepResult:
        """Run what the store does not have, and give all results.

        Parameters
        ----------
        workers
            Runs at a time on this machine; left out: one per core.
        cluster
            Address of a Dask scheduler, as ``tcp://host:port``, or a ``distributed.Client``.
        store
            Folder that keeps the runs; left out: ``$ACKCLOCK_STORE`` or ``ackclock-store`` in the
            current folder; False: nowhere, results are in memory, large recorded tables in a
            temporary folder, as long as they are used.
        progress
            Show a bar on a terminal and lines at growing intervals elsewhere; or a function that
            receives the state a few times a second.
        command
            What the user typed, for the provenance.

        Returns
        -------
        SweepResult
            Tidy tables. After Ctrl-C, of what had finished: see ``interrupted``.

        Raises
        ------
        ScenarioError
            A point is wrong; nothing was run.
        AckclockError
            The store or the cluster cannot be used; what had finished is kept.
        """
        from ackclock.experiments.scheduler import run

        return run(
            self,
            workers=workers,
            cluster=cluster,
            store=store,
            progress=progress,
            command=command,
        )

    def _repr_html_(self) -> str:
        from ackclock._util.html_table import fragment, html_table

        rows = []
        for axis in self.axes:
            labels = dict.fromkeys(point.labels.get(axis) for point in self.points)
            rows.append([axis, ", ".join(str(label) for label in labels if label is not None)])
        return fragment(repr(self), html_table(["axis", "values"], rows))

    def __repr__(self) -> str:
        sizes = " x ".join(str(len(block.rows)) for block in self.grid) or "1"
        return f"Sweep({self.name!r}, {sizes} points over {', '.join(self.axes) or 'nothing'})"


def sweep(
    case: Case | Mapping[str, Any],
    over: Mapping[str, Any] | None = None,
    *,
    zipped: Sequence[Mapping[str, Any]] = (),
    listed: Sequence[Mapping[str, Any]] = (),
    reps: int | None = None,
    until: Precision | None = None,
    name: str = "",
    metrics: Sequence[str] = (),
) -> Sweep:
    """Describe a sweep: a grid over any path of a case, times replications.

    ``over``, the groups of ``zipped``, and ``listed`` multiply with each other.

    Parameters
    ----------
    case
        A `Scenario`, a case of another engine, or a document of one.
    over
        Axes: values by path, as in ``{"net.buffer": ["0.5 bdp", "1 bdp"]}``. An `Axis` in place
        of the list gives labels, and then the key is a short name.
    zipped
        Groups of such axes of equal length; the axes of a group move together.
    listed
        Points one by one, as values by path; ``label`` names a point.
    reps
        Replicates of each point, at least 1; left out: 1.
    until
        In place of ``reps``: repeat each point until a metric is known well enough.
    name
        A title; left out: that of the case.
    metrics
        Metrics that a report of the sweep shows.

    Returns
    -------
    Sweep
        Nothing is run before its method ``run``.

    Raises
    ------
    SweepError
        The grid is wrong: an empty axis, a name twice, both reps and until.
    ScenarioError
        A path leads nowhere, or takes no such value.
    """
    if isinstance(case, dict):
        case = registry.case(case)
    assert isinstance(case, Case)
    if reps is not None and until is not None:
        raise SweepError("both reps and until are given; expected one of them")
    replicates = Replicates(1 if reps is None else reps, until)
    grid = blocks(over or {}, zipped, listed)
    return Sweep(case, grid, replicates, name=name, metrics=metrics)
