"""Parts of a store, by hand: packs, the index, filters, names, places, garbage, the writer."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.experiments.store import names, pack, place
from ackclock.experiments.store.garbage import Collected
from ackclock.experiments.store.index import Index, _is_busy
from ackclock.experiments.store.index_rows import _plain, _short, _without_long
from ackclock.experiments.store.names import StoreError
from ackclock.experiments.store.writer import Writer


def key(letter):
    return letter * 64


def rows(*letters, finished=1.0, **more):
    """Rows of ``runs.parquet``; a letter is a key, and the place in the alphabet a seed."""
    return [
        {
            "key": key(letter), "engine": "packet", "version": "1", "scenario_hash": f"h{letter}",
            "seed": ord(letter) - ord("a"), "name": f"n{letter}", "sweep": "s",
            "labels": json.dumps({"net.buffer": f"{i} pkt", "load": i}), "tables": '["flows"]',
            "cpu_s": 0.5, "finished_at": finished + i, "host": "here", "command": "c",
            "summary": "{}",
            "document": json.dumps({"duration": "1 s", "flows": [{"id": "x", "cc": "aimd"},
                                    {"id": "y", "cc": {"kind": "vegas"}}], "n": i}),
            "files": "{}", **more,
        }
        for i, letter in enumerate(letters)
    ]  # fmt: skip


@pytest.fixture
def folder(tmp_path):
    for name in ("packs", "tmp"):
        (tmp_path / name).mkdir()
    return tmp_path


def written(folder, runs, **tables):
    made = {"runs": pa.Table.from_pylist(runs), **tables}
    return pack.write_tables(folder / "packs", folder / "tmp", made)


def index(folder, *, writes=True):
    return Index(folder / "index.sqlite", folder / "packs", writes=writes)


def test_a_pack_is_named_by_its_manifest_and_vouches_for_every_byte(folder):
    name = written(folder, rows("a", "b"), flows=pa.table({"key": [key("a")], "x": [1]}))
    at = folder / "packs" / name
    said = pack.manifest(at)
    assert (said["pack_version"], said["runs"]) == (1, 2)
    assert list(said["files"]) == ["runs.parquet", "flows.parquet"]
    assert said["files"]["flows.parquet"]["bytes"] == (at / "flows.parquet").stat().st_size
    assert pack.is_whole(at)
    # The same runs again are the same pack.
    assert written(folder, rows("a", "b"), flows=pa.table({"key": [key("a")], "x": [1]})) == name
    assert len(list((folder / "packs").iterdir())) == 1
    assert list((folder / "tmp").iterdir()) == []
    assert pack.rows_of(at, "flows").to_pylist() == [{"key": key("a"), "x": 1}]
    assert pack.rows_of(at, "runs", ["seed"]).to_pylist() == [{"seed": 0}, {"seed": 1}]
    assert pack.rows_of(at, "drops") is None
    content = (at / "flows.parquet").read_bytes()
    (at / "flows.parquet").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    assert not pack.is_whole(at)
    (at / "flows.parquet").write_bytes(content + b"x")
    assert not pack.is_whole(at)
    (at / "flows.parquet").unlink()
    assert not pack.is_whole(at)
    (folder / "other").write_bytes(content)
    (at / "flows.parquet").symlink_to(folder / "other")
    with pytest.raises(StoreError, match="it is a link"):
        pack.is_whole(at)
    (at / "flows.parquet").unlink()
    (folder / "other").rename(at / "flows.parquet")
    assert pack.is_whole(at)
    (at / "manifest.json").write_text((at / "manifest.json").read_text() + " ")
    assert pack.manifest(at) is None
    assert not pack.is_whole(at)
    (at / "manifest.json").unlink()
    assert pack.manifest(at) is None


def test_rows_of_some_runs_are_given_alone():
    whole = pa.table({"key": [key("a"), key("b"), key("a")], "x": [1, 2, 3]})
    assert pack.of_keys(whole, {key("a")})["x"].to_pylist() == [1, 3]
    assert pack.of_keys(whole, {key("a"), key("b")}) is whole
    coded = whole.set_column(0, "key", whole["key"].dictionary_encode())
    assert pack.of_keys(coded, {key("b")})["x"].to_pylist() == [2]
    assert pack.of_keys(coded, set()).num_rows == 0


def test_a_table_without_keys_is_none_of_runs(folder):
    at = folder / "packs" / written(folder, rows("a"), flows=pa.table({"x": [1]}))
    with pytest.raises(ValueError, match=r"flows\.parquet has no column key"):
        pack.rows_of(at, "flows")


def test_the_index_knows_which_run_is_in_which_pack(folder):
    one = written(folder, rows("a", "b"))
    found = index(folder)
    assert found.refresh() == []
    assert found.places() == {key("a"): one, key("b"): one}
    assert found.places([key("b"), key("z")]) == {key("b"): one}
    assert found.count() == 2
    two = written(folder, rows("b", "c", finished=9.0))
    found.refresh()
    # Of two packs with a run, always the same one is given, and the other is a double.
    assert found.places()[key("b")] == min(one, two)
    assert found.doubles() == [(key("b"), max(one, two))]
    assert found.count() == 3
    found.forget([one])
    assert found.places() == {key("b"): two, key("c"): two}
    found.refresh()  # it is still there
    assert found.count() == 3
    found.close()
    again = index(folder, writes=False)
    assert again.count() == 3
    again.close()


def test_the_index_gives_runs_the_last_that_finished_at_the_end(folder):
    written(folder, rows("a", "b", "c"))
    found = index(folder)
    found.refresh()
    assert [row["name"] for row in found.select()] == ["na", "nb", "nc"]
    assert [row["name"] for row in found.select(2)] == ["nb", "nc"]
    assert {"net.buffer", "load", "duration", "flows", "flows[*].cc", "n"} <= found.names()
    found.close()


def test_claims_hold_as_long_as_their_owner_lives(folder):
    name = written(folder, rows("a"))
    found = index(folder)
    found.refresh()
    keys = [key("a"), key("b"), key("c")]
    assert found.claim(keys[:2], "me", lambda _: True) == {key("b")}
    assert found.claim(keys, "me", lambda _: True) == {key("b"), key("c")}
    assert found.claim(keys, "other", lambda name: name == "me") == set()
    assert found.claim(keys, "other", lambda _: False) == {key("b"), key("c")}
    found.release("me")
    assert found.claim(keys, "me", lambda name: name == "other") == set()
    found.release("other")
    assert found.claim(keys, "me", lambda _: True) == {key("b"), key("c")}
    found.add(name, pa.Table.from_pylist(rows("b")))
    assert found.claim(keys, "third", lambda _: False) == {key("c")}
    found.close()


def test_a_pack_that_cannot_be_read_is_named(folder):
    good, bad = written(folder, rows("a")), written(folder, rows("b"))
    (folder / "packs" / bad / "runs.parquet").write_bytes(b"no table")
    found = index(folder)
    assert found.refresh() == [bad]
    assert set(found.places().values()) == {good}
    found.close()
    # A broken index, or one of another version, is made again.
    (folder / "index.sqlite").write_bytes(b"no database" * 500)
    again = index(folder)
    again.refresh()
    assert again.count() == 1
    again.close()
    with sqlite3.connect(folder / "index.sqlite") as base:
        base.execute("UPDATE meta SET version = 99")
    base.close()
    third = index(folder)
    third.refresh()
    assert third.count() == 1
    third.close()


def test_the_index_keeps_large_seeds_as_text_and_no_long_lists():
    assert (_plain(2**63 - 1), _plain(2**63), _plain("x")) == (2**63 - 1, str(2**63), "x")
    assert _without_long({"a": list(range(16)), "b": list(range(17)), "c": [{"d": [0] * 17}]}) == {
        "a": list(range(16)),
        "c": [{}],
    }
    short = json.dumps({"a": [0] * 30})
    assert _short(short) == (short, 0)
    text, is_short = _short(json.dumps({"a": [0] * 2000, "b": 1}))
    assert (json.loads(text), is_short) == ({"b": 1}, 1)
    whole = json.dumps({"a": [0] * 9, "b": "x" * 3000})
    assert _short(whole) == (whole, 0)

    def error(code):
        made = sqlite3.OperationalError("x")
        made.sqlite_errorcode = code
        return made

    busy = sqlite3.SQLITE_BUSY
    assert [_is_busy(error(code)) for code in (busy, busy | 2 << 8, sqlite3.SQLITE_LOCKED, 11)] == [
        True, True, True, False,
    ]  # fmt: skip


GOOD = {"files": {"runs.parquet": {"bytes": 9, "sha256": "0" * 64}}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({}, ""),
        ({"files": []}, ""),
        ({"files": 3}, "the manifest has not the form that ackclock writes; the pack is refused"),
        ({"files": {"a.parquet": {"bytes": 9}}}, "has not the form"),
        ({"files": {"../a.parquet": GOOD["files"]["runs.parquet"]}}, "expected names of tables"),
        (
            {"files": {"a": GOOD["files"]["runs.parquet"]}},
            'lists "a"; expected names of tables such',
        ),
        (
            {"files": {f"{'a' * 65}.parquet": GOOD["files"]["runs.parquet"]}},
            "expected names of tables",
        ),
        ({"files": {f"{'a' * 64}.parquet": GOOD["files"]["runs.parquet"]}}, ""),
        (
            {"files": {"a.parquet": {"bytes": "9", "sha256": "0" * 64}}},
            "no size and SHA-256 of a.par",
        ),
        (
            {"files": {"a.parquet": {"bytes": 9, "sha256": "0" * 63}}},
            "no size and SHA-256 of a.parquet",
        ),
        (
            {"files": {"a.parquet": {"bytes": 9, "sha256": "G" * 64}}},
            "no size and SHA-256 of a.parquet",
        ),
    ],
)
def test_a_manifest_names_tables_with_their_digests(change, message):
    text = json.dumps({**GOOD, **change}).encode()
    if message:
        with pytest.raises(StoreError, match=r"^p: ") as caught:
            names.check_manifest(Path("p"), text)
        assert message in str(caught.value)
    else:
        assert names.check_manifest(Path("p"), text)["files"] == {**GOOD, **change}["files"]


@pytest.mark.parametrize(
    ("column", "right", "wrong"),
    [
        ("key", ["a" * 64], ["a", "g", 1]),
        ("cpu_s", [0, 1.5, 253402300799.0], [-1, 1e12, "1"]),
        ("finished_at", [0], [253402300799.5, None]),
        ("seed", [0, 2**64, "7"], [-1, 1.5, "x", None]),
        ("engine", ["x", None], [1]),
        ("labels", ['{"a": 1, "b": "x", "c": null}'], ['{"a": [1]}', "[]", "{", '{"a": NaN}']),
        ("tables", ["[]", '["flows"]'], ['["a b"]', "{}", '[""]', '["Aa"]']),
        ("document", ['{"a": {}}'], ["[]", "{"]),
        ("files", ["{}"], ["1"]),
        ("summary", ['{"a": NaN}'], ["[]", "x"]),
    ],
)
def test_columns_of_a_run_have_the_form_that_is_written(column, right, wrong):
    for value in right:
        names.check_run("here", {column: value})
    for value in wrong:
        with pytest.raises(StoreError) as caught:
            names.check_run("here", {column: value})
        assert str(caught.value).startswith(
            f"here: the {column} of a run is {json.dumps(str(value))}, "
        )
    for length in (63, 65):
        with pytest.raises(StoreError):
            names.check_run("here", {"key": "a" * length})
    with pytest.raises(StoreError) as caught:
        names.check_run("here", {"key": "x" * 60})
    assert f'is "{"x" * 57}...", which' in str(caught.value)
    with pytest.raises(StoreError) as caught:
        names.check_run("here", {"key": "x" * 59})
    assert f'is "{"x" * 59}", which' in str(caught.value)


def test_files_of_a_run_stay_inside_and_packs_have_their_names():
    right = {"a.py": "x", "b/c.toml": ""}
    assert names.check_files("k" * 20, right) == right
    for wrong in ({"../a": ""}, {"a/../b": ""}, {"/a": ""}, {"a//b": ""}, {"a\\b": ""}, {"a": 1},
                  {"c:d": ""}, {"a" * 256: ""}, {"": ""}, {".": ""}):  # fmt: skip
        with pytest.raises(StoreError, match=r"^run kkkkkkkkkkkk lists a file "):
            names.check_files("k" * 20, wrong)
    with pytest.raises(StoreError, match="its files are not a table of texts by name"):
        names.check_files("k", [])
    names.check_packs(Path("s/packs"), ["0" * 32])
    for wrong in ("0" * 31, "../x", 3):
        with pytest.raises(StoreError, match=r"^s: index.sqlite names a pack "):
            names.check_packs(Path("s/packs"), [wrong])


def test_a_store_begins_in_an_empty_folder_and_is_of_its_schema(tmp_path):
    at = tmp_path / "deep" / "store"
    place.begin(at)
    assert {f.name for f in at.iterdir()} == {"store.json", "packs", "tmp", "writers"}
    place.begin(at)
    mark = at / "store.json"
    assert json.loads(mark.read_text()) == {"format": "ackclock store", "schema_version": 1}
    for version, word in ((2, "newer"), (0, "older")):
        mark.write_text(json.dumps({"format": "ackclock store", "schema_version": version}))
        with pytest.raises(StoreError, match=f"is a store of schema {version}, {word} than this"):
            place.check(at)
    for wrong in ("{", "[]", "{}", '{"format": "x", "schema_version": 1}'):
        mark.write_text(wrong)
        with pytest.raises(StoreError, match="is not that of a store"):
            place.check(at)
    mark.unlink()
    with pytest.raises(StoreError, match=r"is not a store: it has no store\.json"):
        place.check(at)
    with pytest.raises(StoreError, match="is not empty and not a store; choose another folder"):
        place.begin(at)
    with pytest.raises(StoreError, match="is a file; expected the folder of a store"):
        (tmp_path / "file").write_text("")
        place.begin(tmp_path / "file")
    # What a program left that was killed as it began one does not count.
    (tmp_path / "killed").mkdir()
    (tmp_path / "killed" / ".store.json.77").write_text("{")
    assert place.is_empty(tmp_path / "killed")
    assert place.is_empty(tmp_path / "nothing")
    assert not place.is_empty(tmp_path / "file")
    assert str(place.unwritable(at, OSError(28, "No space"))).endswith("written: No space")


def test_the_default_place_is_in_the_environment_or_here(monkeypatch):
    monkeypatch.setenv("ACKCLOCK_STORE", "/x/y")
    assert place.default_place() == Path("/x/y")
    monkeypatch.setenv("ACKCLOCK_STORE", "")
    assert place.default_place() == Path("ackclock-store")


def test_garbage_is_counted():
    found = Collected(1, 2, 3, 4, 5000, dry=False)
    assert str(found) == (
        "removed 1 leftovers of writers that were stopped, 2 damaged packs, 3 runs that were there"
        " twice, 4 runs requested: 5 kB"
    )
    assert str(Collected()).startswith("would remove 0 leftovers")
    assert found.to_dict() == {
        "leftovers": 1, "damaged": 2, "doubles": 3, "runs": 4, "bytes": 5000, "dry": False,
    }  # fmt: skip


def test_a_writer_writes_what_waits_and_says_why_it_cannot(tmp_path):
    taken = []
    writer = Writer(tmp_path, taken.append)
    writer.close()
    for number in range(3):
        writer.add(number)
    writer.flush()
    assert [n for together in taken for n in together] == [0, 1, 2]
    writer.close()
    (tmp_path / "store.json").write_text("")

    def fail(_):
        raise OSError(28, "No space left")

    broken = Writer(tmp_path, fail)
    broken.add(1)
    with pytest.raises(
        StoreError, match=r": 1 finished run could not be written: No space left; all"
    ):
        broken.flush()
    with pytest.raises(StoreError, match="No space left"):
        broken.check()
    (tmp_path / "store.json").unlink()
    lost = Writer(tmp_path, fail)
    assert str(lost._not_written(OSError(2, "x"), 2)) == (
        f"{tmp_path}: the store is gone, it was removed while it was in use; 2 finished runs could"
        " not be written, and none is kept"
    )
    error = StoreError("as it is")
    assert lost._not_written(error, 2) is error


@pytest.mark.parametrize(
    "spelling",
    ["reno", {"kind": "reno"}, {"kind": "aimd", "a": 1.0, "b": 0.5}, ac.cc.Aimd(), ac.cc.Reno()],
)
def test_spellings_of_one_algorithm_are_one_run_that_has_the_name_of_each_document(
    spelling, tmp_path
):
    scenario = ac.Scenario(
        ac.topology.Dumbbell(pairs=1, rate="2 Mbps", rtt="20 ms", buffer="20 pkt"),
        [ac.Flow(pair=0, cc="aimd", recovery="newreno")],
        "1 s",
    )
    other = scenario.replace(**{"flows[0].cc": spelling})
    assert other.fingerprint == scenario.fingerprint
    assert other.fingerprint != scenario.replace(**{"flows[0].cc.b": 0.7}).fingerprint
    place = tmp_path / "store"
    first = ac.sweep(scenario, reps=2).run(store=place)
    again = ac.sweep(other, reps=2).run(store=place)
    assert again.keys == first.keys
    assert set(first.tables["flows"]["cc"].to_pylist()) == {"aimd"}
    name = spelling if isinstance(spelling, str) else other.to_document()["flows"][0]["cc"]
    name = name if isinstance(name, str) else name["kind"]
    assert set(again.tables["flows"]["cc"].to_pylist()) == {name}
    assert {s["flows"][0]["cc"] for s in again.summaries.values()} == {name}
