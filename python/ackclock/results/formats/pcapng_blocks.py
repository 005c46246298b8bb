"""The blocks of a pcapng file (draft-ietf-opsawg-pcapng): section, interface, packet."""

from __future__ import annotations

import struct

__all__ = ["NANOSECONDS", "interface", "section", "write_packet"]

RAW_IP = 101
"""LINKTYPE_RAW: the packet begins with its IPv4 header."""
NANOSECONDS = 9
"""Stamps count in units of 10 to the minus this."""


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = struct.pack("<I", 12 + len(body))
    return struct.pack("<I", kind) + size + body + size


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def section(program: str, comment: str) -> bytes:
    """Begin a file.

    Parameters
    ----------
    program, comment
        What wrote it, and about what.
    """
    # Byte-order magic, version 1.0, length of the section unspecified.
    head = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    options = _option(4, program.encode()) + _option(1, comment.encode()) + _option(0, b"")
    return _block(0x0A0D0D0A, head + options)


def interface(name: str) -> bytes:
    """Name an interface; they are numbered from 0.

    Parameters
    ----------
    name
        Of it.
    """
    options = _option(2, name.encode()) + _option(9, bytes([NANOSECONDS])) + _option(0, b"")
    return _block(1, struct.pack("<HHI", RAW_IP, 0, 0) + options)


def write_packet(interface: int, stamp: int, data: bytes, length: int) -> bytes:
    """Write a packet.

    Parameters
    ----------
    interface
        Number of the interface.
    stamp
        When [ns].
    data
        Its first bytes, from the IP header on.
    length
        Of the whole packet [B].
    """
    head = struct.pack("<IIIII", interface, stamp >> 32, stamp & 0xFFFFFFFF, len(data), length)
    return _block(6, head + data)
