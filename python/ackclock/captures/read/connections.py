"""Sorts the packets of a capture into connections, and these into flows of data."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ackclock.captures.read.tcp import Direction
from ackclock.captures.trace import EVENTS, SAMPLES, CaptureError, FlowTrace, Trace, columns

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.captures.read.packets import CapturedSegment, Packets
    from ackclock.captures.trace import Position

__all__ = ["flows_of_packets"]

MOST_FLOWS = 10_000
"""Most connections of a file."""

_FIN, _SYN, _RST, _ACK = 1, 2, 4, 16

End = tuple[bytes, int]


@dataclass
class _Connection:
    ends: tuple[End, End]
    segments: list[CapturedSegment] = field(default_factory=list)
    syn: int | None = None


def flows_of_packets(
    packets: Packets, path: Path, *, point: int | None = None, keep_addresses: bool = False
) -> Trace:
    """Make flows of the packets of a capture.

    Parameters
    ----------
    packets
        The packets.
    path
        The file, for messages.
    point
        Number of an interface; left out: of packets that several interfaces saw, those of the
        interface that saw them first.
    keep_addresses
        Whether flows have the addresses of their ends.
    """
    if point is not None and not 0 <= point < len(packets.points):
        interface_count = len(packets.points)
        raise CaptureError(
            f"{path}: there is no interface {point}; it has {interface_count}, from 0"
        )
    zero = min((segment.time_ns for segment in packets.segments), default=0)
    flows: list[FlowTrace] = []
    doubts: list[str] = []
    several = False
    for connection in _connections(packets.segments, path):
        if point is not None:
            connection.segments = [s for s in connection.segments if s.point == point]
        for number in (0, 1):
            selected, is_several = _one_point(connection, number)
            several |= is_several and point is None
            flow = _flow(connection, number, selected, zero, packets.homes)
            if flow is not None:
                if keep_addresses:
                    ends = tuple(map(_text, connection.ends))
                    flow.ends = (ends[number], ends[1 - number])
                flows.append(flow)
    flows.sort(key=lambda flow: -_bytes(flow))
    for number, flow in enumerate(flows, 1):
        flow.name = str(number)
    if several:
        doubts.append(
            f"packets were captured at several {packets.places}; each flow is taken where it was"
            " seen first, --interface NUMBER selects another"
        )
    if packets.left_out:
        counts = ", ".join(f"{count:,} {reason}" for reason, count in packets.left_out.items())
        doubts.append(f"packets left out: {counts}")
    if not packets.is_whole:
        doubts.append("the file ends within a packet")
    backwards = sum(
        later.time_ns < earlier.time_ns
        for earlier, later in zip(packets.segments, packets.segments[1:], strict=False)
    )
    if backwards:
        doubts.append(f"the clock goes back {backwards:,} times")
    if packets.resolution_ns > 1000:
        doubts.append(f"the clock counts steps of {packets.resolution_ns / 1e6:g} ms")
    facts = {"packets": packets.packets, packets.places: len(packets.points)}
    return Trace(packets.form, flows, zero / 1e9, doubts, facts)


def _text(end: End) -> str:
    if end[0].startswith(b"node "):
        return f"{end[0].decode()} port {end[1]}"
    try:
        return f"{ipaddress.ip_address(end[0])} port {end[1]}"
    except ValueError:
        return f"unknown port {end[1]}"


def _bytes(flow: FlowTrace) -> int:
    return int(flow.facts.get("stream_bytes", 0))


def _connections(segments: list[CapturedSegment], path: Path) -> list[_Connection]:
    current: dict[tuple[bool, End, End], _Connection] = {}
    connections: list[_Connection] = []
    for segment in segments:
        first, second = sorted((segment.source, segment.target))
        key = segment.flags < 0, first, second
        connection = current.get(key)
        opens = segment.flags >= 0 and segment.flags & (_SYN | _ACK) == _SYN
        renewed = opens and connection is not None and connection.syn not in (None, segment.seq)
        if connection is None or renewed:
            connection = _Connection((first, second))
            current[key] = connection
            connections.append(connection)
            if len(connections) > MOST_FLOWS:
                raise CaptureError(f"{path}: it has more than {MOST_FLOWS:,} connections")
        if opens:
            connection.syn = segment.seq
        connection.segments.append(segment)
    return connections


def _one_point(connection: _Connection, number: int) -> tuple[list[CapturedSegment], bool]:
    """The packets of a connection as one place saw them, and whether several places did."""
    sender = connection.ends[number]
    data = [s for s in connection.segments if s.source == sender and s.payload]
    points = {s.point for s in data}
    if len(points) < 2:
        point = next(iter(points), None)
        acks = {s.point for s in connection.segments if s.source != sender}
        both = point is None or point in acks
        segments = [
            s
            for s in connection.segments
            if s.source == sender or not both or len(acks) < 2 or s.point == point
        ]
        return segments, len(acks) > 1 and both
    counts = {point: sum(s.point == point for s in data) for point in points}
    often = [point for point in points if counts[point] > max(counts.values()) / 2]
    starts = {p: next(s.time_ns for s in data if s.point == p) for p in often}
    point = min(often, key=lambda p: starts[p])
    return [s for s in connection.segments if s.point == point], True


def _flow(
    connection: _Connection,
    number: int,
    segments: list[CapturedSegment],
    zero: int,
    homes: dict[bytes, int],
) -> FlowTrace | None:
    sender, receiver = connection.ends[number], connection.ends[1 - number]
    data = [s for s in segments if s.source == sender and s.payload and not s.flags & _SYN]
    data = (
        data if segments and segments[0].flags >= 0 else [s for s in segments if s.source == sender]
    )
    if not data:
        return None
    if data[0].flags < 0:
        return _datagrams(data, zero)
    opened = [s for s in segments if s.source == sender and s.flags & _SYN]
    first = opened[-1].seq + 1 if opened else data[0].seq
    direction = Direction(first & 0xFFFFFFFF)
    for segment in segments:
        time_s = (segment.time_ns - zero) / 1e9
        if segment.source == sender:
            direction.send(time_s, segment)
        else:
            direction.acknowledge(time_s, segment)
    halves, size = _handshake(segments, sender)
    if halves[0] is not None and halves[1] is not None:
        # Both halves of the handshake are a round trip that no queue of this flow delayed.
        third_s = (segments[0].time_ns - zero) / 1e9 + sum(filter(None, halves))
        direction.handshake = third_s, halves[0] + halves[1]
    position: Position | None = None
    if segments[0].point in (homes.get(sender[0]), homes.get(receiver[0])):
        position = "sender" if segments[0].point == homes.get(sender[0]) else "receiver"
    flow = direction.trace("", halves, position)
    flow.facts["handshake_bytes"] = size
    _doubt(flow, segments, sender)
    return flow


def _handshake(
    segments: list[CapturedSegment], sender: End
) -> tuple[tuple[float | None, float | None], int]:
    """Halves of the round trip: from the capture to the sender, and to the receiver [s].

    With them, the bytes of the two packets that crossed the longer half.
    """
    head = segments[:20]
    opening = [s for s in head if s.flags & (_SYN | _ACK) == _SYN]
    answers = [s for s in head if s.flags & (_SYN | _ACK) == _SYN | _ACK]
    if len(opening) != 1 or len(answers) != 1 or answers[0].time_ns < opening[0].time_ns:
        return (None, None), 0
    opener = opening[0].source
    third = next(
        (s for s in head if s.source == opener and not s.flags & _SYN and s.flags & _ACK), None
    )
    far = (answers[0].time_ns - opening[0].time_ns) / 1e9
    near = (third.time_ns - answers[0].time_ns) / 1e9 if third else None
    size = opening[0].size + answers[0].size
    if third is not None and near is not None and near > far:
        size = answers[0].size + third.size
    return ((near, far) if opener == sender else (far, near)), size


def _doubt(flow: FlowTrace, segments: list[CapturedSegment], sender: End) -> None:
    facts, doubts = flow.facts, flow.doubts
    if not facts["acknowledgements"]:
        doubts.append("only data were captured, no acknowledgements: no round trips and no flight")
    elif flow.position == "unknown":
        doubts.append(
            "neither a handshake nor timestamps show near which end it was captured; flight is"
            " that of a capture near the sender"
        )
    elif flow.position != "sender":
        where = "near the receiver" if flow.position == "receiver" else "between both ends"
        doubts.append(f"captured {where}: flight and times of sending are those of that place")
    if facts["unseen_bytes"]:
        doubts.append(
            f"{facts['unseen_bytes']:,} bytes were acknowledged that the capture does not have"
        )
    mss = _mss(segments, sender)
    limit = mss or 9000
    if facts["largest_payload_bytes"] > limit:
        doubts.append(
            "packets are larger than a segment: they were captured before the network device"
            " divided, or after it joined them, so that their number and spacing are not those of"
            " the wire"
        )
    facts["mss"] = mss


def _mss(segments: list[CapturedSegment], sender: End) -> int | None:
    """The largest segment that the receiver's SYN allows."""
    for segment in segments[:20]:
        if segment.flags & _SYN and segment.source != sender:
            options, offset = segment.options, 0
            while offset + 1 < len(options) and options[offset] != 0:
                if options[offset] == 1:
                    offset += 1
                    continue
                if options[offset] == 2 and offset + 4 <= len(options):
                    return int.from_bytes(options[offset + 2 : offset + 4])
                offset += max(2, options[offset + 1])
    return None


def _datagrams(data: list[CapturedSegment], zero: int) -> FlowTrace:
    rows = [((s.time_ns - zero) / 1e9, 0, i, i + 1, s.size) for i, s in enumerate(data)]
    rows += [
        ((s.time_ns - zero) / 1e9, 7, i, i + 1, s.size) for i, s in enumerate(data) if s.ecn == 3
    ]
    rows.sort(key=lambda row: row[0])
    flow = FlowTrace("", "udp", events=columns(rows, EVENTS))
    size = 0
    samples = []
    for segment in data:
        size += segment.payload
        samples.append(((segment.time_ns - zero) / 1e9, size, *[float("nan")] * (len(SAMPLES) - 2)))
    flow.samples = columns(samples, dict.fromkeys(SAMPLES, float))
    flow.facts = {"stream_bytes": size, "numbers_are_packets": True}
    flow.doubts.append("datagrams: a capture has their sizes and times alone; QUIC is in qlog")
    return flow
