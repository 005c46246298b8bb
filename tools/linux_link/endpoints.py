"""The two ends of a recording: processes in separate namespaces, with sockets of the kernel's TCP.

Each hands the descriptor of its TUN device to the link, then transfers zeros without end. They end
with the link's process, and by an alarm if that should hang.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import select
import signal
import socket
import struct
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from ackclock.peers.emulate import tcp_info
from ackclock.peers.emulate.namespaces import (
    RefusedError,
    die_with,
    enter_network_namespace,
    open_tun,
    sleep_precisely,
)

if TYPE_CHECKING:
    from collections.abc import Callable

SENDER, RECEIVER = "10.99.0.1", "10.99.0.2"
PORT = 5001
#: Seconds that an end may live beyond the recording.
GRACE_S = 15
SAMPLES_EVERY_S = 0.01


@dataclass(frozen=True)
class Flows:
    """What is sent: `count` flows of control `cc`, each `stagger_s` after the one before."""

    cc: str
    count: int
    stagger_s: float
    seconds: float


@dataclass(frozen=True)
class End:
    """An end that runs: its process, the link's end of the socket between them, its TUN device."""

    pid: int
    channel: socket.socket
    tun: int


def be_real_time(priority: int) -> bool:
    """Request SCHED_FIFO; false if the kernel refuses it."""
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
    except OSError:
        return False
    return True


def start(address: str, work: Callable[[socket.socket], None], alarm_s: float) -> End:
    """Start an end in a separate namespace with a TUN device of `address`.

    Raises
    ------
    RefusedError
        If the kernel refuses it.
    """
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        ours.close()
        _run(theirs, parent, address, work, alarm_s)
    theirs.close()
    message, tuns, _, _ = socket.recv_fds(ours, 1024, 1)
    if not tuns:
        os.waitpid(pid, 0)
        raise RefusedError(message.decode() or "an end ended before it began")
    return End(pid, ours, tuns[0])


def _run(
    channel: socket.socket,
    parent: int,
    address: str,
    work: Callable[[socket.socket], None],
    alarm_s: float,
) -> NoReturn:
    """Be an end; the process ends here."""
    code = 1
    try:
        die_with(parent)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(int(alarm_s) + 1)
        sleep_precisely()
        be_real_time(10)
        enter_network_namespace()
        tun = open_tun(address)
        socket.send_fds(channel, [b"ready"], [tun])
        os.close(tun)
        work(channel)
        code = 0
    except RefusedError as error:
        channel.send(str(error).encode())
    except (BrokenPipeError, ConnectionError, OSError) as error:
        with contextlib.suppress(OSError):
            channel.send(f"an end failed: {error}".encode())
    finally:
        os._exit(code)


def receive(channel: socket.socket) -> None:
    """Accept connections and discard what they bring until the link says that it is over."""
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((RECEIVER, PORT))
        listener.listen(128)
        listener.settimeout(0)
        channel.send(b"listening")
        poller = select.epoll()
        poller.register(listener, select.EPOLLIN)
        poller.register(channel, select.EPOLLIN)
        flows: dict[int, socket.socket] = {}
        room = bytearray(1 << 20)
        while True:
            for number, _ in poller.poll():
                if number == listener.fileno():
                    flow, _ = listener.accept()
                    flow.settimeout(0)
                    flows[flow.fileno()] = flow
                    poller.register(flow, select.EPOLLIN)
                elif number == channel.fileno():
                    return
                elif not flows[number].recv_into(room):
                    poller.unregister(number)
                    flows.pop(number).close()


def send(flows: Flows) -> Callable[[socket.socket], None]:
    """Return the work of the sending end: `flows`, and samples of them for the link."""

    def work(channel: socket.socket) -> None:
        poller = select.epoll()
        sockets: list[socket.socket] = []
        numbers: dict[int, int] = {}
        zeros = bytes(1 << 18)
        samples: list[tuple[float | int, ...]] = []
        channel.recv(16)  # the link runs
        began = time.monotonic()
        next_sample = began
        while True:
            now = time.monotonic()
            if now - began >= flows.seconds:
                break
            while len(sockets) < flows.count and now - began >= len(sockets) * flows.stagger_s:
                flow = _connect(flows.cc)
                numbers[flow.fileno()] = len(sockets)
                sockets.append(flow)
                poller.register(flow, select.EPOLLOUT)
            if now >= next_sample:
                next_sample += SAMPLES_EVERY_S
                for index, flow in enumerate(sockets):
                    info = tcp_info.read(flow)
                    samples.append((time.monotonic() - began, index, *info))
            wait = max(min(next_sample, began + flows.seconds) - time.monotonic(), 0)
            for number, _ in poller.poll(wait):
                with contextlib.suppress(BlockingIOError):
                    while True:
                        sockets[numbers[number]].send(zeros)
        data = pickle.dumps((began, samples))
        channel.send(struct.pack("=Q", len(data)))
        for start_at in range(0, len(data), 1 << 16):
            channel.send(data[start_at : start_at + (1 << 16)])
        channel.recv(16)  # the link has all

    return work


def _connect(cc: str) -> socket.socket:
    flow = socket.socket()
    try:
        flow.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, cc.encode())
    except OSError as error:
        message = f'the kernel has no congestion control "{cc}" for this user ({error.strerror})'
        raise RefusedError(message) from error
    flow.settimeout(0)
    with contextlib.suppress(BlockingIOError):
        flow.connect((RECEIVER, PORT))
    return flow


def take_samples(channel: socket.socket) -> tuple[float, list[tuple[float | int, ...]]]:
    """Take the samples that the sending end sends when it is done.

    Raises
    ------
    RefusedError
        If it reports that it could not send.
    """
    first = channel.recv(1 << 12)
    if len(first) != 8:
        raise RefusedError(first.decode() or "the sending end ended early")
    (size,) = struct.unpack("=Q", first)
    data = bytearray()
    while len(data) < size:
        data += channel.recv(1 << 16)
    channel.send(b"done")
    began, samples = pickle.loads(bytes(data))  # from our own child
    return began, samples
