"""Fields of the kernel's `struct tcp_info`, each at its place."""

import socket
import struct

from ackclock.peers.emulate import tcp_info

# Offset and type of what is kept, counted in `include/uapi/linux/tcp.h`.
PLACES = {
    "ca_state": (1, "B"),
    "rto_us": (8, "I"),
    "unacked": (24, "I"),
    "sacked": (28, "I"),
    "lost": (32, "I"),
    "retrans": (36, "I"),
    "rtt_us": (68, "I"),
    "rttvar_us": (72, "I"),
    "ssthresh": (76, "I"),
    "cwnd": (80, "I"),
    "reordering": (88, "I"),
    "total_retrans": (100, "I"),
    "pacing_rate": (104, "Q"),
    "bytes_acked": (120, "Q"),
    "min_rtt_us": (148, "I"),
    "data_segs_out": (156, "I"),
    "rwnd_limited_us": (176, "Q"),
    "sndbuf_limited_us": (184, "Q"),
    "delivered": (192, "I"),
    "delivered_ce": (196, "I"),
    "snd_wnd": (228, "I"),
    "total_rto": (240, "H"),
}


class Kernel:
    """A socket whose kernel reports these bytes."""

    def __init__(self, content):
        self.content = content

    def getsockopt(self, level, option, size):
        assert (level, option) == (socket.IPPROTO_TCP, socket.TCP_INFO)
        return self.content[:size]


def test_each_field_is_read_from_its_place():
    content = bytearray(b"\xff" * 256)
    for number, (offset, kind) in enumerate(PLACES.values(), 1):
        struct.pack_into(f"={kind}", content, offset, number)
    found = tcp_info.read(Kernel(bytes(content)))
    assert found._asdict() == {name: number for number, name in enumerate(PLACES, 1)}


def test_fields_that_an_older_kernel_does_not_have_are_0():
    """That of Linux 4.6 ends after min_rtt and the data segments."""
    found = tcp_info.read(Kernel(b"\x01" * 160))
    assert found.data_segs_out == 0x01010101
    assert (found.rwnd_limited_us, found.delivered, found.snd_wnd, found.total_rto) == (0,) * 4
