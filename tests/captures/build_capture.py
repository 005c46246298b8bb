"""Small captures made packet by packet, so that tests know what is in them."""

from __future__ import annotations

import struct

import dpkt

A, B = b"\x0a\x00\x00\x01", b"\x0a\x00\x00\x02"
ACK, SYN, FIN, ECE = 16, 2, 1, 64


def options(timestamps=None, sacks=(), mss=None):
    data = b""
    if mss is not None:
        data += b"\x02\x04" + struct.pack("!H", mss)
    if timestamps is not None:
        data += b"\x01\x01\x08\x0a" + struct.pack("!II", *timestamps)
    if sacks:
        blocks = b"".join(
            struct.pack("!II", low & 0xFFFFFFFF, high & 0xFFFFFFFF) for low, high in sacks
        )
        data += b"\x01\x01\x05" + bytes([2 + len(blocks)]) + blocks
    return data + b"\x01" * (-len(data) % 4)


def tcp(source, target, *, seq=0, ack=0, flags=ACK, payload=0, ident=0, ecn=0, opts=b""):
    """An IPv4 packet; A sends from port 1000, B from 2000."""
    ports = {A: 1000, B: 2000}
    segment = dpkt.tcp.TCP(
        sport=ports[source], dport=ports[target], seq=seq & 0xFFFFFFFF, ack=ack & 0xFFFFFFFF,
        flags=flags, off=5 + len(opts) // 4, opts=opts, data=b"\0" * payload,
    )  # fmt: skip
    packet = dpkt.ip.IP(src=source, dst=target, p=6, data=segment, id=ident, tos=ecn)
    packet.len = 20 + 20 + len(opts) + payload
    return bytes(packet)


def pcap(packets, *, link_type=101, before=b"", snap=65535):
    """A pcap with a clock of nanoseconds, of pairs of time [s] and packet."""
    data = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, snap, link_type)
    for time_s, packet in packets:
        frame = before + packet
        time_ns = round(time_s * 1e9)
        kept = frame[:snap]
        data += (
            struct.pack("<IIII", time_ns // 10**9, time_ns % 10**9, len(kept), len(frame)) + kept
        )
    return data


def handshake(first=0, rtt=0.02, near=0.001):
    """SYN, SYN/ACK, ACK at A, whose first byte of data is `first` + 1."""
    return [
        (0.0, tcp(A, B, seq=first, flags=SYN, opts=options(mss=1000))),
        (rtt, tcp(B, A, seq=0, ack=first + 1, flags=SYN | ACK, opts=options(mss=1000))),
        (rtt + near, tcp(A, B, seq=first + 1, ack=1)),
    ]
