"""Runs a sweep: gives tasks to an executor, keeps what comes back, decides what is still wanted."""

from __future__ import annotations

import math
import time
from collections import deque
from contextlib import ExitStack
from typing import TYPE_CHECKING

from ackclock.errors import AckclockError
from ackclock.experiments.executors import executor
from ackclock.experiments.executors.local import cores
from ackclock.experiments.executors.task import ExecutorLostError, ProcessDiedError, Request, Task
from ackclock.experiments.metric_check import check_metrics
from ackclock.experiments.metrics import of_run
from ackclock.experiments.plan import (
    Prepared,
    Slot,
    check_memory,
    check_worker_memory,
    prepare_points,
    slot,
)
from ackclock.experiments.result import SweepResult
from ackclock.experiments.status_line import Status, show_status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from ackclock.experiments.design import Design
    from ackclock.experiments.executors.task import Executor, Finished, RunRecord
    from ackclock.experiments.grid import Label
    from ackclock.experiments.store import Keeper, Place

__all__ = ["run"]

TASK_S = 0.1
"""Predicted time that short runs are put together to [s]: long beside the cost of a task, short
beside the time between two looks at the progress."""

MOST_IN_TASK = 64

MOST_NAMED = 10
"""Most runs that a message names."""

WAIT_S = 0.5
"""Time between two looks at what another sweep has done [s]."""


class Agenda:
    """The slots in the order of replicates, and what each finished run adds to them.

    Parameters
    ----------
    sweep
        The sweep.
    keeper
        Where runs may be already.
    spills
        Whether large tables of runs go to disk.
    """

    def __init__(self, sweep: Design, keeper: Keeper, *, spills: bool = True) -> None:
        self.sweep = sweep
        self.keeper = keeper
        self.points = prepare_points(sweep, spills=spills)
        self.until = sweep.replicates.until
        self.slots: list[Slot] = []
        self.finished: set[str] = set()
        self.wanted_keys: set[str] = set()
        self.stored = 0
        self.left_cpu_s = 0.0
        self._queue: deque[tuple[str, Prepared, int]] = deque()
        self._number = 0
        # Runs that another sweep on the same store is doing.
        self._elsewhere: list[tuple[str, Prepared, int]] = []
        self._of_point: list[list[Slot]] = [[] for _ in self.points]
        self._values: dict[str, float] = {}
        self._points_of: dict[str, set[int]] = {}
        first = sweep.replicates.at_first
        # All points of a replicate before the next replicate: early results span the whole grid.
        self._want([(point, r) for r in range(first) for point in self.points])

    def _want(self, point_replicates: list[tuple[Prepared, int]]) -> None:
        point_slots = [
            (point, slot(self.sweep, point, replicate)) for point, replicate in point_replicates
        ]
        fresh = {s.key for _, s in point_slots} - self.wanted_keys
        stored_keys = self.keeper.find_stored(fresh) if fresh else set()
        self.stored += len(stored_keys)
        self.finished |= stored_keys
        for point, point_slot in point_slots:
            self.slots.append(point_slot)
            self._of_point[point.point.index].append(point_slot)
            self._points_of.setdefault(point_slot.key, set()).add(point.point.index)
            if point_slot.key not in self.wanted_keys:
                self.wanted_keys.add(point_slot.key)
                if point_slot.key not in stored_keys:
                    self._queue.append((point_slot.key, point, point_slot.seed))
                    self.left_cpu_s += point.cost.cpu_s
        if self.until is not None and stored_keys:
            self._read(stored_keys)
            for index in sorted({point.point.index for point, _ in point_slots}):
                self._decide(index)

    def _read(self, keys: set[str]) -> None:
        assert self.until is not None
        places = [s for s in self.slots if s.key in keys]
        result = SweepResult(self.sweep, places, self.keeper, requested=len(places))
        for place, value in zip(places, result.per_run(self.until.metric), strict=True):
            self._values[place.key] = value

    def took(self, record: RunRecord) -> None:
        """Take note of a finished run; its point may want more.

        Parameters
        ----------
        record
            The run.
        """
        self.finished.add(record.key)
        self.left_cpu_s -= self.predict_s(record.key)
        if self.until is not None:
            self._values[record.key] = of_run(self.until.metric, record.summary, record.tables)
            for index in sorted(self._points_of[record.key]):
                self._decide(index)

    def _decide(self, index: int) -> None:
        """Request more replicates, if needed, once all requested ones are there."""
        assert self.until is not None
        places = self._of_point[index]
        if any(place.key not in self.finished for place in places):
            return
        values = [self._values[place.key] for place in places]
        more = range(len(values), self.until.count_replicates(values))
        if more:
            self._want([(self.points[index], replicate) for replicate in more])

    def tasks(self, pace: Callable[[float], float]) -> Iterator[Task]:
        """Give what is not done yet, short runs together; ends when nothing is queued for now.

        Parameters
        ----------
        pace
            Corrects a predicted time by what was measured.
        """
        while self._queue:
            batch: list[tuple[str, Prepared, int]] = []
            total = 0.0
            while self._queue and len(batch) < MOST_IN_TASK:
                cost = pace(self._queue[0][1].cost.cpu_s)
                if batch and total + cost > TASK_S:
                    break
                total += cost
                batch.append(self._queue.popleft())
            ours = self.keeper.claim([key for key, _, _ in batch])
            self._elsewhere += [item for item in batch if item[0] not in ours]
            requests = tuple(
                Request(key, self.sweep.case_at(point.point), seed)
                for key, point, seed in batch
                if key in ours
            )
            if requests:
                self._number += 1
                yield Task(self._number, requests, len(self._queue))

    def skip_task(self, finished: Finished) -> None:
        """Queue the runs of a task again that came after the one that failed.

        Parameters
        ----------
        finished
            The task.
        """
        assert finished.failed is not None
        self.left_cpu_s -= self.predict_s(finished.failed.key)
        requests = finished.task.requests
        for request in requests[requests.index(finished.failed) + 1 :]:
            point = self.points[min(self._points_of[request.key])]
            self._queue.append((request.key, point, request.seed))

    def wait_for_others(self) -> bool:
        """Look what another sweep has done of the runs that we left to it.

        Returns
        -------
        bool
            Whether there is still something to wait for or to do.
        """
        stored_keys = self.keeper.find_stored([key for key, _, _ in self._elsewhere])
        self.stored += len(stored_keys)
        self.finished |= stored_keys
        finished_elsewhere = [item for item in self._elsewhere if item[0] in stored_keys]
        self.left_cpu_s -= sum(point.cost.cpu_s for _, point, _ in finished_elsewhere)
        self._queue.extend(item for item in self._elsewhere if item[0] not in stored_keys)
        self._elsewhere = []
        if self.until is not None and stored_keys:
            self._read(stored_keys)
            for index in sorted({i for key in stored_keys for i in self._points_of[key]}):
                self._decide(index)
        return bool(self._queue)

    def predict_s(self, key: str) -> float:
        """Give the predicted time of a run [s].

        Parameters
        ----------
        key
            Of the run.
        """
        return max(self.points[index].cost.cpu_s for index in self._points_of[key])

    def labels(self, key: str) -> Mapping[str, Label]:
        """Give the labels of the first point that a run belongs to.

        Parameters
        ----------
        key
            Of the run.
        """
        return self.points[min(self._points_of[key])].point.labels

    def describe(self, key: str) -> str:
        """Say where in the grid a run is.

        Parameters
        ----------
        key
            Of the run.
        """
        labels = self.labels(key)
        return ", ".join(f"{name} = {label}" for name, label in labels.items()) or self.sweep.name

    @property
    def done_slots(self) -> list[Slot]:
        """Places whose run is done, by point and replicate."""
        found = [place for place in self.slots if place.key in self.finished]
        return sorted(found, key=lambda place: (place.point, place.replicate))


class Pace:
    """How fast it goes: measured over predicted time of a run, to correct predictions."""

    def __init__(self) -> None:
        self.predicted = 0.0
        self.measured = 0.0

    def take(self, predicted: float, measured: float) -> None:
        """Take note of runs.

        Parameters
        ----------
        predicted, measured
            Their time [s].
        """
        self.predicted += predicted
        self.measured += measured

    def __call__(self, predicted: float) -> float:
        return predicted * self.measured / self.predicted if self.predicted > 0 else predicted


def run(
    sweep: Design,
    *,
    workers: int | None,
    cluster: object | None,
    store: Place,
    progress: bool | Callable[[Status], object],
    command: str | None,
) -> SweepResult:
    """Run a sweep; see `Sweep.run`.

    Parameters
    ----------
    sweep, workers, cluster, store, progress, command
        As there.
    """
    from ackclock.catalogue.class_loading import before_run
    from ackclock.experiments.store import Store, open_keeper

    before_run()
    with ExitStack() as stack:
        keeper = stack.enter_context(open_keeper(store))
        if isinstance(keeper, Store):
            keeper.describe({"sweep": sweep.name, "command": command})
        agenda = Agenda(sweep, keeper, spills=cluster is None)
        check_metrics(sweep)
        # User code at any point goes to other processes, and all runs with it.
        locking = next((point.point for point in agenda.points if point.holds_lock), None)
        sample = None if locking is None else sweep.case_at(locking)
        report = stack.enter_context(show_status(progress))
        drive = _Drive(sweep, agenda, keeper, report)
        interrupted = False
        try:
            if agenda.finished != agenda.wanted_keys:
                if cluster is None:
                    check_memory(agenda.points, workers or cores())
                with executor(workers, cluster, sample, keeper.pieces) as works:
                    try:
                        drive.go(works)
                    except KeyboardInterrupt:
                        drive.keep(works.stop())
                        raise
                    except ExecutorLostError as error:
                        keeper.flush()
                        count_text = f"{len(agenda.finished):,} of {len(agenda.wanted_keys):,}"
                        again = "the same sweep goes on from there when it is started again"
                        raise ExecutorLostError(
                            f"{error}; {count_text} runs are kept, {again}"
                        ) from None
        except KeyboardInterrupt:
            interrupted = True
        finally:
            keeper.flush()
        return SweepResult(
            sweep,
            agenda.done_slots,
            keeper,
            requested=len(agenda.slots),
            stored=agenda.stored,
            seconds=time.monotonic() - drive.began,
            interrupted=interrupted,
        )


class _Drive:
    def __init__(
        self, sweep: Design, agenda: Agenda, keeper: Keeper, report: Callable[[Status], object]
    ) -> None:
        self.sweep = sweep
        self.agenda = agenda
        self.keeper = keeper
        self.report = report
        self.began = time.monotonic()
        self.finished = 0
        self.pace = Pace()
        self.failed: Finished | None = None
        self.died: list[Finished] = []
        self._run_bytes = math.inf

    def go(self, works: Executor) -> None:
        tasks: Iterator[Task] = iter(())
        flying: set[int] = set()
        last_report = 0.0
        idle = False
        while True:
            # Workers of a cluster come and go.
            self._check_memory(works.run_bytes)
            while self.failed is None and len(flying) < self._most_flying(works):
                task = next(tasks, None)
                if task is None:
                    tasks = self.agenda.tasks(self.pace)
                    task = next(tasks, None)
                if task is None:
                    break
                works.submit(task)
                flying.add(task.number)
            if not flying:
                if not self.agenda.wait_for_others():
                    break
                if idle:
                    time.sleep(WAIT_S)
                idle = True
                continue
            idle = False
            for finished in works.ready(0.2):
                flying.discard(finished.task.number)
                self._take(finished)
            if self.failed is not None and not any(n < self.failed.task.number for n in flying):
                self._raise(self.failed)
            if time.monotonic() - last_report > 0.1:
                last_report = time.monotonic()
                self.report(self._status(works))
        self.report(self._status(works))
        if self.died:
            raise ProcessDiedError(self._describe_deaths())

    def _check_memory(self, run_bytes: float) -> None:
        if run_bytes < self._run_bytes:
            check_worker_memory(self.agenda.points, run_bytes)
            self._run_bytes = run_bytes

    def _describe_deaths(self) -> str:
        """Name the runs that ended their processes, and say what is kept."""
        requests = [request for died in self.died if (request := died.failed) is not None]
        named = [f"{self.agenda.describe(r.key)}, seed {r.seed}" for r in requests[:MOST_NAMED]]
        more = len(requests) - len(named)
        names = "; ".join(named) + (f"; and {more} more" if more else "")
        kept = len(self.agenda.finished)
        return f"{names}: {self.died[0].error} ({kept} of {len(self.agenda.wanted_keys)} runs kept)"

    def keep(self, every: list[Finished]) -> None:
        """Keep the runs of tasks that were stopped.

        Parameters
        ----------
        every
            What the executor gave at its end.
        """
        for finished in every:
            self._keep(finished)

    def _most_flying(self, works: Executor) -> int:
        # One task waits for each that runs, so that no worker waits for this loop.
        return max(2, 2 * works.parallel)

    def _take(self, finished: Finished) -> None:
        self._keep(finished)
        if finished.error is None:
            return
        if finished.failed is None or isinstance(finished.error, KeyboardInterrupt):
            self._raise(finished)
        if isinstance(finished.error, ProcessDiedError):
            # Nothing is known against the other runs: the sweep goes on, and reports it at its end.
            self.died.append(finished)
            self.agenda.skip_task(finished)
            return
        # Reported is the first run in order that fails, whichever comes back first: what was
        # submitted before it is waited for, and nothing more is begun.
        if self.failed is None or finished.task.number < self.failed.task.number:
            self.failed = finished

    def _keep(self, finished: Finished) -> None:
        cases = {request.key: request.case for request in finished.task.requests}
        for record in finished.records:
            try:
                # Reads its tables, which belong to the keeper after that.
                self.agenda.took(record)
            finally:
                self.keeper.add(record, cases[record.key], self.agenda.labels(record.key))
            self.finished += 1
            self.pace.take(self.agenda.predict_s(record.key), record.cpu_s)

    def _raise(self, finished: Finished) -> None:
        error, request = finished.error, finished.failed
        assert error is not None
        if request is not None and not isinstance(error, KeyboardInterrupt):
            where = f"{self.agenda.describe(request.key)}, seed {request.seed}"
            note = f"in the run {where}"
            error.add_note(note)
            if isinstance(error, AckclockError):
                error.args = (f"{where}: {error}", *error.args[1:])
            # What a user-defined class raised in another process comes back as text.
            report = getattr(error, "__ackclock_report__", None)
            if report is not None:
                error.__ackclock_report__ = f"{report}\n{note}"  # type: ignore[attr-defined]
        raise error

    def _status(self, works: Executor) -> Status:
        seconds = time.monotonic() - self.began
        underway = works.doing()
        left = None
        if self.pace.predicted > 0:
            # What is left of the predicted work, at the speed of the work that is done.
            left = self.agenda.left_cpu_s * seconds / self.pace.predicted
        return Status(
            name=self.sweep.name,
            where=works.title,
            requested=len(self.agenda.wanted_keys),
            stored=self.agenda.stored,
            finished=self.finished + underway,
            seconds=seconds,
            left_s=left,
        )
