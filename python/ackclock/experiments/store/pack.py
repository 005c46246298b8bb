"""Packs: folders of Parquet files that hold one run or many, whole or not there at all.

    packs/ID/runs.parquet     a row per run: key, engine, version, seed, labels, summary, document
             flows.parquet    rows of all runs of the pack, the column key before the others
             ...              one file per table
             manifest.json    size and SHA-256 of each file

ID is the hash of the manifest, so that a pack's name vouches for every byte in it. A pack is
written beside its place, brought to the disk (fsync), and renamed; it is never changed. Tables that
a run wrote to files while it lasted are taken over as they are, and the run has a pack for itself.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import tempfile
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.foreign_files import (
    ForeignFileError,
    open_file,
    read_bytes,
    read_table,
    refuse_links,
)
from ackclock.experiments.store.keeper import KEY, join_tables, with_key
from ackclock.experiments.store.names import StoreError, check_manifest
from ackclock.scenario.memory import allowed_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

    from ackclock.experiments.executors.task import RunRecord

__all__ = [
    "RUN_COLUMNS",
    "PackEntry",
    "has_files",
    "is_whole",
    "manifest",
    "of_keys",
    "rows_of",
    "write",
    "write_tables",
]

MANIFEST = "manifest.json"
RUNS = "runs.parquet"

MOST_RUNS = 100_000
"""Runs of a pack; a writer adds some thousands at once."""

MOST_RUNS_BYTES = 2**30
"""Memory of ``runs.parquet``, each row with its texts [bytes]."""

COLUMNS = (
    "key",
    "engine",
    "version",
    "scenario_hash",
    "seed",
    "name",
    "sweep",
    "labels",
    "tables",
    "cpu_s",
    "finished_at",
    "host",
    "command",
)
"""Of a run, in the index as in its pack."""
RUN_COLUMNS = (*COLUMNS, "summary", "document", "files")
"""Columns of ``runs.parquet``. labels, summary, document and files are JSON."""


@dataclass(frozen=True)
class PackEntry:
    """A finished run with what the store says of it."""

    record: RunRecord
    columns: Mapping[str, Any]


def write(folder: Path, scratch: Path, entries: Sequence[PackEntry]) -> tuple[str, pa.Table]:
    """Write a pack.

    Parameters
    ----------
    folder
        Where packs are.
    scratch
        Where it is written first; on the same file system.
    entries
        At least one.

    Returns
    -------
    tuple
        Its ID, and what is in its ``runs.parquet``.
    """
    from ackclock._util.arrow import array, table

    kinds = {"seed": np.uint64, "cpu_s": np.float64, "finished_at": np.float64}
    rows = [{"key": entry.record.key, **entry.columns} for entry in entries]
    columns = {name: [row[name] for row in rows] for name in RUN_COLUMNS}
    runs = table(
        {
            name: array(np.array(values, dtype=kinds[name]) if name in kinds else values)
            for name, values in columns.items()
        }
    )
    names = dict.fromkeys(name for entry in entries for name in entry.record.tables)
    tables = {
        name: _together(name, [e.record for e in entries if name in e.record.tables])
        for name in names
    }
    return write_tables(folder, scratch, {"runs": runs, **tables}), runs


def has_files(entry: PackEntry) -> bool:
    """Whether the run wrote tables to files; it is to be alone in its pack then.

    Parameters
    ----------
    entry
        The run.
    """
    return any(_file(entry.record, name) is not None for name in entry.record.tables)


def _file(record: RunRecord, name: str) -> Path | None:
    from ackclock._util.arrow import Tables

    return record.tables.file(name) if isinstance(record.tables, Tables) else None


def _together(name: str, records: Sequence[RunRecord]) -> pa.Table | Path:
    """A table of all runs that have it, with their keys; or the file that has it, of one run."""
    from ackclock._util.arrow import Tables, merge_raw_tables, words

    if len(records) == 1 and (file := _file(records[0], name)) is not None:
        return file

    raw = [r.tables.raw(name) for r in records if isinstance(r.tables, Tables)]
    raw_tables = [raw_table for raw_table in raw if raw_table is not None]
    merged_table = merge_raw_tables(raw_tables) if len(raw_tables) == len(records) else None
    if merged_table is None:
        return join_tables([with_key(record.key, record.tables[name]) for record in records])
    table, lengths = merged_table
    keys = words([record.key for record in records], np.repeat(np.arange(len(records)), lengths))
    return table.add_column(0, KEY, keys)


def write_tables(folder: Path, scratch: Path, tables: Mapping[str, pa.Table | Path]) -> str:
    """Write tables as a pack.

    Parameters
    ----------
    folder, scratch
        As of `write`.
    tables
        ``runs`` and others by name; a file that has one, with the keys, becomes the pack's.

    Returns
    -------
    str
        Its ID.
    """
    beside = _fill_folder(scratch, tables)
    try:
        text = (beside / MANIFEST).read_bytes()
        name = hashlib.sha256(text).hexdigest()[:32]
        target = folder / name
        try:
            beside.rename(target)
        except OSError:
            # The same runs again, written at the same time by another: it is there already.
            if not target.is_dir():
                raise
            shutil.rmtree(beside)
        _sync_folder(folder)
    except BaseException:
        shutil.rmtree(beside, ignore_errors=True)
        raise
    return name


def _fill_folder(scratch: Path, tables: Mapping[str, pa.Table | Path]) -> Path:
    import pyarrow.parquet as pq

    folder = Path(tempfile.mkdtemp(prefix=f"{os.getpid()}-", dir=scratch))
    try:
        files = {}
        for name, table in tables.items():
            file = folder / f"{name}.parquet"
            if isinstance(table, Path):
                table.rename(file)
            else:
                pq.write_table(
                    table, file, compression="zstd", use_dictionary=_find_repetitive(table)
                )
            files[file.name] = {"bytes": file.stat().st_size, "sha256": digest(file)}
            _sync_file(file)
        runs = pq.read_metadata(folder / RUNS).num_rows
        text = json.dumps({"pack_version": 1, "runs": runs, "files": files})
        (folder / MANIFEST).write_text(text, encoding="utf-8")
        _sync_file(folder / MANIFEST)
        umask = os.umask(0)
        os.umask(umask)
        folder.chmod(0o777 & ~umask)
        _sync_folder(folder)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    return folder


def _find_repetitive(table: pa.Table) -> list[str]:
    """Columns worth a dictionary: words, but not texts that differ in every row."""
    import pyarrow as pa

    return [
        field.name
        for field in table.schema
        if field.name != "summary"
        and (pa.types.is_dictionary(field.type) or pa.types.is_string(field.type))
    ]


def _sync_file(file: Path) -> None:
    with file.open("rb") as opened:
        os.fsync(opened.fileno())


def _sync_folder(folder: Path) -> None:
    # Not every file system lets a folder be opened for this; then the rename is as safe as it gets.
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def digest(file: Path) -> str:
    """SHA-256 [hex] of a file.

    Parameters
    ----------
    file
        The file.
    """
    with open_file(file) as opened:
        return hashlib.file_digest(opened, "sha256").hexdigest()


def manifest(pack: Path) -> dict[str, Any] | None:
    """Read a pack's manifest; None if it is not the one that the pack is named after.

    Parameters
    ----------
    pack
        Its folder.

    Raises
    ------
    StoreError
        It names files that no pack has.
    """
    try:
        text = read_bytes(pack / MANIFEST)
    except OSError:
        return None
    except ForeignFileError as error:
        raise StoreError(f"{error}; the store is refused") from None
    if hashlib.sha256(text).hexdigest()[:32] != pack.name:
        return None
    return check_manifest(pack, text)


def is_whole(pack: Path) -> bool:
    """Whether every file of a pack is as it was written.

    Parameters
    ----------
    pack
        Its folder.

    Raises
    ------
    StoreError
        It has links or what is no file.
    """
    try:
        refuse_links(pack)
    except ForeignFileError as error:
        raise StoreError(f"{error}; the store is refused") from None
    contents = manifest(pack)
    if contents is None:
        return False
    for name, entry in contents["files"].items():
        file = pack / name
        try:
            if file.lstat().st_size != entry["bytes"] or digest(file) != entry["sha256"]:
                return False
        except OSError:
            return False
    return True


def rows_of(pack: Path, name: str, columns: Sequence[str] | None = None) -> pa.Table | None:
    """Read a table of a pack; None if it has no such.

    Parameters
    ----------
    pack
        Its folder, whole.
    name
        Of the table.
    columns
        Left out: all.

    Raises
    ------
    ValueError
        The file is no table of runs, or needs more memory than it may have.
    """
    file = pack / f"{name}.parquet"
    if not os.path.lexists(file):
        return None
    column_names = None if columns is None else list(columns)
    is_runs = name == RUNS.removesuffix(".parquet")
    rows = read_table(
        file,
        column_names,
        most_rows=MOST_RUNS if is_runs else math.inf,
        most_bytes=min(allowed_bytes(), MOST_RUNS_BYTES if is_runs else math.inf),
        as_text=is_runs,
    )
    if columns is None and KEY not in rows.column_names:
        raise ValueError(f"{file} has no column {KEY}")
    return rows


def of_keys(rows: pa.Table, keys: set[str]) -> pa.Table:
    """Give the rows of some runs.

    Parameters
    ----------
    rows
        A table of a pack.
    keys
        Of the runs.
    """
    import pyarrow.compute as pc

    is_requested = _is_among(rows[KEY], keys)
    return rows if pc.all(is_requested).as_py() else rows.filter(is_requested)


def _is_among(column: pa.ChunkedArray, keys: set[str]) -> pa.ChunkedArray:
    """For each row whether its key is one of some."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from ackclock._util.arrow import array

    sorted_keys = array(sorted(keys))
    if not pa.types.is_dictionary(column.type):
        return pc.is_in(column, sorted_keys)
    # By the few words, not by a text for each of many rows.
    masks = [pc.is_in(chunk.dictionary, sorted_keys).take(chunk.indices) for chunk in column.chunks]
    return pa.chunked_array(masks, pa.bool_())
