"""Large tables of runs within a sweep go to disk in pieces, and from there into the store."""

import errno
import os
import subprocess
import sys
import tempfile

import pyarrow.parquet as pq
import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.experiments.store import Store, pack
from ackclock.experiments.store.garbage import collect
from ackclock.results import table_files
from ackclock.results.run import TABLES
from ackclock.scenario import execution
from conftest import SMALL

EVERY = {"tables": [*TABLES], "interval": "50 ms"}


@pytest.fixture
def few_rows(monkeypatch):
    monkeypatch.setattr(table_files, "ROWS", 500)


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def a_sweep(reps=1, record=EVERY):
    case = ac.load(SMALL).replace(duration="3 s", record=record)
    return ac.sweep(case, {"net.buffer": ["5 pkt", "20 pkt"]}, reps=reps)


@pytest.mark.slow
def test_runs_in_pieces_are_those_in_memory(tmp_path, temporary, monkeypatch, everything):
    whole = a_sweep().run(store=tmp_path / "whole", progress=False)
    monkeypatch.setattr(table_files, "ROWS", 500)
    stored = a_sweep().run(store=tmp_path / "store", progress=False)
    kept = a_sweep().run(store=False, progress=False)
    assert everything(stored) == everything(whole)
    assert everything(kept) == everything(whole)
    # As the table `runs` lists them too.
    listed = [
        {run["key"]: run["tables"] for run in result.keeper.runs(result.keys)}
        for result in (whole, stored)
    ]
    assert listed[0] == listed[1]
    assert any(temporary.rglob("windows.parquet"))


@pytest.mark.usefixtures("few_rows")
def test_a_run_in_pieces_has_a_pack_for_itself_and_leaves_nothing_else(tmp_path):
    place = tmp_path / "store"
    result = a_sweep().run(store=place, progress=False)
    packs = sorted((place / "packs").iterdir())
    assert len(packs) == len(result.keys) == 2
    assert all(pack.is_whole(at) for at in packs)
    assert pq.ParquetFile(packs[0] / "windows.parquet").num_row_groups > 3
    assert not list((place / "pieces").iterdir())
    assert not list((place / "tmp").iterdir())
    assert a_sweep().run(store=place, progress=False).stored == 2


def test_small_runs_share_a_pack(tmp_path):
    place = tmp_path / "store"
    with Store(place, writes=True) as store:
        # All that finishes within a second of the first is written together.
        a_sweep(reps=1, record={"tables": ["drops"]}).run(store=store, progress=False)
        assert not (place / "pieces").exists()


class Full:
    def __init__(self, *_, **__):
        raise OSError(errno.ENOSPC, "No space left on device")


@pytest.mark.usefixtures("few_rows")
def test_a_disk_that_is_full_ends_the_sweep_with_one_sentence(tmp_path, monkeypatch, capsys):
    (tmp_path / "small.toml").write_text(SMALL)
    file = tmp_path / "sweep.toml"
    file.write_text(
        'base = "small.toml"\nset = { record = { tables = ["windows"] } }\n'
        '[over]\n"net.buffer" = ["5 pkt", "20 pkt"]\n'
    )
    place = tmp_path / "store"
    with monkeypatch.context() as patch:
        patch.setattr(pq, "ParquetWriter", Full)
        assert cli.main(["sweep", str(file), "--store", str(place), "--workers", "1"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert "recorded tables" in said
    assert "No space left on device" in said
    assert not list((place / "pieces").iterdir())
    assert cli.main(["sweep", str(file), "--store", str(place), "--quiet"]) == 0


@pytest.mark.usefixtures("few_rows")
def test_a_run_that_is_stopped_leaves_no_pieces(tmp_path, monkeypatch):
    from ackclock.experiments.executors.task import Request, perform

    monkeypatch.setattr(execution, "PROGRESS_S", 0.0)
    case = a_sweep(record={"tables": ["windows"]}).case.replace(duration="100 s")
    pieces = tmp_path / "pieces" / "k"

    def stop(fraction, _):
        if (pieces / "windows.parquet").exists():
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        perform(Request("k", case, 1), stop, pieces.parent)
    assert not pieces.exists()


def test_gc_removes_the_pieces_of_programs_that_were_killed(tmp_path):
    place = tmp_path / "store"
    with Store(place, writes=True) as other, Store(place, writes=True) as store:
        for at in (other.pieces, place / "pieces" / "of-a-program-that-was-killed"):
            (at / "run").mkdir(parents=True)
            (at / "run" / "windows.parquet").write_bytes(b"1" * 1000)
        found = collect(store)
        assert (found.leftovers, found.bytes) == (1, 1000)
        assert [at.name for at in (place / "pieces").iterdir()] == [other.pieces.name]
    assert not list((place / "pieces").iterdir())


@pytest.mark.slow
@pytest.mark.usefixtures("few_rows")
def test_bundles_of_replications_have_their_tables(tmp_path, temporary):
    file = tmp_path / "small.toml"
    file.write_text(SMALL)
    arguments = ["run", str(file), "--reps", "2", "--record", "windows", "--quiet"]
    assert cli.main([*arguments, "--out", str(tmp_path / "out")]) == 0
    whole = ac.load(SMALL).run(record=["windows"], seed=ac.load(SMALL).seed + 1)
    written = pq.ParquetFile(tmp_path / "out" / f"seed-{whole.summary['seed']}" / "windows.parquet")
    assert written.num_row_groups > 3
    assert written.read().to_pylist() == whole.windows.to_pylist()
    assert not list(temporary.iterdir())


PEAK = """
import resource, sys
import ackclock as ac
from ackclock.results import table_files
table_files.ROWS = 20_000
record = {"tables": ["flow_samples"], "interval": "1 ms"}
net = {"kind": "dumbbell", "pairs": 20, "rate": "1 Mbps", "rtt": "40 ms", "buffer": "20 pkt"}
case = ac.Scenario(net, [{"pair": 0, "count": 20, "start": "1 s"}], sys.argv[1], record=record)
sweep = ac.sweep(case, {"net.buffer": ["20 pkt"]})
result = sweep.run(store=sys.argv[2], workers=1, progress=False)
assert len(result.keys) == 1
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
"""


def peak_bytes(duration, place):
    done = subprocess.run(
        [sys.executable, "-c", PEAK, duration, str(place)],
        capture_output=True, text=True, check=True, env=os.environ,
    )  # fmt: skip
    return int(done.stdout)


@pytest.mark.slow
def test_the_memory_of_a_sweep_does_not_grow_with_the_length_of_its_runs(tmp_path):
    # 20 rows a millisecond, of about 70 bytes: 28 MB, and 280 MB.
    short = peak_bytes("20 s", tmp_path / "short")
    long = peak_bytes("200 s", tmp_path / "long")
    assert long - short < 60e6, (short, long)
