"""The time that one run may be predicted to take."""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["MOST_CPU_S", "NO_LIMIT", "most_cpu_s", "without_limit"]

NO_LIMIT = "ACKCLOCK_NO_LIMIT"
"""Environment variable: if it is not empty, runs may take any time."""

MOST_CPU_S = 86_400.0
"""Seconds of one core that a run may be predicted to take: a day."""


def most_cpu_s() -> float | None:
    """Give the seconds of one core that a run may be predicted to take; None: any."""
    return None if os.environ.get(NO_LIMIT) else MOST_CPU_S


@contextmanager
def without_limit() -> Iterator[None]:
    """Let runs take any time, in this process and in those that it starts meanwhile.

    Without it a run that is predicted to take more than a day of one core is refused by `run`,
    `check` and `cost` of a scenario, and by sweeps.
    """
    before = os.environ.get(NO_LIMIT)
    os.environ[NO_LIMIT] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[NO_LIMIT]
        else:
            os.environ[NO_LIMIT] = before
