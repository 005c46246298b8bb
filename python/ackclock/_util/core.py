"""The compiled core: which one it is. Its version is that of the package."""

from __future__ import annotations

import functools
from pathlib import Path

from ackclock import _core

__all__ = ["__version__", "core_version"]

__version__ = _core.version()


@functools.cache
def core_version() -> str:
    """Version of the compiled core with a hash of its binary: other bits, other runs."""
    import hashlib

    binary = Path(str(_core.__file__)).read_bytes()
    return f"{_core.version()}+{hashlib.sha256(binary).hexdigest()[:12]}"
