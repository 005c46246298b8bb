"""The threads of a run."""

from __future__ import annotations

import os

from ackclock.case import ThreadCount
from ackclock.errors import AckclockError

__all__ = ["ALWAYS_THREADS", "MOST_THREADS", "available_cores", "count_threads", "is_forced"]

ALWAYS_THREADS = "ACKCLOCK_ALWAYS_THREADS"
"""Environment variable: if it is not empty, a run uses as many threads as requested even where they
might take more than twice as long as one. It is for comparing results."""

MOST_THREADS = 256
"""ThreadCount of a run at most."""


def available_cores() -> int:
    """Count the cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


def count_threads(given: int | str) -> ThreadCount:
    """Count the threads that the core is to use.

    Parameters
    ----------
    given
        A count, or ``"auto"``.

    Raises
    ------
    AckclockError
        It is neither.
    """
    if given == "auto":
        return ThreadCount(available_cores(), is_chosen=True)
    if isinstance(given, int) and not isinstance(given, bool) and 1 <= given <= MOST_THREADS:
        return ThreadCount(given)
    raise AckclockError(f'threads is {given!r}, expected 1 to {MOST_THREADS} or "auto"')


def is_forced() -> bool:
    """Whether runs use several threads even where one is faster: `ALWAYS_THREADS` is set."""
    return bool(os.environ.get(ALWAYS_THREADS))
