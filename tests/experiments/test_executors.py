"""Where runs happen changes nothing: threads, processes, a Dask cluster with workers that die."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import pytest

import ackclock as ac
from ackclock.errors import AckclockError
from ackclock.experiments.executors import dask as clusters
from ackclock.experiments.executors import local
from ackclock.experiments.store import Store
from conftest import SMALL

EXAMPLES = Path(__file__).parents[2] / "examples"
BINARY = Path(sys.executable).parent


def a_sweep(reps=6, duration="6 s", tables=("drops", "windows")):
    case = ac.load(SMALL).replace(duration=duration, **{"record.tables": list(tables)})
    return ac.sweep(case, {"net.buffer": ["5 pkt", "20 pkt"]}, reps=reps)


def everything(result):
    """All that the runs left, without what the clock says."""
    summaries = []
    for slot in result.slots:
        summary = json.loads(json.dumps(result.summaries[slot.key]))
        del summary["totals"]["cpu_s"]
        summaries.append(summary)
    tables = {name: result.tables[name].to_pylist() for name in sorted(result.tables)}
    return summaries, tables


def test_threads_run_at_the_same_time():
    # The core releases the interpreter's lock, so two runs overlap: each sees the other's progress.
    seen = {}
    both = threading.Barrier(2, timeout=60)

    def tick(name):
        def told(_fraction, _time):
            if name not in seen:
                seen[name] = True
                both.wait()

        return told

    case = ac.load(SMALL).replace(duration="4000 s", record=None)

    def run(name):
        with pytest.raises(StopIteration):
            case.run(progress=stop_after(tick(name), seen))

    threads = [threading.Thread(target=run, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    assert seen == {"a": True, "b": True}


def stop_after(told, seen):
    def tick(fraction, at):
        told(fraction, at)
        if len(seen) == 2:
            raise StopIteration

    return tick


def test_one_worker_or_many_give_the_same_bits():
    made = [everything(a_sweep().run(store=False, workers=w)) for w in (1, 4)]
    assert made[0] == made[1]


def own_control(folder):
    for suffix in (".py", ".toml"):
        shutil.copy(EXAMPLES / f"my_control{suffix}", folder)
    case = ac.load(folder / "my_control.toml").replace(duration="3 s", warmup=None)
    return ac.sweep(case, {"net.buffer": ["10 pkt", "30 pkt"]}, reps=2)


def test_controls_in_python_run_in_processes_with_the_same_bits(tmp_path, monkeypatch):
    # Where the workers unpack the user's code; nothing is left of it.
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    sweep = own_control(tmp_path)
    assert sweep.case.holds_lock
    in_threads = everything(sweep.run(store=False, workers=1))
    with local.Processes(2) as works:
        assert works.parallel == 2
    in_processes = everything(sweep.run(store=False, workers=2))
    assert in_threads == in_processes
    assert not list(temporary.glob("ackclock-*"))


def test_a_process_that_dies_has_its_runs_done_again(tmp_path, monkeypatch):
    sweep = own_control(tmp_path)
    expected = everything(sweep.run(store=False, workers=1))
    ready = local.Processes.ready
    deaths = []

    def kill_once(self, timeout):
        if not deaths:
            deaths.extend(self._pool._processes)
            for process in self._pool._processes.values():
                process.kill()
        return ready(self, timeout)

    monkeypatch.setattr(local.Processes, "ready", kill_once)
    assert everything(sweep.run(store=False, workers=2)) == expected
    assert deaths


def test_an_error_in_another_process_is_told_with_its_place(tmp_path):
    sweep = own_control(tmp_path)
    code = tmp_path / "my_control.py"
    broken = tmp_path / "broken.py"
    text = code.read_text()
    fault = "def on_ack(self, *_):\n        raise RuntimeError('own fault')\n\n    def never("
    broken.write_text(text.replace("def on_ack(", fault))
    name = json.dumps(sweep.case.data).split("my_control.py:")[1].split('"')[0]
    case = sweep.case.replace(**{"flows[0].cc": f"broken.py:{name}"})
    with pytest.raises(RuntimeError, match="own fault") as caught:
        ac.sweep(case, reps=3).run(store=False, workers=2)
    assert any("seed" in note for note in caught.value.__notes__)


# A real Dask cluster: a scheduler and workers as programs of their own


class LocalDask:
    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.scheduler = self.start("scheduler", "--scheduler-file", self.file, "--port", 0,
                                    "--dashboard-address", ":0", "--host", "127.0.0.1")  # fmt: skip
        self.workers = [self.worker(), self.worker()]

    def start(self, kind, *arguments):
        command = [BINARY / "dask", kind, *map(str, arguments)]
        with (self.folder / f"{kind}-{time.monotonic_ns()}.log").open("w") as log:
            # A scheduler asks a worker that died for its results as long as this, in vain.
            patience = {"DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "3s"}
            return subprocess.Popen(
                command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, **patience}
            )

    def worker(self):
        return self.start("worker", "--scheduler-file", self.file, "--nthreads", 1, "--no-nanny",
                          "--no-dashboard", "--host", "127.0.0.1",
                          "--local-directory", self.folder)  # fmt: skip

    def wait(self, workers):
        from distributed import Client

        with Client(self.address, timeout=60, set_as_default=False) as client:
            client.wait_for_workers(workers, timeout=120)

    @property
    def address(self):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                return json.loads(self.file.read_text())["address"]
            except (OSError, ValueError):
                time.sleep(0.1)
        pytest.fail("the Dask scheduler did not start")

    def close(self):
        for process in [*self.workers, self.scheduler]:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def dask(tmp_path_factory):
    pytest.importorskip("distributed")
    made = LocalDask(tmp_path_factory.mktemp("dask"))
    try:
        made.wait(2)
        yield made
    finally:
        made.close()


def test_a_cluster_gives_the_same_bits_though_a_worker_is_killed(dask, tmp_path):
    sweep = a_sweep(reps=20, duration="200 s", tables=())
    victim = dask.workers[0]
    told = []

    def look(status):
        told.append(status)
        # As soon as runs come back, one of the two workers dies at once, as by a lack of memory.
        if status.done and victim.poll() is None:
            os.kill(victim.pid, signal.SIGKILL)

    done = sweep.run(cluster=dask.address, store=tmp_path / "store", progress=look)
    assert victim.wait() == -signal.SIGKILL
    assert len(done.slots) == 40
    assert told[0].where == "2 threads of 2 Dask workers"
    assert told[-1].done == 40
    assert everything(done) == everything(sweep.run(store=False))
    # And it is kept as if it had been run here.
    assert sweep.run(store=tmp_path / "store", progress=False).stored == 40


def test_code_of_ones_own_travels_to_a_cluster_and_its_dashboard_answers(dask, tmp_path):
    import urllib.request

    sweep = own_control(tmp_path)
    expected = everything(sweep.run(store=False, workers=1))
    with clusters.Cluster(dask.address) as works:
        where = works.dashboard.replace("localhost", "127.0.0.1")
        with urllib.request.urlopen(where, timeout=60) as page:
            assert b"Dask" in page.read()
    assert everything(sweep.run(cluster=dask.address, store=False)) == expected


def test_workers_of_another_version_are_refused(dask, monkeypatch):
    monkeypatch.setattr("ackclock._util.core.core_version", lambda: "0.0.0+other")
    with pytest.raises(AckclockError, match=r"has the packet engine in version .* 0\.0\.0\+other"):
        a_sweep(reps=1).run(cluster=dask.address, store=False)


def test_a_scheduler_that_goes_away_is_told_and_what_finished_is_kept(dask, tmp_path):
    sweep = a_sweep(reps=100, duration="400 s", tables=())

    def look(status):
        if status.done > 5 and dask.scheduler.poll() is None:
            time.sleep(1.2)
            dask.scheduler.kill()

    with pytest.raises(AckclockError, match="scheduler is lost"):
        sweep.run(cluster=dask.address, store=tmp_path / "store", progress=look)
    with Store(tmp_path / "store") as store:
        assert sweep.plan(store=store).stored > 5


def test_a_scheduler_that_is_not_there_is_told(monkeypatch, tmp_path):
    monkeypatch.setattr(clusters, "CONNECT_S", 0.5)
    for address, words in [
        ("tcp://127.0.0.1:9", "no Dask scheduler answers"),
        ("nonsense://x:1", "nonsense://x:1"),
    ]:
        with pytest.raises(AckclockError, match=words):
            a_sweep().run(cluster=address, store=tmp_path / "store")
