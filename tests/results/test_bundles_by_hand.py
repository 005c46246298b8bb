"""The folder of a run: what is in it, when it is there, and which folders are none."""

import json
import platform
from datetime import UTC, datetime

import numpy as np
import pyarrow.parquet as pq
import pytest

from ackclock._util.arrow import Tables, array, table
from ackclock.errors import AckclockError
from ackclock.results.bundle import BUNDLE_VERSION, fill_bundle, read_bundle, write_bundle

SUMMARY = {"scenario_hash": "abc", "seed": 4, "digest": "d1", "version": "9.9", "flows": []}
ROWS = table({"time_s": array(np.array([0.5, 1.5]))})


def write_case(folder):
    (folder / "scenario.toml").write_text("x = 1\n")


def write(folder, summary=SUMMARY, tables=None, command="ackclock run x"):
    return write_bundle(folder, write_case, summary, tables or {"drops": ROWS}, command)


def test_a_bundle_has_scenario_summary_tables_and_provenance(tmp_path):
    before = datetime.now(UTC).replace(microsecond=0)
    folder = write(tmp_path / "run")
    assert {path.name for path in folder.iterdir()} == {
        "scenario.toml", "summary.json", "drops.parquet", "provenance.json",
    }  # fmt: skip
    text = (folder / "summary.json").read_text(encoding="utf-8")
    assert json.loads(text) == SUMMARY
    assert text.startswith('{\n  "')
    assert text.endswith("}\n")
    assert pq.read_table(folder / "drops.parquet").to_pydict() == {"time_s": [0.5, 1.5]}
    provenance = json.loads((folder / "provenance.json").read_text())
    written_at = datetime.fromisoformat(provenance.pop("written_at"))
    assert before <= written_at <= datetime.now(UTC)
    versions = provenance.pop("versions")
    assert (versions["ackclock"], versions["python"]) == ("9.9", platform.python_version())
    assert versions["numpy"] == np.__version__
    assert provenance == {
        "bundle": "ackclock run", "bundle_version": BUNDLE_VERSION, "scenario_hash": "abc",
        "seed": 4, "digest": "d1", "command": "ackclock run x", "user_code": None,
        "user_code_hash": None,
        "host": {"system": platform.system(), "machine": platform.machine()},
    }  # fmt: skip
    summary, tables = read_bundle(folder)
    assert summary == SUMMARY
    assert {name: rows.to_pydict() for name, rows in tables.items()} == {
        "drops": {"time_s": [0.5, 1.5]}
    }


def test_code_and_emulation_are_in_the_provenance_where_there_are_such(tmp_path):
    more = {"user_code": [{"class": "A"}], "user_code_hash": "h", "emulation": {"late": 0.1}}
    folder = write(tmp_path / "run", {**SUMMARY, **more}, command=None)
    provenance = json.loads((folder / "provenance.json").read_text())
    assert {key: provenance[key] for key in more} == more
    assert provenance["command"] is None


def test_tables_that_were_written_meanwhile_are_not_written_again(tmp_path):
    def simulate(folder):
        pq.write_table(table({"x": array(np.array([7.0]))}), folder / "drops.parquet")
        return SUMMARY, {"drops": ROWS, "rtts": ROWS}

    folder = fill_bundle(tmp_path / "run", write_case, simulate, None)
    _, tables = read_bundle(folder)
    assert list(tables) == ["drops", "rtts"]
    assert tables["drops"].to_pydict() == {"x": [7.0]}
    assert tables["rtts"].num_rows == 2


def test_tables_of_the_core_are_written_as_they_are(tmp_path):
    tables = Tables({"drops": {"flow": np.array([1, 0], dtype=np.uint32)}}, {"flow": ["a", "b"]})
    _, read = read_bundle(write(tmp_path / "run", tables=tables))
    assert read["drops"].to_pydict() == {"flow": ["b", "a"]}


def test_a_bundle_takes_the_place_of_one_and_of_nothing_else(tmp_path):
    folder = write(tmp_path / "run", tables={"drops": ROWS, "rtts": ROWS})
    write(folder)
    assert not (folder / "rtts.parquet").exists()
    other = tmp_path / "thesis"
    other.mkdir()
    (other / "thesis.tex").write_text("x")
    with pytest.raises(AckclockError):
        write(other)
    assert [path.name for path in other.iterdir()] == ["thesis.tex"]


def test_a_run_that_fails_leaves_nothing(tmp_path):
    def simulate(folder):
        (folder / "drops.parquet").write_bytes(b"half")
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fill_bundle(tmp_path / "run", write_case, simulate, None)
    assert list(tmp_path.iterdir()) == []


def refused(folder, **options):
    with pytest.raises(AckclockError) as caught:
        read_bundle(folder, **options)
    return str(caught.value).removeprefix(f"{folder} ")


@pytest.mark.parametrize(
    "provenance",
    [None, "{", "[]", "{}", '{"bundle": "ackclock run"}',
     '{"bundle": "thesis", "bundle_version": 1}'],
)  # fmt: skip
def test_a_folder_without_the_provenance_of_a_run_is_none(tmp_path, provenance):
    if provenance is not None:
        (tmp_path / "provenance.json").write_text(provenance)
    expected = "is not a run bundle: it has no readable provenance.json of one"
    assert refused(tmp_path) == expected
    assert refused(tmp_path / "nowhere") == expected


def test_a_bundle_of_another_version_is_refused_with_what_helps(tmp_path):
    folder = write(tmp_path / "run")
    file = folder / "provenance.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "bundle_version": 2}))
    assert refused(folder) == (
        "is a run bundle of version 2; this ackclock reads 1: run the scenario again, or use the"
        " ackclock that provenance.json names"
    )


@pytest.mark.parametrize(("name", "content"), [("summary.json", "{"), ("drops.parquet", "PAR1")])
def test_a_bundle_that_is_damaged_is_refused(tmp_path, name, content):
    folder = write(tmp_path / "run")
    (folder / name).write_text(content)
    assert refused(folder).startswith("is a damaged run bundle: ")
    (folder / name).unlink()
    if name == "summary.json":
        assert refused(folder).startswith("is a damaged run bundle: ")


def test_tables_may_take_so_much_memory_together(tmp_path):
    rows = table({"x": array(np.arange(1000.0))})
    folder = write(tmp_path / "run", tables={"drops": rows, "rtts": rows})
    assert len(read_bundle(folder, most_bytes=100_000)[1]) == 2
    # Each would fit, but not both.
    assert refused(folder, most_bytes=12_000).startswith("is a damaged run bundle: ")
