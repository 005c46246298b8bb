"""The cores of this machine.

Threads, for the core releases the interpreter's lock; processes for cases that hold it.
"""

from __future__ import annotations

import math
import pickle
import sys
import tempfile
import threading
from collections import deque
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Self

from ackclock._util.end_signals import before_exit
from ackclock.case import ONE_THREAD, ThreadCount
from ackclock.catalogue.class_loading import load_quietly
from ackclock.catalogue.python_source import describe_failure
from ackclock.engines.registry import name_original_files, open_parcel
from ackclock.errors import AckclockError
from ackclock.experiments.executors.task import (
    Finished,
    ProcessDiedError,
    Request,
    RunRecord,
    Task,
    perform,
)
from ackclock.scenario.threads import available_cores as cores

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from ackclock.case import Case, Parcel

__all__ = ["Processes", "Threads", "cores"]

_NO_TRACKER_WARNINGS = "ignore:resource_tracker"


def run_task(task: Task, run_one: Callable[[Request], RunRecord]) -> Finished:
    """Do the runs of a task one after another, up to the first that fails.

    Parameters
    ----------
    task
        What is wanted.
    run_one
        Does a run.
    """
    records: list[RunRecord] = []
    for request in task.requests:
        try:
            records.append(run_one(request))
        except BaseException as error:
            return Finished(task, tuple(records), error, request)
    return Finished(task, tuple(records))


class Threads:
    """Runs on threads of this process.

    Parameters
    ----------
    workers
        Cores: runs at a time, if each uses one.
    pieces
        Folder for large tables of runs; left out: they stay in memory.
    threads
        Of each run; left out: more than one where fewer runs are left than cores, as far as the
        core predicts that they pay.
    """

    def __init__(
        self, workers: int, pieces: Path | None = None, threads: int | None = None
    ) -> None:
        self.parallel = workers if threads is None else max(1, workers // threads)
        self._cores = workers
        self._threads = threads
        self._pieces = pieces
        self.title = f"{workers} core{'s' * (workers > 1)}"
        self._stop = threading.Event()
        self._waiting: set[Future[Finished]] = set()
        self._fractions: dict[int, float] = {}
        self._left: dict[int, int] = {}
        self._later = 0

    def __enter__(self) -> Self:
        self._pool = ThreadPoolExecutor(self.parallel, thread_name_prefix="ackclock-run")
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._pool.shutdown(wait=True, cancel_futures=True)

    @property
    def run_bytes(self) -> float:
        """Infinite: runs of this machine are checked together before they begin."""
        return math.inf

    def submit(self, task: Task) -> None:
        """Take a task.

        Parameters
        ----------
        task
            What is wanted.
        """
        self._left[task.number] = len(task.requests)
        self._later = task.later
        self._waiting.add(self._pool.submit(self._do, task))

    def _threads_of_run(self) -> ThreadCount:
        """The threads of a run that begins: its part of the cores."""
        if self._threads is not None:
            return ThreadCount(self._threads)
        runs = sum(list(self._left.values())) + self._later
        most = self._cores // max(1, runs)
        return ThreadCount(most, is_chosen=True) if most > 1 else ONE_THREAD

    def _do(self, task: Task) -> Finished:
        finished = 0

        def tick(fraction: float, _: float) -> None:
            self._fractions[task.number] = finished + fraction
            if self._stop.is_set():
                raise KeyboardInterrupt

        def one(request: Request) -> RunRecord:
            nonlocal finished
            if self._stop.is_set():
                raise KeyboardInterrupt
            record = perform(request, tick, self._pieces, self._threads_of_run())
            finished += 1
            self._left[task.number] = len(task.requests) - finished
            self._fractions[task.number] = finished
            return record

        return run_task(task, one)

    def ready(self, timeout: float) -> list[Finished]:
        """Wait until a task comes back.

        Parameters
        ----------
        timeout
            At most this long [s].
        """
        finished, self._waiting = wait(self._waiting, timeout, return_when=FIRST_COMPLETED)
        results = [future.result() for future in finished]
        for result in results:
            self._fractions.pop(result.task.number, None)
            self._left.pop(result.task.number, None)
        return results

    def doing(self) -> float:
        """Part of the submitted runs that is done, in runs."""
        return sum(list(self._fractions.values()))

    def stop(self) -> list[Finished]:
        """Begin nothing new, end what runs; give what had finished and was not yet taken."""
        self._stop.set()
        found, self._waiting = wait(self._waiting)
        return [future.result() for future in found]


def _begin_process(folder: str) -> None:
    tempfile.tempdir = folder
    load_quietly()


_cases: dict[tuple[str, str], Case] = {}


Parcels = dict[str, tuple["Parcel", str]]
"""Cases by name, as text, each with the version of the engine that is to run it."""


def elsewhere(
    number: int,
    parcels: Parcels,
    requested: list[tuple[str, str, int]],
    pieces: Path | None = None,
) -> bytes:
    """Do a task in another process.

    Parameters
    ----------
    number
        Of the task.
    parcels
        Cases by name.
    requested
        Runs: key, name of the case, seed.
    pieces
        Folder for large tables of runs; left out: they come back whole.
    """
    cases: dict[str, Case] = {}
    for name, (parcel, version) in parcels.items():
        if (name, version) not in _cases:
            case = open_parcel(parcel)
            if case.engine_version != version:
                message = (
                    f"this worker has the {case.engine} engine in version {case.engine_version},"
                    f" the sweep has {version}; install the same ackclock on both"
                )
                raise AckclockError(message)
            _cases[name, version] = case
        cases[name] = _cases[name, version]
    requests = tuple(Request(key, cases[name], seed) for key, name, seed in requested)
    result = run_task(Task(number, requests), partial(perform, pieces=pieces))
    failed = None if result.failed is None else result.failed.key
    if result.error is not None:
        _at_home(result.error)
    return pickle.dumps((result.records, _portable(result.error), failed))


def _portable(error: BaseException | None) -> BaseException | None:
    """The error, or its text if it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return AckclockError(f"{type(error).__name__}: {error}")
    return error


def _at_home(error: BaseException) -> None:
    """Make an error fit for travel: tracebacks stay here, the user's files are elsewhere."""
    words = describe_failure(error)
    if words is not None:
        error.__ackclock_report__ = name_original_files(words)  # type: ignore[attr-defined]
    if isinstance(error, AckclockError):
        error.args = tuple(name_original_files(a) if isinstance(a, str) else a for a in error.args)


def pack_task(task: Task) -> tuple[int, Parcels, list[tuple[str, str, int]]]:
    """Make of a task what another process can take.

    Parameters
    ----------
    task
        What is wanted.
    """
    cases = {id(request.case): request.case for request in task.requests}
    names = {
        case_id: f"{case.engine} {case.fingerprint} {case.recorded}"
        for case_id, case in cases.items()
    }
    parcels = {
        names[case_id]: (case.parcel(), case.engine_version) for case_id, case in cases.items()
    }
    requested = [(r.key, names[id(r.case)], r.seed) for r in task.requests]
    return task.number, parcels, requested


def unpack_result(task: Task, answer: bytes) -> Finished:
    """Read what another process answered.

    Parameters
    ----------
    task
        What was wanted.
    answer
        What `elsewhere` gave.
    """
    records, error, failed = pickle.loads(answer)
    request = next((r for r in task.requests if r.key == failed), None)
    return Finished(task, records, error, request)


class Processes:
    """Runs in processes of this machine; after one dies the run that ended it is found.

    They are loky's, for these do not begin with the program's main module: a script that runs a
    sweep without ``if __name__ == "__main__"`` would begin itself again in each of them.

    Parameters
    ----------
    workers
        Runs at a time.
    pieces
        Folder for large tables of runs; left out: they stay in memory.
    """

    most_deaths = 2
    """A run that was alone in the pool when its process died so often is given up."""

    def __init__(self, workers: int, pieces: Path | None = None) -> None:
        self.parallel = workers
        self._pieces = pieces
        self.title = f"{workers} process{'es' * (workers > 1)}"
        self._stopped = False
        self._waiting: dict[Future[bytes], Task] = {}
        # After a death: tasks that may be guilty, each run of which is done alone; what is
        # submitted meanwhile waits.
        self._suspects: deque[_Suspect] = deque()
        self._suspended: deque[Task] = deque()

    @staticmethod
    def can(sample: Case) -> bool:
        """Whether a case can go to another process.

        Parameters
        ----------
        sample
            The case.
        """
        try:
            sample.parcel()
        except AckclockError:
            return False
        return True

    def __enter__(self) -> Self:
        # What is killed cannot tidy up: temporary files of the processes lie in a folder of ours.
        self._folder = tempfile.TemporaryDirectory(prefix="ackclock-", ignore_cleanup_errors=True)
        self._exit_hook = before_exit(self._kill)
        self._exit_hook.__enter__()
        self._start()
        return self

    def _kill(self) -> None:
        """Kill the processes, for this one is about to end by force."""
        for process in list(self._pool._processes.values()):
            process.kill()
        self._folder.cleanup()

    def _start(self) -> None:
        from loky.process_executor import ProcessPoolExecutor

        # loky's tracker, which begins with the pool, warns of semaphores that a killed process has
        # removed already.
        sys.warnoptions.append(_NO_TRACKER_WARNINGS)
        try:
            self._pool: Any = ProcessPoolExecutor(
                self.parallel,
                initializer=_begin_process,
                initargs=(self._folder.name,),
            )
        finally:
            sys.warnoptions.remove(_NO_TRACKER_WARNINGS)

    def __exit__(self, *_: object) -> None:
        self.stop()
        self._exit_hook.__exit__(None, None, None)
        self._folder.cleanup()

    @property
    def run_bytes(self) -> float:
        """Infinite: runs of this machine are checked together before they begin."""
        return math.inf

    def submit(self, task: Task) -> None:
        """Take a task.

        Parameters
        ----------
        task
            What is wanted.
        """
        if self._suspects:
            self._suspended.append(task)
        else:
            self._begin(task)

    def _begin(self, task: Task) -> None:
        from loky.process_executor import BrokenProcessPool

        try:
            self._waiting[self._submit(task)] = task
        except BrokenProcessPool:
            # A process died, and the tasks that were in the pool have not come back yet.
            if self._waiting:
                self._suspended.append(task)
                return
            self._start()
            self._waiting[self._submit(task)] = task

    def _submit(self, task: Task) -> Future[bytes]:
        submitted: Future[bytes] = self._pool.submit(elsewhere, *pack_task(task), self._pieces)
        return submitted

    def ready(self, timeout: float) -> list[Finished]:
        """Wait until a task comes back.

        Parameters
        ----------
        timeout
            At most this long [s].
        """
        from loky.process_executor import BrokenProcessPool

        finished, _ = wait(self._waiting, timeout, return_when=FIRST_COMPLETED)
        results = []
        for future in finished:
            task = self._waiting.pop(future, None)
            if task is None:
                continue
            try:
                result = unpack_result(task, future.result())
            except BrokenProcessPool:
                results += self._after_death([task, *self._waiting.values()])
                break
            results += self._clear_suspect(result) if self._suspects else [result]
        return results

    def _after_death(self, tasks: list[Task]) -> list[Finished]:
        """Start anew after a process died."""
        self._pool.shutdown(wait=False, kill_workers=True)
        self._waiting.clear()
        if self._stopped:
            return []
        self._start()
        if not self._suspects:
            # Any of them may have ended the process.
            self._suspects.extend(
                _Suspect(task) for task in sorted(tasks, key=lambda task: task.number)
            )
            return self._next_alone()
        suspect = self._suspects[0]
        suspect.deaths += 1
        if suspect.deaths < self.most_deaths:
            return self._next_alone()
        request = suspect.task.requests[len(suspect.records)]
        error = ProcessDiedError(
            "its process ended before the run did, twice, with no other run beside it; code that"
            " ends the process, as os._exit, or a lack of memory does this"
        )
        return self._go_on(Finished(suspect.task, tuple(suspect.records), error, request))

    def _next_alone(self) -> list[Finished]:
        """Begin the next run of the first suspect; nothing else is in the pool."""
        suspect = self._suspects[0]
        request = suspect.task.requests[len(suspect.records)]
        self._begin(Task(suspect.task.number, (request,)))
        return []

    def _clear_suspect(self, result: Finished) -> list[Finished]:
        """Take what a run that was done alone left."""
        suspect = self._suspects[0]
        suspect.records += result.records
        suspect.deaths = 0
        if result.error is None and len(suspect.records) < len(suspect.task.requests):
            return self._next_alone()
        whole = Finished(suspect.task, tuple(suspect.records), result.error, result.failed)
        return self._go_on(whole)

    def _go_on(self, result: Finished) -> list[Finished]:
        """Go on with the next suspect, or with all that waits."""
        self._suspects.popleft()
        if self._suspects:
            return [result, *self._next_alone()]
        while self._suspended:
            self._begin(self._suspended.popleft())
        return [result]

    def doing(self) -> float:
        """Part of the submitted runs that is done, in runs: not known before a task is back."""
        return 0.0

    def stop(self) -> list[Finished]:
        """Begin nothing new, kill what runs; give what had finished and was not yet taken."""
        if self._stopped:
            return []
        self._stopped = True
        finished = [
            f for f in self._waiting if f.done() and not f.cancelled() and not f.exception()
        ]
        results = [unpack_result(self._waiting[future], future.result()) for future in finished]
        results += [Finished(s.task, tuple(s.records)) for s in self._suspects if s.records]
        self._waiting.clear()
        self._pool.shutdown(wait=True, kill_workers=True)
        return results


@dataclass
class _Suspect:
    """A task that may have ended its process, with what its runs left that were done alone."""

    task: Task
    records: list[RunRecord] = field(default_factory=list)
    deaths: int = 0
