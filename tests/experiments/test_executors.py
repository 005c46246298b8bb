"""Where runs happen changes nothing: threads, processes, a Dask cluster with workers that die."""

import json
import math
import multiprocessing
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import ackclock as ac
from ackclock._util.output_folder import ScratchFolder
from ackclock.engines import registry
from ackclock.errors import AckclockError
from ackclock.experiments import scheduler
from ackclock.experiments.executors import dask as clusters
from ackclock.experiments.executors import local
from ackclock.experiments.store import Store, query
from ackclock.scenario import execution
from conftest import SMALL

EXAMPLES = Path(__file__).parents[2] / "examples"
BINARY = Path(sys.executable).parent


def a_sweep(reps=6, duration="6 s", tables=("drops", "windows")):
    case = ac.load(SMALL).replace(duration=duration, **{"record.tables": list(tables)})
    return ac.sweep(case, {"net.buffer": ["5 pkt", "20 pkt"]}, reps=reps)


def test_a_run_leaves_the_interpreter_to_other_threads(monkeypatch):
    # So runs in threads go on at the same time. No thread is made to give the interpreter up: this
    # one counts only while the core, between two calls of progress, does not hold it.
    monkeypatch.setattr(execution, "PROGRESS_S", 0.0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e6)
    count = 0
    before = None

    def tick(*_):
        nonlocal before
        if before not in (None, count):
            raise StopIteration
        before = count

    def run():
        case = ac.load(SMALL).replace(duration="20000 s", record=None)
        with pytest.raises(StopIteration):
            case.run(progress=tick)

    try:
        with ThreadPoolExecutor(1) as pool:
            done = pool.submit(run)
            while not done.done():
                count += 1
                time.sleep(0)
            done.result()
    finally:
        sys.setswitchinterval(interval)


def test_one_worker_or_many_give_the_same_bits(everything):
    made = [everything(a_sweep().run(store=False, workers=w)) for w in (1, 4)]
    assert made[0] == made[1]


def own_control(folder):
    for suffix in (".py", ".toml"):
        shutil.copy(EXAMPLES / f"my_control{suffix}", folder)
    return sweep_of_own(folder)


def sweep_of_own(folder):
    case = ac.load(folder / "my_control.toml").replace(duration="3 s", warmup=None)
    return ac.sweep(case, {"net.buffer": ["10 pkt", "30 pkt"]}, reps=2)


def run_here(sweep, monkeypatch):
    """Run a sweep in this process, where user code would otherwise go to another."""
    with monkeypatch.context() as patch:
        patch.setattr(local.Processes, "can", staticmethod(lambda _: False))
        return sweep.run(store=False, workers=1)


def test_controls_in_python_run_in_processes_with_the_same_bits(tmp_path, monkeypatch, everything):
    # Where the workers unpack the user's code; nothing is left of it.
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    sweep = own_control(tmp_path)
    assert sweep.case.holds_lock
    in_threads = everything(run_here(sweep, monkeypatch))
    assert not list(temporary.iterdir())
    with local.Processes(2) as works:
        assert works.parallel == 2
    in_processes = everything(sweep.run(store=False, workers=2))
    assert in_threads == in_processes
    assert not list(temporary.glob("ackclock-*"))


def unpack(folder, parcel):
    tempfile.tempdir = folder
    registry.open_parcel(parcel)
    assert list(Path(folder).rglob("my_control.py"))


@pytest.mark.parametrize("start", ["fork", "spawn"])
def test_unpacked_code_goes_with_the_process_that_unpacked_it(tmp_path, start):
    # A fork ends without atexit; and it does not remove what its parent has unpacked.
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    parcel = own_control(tmp_path).case.parcel()
    here = ScratchFolder()
    context = multiprocessing.get_context(start)
    process = context.Process(target=unpack, args=(str(temporary), parcel))
    process.start()
    process.join()
    assert process.exitcode == 0
    assert not list(temporary.iterdir())
    assert here.path.is_dir()


def test_unpacked_code_goes_with_a_process_that_is_ended_by_force(tmp_path):
    code = """
import signal, sys, tempfile
from ackclock._util import end_signals
from ackclock._util.output_folder import ScratchFolder
tempfile.tempdir = sys.argv[1]
folder = ScratchFolder()
(folder.path / "code.py").write_text("")
end_signals._end(signal.SIGTERM)
"""
    done = subprocess.run([sys.executable, "-c", code, tmp_path], check=False, capture_output=True)
    assert done.returncode == 143
    assert not list(tmp_path.iterdir())


def test_a_message_names_the_files_of_the_user_not_their_unpacked_copies(tmp_path):
    case = registry.open_parcel(own_control(tmp_path).case.parcel())
    copy = case._file.parent / "code" / "my_control.py"
    assert copy.is_file()
    other = tmp_path / "ackclock-1" / "code" / "my_control.py"
    message = f"Own.on_ack ({copy}, line 9); {copy.parent}/2/a.py; {other}"
    assert registry.name_original_files(message) == (
        f"Own.on_ack (my_control.py, line 9); a.py; {other}"
    )


def deadly_control(folder):
    """A sweep of which the first run that is begun in another process kills that."""
    code = folder / "my_control.py"
    marker = folder / "died"
    death = f"""
    def on_ack(self, window, ack):
        import os, signal
        if os.getpid() != {os.getpid()}:
            try:
                os.close(os.open({str(marker)!r}, os.O_CREAT | os.O_EXCL))
            except FileExistsError:
                pass
            else:
                os.kill(os.getpid(), signal.SIGKILL)
"""
    head = "\n    def on_ack(self, window, ack):\n"
    text = (EXAMPLES / code.name).read_text()
    assert head in text
    code.write_text(text.replace(head, death))
    shutil.copy(EXAMPLES / "my_control.toml", folder)
    return sweep_of_own(folder), marker


def test_a_process_that_dies_has_its_runs_done_again(tmp_path, monkeypatch, everything):
    sweep, died = deadly_control(tmp_path)
    expected = everything(run_here(sweep, monkeypatch))
    assert not died.exists()
    assert everything(sweep.run(store=False, workers=2)) == expected
    assert died.exists()


SUICIDAL = """
import os, signal, threading
import ackclock

@ackclock.control
class Fatal:
    how: str = "exit"

    def on_ack(self, window, ack):
        if self.how == "exit":
            os._exit(0)
        if self.how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.how == "thread":
            threading.Thread(target=os._exit, args=(1,)).start()
        window.cwnd += 1 / window.cwnd

    def on_congestion(self, window, event):
        window.cwnd = max(2, window.cwnd / 2)
"""


SLOW = pytest.mark.slow


@pytest.mark.slow
@pytest.mark.parametrize(
    ("how", "workers"),
    [
        ("exit", 2),
        pytest.param("exit", 1, marks=SLOW),
        pytest.param("kill", 2, marks=SLOW),
        pytest.param("thread", 2, marks=SLOW),
    ],
)
def test_a_run_that_ends_its_process_is_named_and_the_sweep_goes_on(tmp_path, how, workers):
    (tmp_path / "fatal.py").write_text(SUICIDAL)
    (tmp_path / "small.toml").write_text(SMALL)
    fatal = f'{{ kind = "python", class = "fatal.py:Fatal", how = "{how}" }}'
    good = '{ kind = "python", class = "fatal.py:Fatal", how = "none" }'
    (tmp_path / "sweep.toml").write_text(
        'base = "small.toml"\nreps = 2\nset = { duration = "3 s" }\n[over]\n'
        f'cc = {{ path = "flows[0].cc", values = {{ Good = {good}, Fatal = {fatal} }} }}\n'
    )
    place = tmp_path / "store"
    done = subprocess.run(
        [
            *(sys.executable, "-m", "ackclock", "sweep", str(tmp_path / "sweep.toml"), "--quiet"),
            *("--store", str(place), "--workers", str(workers)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert "cc = Fatal, seed 3; cc = Fatal, seed 4: its process ended" in done.stderr
    assert "2 of 4 runs kept" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    with Store(place) as store:
        labels = [json.loads(row["labels"]) for row in query.find(store)]
    assert labels == [{"cc": "Good"}] * 2


@pytest.mark.slow
def test_user_code_of_a_later_point_does_not_run_in_the_process_of_the_sweep(tmp_path):
    (tmp_path / "fatal.py").write_text(SUICIDAL)
    code = """
import sys
import ackclock as ac
fatal = "fatal.py:Fatal"
sweep = ac.sweep(ac.load("small.toml"), {"flows[0].cc": ["aimd", fatal]})
try:
    sweep.run(store=False, progress=False)
except ac.AckclockError as error:
    sys.exit(f"{error}")
"""
    (tmp_path / "small.toml").write_text(SMALL)
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert "flows[0].cc = fatal.py:Fatal, seed 3: its process ended" in done.stderr
    assert "1 of 2 runs kept" in done.stderr


def test_an_error_in_another_process_is_reported_with_its_place(tmp_path):
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


# A real Dask cluster: a scheduler and workers as separate programs


# A worker whose limit is below what the process itself holds pauses 0.2 s after its start, and
# never runs what it was given before.
NO_PAUSE = {**os.environ, "DASK_DISTRIBUTED__WORKER__MEMORY__PAUSE": "False"}


class LocalDask:
    def __init__(self, folder):
        self.folder = folder
        self.file = folder / "scheduler.json"
        self.temporary = folder / "temporary"
        self.temporary.mkdir()
        self.scheduler = self.start("scheduler", "--scheduler-file", self.file, "--port", 0,
                                    "--dashboard-address", ":0", "--host", "127.0.0.1")  # fmt: skip
        self.workers = [self.worker(), self.worker()]

    def start(self, kind, *arguments):
        command = [BINARY / "dask", kind, *map(str, arguments)]
        environment = {**NO_PAUSE, "TMPDIR": str(self.temporary)}
        with (self.folder / f"{kind}-{time.monotonic_ns()}.log").open("w") as log:
            return subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env=environment)

    def worker(self, *more):
        return self.start("worker", "--scheduler-file", self.file, "--nthreads", 1, "--no-nanny",
                          "--no-dashboard", "--host", "127.0.0.1",
                          "--local-directory", self.folder, *more)  # fmt: skip

    def wait(self, workers):
        from distributed import Client

        with Client(self.address, timeout=600, set_as_default=False) as client:
            client.wait_for_workers(workers)

    def wait_for(self, name, *, there):
        from distributed import Client

        with Client(self.address, timeout=600, set_as_default=False) as client:
            while there != any(
                worker["name"] == name
                for worker in client.scheduler_info(n_workers=-1)["workers"].values()
            ):
                time.sleep(0.05)

    @property
    def address(self):
        while self.scheduler.poll() is None:
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


def test_a_cluster_gives_the_same_bits_though_a_worker_is_killed(dask, tmp_path, everything):
    sweep, died = deadly_control(tmp_path)
    reported = []
    with clusters.Cluster(dask.address) as works:
        assert (works.parallel, works.title) == (2, "2 threads of 2 Dask workers")
    done = sweep.run(cluster=dask.address, store=tmp_path / "store", progress=reported.append)
    assert died.exists()
    assert sorted(worker.poll() is None for worker in dask.workers) == [False, True]
    assert len(done.slots) == reported[-1].finished == 4
    assert everything(done) == everything(sweep.run(store=False, workers=1))
    # And it is kept as if it had been run here.
    assert sweep.run(store=tmp_path / "store", progress=False).stored == 4


def test_code_of_ones_own_travels_to_a_cluster_and_its_dashboard_answers(
    dask, tmp_path, everything
):
    import urllib.request

    sweep = own_control(tmp_path)
    expected = everything(sweep.run(store=False, workers=1))
    with clusters.Cluster(dask.address) as works:
        where = works.dashboard.replace("localhost", "127.0.0.1")
        with urllib.request.urlopen(where, timeout=None) as page:
            assert b"Dask" in page.read()
    assert everything(sweep.run(cluster=dask.address, store=False)) == expected


@pytest.mark.slow
def test_a_run_that_does_not_fit_into_a_worker_is_refused(dask, tmp_path):
    sweep = a_sweep(reps=1)
    needed = max(sweep.case_at(at).cost().needed_bytes(spills=False) for at in sweep.points)
    # Of each worker 0.8 may be used, divided by its threads.
    enough, less = (math.ceil(2 * needed / 0.8 * part) for part in (1.01, 0.99))

    def run_beside(limit):
        small = dask.worker("--nthreads", 2, "--memory-limit", limit, "--name", "small")
        try:
            dask.wait_for("small", there=True)
            return sweep.run(cluster=dask.address, store=tmp_path / "store", progress=False)
        finally:
            small.kill()
            small.wait()
            dask.wait_for("small", there=False)

    with pytest.raises(AckclockError, match=r"smallest Dask worker .*--memory-share") as caught:
        run_beside(less)
    assert "(at net.buffer = " in str(caught.value)
    assert len(run_beside(enough).slots) == 2


def test_workers_of_another_version_are_refused(dask, monkeypatch):
    monkeypatch.setattr("ackclock._util.core.core_version", lambda: "0.0.0+other")
    with pytest.raises(AckclockError, match=r"has the packet engine in version .* 0\.0\.0\+other"):
        a_sweep(reps=1).run(cluster=dask.address, store=False)


@pytest.mark.slow
def test_a_worker_that_is_terminated_leaves_no_unpacked_code(dask, tmp_path):
    killed = set(dask.temporary.iterdir())
    own_control(tmp_path).run(cluster=dask.address, store=False)
    assert {file.name for file in dask.temporary.rglob("*.py")} == {"my_control.py"}
    for worker in dask.workers:
        worker.terminate()
        worker.wait()
    dask.workers = [dask.worker(), dask.worker()]
    assert set(dask.temporary.iterdir()) <= killed
    dask.wait(2)


def test_a_lost_scheduler_is_reported_and_finished_runs_are_kept(dask, tmp_path, monkeypatch):
    monkeypatch.setattr(scheduler, "TASK_S", 0.0)  # a run a task
    sweep = a_sweep(reps=100, duration="40 s", tables=())
    ready = clusters.Cluster.ready
    back = 0

    def kill_scheduler(self, timeout):
        nonlocal back
        found = ready(self, timeout)
        back += len(found)
        if back > 5 and dask.scheduler.poll() is None:
            dask.scheduler.kill()
            dask.scheduler.wait()
        return found

    monkeypatch.setattr(clusters.Cluster, "ready", kill_scheduler)
    with pytest.raises(AckclockError, match="scheduler is lost") as caught:
        sweep.run(cluster=dask.address, store=tmp_path / "store", progress=False)
    assert f"; {back} of 200 runs are kept" in str(caught.value)
    with Store(tmp_path / "store") as store:
        assert 200 > sweep.plan(store=store).stored == back > 5


def test_a_scheduler_that_is_not_there_is_reported(tmp_path):
    config = pytest.importorskip("dask").config
    for address, words in [
        ("tcp://127.0.0.1:9", "no Dask scheduler answers"),
        ("nonsense://x:1", "nonsense://x:1"),
    ]:
        with (
            config.set({"distributed.comm.timeouts.connect": "500ms"}),
            pytest.raises(AckclockError, match=words),
        ):
            a_sweep().run(cluster=address, store=tmp_path / "store")
