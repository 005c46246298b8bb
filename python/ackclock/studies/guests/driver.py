"""Drives guests over a small path, without the core: a second reading of the protocol."""

from __future__ import annotations

import dataclasses
import heapq
import itertools
import os
import select
import signal
import struct
import subprocess
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["NONE", "VERSION", "BrokenRuleError", "Driven", "GuestPath", "GuestTransfer", "transfer"]

VERSION = 1
NONE = 2**64 - 1
LONGEST_FRAME = 1 << 24
MOST_DATAGRAMS = 8192
MOST_TIMERS = 100_000
"""Times that a guest may be called by its deadline before anything arrives."""
ERRORS_BYTES = 4096
"""Bytes of standard error that a message may have."""

HELLO, START, PACKET, TIME, DATA, END = range(1, 7)
READY, ANSWER, FAILED = 0x81, 0x82, 0x83


class BrokenRuleError(Exception):
    """A guest broke a rule of the protocol; the argument says which."""


@dataclasses.dataclass(frozen=True)
class GuestAnswer:
    """What a guest answered."""

    deadline: int
    delivered: int
    is_complete: bool
    datagrams: list[tuple[int, bytes]]


class Driven:
    """A running guest.

    Parameters
    ----------
    command
        The program and its arguments.
    folder
        Where it is started.
    patience_s
        Longest wait for an answer, by the wall's clock.
    pause_s
        It is kept waiting so long before each event.
    """

    def __init__(
        self, command: Sequence[str], folder: Path, patience_s: float = 30.0, pause_s: float = 0.0
    ) -> None:
        self._patience_s, self._pause_s = patience_s, pause_s
        self._sequence = 0
        self._buffer = b""
        try:
            self._process = subprocess.Popen(
                list(command),
                cwd=folder,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env={**os.environ, "PYTHONHASHSEED": "1"},
                start_new_session=True,
            )
        except OSError as error:
            raise BrokenRuleError(f"it cannot be started: {error.strerror}") from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout, self._process.stderr):
            if pipe is not None:
                with suppress(OSError):
                    pipe.close()

    def send(self, kind: int, body: bytes) -> None:
        """Send a frame."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(struct.pack("<IB", len(body) + 1, kind) + body)
            self._process.stdin.flush()
        except BrokenPipeError:
            raise BrokenRuleError(f"it ended before END{self._errors()}") from None

    def receive(self) -> tuple[int, bytes]:
        """Receive a frame: its type and body."""
        head = self._take(4)
        (length,) = struct.unpack("<I", head)
        if not 1 <= length <= LONGEST_FRAME:
            raise BrokenRuleError(f"it wrote a frame of {length} bytes")
        frame = self._take(length)
        return frame[0], frame[1:]

    def _take(self, count: int) -> bytes:
        assert self._process.stdout is not None
        out = self._process.stdout.fileno()
        while len(self._buffer) < count:
            if not select.select([out], [], [], self._patience_s)[0]:
                raise BrokenRuleError(f"it did not answer for {self._patience_s} s")
            part = os.read(out, 1 << 16)
            if not part:
                raise BrokenRuleError(f"it ended before it answered{self._errors()}")
            self._buffer += part
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def _errors(self) -> str:
        assert self._process.stderr is not None
        found = self._process.stderr.fileno()
        text = b""
        while select.select([found], [], [], 0.2)[0] and (part := os.read(found, ERRORS_BYTES)):
            text = (text + part)[-ERRORS_BYTES:]
        return f": {text.decode(errors='replace').strip()}" if text.strip() else ""

    def greet(self, least: int = VERSION, most: int = VERSION) -> tuple[int, int, str]:
        """Say hello: version, abilities and name of the guest."""
        self.send(HELLO, struct.pack("<HH", least, most))
        kind, body = self.receive()
        if kind != READY or len(body) < 7 or len(body) != 7 + body[6]:
            raise BrokenRuleError(f"it answered HELLO by a frame of type {kind:#04x}, not READY")
        version, abilities, _ = struct.unpack("<HIB", body[:7])
        return version, abilities, body[7:].decode(errors="replace")

    def exchange(self, kind: int, now: int, body: bytes = b"") -> GuestAnswer:
        """Hand over an event and take the answer."""
        if self._pause_s:
            time.sleep(self._pause_s)
        self._sequence += 1
        self.send(kind, struct.pack("<IQ", self._sequence, now) + body)
        found, answer = self.receive()
        if found == FAILED:
            raise BrokenRuleError(f"it failed: {answer.decode(errors='replace')}")
        if found != ANSWER:
            raise BrokenRuleError(f"it wrote a frame of type {found:#04x}, not ANSWER")
        return self._read(answer, now)

    def _read(self, body: bytes, now: int) -> GuestAnswer:
        try:
            sequence, deadline, delivered, flags, count = struct.unpack_from("<IQQBH", body)
            place = struct.calcsize("<IQQBH")
            datagrams = []
            for _ in range(count):
                mark, length = struct.unpack_from("<BH", body, place)
                place += 3 + length
                datagrams.append((mark, body[place - length : place]))
            if flags & 1:
                place += 65 + body[place + 64]
        except (struct.error, IndexError):
            raise BrokenRuleError("it wrote an answer that is cut") from None
        if place != len(body):
            message = f"it wrote an answer of {len(body)} bytes, whose fields take {place}"
            raise BrokenRuleError(message)
        if sequence != self._sequence:
            raise BrokenRuleError(f"it answered event {sequence}, not {self._sequence}")
        if deadline < now:
            message = f"it set a deadline of {deadline} ns, before the present, {now} ns"
            raise BrokenRuleError(message)
        if count > MOST_DATAGRAMS:
            raise BrokenRuleError(f"it sent {count} datagrams at once")
        return GuestAnswer(deadline, delivered, flags & 2 > 0, datagrams)

    def end(self, *, with_frame: bool, within_s: float = 2.0) -> int:
        """End it by END or by the end of its input; its exit status."""
        if with_frame:
            self.send(END, b"")
        else:
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            return self._process.wait(within_s)
        except subprocess.TimeoutExpired:
            how = "END" if with_frame else "the end of its input"
            raise BrokenRuleError(f"it did not end within {within_s} s of {how}") from None


@dataclasses.dataclass(frozen=True)
class GuestPath:
    """A path between two guests: a delay each way [ns], a rate [bit/s], losses."""

    delay: int = 20_000_000
    rate_bps: int = 10_000_000
    lose_each: int = 0
    """Each so-many-th datagram of the client is lost; 0: none."""


@dataclasses.dataclass(frozen=True)
class GuestTransfer:
    """What two guests did."""

    finished: int | None
    """When the client knew that all had arrived [ns]; None: never."""
    delivered: int
    events: list[tuple[int, int, int]]
    """Time, end and length of each datagram that was sent."""


@dataclasses.dataclass
class _Timers:
    """Calls by a deadline: in a row at one time, and since something arrived."""

    still: int = 0
    count: int = 0

    def note(self, due: int, now: int) -> None:
        """Count one; too many break a rule."""
        self.still = self.still + 1 if due <= now else 0
        self.count += 1
        if self.still > MOST_DATAGRAMS:
            message = f"it set its deadline to the present {self.still} times in a row"
            raise BrokenRuleError(message)
        if self.count > MOST_TIMERS:
            message = f"it set {MOST_TIMERS} deadlines up to {now} ns, and nothing was under way"
            raise BrokenRuleError(message)


def transfer(
    ends: Sequence[Driven], path: GuestPath, size: int, *, seed: int = 1, until: int = 120 * 10**9
) -> GuestTransfer:
    """Let a client send so many bytes to a server.

    Parameters
    ----------
    ends
        Client and server, greeted.
    path
        Between them.
    size
        Bytes of the transfer.
    seed
        Of the run.
    until
        Simulated time [ns] after which it is given up.

    Raises
    ------
    BrokenRuleError
        An end broke a rule.
    """
    most = 1200
    order = itertools.count()
    queue: list[tuple[int, int, int, int, bytes]] = []
    deadlines = [NONE, NONE]
    free = [0, 0]
    arrived = delivered = sent = 0
    events: list[tuple[int, int, int]] = []

    def apply(end: int, now: int, answer: GuestAnswer) -> None:
        nonlocal delivered, sent
        deadlines[end] = answer.deadline
        if end == 1:
            if not delivered <= answer.delivered <= min(arrived, size):
                message = (
                    f"its server reports {answer.delivered} delivered bytes of {arrived} that"
                    f" arrived, after {delivered}"
                )
                raise BrokenRuleError(message)
            delivered = answer.delivered
        for mark, datagram in answer.datagrams:
            if not 1 <= len(datagram) <= most:
                raise BrokenRuleError(f"it sent a datagram of {len(datagram)} bytes")
            events.append((now, end, len(datagram)))
            free[end] = max(free[end], now) + len(datagram) * 8 * 10**9 // path.rate_bps
            sent += end == 0
            is_lost = end == 0 and path.lose_each and sent % path.lose_each == 0
            if not is_lost:
                at = free[end] + path.delay
                heapq.heappush(queue, (at, next(order), 1 - end, mark, datagram))

    for end, role in ((1, 1), (0, 0)):
        body = struct.pack("<BBIQIIQ", role, 0, 0, seed, most, 10, size)
        apply(end, 0, ends[end].exchange(START, 0, body))
    now, timers = 0, _Timers()
    while now <= until:
        due = min(deadlines)
        if queue and queue[0][0] <= due:
            now, _, end, mark, datagram = heapq.heappop(queue)
            arrived += len(datagram) if end == 1 else 0
            timers.count = 0
            answer = ends[end].exchange(PACKET, now, bytes([mark]) + datagram)
        elif due < NONE:
            timers.note(due, now)
            now, end = due, deadlines.index(due)
            answer = ends[end].exchange(TIME, now)
        else:
            break
        apply(end, now, answer)
        if end == 0 and answer.is_complete:
            if delivered != size:
                message = (
                    f"its client says that all is acknowledged, and {delivered} bytes of {size}"
                    " are delivered"
                )
                raise BrokenRuleError(message)
            return GuestTransfer(now, delivered, events)
    return GuestTransfer(None, delivered, events)
