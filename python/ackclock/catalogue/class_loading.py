"""Which file is being loaded for its classes, and what it may not do meanwhile."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["StartsRunError", "before_run", "load_quietly", "loading"]


class StartsRunError(BaseException):
    """A file that is loaded for its classes would start a run."""


class _Loading(threading.local):
    file: Path | None = None
    is_quiet: ClassVar = False
    stopped_at: ClassVar[dict[Path, int]] = {}


loading = _Loading()
"""Of each thread the file that it loads; of all threads where files were stopped."""


def before_run() -> None:
    """Say that a run is about to start.

    A file that is loaded for its classes goes no further: it is the script that the run is of, and
    would run itself again. So a script needs no ``if __name__ == "__main__"``.
    """
    if loading.file is not None:
        raise StartsRunError


def load_quietly() -> None:
    """Load files without what they print, for it was printed in the process that began."""
    _Loading.is_quiet = True
