"""The folder of a store: where it is, whether it is one, and how it begins."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ackclock._util.foreign_files import ForeignFileError, read_json, refuse_links
from ackclock.experiments.store.names import StoreError

__all__ = [
    "DEFAULT",
    "PIECES",
    "SCHEMA_VERSION",
    "begin",
    "check",
    "default_place",
    "is_empty",
    "refuse_foreign",
    "unwritable",
]

SCHEMA_VERSION = 1
"""Version of the store's layout; raised when an old reader would misread a new store."""

DEFAULT = "ackclock-store"

PIECES = "pieces"
"""In it, for each program that writes, a folder for tables of runs that have not finished."""

_INNER = ("packs", "tmp", "writers", PIECES, "damaged")
"""Folders within a store."""

_BESIDE = ".store.json."


def default_place() -> Path:
    """Where runs are kept if nothing is said: ``$ACKCLOCK_STORE``, or ``ackclock-store`` here."""
    return Path(os.environ.get("ACKCLOCK_STORE") or DEFAULT)


def is_empty(folder: Path) -> bool:
    """Whether a store may begin here: nothing is there but the begin of one that was killed.

    Parameters
    ----------
    folder
        The place.
    """
    if not folder.exists():
        return True
    return folder.is_dir() and all(f.name.startswith(_BESIDE) for f in folder.iterdir())


def check(folder: Path) -> None:
    """Look whether a folder is a store that this program reads.

    Parameters
    ----------
    folder
        The store.

    Raises
    ------
    StoreError
        It is none, or of another schema.
    """
    mark = folder / "store.json"
    refuse_foreign(folder)
    try:
        mark_content = read_json(mark)
        version = mark_content["schema_version"]
        if mark_content["format"] != "ackclock store":
            raise KeyError("format")
    except FileNotFoundError:
        message = f"{folder} is not a store: it has no store.json"
        raise StoreError(message) from None
    except (OSError, ValueError, KeyError, TypeError):
        message = f"{mark} is not that of a store"
        raise StoreError(message) from None
    if version != SCHEMA_VERSION:
        older = "newer" if version > SCHEMA_VERSION else "older"
        message = (
            f"{folder} is a store of schema {version}, {older} than this ackclock, which"
            f" reads schema {SCHEMA_VERSION}: use the ackclock that wrote it, or another folder"
        )
        raise StoreError(message)


def refuse_foreign(folder: Path) -> None:
    """Refuse a store that has links, devices or pipes, before any of it is read, moved or removed.

    Parameters
    ----------
    folder
        The store, which may be a link itself. Files of packs are looked at as they are opened.

    Raises
    ------
    StoreError
        It has one.
    """
    try:
        for entry in (folder.resolve(), *(folder / name for name in _INNER)):
            refuse_links(entry)
    except ForeignFileError as error:
        raise StoreError(f"{error}; the store is refused") from None


def begin(folder: Path) -> None:
    """Make a folder a store, unless it is one, and its inner folders.

    Parameters
    ----------
    folder
        The place.

    Raises
    ------
    StoreError
        It holds something else, or is of another schema.
    OSError
        It cannot be written.
    """
    if folder.exists() and not folder.is_dir():
        message = f"{folder} is a file; expected the folder of a store"
        raise StoreError(message)
    mark = folder / "store.json"
    refuse_foreign(folder)
    if not mark.exists():
        if not is_empty(folder):
            raise StoreError(f"{folder} is not empty and not a store; choose another folder")
        folder.mkdir(parents=True, exist_ok=True)
        beside = folder / f"{_BESIDE}{os.getpid()}"
        mark_content = {"format": "ackclock store", "schema_version": SCHEMA_VERSION}
        beside.write_text(json.dumps(mark_content) + "\n", encoding="utf-8")
        beside.rename(mark)
    check(folder)
    for name in ("packs", "tmp", "writers"):
        (folder / name).mkdir(exist_ok=True)


def unwritable(folder: Path, error: OSError) -> StoreError:
    """Make the error of a store that cannot be written.

    Parameters
    ----------
    folder
        The store.
    error
        Why.
    """
    return StoreError(f"{folder}: the store cannot be written: {error.strerror or error}")
