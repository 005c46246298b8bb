"""Tasks on threads and the queue of a sweep, without a run."""

from collections import deque
from concurrent.futures import Future
from types import SimpleNamespace

import pytest

from ackclock.experiments.executors import local
from ackclock.experiments.executors.task import Finished, Request, Task
from ackclock.experiments.scheduler import Agenda


def task(number, runs, later=0):
    return Task(number, tuple(Request(f"{number}.{i}", None, i) for i in range(runs)), later)


def test_what_is_done_of_a_task_grows_with_its_runs(monkeypatch):
    seen = []

    def perform(request, tick, pieces, threads):
        tick(0.5, 1.0)
        seen.append((request.key, works.doing(), dict(works._left), threads.most))
        return request.key

    monkeypatch.setattr(local, "perform", perform)
    works = local.Threads(8)
    works._left[1] = 2
    finished = works._do(task(1, 2))
    assert finished.records == ("1.0", "1.1")
    # Two runs on eight cores have four each, one run all.
    assert seen == [("1.0", 0.5, {1: 2}, 4), ("1.1", 1.5, {1: 1}, 8)]
    assert works.doing() == 2
    assert works._left == {1: 0}


@pytest.mark.parametrize(
    ("threads", "later", "most", "is_chosen"),
    [(None, 0, 4, True), (None, 7, 1, False), (3, 0, 3, False)],
)
def test_a_run_has_its_part_of_the_cores_unless_threads_were_given(threads, later, most, is_chosen):
    works = local.Threads(8, threads=threads)
    works._left, works._later = {1: 2}, later
    count = works._threads_of_run()
    assert (count.most, count.is_chosen) == (most, is_chosen)


def test_threads_of_a_run_leave_room_for_fewer_runs_at_a_time():
    assert [local.Threads(8, threads=n).parallel for n in (None, 1, 3, 16)] == [8, 8, 2, 1]
    assert [local.Threads(n).title for n in (1, 4)] == ["1 core", "4 cores"]


def test_stopping_processes_takes_no_failed_and_no_cancelled_result(monkeypatch):
    monkeypatch.setattr(local, "unpack_result", lambda task, answer: answer)
    works = local.Processes(1)
    works._pool = SimpleNamespace(shutdown=lambda **words: None)
    done, failed, cancelled, running = Future(), Future(), Future(), Future()
    done.set_result("a")
    failed.set_exception(ValueError("x"))
    cancelled.cancel()
    for number, future in enumerate((failed, cancelled, running, done)):
        works._waiting[future] = task(number, 1)
    assert works.stop() == ["a"]


def test_after_a_run_that_failed_the_runs_behind_it_are_queued_again():
    agenda = Agenda.__new__(Agenda)
    agenda.points = ["p0", "p1", "p2"]
    agenda.left_cpu_s = 10.0
    agenda._queue = deque()
    agenda._points_of = {"1.2": {2, 1}, "1.3": {0}}
    agenda.predict_s = {"1.1": 4.0}.__getitem__
    whole = task(1, 4)
    agenda.skip_task(Finished(whole, (), ValueError("x"), whole.requests[1]))
    assert list(agenda._queue) == [("1.2", "p1", 2), ("1.3", "p0", 3)]
    assert agenda.left_cpu_s == 6.0
