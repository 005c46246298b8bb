"""The store: what is kept, what is noticed, what survives."""

import errno
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.errors import AckclockError
from ackclock.experiments import file_form
from ackclock.experiments.store import Store, StoreError, index, look, pack, query
from ackclock.experiments.store.garbage import collect
from conftest import SMALL

SWEEP = """
name = "kept"
reps = {reps}
set = {{ duration = "4 s", record = {{ tables = ["drops"] }} }}
base = "small.toml"
[over]
"net.buffer" = ["5 pkt", "20 pkt"]
cc = {{ path = "flows[*].cc", values = {{ Reno = "aimd", Vegas = "vegas" }} }}
"""


@pytest.fixture
def file(tmp_path):
    (tmp_path / "small.toml").write_text(SMALL)
    made = tmp_path / "sweep.toml"
    made.write_text(SWEEP.format(reps=3))
    return made


@pytest.fixture
def place(tmp_path):
    return tmp_path / "store"


def run(file, place, **options):
    return file_form.load_sweep(file).run(store=place, progress=False, **options)


def packs(place):
    return sorted((place / "packs").iterdir())


def rows(result, name="flows"):
    return result.tables[name].to_pylist()


def keys_on_disk(place):
    """Every run of every pack, read without the index."""
    return [key for at in packs(place) for key in pack.rows_of(at, "runs")["key"].to_pylist()]


def command(*arguments):
    return [sys.executable, "-m", "ackclock", *map(str, arguments)]


# What is kept


def test_a_sweep_that_is_run_again_runs_nothing_and_gives_the_same(file, place):
    first = run(file, place)
    again = run(file, place)
    assert (first.stored, again.stored, len(again.slots)) == (0, 12, 12)
    assert rows(first) == rows(again)
    assert rows(first, "drops") == rows(again, "drops")
    assert first.summaries == again.summaries
    assert rows(first) == rows(run(file, False))


def test_a_larger_sweep_runs_only_what_is_new(file, place):
    run(file, place)
    file.write_text(SWEEP.format(reps=5))
    assert run(file, place).stored == 12
    assert len(set(keys_on_disk(place))) == len(keys_on_disk(place)) == 20


@pytest.mark.parametrize(
    "change", [{"seed": 77}, {"net.rtt": "41 ms"}, {"record.tables": ["rtts"]}]
)
def test_the_key_is_the_compiled_case_seed_and_recording(file, place, change):
    run(file, place)
    changed = file_form.load_sweep(file, changes=change)
    assert changed.run(store=place, progress=False).stored == 0


def test_saying_the_same_otherwise_is_the_same_run(file, place):
    run(file, place)
    same = file_form.load_sweep(file, changes={"net.rate": "5e3 kbps", "name": "other"})
    assert same.run(store=place, progress=False).stored == 12


def test_another_version_of_the_engine_is_another_run(file, place, monkeypatch):
    run(file, place)
    monkeypatch.setattr("ackclock._util.core.core_version", lambda: "9.9.9+other")
    assert run(file, place).stored == 0


def test_the_place_is_stated_by_the_environment(file, tmp_path, monkeypatch):
    monkeypatch.setenv("ACKCLOCK_STORE", str(tmp_path / "mine"))
    run(file, None)
    assert (tmp_path / "mine" / "store.json").is_file()


def test_an_exported_run_is_the_run(file, place, tmp_path):
    result = run(file, place)
    slot = result.slots[4]
    with look(place) as store:
        query.export_run(store, slot.key[:12], tmp_path / "bundle")
    bundle = ac.load_run(tmp_path / "bundle")
    assert bundle.summary == result.summaries[slot.key]
    assert bundle.scenario.seed == slot.seed
    assert bundle.scenario.fingerprint == bundle.summary["scenario_hash"]
    again = bundle.scenario.run()
    assert again.flows.to_pylist() == bundle.flows.to_pylist()
    assert again.drops.to_pylist() == bundle.drops.to_pylist()


@pytest.mark.slow
def test_code_of_the_users_own_is_kept_with_its_runs(place, tmp_path):
    code = Path(__file__).parents[2] / "examples" / "my_control.py"
    own = tmp_path / "own"
    own.mkdir()
    shutil.copy(code, own)
    shutil.copy(code.with_suffix(".toml"), own)
    case = ac.load(own / "my_control.toml").replace(duration="2 s", warmup=None)
    result = ac.sweep(case, reps=2).run(store=place, progress=False)
    with look(place) as store:
        query.export_run(store, result.slots[1].key, tmp_path / "bundle")
    shutil.rmtree(own)
    again = ac.load_run(tmp_path / "bundle")
    assert again.scenario.run().summary["user_code_hash"] == again.summary["user_code_hash"]


# What is noticed


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["flows.parquet", "runs.parquet", "drops.parquet", "manifest.json"]
)
@pytest.mark.parametrize("how", ["truncated", "altered", "gone"])
def test_a_damaged_file_is_noticed_and_its_runs_are_done_again(file, place, name, how):
    first = run(file, place)
    victim = packs(place)[0]
    lost = pack.rows_of(victim, "runs").num_rows
    target = victim / name
    data = target.read_bytes()
    if how == "truncated":
        target.write_bytes(data[: len(data) // 2])
    elif how == "altered":
        middle = len(data) // 2
        target.write_bytes(data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :])
    else:
        target.unlink()
    again = run(file, place)
    assert again.stored == 12 - lost
    assert rows(again) == rows(first)
    assert len(set(keys_on_disk(place))) == len(keys_on_disk(place)) == 12
    assert list((place / "damaged").iterdir())


def test_a_damaged_run_is_not_shown_exported_or_queried(file, place, tmp_path, capsys):
    run(file, place)
    for at in packs(place):
        (at / "flows.parquet").write_bytes(b"PAR1 nothing PAR1")
    with look(place) as store:
        key = query.find(store)[0]["key"]
        with pytest.raises(StoreError, match="is damaged"):
            query.export_run(store, key, tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()
    assert cli.main(["results", "query", "SELECT * FROM flows", "--store", str(place)]) == 2
    assert "flows" in capsys.readouterr().err


def test_an_index_that_is_broken_or_gone_is_made_again(file, place):
    first = run(file, place)
    (place / "index.sqlite").write_bytes(b"this is no database" * 100)
    assert run(file, place).stored == 12
    (place / "index.sqlite").unlink()
    again = run(file, place)
    assert again.stored == 12
    assert rows(again) == rows(first)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        (
            '{"format": "ackclock store", "schema_version": 99}',
            "schema 99, newer than this ackclock",
        ),
        ('{"format": "something"}', "not that of a store"),
        ("{", "not that of a store"),
    ],
)
def test_a_store_that_cannot_be_read_is_reported_and_left(file, place, text, reported, capsys):
    place.mkdir()
    (place / "store.json").write_text(text)
    for arguments in (["sweep", file], ["results", "list"], ["results", "gc"]):
        assert cli.main([*map(str, arguments), "--store", str(place)]) == 2
        assert reported in capsys.readouterr().err
    assert [f.name for f in place.iterdir()] == ["store.json"]


def test_a_folder_of_other_things_is_no_store(file, tmp_path, capsys):
    (tmp_path / "thing.txt").write_text("mine")
    assert cli.main(["sweep", str(file), "--store", str(tmp_path)]) == 2
    assert "not empty and not a store" in capsys.readouterr().err
    assert cli.main(["sweep", str(file), "--store", str(file)]) == 2
    assert "is a file" in capsys.readouterr().err


def test_a_store_that_is_not_there_is_reported(place, capsys):
    for arguments in (["list"], ["query", "SELECT 1"], ["show", "ab"], ["gc"]):
        assert cli.main(["results", *arguments, "--store", str(place)]) == 2
        assert "there is no store" in capsys.readouterr().err
    assert not place.exists()


# Faults of the disk


def test_a_full_disk_is_reported_in_one_sentence_and_what_was_kept_stays(
    file, place, monkeypatch, capsys
):
    run(file, place)
    kept = keys_on_disk(place)
    file.write_text(SWEEP.format(reps=6))

    def full(_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        patch.setattr(pack, "_sync_file", full)
        assert cli.main(["sweep", str(file), "--store", str(place), "--json"]) == 2
    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err.count("\n") == 1
    assert "could not be written: No space left on device" in reported.err
    assert keys_on_disk(place) == kept
    assert not list((place / "tmp").iterdir())
    assert run(file, place).stored == 12


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))
from ackclock.cli import main as cli
sys.exit(cli.main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_disk_that_really_takes_no_more_is_reported(file, place):
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, "sweep", str(file), "--store", str(place)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr
    assert run(file, place).stored in range(12)
    assert len(keys_on_disk(place)) == 12


def test_a_read_only_store_is_reported_before_anything_runs_and_can_be_read(
    file, place, monkeypatch, capsys
):
    run(file, place)
    opened = Path.open

    def read_only(self, mode="r", *args, **kwargs):
        if place in self.parents and not set(mode) <= set("rb"):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(self))
        return opened(self, mode, *args, **kwargs)

    monkeypatch.setattr(Path, "open", read_only)
    monkeypatch.setattr(os, "access", lambda _, mode, **__: mode != os.W_OK)
    monkeypatch.setattr(
        "ackclock.experiments.executors.task.perform", lambda *_: pytest.fail("something ran")
    )
    assert cli.main(["sweep", str(file), "--store", str(place)]) == 2
    assert "cannot be written: Read-only file system" in capsys.readouterr().err
    assert cli.main(["results", "list", "--store", str(place)]) == 0
    assert "12 of 12 runs" in capsys.readouterr().out


# Several programs, and their ends


def test_two_sweeps_share_a_store_and_do_each_run_once(file, place):
    file.write_text(SWEEP.format(reps=40))
    both = [
        subprocess.Popen(
            command("sweep", file, "--store", place, "--json", "--set", "duration=20 s"),
            stdout=subprocess.PIPE, text=True,
        )
        for _ in range(2)
    ]  # fmt: skip
    said = [json.loads(process.communicate()[0]) for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert [s["runs"] for s in said] == [160, 160]
    assert said[0]["summary"] == said[1]["summary"]
    assert len(keys_on_disk(place)) == len(set(keys_on_disk(place))) == 160
    # Each did what the other did not.
    assert sum(s["runs"] - s["stored"] for s in said) == 160


HOLDER = """
import sys
from ackclock.experiments.store import Store
store = Store(sys.argv[1], writes=True)
print(len(store.claim(sys.argv[2:])), flush=True)
sys.stdin.read()
"""


def test_a_claim_holds_as_long_as_its_holder_lives(place, monkeypatch):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(place), "a", "b"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert holder.stdout.readline() == "2\n"
        holder.send_signal(signal.SIGSTOP)
        later = time.time() + 1e6
        monkeypatch.setattr(time, "time", lambda: later)
        with Store(place, writes=True) as other:
            assert other.claim(["a", "b", "c"]) == {"c"}
            holder.kill()
            holder.wait()
            assert other.claim(["a", "b", "c"]) == {"a", "b", "c"}
            assert len(list((place / "writers").iterdir())) == 2
            collect(other)
            assert len(list((place / "writers").iterdir())) == 1
    finally:
        holder.kill()
        holder.communicate()
    assert not list((place / "writers").iterdir())


def test_claims_end_with_the_store_and_not_with_another_in_the_same_program(place):
    with Store(place, writes=True) as one:
        assert one.claim(["a"]) == {"a"}
        assert one.claim(["a"]) == {"a"}
        with Store(place, writes=True) as other:
            assert other.claim(["a", "b"]) == {"b"}
        assert one.claim(["a", "b"]) == {"a", "b"}
    with Store(place, writes=True) as other:
        assert other.claim(["a", "b"]) == {"a", "b"}


def test_an_index_in_use_is_waited_for_and_stays_shared(place, monkeypatch):
    monkeypatch.setattr(index, "BUSY_S", 0.0)
    with Store(place, writes=True) as one:
        busy = sqlite3.connect(place / "index.sqlite", isolation_level=None)
        busy.execute("BEGIN IMMEDIATE")
        tries = 0
        is_busy = index._is_busy

        def counted(error):
            nonlocal tries
            tries += 1
            if tries == 3:
                busy.execute("ROLLBACK")
            return is_busy(error)

        monkeypatch.setattr(index, "_is_busy", counted)
        assert one.claim(["a"]) == {"a"}
        assert tries == 3
        assert one.index.is_shared
        busy.close()
        with Store(place, writes=True) as other:
            assert other.claim(["a"]) == set()


# Dies at the so-manieth call that is made in the store's code, or says how many there were.
DIES = """
import os, signal, sys, threading
from ackclock.cli import main as cli
last, calls, code = int(sys.argv[1]), 0, os.path.join("experiments", "store")
def count(frame, event, _):
    global calls
    if event in ("call", "c_call") and code in frame.f_code.co_filename:
        calls += 1
        if 0 < last <= calls:
            os.kill(os.getpid(), signal.SIGKILL)
threading.setprofile(count)
sys.setprofile(count)
assert cli.main(sys.argv[2:]) == 0
sys.setprofile(None)
print(calls, file=sys.stderr)
"""


def survived(file, place, runs, kills):
    file.write_text(SWEEP.format(reps=runs // 4))

    def dies(at, store):
        arguments = [str(at), "sweep", str(file), "--store", str(store), "--json"]
        return subprocess.run(
            [sys.executable, "-c", DIES, *arguments],
            capture_output=True, text=True, check=False,
        )  # fmt: skip

    undisturbed = dies(0, place.with_name("undisturbed"))
    # Each goes on where the one before died, so each has less to do; half of that is sure.
    most = int(undisturbed.stderr) // (2 * kills + 2)
    moments = random.Random(runs)
    for _ in range(kills):
        assert dies(moments.randint(1, most), place).returncode == -signal.SIGKILL
    kept = file_form.load_sweep(file).run(store=place, progress=False)
    assert len(kept.slots) == runs
    on_disk = keys_on_disk(place)
    assert len(on_disk) == len(set(on_disk)) == runs
    assert all(pack.is_whole(at) for at in packs(place))
    again = file_form.load_sweep(file).run(store=place, progress=False)
    assert again.stored == runs
    assert rows(again) == rows(run(file, place.with_name("undisturbed")))


@pytest.mark.slow
def test_a_sweep_survives_sigkill(file, place):
    survived(file, place, runs=200, kills=6)


@pytest.mark.slow
def test_a_sweep_of_1000_runs_survives_thirty_sigkills(file, place):
    survived(file, place, runs=1000, kills=30)


# Ctrl-C as soon as the first runs are written.
INTERRUPTED = """
import os, signal, sys
from ackclock.experiments.store import pack
write = pack.write
def write_and_interrupt(*arguments):
    made = write(*arguments)
    pack.write = write
    os.kill(os.getpid(), signal.SIGINT)
    return made
pack.write = write_and_interrupt
from ackclock.cli import main as cli
sys.exit(cli.main(sys.argv[1:]))
"""


def test_ctrl_c_gives_3_and_keeps_what_finished(file, place):
    file.write_text(SWEEP.format(reps=2000))
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, "sweep", str(file), "--store", str(place)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    assert "Traceback" not in done.stderr
    kept = len(keys_on_disk(place))
    assert 0 < kept < 8000
    with Store(place, writes=True) as store:
        assert len(store.find_stored(keys_on_disk(place))) == kept


@pytest.mark.slow
def test_a_store_that_is_removed_says_that_it_is_gone(file, place, monkeypatch, capsys):
    write = pack.write

    def write_and_remove(*arguments):
        made = write(*arguments)
        shutil.rmtree(place)
        return made

    monkeypatch.setattr(pack, "write", write_and_remove)
    file.write_text(SWEEP.format(reps=1000))
    assert cli.main(["sweep", str(file), "--store", str(place), "--quiet"]) == 2
    message = capsys.readouterr().err.strip()
    assert "the store is gone, it was removed" in message
    assert len(message.splitlines()) == 1


def test_results_of_a_removed_store_say_that_it_is_gone(file, place):
    result = run(file, place)
    shutil.rmtree(place)
    with pytest.raises(StoreError, match="the store is gone"):
        rows(result)


# Filters, queries, cleaning


def test_runs_are_listed_and_filtered(file, place):
    run(file, place)
    with look(place) as store:

        def count(*filters):
            return len(query.find(store, filters))

        assert count() == 12
        assert count("cc=Reno") == 6
        assert count("net.buffer=5 pkt", "cc=Vegas", "seed=4") == 1
        assert count("flows[*].cc=vegas") == count("flows[0].cc=vegas") == 6
        assert count("net.pairs=2") == 12
        assert count("net.pairs>2") == 0
        assert count("seed>=4") == 8
        assert count("sweep!=kept") == 0
        assert count("engine=packet", "name=small") == 12
        assert len(query.find(store, [], 5)) == 5
        with pytest.raises(StoreError, match="is not a filter"):
            count("cc")
        with pytest.raises(StoreError, match='no run has a key "nonsense"; the nearest are ') as e:
            count("nonsense=3")
        assert str(e.value).count(",") == 2  # three names
        with pytest.raises(StoreError, match=r'"net\.bufer"; the nearest are net\.buffer, '):
            count("net.bufer=5 pkt")
        # Also where another filter already chooses nothing, and where all would pass.
        for filters in (("seed=99", "flows[0].ccc=vegas"), ("flows[0].ccc!=vegas",)):
            with pytest.raises(StoreError, match=r"the nearest are flows\[\*\]\.cc, "):
                count(*filters)


def test_runs_are_filtered_by_a_flow_with_an_id(tmp_path, place):
    case = ac.load(SMALL).replace(duration="4 s", record=None)
    flows = [{"id": "bulk", "pair": 0, "cc": "aimd"}, {"id": "web", "pair": 1, "cc": "vegas"}]
    over = {"flows[web].cc": ["vegas", "cubic"]}
    ac.sweep(case.replace(flows=flows), over).run(store=place, progress=False)
    with look(place) as store:
        assert len(query.find(store, ["flows[bulk].cc=aimd"])) == 2
        assert len(query.find(store, ["flows[web].cc=cubic"])) == 1
        assert len(query.find(store, ["flows[bulk].cc=cubic"])) == 0


def test_sql_goes_over_the_whole_store(file, place):
    result = run(file, place)
    with look(place) as store:
        table = query.sql(
            store,
            "SELECT labels->>'cc' AS cc, sum(goodput_bps) AS total FROM flows JOIN runs USING (key)"
            " GROUP BY 1 ORDER BY 1",
        ).to_pylist()
        with pytest.raises(StoreError, match=r"query: .*nothing"):
            query.sql(store, "SELECT nothing FROM flows")
    for row in table:
        own = [r["goodput_bps"] for r in rows(result) if r["cc"] == row["cc"]]
        assert row["total"] == pytest.approx(sum(own))


def test_a_table_is_exported_with_its_labels(file, place, tmp_path):
    import pyarrow.parquet as pq

    result = run(file, place)
    with look(place) as store:
        out = tmp_path / "flows.parquet"
        assert query.export_table(store, "flows", query.find(store, ["cc=Reno"]), out) == 12
        with pytest.raises(StoreError, match='table "flow"; did you mean "flows"'):
            query.export_table(store, "flow", query.find(store), out)
        with pytest.raises(StoreError, match=r"\.csv or \.parquet"):
            query.export_table(store, "flows", query.find(store), tmp_path / "flows.txt")
    made = pq.read_table(out).to_pylist()
    own = [r for r in rows(result) if r["cc"] == "Reno"]
    assert sorted(r["goodput_bps"] for r in made) == sorted(r["goodput_bps"] for r in own)
    assert {r["net.buffer"] for r in made} == {"5 pkt", "20 pkt"}
    assert {r["flow_cc"] for r in made} == {"aimd"}


def taken(place):
    return sum(at.stat().st_size for pack in packs(place) for at in pack.rglob("*"))


def test_gc_removes_what_is_requested_and_keeps_the_rest_whole(file, place, monkeypatch):
    # All but the first runs are in one pack, of which some go.
    monkeypatch.setattr("ackclock.experiments.store.writer.COMMIT_S", float("inf"))
    first = run(file, place)
    with Store(place, writes=True) as store:
        going = [row["key"] for row in query.find(store, ["cc=Vegas"])]
        assert collect(store, going, dry=True).runs == 6
        assert len(keys_on_disk(place)) == 12
        before = taken(place)
        found = collect(store, going)
        assert (found.runs, found.bytes) == (6, before - taken(place))
    assert len(keys_on_disk(place)) == 6
    assert all(pack.is_whole(at) for at in packs(place))
    again = run(file, place)
    assert again.stored == 6
    assert rows(again) == rows(first)


def test_gc_takes_no_run_from_a_sweep_that_uses_the_store(file, place):
    run(file, place)
    with Store(place, writes=True) as one, Store(place, writes=True) as other:
        keys = [row["key"] for row in query.find(one)]
        with pytest.raises(StoreError, match="another program uses the store"):
            collect(one, keys)
        assert collect(other).runs == 0
    assert len(keys_on_disk(place)) == 12


@pytest.mark.slow
def test_gc_clears_leftovers_damage_and_doubles(file, place, monkeypatch):
    # All but the first runs are in one pack, so that a run of it alone makes another.
    monkeypatch.setattr("ackclock.experiments.store.writer.COMMIT_S", float("inf"))
    run(file, place)
    left = place / "tmp" / "123-left"
    left.mkdir()
    (left / "flows.parquet").write_bytes(b"x" * 1000)
    with Store(place, writes=True) as store:
        # The same runs in a pack of another name, as from a store that was copied into this one.
        held = {at.name: pack.rows_of(at, "runs")["key"].to_pylist() for at in packs(place)}
        name = max(held, key=lambda name: len(held[name]))
        key = held[name][0]
        store.rewrite(name, {key})
        assert len(keys_on_disk(place)) == 13
        found = collect(store)
        assert (found.leftovers, found.doubles, found.damaged, found.runs) == (1, 1, 0, 0)
    assert not left.exists()
    assert len(keys_on_disk(place)) == len(set(keys_on_disk(place))) == 12
    assert run(file, place).stored == 12


def test_a_dry_run_says_what_is_stored_and_writes_nothing(file, place, capsys):
    assert cli.main(["sweep", str(file), "--store", str(place), "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert (plan["runs"], plan["stored"]) == (12, 0)
    assert not place.exists()
    run(file, place)
    assert cli.main(["sweep", str(file), "--store", str(place), "--dry-run", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["stored"] == 12


def test_an_error_in_a_run_names_its_place_and_keeps_the_others(place, tmp_path, monkeypatch):
    from ackclock.experiments.executors import local, task

    case = ac.load(SMALL).replace(duration="4 s")
    grid = ac.sweep(case, {"net.buffer": ["5 pkt", "20 pkt"]}, reps=3)

    def fails(request, *others):
        if request.seed == 5:
            raise AckclockError("it broke")
        return task.perform(request, *others)

    monkeypatch.setattr(local, "perform", fails)
    with pytest.raises(AckclockError, match=r"net\.buffer = 5 pkt, seed 5: it broke"):
        grid.run(store=place, workers=1, progress=False)
    monkeypatch.undo()
    assert grid.run(store=place, progress=False).stored == 4


def test_the_error_reported_is_that_of_the_first_run_in_order(monkeypatch):
    from ackclock.experiments import scheduler
    from ackclock.experiments.executors import local

    grid = ac.sweep(ac.load(SMALL), {"net.buffer": ["5 pkt", "20 pkt"]})
    second_failed = threading.Event()

    def fails(request, *others):
        if request.case.data["net"]["buffer"] == "20 pkt":
            second_failed.set()
            raise AckclockError("the second broke")
        second_failed.wait()
        raise AckclockError("the first broke")

    monkeypatch.setattr(scheduler, "TASK_S", 0.0)
    monkeypatch.setattr(local, "perform", fails)
    with pytest.raises(AckclockError, match=r"^net\.buffer = 5 pkt, seed \d+: the first broke"):
        grid.run(store=False, workers=2, progress=False)
