"""iperf3's JSON (iperf3(1), option ``--json``), for paths and for captures.

Intervals that iperf3 omits (``-O``) are left out. A file that lacks a number, or has something else
in its place, is refused with the place in the document.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

__all__ = [
    "Iperf3Error",
    "Iperf3Sample",
    "Iperf3Total",
    "read_iperf3_streams",
    "read_iperf3_totals",
]


class Iperf3Error(ValueError):
    """A document is not iperf3's: one sentence without the file's name."""


class Iperf3Total(NamedTuple):
    """What all streams of a test did in an interval."""

    start_s: float
    """Begin of the interval [s], at least 0."""
    end_s: float
    """Its end [s]."""
    rate_bps: float
    """Rate [bit/s], at least 0."""
    lost: float
    """Share of datagrams that were lost, 0 to 1; NaN of TCP."""


class Iperf3Sample(NamedTuple):
    """What a stream of a test did in an interval."""

    stream: str
    """Name of the stream: its socket."""
    start_s: float
    """Start of the interval [s], at least 0; NaN if it is not known."""
    end_s: float
    """End of the interval [s], at least 0."""
    size: float
    """Bytes that were written, or read by a receiver, at least 0."""
    retransmits: float
    """Segments that were sent again; NaN if it is not known."""
    cwnd_bytes: float
    """Congestion window at the end; NaN if it is not known."""
    rtt_s: float
    """Smoothed round trip at the end [s]; NaN if it is not known."""
    is_of_receiver: bool
    """Whether the receiver wrote it."""


def read_iperf3_totals(document: Any) -> list[Iperf3Total]:
    """Read the intervals of a test, of all streams together.

    Parameters
    ----------
    document
        The data of the file.

    Raises
    ------
    Iperf3Error
        It is not what iperf3 writes.
    """
    totals = []
    for number, interval in enumerate(_intervals(document)):
        where = f"intervals[{number}].sum"
        total = interval.get("sum")
        total = total if isinstance(total, dict) else {}
        start, end, rate = (_amount(total, where, k) for k in ("start", "end", "bits_per_second"))
        if total.get("omitted") is True:
            continue
        share = _amount(total, where, "lost_percent", math.nan)
        if share > 100:
            raise Iperf3Error(f"{where}.lost_percent: is {share:g}, expected 0 to 100")
        totals.append(Iperf3Total(start, end, rate, share / 100))
    return totals


def read_iperf3_streams(document: Any) -> list[Iperf3Sample]:
    """Read the intervals of a test, of each stream.

    Parameters
    ----------
    document
        The data of the file.

    Raises
    ------
    Iperf3Error
        It is not what iperf3 writes.
    """
    samples = []
    for number, interval in enumerate(_intervals(document)):
        for index, stream in enumerate(_tables(interval, f"intervals[{number}].", "streams")):
            where = f"intervals[{number}].streams[{index}]"
            end, size = (_amount(stream, where, key) for key in ("end", "bytes"))
            start = _amount(stream, where, "start", math.nan)
            again, cwnd, rtt = (
                _amount(stream, where, key, math.nan) for key in ("retransmits", "snd_cwnd", "rtt")
            )
            if stream.get("omitted") is True:
                continue
            name, receives = str(stream.get("socket"))[:40], stream.get("sender") is False
            figures = (size, again, cwnd, rtt / 1e6, receives)
            samples.append(Iperf3Sample(name, start, end, *figures))
    return samples


def _intervals(document: Any) -> list[dict[str, Any]]:
    if not isinstance(document, dict):
        raise Iperf3Error("it is not iperf3's JSON; expected a table with intervals")
    intervals = _tables(document, "", "intervals")
    failure = document.get("error")
    if not intervals and isinstance(failure, str):
        raise Iperf3Error(f'it has no interval, since iperf3 failed: "{failure[:200]}"')
    return intervals


def _tables(row: dict[str, Any], where: str, key: str) -> list[dict[str, Any]]:
    rows = row.get(key)
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise Iperf3Error(f"{where}{key}: expected a list of tables")
    return rows


def _amount(row: dict[str, Any], where: str, key: str, absent: float | None = None) -> float:
    """A number that is not negative; if there is none `absent`, where that is allowed."""
    if absent is not None and key not in row:
        return absent
    value = row.get(key)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < math.inf:
        raise Iperf3Error(f"{where}.{key}: expected a number of 0 or more")
    return float(value)
