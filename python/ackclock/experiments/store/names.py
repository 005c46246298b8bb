"""Names in a store that may come from somebody else: they must not lead out of its folder.

A manifest lists the files of its pack, a run those of its scenario, the index the packs. Each name
is checked when it is read, before it becomes a path or an identifier of SQL.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from ackclock._util.json_text import is_deep
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

__all__ = ["StoreError", "check_files", "check_manifest", "check_packs", "check_run"]

_TABLE_FILE = re.compile(r"[a-z][a-z0-9_]{0,63}\.parquet")
_PACK = re.compile(r"[0-9a-f]{32}")
_DIGEST = re.compile(r"[0-9a-f]{64}")
_TABLE = re.compile(r"[a-z][a-z0-9_]{0,63}")
_LAST_S = 253402300799.0
"""The end of the year 9999, beyond which no program can write a date."""
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
        content = dict(json.loads(text))
        files = dict(content["files"])
        entries = {
            str(name): (entry["bytes"], str(entry["sha256"])) for name, entry in files.items()
        }
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
    return content


def check_run(where: object, row: Mapping[str, Any]) -> None:
    """Look at what a store says of a run, in a pack or in the index.

    Parameters
    ----------
    where
        The pack or the store, for messages.
    row
        Columns of ``runs.parquet``, or some of them.

    Raises
    ------
    StoreError
        A column has another form than ackclock writes.
    """
    for name, has_form in _FORMS.items():
        if name in row and not has_form(row[name]):
            text = str(row[name])
            quoted = json.dumps(text if len(text) < 60 else f"{text[:57]}...")
            raise StoreError(
                f"{where}: the {name} of a run is {quoted}, which no ackclock writes; the store is"
                " refused"
            )


def _is_key(value: object) -> bool:
    return isinstance(value, str) and _DIGEST.fullmatch(value) is not None


def _is_seconds(value: object) -> bool:
    return isinstance(value, float | int) and 0 <= value <= _LAST_S


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_seed(value: object) -> bool:
    # The index keeps those that SQLite does not have as text.
    return (isinstance(value, int) and value >= 0) or (isinstance(value, str) and value.isdecimal())


def _refuse(_: str) -> None:
    raise ValueError


def _read(text: object, constant: Any = _refuse) -> Any:
    """Data of JSON; None if it is none, is nested too deep, or has a number that JSON has not."""
    try:
        found = json.loads(text, parse_constant=constant) if isinstance(text, str) else None
    except (ValueError, RecursionError):
        return None
    return None if is_deep(found) else found


def _is_table(text: object) -> bool:
    return isinstance(_read(text), dict)


def _is_summary(text: object) -> bool:
    return isinstance(_read(text, float), dict)


def _is_flat_table(text: object) -> bool:
    found = _read(text)
    scalar = (str, int, float, type(None))
    return isinstance(found, dict) and all(isinstance(value, scalar) for value in found.values())


def _is_list_of_tables(text: object) -> bool:
    found = _read(text)
    names: Sequence[object] = found if isinstance(found, list) else [None]
    return all(isinstance(name, str) and _TABLE.fullmatch(name) for name in names)


_FORMS = {
    "key": _is_key,
    "labels": _is_flat_table,
    "tables": _is_list_of_tables,
    "cpu_s": _is_seconds,
    "finished_at": _is_seconds,
    "summary": _is_summary,
    "seed": _is_seed,
    **dict.fromkeys(
        ("engine", "version", "scenario_hash", "name", "sweep", "host", "command"), _is_text
    ),
    "document": _is_table,
    "files": _is_table,
}
"""What columns must be, beyond their types."""


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
        steps = str(name).split("/")
        is_inside = all(_PART.fullmatch(step) and step not in (".", "..") for step in steps)
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
