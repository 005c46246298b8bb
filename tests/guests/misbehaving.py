"""A guest that breaks the rule that its argument names; else as examples/guests/python."""

from __future__ import annotations

import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples/guests/python"))

import ackclock_guest
import reno

RULE = sys.argv[1]
AFTER = 20
"""It does so in its AFTER-th answer as a client."""


class Misbehaving(reno.Reno):
    """As Reno, up to a point."""

    count = 0

    def start(self, now, start):
        """Begin."""
        answer = super().start(now, start)
        if RULE == "server-first" and not start.is_client:
            answer.datagrams.append((0, b"hello"))
        return answer

    def packet(self, now, mark, datagram):
        """Take a datagram."""
        answer = super().packet(now, mark, datagram)
        if not self.flow.is_client:
            if RULE == "delivers-too-much":
                answer.delivered += 10**6
            return answer
        self.count += 1
        if RULE == "forgets" and self.count >= AFTER:
            answer.state.srtt = answer.state.min_rtt = 0
        return answer if self.count != AFTER else self.broken(now, answer)

    def broken(self, now, answer):
        """Break the rule."""
        print("about to break a rule", file=sys.stderr, flush=True)
        if RULE == "past":
            answer.deadline = now - 1
        elif RULE == "long":
            answer.datagrams.append((0, bytes(1201)))
        elif RULE == "empty":
            answer.datagrams.append((0, b""))
        elif RULE == "too-many":
            answer.datagrams = [(0, b"x")] * 8193
        elif RULE == "mark":
            answer.datagrams.append((4, b"x"))
        elif RULE == "short-rtt":
            answer.state.srtt = 1_000_000
        elif RULE == "complete":
            answer.is_complete = True
        elif RULE == "takes-back":
            answer.delivered = 0
        elif RULE == "crash":
            raise RuntimeError("out of ideas")
        elif RULE == "exit":
            sys.exit(7)
        elif RULE == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        elif RULE == "hang":
            time.sleep(60)
        elif RULE == "child-hangs":
            subprocess.run(["sleep", "60.25"], check=False)
        elif RULE == "cut":
            write_raw(struct.pack("<IB", 3, 0x82) + b"\0\0")
        elif RULE == "huge":
            write_raw(struct.pack("<IB", 2**31, 0x82))
        elif RULE == "kind":
            write_raw(struct.pack("<IB", 1, 0x55))
        elif RULE == "prints":
            write_raw(b"hello, world, here is a line of output\n")
        elif RULE == "says-so":
            write_raw(struct.pack("<IB", 12, 0x83) + b"no more of it"[:11])
        elif RULE == "sequence":
            pack = ackclock_guest._pack
            ackclock_guest._pack = lambda sequence, answer: pack(sequence + 1, answer)
        return answer

    def time(self, now):
        """Do what is due."""
        return super().time(now)


class Restless(reno.Reno):
    """Its deadline is always now, or so many nanoseconds later; if later, it sends nothing."""

    wait = 0

    def _answer(self, out):
        answer = super()._answer([] if self.wait else out)
        answer.deadline = self.now + self.wait
        return answer

    def start(self, now, start):
        """Begin."""
        self.now = now
        return super().start(now, start)

    def packet(self, now, mark, datagram):
        """Take a datagram."""
        self.now = now
        return super().packet(now, mark, datagram)

    def time(self, now):
        """Do nothing."""
        self.now = now
        return self._answer([])


def write_raw(frame: bytes) -> None:
    """Write what is no answer."""
    os.write(1, frame)
    time.sleep(60)


if RULE == "version":
    ackclock_guest.VERSION = 2
    os.read(0, 9)
    write_raw(struct.pack("<IBHIB", 8, 0x81, 2, 0, 0))
if RULE == "talks-first":
    write_raw(b"Loading...\n")


class Hasty(Restless):
    """Its deadlines are a microsecond apart."""

    wait = 1000


ackclock_guest.serve(
    Hasty if RULE == "hasty" else Restless if RULE == "restless" else Misbehaving,
    "misbehaving",
    later_data=RULE != "no-data",
)
