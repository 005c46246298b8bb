"""Where runs happen: the cores of this machine, or a Dask cluster. One interface for both."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.case import Case
    from ackclock.experiments.executors.task import Executor

__all__ = ["executor"]


def executor(
    workers: int | None,
    cluster: object | None,
    sample: Case | None = None,
    pieces: Path | None = None,
) -> Executor:
    """Choose an executor.

    Parameters
    ----------
    workers
        Runs at a time on this machine; left out: one per core. On a cluster it has no meaning.
    cluster
        Address of a Dask scheduler, as ``tcp://host:port``, or a ``distributed.Client``.
    sample
        A case whose runs hold the interpreter's lock, if there is one: processes are used.
    pieces
        Folder for large tables of runs on this machine; left out: they stay in memory, as they do
        on a cluster, whose workers may not have the folder.

    Raises
    ------
    AckclockError
        The cluster cannot be reached, or workers are given for it.
    """
    if cluster is not None:
        from ackclock.experiments.executors.dask import Cluster

        return Cluster(cluster)
    from ackclock.experiments.executors.local import Processes, Threads, cores

    count = workers or cores()
    # Also one at a time: user code that ends its process must not end the sweep.
    if sample is not None and sample.holds_lock and Processes.can(sample):
        return Processes(count, pieces)
    return Threads(count, pieces)
