"""A temporary folder that goes with the object that stands for it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

__all__ = ["ScratchFolder"]


class ScratchFolder:
    """Makes a temporary folder that nobody else can write to; it is removed with this object."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="ackclock-"))
        self._end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
