"""The compiled core: which one it is."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path

__all__ = ["core_version"]


@functools.cache
def core_version() -> str:
    """Version of the compiled core with a hash of its binary: other bits, other runs."""
    from ackclock import _core

    binary = Path(str(_core.__file__)).read_bytes()
    return f"{_core.version()}+{hashlib.sha256(binary).hexdigest()[:12]}"
