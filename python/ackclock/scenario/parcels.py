"""Scenarios as text, for other processes, other machines, and archives."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.case import Parcel
from ackclock.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["pack_code"]


def pack_code(engine: str, data: dict[str, Any], keep: Callable[[Path], dict[str, Any]]) -> Parcel:
    """Write a scenario as a document with the code of user-defined classes.

    Parameters
    ----------
    engine
        Of the document.
    data
        The scenario.
    keep
        Writes the code into a folder; gives the scenario whose classes are there.

    Raises
    ------
    UnsupportedError
        A class was defined in an interactive session, so its file is not to be had.
    """
    if '"session:' in json.dumps(data):
        message = (
            "a class that was defined in a session cannot go to another process; put it into"
            " a file and name it as file.py:Class"
        )
        raise UnsupportedError(message)
    import tempfile

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        document = {"engine": engine, **keep(folder)}
        files = {
            file.relative_to(folder).as_posix(): file.read_text(encoding="utf-8")
            for file in sorted(folder.rglob("*.py"))
        }
    return Parcel(document, files)
