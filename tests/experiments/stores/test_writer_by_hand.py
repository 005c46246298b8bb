"""The thread that writes runs: when, in which order, and what is said where it cannot."""

import errno
import threading

import pytest

from ackclock.experiments.store import writer as module
from ackclock.experiments.store.names import StoreError
from ackclock.experiments.store.writer import Writer


class Disk:
    """Notes what is written; waits at its gate if it is shut."""

    def __init__(self, error=None):
        self.batches = []
        self.gate = threading.Event()
        self.gate.set()
        self.error = error

    @property
    def written(self):
        """All runs that are written, in order."""
        return [run for batch in self.batches for run in batch]

    def __call__(self, entries):
        assert self.gate.wait(60)
        if self.error is not None:
            raise self.error
        self.batches.append(list(entries))


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "store.json").write_text("{}")
    return tmp_path


def test_runs_are_written_once_each_in_the_order_in_which_they_came(folder):
    disk = Disk()
    writer = Writer(folder, disk)
    for run in range(50):
        writer.add(run)
    writer.close()
    assert disk.written == list(range(50))
    assert all(disk.batches)


def test_a_flush_returns_when_all_is_written_and_the_writer_goes_on(folder):
    disk = Disk()
    writer = Writer(folder, disk)
    writer.add("a")
    writer.add("b")
    writer.flush()
    assert disk.written == ["a", "b"]
    writer.add("c")
    writer.flush()
    assert disk.written == ["a", "b", "c"]
    writer.close()
    writer.flush()
    assert len(disk.written) == 3


def test_what_waits_is_written_together_but_not_too_much_at_once(folder, monkeypatch):
    monkeypatch.setattr(module, "COMMIT_RUNS", 2)
    disk = Disk()
    disk.gate.clear()
    writer = Writer(folder, disk)
    for run in range(12):
        writer.add(run)
    disk.gate.set()
    writer.close()
    assert disk.written == list(range(12))
    # Twice as many as are worth a write.
    assert max(map(len, disk.batches)) == 4


def test_runs_are_due_a_second_after_the_last_write_or_when_they_are_many(folder, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(module.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(module, "COMMIT_RUNS", 3)
    writer = Writer(folder, Disk())
    assert not writer._is_due()
    writer._waiting = [1]
    # Nothing was written before.
    assert writer._is_due()
    writer._last_commit = 100.0
    for time_s, is_due in ((100.0, False), (100.999, False), (101.0, True), (150.0, True)):
        now[0] = time_s
        assert writer._is_due() is is_due
    now[0] = 100.5
    writer._waiting = [1, 2]
    assert not writer._is_due()
    writer._waiting = [1, 2, 3]
    assert writer._is_due()
    writer._waiting = [1]
    writer._closing = True
    assert writer._is_due()
    writer._waiting = []
    assert not writer._is_due()


def test_a_writer_without_runs_has_no_thread(folder):
    before = threading.active_count()
    writer = Writer(folder, Disk())
    writer.flush()
    writer.close()
    writer.check()
    assert threading.active_count() == before


def failing(folder, error, count):
    """Add runs while the disk waits, then let it fail."""
    disk = Disk(error)
    disk.gate.clear()
    writer = Writer(folder, disk)
    for run in range(count):
        writer.add(run)
    disk.gate.set()
    with pytest.raises(StoreError) as caught:
        writer.close()
    return writer, caught.value


@pytest.mark.parametrize(
    ("error", "count", "begin"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 1,
         "1 finished run could not be written: No space left on device; "),
        (OSError(errno.ENOSPC, "No space left on device"), 3,
         "3 finished runs could not be written: No space left on device; "),
        (OSError("odd"), 2, "2 finished runs could not be written: odd; "),
        (ValueError("a bad row"), 2, "2 finished runs could not be written: a bad row; "),
    ],
)  # fmt: skip
def test_runs_that_cannot_be_written_are_counted_with_the_reason(folder, error, count, begin):
    writer, failure = failing(folder, error, count)
    assert str(failure) == (
        f"{folder}: {begin}all that was written before is whole, and the same sweep goes on from"
        " there when it is started again"
    )
    assert failure.__cause__ is error
    # It is said whenever it is requested.
    for again in (writer.check, writer.flush, writer.close):
        with pytest.raises(StoreError) as caught:
            again()
        assert caught.value is failure


@pytest.mark.parametrize(("count", "runs"), [(1, "1 finished run"), (2, "2 finished runs")])
def test_a_store_that_was_removed_is_said_to_be_gone(folder, count, runs):
    (folder / "store.json").unlink()
    _, failure = failing(folder, OSError(errno.ENOENT, "No such file"), count)
    assert str(failure) == (
        f"{folder}: the store is gone, it was removed while it was in use; {runs} could not be"
        " written, and none is kept"
    )


def test_an_error_of_the_store_is_passed_on_as_it_is(folder):
    error = StoreError("locked")
    assert failing(folder, error, 2)[1] is error


def test_a_flush_ends_where_nothing_more_is_written(folder):
    writer = Writer(folder, Disk(ValueError("x")))
    writer.add(1)
    with pytest.raises(StoreError, match="1 finished run could not be written: x"):
        writer.flush()
    with pytest.raises(StoreError):
        writer.close()
