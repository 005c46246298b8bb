"""Reads packets of pcap and pcapng files: TCP segments, and datagrams by size alone.

Headers of links, IP, TCP and UDP are parsed by dpkt; the blocks around them here, because dpkt's
readers give neither the interface nor the length that a packet had before it was cut.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, Any, NamedTuple

from ackclock.captures.trace import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["MOST_PACKETS", "CapturedSegment", "Packets", "is_capture", "read_packets"]

MOST_PACKETS = 2_000_000
"""Most packets of a file."""

MOST_BLOCK = 2**24
"""Longest block of a file [bytes]."""

MOST_INTERFACES = 1000
"""Most interfaces of a file."""

_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 10**3),
    b"\xa1\xb2\xc3\xd4": (">", 10**3),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
"""Magic numbers of pcap: order of bytes, nanoseconds of a unit of time."""

_PCAPNG = b"\x0a\x0d\x0d\x0a"
_ETHERNET, _NULL, _RAW, _LOOP, _SLL, _SLL2 = {1}, {0}, {12, 14, 101, 228, 229}, {108}, {113}, {276}
_PPP = {9, 50}
_KINDS_OF_PPP = {0x21: 0x0800, 0x57: 0x86DD}
"""Numbers of protocols of PPP, and those of Ethernet."""


class CapturedSegment(NamedTuple):
    """A TCP segment, or a datagram (`flags` is -1)."""

    time_ns: int
    point: int
    source: tuple[bytes, int]
    target: tuple[bytes, int]
    flags: int
    seq: int
    ack: int
    window: int
    payload: int
    size: int
    ecn: int
    tsval: int
    tsecr: int
    sacks: tuple[tuple[int, int], ...]
    ident: int
    options: bytes


@dataclass
class Packets:
    """All packets of a file.

    Parameters
    ----------
    form
        ``pcap`` or ``pcapng``.
    segments
        TCP segments and datagrams, in the order of the file.
    packets
        How many packets there are.
    left_out
        How many are neither, by reason.
    resolution_ns
        The coarsest unit of time.
    points
        Names of interfaces.
    is_whole
        Whether the file ends where a packet ends.
    places
        What the points are called.
    homes
        By address the point that is at it, where that is known.
    dropped
        Packets that the file says were dropped.
    """

    form: str
    segments: list[CapturedSegment] = field(default_factory=list)
    packets: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    resolution_ns: float = 1.0
    points: list[str] = field(default_factory=list)
    is_whole: bool = True
    places: str = "interfaces"
    homes: dict[bytes, int] = field(default_factory=dict)
    dropped: int = 0

    def leave_out(self, reason: str) -> None:
        """Count a packet that is not used.

        Parameters
        ----------
        reason
            Why.
        """
        self.left_out[reason] = self.left_out.get(reason, 0) + 1


def is_capture(head: bytes) -> bool:
    """Whether a file is a capture.

    Parameters
    ----------
    head
        Its first bytes.
    """
    return head[:4] in _PCAP or head[:4] == _PCAPNG


def read_packets(file: IO[bytes], path: Path) -> Packets:
    """Read a capture.

    Parameters
    ----------
    file
        The open file, at its start.
    path
        Its name, for messages.

    Raises
    ------
    CaptureError
        It is no capture, or has more packets than are read.
    """
    from ackclock.results.formats.recorded import import_extra

    import_extra("dpkt", "read")
    head = file.read(4)
    if head in _PCAP:
        result = Packets("pcap")
        frames = _pcap_frames(file, head, result, path)
    elif head == _PCAPNG:
        result = Packets("pcapng")
        frames = _pcapng_frames(file, result, path)
    else:
        raise CaptureError(f"{path}: it is no capture; expected pcap or pcapng")
    for time_ns, point, link_type, length, data in frames:
        result.packets += 1
        if result.packets > MOST_PACKETS:
            message = f"{path}: it has more than {MOST_PACKETS:,} packets; cut it into several"
            raise CaptureError(message)
        segment = _decode(time_ns, point, link_type, length, data, result)
        if segment is not None:
            result.segments.append(segment)
    return result


def _pcap_frames(
    file: IO[bytes], magic: bytes, result: Packets, path: Path
) -> Iterator[tuple[int, int, int, int, bytes]]:
    order, unit = _PCAP[magic]
    head = file.read(20)
    if len(head) < 20:
        raise CaptureError(f"{path}: it ends within the first header of a pcap file")
    _, _, _, _, _, network = struct.unpack(order + "HHiIII", head)
    result.resolution_ns = unit
    result.points.append("")
    while head := file.read(16):
        if len(head) < 16:
            result.is_whole = False
            return
        seconds, fraction, stored, length = struct.unpack(order + "IIII", head)
        if stored > MOST_BLOCK:
            raise CaptureError(f"{path}: packet {result.packets + 1} has {stored:,} bytes")
        data = file.read(stored)
        result.is_whole = len(data) == stored
        yield seconds * 10**9 + fraction * unit, 0, network & 0xFFFF, length, data


@dataclass
class _Interface:
    link_type: int
    units_per_s: float = 1e6
    offset_s: int = 0
    number: int = 0


def _pcapng_frames(
    file: IO[bytes], result: Packets, path: Path
) -> Iterator[tuple[int, int, int, int, bytes]]:
    order = "<"
    interfaces: list[_Interface] = []
    kind_bytes = _PCAPNG
    while kind_bytes:
        length_bytes = file.read(4)
        if len(kind_bytes) < 4 or len(length_bytes) < 4:
            result.is_whole = False
            return
        body = b""
        if kind_bytes == _PCAPNG:
            mark = file.read(4)
            if mark not in (b"\x4d\x3c\x2b\x1a", b"\x1a\x2b\x3c\x4d"):
                raise CaptureError(f"{path}: a section has no byte order that pcapng knows")
            order = "<" if mark == b"\x4d\x3c\x2b\x1a" else ">"
            interfaces, body = [], mark
        kind, length = struct.unpack(order + "II", kind_bytes + length_bytes)
        if length > MOST_BLOCK or length < 12 + len(body) or length % 4:
            raise CaptureError(
                f"{path}: a block has {length:,} bytes; expected 12 to {MOST_BLOCK:,}"
            )
        body += file.read(length - 8 - len(body))
        if len(body) < length - 8:
            result.is_whole = False
            return
        body = body[:-4]
        if kind == 1 and len(body) >= 8:
            interfaces.append(_interface(order, body, result))
            if len(result.points) > MOST_INTERFACES:
                raise CaptureError(f"{path}: it has more than {MOST_INTERFACES:,} interfaces")
        frame = _pcapng_frame(order, kind, body, interfaces)
        if frame is not None:
            yield frame
        kind_bytes = file.read(4)


def _interface(order: str, body: bytes, result: Packets) -> _Interface:
    interface = _Interface(struct.unpack_from(order + "H", body)[0], number=len(result.points))
    name = ""
    for code, value in _block_options(order, body[8:]):
        if code == 9 and value:
            power = value[0] & 127
            interface.units_per_s = float(2 if value[0] & 128 else 10) ** min(power, 40)
        elif code == 14 and len(value) == 8:
            interface.offset_s = struct.unpack(order + "q", value)[0]
        elif code == 2:
            name = value.decode("utf-8", "replace")[:80]
    result.points.append(name)
    result.resolution_ns = max(result.resolution_ns, 1e9 / interface.units_per_s)
    return interface


def _block_options(order: str, data: bytes) -> Iterator[tuple[int, bytes]]:
    offset = 0
    while offset + 4 <= len(data):
        code, length = struct.unpack_from(order + "HH", data, offset)
        if code == 0:
            return
        yield code, data[offset + 4 : offset + 4 + length]
        offset += 4 + (length + 3 & ~3)


def _pcapng_frame(
    order: str, kind: int, body: bytes, interfaces: list[_Interface]
) -> tuple[int, int, int, int, bytes] | None:
    if kind == 6 and len(body) >= 20:
        number, high, low, stored, length = struct.unpack_from(order + "IIIII", body)
    elif kind == 2 and len(body) >= 20:
        number, _, high, low, stored, length = struct.unpack_from(order + "HHIIII", body)
    else:
        return None
    if number >= len(interfaces):
        return None
    interface = interfaces[number]
    ticks = high << 32 | low
    if interface.units_per_s == 1e9:
        time_ns = ticks
    else:
        time_ns = round(ticks * 1e9 / interface.units_per_s)
    time_ns += interface.offset_s * 10**9
    return time_ns, interface.number, interface.link_type, length, body[20 : 20 + stored]


def _decode(
    time_ns: int, point: int, link_type: int, length: int, data: bytes, result: Packets
) -> CapturedSegment | None:
    import dpkt

    try:
        packet, header = _network_layer(dpkt, link_type, data)
        if packet is None:
            result.leave_out("no IP")
            return None
        return _transport_layer(dpkt, time_ns, point, length - header, packet, result)
    except (dpkt.Error, struct.error, IndexError, ValueError, TypeError, AttributeError, KeyError):
        # A packet that is cut, or no packet at all.
        result.leave_out("not decodable")
    except RecursionError:
        result.leave_out("nested too deep")
    return None


def _network_layer(dpkt: Any, link_type: int, data: bytes) -> tuple[Any, int]:
    """The IP packet within a frame, and how many bytes are before it."""
    if link_type in _RAW:
        version = data[0] >> 4
        return (dpkt.ip.IP(data) if version == 4 else dpkt.ip6.IP6(data)), 0
    if link_type in _ETHERNET:
        offset, kind = 14, int.from_bytes(data[12:14])
        while kind in (0x8100, 0x88A8) and offset <= 30:
            kind = int.from_bytes(data[offset + 2 : offset + 4])
            offset += 4
    elif link_type in _SLL:
        offset, kind = 16, int.from_bytes(data[14:16])
    elif link_type in _SLL2:
        offset, kind = 20, int.from_bytes(data[:2])
    elif link_type in _PPP:
        offset = 4 if data[:2] == b"\xff\x03" else 2
        kind = _KINDS_OF_PPP.get(int.from_bytes(data[offset - 2 : offset]), 0)
    elif link_type in _NULL | _LOOP:
        return _network_layer(dpkt, 101, data[4:])[0], 4
    else:
        return None, 0
    if kind == 0x0800:
        return dpkt.ip.IP(data[offset:]), offset
    if kind == 0x86DD:
        return dpkt.ip6.IP6(data[offset:]), offset
    return None, 0


def _transport_layer(
    dpkt: Any, time_ns: int, point: int, length: int, packet: Any, result: Packets
) -> CapturedSegment | None:
    if isinstance(packet, dpkt.ip.IP):
        if packet.offset & 0x1FFF:
            result.leave_out("fragment")
            return None
        size = packet.len or length
        headers, ecn, ident = packet.hl * 4, packet.tos & 3, packet.id
    else:
        size = packet.plen + 40 if packet.plen else length
        headers = 40 + sum(len(extension) for extension in packet.all_extension_headers)
        ecn, ident = packet.fc & 3, -1
    segment = packet.data
    if isinstance(segment, dpkt.tcp.TCP):
        payload = max(0, size - headers - segment.off * 4)
        tsval, tsecr, sacks = _tcp_options(segment.opts)
        return CapturedSegment(
            time_ns, point, (packet.src, segment.sport), (packet.dst, segment.dport),
            segment.flags & 255, segment.seq, segment.ack, segment.win, payload, size, ecn,
            tsval, tsecr, sacks, ident, segment.opts if segment.flags & 2 else b"",
        )  # fmt: skip
    if isinstance(segment, dpkt.udp.UDP):
        return CapturedSegment(
            time_ns, point, (packet.src, segment.sport), (packet.dst, segment.dport), -1, 0, 0, 0,
            max(0, size - headers - 8), size, ecn, -1, -1, (), ident, b"",
        )  # fmt: skip
    result.leave_out("neither TCP nor UDP")
    return None


def _tcp_options(data: bytes) -> tuple[int, int, tuple[tuple[int, int], ...]]:
    tsval = tsecr = -1
    sacks: list[tuple[int, int]] = []
    offset = 0
    while offset < len(data):
        kind = data[offset]
        if kind == 0:
            break
        if kind == 1:
            offset += 1
            continue
        length = data[offset + 1] if offset + 1 < len(data) else 0
        if length < 2 or offset + length > len(data):
            break
        if kind == 8 and length == 10:
            # Writers that do not know a value put zero, which a clock has once in 2**32 ticks.
            values = struct.unpack_from("!II", data, offset + 2)
            tsval, tsecr = (value or -1 for value in values)
        elif kind == 5:
            count = (length - 2) // 8
            numbers = struct.unpack_from(f"!{2 * count}I", data, offset + 2)
            sacks += zip(numbers[::2], numbers[1::2], strict=True)
        offset += length
    return tsval, tsecr, tuple(sacks)
