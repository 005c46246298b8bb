"""Names in a store that may come from somebody else: they must not lead out of its folder.

A manifest lists the files of its pack, a run those of its scenario, the index the packs. Each name
is checked when it is read, before it becomes a path or an identifier of SQL.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

__all__ = ["StoreError", "check_files", "check_manifest", "check_packs"]

_TABLE_FILE = re.compile(r"[a-z][a-z0-9_]{0,63}\.parquet")
_PACK = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_PART = re.compile(r"[^\x00-\x1f/\\:]{1,255}")


class StoreError(AckclockError):
    """A store cannot be read or written."""


def check_manifest(pack: Path, text: bytes) -> dict[str, Any]:
    """Read the text of a manifest.

    Parameters
    ----------
    pack
        Folder of the pack, for messages.
    text
        JSON: ``files`` by name, each with ``bytes`` and ``sha256``.

    Raises
    ------
    StoreError
        It has another form, or names something other than a table of its pack.
    """
    try:
        found = dict(json.loads(text))
        files = dict(found["files"])
        entries = {str(name): (said["bytes"], str(said["sha256"])) for name, said in files.items()}
    except (ValueError, KeyError, TypeError, RecursionError):
        message = f"{pack}: the manifest has not the form that ackclock writes; the pack is refused"
        raise StoreError(message) from None
    for name, (size, digest) in entries.items():
        if _TABLE_FILE.fullmatch(name) is None:
            raise StoreError(
                f"{pack}: the manifest lists {json.dumps(name)}; expected names of tables such as"
                ' "flows.parquet", so the store is refused'
            )
        if not isinstance(size, int) or _DIGEST.fullmatch(digest) is None:
            raise StoreError(
                f"{pack}: the manifest has no size and SHA-256 of {name}, so the store is refused"
            )
    return found


def check_files(run: str, files: object) -> dict[str, str]:
    """Read the files that belong to the scenario of a run.

    Parameters
    ----------
    run
        Its key, for messages.
    files
        Texts by path, relative to the scenario.

    Raises
    ------
    StoreError
        A path leads out of the folder that the run is written to.
    """
    if not isinstance(files, dict):
        raise StoreError(f"run {run[:12]}: its files are not a table of texts by name")
    for name, text in files.items():
        parts = str(name).split("/")
        is_inside = all(_PART.fullmatch(part) and part not in (".", "..") for part in parts)
        if not is_inside or not isinstance(text, str):
            raise StoreError(
                f"run {run[:12]} lists a file {json.dumps(name)}; expected a relative path inside"
                " its folder, so nothing is written"
            )
    return files


def check_packs(folder: Path, names: Iterable[str]) -> None:
    """Look at the names of packs that an index gives.

    Parameters
    ----------
    folder
        Of the packs, for messages.
    names
        The names.

    Raises
    ------
    StoreError
        One is not the name of a pack.
    """
    for name in names:
        if not isinstance(name, str) or _PACK.fullmatch(name) is None:
            raise StoreError(
                f"{folder.parent}: index.sqlite names a pack {json.dumps(str(name))}, which no"
                " ackclock writes; remove index.sqlite, it is made again"
            )
