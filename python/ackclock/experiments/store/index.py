"""The index of a store: which run is in which pack. Only a cache: it is made again from the packs.

SQLite in one file. Before every look it is compared with the names of the packs that are there;
packs that are new are read, packs that are gone are forgotten, packs that it does not hold as they
are (`ackclock.experiments.store.index_rows`) are read again. A broken index is thrown away.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sqlite3
import threading
from contextlib import ExitStack, closing, suppress
from itertools import groupby
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ackclock._util.foreign_files import ForeignFileError
from ackclock.experiments.store.index_rows import digest_of, pack_rows
from ackclock.experiments.store.locks import lock_file
from ackclock.experiments.store.names import StoreError, check_packs, check_run
from ackclock.experiments.store.pack import COLUMNS, RUNS, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    import pyarrow as pa

__all__ = ["Index"]

VERSION = 3
"""Of the tables below; an index of another version is made again."""

BUSY_S = 5.0
"""After this time without access it is tried again, so that Ctrl-C is noticed [s]."""

_FORM = f"""
CREATE TABLE IF NOT EXISTS meta (version INTEGER);
CREATE TABLE IF NOT EXISTS packs (id TEXT PRIMARY KEY, digest TEXT);
CREATE TABLE IF NOT EXISTS runs
    ({", ".join(COLUMNS)}, document_id, pack TEXT, PRIMARY KEY (key, pack)) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_pack ON runs (pack);
CREATE TABLE IF NOT EXISTS scenarios (document_id PRIMARY KEY, document, is_short) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT);
"""

_HELD = ", ".join((*COLUMNS, "document_id"))
"""What the digest of a pack's rows is of."""


_Method = TypeVar("_Method", bound="Callable[..., Any]")


def _sturdy(method: _Method) -> _Method:
    """A method that goes on in memory when the file breaks, or the disk it is on is full.

    While another program has the file, however long, it waits.
    """

    @functools.wraps(method)
    def retry(self: Index, *args: Any, **kwargs: Any) -> Any:
        with self.lock:
            while True:
                try:
                    return method(self, *args, **kwargs)
                except sqlite3.DatabaseError as error:
                    if self.is_fresh:
                        raise
                    if not (self.is_shared and _is_busy(error)):
                        self.leave_file()

    return cast("_Method", retry)


class _AnotherVersionError(sqlite3.DatabaseError):
    sqlite_errorcode = sqlite3.SQLITE_ERROR


class Index:
    """The index of one store.

    Parameters
    ----------
    file
        Where it is.
    packs
        Folder of the packs.
    writes
        Whether the file may be changed; if not, what is missing is kept in memory.
    """

    def __init__(self, file: Path, packs: Path, *, writes: bool) -> None:
        self._file = file
        self._packs = packs
        self.is_fresh = False
        self._is_checked = False
        self._confirmed: set[str] = set()
        self.lock = threading.RLock()
        self.is_shared = writes
        with ExitStack() as stack:
            if writes:
                # One at a time: a file that another is just making must not be taken for broken.
                with suppress(OSError):
                    lock_file(stack.enter_context(self._file.with_suffix(".lock").open("a")))
            try:
                self._base = self._open_or_rebuild(writes=writes)
            except sqlite3.Error:
                self._base = self._anew(writes=writes)

    def _open_or_rebuild(self, *, writes: bool) -> sqlite3.Connection:
        while True:
            try:
                return self._open(writes=writes)
            except sqlite3.Error as error:
                if not _is_busy(error):
                    raise

    def _open(self, *, writes: bool) -> sqlite3.Connection:
        if writes:
            base = sqlite3.connect(self._file, timeout=BUSY_S, check_same_thread=False)
        else:
            base = sqlite3.connect(":memory:", check_same_thread=False)
        with ExitStack() as stack:
            stack.callback(base.close)
            base.isolation_level = None
            # The file may come from somebody else: its views and triggers call no function that
            # has effects.
            base.execute("PRAGMA trusted_schema=OFF")
            if writes:
                base.execute("PRAGMA journal_mode=WAL")
                # Only a cache: after a crash of the machine it may be stale or broken.
                base.execute("PRAGMA synchronous=OFF")
            else:
                self._copy_to(base)
            base.executescript(_FORM)
            if _shape(base) != _own_shape():
                raise _AnotherVersionError
            version_row = base.execute("SELECT version FROM meta").fetchone()
            if version_row is None:
                base.execute("INSERT INTO meta VALUES (?)", (VERSION,))
            elif version_row[0] != VERSION:
                raise _AnotherVersionError
            stack.pop_all()
        return base

    def _copy_to(self, base: sqlite3.Connection) -> None:
        if self._file.is_file():
            uri = f"file:{self._file}?mode=ro&immutable=1"
            with closing(sqlite3.connect(uri, uri=True)) as other:
                other.backup(base)

    def _anew(self, *, writes: bool) -> sqlite3.Connection:
        """Throw a broken index away; where even that fails, do without a file."""
        if writes:
            try:
                for suffix in ("", "-wal", "-shm"):
                    self._file.with_name(self._file.name + suffix).unlink(missing_ok=True)
                return self._open_or_rebuild(writes=True)
            except (sqlite3.Error, OSError):
                self.is_shared = False
        base = sqlite3.connect(":memory:", check_same_thread=False)
        base.isolation_level = None
        base.executescript(_FORM)
        base.execute("INSERT INTO meta VALUES (?)", (VERSION,))
        return base

    def leave_file(self) -> None:
        """Go on in memory, with what the packs say."""
        self.is_shared = False
        self.is_fresh = True
        with suppress(sqlite3.Error):
            self._base.close()
        self._base = self._anew(writes=False)
        self._confirmed.clear()
        self.refresh()

    def close(self) -> None:
        """Close the file."""
        self._base.close()

    @_sturdy
    def refresh(self) -> list[str]:
        """Compare with the packs that are there.

        Returns
        -------
        list of str
            IDs of packs whose list of runs cannot be read.
        """
        try:
            there = {
                entry.name
                for entry in os.scandir(self._packs)
                if entry.is_dir(follow_symlinks=False)
            }
        except FileNotFoundError:
            there = set()
        if not self._is_checked:
            self._forget_changed()
            self._is_checked = True
        indexed = {row[0] for row in self._base.execute("SELECT id FROM packs")}
        if indexed - there:
            self.forget(indexed - there)
        broken = []
        fresh = sorted(there - indexed)
        for begin in range(0, len(fresh), 500):
            with self._transaction():
                for name in fresh[begin : begin + 500]:
                    if not self._add_from_disk(name):
                        broken.append(name)
        return broken

    def _add_from_disk(self, name: str) -> bool:
        rows = self._rows_on_disk(name)
        if rows is None:
            return False
        try:
            self._insert(name, rows)
        except KeyError:
            # A table without the columns of runs.
            return False
        return True

    def _rows_on_disk(self, name: str) -> pa.Table | None:
        """The runs of a pack; None if it is damaged."""
        from ackclock.experiments.store.pack import digest, manifest

        pack = self._packs / name
        pack_manifest = manifest(pack)
        try:
            if (
                pack_manifest is None
                or digest(pack / RUNS) != pack_manifest["files"][RUNS]["sha256"]
            ):
                return None
            rows = rows_of(pack, "runs")
            assert rows is not None
            for row in rows.to_pylist():
                check_run(pack, row)
        except ForeignFileError as error:
            raise StoreError(f"{error}; the store is refused") from None
        except (OSError, ValueError, KeyError):
            # Not a table, or one without keys.
            return None
        return rows

    def _forget_changed(self) -> None:
        """Forget packs whose rows are not those that were written, so that they are read again."""
        with self._transaction("BEGIN"):
            digests_written = dict(self._base.execute("SELECT id, digest FROM packs"))
            texts = self._documents()
            rows = self._base.execute(f"SELECT pack, {_HELD} FROM runs ORDER BY pack, key")
            digests_now = {
                name: digest_of((row[1:] for row in mine), texts)
                for name, mine in groupby(rows, key=itemgetter(0))
            }
        changed = {
            name
            for name in {*digests_written, *digests_now}
            if digests_written.get(name) != digests_now.get(name)
        }
        if changed:
            self.forget(changed)

    def _documents(self, names: Collection[str] | None = None) -> dict[str, tuple[str, int]]:
        query, values = "SELECT * FROM scenarios", tuple[str, ...]()
        if names is not None:
            query += " WHERE document_id IN (SELECT value FROM json_each(?))"
            values = (json.dumps(list(names)),)
        return {name: (text, short) for name, text, short in self._base.execute(query, values)}

    @_sturdy
    def confirm(self, packs: Collection[str]) -> bool:
        """Compare what is held of packs with what they say, and correct it.

        Parameters
        ----------
        packs
            Their IDs.

        Returns
        -------
        bool
            Whether all of it was the same.
        """
        same = True
        for name in sorted(set(packs) - self._confirmed):
            rows = self._rows_on_disk(name)
            runs = self._base.execute(
                f"SELECT {_HELD} FROM runs WHERE pack = ? ORDER BY key", (name,)
            ).fetchall()
            texts = self._documents({row[-1] for row in runs})
            if rows is None or pack_rows(rows).digest() != digest_of(runs, texts):
                same = False
                self.forget([name])
                if rows is not None:
                    with self._transaction():
                        self._insert(name, rows)
            if rows is not None:
                self._confirmed.add(name)
        return same

    def _transaction(self, begin: str = "BEGIN IMMEDIATE") -> Any:
        return _Transaction(self._base, begin)

    @_sturdy
    def add(self, name: str, rows: pa.Table) -> None:
        """Add a pack that was just written.

        Parameters
        ----------
        name
            Its ID.
        rows
            Its runs.
        """
        with self._transaction():
            self._insert(name, rows)

    def _insert(self, name: str, rows: pa.Table) -> None:
        packed = pack_rows(rows)
        marks = ", ".join("?" * (len(COLUMNS) + 2))
        self._base.executemany(
            f"INSERT OR REPLACE INTO runs VALUES ({marks})", ((*row, name) for row in packed.runs)
        )
        self._base.executemany(
            "INSERT OR REPLACE INTO scenarios VALUES (?, ?, ?)",
            ((document, *entry) for document, entry in packed.documents.items()),
        )
        self._base.executemany(
            "DELETE FROM claims WHERE key = ?", ((row[0],) for row in packed.runs)
        )
        self._base.execute("INSERT OR REPLACE INTO packs VALUES (?, ?)", (name, packed.digest()))

    @_sturdy
    def forget(self, packs: Collection[str]) -> None:
        """Forget packs that are gone.

        Parameters
        ----------
        packs
            Their IDs.
        """
        with self._transaction():
            self._base.executemany("DELETE FROM packs WHERE id = ?", ((name,) for name in packs))
            self._base.executemany("DELETE FROM runs WHERE pack = ?", ((name,) for name in packs))

    @_sturdy
    def places(self, keys: Collection[str] | None = None) -> dict[str, str]:
        """Give the pack of each run; the same one every time if several have it.

        Parameters
        ----------
        keys
            Of the runs; left out: all.
        """
        query, values = "SELECT key, min(pack) FROM runs", tuple[str, ...]()
        if keys is not None:
            query += " WHERE key IN (SELECT value FROM json_each(?))"
            values = (json.dumps(list(keys)),)
        pack_of_run = dict(self._base.execute(f"{query} GROUP BY key", values).fetchall())
        check_packs(self._packs, set(pack_of_run.values()))
        return pack_of_run

    @_sturdy
    def claim(self, keys: Collection[str], owner: str, is_alive: Callable[[str], bool]) -> set[str]:
        """Note that a program is about to do runs. The claim holds as long as the program lives.

        Parameters
        ----------
        keys
            Keys of runs.
        owner
            The program.
        is_alive
            Whether another program that has claimed runs still lives.

        Returns
        -------
        set of str
            Those that are neither kept nor claimed by another that lives.
        """
        within = "key IN (SELECT value FROM json_each(?))"
        values = (json.dumps(list(keys)),)
        with self._transaction():
            stored_rows = self._base.execute(
                f"SELECT key FROM runs WHERE {within}", values
            ).fetchall()
            free = set(keys) - {row[0] for row in stored_rows}
            if not self.is_shared:
                return free
            claimed = self._base.execute(
                f"SELECT key, owner FROM claims WHERE {within}", values
            ).fetchall()
            alive = {name: name != owner and is_alive(name) for name in {o for _, o in claimed}}
            free -= {key for key, other in claimed if alive[other]}
            self._base.executemany(
                "INSERT OR REPLACE INTO claims VALUES (?, ?)", ((key, owner) for key in free)
            )
        return free

    @_sturdy
    def release(self, owner: str) -> None:
        """Take a program's claims back.

        Parameters
        ----------
        owner
            The program.
        """
        if self.is_shared:
            with self._transaction():
                self._base.execute("DELETE FROM claims WHERE owner = ?", (owner,))

    @_sturdy
    def doubles(self) -> list[tuple[str, str]]:
        """Give key and pack of every run that another pack has too."""
        query = """
            SELECT key, pack FROM runs AS r
            WHERE pack > (SELECT min(pack) FROM runs AS o WHERE o.key = r.key)
        """
        found: list[tuple[str, str]] = self._base.execute(query).fetchall()
        check_packs(self._packs, {name for _, name in found})
        return found

    @_sturdy
    def select(self, limit: int | None = None) -> list[dict[str, Any]]:
        """Give runs in the order in which they finished.

        Parameters
        ----------
        limit
            At most so many, the last ones.
        """
        names = [*COLUMNS, "document_id", "pack"]
        query = f"""
            SELECT {", ".join(names[:-1])}, min(pack) FROM runs GROUP BY key
            ORDER BY finished_at DESC, key LIMIT {-1 if limit is None else limit}
        """
        run_rows = self._base.execute(query).fetchall()
        rows = [dict(zip(names, row, strict=True)) for row in reversed(run_rows)]
        for row in rows:
            check_run(self._file, row)
        return rows

    @_sturdy
    def documents(self) -> dict[str, tuple[str, int]]:
        """Give documents by their IDs: the text, and whether long lists were left out of it."""
        return self._documents()

    @_sturdy
    def names(self) -> set[str]:
        """List labels of runs and paths of their documents, ``[*]`` for any entry of a list."""
        labels = self._base.execute("SELECT DISTINCT j.key FROM runs, json_each(labels) AS j")
        json_paths = self._base.execute(
            "SELECT DISTINCT j.fullkey FROM scenarios, json_tree(document) AS j"
            " WHERE j.key IS NOT NULL"
        )
        names = {row[0] for row in labels.fetchall()}
        for (path,) in json_paths.fetchall():
            names.add(re.sub(r"\[\d+\]", "[*]", path.removeprefix("$.")).replace('"', ""))
        return names

    @_sturdy
    def count(self) -> int:
        """Runs in the store."""
        return int(self._base.execute("SELECT count(DISTINCT key) FROM runs").fetchone()[0])


class _Transaction:
    def __init__(self, base: sqlite3.Connection, begin: str) -> None:
        self._base = base
        self._begin = begin
        self._begun = False

    def __enter__(self) -> None:
        self._begun = not self._base.in_transaction
        if self._begun:
            self._base.execute(self._begin)

    def __exit__(self, kind: object, *_: object) -> None:
        if not self._begun:
            return
        try:
            if kind is None:
                self._base.execute("COMMIT")
        finally:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")


def _is_busy(error: sqlite3.Error) -> bool:
    # The low byte is the kind of error, the rest its cause.
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)  # text that is not UTF-8: none
    return code & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _shape(base: sqlite3.Connection) -> set[tuple[str, str, str]]:
    """Tables, indices, views and triggers."""
    return set(base.execute("SELECT type, name, sql FROM sqlite_master").fetchall())


@functools.cache
def _own_shape() -> set[tuple[str, str, str]]:
    with closing(sqlite3.connect(":memory:")) as base:
        base.executescript(_FORM)
        return _shape(base)
