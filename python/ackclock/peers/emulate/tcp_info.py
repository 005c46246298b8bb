"""What the kernel reports of a TCP socket: the fields of `struct tcp_info` that are kept.

Source: `include/uapi/linux/tcp.h`; fields are only ever appended, so that the offsets hold.
"""

from __future__ import annotations

import socket
import struct
from typing import NamedTuple

_SIZE = 256
_HEAD = struct.Struct("=8B24I4Q")  # up to tcpi_bytes_received
_LATER = struct.Struct("=6IQ3Q2I2Q2I")  # tcpi_segs_out to tcpi_reord_seen


class TcpInfo(NamedTuple):
    """A part of `struct tcp_info`, in the kernel's units."""

    ca_state: int
    rto_us: int
    unacked: int
    sacked: int
    lost: int
    retrans: int
    rtt_us: int
    rttvar_us: int
    ssthresh: int
    cwnd: int
    reordering: int
    total_retrans: int
    pacing_rate: int
    bytes_acked: int
    min_rtt_us: int
    delivered: int
    snd_wnd: int
    rwnd_limited_us: int
    sndbuf_limited_us: int
    data_segs_out: int
    delivered_ce: int
    total_rto: int


def read(connection: socket.socket) -> TcpInfo:
    """Read the state of `connection` now."""
    raw = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, _SIZE)
    raw = raw.ljust(_SIZE, b"\0")
    head = _HEAD.unpack_from(raw)
    fields = head[8:32]
    later = _LATER.unpack_from(raw, _HEAD.size)
    return TcpInfo(
        ca_state=head[1],
        rto_us=fields[0],
        unacked=fields[4],
        sacked=fields[5],
        lost=fields[6],
        retrans=fields[7],
        rtt_us=fields[15],
        rttvar_us=fields[16],
        ssthresh=fields[17],
        cwnd=fields[18],
        reordering=fields[20],
        total_retrans=fields[23],
        pacing_rate=head[32],
        bytes_acked=head[34],
        min_rtt_us=later[3],
        delivered=later[10],
        snd_wnd=struct.unpack_from("=I", raw, 228)[0],
        rwnd_limited_us=later[8],
        sndbuf_limited_us=later[9],
        data_segs_out=later[5],
        delivered_ce=later[11],
        total_rto=struct.unpack_from("=H", raw, 240)[0],
    )
