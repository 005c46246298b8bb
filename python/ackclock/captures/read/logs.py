"""Reads logs of counters: ``ss -tin``, iperf3, Flent, ndt7 and tcp-info of M-Lab.

They have samples of each connection, not packets, so that what happened between two samples is not
known. Of the files that M-Lab's tcp-info archives each record is the kernel's ``tcp_info`` itself.

Sources: ss(8) of iproute2; iperf3(1), option ``--json``; the data format of Flent's documentation;
``spec/ndt7-protocol.md`` and ``spec/data-format.md`` of m-lab/ndt-server; ``snapshot`` and
``netlink`` of m-lab/tcp-info, whose ``TCPInfo`` is that of Linux (``linux/tcp.h``,
``linux/inet_diag.h``).
"""

from __future__ import annotations

import base64
import binascii
import math
import re
import struct
from collections import defaultdict
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.json_text import JsonError, parse_json
from ackclock.captures.read.qlog import number_of
from ackclock.captures.trace import SAMPLES, CaptureError, FlowTrace, Trace, columns
from ackclock.scenario.paths.iperf3_log import Iperf3Error, read_iperf3_streams

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

__all__ = ["is_ss_log", "trace_of_json", "trace_of_lines", "trace_of_ss"]

MOST_ROWS = 2_000_000
"""Most samples of a file."""

_TIME = re.compile(r"^\s*(?:#\s*)?(?:time:?\s*)?(\d{9,19}(?:\.\d{1,9})?)\s*$", re.IGNORECASE)
_DIGITS_OF_SECONDS = 11
_STAMP = re.compile(r"^\s*(?:#\s*)?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S{0,20})\s*$")
_FIELD = re.compile(r"(?:^|\s)([a-z_]{2,20})[: ]([0-9][0-9./,:a-zA-Z]{0,40})")
_END = re.compile(r"[\w.:%*\[\]]{0,50}[.:*\]][\w.:%*\[\]]{0,50}:(?:\d{1,5}|[a-z][\w-]{0,20})")
_CONTROL = re.compile(r"^[a-z][a-z0-9_]{1,15}$")

Row = dict[str, float]


def _flow(name: str, rows: list[Row], control: str | None, doubts: list[str]) -> FlowTrace:
    """A flow of samples, each with what the log has of `SAMPLES`."""
    nan = math.nan
    rows = sorted(rows, key=lambda row: row["time_s"])
    values = [tuple(row.get(column, nan) for column in SAMPLES) for row in rows]
    flow = FlowTrace(name, "tcp", position="sender", control=control, doubts=doubts)
    flow.samples = columns(values, dict.fromkeys(SAMPLES, np.float64))
    pairs = [(row["time_s"], row["rtt_s"]) for row in rows if row.get("rtt_s", 0) > 0]
    flow.rtts = columns(pairs, {"time_s": np.float64, "rtt_s": np.float64})
    delivered = flow.samples["delivered_bytes"]
    total = np.nanmax(delivered) if len(delivered) and not np.isnan(delivered).all() else 0
    losses = [row.get("retransmitted_packets", nan) for row in rows]
    retransmitted = max((x for x in losses if not math.isnan(x)), default=nan)
    flow.facts = {"stream_bytes": int(total), "mss": None, "rtt_samples": len(pairs)}
    mss = [row["mss"] for row in rows if row.get("mss", 0) > 0]
    if mss:
        flow.facts["mss"] = int(mss[-1])
    if not math.isnan(retransmitted):
        flow.facts["retransmitted_packets"] = int(retransmitted)
    least = [row["min_rtt_s"] for row in rows if row.get("min_rtt_s", 0) > 0]
    if least:
        flow.facts["least_rtt_s"] = min(least)
    flow.doubts.append(
        "samples of counters: what happened between two of them is not known; retransmissions are"
        " not kept apart from losses"
    )
    return flow


def _trace(form: str, flows: list[FlowTrace], doubts: list[str], path: Path) -> Trace:
    flows = [flow for flow in flows if len(flow.samples["time_s"])]
    if not flows:
        raise CaptureError(f"{path}: the {form} log has no samples of a connection")
    flows.sort(key=lambda flow: -int(flow.facts["stream_bytes"]))
    for number, flow in enumerate(flows, 1):
        flow.name = str(number)
    return Trace(form, flows, None, doubts, {})


def is_ss_log(head: bytes) -> bool:
    """Whether a file is what ``ss -tin`` printed.

    Parameters
    ----------
    head
        Its first bytes.
    """
    return b"cwnd:" in head and b"rtt:" in head


def trace_of_ss(text: str, path: Path, *, interval_s: float, keep_addresses: bool) -> Trace:
    """Read what ``ss -tin`` printed again and again.

    A line with a time (seconds since 1970, or ISO 8601) before each output is its time.

    Parameters
    ----------
    text
        The log.
    path
        The file, for messages.
    interval_s
        Time between two outputs where the log has no times [s].
    keep_addresses
        Whether flows have the addresses of their ends.
    """
    rows: dict[str, list[Row]] = defaultdict(list)
    controls: dict[str, str] = {}
    clock: float | None = None
    zero: float | None = None
    counts: dict[str, int] = defaultdict(int)
    ends = ""
    for line in text.splitlines():
        time = _time(line)
        if time is not None:
            clock = time
            zero = time if zero is None else zero
            continue
        ends = _ends(line) or ends
        if "cwnd:" in line:
            counts[ends] += 1
            time_s = clock - (zero or 0) if clock is not None else counts[ends] * interval_s
            row, control = _ss_row(line)
            rows[ends].append({**row, "time_s": time_s})
            if control:
                controls[ends] = control
            if sum(counts.values()) > MOST_ROWS:
                raise CaptureError(f"{path}: it has more than {MOST_ROWS:,} samples")
    doubts = []
    if clock is None:
        doubts.append(
            f"the log has no times: {interval_s:g} s between two outputs is assumed (--interval);"
            " print `date +%s.%N` before each"
        )
    flows = []
    for name, samples in rows.items():
        flow = _flow("", samples, controls.get(name), [])
        if keep_addresses and name:
            left, right = name.split()
            flow.ends = left, right
        flows.append(flow)
    return _trace("ss", flows, doubts, path)


def _ends(line: str) -> str:
    """Both addresses of a line that has them, which may have the counters too."""
    words = line.split()[:20]
    if "cwnd:" not in line:
        named = len(words) >= 4 and all(":" in word for word in words[-2:])
        return " ".join(words[-2:])[:200] if named else ""
    for left, right in pairwise(words):
        if _END.fullmatch(left) and _END.fullmatch(right):
            return f"{left} {right}"
    return ""


def _time(line: str) -> float | None:
    if match := _TIME.match(line):
        # Of seconds, milliseconds, microseconds or nanoseconds since 1970, by the digits.
        whole = len(match[1].partition(".")[0])
        return float(match[1]) / 1000.0 ** max(0, -(-(whole - _DIGITS_OF_SECONDS) // 3))
    if match := _STAMP.match(line):
        try:
            return datetime.fromisoformat(match[1].replace(",", ".")).timestamp()
        except (ValueError, OverflowError, OSError):
            return None
    return None


def _ss_row(line: str) -> tuple[Row, str | None]:
    values = dict(_FIELD.findall(line[:4000]))

    def value(name: str, divisor: float = 1.0) -> float:
        return number_of(re.split(r"[/,a-zA-Z]", values.get(name, "nan"))[0] or "nan") / divisor

    retrans = values.get("retrans", "").partition("/")[2]
    mss = value("mss")
    row = {
        "delivered_bytes": value("bytes_acked"),
        "flight_bytes": value("unacked") * mss if "unacked" in values else 0.0,
        "cwnd_bytes": value("cwnd") * mss,
        "srtt_s": value("rtt", 1e3),
        "rtt_s": value("rtt", 1e3),
        "min_rtt_s": value("minrtt", 1e3),
        "retransmitted_packets": number_of(retrans) if retrans else 0.0,
        "mss": mss,
    }
    row["outstanding_bytes"] = row["flight_bytes"]
    flags = {"ts", "sack", "ecn", "ecnseen", "fastopen", "tcp"}
    control_words = [
        word for word in line.split()[:12] if _CONTROL.match(word) and word not in flags
    ]
    return row, control_words[0] if control_words else None


def trace_of_json(document: Any, path: Path) -> Trace:
    """Read the JSON of iperf3, Flent or ndt7.

    Parameters
    ----------
    document
        The data of the file.
    path
        Its name, for messages.
    """
    if isinstance(document, dict):
        if isinstance(document.get("intervals"), list):
            return _iperf3(document, path)
        if "x_values" in document and isinstance(document.get("results"), dict):
            return _flent(document, path)
        sides = [document.get(side) for side in ("Download", "Upload")]
        if any(isinstance(side, dict) and "ServerMeasurements" in side for side in sides):
            return _ndt7(document, path)
    message = "expected a qlog, or JSON of iperf3, Flent or ndt7"
    raise CaptureError(f"{path}: it is JSON of no known kind; {message}")


def _iperf3(document: dict[str, Any], path: Path) -> Trace:
    rows: dict[str, list[Row]] = defaultdict(list)
    delivered: dict[str, float] = defaultdict(float)
    lost: dict[str, float] = defaultdict(float)
    try:
        intervals = document["intervals"][:MOST_ROWS]
        samples = read_iperf3_streams(document | {"intervals": intervals})
    except Iperf3Error as error:
        raise CaptureError(f"{path}: {error}") from None
    for sample in samples:
        name, again = sample.stream, sample.retransmits
        if name not in rows and not math.isnan(sample.start_s):
            rows[name].append({"time_s": sample.start_s, "delivered_bytes": 0.0})
        delivered[name] += sample.size
        lost[name] += 0 if math.isnan(again) else again
        rows[name].append({
            "time_s": sample.end_s, "delivered_bytes": delivered[name],
            "cwnd_bytes": sample.cwnd_bytes, "srtt_s": sample.rtt_s, "rtt_s": sample.rtt_s,
            "retransmitted_packets": math.nan if math.isnan(again) else lost[name],
        })  # fmt: skip
    receiving = any(sample.is_of_receiver for sample in samples)
    ended = document.get("end")
    control = ended.get("sender_tcp_congestion") if isinstance(ended, dict) else None
    started = document.get("start")
    mss = number_of(started.get("tcp_mss_default")) if isinstance(started, dict) else math.nan
    flows = []
    for of_stream in rows.values():
        for row in of_stream:
            row["mss"] = mss
        doubts = ["bytes are those that the program wrote, part of which were still to be sent"]
        if receiving:
            doubts = ["written by the receiver: no round trips, window or retransmissions"]
        flows.append(_flow("", of_stream, _control(control), doubts))
    return _trace("iperf3", flows, [], path)


def _control(value: Any) -> str | None:
    return value if isinstance(value, str) and _CONTROL.match(value) else None


_FLENT_FLOW = re.compile(r"TCP (up|down)load(?:::\d+| [A-Z]{2}\d{0,3}| \d+)?(?: [\w.:-]+)?$")
_FLENT_SUMS = ("avg", "sum", "fairness")


def _flent(document: dict[str, Any], path: Path) -> Trace:
    times = document["x_values"]
    times = [number_of(x) for x in times[:MOST_ROWS]] if isinstance(times, list) else []
    raw = document.get("raw_values")
    raw = raw if isinstance(raw, dict) else {}
    metadata = document.get("metadata")
    series = metadata.get("SERIES_META") if isinstance(metadata, dict) else None
    series = series if isinstance(series, dict) else {}
    flows = []
    for name, rates in document["results"].items():
        if not _FLENT_FLOW.match(str(name)) or str(name).endswith(_FLENT_SUMS):
            continue
        meta = series.get(name)
        meta = meta if isinstance(meta, dict) else {}
        step = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
        samples, delivered = [], 0.0
        for time_s, rate in zip(times, rates if isinstance(rates, list) else (), strict=False):
            bits = number_of(rate) * 1e6
            if not math.isnan(bits) and not math.isnan(time_s):
                delivered += bits * step / 8
                samples.append({"time_s": time_s, "delivered_bytes": delivered})
        samples += _flent_raw(raw.get(name), times[0] if times else 0.0)
        flow = _flow("", samples, _control(meta.get("CONG_CONTROL")), [])
        flow.doubts.append("bytes are goodput times interval; round trips are smoothed")
        flows.append(flow)
    return _trace("flent", flows, ["pings are not used"] if "Ping (ms) ICMP" in raw else [], path)


def _flent_raw(values: Any, first_s: float) -> list[Row]:
    rows: list[Row] = []
    zero: float | None = None
    for entry in values[:MOST_ROWS] if isinstance(values, list) else ():
        if not isinstance(entry, dict):
            continue
        time, rtt = number_of(entry.get("t")), number_of(entry.get("tcp_rtt"))
        cwnd = number_of(entry.get("tcp_cwnd"))
        if math.isnan(time) or (math.isnan(rtt) and math.isnan(cwnd)):
            continue
        if zero is None:
            zero = time - first_s if time > 1e9 else 0.0
        rows.append({
            "time_s": time - zero, "srtt_s": rtt / 1e3, "rtt_s": rtt / 1e3,
            "cwnd_bytes": cwnd * 1448,
        })  # fmt: skip
    return rows


_INFO = {
    "delivered_bytes": ("BytesAcked", 1.0),
    "srtt_s": ("RTT", 1e6),
    "rtt_s": ("RTT", 1e6),
    "min_rtt_s": ("MinRTT", 1e6),
    "retransmitted_packets": ("TotalRetrans", 1.0),
    "mss": ("SndMSS", 1.0),
}


def _info_row(info: dict[str, Any], time_s: float) -> Row:
    row = {name: number_of(info.get(key)) / unit for name, (key, unit) in _INFO.items()}
    flight = number_of(info.get("Unacked", info.get("UnAcked"))) * row["mss"]
    cwnd = number_of(info.get("SndCwnd")) * row["mss"]
    row |= {"cwnd_bytes": cwnd, "outstanding_bytes": flight, "flight_bytes": flight}
    return {**row, "time_s": time_s}


def _ndt7(document: dict[str, Any], path: Path) -> Trace:
    flows = []
    for side in ("Download", "Upload"):
        measured = document.get(side)
        entries = measured.get("ServerMeasurements") if isinstance(measured, dict) else None
        rows = []
        for entry in entries[:MOST_ROWS] if isinstance(entries, list) else ():
            info = entry.get("TCPInfo") if isinstance(entry, dict) else None
            time = number_of(info.get("ElapsedTime")) if isinstance(info, dict) else math.nan
            if isinstance(info, dict) and not math.isnan(time):
                rows.append(_info_row(info, time / 1e6))
        is_download = side == "Download"
        control = None
        if is_download and any(isinstance(e, dict) and "BBRInfo" in e for e in entries or ()):
            control = "bbr"
        doubts = [] if is_download else ["an upload, seen by its receiver: few counters apply"]
        flows.append(_flow("", rows, control, doubts))
    return _trace("ndt7", flows, [], path)


_INFO_NUMBER, _CONTROL_NUMBER = 2, 4
"""Of attributes of ``inet_diag``: the kernel's counters, and the name of the control."""
_OFFSETS = {
    "SndMSS": ("I", 16), "Unacked": ("I", 24), "RTT": ("I", 68), "SndCwnd": ("I", 80),
    "TotalRetrans": ("I", 100), "BytesAcked": ("Q", 120), "MinRTT": ("I", 148),
}  # fmt: skip
"""Where ``struct tcp_info`` has what."""


def _archived(attributes: Any, number: int, read: Callable[[bytes], Any]) -> Any:
    """An attribute of a record that tcp-info archived; None if there is none."""
    if not isinstance(attributes, list) or len(attributes) <= number:
        return None
    text = attributes[number]
    if not isinstance(text, str):
        return None
    try:
        return read(base64.b64decode(text[:4096], validate=True))
    except (binascii.Error, ValueError):
        return None


def _unpack_info(data: bytes) -> dict[str, int]:
    """The counters of ``struct tcp_info``, of little endian, as far as the kernel had them."""
    return {
        name: struct.unpack_from(f"<{kind}", data, offset)[0]
        for name, (kind, offset) in _OFFSETS.items()
        if offset + struct.calcsize(kind) <= len(data)
    }


def _name(data: bytes) -> str:
    return data.split(b"\0")[0].decode("ascii", "replace")


def trace_of_lines(data: bytes, path: Path) -> Trace:
    """Read lines of JSON of M-Lab's tcp-info.

    Parameters
    ----------
    data
        The file.
    path
        Its name, for messages.
    """
    rows: dict[str, list[Row]] = defaultdict(list)
    zero: float | None = None
    control: str | None = None
    broken = 0
    for line in data.splitlines()[:MOST_ROWS]:
        try:
            entry = parse_json(line) if line.strip() else None
        except JsonError:
            broken += 1
            continue
        if not isinstance(entry, dict):
            continue
        snapshot = entry.get("Snapshot", entry)
        info = snapshot.get("TCPInfo") if isinstance(snapshot, dict) else None
        if info is None and isinstance(snapshot, dict):
            info = _archived(snapshot.get("Attributes"), _INFO_NUMBER, _unpack_info)
            control = _archived(snapshot.get("Attributes"), _CONTROL_NUMBER, _name) or control
        stamp = snapshot.get("Timestamp") if isinstance(snapshot, dict) else None
        time = _time(str(stamp)[:40]) if isinstance(stamp, str) else None
        if not isinstance(info, dict) or time is None:
            continue
        zero = time if zero is None else zero
        rows["connection"].append(_info_row(info, time - zero))
    doubts = [f"{broken:,} lines are not JSON, or too deep, and were left out"] if broken else []
    flows = [_flow("", samples, _control(control), []) for samples in rows.values()]
    return _trace("tcp-info", flows, doubts, path)
