"""Whether Python files that inputs name may be imported, which runs their code.

Said in the environment, so that it holds for the processes that a command starts.
"""

from __future__ import annotations

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["forbidden", "why_forbidden"]

_REASON = "ACKCLOCK_NO_CODE"


@contextmanager
def forbidden(reason: str) -> Iterator[None]:
    """Import no Python file that an input names, for the time being.

    Parameters
    ----------
    reason
        Ends the sentence "mine.py is Python code, which was not run: ...".
    """
    before = os.environ.get(_REASON)
    os.environ[_REASON] = before or reason
    try:
        yield
    finally:
        if before is None:
            del os.environ[_REASON]


def why_forbidden() -> str | None:
    """Why no file may be imported; None if it may."""
    return os.environ.get(_REASON) or None
