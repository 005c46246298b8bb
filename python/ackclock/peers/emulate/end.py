"""A host of an emulation: a process in a namespace, with sockets of the kernel's TCP.

Started as ``python -m ackclock.peers.emulate.end DESCRIPTOR``, with one end of a socket pair. It
gets what it is to do, hands its TUN device over, and works from the given beginning to the given
end; then it sends what it saw. It ends with the process that started it, however that ends.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import socket
import sys
import time
from array import array
from typing import TYPE_CHECKING, Any

from ackclock.peers.emulate import channel as messages
from ackclock.peers.emulate import namespaces, tcp_info

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["ADDRESSES", "FIRST_PORT", "RECEIVED", "SAMPLED"]

ADDRESSES = {"sender": "10.99.0.1", "receiver": "10.99.0.2"}
FIRST_PORT = 10_000
"""The port of flow 0 at its receiver; that of flow n is the n-th after it."""
SAMPLED = ("time_s", "flow", *tcp_info.TcpInfo._fields)
"""Columns of what a sender sees."""
RECEIVED = ("time_s", "flow", "received_bytes")
"""Columns of what a receiver sees."""
GRACE_S = 20
"""How long a host may live beyond the emulation [s]."""
SAME_S = 1e-9
"""Samples nearer than this are one [s]."""
CHUNK = bytes(1 << 18)
TCP_NOTSENT_LOWAT = 25


class Clock:
    """Time since the beginning [s]."""

    def __init__(self, origin_ns: int) -> None:
        self.origin_ns = origin_ns

    def now(self) -> float:
        """Read the clock."""
        return (time.monotonic_ns() - self.origin_ns) / 1e9


def ticks(task: dict[str, Any]) -> Iterator[float]:
    """Yield the times of samples [s]: at each interval, at the end of the warm-up, at the end."""
    interval, end = task["interval_s"], task["duration_s"]
    count = int(end / interval + 1e-9)
    last = float("-inf")
    for tick in sorted((*(k * interval for k in range(count + 1)), task["warmup_s"], end)):
        # 3 times 0.1 is not 0.3 in doubles: what differs by rounding is one time.
        if tick - last > SAME_S:
            yield tick
            last = tick
    while True:
        yield float("inf")


def main() -> None:
    """Be a host."""
    channel = socket.socket(fileno=int(sys.argv[1]))
    try:
        task = messages.receive(channel)
        work = prepare(channel, task)
        origin_ns = messages.receive(channel)["origin_ns"]
        gc.disable()  # a collection takes milliseconds
        rows, about = work(Clock(origin_ns))
        messages.send(channel, about)
        messages.send_numbers(channel, rows)
        channel.recv(1)  # until the other end is closed
    except namespaces.RefusedError as error:
        _report(channel, str(error))
    except (OSError, EOFError) as error:
        _report(channel, f"a host failed: {error}")
    os._exit(0)


def _report(channel: socket.socket, why: str) -> None:
    with contextlib.suppress(OSError):
        messages.send(channel, {"refused": why})


def prepare(
    channel: socket.socket, task: dict[str, Any]
) -> Callable[[Clock], tuple[array[float], dict[str, Any]]]:
    """Enter the namespaces, hand the device over, and return the work.

    Raises
    ------
    RefusedError
        The machine does not allow it.
    """
    side = task["side"]
    namespaces.enter_own_namespaces()
    # After the change of rights, with which the kernel forgets it.
    namespaces.die_with(task["parent"])
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent ends us
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(int(task["duration_s"]) + GRACE_S)
    namespaces.sleep_precisely()
    is_real_time = be_real_time(10)
    # What one connection learns of the path is not for the next.
    unset = [n for n in ("tcp_no_metrics_save",) if not namespaces.set_sysctl(n, "1")]
    tun = namespaces.open_tun(ADDRESSES[side], task["mtu"])
    listeners = listen(task) if side == "receiver" else []
    about = {"ready": True, "real_time": is_real_time, "unset": unset}
    messages.send(channel, about, tun)
    os.close(tun)
    if side == "receiver":
        return lambda clock: Receiver(task, listeners, clock).work()
    return lambda clock: Sender(task, clock).work()


def be_real_time(priority: int) -> bool:
    """Request SCHED_FIFO; false if the kernel refuses it.

    Parameters
    ----------
    priority
        Of the process.
    """
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError:
        return False
    return True


def listen(task: dict[str, Any]) -> list[socket.socket]:
    """Listen for every flow."""
    listeners = []
    for number, _ in enumerate(task["flows"]):
        listener = socket.socket()
        listener.bind((ADDRESSES["receiver"], FIRST_PORT + number))
        listener.listen(1)
        listener.settimeout(0)
        listeners.append(listener)
    return listeners


class Receiver:
    """Accepts connections, discards what they bring, and counts it."""

    def __init__(self, task: dict[str, Any], listeners: list[socket.socket], clock: Clock) -> None:
        self.task, self.clock = task, clock
        self.received = [0] * len(listeners)
        self.poller = select.epoll()
        self.numbers: dict[int, tuple[int, socket.socket, bool]] = {}
        self.room = bytearray(1 << 20)
        for number, listener in enumerate(listeners):
            self._watch(number, listener, is_listener=True)

    def _watch(self, number: int, one: socket.socket, *, is_listener: bool) -> None:
        self.numbers[one.fileno()] = (number, one, is_listener)
        self.poller.register(one, select.EPOLLIN)

    def work(self) -> tuple[array[float], dict[str, Any]]:
        """Do it until the end."""
        rows: array[float] = array("d")
        times = ticks(self.task)
        tick = next(times)
        while tick < float("inf"):
            now = self.clock.now()
            if now >= tick:
                for number, count in enumerate(self.received):
                    rows.extend((now, number, count))
                tick = next(times)
                continue
            for file, _ in self.poller.poll(tick - now):
                self._take(file)
        return rows, {}

    def _take(self, file: int) -> None:
        number, connection, is_listener = self.numbers[file]
        if is_listener:
            flow, _ = connection.accept()
            flow.settimeout(0)
            self._watch(number, flow, is_listener=False)
            return
        try:
            # On TCP the kernel discards what is received so, without copying it.
            count = connection.recv_into(self.room, len(self.room), socket.MSG_TRUNC)
        except (BlockingIOError, ConnectionError):
            return
        self.received[number] += count
        if not count:
            self.poller.unregister(connection)
            del self.numbers[file]
            connection.close()


class Sender:
    """Begins flows, sends zeros, and looks at the kernel's state of each flow."""

    def __init__(self, task: dict[str, Any], clock: Clock) -> None:
        self.task, self.clock = task, clock
        self.poller = select.epoll()
        #: By descriptor: number of the flow, socket, bytes to send (None: endless).
        self.flows: dict[int, tuple[int, socket.socket]] = {}
        self.left: dict[int, int | None] = {}
        self.completed: dict[int, float] = {}
        self.settings: dict[str, str] = {}
        self.failed: set[int] = set()
        timeline = [(flow["start_s"], 0, n) for n, flow in enumerate(task["flows"])]
        timeline += [
            (flow["stop_s"], 1, n)
            for n, flow in enumerate(task["flows"])
            if flow["stop_s"] is not None
        ]
        self.timeline = sorted(timeline, reverse=True)

    def work(self) -> tuple[array[float], dict[str, Any]]:
        """Do it until the end."""
        rows: array[float] = array("d")
        times = ticks(self.task)
        tick = next(times)
        while tick < float("inf"):
            now = self.clock.now()
            if self.timeline and now >= self.timeline[-1][0]:
                _, is_end, number = self.timeline.pop()
                if is_end:
                    self._stop(number)
                else:
                    self._begin(number)
                continue
            if now >= tick:
                self._look(rows)
                tick = next(times)
                continue
            wait = tick - now
            if self.timeline:
                # Whole milliseconds: a flow begins on time, or the loop turns.
                wait = min(wait, max(self.timeline[-1][0] - now - 0.001, 0))
            for file, events in self.poller.poll(wait):
                self._serve(file, events)
        about = {
            "completed": {str(number): time_s for number, time_s in self.completed.items()},
            "failed": sorted(self.failed),
        }
        return rows, about

    def _look(self, rows: array[float]) -> None:
        for number, flow in self.flows.values():
            info = tcp_info.read(flow)
            rows.append(self.clock.now())
            rows.append(number)
            rows.extend(info)

    def _set(self, name: str, value: str) -> None:
        """Set a variable that the kernel reads when a connection begins."""
        if self.settings.get(name) != value:
            namespaces.set_sysctl(name, value)
            self.settings[name] = value

    def _begin(self, number: int) -> None:
        flow = self.task["flows"][number]
        self._set("tcp_ecn", "1" if flow["ecn"] else "0")
        self._set("tcp_timestamps", "1" if flow["timestamps"] else "0")
        connection = socket.socket()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, flow["control"].encode())
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, flow["maxseg"])
        connection.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, flow["dscp"] << 2)
        if flow["stop_s"] is not None:
            # What waits in the socket when it stops would still be sent.
            connection.setsockopt(socket.IPPROTO_TCP, TCP_NOTSENT_LOWAT, self.task["unsent_bytes"])
        connection.settimeout(0)
        with contextlib.suppress(BlockingIOError):
            connection.connect((ADDRESSES["receiver"], FIRST_PORT + number))
        self.flows[connection.fileno()] = (number, connection)
        self.left[number] = flow["size_bytes"]
        self.poller.register(connection, select.EPOLLOUT | select.EPOLLRDHUP)

    def _stop(self, number: int) -> None:
        for which, one in self.flows.values():
            if which == number:
                self._finish(one)

    def _finish(self, one: socket.socket) -> None:
        # One that has failed is no longer watched.
        with contextlib.suppress(OSError):
            self.poller.modify(one, select.EPOLLRDHUP)
            one.shutdown(socket.SHUT_WR)

    def _serve(self, file: int, events: int) -> None:
        number, connection = self.flows[file]
        if events & (select.EPOLLERR | select.EPOLLHUP | select.EPOLLRDHUP):
            self.poller.unregister(connection)
            if connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR):
                self.failed.add(number)
            elif self.left[number] == 0:
                # The receiver closes when it has all.
                self.completed[number] = self.clock.now()
            return
        with contextlib.suppress(BlockingIOError):
            while True:
                left = self.left[number]
                if left is None:
                    connection.send(CHUNK)
                    continue
                if left == 0:
                    self._finish(connection)
                    return
                self.left[number] = left - connection.send(memoryview(CHUNK)[:left])


if __name__ == "__main__":
    main()
