"""What becomes of a damaged pack: who reads on, who may move it, and what is counted of it."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from ackclock.experiments.store import pack
from ackclock.experiments.store.garbage import collect
from ackclock.experiments.store.store import Store

KEYS = {letter: letter * 64 for letter in "ab"}


def row(letter):
    return {
        "key": KEYS[letter], "engine": "packet", "version": "1", "scenario_hash": "h", "seed": 1,
        "name": "n", "sweep": "s", "labels": "{}", "tables": "[]", "cpu_s": 0.5,
        "finished_at": 1.0, "host": "here", "command": "c", "summary": "{}",
        "document": json.dumps({"duration": "1 s", "flows": []}), "files": "{}",
    }  # fmt: skip


@pytest.fixture
def place(tmp_path):
    """A store of two packs, one run each."""
    with Store(tmp_path / "store", writes=True):
        pass
    return tmp_path / "store"


@pytest.fixture
def packs(place):
    packs, temporary = place / "packs", place / "tmp"
    for folder in (packs, temporary):
        folder.mkdir(exist_ok=True)
    return {
        letter: pack.write_tables(packs, temporary, {"runs": pa.Table.from_pylist([row(letter)])})
        for letter in KEYS
    }


def damage(place, name):
    file = place / "packs" / name / "runs.parquet"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def test_a_damaged_pack_is_moved_away_whole_and_its_runs_are_not_there(place, packs):
    damage(place, packs["a"])
    with Store(place, writes=True) as store:
        assert store.find_stored(KEYS.values()) == {KEYS["b"]}
        assert store.damaged == {packs["a"]}
        assert store.packs_by_run == {KEYS["b"]: packs["b"]}
    assert [x.name for x in (place / "packs").iterdir()] == [packs["b"]]
    (aside,) = (place / "damaged").iterdir()
    assert aside.name.startswith(f"{packs['a']}-")
    assert sorted(x.name for x in aside.iterdir()) == ["manifest.json", "runs.parquet"]
    # A new one of the same runs may have the name of the old one, and be damaged again.
    again = pack.write_tables(
        place / "packs", place / "tmp", {"runs": pa.Table.from_pylist([row("a")])}
    )
    assert again == packs["a"]
    damage(place, again)
    with Store(place, writes=True) as store:
        assert store.find_stored(KEYS.values()) == {KEYS["b"]}
    assert len(list((place / "damaged").iterdir())) == 2


def test_a_reader_forgets_a_damaged_pack_and_leaves_it_where_it_is(place, packs):
    damage(place, packs["b"])
    with Store(place) as store:
        assert store.find_stored(KEYS.values()) == {KEYS["a"]}
        assert store.damaged == {packs["b"]}
    assert {x.name for x in (place / "packs").iterdir()} == set(packs.values())
    assert not (place / "damaged").exists()


def test_a_pack_that_cannot_be_moved_counts_as_damaged_all_the_same(place, packs, monkeypatch):
    def refuse(self, target):
        raise PermissionError

    damage(place, packs["a"])
    monkeypatch.setattr(Path, "rename", refuse)
    with Store(place, writes=True) as store:
        store.set_aside(packs["a"])
        assert store.damaged == {packs["a"]}
        assert store.find_stored([KEYS["a"]]) == set()


def test_garbage_counts_damaged_packs_or_takes_them(place, packs):
    damage(place, packs["a"])
    with Store(place, writes=True) as store:
        assert collect(store, dry=True).damaged == 1
    with Store(place, writes=True) as store:
        assert collect(store).damaged == 1
        assert collect(store).damaged == 0
        assert store.find_stored(KEYS.values()) == {KEYS["b"]}
    assert [x.name for x in (place / "packs").iterdir()] == [packs["b"]]
    assert not list((place / "damaged").iterdir())
