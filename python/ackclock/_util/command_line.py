"""The command that was typed, for provenance."""

from __future__ import annotations

import os
import re
import shlex
import sys
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["command_line", "without_place", "without_places"]


def command_line(arguments: Iterable[str] | None = None) -> str:
    """Give the command as one would type it here, without absolute paths.

    Parameters
    ----------
    arguments
        Left out: those of this process.
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    return shlex.join(["ackclock", *map(without_place, given)])


_ABSOLUTE = re.compile(r"(?<![^=,;])/(?!/)[^=,;]*")
"""A path from the root that is a whole argument, or a whole value in one."""


def without_place(text: str) -> str:
    """Shorten absolute paths to what they are from the current folder, or to their last part.

    Reports are sent to others, whom it does not concern where their author keeps files.

    Parameters
    ----------
    text
        An argument, such as ``--out=/data/work/out``.
    """

    def short(match: re.Match[str]) -> str:
        path = PurePath(os.path.normpath(match[0]))
        here = Path.cwd()
        if path == here:
            return "."
        return str(path.relative_to(here)) if path.is_relative_to(here) else path.name or "/"

    return _ABSOLUTE.sub(short, text)


def without_places(data: Any) -> Any:
    """Copy plain data with its absolute paths shortened as `without_place` does.

    Parameters
    ----------
    data
        Such as a scenario that names a class by the whole path of its file.
    """
    if isinstance(data, str):
        return without_place(data) if data.startswith("/") else data
    if isinstance(data, dict):
        return {key: without_places(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [without_places(value) for value in data]
    return data
