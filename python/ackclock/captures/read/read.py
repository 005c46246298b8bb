"""Opens a capture or a log, whatever its format, and reads it.

A file is known by its first bytes, not by its name; gzip and zstd are unpacked up to the same
bound of size that holds for plain files.
"""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import IO

from ackclock._util.foreign_files import MOST_BYTES, ForeignFileError, open_file, unpack
from ackclock._util.json_text import JsonError, parse_json
from ackclock.captures.read.connections import flows_of_packets
from ackclock.captures.read.logs import is_ss_log, trace_of_json, trace_of_lines, trace_of_ss
from ackclock.captures.read.ns2 import is_ns2, trace_of_ns2
from ackclock.captures.read.packets import is_capture, read_packets
from ackclock.captures.read.qlog import is_qlog, trace_of_qlog
from ackclock.captures.trace import CaptureError, Trace

__all__ = ["FORMS", "read_trace"]

FORMS = ("pcap", "pcapng", "qlog", "ss", "iperf3", "flent", "ndt7", "tcp-info", "ns2")
"""Formats that are read."""

MOST_CAPTURE = 4 * 2**30
"""Largest capture [bytes], which is not held in memory."""


def read_trace(
    path: str | Path,
    *,
    interface: int | None = None,
    interval_s: float = 1.0,
    keep_addresses: bool = False,
) -> Trace:
    """Read a capture or a log.

    Parameters
    ----------
    path
        The file.
    interface
        Number of the interface of a capture, or of the node of a trace of ns-2; left out: where
        packets were seen first.
    interval_s
        Time between two outputs of ``ss`` where the log has no times [s].
    keep_addresses
        Whether flows have the addresses of their ends.

    Raises
    ------
    CaptureError
        It is not of a known format, or is larger than what is read.
    OSError
        It cannot be opened.
    """
    path = Path(path)
    with open_file(path, links=True) as file:
        head = file.read(8192)
        if is_capture(head):
            if os.fstat(file.fileno()).st_size > MOST_CAPTURE:
                raise CaptureError(f"{path}: it has more than {MOST_CAPTURE / 2**30:g} GiB")
            file.seek(0)
            return _packets(file, path, interface, keep_addresses=keep_addresses)
        file.seek(0)
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise ForeignFileError(path, f"it has more than {MOST_BYTES / 2**20:g} MiB")
    try:
        data = unpack(data, path)
    except ForeignFileError as error:
        raise CaptureError(str(error)) from None
    head = data[:8192]
    if is_capture(head):
        return _packets(io.BytesIO(data), path, interface, keep_addresses=keep_addresses)
    if is_ns2(head):
        return trace_of_ns2(data, path, interface, keep_addresses=keep_addresses)
    if interface is not None:
        raise CaptureError(f"{path}: it has no interfaces; leave --interface out")
    if is_qlog(head):
        return trace_of_qlog(data, path)
    if is_ss_log(head):
        text = data.decode("utf-8", "replace")
        return trace_of_ss(text, path, interval_s=interval_s, keep_addresses=keep_addresses)
    return _json(data, path)


def _packets(file: IO[bytes], path: Path, interface: int | None, *, keep_addresses: bool) -> Trace:
    packets = read_packets(file, path)
    if not packets.segments:
        raise CaptureError(f"{path}: it has no TCP segments and no datagrams")
    return flows_of_packets(packets, path, point=interface, keep_addresses=keep_addresses)


def _json(data: bytes, path: Path) -> Trace:
    expected = f"expected {', '.join(FORMS[:-1])} or {FORMS[-1]}"
    if data.lstrip()[:1] not in (b"{", b"["):
        raise CaptureError(f"{path}: its format is not known; {expected}")
    try:
        document = parse_json(data)
    except JsonError as error:
        lines = data.split(b"\n", 1)
        if len(lines) > 1 and lines[1].strip()[:1] == b"{":
            return trace_of_lines(data, path)
        raise CaptureError(f"{path}: {error}") from None
    if isinstance(document, dict) and ("Snapshot" in document or "TCPInfo" in document):
        return trace_of_lines(data, path)
    return trace_of_json(document, path)
