"""Results that are kept: the store, and what it holds."""

from __future__ import annotations

from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock.experiments.store.keeper import Keeper, Memory
from ackclock.experiments.store.place import default_place, is_empty
from ackclock.experiments.store.store import Store, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["Keeper", "Store", "StoreError", "default_place", "look", "open_keeper"]

Place = Store | str | Path | bool | None
"""A store, its folder, None for the default place, or False for memory only."""


@contextmanager
def open_keeper(location: Place) -> Iterator[Keeper]:
    """Open a place where runs are kept, to add to it.

    Parameters
    ----------
    location
        A store that is open already is used and left open.

    Raises
    ------
    StoreError
        It cannot be used.
    """
    if location is False:
        yield Memory()
    elif isinstance(location, Store):
        if not location.writes:
            message = f"{location.folder}: the store was opened to read; open it with writes=True"
            raise StoreError(message)
        yield location
    else:
        with Store(
            None if location is None or location is True else location, writes=True
        ) as store:
            yield store


def look(location: str | Path | None = None) -> Store | None:
    """Open a store to read; None if there is none yet.

    Parameters
    ----------
    location
        Its folder; left out: the default place.

    Raises
    ------
    StoreError
        The folder is something else, or a store of a newer schema.
    """
    folder = default_place() if location is None else Path(location)
    return None if is_empty(folder) else Store(folder)
