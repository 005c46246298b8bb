"""What a sweep would do: points, runs, events, time; found before anything runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import working_time
from ackclock._util.text_table import table
from ackclock.errors import AckclockError, Problem, ScenarioError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.case import Case, Cost
    from ackclock.experiments.design import Design
    from ackclock.experiments.grid import Point
    from ackclock.experiments.store import Keeper

__all__ = [
    "LEAST_OF_SWEEP",
    "Plan",
    "Slot",
    "check_memory",
    "check_worker_memory",
    "plan",
    "prepare_points",
    "share_sample",
]

MOST_REPORTED = 10

GOLDEN = (5**0.5 - 1) / 2

SAMPLE, LEAST_OF_SWEEP = 45, 3
"""Points from which the time of several sweeps together is predicted, and the least of each: so
many take a few tenths of a second."""


def share_sample(sweeps: int) -> int:
    """Say from how many points each of several sweeps is predicted.

    Parameters
    ----------
    sweeps
        How many there are.
    """
    return max(LEAST_OF_SWEEP, SAMPLE // max(sweeps, 1))


@dataclass(frozen=True)
class Slot:
    """A place for one run: point, replicate, seed, and the key of the run that belongs there."""

    point: int
    replicate: int
    seed: int
    key: str


@dataclass(frozen=True)
class Plan:
    """What a sweep would do. Its text is the summary.

    Parameters
    ----------
    name
        Of the sweep.
    points
        Points of the grid.
    runs, at_most
        Runs that are sure, and runs there can be under sequential stopping.
    stored
        Of the sure runs, those that the store has.
    events, cpu_s
        Predicted for the sure runs that are not stored; times ``at_most / runs`` at the most.
    workers
        Runs at a time.
    axes
        Labels by axis.
    """

    name: str
    points: int
    runs: int
    at_most: int
    stored: int
    events: float
    cpu_s: float
    workers: int
    axes: dict[str, list[Any]]

    @property
    def seconds(self) -> float:
        """Predicted time until the sure runs are done [s]."""
        return self.cpu_s / self.workers

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, for JSON."""
        keys = ("name", "points", "runs", "at_most", "stored", "events", "cpu_s", "workers")
        return {**{key: getattr(self, key) for key in keys}, "seconds": self.seconds,
                "axes": self.axes}  # fmt: skip

    def __str__(self) -> str:
        rows = [
            [name, str(len(labels)), _join_words([str(label) for label in labels])]
            for name, labels in self.axes.items()
        ]
        runs = f"{self.runs:,} runs"
        if self.at_most > self.runs:
            runs = f"{self.runs:,} to {self.at_most:,} runs"
        stored = f", {self.stored:,} of them stored already" if self.stored else ""
        cost = (
            f"predicted: {self.events:,.0f} events, {working_time(self.cpu_s)} of one core,"
            f" about {working_time(self.seconds)} on {self.workers}"
        )
        if self.at_most > self.runs:
            cost += f"; at most {self.at_most / self.runs:.3g} times that"
        head = f"{self.name}: {self.points:,} points, {runs}{stored}"
        grid = [table(["axis", "values", ""], rows)] if rows else []
        return "\n\n".join([head, *grid, cost])


def _join_words(words: list[str], most: int = 6) -> str:
    if len(words) > most:
        words = [*words[: most - 2], "...", words[-1]]
    return ", ".join(words)


@dataclass(frozen=True)
class Prepared:
    """A point with its case compiled: fingerprint, predicted cost, and whether it has user code."""

    point: Point
    case: Case
    fingerprint: str
    cost: Cost
    holds_lock: bool


def prepare_points(
    sweep: Design, *, spills: bool = True, sample: Sequence[Point] | None = None
) -> list[Prepared]:
    """Check and compile points.

    Parameters
    ----------
    sweep
        The sweep.
    spills
        Whether large tables go to disk, as they do on this machine.
    sample
        The points, whose costs are then found roughly; left out: all.

    Raises
    ------
    ScenarioError
        With every problem and the points where it is, up to ten.
    """
    ready: list[Prepared] = []
    # Many points often have the same fault: it is reported once.
    wrong: dict[Problem, list[Point]] = {}
    is_rough = sample is not None
    for point in sweep.points if sample is None else sample:
        try:
            case = sweep.case_at(point, is_rough=is_rough)
            cost = case.cost(spills=spills, is_rough=is_rough)
            ready.append(Prepared(point, case, case.fingerprint, cost, case.holds_lock))
        except ScenarioError as error:
            for problem in error.problems:
                wrong.setdefault(problem, []).append(point)
    if wrong:
        file = None if sweep.file is None else str(sweep.file)
        reported = [
            Problem(p.path, f"{p.message} ({_where(points)})", file or p.file, p.trace)
            for p, points in wrong.items()
        ]
        more_problem = [Problem("", f"and {len(reported) - MOST_REPORTED} more problems")]
        raise ScenarioError(
            [*reported[:MOST_REPORTED], *(more_problem if len(reported) > MOST_REPORTED else ())]
        )
    return ready


def check_memory(points: list[Prepared], workers: int) -> None:
    """Refuse runs that together would need more memory than they may take.

    Parameters
    ----------
    points
        The points.
    workers
        Runs at a time.

    Raises
    ------
    AckclockError
        The largest runs of all workers exceed it.
    """
    from ackclock.scenario.memory import SHARE, allowed_bytes

    allowed = allowed_bytes()
    most = max((point.cost.needed_bytes(spills=True) for point in points), default=0.0)
    if most * workers <= allowed or most == 0:
        return
    message = (
        f"{workers} runs at a time would need up to {most * workers / 2**30:,.3g} GiB of memory, of"
        f" which {allowed / 2**30:,.3g} GiB may be used (--memory-share, {SHARE}); use --workers"
        f" {max(1, int(allowed / most))} or fewer flows"
    )
    raise AckclockError(message)


def check_worker_memory(points: list[Prepared], run_bytes: float) -> None:
    """Refuse a run that would need more memory than a worker of a cluster may use for it.

    Parameters
    ----------
    points
        The points.
    run_bytes
        Memory of the smallest worker for each of its threads [bytes].

    Raises
    ------
    AckclockError
        The largest run exceeds it.
    """
    from ackclock.scenario.memory import SHARE, memory_share

    allowed = memory_share() * run_bytes
    most = max(points, key=lambda point: point.cost.needed_bytes(spills=False), default=None)
    if most is None or (needed := most.cost.needed_bytes(spills=False)) <= allowed:
        return
    message = (
        f"a run would need about {needed / 2**30:,.3g} GiB of memory ({_where([most.point])}), of"
        f" which {allowed / 2**30:,.3g} GiB may be used on the smallest Dask worker for each of its"
        f" threads (--memory-limit of the worker; --memory-share, {SHARE}); start workers with more"
        " memory or fewer threads, record less, or simulate fewer flows"
    )
    raise AckclockError(message)


def _where(points: list[Point]) -> str:
    first = ", ".join(f"{name} = {label}" for name, label in points[0].labels.items())
    more = f", and at {len(points) - 1} more points" if len(points) > 1 else ""
    return f"at {first or 'the only point'}{more}"


def slot(sweep: Design, point: Prepared, replicate: int) -> Slot:
    """Name the run of a point and replicate.

    Parameters
    ----------
    sweep
        The sweep.
    point
        The point.
    replicate
        Counted from 0.
    """
    from ackclock.experiments.executors.task import run_key

    seed = sweep.case.seed + replicate
    case = point.case
    return Slot(point.point.index, replicate, seed, run_key(case, point.fingerprint, seed))


def spread_over(points: Sequence[Point], most: int) -> list[Point]:
    """Choose points all over a grid, without the rhythm of any of its axes.

    Parameters
    ----------
    points
        The grid, the last axis fastest.
    most
        How many are chosen at most.

    Returns
    -------
    list of Point
        In the order of the grid.
    """
    count = len(points)
    if count <= most:
        return list(points)
    # Multiples of the golden ratio leave no large gap, whatever their number.
    places = {int(count * (number * GOLDEN % 1)) for number in range(most)}
    return [points[place] for place in sorted(places)]


def plan(
    sweep: Design, workers: int | None, store: Keeper | None, most_points: int | None = None
) -> Plan:
    """Find out what a sweep would do.

    Parameters
    ----------
    sweep
        The sweep.
    workers
        Runs at a time; left out: one per core.
    store
        Where runs may be already.
    most_points
        Points that are compiled and predicted, roughly, for all others; left out: all, as exactly
        as can be.
    """
    from ackclock.experiments.executors.local import cores

    sample = None if most_points is None else spread_over(sweep.points, most_points)
    points = prepare_points(sweep, sample=sample)
    check_memory(points, workers or cores())
    reps = sweep.replicates
    keys = {
        slot(sweep, point, replicate).key: point.cost
        for point in points
        for replicate in range(reps.at_first)
    }
    stored_keys = store.find_stored(keys) if store is not None else set()
    left = [cost for key, cost in keys.items() if key not in stored_keys]
    scale = len(sweep.points) / max(len(points), 1)
    labels = {
        name: list(dict.fromkeys(row[column].label for row in block.rows))
        for block in sweep.grid
        for column, name in enumerate(block.names)
    }
    return Plan(
        name=sweep.name,
        points=len(sweep.points),
        runs=len(sweep.points) * reps.at_first,
        at_most=len(sweep.points) * reps.at_most,
        stored=round(len(stored_keys) * scale),
        events=sum(cost.events for cost in left) * scale,
        cpu_s=sum(cost.cpu_s for cost in left) * scale,
        workers=workers or cores(),
        axes=labels,
    )
