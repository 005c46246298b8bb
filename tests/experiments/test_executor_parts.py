"""Where runs happen, with stand-ins for clusters, runs and executors: every branch by hand."""

from __future__ import annotations

import math
import queue
from concurrent.futures import CancelledError
from pathlib import Path
from types import SimpleNamespace

import pytest

from ackclock.engines import registry
from ackclock.errors import AckclockError
from ackclock.experiments import scheduler
from ackclock.experiments.executors import dask, local
from ackclock.experiments.executors.local import (
    Threads,
    _at_home,
    _portable,
    run_task,
    unpack_result,
)
from ackclock.experiments.executors.task import (
    ExecutorLostError,
    Finished,
    ProcessDiedError,
    Request,
    RunRecord,
    Task,
)
from ackclock.experiments.scheduler import _Drive
from ackclock.experiments.statistics import Precision


def request(key):
    return Request(key, SimpleNamespace(), 3)


def task(number, *keys, later=0):
    return Task(number, tuple(map(request, keys)), later)


def record(key):
    return RunRecord(key, 3, "{}", {}, 2.0)


def test_a_task_ends_with_the_first_run_that_fails():
    def one(what):
        if what.key == "b":
            raise ValueError("no")
        return record(what.key)

    found = run_task(task(1, "a", "b", "c"), one)
    assert [made.key for made in found.records] == ["a"]
    assert (str(found.error), found.failed.key) == ("no", "b")
    whole = run_task(task(1, "a", "c"), one)
    assert ([made.key for made in whole.records], whole.error, whole.failed) == (
        ["a", "c"],
        None,
        None,
    )


def test_what_another_process_answers_names_the_run_that_failed():
    import pickle

    of = task(1, "a", "b")
    found = unpack_result(of, pickle.dumps(((1,), None, "b")))
    assert (found.records, found.error, found.failed) == ((1,), None, of.requests[1])
    assert unpack_result(of, pickle.dumps(((), None, None))).failed is None


class StubbornError(Exception):
    def __reduce__(self):
        raise TypeError


def test_errors_travel_as_they_are_or_as_text_without_the_places_of_copies(monkeypatch):
    error = ValueError("x")
    assert _portable(error) is error
    assert _portable(None) is None
    made = _portable(StubbornError("why"))
    assert (type(made), str(made)) == (AckclockError, "StubbornError: why")
    monkeypatch.setattr(registry, "_folders", [Path("/tmp/x/ackclock-1_0af")])
    wrong = AckclockError("in /tmp/x/ackclock-1_0af/code/3/my.py: no", 7)
    _at_home(wrong)
    assert wrong.args == ("in my.py: no", 7)


def test_threads_share_the_cores_that_are_left():
    works = Threads(8)
    assert (works.parallel, works.title, works.run_bytes) == (8, "8 cores", math.inf)
    assert Threads(1).title == "1 core"
    assert Threads(8, threads=3).parallel == 2
    assert Threads(2, threads=3).parallel == 1
    assert Threads(8, threads=3)._threads_of_run().most == 3
    # Of eight cores, by the runs that are left here and are to come.
    for left, later, most in (({}, 0, 8), ({1: 2}, 1, 2), ({1: 4, 2: 1}, 0, 1), ({1: 3}, 0, 2)):
        works._left, works._later = dict(left), later
        count = works._threads_of_run()
        assert count.most == most
        assert count.is_chosen == (most > 1)


def test_processes_have_a_title():
    assert [local.Processes(n).title for n in (1, 3)] == ["1 process", "3 processes"]
    assert local.Processes(3).parallel == 3


class Future:
    def __init__(self, status, result=None, error=None):
        self.status, self._result, self._error, self.key = status, result, error, "k"

    def result(self):
        if isinstance(self._result, BaseException):
            raise self._result
        return self._result

    def exception(self):
        return self._error

    def release(self):
        pass

    def add_done_callback(self, take):
        self.take = take


def cluster(*, status="running", threads=(), limits=()):
    works = dask.Cluster("tcp://nowhere:1")
    workers = {
        name: {"memory_limit": limit, "nthreads": count}
        for name, (limit, count) in enumerate(limits)
    }
    submitted = []

    def submit(*_, key, pure):
        assert not pure
        submitted.append(key)
        return Future("pending")

    works._client = SimpleNamespace(
        status=status,
        nthreads=lambda: dict(enumerate(threads)),
        scheduler_info=lambda n_workers: {"workers": workers},
        submit=submit,
        cancel=lambda futures: None,
        dashboard_link="http://d",
    )
    works.submitted = submitted
    return works


def test_a_cluster_counts_its_threads_and_the_memory_of_the_smallest_worker():
    works = cluster(threads=(2, 4), limits=((8e9, 2), (6e9, 4)))
    assert works.title == "a cluster that has no workers yet"
    assert works.parallel == 6
    assert works.run_bytes == 1.5e9
    assert works.title == "6 threads of 2 Dask workers"
    assert works.dashboard == "http://d"
    assert works.doing() == 0.0
    assert cluster().parallel == 1
    assert cluster().run_bytes == math.inf
    # A limit of 0 is none.
    assert cluster(threads=(1,), limits=((0, 1),)).run_bytes == math.inf
    lost = cluster()

    def fail(**_):
        raise OSError

    lost._client.scheduler_info = fail
    with pytest.raises(ExecutorLostError, match="the connection to the Dask scheduler is lost"):
        lost.parallel  # noqa: B018


def test_results_of_a_cluster_are_read_and_what_is_lost_is_done_again(monkeypatch):
    monkeypatch.setattr(dask, "pack_task", lambda _: ())
    monkeypatch.setattr(dask, "unpack_result", lambda of, answer: Finished(of, (answer,)))
    of = task(7, "a", "b")
    works = cluster()

    def read(future):
        works._tasks["k"] = (of, future)
        return works._read(future)

    (found,) = read(Future("finished", "answer"))
    assert (found.task, found.records, found.error) == (of, ("answer",), None)
    error = ValueError("x")
    (found,) = read(Future("error", error=error))
    assert (found.records, found.error, found.failed) == ((), error, of.requests[0])
    assert works._read(Future("finished")) == []  # known no more
    for lost in (OSError(), TimeoutError()):
        with pytest.raises(ExecutorLostError):
            read(Future("finished", lost))
    works = cluster()
    works.submit(of)
    assert read(Future("finished", CancelledError())) == []
    assert read(Future("lost")) == []
    # Each turn has another name.
    assert [key.rpartition("-")[2] for key in works.submitted] == ["0", "1", "2"]
    for _ in range(dask.MOST_TURNS - 2):
        read(Future("lost"))
    with pytest.raises(ExecutorLostError):
        read(Future("lost"))
    gone = cluster(status="closed")
    gone._tasks["k"] = (of, None)
    with pytest.raises(ExecutorLostError):
        gone._read(Future("lost"))
    assert gone.stop() == []
    with pytest.raises(ExecutorLostError):
        gone.ready(0.0)
    waiting = cluster()
    assert waiting.ready(0.0) == []
    waiting._back = queue.SimpleQueue()
    waiting._tasks["k"] = (of, Future("finished", "kept"))
    assert [one.records for one in waiting.stop()] == [("kept",)]


def test_errors_of_a_cluster_say_what_to_do():
    from distributed import KilledWorker

    killed = dask._describe_error(KilledWorker("t", SimpleNamespace(address="a"), 3))
    assert isinstance(killed, ProcessDiedError)
    assert "died again and again" in str(killed)
    lacking = dask._describe_error(ModuleNotFoundError("No module named 'x'"))
    assert str(lacking).startswith("workers of the cluster lack a package: No module named 'x'; in")
    error = ValueError("x")
    assert dask._describe_error(error) is error
    with pytest.raises(AckclockError, match="cluster nonsense://x: no Dask scheduler answers"):
        dask.Cluster("nonsense://x").__enter__()


# The loop of a sweep


class Agenda:
    """Gives tasks once; every run is predicted to take 4 s."""

    def __init__(self, *tasks):
        self.waiting = list(tasks)
        self.finished, self.wanted_keys = set(), {r.key for t in tasks for r in t.requests}
        self.points, self.stored, self.left_cpu_s = [], 5, 8.0
        self.skipped, self.taken = [], []

    def tasks(self, pace):
        while self.waiting:
            yield self.waiting.pop(0)

    def wait_for_others(self):
        return False

    def took(self, made):
        self.taken.append(made.key)
        self.finished.add(made.key)

    def predict_s(self, key):
        return 4.0

    def labels(self, key):
        return {"x": key}

    def describe(self, key):
        return f"x = {key}"

    def skip_task(self, finished):
        self.skipped.append(finished.failed.key)


class Works:
    """Does what is submitted at once, but for what is to fail."""

    parallel, run_bytes, title = 2, math.inf, "nowhere"

    def __init__(self, failures=()):
        self.failures, self.back, self.most, self.now = dict(failures), [], 0, 0

    def submit(self, of):
        self.now += 1
        self.most = max(self.most, self.now)
        error = self.failures.get(of.number)
        if error is None:
            self.back.append(Finished(of, tuple(record(r.key) for r in of.requests)))
        else:
            self.back.append(Finished(of, (), error, of.requests[0]))

    def ready(self, timeout):
        self.now -= 1
        return [self.back.pop()]

    def doing(self):
        return 0.25


class Keeper:
    def __init__(self):
        self.added = []

    def add(self, made, case, labels):
        self.added.append((made.key, labels))


def drive(agenda):
    reported = []
    made = _Drive(SimpleNamespace(name="n"), agenda, Keeper(), reported.append)
    return made, reported


def test_every_run_is_kept_and_reported_and_two_wait_for_each_that_runs():
    agenda = Agenda(*(task(i, f"a{i}", f"b{i}") for i in range(6)))
    made, reported = drive(agenda)
    works = Works()
    made.go(works)
    assert len(agenda.taken) == made.finished == 12
    assert sorted(made.keeper.added)[0] == ("a0", {"x": "a0"})
    assert works.most == 4
    last = reported[-1]
    assert (last.name, last.where, last.requested, last.stored, last.finished) == (
        "n",
        "nowhere",
        12,
        5,
        12.25,
    )
    # 48 s were predicted of what is done, and 8 s are left.
    assert last.left_s == pytest.approx(8.0 * last.seconds / 48.0)
    assert (made.pace.predicted, made.pace.measured) == (48.0, 24.0)
    single = Works()
    single.parallel = 0
    assert made._most_flying(single) == 2


def test_the_first_run_in_order_that_fails_is_raised_with_its_place():
    agenda = Agenda(*(task(i, f"a{i}") for i in range(4)))
    made, _ = drive(agenda)
    # The last that was submitted comes back first.
    failures = {1: AckclockError("first"), 3: ValueError("later")}
    with pytest.raises(AckclockError) as caught:
        made.go(Works(failures))
    assert caught.value.args == ("x = a1, seed 3: first",)
    assert caught.value.__notes__ == ["in the run x = a1, seed 3"]
    assert set(agenda.taken) == {"a2", "a0"}


def test_runs_that_end_their_processes_are_named_at_the_end():
    agenda = Agenda(*(task(i, f"a{i}") for i in range(14)))
    made, _ = drive(agenda)
    failures = {i: ProcessDiedError("died") for i in range(scheduler.MOST_NAMED + 1)}
    with pytest.raises(ProcessDiedError) as caught:
        made.go(Works(failures))
    kept = 14 - len(failures)
    text = str(caught.value)
    assert text.endswith(f"; and 1 more: died ({kept} of 14 runs kept)")
    assert text.count(", seed 3") == scheduler.MOST_NAMED
    assert len(agenda.skipped) == len(failures)
    alone, _ = drive(Agenda(task(0, "a")))
    with pytest.raises(ProcessDiedError, match=r"^x = a, seed 3: died \(0 of 1 runs kept\)$"):
        alone.go(Works({0: ProcessDiedError("died")}))


def test_what_was_interrupted_is_raised_as_it_is():
    made, _ = drive(Agenda(task(0, "a")))
    with pytest.raises(KeyboardInterrupt) as caught:
        made.go(Works({0: KeyboardInterrupt()}))
    assert not hasattr(caught.value, "__notes__")
    made.keep([Finished(task(5, "z"), (record("z"),))])
    assert made.keeper.added == [("z", {"x": "z"})]


def test_a_precision_may_be_of_a_function():
    assert Precision(lambda _: 1.0).count_replicates([1.0] * 20) == 20
