"""Writes recorded packets as pcapng: TCP over IPv4 with its options, headers only.

The capture is that of a tap on one link: packets as they leave either end. A segment of the
simulation becomes one of TCP at byte ``1 + number x MSS`` (the SYN has 0); what acknowledges the
last one, which may be short, is one higher for its FIN. A packet of QUIC, whose contents would be
encrypted, is a UDP datagram. Payload is zeros and is not stored; lengths and checksums are those of
the whole packet.
"""

from __future__ import annotations

import json
import struct
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import UnsupportedError, suggestion
from ackclock.results.formats.pcapng_blocks import NANOSECONDS, interface, section, write_packet
from ackclock.results.formats.recorded import write_whole
from ackclock.results.formats.tcp_sizes import TIMESTAMPS, Sizes, TcpSizes, tcp_sizes
from ackclock.results.formats.tcp_timestamps import Stamp, Way, stamps
from ackclock.results.packet_case import without_code

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ackclock.results.formats.recorded import Recorded

__all__ = ["write"]

# Bits of the column `flags`, as in the core's wire format.
_ACK, _SYN, _ECT, _CE, _ECE, _CWR = 1, 2, 4, 8, 16, 32
_FIN, _DATAGRAM = 256, 512
_HEADERS = 40  # IPv4 and TCP without options.


def _checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


def _address(index: int) -> bytes:
    return bytes([10, (index >> 16) & 255, (index >> 8) & 255, index & 255])


def _reverse(link: str) -> str:
    if "->" in link:
        a, b = link.split("->", 1)
        return f"{b}->{a}"
    return link.removesuffix(":back") if link.endswith(":back") else f"{link}:back"


class _Flow:
    """Addresses and numbering of one flow."""

    def __init__(
        self,
        index: int,
        ends: tuple[bytes, bytes],
        sizes: Sizes,
        settings: TcpSizes | None,
        *,
        is_quic: bool = False,
    ) -> None:
        self.sender, self.receiver = ends
        self.is_quic = is_quic
        self.ports = struct.pack("!HH", 1024 + index % 60_000, 5001)
        self.back_ports = self.ports[2:] + self.ports[:2]
        self.timestamps = settings is not None and settings.timestamps
        self.headers = _HEADERS + TIMESTAMPS * self.timestamps
        full = (sizes.largest or 1500) if settings is None else settings.full
        self.mss = max(1, full - self.headers)
        # ns-2 numbers the SYN as segment 0; then data begins at 1.
        self.first = 1 if settings is None and sizes.has_syn else 0
        self.last = sizes.last
        self.identification = 0

    def sequence(self, segment: int) -> int:
        """Byte number of a segment."""
        start = 1 + max(0, segment - self.first) * self.mss
        if self.last is not None and segment > self.last[0]:
            # RFC 9293 section 3.4: the FIN has a number too.
            missing = self.mss - max(0, self.last[1] - self.headers)
            start += 1 - missing
        return start & 0xFFFFFFFF

    def packet(self, row: dict[str, Any], stamp: Stamp | None) -> tuple[bytes, int]:
        """The headers of one packet, and its length on the wire."""
        flags, size, is_ack = row["flags"], row["size_bytes"], row["is_ack"]
        source, target = (self.receiver, self.sender) if is_ack else (self.sender, self.receiver)
        ports = self.back_ports if is_ack else self.ports
        if flags & _DATAGRAM or self.is_quic:
            length = max(size, 28)
            segment = ports + struct.pack("!HH", length - 20, 0)
            protocol, checksum_at = 17, 6
        else:
            options = self._options(row, stamp or Stamp())
            header = 20 + len(options)
            has_data = not is_ack and not flags & _SYN
            length = max(size, 20 + header) if has_data else 20 + header
            bits = self._bits(flags, is_ack=is_ack)
            sequence, acknowledged = self._numbers(row)
            segment = (
                ports
                + struct.pack("!II", sequence, acknowledged)
                + struct.pack("!BBHHH", header // 4 << 4, bits, 0xFFFF, 0, 0)
                + options
            )
            protocol, checksum_at = 6, 16
        pseudo = source + target + struct.pack("!BBH", 0, protocol, length - 20)
        check = _checksum(pseudo + segment)
        if protocol == 17 and check == 0:
            check = 0xFFFF
        segment = segment[:checksum_at] + struct.pack("!H", check) + segment[checksum_at + 2 :]
        ecn = 3 if flags & _CE else 2 if flags & _ECT else 0
        self.identification = (self.identification + 1) & 0xFFFF
        ip = struct.pack(
            "!BBHHHBBH", 0x45, ecn, length, self.identification, 0x4000, 64, protocol, 0
        )
        ip += source + target
        return ip[:10] + struct.pack("!H", _checksum(ip)) + ip[12:] + segment, max(length, size)

    def _options(self, row: dict[str, Any], stamp: Stamp) -> bytes:
        times = b""
        if self.timestamps:
            times = b"\x08\x0a" + struct.pack("!II", stamp.value, stamp.echo)
        if row["flags"] & _SYN:
            # MSS, SACK permitted, timestamps or padding, window scale 14.
            mss = b"\x02\x04" + struct.pack("!H", min(self.mss, 0xFFFF))
            return (
                mss
                + b"\x04\x02"
                + (times + b"\x01" if times else b"\x01\x01\x01")
                + b"\x03\x03\x0e"
            )
        if times:
            times = b"\x01\x01" + times
        blocks = b""
        for number in (1, 2, 3):
            start, end = row.get(f"sack{number}_start", 0), row.get(f"sack{number}_end", 0)
            if end > start:
                blocks += struct.pack("!II", self.sequence(start), self.sequence(end))
        return times + (b"\x01\x01\x05" + bytes([2 + len(blocks)]) + blocks if blocks else b"")

    def _bits(self, flags: int, *, is_ack: bool) -> int:
        first = flags & _SYN and not is_ack
        bits = 0 if first else 0x10
        bits |= 0x02 if flags & _SYN else 0
        bits |= 0x01 if flags & _FIN and not is_ack else 0
        bits |= 0x40 if flags & _ECE else 0
        return bits | (0x80 if flags & _CWR else 0)

    def _numbers(self, row: dict[str, Any]) -> tuple[int, int]:
        if row["flags"] & _SYN:
            return (0, 1) if row["is_ack"] else (0, 0)
        if row["is_ack"]:
            return 1, self.sequence(row["seq"])
        return self.sequence(row["seq"]), 1


def _busiest(links: list[str]) -> str:
    names, counts = np.unique(np.asarray(links), return_counts=True)
    return str(names[int(np.argmax(counts))])


def write(run: Recorded, path: Path, link: str | None = None) -> Path:
    """Write the packets that left one link, either way.

    Parameters
    ----------
    run
        Its table ``packets`` must have been recorded.
    path
        File to write.
    link
        Its name in either direction; None: the link that carried most.

    Returns
    -------
    Path
        The file.
    """
    packets, summary, scenario = (
        run.table("packets"),
        run.summary,
        without_code(run.scenario).core_json(),
    )
    rows = packets.to_pylist()
    for row in rows:
        row.setdefault("flags", _ACK if row["is_ack"] else 0)
    link_names = [str(entry["id"]) for entry in summary["links"]]
    if link is None:
        left = [str(row["link"]) for row in rows if row["event"] == "departure"]
        if not left:
            raise UnsupportedError("no packet left any link, so there is nothing to write")
        link = _busiest(left)
    elif link not in link_names:
        raise UnsupportedError(f'there is no link "{link}"; {suggestion(link, link_names)}')
    both = [link, *(name for name in [_reverse(link)] if name in link_names)]
    flows = _flows(summary, scenario, rows)
    comment = f"scenario {summary['scenario_hash']}, seed {summary['seed']}"
    chunks = [section(f"ackclock {summary['version']}", comment), *map(interface, both)]
    # The core knows when a transmission begins as soon as the packet arrives; a tap sees it then.
    rows.sort(key=lambda row: float(row["time_s"]))
    for row, stamp in zip(rows, _stamps(summary, scenario, rows, flows), strict=True):
        if row["event"] == "departure" and row["link"] in both:
            data, length = flows[str(row["flow"])].packet(row, stamp)
            time_ns = round(row["time_s"] * 10**NANOSECONDS)
            chunks.append(write_packet(both.index(str(row["link"])), time_ns, data, length))
    return write_whole(path, b"".join(chunks))


def _stamps(
    summary: Mapping[str, Any], scenario: str, rows: list[dict[str, Any]], flows: dict[str, _Flow]
) -> list[Stamp | None]:
    ends = {
        str(flow["id"]): (str(flow["src"]), str(flow["dst"]))
        for flow in summary["flows"]
        if flows[str(flow["id"])].timestamps and not flows[str(flow["id"])].is_quic
    }
    if not ends:
        return [None] * len(rows)
    from ackclock import _core

    # The summary has a link's first rate: arrivals over one that changes are not known.
    links = json.loads(_core.explain(scenario))["links"]
    varying = {str(link["id"]) for link in links if link["varies"]}
    ways = {
        str(link["id"]): Way(
            str(link["src"]),
            str(link["dst"]),
            None if str(link["id"]) in varying else float(link["rate_bps"]),
            float(link["propagation_s"]),
        )
        for link in summary["links"]
    }
    return stamps(rows, ways, ends)


def _flows(
    summary: Mapping[str, Any], scenario: str, rows: list[dict[str, Any]]
) -> dict[str, _Flow]:
    nodes: dict[str, int] = {}
    sizes = {str(flow["id"]): Sizes() for flow in summary["flows"]}
    for row in rows:
        sizes[str(row["flow"])].see(row)
    settings = tcp_sizes(summary, scenario)
    flow_of_name = {}
    for index, flow in enumerate(summary["flows"]):
        name = str(flow["id"])
        ends = tuple(
            _address(1 + nodes.setdefault(str(flow[end]), len(nodes))) for end in ("src", "dst")
        )
        # The table does not say which entry of the scenario made the flow; its lengths do.
        fitting = [candidate for candidate in settings if sizes[name].fit(candidate)] or settings
        tcp_size = fitting[0] if fitting else None
        is_over = flow["completed_after_s"] is not None
        if tcp_size is not None and is_over and sizes[name].last is None:
            # The link was recorded in the acknowledgements' direction alone.
            count = flow["delivered_packets"]
            missing = count * tcp_size.mss - flow["delivered_bytes"]
            sizes[name].last = count - 1, tcp_size.full - missing
        quic = flow["recovery"] == "quic"
        flow_of_name[name] = _Flow(index, (ends[0], ends[1]), sizes[name], tcp_size, is_quic=quic)
    return flow_of_name
