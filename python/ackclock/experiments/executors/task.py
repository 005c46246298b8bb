"""What executors share: tasks of a few runs each, records of finished runs, the interface."""

from __future__ import annotations

import hashlib
import json
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, Self

from ackclock.case import ONE_THREAD, Shareable, Spill
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    import pyarrow as pa

    from ackclock.case import Case, Outcome, ThreadCount

__all__ = [
    "KEY",
    "Executor",
    "ExecutorLostError",
    "Finished",
    "ProcessDiedError",
    "Request",
    "RunRecord",
    "Task",
    "perform",
    "run_key",
]

KEY_VERSION = 1

KEY = "key"
"""The column by which rows of kept tables know their run."""


def run_key(case: Case, fingerprint: str, seed: int) -> str:
    """Name a run by what decides its result: the compiled case, the seed, the engine's version.

    Parameters
    ----------
    case
        Whose engine, version and recorded tables count.
    fingerprint
        Of the case; passed in, for it is the same for all seeds.
    seed
        The seed.

    Returns
    -------
    str
        SHA-256 [hex].
    """
    identity = [KEY_VERSION, case.engine, case.engine_version, fingerprint, case.recorded, seed]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


class Request(NamedTuple):
    """A run that is wanted."""

    key: str
    case: Case
    seed: int


class Task(NamedTuple):
    """Runs done one after another by one worker; short runs share a task."""

    number: int
    requests: tuple[Request, ...]
    later: int = 0
    """Runs that are to be submitted after it."""


@dataclass(frozen=True)
class RunRecord:
    """A finished run: its key, and what it left; the summary as JSON beside the tables."""

    key: str
    seed: int
    summary_json: str
    tables: Mapping[str, pa.Table]
    cpu_s: float

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The summary as data, whole."""
        from ackclock.results.summary import read

        return read(self.summary_json, self.tables)


@dataclass(frozen=True)
class Finished:
    """A task that came back: what its runs left, and what the first that failed raised."""

    task: Task
    records: tuple[RunRecord, ...] = ()
    error: BaseException | None = None
    failed: Request | None = None
    notes: tuple[str, ...] = field(default=())


class ProcessDiedError(AckclockError):
    """A run ended the process that it was in; other runs are not affected."""


class ExecutorLostError(AckclockError):
    """The executor is gone with all that it was doing."""


class Executor(Protocol):
    """Takes tasks and gives them back finished, in any order."""

    @property
    def parallel(self) -> int:
        """Runs at a time; may change while it works."""

    @property
    def run_bytes(self) -> float:
        """Memory that each of these runs has on other machines [bytes]; on this one infinite."""

    @property
    def title(self) -> str:
        """Where runs happen, in a few words."""

    def submit(self, task: Task) -> None:
        """Take a task."""

    def ready(self, timeout: float) -> list[Finished]:
        """Wait until a task comes back, at most ``timeout`` [s]; give all that have."""

    def doing(self) -> float:
        """Part of the submitted runs that is done, in runs; an estimate, for progress."""

    def stop(self) -> list[Finished]:
        """Begin nothing new, end what runs; give what had finished and was not yet taken."""

    def __enter__(self) -> Self:
        """Start."""

    def __exit__(self, *args: object) -> None:
        """End; what has not come back is lost."""


def perform(
    request: Request,
    progress: Callable[[float, float], object] | None = None,
    pieces: Path | None = None,
    threads: ThreadCount = ONE_THREAD,
) -> RunRecord:
    """Do one run.

    Parameters
    ----------
    request
        What is wanted.
    progress
        As of `Case.execute`.
    pieces
        Where large tables go, in a folder named by the run's key; left out: to memory.
    threads
        Those that it may use, if several can share it.
    """
    began = time.thread_time()
    spill = None if pieces is None else Spill(pieces / request.key, {KEY: request.key})
    case = request.case.with_seed(request.seed)
    if threads != ONE_THREAD and isinstance(case, Shareable):
        outcome: Outcome = case.execute_on(threads, progress, spill)
    else:
        outcome = case.execute(progress, spill)
    cpu_s = time.thread_time() - began
    text = getattr(outcome, "summary_json", None) or json.dumps(outcome.summary)
    return RunRecord(request.key, request.seed, text, outcome.tables, cpu_s)
