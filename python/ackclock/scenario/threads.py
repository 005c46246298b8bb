"""The threads of a run."""

from __future__ import annotations

import os

from ackclock.errors import AckclockError

__all__ = ["MOST_THREADS", "available_cores", "count_threads"]

MOST_THREADS = 256
"""Threads of a run at most."""


def available_cores() -> int:
    """Count the cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def count_threads(given: int | str) -> tuple[int, int]:
    """Count the threads that the core is to use.

    Parameters
    ----------
    given
        A count, or ``"auto"``.

    Returns
    -------
    tuple[int, int]
        The count, 0 for as many as are predicted to be fastest, and the most that there may be.

    Raises
    ------
    AckclockError
        It is neither.
    """
    if given == "auto":
        return 0, available_cores()
    if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= MOST_THREADS:
        return given, given
    raise AckclockError(f'threads is {given!r}, expected 1 to {MOST_THREADS} or "auto"')
