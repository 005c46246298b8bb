"""The store: finished runs on disk, by the hash of what decides them. Survives anything.

A run's key is the hash of the compiled scenario, the seed and the version of the engine, so a run
that is there need never be run again. Finished runs are written in packs
(`ackclock.experiments.store.pack`) by a separate thread, about once a second: what is lost when
the machine stops is at most the runs that finished within that second.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from ackclock._util.end_signals import shield_writes
from ackclock._util.foreign_files import ForeignFileError
from ackclock.errors import AckclockError
from ackclock.experiments.store import pack, place, purpose
from ackclock.experiments.store.index import Index
from ackclock.experiments.store.keeper import join_tables
from ackclock.experiments.store.locks import Presence, lock_file
from ackclock.experiments.store.names import StoreError, check_run
from ackclock.experiments.store.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import pyarrow as pa

    from ackclock.case import Case
    from ackclock.experiments.executors.task import RunRecord

__all__ = ["Store", "StoreError"]


class Store:
    """A folder of finished runs.

    Parameters
    ----------
    folder
        The store; left out: the default place. It is made when it is first written to.
    writes
        Whether runs are to be added. Several programs may add to one store at a time.

    Raises
    ------
    StoreError
        It is not a store, is of a newer schema, or cannot be written.
    """

    def __init__(self, folder: str | Path | None = None, *, writes: bool = False) -> None:
        self.folder = place.default_place() if folder is None else Path(folder)
        self.writes = writes
        self.about: dict[str, Any] = {}
        self._packs = self.folder / "packs"
        self._intact: set[str] = set()
        self._damaged: set[str] = set()
        self._packs_by_run: dict[str, str] = {}
        self._documents: dict[int, tuple[Case, dict[str, str]]] = {}
        self._closed = False
        self._writer = Writer(self.folder, self._commit)
        self._use: Any = None
        self._presence: Presence | None = None
        if writes:
            self._open_to_write()
        else:
            place.check(self.folder)
        self._index = Index(self.folder / "index.sqlite", self._packs, writes=self._index_writes())

    # Opening and closing

    def _index_writes(self) -> bool:
        return self.writes or (self.folder.is_dir() and os.access(self.folder, os.W_OK))

    def _open_to_write(self) -> None:
        try:
            place.begin(self.folder)
            self._use = (self.folder / "use.lock").open("a")
            lock_file(self._use, shared=True)
            with self.lock():
                self._presence = Presence(self.folder / "writers")
        except OSError as error:
            raise place.unwritable(self.folder, error) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Write what waits, and let go of the store."""
        try:
            self._writer.close()
        finally:
            if self._presence is not None:
                shutil.rmtree(self.pieces, ignore_errors=True)
                with suppress(Exception):
                    self._index.release(self._presence.name)
                self._presence.end()
                self._presence = None
            self._index.close()
            self._closed = True
            if self._use is not None:
                self._use.close()
                self._use = None

    # Reading

    def refresh(self) -> None:
        """Take note of what other programs added or removed."""
        for name in self._index.refresh():
            self.set_aside(name)

    def find_stored(self, keys: Collection[str]) -> set[str]:
        """Those of the keys whose runs are kept, and whole by their digests.

        Parameters
        ----------
        keys
            Keys of runs.
        """
        if self._closed and not (self.folder / "store.json").exists():
            return set()
        if self._closed:
            # The results of a sweep are still read when the sweep has let go of the store.
            with Store(self.folder) as again:
                intact = again.find_stored(keys)
                self._packs_by_run.update({key: again.packs_by_run[key] for key in intact})
                return intact
        self.refresh()
        while True:
            pack_of_run = self._index.places(keys)
            wrong = [name for name in set(pack_of_run.values()) if not self.check_pack(name)]
            for name in wrong:
                self.set_aside(name)
            if not wrong and self._index.confirm(self._without_runs(pack_of_run)):
                break
        self._packs_by_run.update(pack_of_run)
        return set(pack_of_run)

    def _without_runs(self, pack_of_run: Mapping[str, str]) -> list[str]:
        """Packs that lack a run which the index says they have."""
        keys: dict[str, set[str]] = {}
        for key, name in pack_of_run.items():
            keys.setdefault(name, set()).add(key)
        return [
            name
            for name, mine in keys.items()
            if (rows := pack.rows_of(self._packs / name, "runs", ["key"])) is None
            or not mine <= set(rows["key"].to_pylist())
        ]

    def check_pack(self, name: str) -> bool:
        """Whether a pack is as it was written; found out once.

        Parameters
        ----------
        name
            Its ID.
        """
        if name not in self._intact and name not in self._damaged:
            is_intact = pack.is_whole(self._packs / name)
            (self._intact if is_intact else self._damaged).add(name)
        return name in self._intact

    def set_aside(self, name: str) -> None:
        """Forget a damaged pack, and move it to where nobody reads it.

        Parameters
        ----------
        name
            Its ID.
        """
        self._damaged.add(name)
        self._index.forget([name])
        if self.writes:
            aside = self.folder / "damaged"
            with suppress(OSError):
                aside.mkdir(exist_ok=True)
                (self._packs / name).rename(aside / f"{name}-{time.time_ns()}")

    @property
    def packs_by_run(self) -> Mapping[str, str]:
        """Packs of the runs that were requested."""
        return self._packs_by_run

    @property
    def damaged(self) -> frozenset[str]:
        """Packs that were found damaged; their runs count as not there."""
        return frozenset(self._damaged)

    def _by_pack(self, keys: Collection[str]) -> dict[str, set[str]]:
        # Another program may have put a run into another pack since we looked.
        is_there = {
            name: (self._packs / name).is_dir() for name in set(self._packs_by_run.values())
        }
        missing = [key for key in keys if not is_there.get(self._packs_by_run.get(key, ""), False)]
        if missing:
            for key in missing:
                self._packs_by_run.pop(key, None)
            self.find_stored(missing)
        keys_of_pack: dict[str, set[str]] = {}
        for key in keys:
            if key not in self._packs_by_run:
                message = f"{self.folder}: run {key[:12]} is not in the store; run the sweep again"
                if not (self.folder / "store.json").exists():
                    message = (
                        f"{self.folder}: the store is gone, it was removed; run the sweep again"
                    )
                raise StoreError(message)
            keys_of_pack.setdefault(self._packs_by_run[key], set()).add(key)
        return keys_of_pack

    def table_names(self, keys: Collection[str]) -> list[str]:
        """Tables that at least one of the runs has.

        Parameters
        ----------
        keys
            Keys of runs.
        """
        names: dict[str, None] = {}
        for name in self._by_pack(keys):
            contents = pack.manifest(self._packs / name)
            files = [] if contents is None else [Path(file).stem for file in contents["files"]]
            names.update(dict.fromkeys(file for file in files if file != "runs"))
        return list(names)

    def _read(
        self, name: str, keys: Collection[str], columns: Sequence[str] | None = None
    ) -> list[pa.Table]:
        tables: list[pa.Table] = []
        for pack_name, pack_keys in self._by_pack(keys).items():
            try:
                rows = pack.rows_of(self._packs / pack_name, name, columns)
            except OSError as error:
                message = (
                    f"{self._packs / pack_name} was changed while it was read ({error});"
                    " run the sweep again, it repeats only what is missing"
                )
                raise StoreError(message) from None
            except ForeignFileError as error:
                raise StoreError(f"{error}; the store is refused") from None
            except ValueError:
                message = f"{self._packs / pack_name}: {name}.parquet is no table of runs"
                raise StoreError(f"{message}; the store is refused") from None
            if rows is not None:
                tables.append(pack.of_keys(rows, pack_keys))
        return tables

    def table(self, name: str, keys: Collection[str]) -> pa.Table | None:
        """Rows of a table of these runs, with a column ``key`` before the others.

        Parameters
        ----------
        name
            Of the table.
        keys
            Keys of runs.
        """
        tables = self._read(name, keys)
        return join_tables(tables) if tables else None

    def summaries(self, keys: Collection[str]) -> dict[str, dict[str, Any]]:
        """Summaries of these runs by key, without what their tables hold.

        Parameters
        ----------
        keys
            Keys of runs.
        """
        summaries = {}
        for rows in self._read("runs", keys, ("key", "summary")):
            for key, text in zip(rows["key"].to_pylist(), rows["summary"].to_pylist(), strict=True):
                summaries[key] = json.loads(text)
        return {key: summaries[key] for key in keys}

    def runs(self, keys: Collection[str]) -> list[dict[str, Any]]:
        """All that the store says of these runs: the columns of ``runs.parquet``.

        Parameters
        ----------
        keys
            Keys of runs.
        """
        row_of_run = {
            row["key"]: row for rows in self._read("runs", keys) for row in rows.to_pylist()
        }
        for row in row_of_run.values():
            # The index, which may be from somebody else, has not looked at all of it.
            check_run(self.folder, row)
        return [row_of_run[key] for key in keys]

    @property
    def index(self) -> Index:
        """Which run is where."""
        return self._index

    # Writing

    @property
    def pieces(self) -> Path:
        """Folder where runs of this program may write large tables before they are added."""
        assert self._presence is not None
        return self.folder / place.PIECES / self._presence.name

    def describe(self, about: Mapping[str, Any]) -> None:
        """Say what runs that are added belong to.

        Parameters
        ----------
        about
            ``sweep`` (a name), ``command``.
        """
        self.about = {**about, "sweep": purpose.name_of(about.get("sweep", ""))}

    def add(self, record: RunRecord, case: Case, labels: Mapping[str, Any] | None = None) -> None:
        """Take a finished run; it is written within about a second.

        Parameters
        ----------
        record
            The run.
        case
            What was run.
        labels
            Where in the grid of its sweep the run is.

        Raises
        ------
        StoreError
            Runs that were added before could not be written.
        """
        self._writer.check()
        self._writer.add(pack.PackEntry(record, self._columns(record, case, labels or {})))

    def flush(self) -> None:
        """Wait until everything that was added is safe.

        Raises
        ------
        StoreError
            It could not be written.
        """
        self._writer.flush()

    def _columns(self, record: RunRecord, case: Case, labels: Mapping[str, Any]) -> dict[str, Any]:
        # By identity, and the case is held: no other can get the same.
        if id(case) not in self._documents:
            self._documents[id(case)] = (case, _describe(case))
        return {
            **self._documents[id(case)][1],
            "seed": record.seed,
            "sweep": self.about.get("sweep", ""),
            "labels": json.dumps(dict(labels)),
            "tables": json.dumps(list(record.tables)),
            "cpu_s": record.cpu_s,
            "finished_at": time.time(),
            "host": platform.node(),
            "command": self.about.get("command") or "",
            "summary": record.summary_json,
        }

    def _commit(self, entries: Sequence[pack.PackEntry]) -> None:
        with self.lock(), shield_writes():
            # Another program may have done the same runs in the meantime: each is kept once.
            self._index.refresh()
            there = self._index.places([entry.record.key for entry in entries])
            fresh = {e.record.key: e for e in entries if e.record.key not in there}
            # Files of a large run become those of its pack; small runs share one.
            large = [entry for entry in fresh.values() if pack.has_files(entry)]
            small = [entry for entry in fresh.values() if not pack.has_files(entry)]
            for together in [*([small] if small else []), *([entry] for entry in large)]:
                name, rows = pack.write(self._packs, self.folder / "tmp", together)
                self._index.add(name, rows)
                self._intact.add(name)
                self._packs_by_run.update({entry.record.key: name for entry in together})
        for entry in entries:
            if pack.has_files(entry):
                shutil.rmtree(self.pieces / entry.record.key, ignore_errors=True)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Be the only one that changes the store."""
        with (self.folder / "commit.lock").open("a") as file:
            lock_file(file)
            yield

    @contextmanager
    def alone(self) -> Iterator[bool]:
        """Try to be the only program that has the store open to write, for the time being.

        Others that open it meanwhile wait. Gives whether it is so.
        """
        succeeded = lock_file(self._use, wait=False)
        try:
            yield succeeded
        finally:
            lock_file(self._use, shared=True)

    def rewrite(self, name: str, keys: set[str]) -> str:
        """Write some runs of a pack as a separate pack. The old one stays.

        Parameters
        ----------
        name
            ID of the pack.
        keys
            Of the runs.

        Returns
        -------
        str
            ID of the new pack.
        """
        pack_folder = self._packs / name
        contents = pack.manifest(pack_folder)
        tables = {}
        for file in contents["files"] if contents is not None else ():
            table = Path(file).stem
            rows = pack.rows_of(pack_folder, table)
            if rows is not None:
                tables[table] = pack.of_keys(rows, keys)
        new_name = pack.write_tables(self._packs, self.folder / "tmp", tables)
        self._index.add(new_name, tables["runs"])
        return new_name

    # Claims: so that two sweeps at once do not do the same runs

    def claim(self, keys: Collection[str]) -> set[str]:
        """Claim runs; gives those that no other program is doing now, and that are not kept.

        Parameters
        ----------
        keys
            Keys of runs.
        """
        assert self._presence is not None
        return self._index.claim(
            keys, self._presence.name, lambda name: Presence.is_held(self.folder / "writers" / name)
        )


def _describe(case: Case) -> dict[str, str]:
    """What the store says of every run of a case."""
    parcel = _parcel(case)
    return {
        "engine": case.engine,
        "version": case.engine_version,
        "scenario_hash": case.fingerprint,
        "name": case.name,
        "document": json.dumps(parcel[0]),
        "files": json.dumps(parcel[1]),
    }


def _parcel(case: Case) -> tuple[dict[str, Any], dict[str, str]]:
    try:
        parcel = case.parcel()
    except AckclockError:
        # A class of an interactive session: its text is not to be had.
        return case.to_document(), {}
    return parcel.document, dict(parcel.files)
