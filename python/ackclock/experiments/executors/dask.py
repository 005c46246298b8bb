"""A Dask cluster: on other machines, under Slurm, Kubernetes, SSH, or in this one.

Dask schedules, does the tasks of a worker that died again elsewhere, and shows all on its
dashboard. Cases travel as text; results come back whole, so workers need neither the store nor the
files of the sweep, only the same ackclock.
"""

from __future__ import annotations

import math
import queue
import time
import uuid
from collections import Counter
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any, Self

from ackclock.errors import AckclockError, how_to_install
from ackclock.experiments.executors.local import elsewhere, pack_task, unpack_result
from ackclock.experiments.executors.task import ExecutorLostError, Finished, ProcessDiedError, Task

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Cluster"]

MOST_TURNS = 10
"""How often a task is done again whose result was lost with its worker."""

LOOK_S = 2.0
"""Time between two looks at how many workers there are [s]."""


class Cluster:
    """Runs on the workers of a Dask cluster.

    Parameters
    ----------
    cluster
        Address of the scheduler, as ``tcp://host:port``, or a ``distributed.Client``, or anything
        that such a client takes, as a ``LocalCluster`` or ``SLURMCluster``.

    Raises
    ------
    AckclockError
        The package ``distributed`` is not installed.
    """

    def __init__(self, cluster: object) -> None:
        try:
            import distributed  # noqa: F401
        except ImportError:
            message = f'a cluster needs the extra "cluster": {how_to_install("cluster")}'
            raise AckclockError(message) from None
        self._cluster = cluster
        self._back: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._tasks: dict[Any, tuple[Task, Any]] = {}
        self._turns: Counter[int] = Counter()
        self._threads = 0
        self._workers = 0
        self._run_bytes = math.inf
        self._looked = float("-inf")
        self._name = uuid.uuid4().hex[:8]
        self._is_local = False
        self._client: Any = None

    def __enter__(self) -> Self:
        self._client = self._connect()
        return self

    def _connect(self) -> Any:
        from distributed import Client

        if isinstance(self._cluster, Client):
            return self._cluster
        self._is_local = True
        where = self._cluster if isinstance(self._cluster, str) else repr(self._cluster)
        try:
            return Client(self._cluster, set_as_default=False)
        except (OSError, TimeoutError, ValueError) as error:
            reason = str(error).split("\n")[0] or type(error).__name__
            message = (
                f"cluster {where}: no Dask scheduler answers ({reason}); expected an address such"
                " as tcp://127.0.0.1:8786, which `dask scheduler` prints when it starts"
            )
            raise AckclockError(message) from None

    def __exit__(self, *_: object) -> None:
        self.stop()
        if self._is_local and self._client is not None:
            self._client.close()

    def _look(self) -> None:
        if time.monotonic() - self._looked < LOOK_S:
            return
        try:
            threads = self._client.nthreads()
            workers = self._client.scheduler_info(n_workers=-1)["workers"].values()
        except (OSError, TimeoutError, ValueError) as error:
            raise self._gone() from error
        self._looked = time.monotonic()
        self._threads = sum(threads.values())
        self._workers = len(threads)
        self._run_bytes = min(map(_run_bytes, workers), default=math.inf)

    def _gone(self) -> ExecutorLostError:
        return ExecutorLostError("the connection to the Dask scheduler is lost")

    @property
    def parallel(self) -> int:
        """Threads of all workers; they may come and go."""
        self._look()
        return max(1, self._threads)

    @property
    def run_bytes(self) -> float:
        """Memory of the smallest worker for each of its threads [bytes]."""
        self._look()
        return self._run_bytes

    @property
    def title(self) -> str:
        """How many workers there are."""
        if not self._workers:
            return "a cluster that has no workers yet"
        return f"{self._threads} threads of {self._workers} Dask workers"

    @property
    def dashboard(self) -> str:
        """Address of Dask's dashboard."""
        return str(self._client.dashboard_link)

    def submit(self, task: Task) -> None:
        """Take a task.

        Parameters
        ----------
        task
            What is wanted.
        """
        turn = self._turns[task.number]
        key = f"ackclock-{self._name}-{task.number}-{turn}"
        future = self._client.submit(elsewhere, *pack_task(task), key=key, pure=False)
        self._tasks[key] = (task, future)
        future.add_done_callback(self._back.put)

    def ready(self, timeout: float) -> list[Finished]:
        """Wait until a task comes back; give one.

        Its tables travel whole through the scheduler. Those of others stay on their workers until
        they are read, so that scheduler and sweep hold one task's at a time.

        Parameters
        ----------
        timeout
            At most this long [s].
        """
        try:
            future = self._back.get(timeout=timeout)
        except queue.Empty:
            if self._client.status != "running":
                raise self._gone() from None
            return []
        return self._read(future)

    def _read(self, future: Any) -> list[Finished]:
        if future.key not in self._tasks:
            return []
        task, _ = self._tasks.pop(future.key)
        try:
            if future.status == "error":
                return [Finished(task, (), _describe_error(future.exception()), task.requests[0])]
            if future.status == "finished":
                answer = future.result()
                future.release()
                return [unpack_result(task, answer)]
        except (OSError, TimeoutError) as lost:
            raise self._gone() from lost
        except CancelledError:
            pass
        # A worker died between the end of the task and the reading of its result.
        self._turns[task.number] += 1
        if self._client.status != "running" or self._turns[task.number] > MOST_TURNS:
            raise self._gone()
        self.submit(task)
        return []

    def doing(self) -> float:
        """Part of the submitted runs that is done, in runs: not known before a task is back."""
        return 0.0

    def stop(self) -> list[Finished]:
        """Begin nothing new; give what had finished and was not yet taken.

        What runs on a worker now ends there, unread.
        """
        results = []
        if self._tasks and self._client is not None and self._client.status == "running":
            finished_futures = [f for _, f in list(self._tasks.values()) if f.status == "finished"]
            results = [result for future in finished_futures for result in self._read(future)]
            self._client.cancel([future for _, future in self._tasks.values()])
        self._tasks.clear()
        return results


def _run_bytes(worker: Mapping[str, Any]) -> float:
    """Give a worker's memory for each of its threads; a limit of 0 is none."""
    limit = float(worker["memory_limit"] or math.inf)
    return limit / max(1, int(worker["nthreads"]))


def _describe_error(error: BaseException) -> BaseException:
    from distributed import KilledWorker

    if isinstance(error, KilledWorker):
        message = (
            "workers of the cluster died again and again while they did this run, so Dask gave it"
            " up (distributed.scheduler.allowed-failures); look at the logs of the workers, most"
            " often memory ran out"
        )
        return ProcessDiedError(message)
    if isinstance(error, ModuleNotFoundError):
        message = f"workers of the cluster lack a package: {error}; install ackclock on them"
        return AckclockError(message)
    return error
