"""Results that are kept: the store, and what it holds."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

from ackclock.results.keep import Keeper, Memory

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ackclock.experiments.sweeps import Sweep

__all__ = ["Keeper", "opened"]


@contextmanager
def opened(store: object, sweep: Sweep, command: str | None) -> Iterator[Keeper]:
    """Open the place where a sweep's runs are kept."""
    yield Memory()


def look(store: object) -> Keeper | None:
    """Open a store to read; None if there is none."""
    return None
