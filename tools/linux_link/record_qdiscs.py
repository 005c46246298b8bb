"""Record what the kernel's queue disciplines do with known arrivals, for `tests/kernel`.

    PYTHONPATH=tools python -m linux_link.record_qdiscs [--out tests/data/linux/qdiscs]

A pair of virtual devices joins two network namespaces; the discipline is at one end, and packets of
UDP are sent through it at drawn times. When each was handed to the kernel and when it arrived, or
that it never did, is the recording. Of the kernel's disciplines those are recorded that it has:
`tc` refuses the others, and they are named. Needs root, `ip` and `tc`; the namespaces end with it.

Exit status: 0 all recorded, 1 some disciplines are not there, 2 the machine refuses.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import platform
import socket
import struct
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from linux_link import files

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = ("acl-qdisc-a", "acl-qdisc-b")
DEVICES = ("qa0", "qb0")
ADDRESSES = ("10.254.7.1", "10.254.7.2")
PORT = 9000
#: Bytes of Ethernet, IP and UDP headers, which the discipline counts.
HEADERS = 42
CLONE_NEWNET = 0x40000000
SO_SNDBUFFORCE = 32
SO_RCVBUFFORCE = 33
SO_TIMESTAMPNS = 35
FLAG_REAL_TIME = 30


@dataclass(frozen=True)
class Discipline:
    """A discipline: the commands of `tc` after `dev DEVICE`, and what it is here."""

    name: str
    commands: tuple[str, ...]
    ours: dict[str, object]


TBF = "root handle 1: tbf rate 8mbit burst {burst} limit 1000000"
DISCIPLINES = (
    Discipline(
        "pfifo-10",
        (TBF.format(burst=1600), "parent 1:1 handle 10: pfifo limit 10"),
        {"rate_bps": 8e6, "burst": 1600, "packets": 10},
    ),
    Discipline(
        "pfifo-40-burst",
        (TBF.format(burst=30000), "parent 1:1 handle 10: pfifo limit 40"),
        {"rate_bps": 8e6, "burst": 30000, "packets": 40},
    ),
    Discipline("codel", (TBF.format(burst=1600), "parent 1:1 handle 10: codel"), {}),
    Discipline("fq_codel", (TBF.format(burst=1600), "parent 1:1 handle 10: fq_codel"), {}),
    Discipline(
        "red",
        (
            TBF.format(burst=1600),
            "parent 1:1 handle 10: red limit 100000 avpkt 1000 min 5000 max 15000 burst 10",
        ),
        {},
    ),
)


def run(*command: str) -> str:
    """Run a program; its output, or what it complains of."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr.strip() if done.returncode else ""


def socket_in(name: str) -> socket.socket:
    """Open a socket of UDP in a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    here = os.open("/proc/self/ns/net", os.O_RDONLY)
    there = os.open(f"/run/netns/{name}", os.O_RDONLY)
    try:
        if libc.setns(there, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), "setns")
        return socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    finally:
        libc.setns(here, CLONE_NEWNET)
        os.close(there)
        os.close(here)


def draw(seconds: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw arrivals at 0.7 to 1.6 of the rate, of 1000 bytes each; times [s], payload sizes [B].

    Sizes are equal so that, where a few microseconds decide which of two packets is dropped, the
    queue is the same again after both.
    """
    drawn = np.random.default_rng(seed)
    at, now = [], 0.02
    while now < seconds:
        rate = drawn.uniform(0.7, 1.6) * 8e6 / 8 / 1000
        until = now + drawn.uniform(0.02, 0.2)
        while now < until:
            now += drawn.exponential(1 / rate)
            at.append(now)
    return np.array(at), np.full(len(at), 1000 - HEADERS)


def record(seconds: float, seed: int) -> pa.Table:
    """Send drawn arrivals through the device; when each was sent and arrived (-1: never)."""
    sender, receiver = (socket_in(name) for name in NAMES)
    sender.setsockopt(socket.SOL_SOCKET, SO_SNDBUFFORCE, 1 << 26)
    receiver.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 26)
    receiver.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPNS, 1)
    receiver.bind((ADDRESSES[1], PORT))
    receiver.settimeout(1.0)
    at, sizes = draw(seconds, seed)
    arrived = np.full(len(at), np.nan)

    def receive() -> None:
        try:
            while True:
                data, extra, _, _ = receiver.recvmsg(2048, 256)
                (number,) = struct.unpack_from("!I", data)
                (second, nano) = struct.unpack_from("qq", extra[0][2])
                arrived[number] = second + nano / 1e9 - origin
        except TimeoutError:
            return

    sent = np.zeros(len(at))
    payload = bytes(1500)
    origin = time.clock_gettime(time.CLOCK_REALTIME) + 0.1
    taker = threading.Thread(target=receive)
    taker.start()
    for number, (when, size) in enumerate(zip(at, sizes, strict=True)):
        while (now := time.clock_gettime(time.CLOCK_REALTIME) - origin) < when:
            if when - now > 0.0003:
                time.sleep(0.0002)
        sent[number] = now
        sender.sendto(struct.pack("!I", number) + payload[: size - 4], (ADDRESSES[1], PORT))
    taker.join()
    sender.close()
    receiver.close()
    return pa.table(
        {
            "at_us": pa.array(np.round(sent * 1e6).astype(np.int32)),
            "size_bytes": pa.array((sizes + HEADERS).astype(np.uint16)),
            "left_us": pa.array(np.round(np.nan_to_num(arrived * 1e6, nan=-1)).astype(np.int32)),
        }
    )


def set_up() -> None:
    """Make the namespaces and the devices between them."""
    for name in NAMES:
        run("ip", "netns", "del", name)
        if problem := run("ip", "netns", "add", name):
            sys.exit(f"record_qdiscs: {problem}")
    run(
        *("ip", "-n", NAMES[0], "link", "add", DEVICES[0], "type", "veth"),
        *("peer", "name", DEVICES[1], "netns", NAMES[1]),
    )
    for name, device, address in zip(NAMES, DEVICES, ADDRESSES, strict=True):
        run("ip", "-n", name, "addr", "add", f"{address}/24", "dev", device)
        run("ip", "-n", name, "link", "set", device, "up")
    time.sleep(0.5)


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--seconds", type=float, default=4.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, default=ROOT / "tests" / "data" / "linux" / "qdiscs")
    arguments = parser.parse_args()
    if os.geteuid():
        print("record_qdiscs: needs root", file=sys.stderr)
        return 2
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(FLAG_REAL_TIME))
    arguments.out.mkdir(parents=True, exist_ok=True)
    absent = []
    set_up()
    try:
        tc = ("ip", "netns", "exec", NAMES[0], "tc", "qdisc", "replace", "dev", DEVICES[0])
        for one in DISCIPLINES:
            run("ip", "netns", "exec", NAMES[0], "tc", "qdisc", "del", "dev", DEVICES[0], "root")
            problems = [run(*tc, *command.split()) for command in one.commands]
            if any(problems):
                absent.append(f"{one.name} ({next(filter(None, problems))})")
                continue
            # The neighbour is found before the first packet that counts.
            run("ip", "netns", "exec", NAMES[0], "ping", "-c", "1", "-W", "1", ADDRESSES[1])
            table = record(arguments.seconds, arguments.seed)
            lost = int((table["left_us"].to_numpy() < 0).sum())
            print(f"{one.name}: {table.num_rows} packets, {lost} dropped")
            about = {"ours": one.ours, "tc": one.commands, "kernel": platform.release()}
            files.write(arguments.out / f"{one.name}.parquet", table, about)
    finally:
        for name in NAMES:
            run("ip", "netns", "del", name)
    for sentence in absent:
        print(f"record_qdiscs: the kernel has no {sentence}", file=sys.stderr)
    return 1 if absent else 0


if __name__ == "__main__":
    sys.exit(main())
