"""A temporary folder that is made when it is needed and goes with the object that stands for it."""

from __future__ import annotations

import os
import shutil
import tempfile
import uuid
import weakref
from pathlib import Path

__all__ = ["ScratchFolder"]


class ScratchFolder:
    """Names a temporary folder; who writes there makes it. It is removed with this object."""

    def __init__(self) -> None:
        name = f"ackclock-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self.path = Path(tempfile.gettempdir()) / name
        self._end = weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)
