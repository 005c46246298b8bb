"""The frames of ackclock's guest protocol, version 1, for stacks in Python. Needs nothing else.

A stack is a class with these methods; each says what the guest does now by returning an `Answer`:

    start(now, start)               the flow begins: a `Start`
    packet(now, mark, datagram)     a datagram arrives
    time(now)                       the deadline has come
    data(now, count, is_last)       more bytes to send (only with ``later_data=True``)

Times are whole nanoseconds of the simulation. Nothing may read a clock or draw random numbers but
from the start's ``random()``. ``serve(MyStack, name="my stack 1.0")`` is the whole program.
The page docs/reference/guest-protocol.md says what each field means.
"""

from __future__ import annotations

import os
import random
import struct
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable

VERSION = 1
NONE = 2**64 - 1
"""No deadline, no end of the data, no threshold."""
NOT_CAPABLE, ECT_1, ECT_0, CE = range(4)
"""Marks of datagrams, as in the header of IP."""

_HELLO, _START, _PACKET, _TIME, _DATA, _END = range(1, 7)
_READY, _ANSWER, _FAILED = 0x81, 0x82, 0x83


@dataclass(frozen=True)
class Start:
    """What a guest learns of its flow."""

    is_client: bool
    ecn: bool
    more_data: bool
    flow: int
    seed: int
    max_datagram: int
    initial_window: int
    bytes: int

    def random(self) -> random.Random:
        """Give the random numbers of this end: the same in each run of the scenario."""
        side = "client" if self.is_client else "server"
        return random.Random(f"{self.seed}/{self.flow}/{side}")


@dataclass
class State:
    """State of a sender, for tables and figures."""

    cwnd: int
    ssthresh: int = NONE
    in_flight: int = 0
    srtt: int = 0
    min_rtt: int = 0
    pacing_bps: int = 0
    lost: int = 0
    reductions: int = 0
    phase: str = ""


@dataclass
class Answer:
    """What a guest does now."""

    datagrams: list[tuple[int, bytes]] = field(default_factory=list)
    """Marks and contents, in order."""
    deadline: int = NONE
    """When it must be called at the latest [ns]."""
    delivered: int = 0
    """A server: bytes delivered in order so far. A client: bytes acknowledged so far."""
    is_complete: bool = False
    state: State | None = None


class Stack(Protocol):
    """What a guest has to have."""

    def start(self, now: int, start: Start) -> Answer:
        """Begin."""

    def packet(self, now: int, mark: int, datagram: bytes) -> Answer:
        """Take a datagram."""

    def time(self, now: int) -> Answer:
        """Do what is due."""


_waiting = bytearray()


def _read(count: int) -> bytes:
    # A frame comes whole, mostly, so that one call reads its length with it.
    while len(_waiting) < count:
        part = os.read(0, 1 << 16)
        if not part:
            raise EOFError
        _waiting.extend(part)
    taken = bytes(_waiting[:count])
    del _waiting[:count]
    return taken


def _write(kind: int, body: bytes) -> None:
    frame = memoryview(struct.pack("<IB", len(body) + 1, kind) + body)
    while frame:
        frame = frame[os.write(1, frame) :]


def _pack(sequence: int, answer: Answer) -> bytes:
    flags = (answer.state is not None) | answer.is_complete << 1
    count = len(answer.datagrams)
    head = struct.pack("<IQQBH", sequence, answer.deadline, answer.delivered, flags, count)
    parts = [head]
    for mark, datagram in answer.datagrams:
        parts += (struct.pack("<BH", mark, len(datagram)), datagram)
    if (s := answer.state) is not None:
        numbers = (s.cwnd, s.ssthresh, s.in_flight, s.srtt, s.min_rtt, s.pacing_bps, s.lost)
        phase = s.phase.encode()[:255]
        parts += (struct.pack("<8QB", *numbers, s.reductions, len(phase)), phase)
    return b"".join(parts)


def serve(make: Callable[[], Stack], name: str, *, later_data: bool = False) -> None:
    """Use the protocol until the run is over.

    Parameters
    ----------
    make
        Makes the stack.
    name
        Name and version of the stack.
    later_data
        Whether it has ``data``, for flows with ``stop`` or ``every``.
    """
    stack = make()
    while True:
        try:
            (length,) = struct.unpack("<I", _read(4))
            frame = _read(length)
        except EOFError:
            return
        kind, body = frame[0], frame[1:]
        if kind == _END:
            return
        if kind == _HELLO:
            least, most = struct.unpack("<HH", body)
            if not least <= VERSION <= most:
                _write(_FAILED, f"uses version {VERSION} alone".encode())
                return
            text = name.encode()[:255]
            _write(_READY, struct.pack("<HIB", VERSION, int(later_data), len(text)) + text)
            continue
        sequence, now = struct.unpack_from("<IQ", body)
        rest = body[12:]
        if kind == _START:
            role, flags, *numbers = struct.unpack("<BBIQIIQ", rest)
            answer = stack.start(now, Start(role == 0, flags & 1 > 0, flags & 2 > 0, *numbers))
        elif kind == _PACKET:
            answer = stack.packet(now, rest[0], rest[1:])
        elif kind == _TIME:
            answer = stack.time(now)
        elif kind == _DATA:
            count, is_last = struct.unpack("<QB", rest)
            answer = stack.data(now, count, is_last > 0)  # type: ignore[attr-defined]
        else:
            _write(_FAILED, f"got a frame of unknown type {kind}".encode())
            sys.exit(1)
        _write(_ANSWER, _pack(sequence, answer))
