"""Locks of files: who changes a store, and which programs that write to it are still there.

A lock is held as long as the file is open, so it ends with the program that holds it, however that
ends; and it does not end before, however slow the program is.
"""

from __future__ import annotations

import os
import platform
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Presence", "lock_file"]


def lock_file(file: IO[Any], *, shared: bool = False, wait: bool = True) -> bool:
    """Lock a file until it is closed.

    Parameters
    ----------
    file
        Open.
    shared
        Whether others may have a shared lock too.
    wait
        Whether to wait for those who have it.

    Returns
    -------
    bool
        False if another has it and we do not wait.
    """
    import fcntl

    how = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(file, how if wait else how | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


class Presence:
    """A file that a program keeps locked as long as it writes to a store.

    Parameters
    ----------
    folder
        Where those of all writers are. Nobody may remove files of `Presence.left` meanwhile.
    """

    def __init__(self, folder: Path) -> None:
        self.name = f"{platform.node()}-{os.getpid()}-{uuid4().hex[:12]}"
        self._path = folder / self.name
        self._file = self._path.open("x")
        lock_file(self._file)

    def end(self) -> None:
        """Remove the file and its lock."""
        self._path.unlink(missing_ok=True)
        self._file.close()

    @staticmethod
    def is_held(path: Path) -> bool:
        """Whether the program that made a file still holds it.

        Parameters
        ----------
        path
            The file.
        """
        try:
            with path.open() as file:
                return not lock_file(file, shared=True, wait=False)
        except FileNotFoundError:
            return False

    @staticmethod
    def left(folder: Path) -> list[Path]:
        """List the files of programs that were killed.

        Parameters
        ----------
        folder
            Where those of all writers are.
        """
        return [at for at in sorted(folder.iterdir()) if not Presence.is_held(at)]
