"""Recorded tables that are written while a run lasts are those of a run in memory."""

import errno
import json

import pyarrow.parquet as pq
import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.results import table_files
from ackclock.results.bundle import read_bundle
from ackclock.results.run import TABLES
from ackclock.scenario import memory
from conftest import SMALL

EVERY = {"tables": [*TABLES], "interval": "50 ms"}
GROUPED = ("windows", "packets", "queues", "flow_samples", "link_samples", "rtts")


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(table_files, "ROWS", 500)


@pytest.fixture
def case():
    return ac.load(SMALL).replace(record=EVERY)


@pytest.mark.slow
@pytest.mark.usefixtures("few_rows")
def test_tables_written_in_parts_are_those_of_a_run_in_memory(case, tmp_path):
    whole = case.run()
    parts = case.run(out=tmp_path / "bundle")
    assert parts.summary["digest"] == whole.summary["digest"]
    assert set(parts.tables) == set(whole.tables)
    for name, table in whole.tables.items():
        assert parts.tables[name].to_pylist() == table.to_pylist(), name
    for name in GROUPED:
        assert pq.ParquetFile(tmp_path / "bundle" / f"{name}.parquet").num_row_groups > 3, name
    whole.save(tmp_path / "saved")
    (summary, one), (other, two) = read_bundle(tmp_path / "bundle"), read_bundle(tmp_path / "saved")
    for of in (summary, other):
        del of["totals"]["cpu_s"]
    assert summary == other
    assert {name: table.schema for name, table in one.items()} == {
        name: table.schema for name, table in two.items()
    }


@pytest.mark.slow
@pytest.mark.usefixtures("few_rows")
def test_no_more_rows_are_in_memory_however_long_a_run_is(case, tmp_path, monkeypatch):
    most = {}

    class Counting(table_files.TableFiles):
        def take(self, tables, names):
            rows = sum(len(next(iter(columns.values()))) for columns in tables.values())
            most[self.folder.parent.name] = max(most.get(self.folder.parent.name, 0), rows)
            super().take(tables, names)

    monkeypatch.setattr(table_files, "TableFiles", Counting)
    for seconds in (5, 20):
        folder = tmp_path / str(seconds)
        folder.mkdir()
        run = case.replace(duration=f"{seconds} s").run(out=folder / "bundle")
        rows = sum(run.tables[name].num_rows for name in GROUPED)
        assert rows > 1000 * seconds
    # Rows of queues are counted from those of packets; they come on top.
    assert max(most.values()) < 2500, most


def test_a_run_with_tables_larger_than_memory_goes_to_disk(tmp_path, monkeypatch):
    monkeypatch.delenv(memory.SHARE, raising=False)
    case = ac.load(SMALL).replace(record={"tables": ["flow_samples"], "interval": "1 ms"})
    needed = case.explain().data["predicted"]
    assert needed["table_bytes"] > 0.5 * needed["memory_bytes"]
    between = needed["memory_bytes"] - 0.5 * needed["table_bytes"]
    case = case.replace(seed=4)  # what was predicted is kept
    monkeypatch.setattr(memory, "machine_bytes", lambda: between / memory.DEFAULT_SHARE)
    with pytest.raises(ac.ScenarioError, match="--out DIR"):
        case.run()
    run = case.run(out=tmp_path / "bundle")
    assert run.tables["flow_samples"].num_rows == pytest.approx(needed["recorded_rows"], rel=0.001)


def test_what_fails_leaves_nothing(case, tmp_path):
    def stop(*_):
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        case.replace(duration="500 s").run(out=tmp_path / "bundle", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_a_disk_that_is_full_costs_the_tables_and_not_the_summary(tmp_path, monkeypatch, capsys):
    file = tmp_path / "small.toml"
    file.write_text(SMALL)

    class Full:
        def __init__(self, *_, **__):
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(pq, "ParquetWriter", Full)
    out = tmp_path / "bundle"
    assert cli.main(["run", str(file), "--json", "--record", "drops", "--out", str(out)]) == 2
    seen = capsys.readouterr()
    assert json.loads(seen.out)["flows"]
    assert f"{out} cannot be written: No space left on device" in seen.err
    assert sorted(at.name for at in tmp_path.iterdir()) == ["small.toml"]


def test_a_table_whose_file_is_gone_is_named(case, tmp_path):
    run = case.run(out=tmp_path / "bundle")
    (tmp_path / "bundle" / "windows.parquet").unlink()
    with pytest.raises(ac.AckclockError, match="table windows is, cannot be read"):
        run.windows.num_rows  # noqa: B018
