"""Packets that an emulation captured, byte by byte as pcapng has them."""

import struct
import sys

import pytest

if sys.platform != "linux":
    pytest.skip("emulation needs Linux", allow_module_level=True)

from ackclock.errors import UnsupportedError
from ackclock.peers.emulate import capture

SUMMARY = {"scenario_hash": "abc", "seed": 7, "version": "0.1"}


def blocks(data):
    """Types and bodies of the blocks of a file."""
    place = 0
    while place < len(data):
        kind, size = struct.unpack_from("<II", data, place)
        assert struct.unpack_from("<I", data, place + size - 4) == (size,)
        yield kind, data[place + 8 : place + size - 4]
        place += size


def test_packets_are_in_order_of_time_and_as_long_as_they_were_on_the_wire(tmp_path):
    packets = [
        (3_000_000_000, 1, False, 1500, b"late!"),
        (5_000_000, 0, False, 40, b"soon"),
    ]
    path = capture.write(SUMMARY, packets, tmp_path / "x.pcapng")
    kinds, bodies = zip(*blocks(path.read_bytes()), strict=True)
    # A section, two interfaces, two packets (draft-ietf-opsawg-pcapng).
    assert kinds == (0x0A0D0D0A, 1, 1, 6, 6)
    assert b"scenario abc, seed 7" in bodies[0]
    assert b"sender" in bodies[1]
    assert b"receiver" in bodies[2]
    found = []
    for body in bodies[3:]:
        interface, high, low, captured, wire = struct.unpack_from("<IIIII", body)
        found.append((interface, (high << 32) | low, wire, body[20 : 20 + captured]))
    assert found == [(0, 5_000_000, 40, b"soon"), (1, 3_000_000_000, 1500, b"late!")]


def test_an_emulation_without_packets_says_how_to_have_some(tmp_path):
    with pytest.raises(UnsupportedError, match="emulate with captures=True, or --pcapng FILE"):
        capture.write(SUMMARY, [], tmp_path / "x.pcapng")
    assert list(tmp_path.iterdir()) == []
