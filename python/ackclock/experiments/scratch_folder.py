"""A temporary folder that goes with the object that stands for it."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from functools import cached_property
from pathlib import Path

__all__ = ["ScratchFolder"]


class ScratchFolder:
    """Makes a temporary folder, when it is first needed, that nobody else can write to.

    It is removed with this object.
    """

    @cached_property
    def path(self) -> Path:
        """The folder."""
        path = Path(tempfile.mkdtemp(prefix="ackclock-"))
        weakref.finalize(self, shutil.rmtree, path, ignore_errors=True)
        return path
