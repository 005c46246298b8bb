"""Cleaning a store: leftovers, damaged packs, doubles, and runs that one says to remove."""

from __future__ import annotations

import shutil
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.experiments.store import pack
from ackclock.experiments.store.locks import Presence, lock_file
from ackclock.experiments.store.place import PIECES, refuse_foreign
from ackclock.experiments.store.store import Store, StoreError

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from pathlib import Path

__all__ = ["Collected", "collect"]


@dataclass
class Collected:
    """What was removed, or would be.

    Parameters
    ----------
    leftovers
        Folders of writers that were killed.
    damaged
        Packs that are not as they were written.
    doubles
        Runs that two packs had.
    runs
        Runs whose removal was requested.
    bytes
        Bytes that are free then.
    dry
        Whether nothing was touched.
    """

    leftovers: int = 0
    damaged: int = 0
    doubles: int = 0
    runs: int = 0
    bytes: int = 0
    dry: bool = True

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, for JSON."""
        names = ("leftovers", "damaged", "doubles", "runs", "bytes", "dry")
        return {name: getattr(self, name) for name in names}

    def __str__(self) -> str:
        from ackclock._util.number_text import engineering

        counts = [
            f"{self.leftovers} leftovers of writers that were stopped",
            f"{self.damaged} damaged packs",
            f"{self.doubles} runs that were there twice",
            f"{self.runs} runs requested",
        ]
        verb = "would remove" if self.dry else "removed"
        return f"{verb} {', '.join(counts)}: {engineering(float(self.bytes), 'B')}"


def collect(store: Store, remove: Collection[str] = (), *, dry: bool = False) -> Collected:
    """Clean a store. Safe at any time: it is refused where it could take runs from a sweep.

    Parameters
    ----------
    store
        Opened to write.
    remove
        Keys of runs to be removed.
    dry
        Only count.

    Raises
    ------
    StoreError
        Runs are to be removed while another program uses the store.
    """
    collected = Collected(dry=dry)
    with store.lock(), store.alone() as alone:
        refuse_foreign(store.folder)
        store.refresh()
        if remove and not alone:
            message = (
                f"{store.folder}: another program uses the store, so no run is removed; try again"
                " when it has ended"
            )
            raise StoreError(message)
        _leftovers(store, collected)
        _drop_damaged(store, collected)
        if alone:
            _runs(store, set(remove), collected)
    return collected


def _size(folder: Path) -> int:
    files = [folder, *folder.rglob("*")]
    return sum(file.lstat().st_size for file in files if file.is_file())


def _drop(folders: Iterable[Path], collected: Collected) -> int:
    count = 0
    for folder in folders:
        count += 1
        collected.bytes += _size(folder)
        if collected.dry:
            continue
        if folder.is_dir():
            shutil.rmtree(folder)
        else:
            folder.unlink()
    return count


def _leftovers(store: Store, found: Collected) -> None:
    # Writers hold the lock that we hold, so whatever is here belongs to none that lives. Where a
    # network's file system does not lock, an hour is long enough.
    old = time.time() - 3600 if not _locks(store) else float("inf")
    there = [f for f in (store.folder / "tmp").iterdir() if f.stat().st_mtime < old]
    found.leftovers = _drop([*there, *_pieces(store)], found)
    if not found.dry:
        for at in Presence.left(store.folder / "writers"):
            at.unlink()


def _pieces(store: Store) -> list[Path]:
    """Folders with tables of unfinished runs whose programs were killed."""
    folder, writers = store.folder / PIECES, store.folder / "writers"
    if not folder.is_dir() or not _locks(store):
        return []
    return [at for at in sorted(folder.iterdir()) if not Presence.is_held(writers / at.name)]


def _locks(store: Store) -> bool:
    """Whether locks work here: a second one on the same file must be refused."""
    with (store.folder / "commit.lock").open("a") as second:
        return not lock_file(second, wait=False)


def _drop_damaged(store: Store, found: Collected) -> None:
    for name in sorted(set(store.index.places().values())):
        if not store.check_pack(name):
            if found.dry:
                found.damaged += 1
            else:
                store.set_aside(name)
    aside = store.folder / "damaged"
    if aside.is_dir():
        found.damaged += _drop(sorted(aside.iterdir()), found)


def _runs(store: Store, remove: set[str], collected: Collected) -> None:
    """Write packs anew without the runs that go; the new one is there before the old one goes."""
    going: dict[str, set[str]] = {}
    for key, name in store.index.doubles():
        going.setdefault(name, set()).add(key)
        collected.doubles += 1
    pack_of_run = store.index.places(remove) if remove else {}
    for key, name in pack_of_run.items():
        going.setdefault(name, set()).add(key)
    collected.runs = len(pack_of_run)
    for name, keys in going.items():
        pack_folder = store.folder / "packs" / name
        before = _size(pack_folder)
        rows = pack.rows_of(pack_folder, "runs")
        assert rows is not None
        stay = set(rows["key"].to_pylist()) - keys
        if collected.dry:
            collected.bytes += round(before * len(keys) / rows.num_rows)
            continue
        collected.bytes += before
        if stay:
            collected.bytes -= _size(store.folder / "packs" / store.rewrite(name, stay))
        store.index.forget([name])
        shutil.rmtree(pack_folder)
