"""Follows the data of one end of a TCP connection through a capture.

Packets with data that end at or below what was seen are sorted by these rules, in order:

- all of it was seen before, with the same identification and timestamp: ``duplicated``;
- all of it was seen before: ``retransmitted``;
- it fills a gap: by timestamps (RFC 7323), an older value than that of the packet that left the gap
  is ``reordered``, a newer one ``retransmitted``; without them, by the IP identification, or by
  time: what comes sooner than half of the least round trip is ``reordered``.

A retransmission of data is no loss, but ``spurious``, if a D-SACK reports that both copies arrived
(RFC 2883), if the acknowledgement echoes a timestamp older than the retransmission (RFC 3522), or
if it came sooner after the retransmission than the least round trip (RFC 8985, section 6.2).
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.captures.read.ranges import RangeSet
from ackclock.captures.trace import EVENTS, KINDS, SAMPLES, FlowTrace, columns

if TYPE_CHECKING:
    from ackclock.captures.read.packets import CapturedSegment
    from ackclock.captures.trace import Position

__all__ = ["Direction"]

_SENT, _AGAIN, _REORDERED, _DUPLICATED, _ACKED, _LOST, _SPURIOUS, _MARKED = range(len(KINDS))
_FIN, _SYN, _ACK, _ECE, _CWR = 1, 2, 16, 64, 128
_MOST_GAPS = 20_000
_MOST_ECHOES = 20_000
_MOST_OUTSTANDING = 200_000
"""Packets of a flow that are not acknowledged; beyond, the oldest half has no round trips."""
_MOST_IN_ONE = 1000
"""Packets that one retransmission joins."""
NEAR = 0.1
"""Share of the round trip up to which a capture is near an end."""


def _to_signed(difference: int, bits: int = 32) -> int:
    half = 1 << bits - 1
    return (difference + half) % (1 << bits) - half


class Direction:
    """Follows the data that one end sends; feed packets in the order of the file.

    Parameters
    ----------
    first
        Sequence number of the first byte of data.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.high = self.una = 0
        self.captured, self.acked = RangeSet(), RangeSet()
        self.rows: list[tuple[Any, ...]] = []
        self.samples: list[tuple[float, int, int, int, int, int]] = []
        self.rtts: list[tuple[float, float]] = []
        self.echoes: dict[int, float] = {}
        self.sender_halves: list[tuple[float, float]] = []
        self.handshake: tuple[float, float] | None = None
        self.least_rtt = np.inf
        self.delivered = self.arrived = self.again = self.unseen = self.duplicates = 0
        self.acks = self.echoed_marks = self.reductions = self.largest = self.window = 0
        self.has_timestamps = self.has_sacks = False
        # Packets that are not acknowledged, by their first byte; those before `head` are.
        self.starts: list[int] = []
        self.records: list[list[Any]] = []
        self.head = 0
        self.copies: dict[int, tuple[int, int]] = {}
        self.gaps: list[tuple[int, float, int, int]] = []
        self.holes: dict[int, int] = {}

    def _position_of(self, number: int, near: int) -> int:
        """The number of a byte, counted from the first of the stream, that is nearest another."""
        return near + _to_signed(number - self.first - near)

    def send(self, time_s: float, segment: CapturedSegment) -> None:
        """Take a packet from the sender.

        Parameters
        ----------
        time_s
            Time of the capture [s].
        segment
            The packet.
        """
        if segment.tsecr >= 0 and not segment.flags & _SYN:
            self.has_timestamps = True
            heard = self.echoes.pop(segment.tsecr, None)
            if heard is not None and segment.payload:
                self.sender_halves.append((time_s, time_s - heard))
        if not segment.payload or segment.flags & _SYN:
            return
        start = self._position_of(segment.seq, self.high)
        end = start + segment.payload
        if end <= 0 or (segment.payload == 1 and start == self.high - 1 and self.high > 1):
            return  # Before the stream's first byte, or a probe that keeps the connection alive.
        self.largest = max(self.largest, segment.payload)
        self.reductions += bool(segment.flags & _CWR)
        jumped = start > self.high and self.high > 0
        if jumped:
            self.gaps.append((self.high, time_s, segment.tsval, segment.ident))
            if len(self.gaps) > _MOST_GAPS:
                del self.gaps[: _MOST_GAPS // 2]
        elif self.high == 0 and start > 0 and not self.rows:
            # What came before the capture began was neither seen nor lost.
            self.captured.add(0, start)
        new = self.captured.add(start, end)
        self.arrived += sum(high - low for low, high in new)
        kind = self._kind(time_s, segment, start, end, is_new=bool(new))
        self.rows.append((time_s, kind, start, end, segment.size))
        if segment.ecn == 3:
            self.rows.append((time_s, _MARKED, start, end, segment.size))
        self.copies[start] = segment.ident, segment.tsval
        if len(self.copies) > 2 * _MOST_OUTSTANDING:
            self.copies.clear()
        if kind == _AGAIN:
            self._send_again(time_s, start, end, segment.tsval, is_new=bool(new))
        elif kind != _DUPLICATED:
            self._remember(time_s, start, end)
        self.high = max(self.high, end)
        self._sample(time_s)

    def _kind(
        self, time_s: float, segment: CapturedSegment, start: int, end: int, *, is_new: bool
    ) -> int:
        if start >= self.high:
            return _SENT
        if not is_new:
            same = self.copies.get(start) == (segment.ident, segment.tsval)
            return _DUPLICATED if same and segment.ident > 0 else _AGAIN
        number = bisect_left(self.gaps, (end,)) - 1
        if number < 0:
            return _AGAIN
        _, since_s, tsval, ident = self.gaps[number]
        if tsval >= 0 and segment.tsval >= 0:
            return _AGAIN if _to_signed(segment.tsval - tsval) > 0 else _REORDERED
        if ident > 0 and segment.ident > 0 and _to_signed(segment.ident - ident, 16) < 0:
            return _REORDERED
        least = self.least_rtt if np.isfinite(self.least_rtt) else 0.003
        return _REORDERED if time_s - since_s < least / 2 else _AGAIN

    def _remember(self, time_s: float, start: int, end: int) -> None:
        record = [end, time_s, None, False, None, -1]
        if len(self.starts) - self.head > _MOST_OUTSTANDING:
            self.head += _MOST_OUTSTANDING // 2
            self._compact()
        if not self.starts or start > self.starts[-1]:
            self.starts.append(start)
            self.records.append(record)
        elif start >= self.una:
            number = max(self.head, bisect_left(self.starts, start, self.head))
            self.starts.insert(number, start)
            self.records.insert(number, record)

    def _send_again(self, time_s: float, start: int, end: int, tsval: int, *, is_new: bool) -> None:
        self.again += 1
        self.rows.append((time_s, _LOST, start, end, 0))
        lost = len(self.rows) - 1
        number = bisect_left(self.starts, start, self.head)
        if number > self.head and self.records[number - 1][0] > start:
            number -= 1
        marked = False
        for index in range(number, min(len(self.starts), number + _MOST_IN_ONE)):
            if self.starts[index] >= end:
                break
            record = self.records[index]
            record[2], record[4], record[5] = time_s, lost, tsval
            marked = True
        if is_new:
            # The first copy was lost before the place of the capture.
            self._remember(time_s, start, end)
        elif not marked and end <= self.una:
            # All was acknowledged already: nothing was missing.
            self._is_spurious(lost)
        self.holes[start] = lost
        if len(self.holes) > _MOST_GAPS:
            self.holes.clear()

    def _is_spurious(self, row: int) -> None:
        time_s, kind, start, end, size = self.rows[row]
        if kind == _LOST:
            self.rows[row] = time_s, _SPURIOUS, start, end, size

    def acknowledge(self, time_s: float, segment: CapturedSegment) -> None:
        """Take a packet from the receiver.

        Parameters
        ----------
        time_s
            Time of the capture [s].
        segment
            The packet.
        """
        if segment.tsval >= 0:
            if len(self.echoes) > _MOST_ECHOES:
                self.echoes.clear()
            self.echoes.setdefault(segment.tsval, time_s)
        if not segment.flags & _ACK or segment.flags & _SYN:
            return
        self.acks += 1
        ack = self._position_of(segment.ack, self.una)
        if ack > self.high:
            # One more is a FIN; more are packets that the capture does not have.
            if ack > self.high + 1 and ack - self.high < 1 << 30:
                self.unseen += ack - self.high if self.rows else 0
                self.captured.add(self.high if self.rows else 0, ack)
                self.high = ack
            ack = self.high
        if segment.flags & _ECE:
            self.echoed_marks += 1
            self.rows.append((time_s, _MARKED, self.una, self.una, 0))
        self.has_sacks |= bool(segment.sacks)
        self._count_duplicate(segment, ack)
        sample = self._take_sacks(time_s, segment, ack)
        if ack > self.una:
            newest = self._take_cumulative(time_s, segment, ack)
            sample = newest if newest is not None else sample
        if sample is not None:
            self.rtts.append((time_s, sample))
            self.least_rtt = min(self.least_rtt, sample)
        self._sample(time_s)

    def _count_duplicate(self, segment: CapturedSegment, ack: int) -> None:
        """Count what duplicate acknowledgements without SACK report: a packet each (RFC 5681)."""
        if self.has_sacks:
            self.duplicates = 0
        elif ack > self.una:
            # A repaired loss takes what arrived behind it, a packet less than is acknowledged.
            self.duplicates = max(0, self.duplicates - (ack - self.una - self.largest))
        elif ack == self.una and not segment.payload and segment.window == self.window:
            most = max(0, self.high - self.una - self.largest)
            self.duplicates = min(most, self.duplicates + self.largest)
        self.window = segment.window

    def _take_sacks(self, time_s: float, segment: CapturedSegment, ack: int) -> float | None:
        sample = None
        for index, (left, right) in enumerate(segment.sacks):
            low = self._position_of(left, ack)
            high = low + ((right - left) & 0xFFFFFFFF)
            if high - low > 1 << 30 or high > self.high + 1:
                continue
            first = segment.sacks[1] if len(segment.sacks) > 1 else None
            inside = first is not None and index == 0 and (
                low >= self._position_of(first[0], ack) and high <= self._position_of(first[1], ack)
            )  # fmt: skip
            if index == 0 and (high <= ack or inside):
                row = self.holes.get(low)
                if row is not None:
                    self._is_spurious(row)
                continue
            for start, end in self.acked.add(low, high):
                self.delivered += end - start
                self.rows.append((time_s, _ACKED, start, end, 0))
                newest = self._mark(time_s, segment, start, end)
                sample = newest if newest is not None else sample
        return sample

    def _mark(self, time_s: float, segment: CapturedSegment, start: int, end: int) -> float | None:
        number = bisect_left(self.starts, start, self.head)
        sample = None
        while number < len(self.starts) and self.starts[number] < end:
            record = self.records[number]
            if record[0] <= end and not record[3]:
                record[3] = True
                self._judge(time_s, segment, record)
                sample = time_s - record[1] if record[2] is None else None
            number += 1
        return sample

    def _judge(self, time_s: float, segment: CapturedSegment, record: list[Any]) -> None:
        """Whether what was sent again had arrived before."""
        again_s, lost, tsval = record[2], record[4], record[5]
        if again_s is None:
            return
        older = segment.tsecr >= 0 and tsval >= 0 and _to_signed(segment.tsecr - tsval) < 0
        if (older and not segment.sacks) or time_s - again_s < self.least_rtt * (1 - 1e-9):
            self._is_spurious(lost)

    def _take_cumulative(self, time_s: float, segment: CapturedSegment, ack: int) -> float | None:
        for start, end in self.acked.add(self.una, ack):
            self.delivered += end - start
            self.rows.append((time_s, _ACKED, start, end, 0))
        sample, joins = None, False
        while self.head < len(self.starts) and self.records[self.head][0] <= ack:
            end, sent_s, again_s, sacked, _, _ = record = self.records[self.head]
            joins |= again_s is not None
            if not sacked:
                self._judge(time_s, segment, record)
            sample = time_s - sent_s if not sacked and again_s is None and end == ack else None
            self.copies.pop(self.starts[self.head], None)
            self.holes.pop(self.starts[self.head], None) if again_s is None else None
            self.head += 1
        if self.head > 10_000:
            self._compact()
        self.una = ack
        self.acked.forget_below(ack)
        # Without SACK what is acknowledged with a repaired loss arrived before, nobody knows when.
        return sample if self.has_sacks or not joins else None

    def _compact(self) -> None:
        del self.starts[: self.head]
        del self.records[: self.head]
        self.head = 0

    def _sample(self, time_s: float) -> None:
        outstanding = self.high - self.una
        # All below `una` is acknowledged, so that the rest was reported by SACK.
        flight = max(0, outstanding - max(0, self.delivered - self.una) - self.duplicates)
        delivered = self.delivered + self.duplicates
        self.samples.append((time_s, delivered, self.arrived, outstanding, flight, self.again))

    def trace(
        self,
        name: str,
        halves: tuple[float | None, float | None],
        position: Position | None = None,
    ) -> FlowTrace:
        """Make a flow of all that was taken.

        Parameters
        ----------
        name
            Of the flow.
        halves
            Times from the capture to the sender and back, and to the receiver and back, as the
            handshake shows them [s].
        position
            Near which end packets were captured, where the file says it.
        """
        flow = FlowTrace(name, "tcp", events=columns(self.rows, EVENTS))
        to_receiver = _least([*(rtt for _, rtt in self.rtts), halves[1]])
        to_sender = _least([*(half for _, half in self.sender_halves), halves[0]])
        flow.position = position or _position(to_sender, to_receiver)
        if flow.position == "receiver" and self.sender_halves:
            pairs, constant = self.sender_halves, to_receiver or 0.0
        else:
            pairs, constant = self.rtts, to_sender or 0.0
        if flow.position == "receiver" and not self.sender_halves:
            pairs = []
            flow.doubts.append(
                "without timestamps a capture near the receiver has no round trips of data"
            )
        data = np.asarray(pairs, float).reshape(-1, 2)
        data[:, 1] += constant
        if self.handshake is not None:
            data = np.vstack([self.handshake, data])
        flow.rtts = {"time_s": data[:, 0], "rtt_s": data[:, 1]}
        values = np.asarray(self.samples, float).reshape(-1, 6)
        unknown = np.full(len(values), np.nan)
        delivered = values[:, 2] if flow.position == "receiver" or not self.acks else values[:, 1]
        measured_columns = (values[:, 0], delivered, values[:, 3], values[:, 4])
        flow.samples = dict(
            zip(SAMPLES, (*measured_columns, unknown, unknown, unknown, values[:, 5]), strict=True)
        )
        flow.facts = {
            "to_sender_s": to_sender,
            "to_receiver_s": to_receiver,
            "acknowledgements": self.acks,
            "largest_payload_bytes": self.largest,
            "unseen_bytes": self.unseen,
            "echoed_marks": self.echoed_marks,
            "window_reductions": self.reductions,
            "has_timestamps": self.has_timestamps,
            "stream_bytes": self.arrived,
            "rtt_samples": len(self.rtts),
            "has_handshake": self.handshake is not None,
        }
        return flow


def _least(values: list[float | None]) -> float | None:
    numbers = [value for value in values if value is not None]
    return min(numbers) if numbers else None


def _position(to_sender: float | None, to_receiver: float | None) -> Position:
    if to_sender is None or to_receiver is None or to_sender + to_receiver <= 0:
        return "unknown"
    share = to_sender / (to_sender + to_receiver)
    return "sender" if share < NEAR else "receiver" if share > 1 - NEAR else "between"
