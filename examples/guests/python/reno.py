"""A small reliable transport as a guest: Reno over numbered datagrams, in whole nanoseconds.

It shows what a stack has to do, and is no protocol of anything else.

    client  S | D number chunk payload
    server  Y | A number next marked

A datagram three numbers below one that is acknowledged is lost (RFC 9002 section 6.1.1); the window
is halved once a round trip (RFC 5681); after 1.5 smoothed round trips, at least 200 ms, without news
all is lost and slow start begins again. The server acknowledges each datagram.
"""

from __future__ import annotations

import struct

from ackclock_guest import CE, ECT_0, NONE, NOT_CAPABLE, Answer, Start, State, serve

HEAD = struct.Struct("<cQQ")
ACK = struct.Struct("<cQQQ")
LEAST_TIMEOUT = 200_000_000
FIRST_TIMEOUT = 1_000_000_000


class Reno:
    """Either end."""

    def start(self, now: int, start: Start) -> Answer:
        """Begin: a client says that it is there."""
        self.flow = start
        self.payload = start.max_datagram - HEAD.size
        self.delivered = 0
        # Of the server: chunks that wait for those before them, the next in order, marks.
        self.held: dict[int, int] = {}
        self.next = 0
        self.marked = 0
        # Of the client.
        self.left = start.bytes
        self.window = float(start.initial_window)
        self.threshold = float("inf")
        self.number = 0
        self.chunk = 0
        self.flight: dict[int, tuple[int, int, int]] = {}
        self.again: list[tuple[int, int]] = []
        self.recovers_to = 0
        self.srtt = self.shortest = self.lost = self.reductions = 0
        self.seen_marks = 0
        self.backoff = 0
        self.is_open = False
        self.deadline = NONE
        if not start.is_client:
            return Answer()
        self.deadline = now + FIRST_TIMEOUT
        return self._answer([(NOT_CAPABLE, self._padded(b"S"))])

    def _padded(self, text: bytes) -> bytes:
        return text.ljust(self.flow.max_datagram, b"\0")

    def packet(self, now: int, mark: int, datagram: bytes) -> Answer:
        """Take a datagram."""
        return (
            self._from_server(now, datagram) if self.flow.is_client else self._take(mark, datagram)
        )

    def time(self, now: int) -> Answer:
        """Send again after a timeout."""
        self.backoff += 1
        if not self.is_open:
            self.deadline = now + (FIRST_TIMEOUT << self.backoff)
            return self._answer([(NOT_CAPABLE, self._padded(b"S"))])
        self._lose(list(self.flight), now)
        self.window, self.recovers_to = 1.0, self.number
        return self._send(now)

    def data(self, now: int, count: int, is_last: bool) -> Answer:
        """Take more to send, or hear that there is no more."""
        self.left = 0 if is_last else min(self.left + count, NONE)
        return self._send(now) if self.is_open else self._answer([])

    # The server.

    def _take(self, mark: int, datagram: bytes) -> Answer:
        if datagram[:1] == b"S":
            return Answer([(NOT_CAPABLE, b"Y")], delivered=self.delivered)
        self.marked += mark == CE
        _, number, chunk = HEAD.unpack_from(datagram)
        if chunk >= self.next:
            self.held[chunk] = len(datagram) - HEAD.size
        while self.next in self.held:
            self.delivered += self.held.pop(self.next)
            self.next += 1
        answer = ACK.pack(b"A", number, self.next, self.marked)
        return Answer([(NOT_CAPABLE, answer)], delivered=self.delivered)

    # The client.

    def _from_server(self, now: int, datagram: bytes) -> Answer:
        if datagram[:1] == b"Y":
            self.is_open, self.backoff = True, 0
            return self._send(now)
        _, number, self.next, marked = ACK.unpack(datagram)
        sent = self.flight.pop(number, None)
        if sent is not None:
            at, _, size = sent
            rtt = now - at
            self.srtt = rtt if self.srtt == 0 else self.srtt + (rtt - self.srtt) // 8
            self.shortest = min(self.shortest or rtt, rtt)
            self.backoff = 0
            self.delivered += size
            if number >= self.recovers_to:
                self.window += 1.0 if self.window < self.threshold else 1.0 / self.window
        self._lose([n for n in self.flight if n + 3 <= number], now)
        if marked > self.seen_marks:
            self.seen_marks = marked
            self._reduce()
        return self._send(now)

    def _lose(self, numbers: list[int], now: int) -> None:
        for number in numbers:
            _, chunk, size = self.flight.pop(number)
            self.again.append((chunk, size))
            self.lost += 1
            if number >= self.recovers_to:
                self._reduce()

    def _reduce(self) -> None:
        if self.number > self.recovers_to:
            self.threshold = self.window = max(self.window / 2, 2.0)
            self.recovers_to = self.number
            self.reductions += 1

    def _send(self, now: int) -> Answer:
        out = []
        while len(self.flight) < int(self.window):
            if self.again:
                chunk, size = self.again.pop(0)
            elif self.left:
                chunk, size = self.chunk, min(self.payload, self.left)
                self.chunk += 1
                self.left -= 0 if self.left == NONE else size
            else:
                break
            self.flight[self.number] = (now, chunk, size)
            mark = ECT_0 if self.flow.ecn else NOT_CAPABLE
            out.append((mark, HEAD.pack(b"D", self.number, chunk) + bytes(size)))
            self.number += 1
        timeout = max(3 * self.srtt // 2, LEAST_TIMEOUT) if self.srtt else FIRST_TIMEOUT
        self.deadline = now + (timeout << min(self.backoff, 6)) if self.flight else NONE
        return self._answer(out)

    def _answer(self, out: list[tuple[int, bytes]]) -> Answer:
        datagram = self.flow.max_datagram
        state = State(
            cwnd=int(self.window * datagram),
            ssthresh=NONE if self.threshold == float("inf") else int(self.threshold * datagram),
            in_flight=len(self.flight) * datagram,
            srtt=self.srtt,
            min_rtt=self.shortest,
            lost=self.lost,
            reductions=self.reductions,
            phase="slow-start" if self.window < self.threshold else "avoidance",
        )
        is_complete = self.left == 0 and self.is_open and self.next == self.chunk
        return Answer(out, self.deadline, self.delivered, is_complete, state)


if __name__ == "__main__":
    serve(Reno, "reno 1", later_data=True)
