"""The index of a store: which run is in which pack. Only a cache: it is made again from the packs.

SQLite in one file. Before every look it is compared with the names of the packs that are there;
packs that are new are read, packs that are gone are forgotten. A broken index is thrown away.
"""

from __future__ import annotations

import functools
import json
import os
import re
import sqlite3
import threading
from contextlib import ExitStack, closing, suppress
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ackclock.experiments.store.locks import locked
from ackclock.experiments.store.names import check_packs, check_run
from ackclock.experiments.store.pack import COLUMNS, RUNS, rows_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    import pyarrow as pa

__all__ = ["Index"]

VERSION = 2
"""Of the tables below; an index of another version is made again."""

BUSY_S = 5.0
"""After this time without access it is tried again, so that Ctrl-C is noticed [s]."""

_FORM = f"""
CREATE TABLE IF NOT EXISTS meta (version INTEGER);
CREATE TABLE IF NOT EXISTS packs (id TEXT PRIMARY KEY);
CREATE TABLE IF NOT EXISTS runs ({", ".join(COLUMNS)}, pack TEXT, PRIMARY KEY (key, pack))
    WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS runs_pack ON runs (pack);
CREATE TABLE IF NOT EXISTS scenarios (scenario_hash TEXT PRIMARY KEY, document TEXT);
CREATE TABLE IF NOT EXISTS claims (key TEXT PRIMARY KEY, owner TEXT);
"""

_LONG = 16
"""Lists longer than this, such as the links of a large network, are left out of the index."""


_Method = TypeVar("_Method", bound="Callable[..., Any]")


def _sturdy(method: _Method) -> _Method:
    """A method that goes on in memory when the file breaks, or the disk it is on is full.

    While another program has the file, however long, it waits.
    """

    @functools.wraps(method)
    def tried(self: Index, *args: Any, **kwargs: Any) -> Any:
        with self.lock:
            while True:
                try:
                    return method(self, *args, **kwargs)
                except sqlite3.DatabaseError as error:
                    if not self.is_shared:
                        raise
                    if not _is_busy(error):
                        self.leave_file()

    return cast("_Method", tried)


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
        self.lock = threading.RLock()
        self.is_shared = writes
        with ExitStack() as stack:
            if writes:
                # One at a time: a file that another is just making must not be taken for broken.
                with suppress(OSError):
                    locked(stack.enter_context(self._file.with_suffix(".lock").open("a")))
            try:
                self._base = self._opened(writes=writes)
            except sqlite3.Error:
                self._base = self._anew(writes=writes)

    def _opened(self, *, writes: bool) -> sqlite3.Connection:
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
            found = base.execute("SELECT version FROM meta").fetchone()
            if found is None:
                base.execute("INSERT INTO meta VALUES (?)", (VERSION,))
            elif found[0] != VERSION:
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
                return self._opened(writes=True)
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
        with suppress(sqlite3.Error):
            self._base.close()
        self._base = self._anew(writes=False)
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
            there = {entry.name for entry in os.scandir(self._packs) if entry.is_dir()}
        except FileNotFoundError:
            there = set()
        known = {row[0] for row in self._base.execute("SELECT id FROM packs")}
        if known - there:
            self.forget(known - there)
        broken = []
        fresh = sorted(there - known)
        for begin in range(0, len(fresh), 500):
            with self._transaction():
                for name in fresh[begin : begin + 500]:
                    if not self._add_from_disk(name):
                        broken.append(name)
        return broken

    def _add_from_disk(self, name: str) -> bool:
        from ackclock.experiments.store.pack import digest, manifest

        pack = self._packs / name
        said = manifest(pack)
        try:
            if said is None or digest(pack / RUNS) != said["files"][RUNS]["sha256"]:
                return False
            rows = rows_of(pack, "runs")
            assert rows is not None
            for row in rows.to_pylist():
                check_run(pack, row)
            self._insert(name, rows)
        except (OSError, ValueError, KeyError):
            # Not a table, or one without the columns of runs.
            return False
        return True

    def _transaction(self) -> Any:
        return _Transaction(self._base)

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
        columns = [rows[column].to_pylist() for column in COLUMNS]
        marks = ", ".join("?" * (len(COLUMNS) + 1))
        self._base.executemany(
            f"INSERT OR REPLACE INTO runs VALUES ({marks})",
            ((*map(_plain, row), name) for row in zip(*columns, strict=True)),
        )
        hashes = rows["scenario_hash"].to_pylist()
        documents = dict(zip(hashes, rows["document"].to_pylist(), strict=True))
        have = self._having("scenarios", "scenario_hash", documents)
        self._base.executemany(
            "INSERT OR IGNORE INTO scenarios VALUES (?, ?)",
            ((h, _short(text)) for h, text in documents.items() if h not in have),
        )
        self._base.executemany("DELETE FROM claims WHERE key = ?", ((key,) for key in columns[0]))
        self._base.execute("INSERT OR IGNORE INTO packs VALUES (?)", (name,))

    def _having(self, table: str, column: str, values: Iterable[str]) -> set[str]:
        listed = json.dumps(list(values))
        query = f"SELECT {column} FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"
        return {row[0] for row in self._base.execute(query, (listed,))}

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
        found = dict(self._base.execute(f"{query} GROUP BY key", values).fetchall())
        check_packs(self._packs, set(found.values()))
        return found

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
            kept = self._base.execute(f"SELECT key FROM runs WHERE {within}", values).fetchall()
            free = set(keys) - {row[0] for row in kept}
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
    def select(
        self, wheres: Sequence[str], values: Sequence[Any], limit: int | None = None
    ) -> list[dict[str, Any]]:
        """Give runs that fulfil conditions, in the order in which they finished.

        Parameters
        ----------
        wheres
            Conditions of SQL over the columns of runs, and ``document``.
        values
            For their question marks.
        limit
            At most so many, the last ones.
        """
        names = [*COLUMNS, "pack"]
        text = " AND ".join(f"({where})" for where in wheres) or "1"
        joined = " LEFT JOIN scenarios USING (scenario_hash)" if "document" in text else ""
        query = f"""
            SELECT {", ".join("r." + name for name in names)} FROM runs AS r{joined}
            WHERE {text} GROUP BY r.key
            ORDER BY r.finished_at DESC, r.key LIMIT {-1 if limit is None else limit}
        """
        found = self._base.execute(query, values).fetchall()
        rows = [dict(zip(names, row, strict=True)) for row in reversed(found)]
        for row in rows:
            check_run(self._file, row)
        return rows

    @_sturdy
    def names(self) -> set[str]:
        """List labels of runs and paths of their documents, ``[*]`` for any entry of a list."""
        labels = self._base.execute("SELECT DISTINCT j.key FROM runs, json_each(labels) AS j")
        places = self._base.execute(
            "SELECT DISTINCT j.fullkey FROM scenarios, json_tree(document) AS j"
            " WHERE j.key IS NOT NULL"
        )
        found = {row[0] for row in labels.fetchall()}
        for (place,) in places.fetchall():
            found.add(re.sub(r"\[\d+\]", "[*]", place.removeprefix("$.")).replace('"', ""))
        return found

    @_sturdy
    def count(self) -> int:
        """Runs in the store."""
        return int(self._base.execute("SELECT count(DISTINCT key) FROM runs").fetchone()[0])


class _Transaction:
    def __init__(self, base: sqlite3.Connection) -> None:
        self._base = base
        self._begun = False

    def __enter__(self) -> None:
        self._begun = not self._base.in_transaction
        if self._begun:
            self._base.execute("BEGIN IMMEDIATE")

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
    return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _plain(value: Any) -> Any:
    # SQLite's whole numbers have 64 bits with sign; a larger seed is kept as text.
    return str(value) if isinstance(value, int) and value >= 2**63 else value


def _short(document: str) -> str:
    return document if len(document) < 2000 else json.dumps(_without_long(json.loads(document)))


def _without_long(data: Any) -> Any:
    if isinstance(data, dict):
        kept = {key: _without_long(value) for key, value in data.items()}
        return {key: value for key, value in kept.items() if value is not None}
    if isinstance(data, list):
        return None if len(data) > _LONG else [_without_long(item) for item in data]
    return data
