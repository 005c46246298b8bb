"""Ends a command on SIGINT or SIGTERM within a bounded time, whatever it does.

Both raise KeyboardInterrupt in the main thread, which ends what runs and keeps what has finished.
Python delivers it only between two of its instructions; so a thread watches the signals as well,
and ends the process if the main thread has not done so after a grace period.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from types import FrameType

__all__ = [
    "EXIT_CODES",
    "before_exit",
    "call_before_exit",
    "ended_by_signals",
    "find_end_signal",
    "running_code",
    "shield_writes",
    "user_files",
]

GRACE_S = 1.5
"""Time that the main thread has after a signal to end by itself [s]."""

SHIELD_S = 30.0
"""Longest time that a write of results is waited for beyond that [s]."""

EXIT_CODES = {signal.SIGINT: 3, signal.SIGTERM: 143}


class _State:
    number: signal.Signals | None = None
    writes = 0
    sockets: tuple[socket.socket, ...] = ()


_lock = threading.Condition()
_callbacks: list[Callable[[], object]] = []


user_files: set[str] = set()
"""Files of user-defined code: a command that ends while they run says where."""


def running_code(frames: Sequence[FrameType]) -> str:
    """Say which line of the user's files was running; empty if none was.

    Parameters
    ----------
    frames
        Of a stack, outermost first.
    """
    for frame in reversed(frames):
        code = frame.f_code
        if code.co_filename in user_files:
            return f"{code.co_filename}, line {frame.f_lineno}, was running, in {code.co_name}"
    return ""


def find_end_signal() -> signal.Signals | None:
    """Give the signal that ends this command; None if none has come."""
    return _State.number


def call_before_exit(callback: Callable[[], object]) -> None:
    """Call a function if this process is ended by force, as to remove temporary files.

    Parameters
    ----------
    callback
        Called from another thread.
    """
    _callbacks.append(callback)


@contextmanager
def before_exit(callback: Callable[[], object]) -> Iterator[None]:
    """Call a function if the process is ended by force, as to kill child processes.

    Parameters
    ----------
    callback
        Called from another thread.
    """
    _callbacks.append(callback)
    try:
        yield
    finally:
        _callbacks.remove(callback)


@contextmanager
def shield_writes() -> Iterator[None]:
    """Delay an end by force while results are written."""
    with _lock:
        _State.writes += 1
    try:
        yield
    finally:
        with _lock:
            _State.writes -= 1
            _lock.notify_all()


@contextmanager
def ended_by_signals() -> Iterator[None]:
    """Watch SIGINT and SIGTERM; to be entered by the main thread of a command.

    A signal that the parent has switched off stays so, as for jobs in the background.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    watched = [n for n in EXIT_CODES if signal.getsignal(n) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _interrupt) for number in watched}
    reader, writer = socket.socketpair()
    writer.settimeout(0)
    previous = signal.set_wakeup_fd(writer.fileno(), warn_on_full_buffer=False)
    _State.sockets = (reader, writer)
    watcher = threading.Thread(target=_watch, args=(reader,), daemon=True, name="ackclock-signals")
    watcher.start()
    try:
        yield
    finally:
        # After a signal the rest of the program's end is watched too: it waits for threads.
        if _State.number is None:
            signal.set_wakeup_fd(previous)
            for number, handler in before.items():
                signal.signal(number, handler)
            writer.close()
            watcher.join()
            reader.close()


def _interrupt(number: int, _: FrameType | None) -> None:
    _State.number = signal.Signals(number)
    raise KeyboardInterrupt


def _watch(reader: socket.socket) -> None:
    """Wait for a signal; end the process if it has not ended by itself some time after it."""
    while True:
        content = reader.recv(1)
        if not content:
            return
        if content[0] in EXIT_CODES:
            break
    number = signal.Signals(content[0])
    time.sleep(GRACE_S)
    _end(number)


def _stack_of_main() -> list[FrameType]:
    """Give the frames of the main thread, outermost first."""
    frame = sys._current_frames().get(threading.main_thread().ident or 0)
    frames: list[FrameType] = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames[::-1]


def _end(number: signal.Signals) -> None:
    with _lock:
        _lock.wait_for(lambda: not _State.writes, SHIELD_S)
    for callback in list(_callbacks):
        with suppress(Exception):
            callback()
    with suppress(Exception):
        sys.stdout.flush()
    with suppress(Exception):
        running = running_code(_stack_of_main())
        where = f"{running}; " if running else ""
        os.write(2, f"interrupted; {where}what was written before is kept\n".encode())
    os._exit(EXIT_CODES[number])
