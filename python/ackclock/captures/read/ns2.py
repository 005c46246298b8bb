"""Reads traces of packets that ns-2 writes (``trace-all``, ``trace-queue``), wired ones.

A line has an event (``+`` enters a queue, ``r`` arrives, ``d`` is dropped), time, the ends of the
link, kind, size, flags, flow, source, destination, number and identification of a packet; with
``Trace set show_tcphdr_ 1`` also acknowledgement, flags and header. Each node is taken as a place
of capture: a packet is seen where it starts and where it arrives. Senders of ``Agent/TCP`` number
packets, which become bytes here; those of ``Agent/TCP/FullTcp`` number bytes.

Source: The ns Manual, "Trace File Format"; and what ns-2.35 writes.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

from ackclock.captures.read.connections import flows_of_packets
from ackclock.captures.read.packets import MOST_PACKETS, CapturedSegment, Packets
from ackclock.captures.trace import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ackclock.captures.trace import Trace

__all__ = ["is_ns2", "trace_of_ns2"]

MOST_NODES = 100_000
"""Largest number of a node."""
_MOST_SECONDS = 1e9
_HEADER = 40
_SYN, _ACK, _ECE, _CWR = 2, 16, 64, 128
_IS_OF_BYTES = 50
"""So much larger than their count is the range of numbers, if these are numbers of bytes."""

_LINE = re.compile(
    r"([-+rde]) (\d[\d.e+-]{0,30}) (\d{1,9}) (\d{1,9}) (\S{1,40}) (\d{1,9}) (\S{7}) -?\d{1,12}"
    r" (-?[\d.]{0,30}\.-?\d{1,9}) (-?[\d.]{0,30}\.-?\d{1,9}) (-?\d{1,12}) (\d{1,18})"
    r"(?: (-?\d{1,12}) 0x([0-9a-f]{1,4}) (\d{1,4}) -?\d{1,9})?(?:\s|$)"
)

End = tuple[bytes, int]


class _Sight(NamedTuple):
    """A packet at a node."""

    time_ns: int
    node: int
    kind: str
    size: int
    flags: str
    source: End
    target: End
    number: int
    ident: int
    header: tuple[int, int, int] | None


def is_ns2(head: bytes) -> bool:
    """Whether a file is a trace of packets of ns-2.

    Parameters
    ----------
    head
        Its first bytes.
    """
    lines = head[:4096].decode("utf-8", "replace").splitlines()
    return any(_LINE.match(line) for line in lines[:20])


def trace_of_ns2(
    data: bytes, path: Path, node: int | None = None, *, keep_addresses: bool = False
) -> Trace:
    """Read a trace of ns-2.

    Parameters
    ----------
    data
        The file.
    path
        Its name, for messages.
    node
        Number of a node where packets are seen; left out: where each flow is seen first.
    keep_addresses
        Whether flows have the addresses of their ends.

    Raises
    ------
    CaptureError
        It has no packets, or more than are read.
    """
    packets = Packets("ns2", places="nodes")
    sights = list(_sights(data, packets, path))
    if not sights:
        raise CaptureError(f"{path}: no line has a packet that starts or arrives")
    packets.points = [""] * (max(sight.node for sight in sights) + 1)
    by_flow: dict[tuple[End, End], list[_Sight]] = defaultdict(list)
    for sight in sights:
        by_flow[tuple(sorted((sight.source, sight.target)))].append(sight)  # type: ignore[index]
    doubts: list[str] = []
    for flow in by_flow.values():
        packets.segments += _segments(flow, doubts)
    packets.segments.sort(key=lambda segment: segment.time_ns)
    if not packets.segments:
        raise CaptureError(f"{path}: its packets have no data")
    trace = flows_of_packets(packets, path, point=node, keep_addresses=keep_addresses)
    trace.start_s = None
    trace.doubts += dict.fromkeys(doubts)
    trace.facts["dropped"] = packets.dropped
    return trace


def _sights(data: bytes, packets: Packets, path: Path) -> Iterator[_Sight]:
    """Packets where they start and where they arrive."""
    last: dict[int, int] = {}
    ends: dict[str, End] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        match = _LINE.match(line)
        if match is None:
            continue
        event, time, *links = match.group(1, 2, 3, 4)
        packets.dropped += event in "de"
        if event not in "+r":
            continue
        node, ident = int(links[event == "r"]), int(match[11])
        if node > MOST_NODES:
            raise CaptureError(f"{path}: node {node} is above {MOST_NODES:,}")
        if last.get(node) == ident and event == "+":
            # What has just arrived at the node goes on.
            continue
        last[node] = ident
        time_s = _seconds(time)
        if time_s is None:
            continue
        for text in (match[8], match[9]):
            if text not in ends:
                ends[text] = _end(text, packets)
        header = (int(match[12]), int(match[13], 16), int(match[14])) if match[12] else None
        packets.packets += 1
        if packets.packets > MOST_PACKETS:
            message = f"{path}: it has more than {MOST_PACKETS:,} packets at nodes"
            raise CaptureError(f"{message}; cut it into several")
        yield _Sight(
            round(time_s * 1e9), node, match[5], int(match[6]), match[7], ends[match[8]],
            ends[match[9]], int(match[10]), ident, header,
        )  # fmt: skip


def _seconds(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if value <= _MOST_SECONDS else None


def _end(text: str, packets: Packets) -> End:
    """An address and its port; where the address is a node's number, it is that node's."""
    address, _, port = text.rpartition(".")
    name = f"node {address[:10]}".encode()
    if address.isdigit():
        packets.homes[name] = int(address)
    return name, int(port)


def _segments(sights: list[_Sight], doubts: list[str]) -> Iterable[CapturedSegment]:
    """Segments of the packets between two ends."""
    if not all(sight.kind in ("tcp", "ack") for sight in sights):
        return [_datagram(sight) for sight in sights]
    if all(sight.header is not None and sight.header[2] for sight in sights):
        return [_full_segment(sight) for sight in sights]
    numbers = {sight.number for sight in sights if sight.kind == "tcp"}
    if numbers and max(numbers) - min(numbers) > _IS_OF_BYTES * len(numbers):
        doubts.append(
            "Agent/TCP/FullTcp: acknowledgements have no numbers in this trace, data alone are"
            " read; `Trace set show_tcphdr_ 1` writes them"
        )
        return [_bare_segment(sight) for sight in sights if sight.kind == "tcp"]
    doubts.append(
        "a trace of ns-2 has neither SACK blocks nor timestamps: during recovery what is in"
        " flight includes what had arrived"
    )
    return _numbered_segments(sights)


def _datagram(sight: _Sight) -> CapturedSegment:
    return CapturedSegment(
        sight.time_ns, sight.node, sight.source, sight.target, -1, 0, 0, 0, sight.size, sight.size,
        3 if sight.flags[4] == "E" else 0, -1, -1, (), -1, b"",
    )  # fmt: skip


def _numbered_segments(sights: list[_Sight]) -> Iterator[CapturedSegment]:
    """Segments whose numbers count packets.

    A request for a connection is packet 0 and shows how long headers are; without it sizes are
    taken as data alone, as ns-2 does where ``useHeaders_`` is false.
    """
    largest = max(sight.size for sight in sights)
    first = min((s.size for s in sights if s.kind == "tcp" and s.number == 0), default=largest)
    has_request = first < largest
    payload = max(1, largest - first if has_request else largest)
    answered = False
    for sight in sights:
        is_ack, is_first = sight.kind == "ack", has_request and sight.number == 0
        flags = (_SYN if is_first else 0) | (_ACK if is_ack or answered else 0)
        answered |= is_ack
        echoes = sight.flags[0] == "C" and not is_first
        flags |= (_ECE if echoes else 0) | (_CWR if sight.flags[3] == "A" else 0)
        start = (sight.number + (0 if has_request else 1)) * payload
        yield CapturedSegment(
            sight.time_ns, sight.node, sight.source, sight.target, flags,
            0 if is_ack else (payload - 1 if is_first else start) & 0xFFFFFFFF,
            start + payload & 0xFFFFFFFF if is_ack else 0, 0,
            0 if is_ack or is_first else payload, sight.size,
            3 if sight.flags[4] == "E" else 0, -1, -1, (), -1, b"",
        )  # fmt: skip


def _full_segment(sight: _Sight) -> CapturedSegment:
    """A segment of FullTcp with its header."""
    ack, flags, size = sight.header or (0, 0, 0)
    return CapturedSegment(
        sight.time_ns, sight.node, sight.source, sight.target, flags & 255,
        sight.number & 0xFFFFFFFF, max(0, ack) & 0xFFFFFFFF, 0, max(0, sight.size - size),
        sight.size, 3 if sight.flags[4] == "E" else 0, -1, -1, (), -1, b"",
    )  # fmt: skip


def _bare_segment(sight: _Sight) -> CapturedSegment:
    """A segment of FullTcp without its header."""
    return CapturedSegment(
        sight.time_ns, sight.node, sight.source, sight.target, 0, sight.number & 0xFFFFFFFF, 0, 0,
        max(0, sight.size - _HEADER), sight.size, 3 if sight.flags[4] == "E" else 0, -1, -1, (), -1,
        b"",
    )  # fmt: skip
