"""A store from somebody else: its names lead nowhere outside, its queries read nothing else."""

import hashlib
import json
import os
import random
import re
import shutil
import sqlite3
from contextlib import closing

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import ackclock as ac
from ackclock._util import confined_sql
from ackclock.cli import main as cli
from ackclock.experiments.store import StoreError, look, query
from ackclock.experiments.store.index_rows import digest_of
from ackclock.experiments.store.names import check_files
from ackclock.experiments.store.pack import COLUMNS
from conftest import SMALL


@pytest.fixture
def place(tmp_path):
    place = tmp_path / "store"
    ac.sweep(ac.load(SMALL), {"flows[0].cc": ["aimd"]}).run(store=place, progress=False)
    return place


def forge(place, change):
    """Change a pack and name it after its new manifest, as its sender can."""
    at = next((place / "packs").iterdir())
    said = json.loads((at / "manifest.json").read_text())
    change(at, said)
    for file in said["files"]:
        if (at / file).is_file():
            content = (at / file).read_bytes()
            digest = hashlib.sha256(content).hexdigest()
            said["files"][file] = {"bytes": len(content), "sha256": digest}
    text = json.dumps(said)
    (at / "manifest.json").write_text(text)
    at.rename(at.parent / hashlib.sha256(text.encode()).hexdigest()[:32])
    for file in place.glob("index.sqlite*"):
        file.unlink()


def replace_column(at, name, value):
    table = pq.read_table(at / "runs.parquet", partitioning=None)
    column = table.column_names.index(name)
    table = table.set_column(column, name, [[value] * table.num_rows])
    pq.write_table(table, at / "runs.parquet")


def exported_key(place):
    with look(place) as store:
        return query.find(store)[0]["key"]


@pytest.mark.parametrize("name", ["../../escaped.txt", "/tmp/escaped.txt", "a/../../b", "a//b", ""])
def test_an_export_writes_no_file_outside_its_folder(place, tmp_path, name):
    forge(place, lambda at, _: replace_column(at, "files", json.dumps({name: "x"})))
    before = sorted(tmp_path.rglob("*"))
    with look(place) as store, pytest.raises(StoreError, match="expected a relative path inside"):
        query.export_run(store, exported_key(place), tmp_path / "a" / "b" / "out")
    made = [path for path in sorted(tmp_path.rglob("*")) if path not in before]
    assert [path for path in made if not path.is_relative_to(place)] == []


def test_files_of_a_scenario_in_folders_are_accepted():
    files = {"mine.py": "x = 1", "traces/two words.csv": "0,1"}
    assert check_files("0" * 64, files) == files


@pytest.mark.parametrize(
    "name",
    [
        "../../../escaped.parquet",
        "/tmp/escaped.parquet",
        "a\" AS SELECT 1; COPY (SELECT 1) TO 'escaped'; --.parquet",
        "flows.csv",
    ],
)
def test_a_manifest_that_names_no_table_is_refused_in_one_sentence(place, name, capsys):
    def add(at, said):
        said["files"][name] = {"bytes": 1, "sha256": "0" * 64}

    forge(place, add)
    assert cli.main(["results", "query", "SELECT 1", "--store", str(place)]) == 2
    message = capsys.readouterr().err.strip()
    assert "the manifest lists" in message
    assert len(message.splitlines()) == 1


def test_a_manifest_of_another_form_is_refused(place):
    forge(place, lambda _, said: said.update(files={"gone.parquet": 3}))
    with pytest.raises(StoreError, match="has not the form"), look(place) as store:
        query.find(store)


def change_index(place, statement, *values, forged=False):
    """Change the index; forged: with digests that agree, as its sender can write them."""
    with look(place) as store:
        query.find(store)
    with closing(sqlite3.connect(place / "index.sqlite")) as base:
        base.execute(statement, values)
        if forged:
            names = ", ".join((*COLUMNS, "document_id"))
            texts = {n: (t, s) for n, t, s in base.execute("SELECT * FROM scenarios")}
            for (pack,) in base.execute("SELECT id FROM packs").fetchall():
                rows = base.execute(
                    f"SELECT {names} FROM runs WHERE pack = ? ORDER BY key", (pack,)
                )
                digest = digest_of(rows.fetchall(), texts)
                base.execute("UPDATE packs SET digest = ? WHERE id = ?", (digest, pack))
        base.commit()


def listed(place, capsys, *more):
    capsys.readouterr()
    assert cli.main(["results", "list", "--json", "--store", str(place), *more]) == 0
    return capsys.readouterr().out


def test_an_index_that_names_a_folder_elsewhere_moves_nothing(place, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    change_index(place, "UPDATE runs SET pack = ?", str(elsewhere))
    with look(place) as store:
        assert query.sql(store, "SELECT * FROM runs").num_rows == 1
    change_index(place, "UPDATE packs SET id = ?", str(elsewhere))
    with look(place) as store:
        assert query.sql(store, "SELECT * FROM runs").num_rows == 1
    assert elsewhere.is_dir()


@pytest.mark.parametrize("forged", [False, True])
@pytest.mark.parametrize(
    "change",
    [
        "runs SET seed = 99",
        'runs SET labels = \'{"flows[0].cc": "cubic"}\'',
        "runs SET sweep = 'another'",
        "runs SET finished_at = 5",
        "scenarios SET document = replace(document, 'aimd', 'cubic')",
    ],
)
def test_what_an_index_says_is_what_the_packs_say(place, tmp_path, capsys, change, forged):
    out = tmp_path / "runs.csv"
    export = ["results", "export", "--table", "runs", "--out", str(out), "--store", str(place)]
    assert cli.main(export) == 0
    before, exported = listed(place, capsys), out.read_text()
    change_index(place, f"UPDATE {change}", forged=forged)
    assert listed(place, capsys) == before
    change_index(place, f"UPDATE {change}", forged=forged)
    assert cli.main(export) == 0
    assert out.read_text() == exported
    if not forged:
        # A filter finds it too; of a forged index only what it shows is compared.
        change_index(place, f"UPDATE {change}")
        assert listed(place, capsys, "--where", "flows[0].cc=aimd", "--where", "seed=3") == before


def test_no_flipped_bit_of_an_index_changes_what_is_shown(place, capsys):
    before = listed(place, capsys)
    with closing(sqlite3.connect(place / "index.sqlite")) as base:
        base.execute("VACUUM INTO ?", (str(place.with_name("copy.sqlite")),))
    whole = place.with_name("copy.sqlite").read_bytes()
    rng = random.Random(7)
    for _ in range(60):
        at = rng.randrange(len(whole))
        flipped = whole[:at] + bytes([whole[at] ^ 1 << rng.randrange(8)]) + whole[at + 1 :]
        for file in place.glob("index.sqlite*"):
            file.unlink()
        (place / "index.sqlite").write_bytes(flipped)
        assert listed(place, capsys) == before, at


def test_an_index_with_tables_of_another_form_is_made_again(place, capsys):
    before = listed(place, capsys)
    endless = (
        "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT x AS id FROM n"
    )
    with closing(sqlite3.connect(place / "index.sqlite")) as base:
        base.execute("DROP TABLE packs")
        base.execute(f"CREATE VIEW packs AS {endless}")
        base.commit()
    assert listed(place, capsys) == before


def test_a_run_that_the_index_has_in_another_pack_is_found_where_it_is(place):
    other = ac.load(SMALL).replace(duration="4 s")
    ac.sweep(other, {"flows[0].cc": ["cubic"]}).run(store=place, progress=False)
    with look(place) as store:
        rows = query.find(store)
    one, two = (row["pack"] for row in rows)
    key = rows[0]["key"]
    change_index(place, "UPDATE runs SET pack = ? WHERE key = ?", two, key, forged=True)
    with look(place) as store:
        assert store.find_stored([key]) == {key}
        assert store.packs_by_run == {key: one}
        assert set(store.summaries([key])) == {key}


def test_a_query_reads_no_file(place, tmp_path, capsys):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret")
    for text in (
        f"SELECT content FROM read_text('{secret}')",
        f"SELECT * FROM '{secret}'",
        f"COPY (SELECT 1) TO '{tmp_path / 'made'}'",
        "INSTALL httpfs",
        "SET enable_external_access = true",
    ):
        assert cli.main(["results", "query", text, "--store", str(place)]) == 2
        said = capsys.readouterr()
        assert "the secret" not in said.out + said.err
        assert len(said.err.strip().splitlines()) == 1
    assert not (tmp_path / "made").exists()


def test_an_unconfined_query_reads_files(place, tmp_path, capsys):
    (tmp_path / "known.txt").write_text("as requested")
    text = f"SELECT content FROM read_text('{tmp_path / 'known.txt'}')"
    assert cli.main(["results", "query", text, "--unconfined", "--store", str(place)]) == 0
    assert "as requested" in capsys.readouterr().out


def test_a_query_over_too_many_rows_ends_with_one_sentence(place, monkeypatch, capsys):
    monkeypatch.setattr(confined_sql, "TIME_S", 0.5)
    text = "SELECT sum(hash(range)) FROM range(100000000000)"
    assert cli.main(["results", "query", text, "--store", str(place)]) == 2
    message = capsys.readouterr().err.strip()
    assert message.startswith("the query was ended after 0.5 s")
    assert len(message.splitlines()) == 1


def test_a_result_that_is_too_large_ends_with_one_sentence(place, monkeypatch, capsys):
    monkeypatch.setattr(confined_sql, "MEMORY_BYTES", 64 * 2**20)
    text = "SELECT range FROM range(100000000000)"
    assert cli.main(["results", "query", text, "--store", str(place)]) == 2
    message = capsys.readouterr().err.strip()
    assert message.startswith("the result of the query exceeds 64 MiB")
    assert len(message.splitlines()) == 1


def test_packs_with_different_columns_are_one_table(place):
    other = ac.load(SMALL).replace(duration="4 s", **{"record.tables": ["drops"]})
    ac.sweep(other, {"flows[0].cc": ["cubic", "vegas"]}).run(store=place, progress=False)
    with look(place) as store:
        found = query.sql(store, "SELECT cc, count(*) AS n FROM flows GROUP BY 1 ORDER BY 1")
        windows = query.sql(store, "SELECT count(DISTINCT key) AS n FROM windows")
    assert {row["cc"]: row["n"] for row in found.to_pylist()} == {"aimd": 1, "cubic": 1, "vegas": 4}
    assert windows.to_pylist() == [{"n": 1}]


def test_a_pack_that_is_no_table_counts_as_damaged(place):
    def break_it(at, _):
        (at / "runs.parquet").write_text("no table")

    forge(place, break_it)
    with look(place) as store:
        assert query.find(store) == []
    shutil.rmtree(place)


DEEP = "[" * 100_000 + "]" * 100_000


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("labels", DEEP),
        ("labels", "[1, 2]"),
        ("labels", '{"a": {"b": 1}}'),
        ("document", '{"a":' * 50_000 + "1" + "}" * 50_000),
        ("document", "null"),
        ("document", '{"a": NaN}'),
        ("summary", DEEP),
        ("files", DEEP),
        ("tables", '["a b"]'),
        ("key", "../../escaped"),
        ("finished_at", 1e300),
        ("cpu_s", float("nan")),
        ("sweep", 7),
    ],
)
def test_a_run_of_another_form_is_refused_in_one_sentence(place, tmp_path, capsys, column, value):
    forge(place, lambda at, _: replace_column(at, column, value))
    for command in (
        ["list"],
        ["show", "a"],
        ["export", "--table", "flows", "--out", str(tmp_path / "flows.csv")],
        ["query", "SELECT * FROM runs"],
        ["gc"],
    ):
        assert cli.main(["results", *command, "--store", str(place)]) == 2, command
        message = capsys.readouterr().err.strip()
        assert f"the {column} of a run is" in message
        assert len(message) < 500
        assert len(message.splitlines()) == 1
    assert not (tmp_path / "flows.csv").exists()


@pytest.mark.parametrize("value", ["[1]", DEEP, None])
def test_an_index_with_labels_of_another_form_is_made_again(place, capsys, value):
    said = listed(place, capsys)
    change_index(place, "UPDATE runs SET labels = ?", value)
    assert listed(place, capsys) == said


def test_names_from_a_store_send_no_commands_to_a_terminal(place, capsys):
    forge(place, lambda at, _: replace_column(at, "sweep", "\x1b]0;owned\x07\x1b[2Jname"))
    key = exported_key(place)
    for command in (["list"], ["show", key], ["query", "SELECT sweep FROM runs"]):
        assert cli.main(["results", *command, "--store", str(place)]) == 0
        said = capsys.readouterr().out
        assert "\x1b" not in said
        assert "\x07" not in said
        assert r"\x1b[2Jname" in said


def test_names_in_a_scenario_send_no_commands_to_a_terminal(tmp_path, capsys):
    file = tmp_path / "small.toml"
    file.write_text(SMALL.replace('"small"', r'"\u001b[2Jsmall"').replace("aimd", r"\u001b[2J"))
    assert cli.main(["check", str(file)]) == 2
    said = capsys.readouterr()
    assert "\x1b" not in said.out + said.err
    file.write_text(SMALL.replace('"small"', r'"\u001b[2Jsmall"'))
    assert cli.main(["run", str(file)]) == 0
    said = capsys.readouterr()
    assert "\x1b" not in said.out
    assert r"\x1b[2Jsmall" in said.out


def test_a_table_without_keys_or_that_is_no_table_is_refused(place, tmp_path, capsys):
    def without_keys(at, _):
        table = pq.read_table(at / "flows.parquet", partitioning=None)
        pq.write_table(table.drop_columns(["key"]), at / "flows.parquet")

    def no_table(at, _):
        (at / "flows.parquet").write_text("no table")

    for change in (without_keys, no_table):
        forge(place, change)
        for what in ([exported_key(place)], ["--table", "flows"]):
            command = ["results", "export", *what, "--out", str(tmp_path / "out.csv")]
            assert cli.main([*command, "--store", str(place)]) == 2
            message = capsys.readouterr().err.strip()
            assert message.endswith("flows.parquet is no table of runs; the store is refused")
            assert len(message.splitlines()) == 1


def make_link(at, target):
    at.symlink_to(target, target_is_directory=target.is_dir())


def make_pipe(at, _):
    os.mkfifo(at)


PLACES = (
    "tmp", "packs", "damaged", "pieces", "writers", "index.sqlite", "index.sqlite-wal", "use.lock",
    "index.lock", "commit.lock", "store.json", "anything", "tmp/a", "packs/b", "damaged/c",
    "pieces/d", "writers/e", "packs/PACK/manifest.json", "packs/PACK/runs.parquet",
    "packs/PACK/flows.parquet",
)  # fmt: skip


@pytest.mark.parametrize("make", [make_link, make_pipe])
@pytest.mark.parametrize("inside", PLACES)
def test_a_link_or_pipe_in_a_store_is_refused_and_nothing_is_touched(
    place, tmp_path, capsys, inside, make
):
    victim = tmp_path / "victim"
    (victim / "folder").mkdir(parents=True)
    (victim / "folder" / "file").write_text("dear")
    at = place / inside.replace("PACK", next((place / "packs").iterdir()).name)
    (place / "damaged").mkdir(exist_ok=True)
    target = victim
    if at.is_file():
        # What the link leads to is whole: it is not for its content that it is refused.
        target = victim / at.name
        target.write_bytes(at.read_bytes())
        at.unlink()
    elif at.is_dir():
        shutil.rmtree(at)
    at.parent.mkdir(exist_ok=True)
    make(at, target)
    before = contents(tmp_path)
    commands = [["list"], ["query", "SELECT * FROM flows"], ["gc"], ["export", "--table", "flows"]]
    for command in commands:
        more = ["--out", str(tmp_path / "out.csv")] if "export" in command else []
        code = cli.main(["results", *command, *more, "--store", str(place)])
        said = capsys.readouterr().err.strip()
        # A table that a command does not open is not in its way.
        if "flows.parquet" in inside and command[0] in ("list", "gc"):
            continue
        assert code == 2, command
        assert "the store is refused" in said
        assert len(said.splitlines()) == 1
    with pytest.raises(StoreError, match="the store is refused"):
        ac.sweep(ac.load(SMALL), {"flows[0].cc": ["aimd"]}).run(store=place, progress=False)
    assert contents(tmp_path) == before


def contents(folder):
    """Every path under a folder, not through links, but for what SQLite and locks leave."""
    found = {}
    for at in sorted(folder.rglob("*")):
        if at.name.startswith("index.") or at.name.endswith(".lock"):
            continue
        is_file = at.is_file() and not at.is_symlink()
        found[str(at)] = at.read_bytes() if is_file else at.is_symlink()
    return found


def test_a_store_may_be_reached_through_a_link(place, tmp_path):
    (tmp_path / "link").symlink_to(place)
    with look(tmp_path / "link") as store:
        assert len(query.find(store)) == 1


@pytest.mark.slow
def test_a_table_of_very_many_rows_is_refused_before_it_is_read(place, capsys):
    """Few bytes say millions of runs, which would take gigabytes."""

    def grow(at, _):
        table = pq.read_table(at / "runs.parquet", partitioning=None).slice(0, 1)
        with pq.ParquetWriter(at / "runs.parquet", table.schema, compression="zstd") as out:
            million = table.take(np.zeros(10**6, dtype=np.int64))
            for _ in range(3):
                out.write_table(million)

    forge(place, grow)
    assert cli.main(["results", "list", "--store", str(place)]) == 2
    message = capsys.readouterr().err.strip()
    assert re.search(
        r"runs\.parquet: it has 3,000,000 rows of \d+ columns; expected what fits", message
    )
    assert len(message.splitlines()) == 1


@pytest.mark.parametrize("as_words", [True, False])
def test_a_long_text_that_many_rows_share_is_refused(place, capsys, as_words):
    def grow(at, _):
        table = pq.read_table(at / "runs.parquet", partitioning=None).slice(0, 1)
        place = table.column_names.index("command")
        words = pa.DictionaryArray.from_arrays(np.zeros(1, dtype=np.int32), ["x" * 10**6])
        table = table.set_column(place, "command", words)
        table = table.take(np.zeros(5000, dtype=np.int64))
        pq.write_table(table, at / "runs.parquet", compression="zstd", store_schema=as_words)

    forge(place, grow)
    assert cli.main(["results", "list", "--store", str(place)]) == 2
    assert "runs.parquet: its texts are too long" in capsys.readouterr().err
