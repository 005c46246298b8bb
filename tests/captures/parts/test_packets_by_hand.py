"""Captures byte by byte: headers of files, links and packets, and what is left out."""

import io
import struct
from pathlib import Path

import pytest

from ackclock.captures.read.packets import is_capture, read_packets
from ackclock.captures.trace import CaptureError

FILE = Path("a.pcap")
A4, B4 = bytes([10, 0, 0, 1]), bytes([10, 0, 0, 2])
A6, B6 = bytes(15) + b"\x01", bytes(15) + b"\x02"


def tcp(payload=5, flags=16, options=b"", seq=7, ack=9, window=300):
    head = struct.pack("!HHIIBBHHH", 1000, 80, seq, ack, (5 + len(options) // 4) << 4, flags,
                       window, 0, 0)  # fmt: skip
    return head + options + b"x" * payload


def udp(payload=5):
    return struct.pack("!HHHH", 1000, 53, 8 + payload, 0) + b"x" * payload


def ip4(data, protocol=6, *, tos=0, ident=3, fragment=0, length=None):
    size = 20 + len(data) if length is None else length
    head = struct.pack("!BBHHHBBH4s4s", 0x45, tos, size, ident, fragment, 64, protocol, 0, A4, B4)
    return head + data


def ip6(data, protocol=6, *, traffic=0, length=None):
    size = len(data) if length is None else length
    return struct.pack("!IHBB", 6 << 28 | traffic << 20, size, protocol, 64) + A6 + B6 + data


def pcap(*frames, magic=b"\xd4\xc3\xb2\xa1", order="<", network=101):
    head = magic + struct.pack(order + "HHiIII", 2, 4, 0, 0, 65535, network)
    body = b""
    for seconds, fraction, frame in frames:
        body += struct.pack(order + "IIII", seconds, fraction, len(frame), len(frame)) + frame
    return head + body


def read(data):
    return read_packets(io.BytesIO(data), FILE)


def only(frame, network=101):
    result = read(pcap((1, 0, frame), network=network))
    assert result.left_out == {}
    (segment,) = result.segments
    return segment


def refused(data):
    with pytest.raises(CaptureError) as caught:
        read(data)
    return str(caught.value)


# -- packets --------------------------------------------------------------------------------------


def test_a_segment_has_what_its_headers_say():
    segment = only(ip4(tcp(5, flags=24), tos=3, ident=77))
    assert (segment.source, segment.target) == ((A4, 1000), (B4, 80))
    assert (segment.flags, segment.seq, segment.ack, segment.window) == (24, 7, 9, 300)
    assert (segment.payload, segment.size, segment.ecn, segment.ident) == (5, 45, 3, 77)
    assert (segment.tsval, segment.tsecr, segment.sacks, segment.options) == (-1, -1, (), b"")


def test_a_segment_of_ipv6_has_no_identification():
    segment = only(ip6(tcp(5), traffic=0b10))
    assert (segment.source, segment.target) == ((A6, 1000), (B6, 80))
    assert (segment.payload, segment.size, segment.ecn, segment.ident) == (5, 65, 2, -1)
    # Extension headers are no payload.
    hop = bytes([6, 0]) + bytes(6)
    segment = only(ip6(hop + tcp(5), protocol=0))
    assert (segment.payload, segment.size) == (5, 73)


def test_a_datagram_has_no_flags():
    segment = only(ip4(udp(9), 17))
    assert (segment.flags, segment.payload, segment.size) == (-1, 9, 37)
    assert segment.source == (A4, 1000)
    segment = only(ip6(udp(9), 17))
    assert (segment.flags, segment.payload, segment.size, segment.ident) == (-1, 9, 57, -1)


def test_a_length_of_0_is_left_to_the_frame():
    assert only(ip4(tcp(5), length=0)).payload == 5
    assert only(ip6(tcp(5), length=0)).size == 65


def test_options_are_timestamps_and_blocks():
    stamps = b"\x01\x01" + b"\x08\x0a" + struct.pack("!II", 11, 12)
    blocks = b"\x01\x01" + b"\x05\x12" + struct.pack("!IIII", 1, 2, 5, 6)
    segment = only(ip4(tcp(5, options=stamps + blocks)))
    assert (segment.tsval, segment.tsecr) == (11, 12)
    assert segment.sacks == ((1, 2), (5, 6))
    assert segment.payload == 5
    # Zero says that there is none.
    empty = b"\x01\x01" + b"\x08\x0a" + struct.pack("!II", 11, 0)
    assert (only(ip4(tcp(options=empty))).tsval, only(ip4(tcp(options=empty))).tsecr) == (11, -1)
    # After an end, or a length that cannot be, nothing is read.
    assert only(ip4(tcp(options=b"\x00\x01" + stamps[2:] + b"\x01\x01"))).tsval == -1
    assert only(ip4(tcp(options=b"\x03\x00" + stamps[2:] + b"\x01\x01"))).tsval == -1
    assert only(ip4(tcp(options=b"\x03\x03\x07\x01" + stamps))).tsval == 11
    # Those of a SYN are kept.
    syn = b"\x02\x04\x05\xb4"
    assert only(ip4(tcp(0, flags=2, options=syn))).options == syn


@pytest.mark.parametrize(
    ("frame", "reason"),
    [
        (ip4(tcp(), fragment=5), "fragment"),
        (ip4(b"x" * 8, 1), "neither TCP nor UDP"),
        (ip4(tcp())[:18], "not decodable"),
        (b"", "not decodable"),
    ],
)
def test_what_is_no_segment_is_counted_by_its_reason(frame, reason):
    result = read(pcap((1, 0, frame), (2, 0, ip4(tcp()))))
    assert result.left_out == {reason: 1}
    assert (result.packets, len(result.segments)) == (2, 1)


def test_a_first_fragment_is_read():
    assert only(ip4(tcp(5), fragment=0x2000)).payload == 5


# -- links ----------------------------------------------------------------------------------------

ETHERNET = bytes(12)


@pytest.mark.parametrize(
    ("network", "before", "packet"),
    [
        (1, ETHERNET + b"\x08\x00", ip4), (1, ETHERNET + b"\x86\xdd", ip6),
        (1, ETHERNET + b"\x81\x00\x00\x05\x08\x00", ip4),
        (1, ETHERNET + b"\x88\xa8\x00\x05\x81\x00\x00\x06\x08\x00", ip4),
        (113, bytes(14) + b"\x08\x00", ip4), (276, b"\x08\x00" + bytes(18), ip4),
        (9, b"\xff\x03\x00\x21", ip4), (9, b"\x00\x21", ip4), (9, b"\x00\x57", ip6),
        (0, bytes(4), ip4), (108, bytes(4), ip6), (101, b"", ip6), (228, b"", ip4),
    ],
)  # fmt: skip
def test_the_header_of_a_link_is_before_the_packet(network, before, packet):
    segment = only(before + packet(tcp(5)), network)
    assert segment.payload == 5
    # Where the packet says no length, the frame's counts, without the header.
    segment = only(before + packet(tcp(5), length=0), network)
    assert segment.size == (45 if packet is ip4 else 65)


@pytest.mark.parametrize("network", [1, 113, 9, 147])
def test_frames_of_another_kind_are_no_ip(network):
    frame = {1: ETHERNET + b"\x08\x06", 113: bytes(14) + b"\x08\x06"}.get(network, b"\xc0\x21")
    result = read(pcap((1, 0, frame + bytes(40)), network=network))
    assert result.left_out == {"no IP": 1}


# -- files ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("magic", "order", "unit"),
    [
        (b"\xd4\xc3\xb2\xa1", "<", 1000), (b"\xa1\xb2\xc3\xd4", ">", 1000),
        (b"\x4d\x3c\xb2\xa1", "<", 1), (b"\xa1\xb2\x3c\x4d", ">", 1),
    ],
)  # fmt: skip
def test_a_pcap_has_microseconds_or_nanoseconds_in_either_order(magic, order, unit):
    data = pcap((3, 250, ip4(tcp())), magic=magic, order=order)
    result = read(data)
    assert (result.form, result.resolution_ns, result.points) == ("pcap", unit, [""])
    assert result.segments[0].time_ns == 3 * 10**9 + 250 * unit
    assert result.is_whole
    assert is_capture(data[:4])


def test_a_file_that_is_cut_is_read_to_there():
    data = pcap((1, 0, ip4(tcp())), (2, 0, ip4(tcp())))
    for cut in (1, 50, 60):
        result = read(data[:-cut])
        assert result.is_whole is False
        assert len(result.segments) == (2 if cut == 1 else 1)
    assert refused(data[:20]) == "a.pcap: it ends within the first header of a pcap file"
    assert refused(b"GIF8") == "a.pcap: it is no capture; expected pcap or pcapng"
    assert not is_capture(b"GIF8")
    huge = data[:24] + struct.pack("<IIII", 1, 0, 2**31, 2**31)
    assert refused(huge) == "a.pcap: packet 1 has 2,147,483,648 bytes"


def block(kind, body, order="<"):
    body += bytes(-len(body) % 4)
    length = struct.pack(order + "I", 12 + len(body))
    return struct.pack(order + "I", kind) + length + body + length


def option(code, value, order="<"):
    return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(order="<"):
    mark = b"\x4d\x3c\x2b\x1a" if order == "<" else b"\x1a\x2b\x3c\x4d"
    body = mark + struct.pack(order + "HHq", 1, 0, -1)
    length = struct.pack(order + "I", 12 + len(body))
    return b"\x0a\x0d\x0d\x0a" + length + body + length


def interface(options=b"", network=101, order="<"):
    return block(1, struct.pack(order + "HHI", network, 0, 0) + options, order)


def enhanced(number, ticks, frame, order="<"):
    head = struct.pack(order + "IIIII", number, ticks >> 32, ticks & 2**32 - 1, len(frame),
                       len(frame))  # fmt: skip
    return block(6, head + frame, order)


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_pcapng_has_interfaces_with_names_and_clocks(order):
    data = section(order)
    data += interface(option(2, b"eth0", order) + option(9, b"\x09", order), order=order)
    data += interface(option(9, b"\x8a", order) + option(14, struct.pack(order + "q", 100), order),
                      order=order)  # fmt: skip
    data += interface(option(0, b"") + option(2, b"hidden", order), order=order)
    data += enhanced(0, 5, ip4(tcp()), order) + enhanced(1, 2**33, ip4(tcp()), order)
    data += block(0x0BAD, b"skip", order) + enhanced(2, 7, ip4(tcp()), order)
    data += enhanced(9, 7, ip4(tcp()), order)
    result = read(data)
    assert (result.form, result.points) == ("pcapng", ["eth0", "", ""])
    # Nanoseconds; 2 to the -10 s and an offset of 100 s; microseconds.
    assert [(segment.point, segment.time_ns) for segment in result.segments] == [
        (0, 5), (1, 2**23 * 10**9 + 100 * 10**9), (2, 7000),
    ]  # fmt: skip
    assert result.resolution_ns == pytest.approx(1e9 / 1024)
    assert result.is_whole


def test_packets_of_older_blocks_are_read_and_a_new_section_has_its_own_interfaces():
    frame = ip4(tcp())
    old = struct.pack("<HHIIII", 0, 0, 0, 9, len(frame), len(frame)) + frame
    data = section() + interface() + block(2, old) + section() + interface() + enhanced(0, 3, frame)
    result = read(data)
    assert [(segment.point, segment.time_ns) for segment in result.segments] == [
        (0, 9000), (1, 3000),
    ]  # fmt: skip
    assert read(section() + enhanced(0, 3, frame)).segments == []


def test_a_pcapng_that_is_damaged_is_said_and_one_that_is_cut_is_read():
    whole = section() + interface() + enhanced(0, 3, ip4(tcp()))
    for cut in (2, 30):
        result = read(whole[:-cut])
        assert (result.is_whole, len(result.segments)) == (False, 0)
    assert read(whole + b"\x06\x00").is_whole is False
    bad = section()[:8] + b"xxxx" + section()[12:]
    assert refused(bad) == "a.pcap: a section has no byte order that pcapng knows"
    short = section() + struct.pack("<II", 6, 8) + bytes(8)
    assert refused(short).startswith("a.pcap: a block has 8 bytes; expected 12 to ")
    odd = section() + struct.pack("<II", 6, 30) + bytes(30)
    assert refused(odd).startswith("a.pcap: a block has 30 bytes; expected 12 to ")
