"""The command that was typed, for provenance."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["command_line"]


def command_line(arguments: Iterable[str] | None = None) -> str:
    """Give the command as one would type it.

    Parameters
    ----------
    arguments
        Left out: those of this process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    return shlex.join(["ackclock", *given])
