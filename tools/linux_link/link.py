"""The link: a rate, a delay and a FIFO buffer between two TUN devices, in real time.

What leaves when is computed from arrival times and does not depend on how late the process runs:
a packet that arrives at t begins to be sent at max(t, end of the one before), takes size / rate,
and is handed over `delay` later. It is dropped if as many packets as the buffer holds wait at t;
the one being sent does not count. Acknowledgements have the same rate and delay, and a buffer
without limit.

The process sleeps until shortly before the next packet is due and then polls the clock. How late
each packet was handed over is kept: it is the error of the recording.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import time
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

#: The process polls instead of sleeping when the next packet is due within this time.
SPIN_NS = 60_000
#: Wakes up at least so often to see whether it is to end.
LONGEST_SLEEP_NS = 20_000_000


@dataclass(frozen=True)
class Path:
    """A bottleneck and its delay in each direction."""

    rate_bps: int
    delay_ns: int
    buffer_packets: int


@dataclass
class Passed:
    """What passed the link, and when, in ns of the monotonic clock; one entry for each packet."""

    #: Arrivals of data; the first bytes of each packet are kept if headers are wanted.
    arrived: list[int] = field(default_factory=list)
    #: When sending began; 0: dropped.
    began: list[int] = field(default_factory=list)
    headers: list[bytes] = field(default_factory=list)
    #: Lateness of what was handed over, both directions, in ns.
    late: list[int] = field(default_factory=list)
    #: Arrivals and headers of acknowledgements, if headers are wanted.
    acks: list[tuple[int, bytes]] = field(default_factory=list)


def carry(  # noqa: PLR0915 # one loop; calls would cost time between packets
    path: Path,
    data_end: int,
    ack_end: int,
    until_ns: int,
    *,
    headers: bool,
    is_over: Callable[[], bool],
) -> Passed:
    """Carry packets between the two devices until `until_ns` or until `is_over`.

    Parameters
    ----------
    path
        Rate, delay and buffer.
    data_end, ack_end
        Descriptors of the TUN devices of sender and receiver, non-blocking.
    until_ns
        When to stop, in ns of the monotonic clock.
    headers
        Keep the first 100 bytes of each packet.
    is_over
        Called some fifty times a second.
    """
    gc.disable()  # a collection lasts milliseconds
    clock = time.monotonic_ns
    passed = Passed()
    arrived, began, late = passed.arrived, passed.began, passed.late
    ns_per_byte = 8e9 / path.rate_bps
    waiting: deque[int] = deque()  # when each packet in the buffer begins to be sent
    forward: deque[tuple[int, bytes]] = deque()
    backward: deque[tuple[int, bytes]] = deque()
    free_at = ack_free_at = 0
    delay, room = path.delay_ns, path.buffer_packets
    checked = clock()

    def read_data() -> None:
        nonlocal free_at
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(data_end, 2048)
                now = clock()
                if packet[0] >> 4 != 4:
                    continue
                while waiting and waiting[0] <= now:
                    waiting.popleft()
                arrived.append(now)
                if headers:
                    passed.headers.append(packet[:100])
                if len(waiting) >= room and free_at > now:
                    began.append(0)
                    continue
                start = max(now, free_at)
                began.append(start)
                free_at = start + int(len(packet) * ns_per_byte)
                if start > now:
                    waiting.append(start)
                forward.append((free_at + delay, packet))

    def read_acks() -> None:
        nonlocal ack_free_at
        with contextlib.suppress(BlockingIOError):
            while True:
                packet = os.read(ack_end, 2048)
                now = clock()
                if packet[0] >> 4 != 4:
                    continue
                if headers:
                    passed.acks.append((now, packet[:100]))
                ack_free_at = max(now, ack_free_at) + int(len(packet) * ns_per_byte)
                backward.append((ack_free_at + delay, packet))

    while True:
        now = clock()
        # A packet that is handed over is answered within the call that does so.
        if forward and forward[0][0] <= now and not (backward and backward[0][0] < forward[0][0]):
            due, packet = forward.popleft()
            late.append(now - due)
            os.write(ack_end, packet)
            read_acks()
            continue
        if backward and backward[0][0] <= now:
            due, packet = backward.popleft()
            late.append(now - due)
            os.write(data_end, packet)
            read_data()
            continue
        if now - checked > LONGEST_SLEEP_NS:
            checked = now
            if now >= until_ns or is_over():
                break
        due = now + LONGEST_SLEEP_NS
        if forward:
            due = min(due, forward[0][0])
        if backward:
            due = min(due, backward[0][0])
        sleep = max(due - now - SPIN_NS, 0) / 1e9
        ready = select.select((data_end, ack_end), (), (), sleep)[0]
        if data_end in ready:
            read_data()
        if ack_end in ready:
            read_acks()
    gc.enable()
    return passed
