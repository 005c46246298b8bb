"""Writes finished runs of a store by a thread, about once a second."""

from __future__ import annotations

import threading
import time
from typing import TYPE_CHECKING

from ackclock.experiments.store.names import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from ackclock.experiments.store.pack import PackEntry

__all__ = ["COMMIT_RUNS", "COMMIT_S", "Writer"]

COMMIT_S = 1.0
"""Longest time between the end of a run and the begin of its writing [s]."""

COMMIT_RUNS = 2000
"""So many runs are written at once, though a second may not be over."""


class Writer:
    """Takes runs, and writes those that wait from time to time.

    Parameters
    ----------
    folder
        The store, for messages.
    commit
        Writes runs; they are safe when it returns.
    """

    def __init__(self, folder: Path, commit: Callable[[Sequence[PackEntry]], None]) -> None:
        self.failure: StoreError | None = None
        self._folder = folder
        self._commit = commit
        self._waiting: list[PackEntry] = []
        self._wake = threading.Condition()
        self._closing = False
        self._thread: threading.Thread | None = None
        self._last_commit = float("-inf")

    def check(self) -> None:
        """Raise why runs that were taken could not be written, if they could not.

        Raises
        ------
        StoreError
            What happened.
        """
        if self.failure is not None:
            raise self.failure

    def add(self, entry: PackEntry) -> None:
        """Take a run; it is written within about a second.

        Parameters
        ----------
        entry
            The run.
        """
        with self._wake:
            self._waiting.append(entry)
            if self._thread is None:
                self._thread = threading.Thread(target=self._write_on, name="ackclock-store")
                self._thread.start()
            # It looks at the clock by itself; to wake it for every run costs short runs a percent.
            if len(self._waiting) in (1, COMMIT_RUNS):
                self._wake.notify_all()

    def flush(self) -> None:
        """Wait until everything that was taken is safe.

        Raises
        ------
        StoreError
            It could not be written.
        """
        with self._wake:
            while self._waiting and self.failure is None:
                self._last_commit = float("-inf")
                self._wake.notify_all()
                self._wake.wait(0.05)
        self.check()

    def close(self) -> None:
        """Write what waits, and end.

        Raises
        ------
        StoreError
            It could not be written.
        """
        if self._thread is not None:
            with self._wake:
                self._closing = True
                self._wake.notify_all()
            self._thread.join()
            self._thread = None
        self.check()

    def _write_on(self) -> None:
        while True:
            with self._wake:
                while not self._is_due():
                    if self._closing and not self._waiting:
                        return
                    self._wake.wait(0.1 if self._waiting else None)
                entries = self._waiting[: 2 * COMMIT_RUNS]
            try:
                self._commit(entries)
            except BaseException as error:
                with self._wake:
                    self.failure = self._not_written(error, len(self._waiting))
                    self._wake.notify_all()
                return
            with self._wake:
                del self._waiting[: len(entries)]
                self._last_commit = time.monotonic()
                self._wake.notify_all()

    def _is_due(self) -> bool:
        late = time.monotonic() - self._last_commit >= COMMIT_S
        return bool(self._waiting) and (late or self._closing or len(self._waiting) >= COMMIT_RUNS)

    def _not_written(self, error: BaseException, count: int) -> StoreError:
        if isinstance(error, StoreError):
            return error
        if not (self._folder / "store.json").exists():
            store_error = StoreError(
                f"{self._folder}: the store is gone, it was removed while it was in use;"
                f" {count} finished run{'s' * (count != 1)} could not be written, and none is kept"
            )
            store_error.__cause__ = error
            return store_error
        why = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        message = (
            f"{self._folder}: {count} finished run{'s' * (count != 1)} could not be written: {why};"
            " all that was written before is whole, and the same sweep goes on from there when it"
            " is started again"
        )
        store_error = StoreError(message)
        store_error.__cause__ = error
        return store_error
