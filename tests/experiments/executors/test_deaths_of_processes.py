"""What an executor does when its processes die, without a process."""

from concurrent.futures import Future
from types import SimpleNamespace

import pytest
from loky.process_executor import BrokenProcessPool

from ackclock.experiments.executors import local
from ackclock.experiments.executors.task import Finished, ProcessDiedError, Request, Task


class Pool:
    """Futures that a test completes."""

    def __init__(self):
        self.submitted, self.ended = [], []

    def submit(self, function, task, pieces):
        future = Future()
        self.submitted.append((task, future))
        return future

    def shutdown(self, *, wait, kill_workers):
        self.ended.append((wait, kill_workers))


class Processes(local.Processes):
    """Each start is another pool."""

    def __init__(self, workers):
        super().__init__(workers)
        self.pools = []
        self._start()

    def _start(self):
        self.pools.append(Pool())
        self._pool = self.pools[-1]


@pytest.fixture
def works(monkeypatch):
    monkeypatch.setattr(local, "pack_task", lambda task: (task,))
    monkeypatch.setattr(local, "unpack_result", lambda task, answer: answer)
    return Processes(2)


def task(number, runs=1):
    return Task(number, tuple(Request(f"{number}.{i}", None, i) for i in range(runs)))


def die(works):
    """All that is in the pool dies with its process."""
    for _, future in works._pool.submitted:
        if not future.done():
            future.set_exception(BrokenProcessPool("died"))
    return works.ready(1.0)


def finish(works, *records, error=None, failed=None):
    (running,) = [(task, future) for task, future in works._pool.submitted if not future.done()]
    running[1].set_result(Finished(running[0], records, error, failed))
    return works.ready(1.0)


def running(works):
    return [[request.key for request in task.requests]
            for task, future in works._pool.submitted if not future.done()]  # fmt: skip


def test_after_a_death_each_run_is_done_alone_in_the_order_of_the_tasks(works):
    works.submit(task(3))
    works.submit(task(1, runs=2))
    assert die(works) == []
    assert works.pools[0].ended == [(False, True)]
    assert running(works) == [["1.0"]]
    # What comes meanwhile waits.
    works.submit(task(9))
    assert finish(works, "a") == []
    assert running(works) == [["1.1"]]
    (first,) = finish(works, "b")
    assert (first.task.number, first.records, first.error) == (1, ("a", "b"), None)
    assert running(works) == [["3.0"]]
    (second,) = finish(works, "c")
    assert (second.task.number, second.records) == (3, ("c",))
    assert running(works) == [["9.0"]]
    assert not works._suspects
    assert not works._suspended


def test_a_run_that_was_alone_at_two_deaths_is_given_up_with_what_was_done_before(works):
    works.submit(task(1, runs=3))
    works.submit(task(2))
    die(works)
    finish(works, "a")
    assert die(works) == []
    assert running(works) == [["1.1"]]
    (given_up,) = die(works)
    assert given_up.task.number == 1
    assert given_up.records == ("a",)
    assert isinstance(given_up.error, ProcessDiedError)
    assert given_up.failed.key == "1.1"
    assert running(works) == [["2.0"]]
    assert len(works.pools) == 4


def test_deaths_of_another_run_do_not_count(works):
    works.submit(task(1, runs=2))
    die(works)
    assert die(works) == []
    finish(works, "a")
    assert die(works) == []
    (whole,) = finish(works, "b")
    assert (whole.records, whole.error) == (("a", "b"), None)


def test_a_run_that_fails_alone_ends_its_task(works):
    works.submit(task(1, runs=3))
    die(works)
    request = SimpleNamespace(key="1.0")
    (failed,) = finish(works, error=ValueError("x"), failed=request)
    assert (failed.records, str(failed.error), failed.failed) == ((), "x", request)
    assert running(works) == []


def test_stopping_gives_what_was_finished_and_not_yet_taken(works):
    works.submit(task(1))
    works.submit(task(2))
    done, future = works._pool.submitted[0]
    future.set_result(Finished(done, ("a",)))
    (result,) = works.stop()
    assert result.records == ("a",)
    assert works.pools[0].ended == [(True, True)]
    assert works.stop() == []
    assert works._after_death([task(1)]) == []


def test_stopping_gives_what_suspects_had_done_alone(works):
    works.submit(task(1, runs=2))
    works.submit(task(2))
    die(works)
    finish(works, "a")
    assert [result.records for result in works.stop()] == [("a",)]
