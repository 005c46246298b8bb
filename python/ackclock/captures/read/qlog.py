"""Reads qlog: JSON and JSON text sequences, versions 0.3 and 0.4, events of QUIC by name.

Events used are ``packet_sent``, ``packet_received`` (its ACK frames), ``packet_lost`` and
``metrics_updated``, whatever is before the colon of their name. Draft-01 files, whose events are
lists, are read by their ``event_fields``.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.json_text import JsonError, parse_json
from ackclock.captures.read.ranges import RangeSet
from ackclock.captures.trace import EVENTS, SAMPLES, CaptureError, FlowTrace, Trace, columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

__all__ = ["is_qlog", "trace_of_qlog"]

MOST_EVENTS = 5_000_000
"""Most events of a file."""
MOST_TRACES = 10_000
"""Most traces of a file."""

_SENT, _ACKED, _LOST, _MARKED = 0, 4, 5, 7


def is_qlog(head: bytes) -> bool:
    """Whether a file is a qlog.

    Parameters
    ----------
    head
        Its first bytes.
    """
    return head.lstrip()[:1] in (b"\x1e", b"{") and (
        b"qlog" in head[:4096] or b"file_schema" in head[:4096]
    )


def trace_of_qlog(data: bytes, path: Path) -> Trace:
    """Read a qlog.

    Parameters
    ----------
    data
        Its bytes.
    path
        The file, for messages.

    Raises
    ------
    CaptureError
        It is not one.
    """
    lines = [line for line in data.replace(b"\x1e", b"\n").split(b"\n") if line.strip()]
    is_sequence = data.lstrip()[:1] == b"\x1e" or (len(lines) > 1 and _is_document(lines[0]))
    doubts: list[str] = []
    if is_sequence:
        traces: Any = _traces_of_lines(lines, path, doubts)
    else:
        document = _json(data, path)
        traces = document.get("traces") if isinstance(document, dict) else None
        if not isinstance(traces, list):
            raise CaptureError(f'{path}: the qlog has no list "traces"')
    flows: list[FlowTrace] = []
    for trace in traces[:MOST_TRACES]:
        if isinstance(trace, dict):
            flow = _flow(trace, path)
            if flow is not None:
                flows.append(flow)
    if not flows:
        raise CaptureError(f"{path}: the qlog has no packets and no metrics")
    for number, flow in enumerate(flows, 1):
        flow.name = str(number)
    return Trace("qlog", flows, None, doubts, {"traces": len(traces)})


def _is_document(line: bytes) -> bool:
    try:
        return isinstance(parse_json(line), dict)
    except JsonError:
        return False


def _json(data: bytes, path: Path) -> Any:
    try:
        return parse_json(data)
    except JsonError as error:
        raise CaptureError(f"{path}: {error}") from None


def _traces_of_lines(lines: list[bytes], path: Path, doubts: list[str]) -> list[Any]:
    head = _json(lines[0], path)
    trace = head.get("trace") if isinstance(head, dict) else None
    trace = dict(trace) if isinstance(trace, dict) else {}
    events, broken = [], 0
    for line in lines[1:]:
        try:
            event = parse_json(line)
        except JsonError:
            broken += 1
            continue
        if isinstance(event, dict):
            events.append(event)
    if broken:
        doubts.append(f"{broken:,} lines are not JSON, or too deep, and were left out")
    trace["events"] = events
    return [trace]


def number_of(value: Any) -> float:
    """A finite number, else NaN; text of digits counts.

    Parameters
    ----------
    value
        What a file has.
    """
    if isinstance(value, bool):
        return math.nan
    if isinstance(value, str):
        try:
            value = float(value[:40])
        except ValueError:
            return math.nan
    if isinstance(value, int | float) and abs(value) < 1e18:
        return float(value)
    return math.nan


def _events(trace: dict[str, Any]) -> Iterator[tuple[float, str, dict[str, Any]]]:
    """Times [s], names after the colon, and data."""
    events = trace.get("events")
    if not isinstance(events, list):
        return
    common = trace.get("common_fields")
    common = common if isinstance(common, dict) else {}
    fields = trace.get("event_fields")
    names = [str(name).lower() for name in fields] if isinstance(fields, list) else []
    configuration = trace.get("configuration")
    configuration = configuration if isinstance(configuration, dict) else {}
    scale = 1e-6 if configuration.get("time_units") == "us" else 1e-3
    is_delta = common.get("time_format") in ("delta", "relative_to_previous_event")
    clock, first = 0.0, None
    for entry in events[:MOST_EVENTS]:
        event = dict(zip(names, entry, strict=False)) if isinstance(entry, list) else entry
        if not isinstance(event, dict):
            continue
        time = number_of(event.get("time", event.get("relative_time", event.get("delta_time"))))
        name = event.get("name", event.get("event", event.get("event_type", "")))
        data = event.get("data")
        if math.isnan(time) or not isinstance(name, str) or not isinstance(data, dict):
            continue
        clock = clock + time if is_delta else time
        first = clock if first is None else first
        # Absolute times are counted from the first event.
        shift = first if first > 1e9 else 0.0
        yield (clock - shift) * scale, name.rpartition(":")[2], data


def _flow(trace: dict[str, Any], path: Path) -> FlowTrace | None:
    state = _Sender()
    for count, (time_s, name, data) in enumerate(_events(trace)):
        if count > MOST_EVENTS:
            raise CaptureError(f"{path}: it has more than {MOST_EVENTS:,} events")
        if name == "packet_sent":
            state.send(time_s, data)
        elif name == "packet_received":
            state.receive(time_s, data)
        elif name == "packet_lost":
            state.lose(time_s, data)
        elif name in ("metrics_updated", "recovery_metrics_updated"):
            state.update(time_s, data)
    if not state.rows and not state.samples:
        return None
    return state.flow(trace)


class _Sender:
    """What one end's log shows of what it sent."""

    def __init__(self) -> None:
        self.rows: list[tuple[Any, ...]] = []
        self.samples: list[list[float]] = []
        self.rtts: list[tuple[float, float]] = []
        self.logged_rtts: list[tuple[float, float]] = []
        self.sent: dict[tuple[str, int], tuple[float, int]] = {}
        self.numbers: dict[str, list[int]] = defaultdict(list)
        self.acked: dict[str, RangeSet] = defaultdict(RangeSet)
        self.largest: dict[str, int] = {}
        self.delivered = self.flight = self.lost = self.bytes = 0
        self.marks = 0.0

    def _packet(self, data: dict[str, Any]) -> tuple[str, int, int] | None:
        """The space of numbers, the number and the length of a packet."""
        header = data.get("header")
        header = header if isinstance(header, dict) else {}
        number = number_of(header.get("packet_number", data.get("packet_number")))
        kind = str(header.get("packet_type", data.get("packet_type", "1RTT"))).lower()
        raw = data.get("raw")
        length = number_of(raw.get("length")) if isinstance(raw, dict) else math.nan
        if math.isnan(length):
            length = number_of(header.get("packet_size", data.get("packet_size")))
        if math.isnan(number) or number < 0:
            return None
        space = kind if kind in ("initial", "handshake") else "application"
        return space, int(number), 0 if math.isnan(length) or length < 0 else int(length)

    def send(self, time_s: float, data: dict[str, Any]) -> None:
        packet = self._packet(data)
        if packet is None:
            return
        space, number, length = packet
        order = self.numbers[space]
        if order and number <= order[-1]:
            return  # Numbers of packets grow (RFC 9000, section 12.3).
        order.append(number)
        self.sent[space, number] = time_s, length
        self.bytes += length
        self.flight += length
        self.rows.append((time_s, _SENT, number, number + 1, length))
        self._sample(time_s)

    def receive(self, time_s: float, data: dict[str, Any]) -> None:
        packet = self._packet(data)
        space = packet[0] if packet else "application"
        frames = data.get("frames")
        for frame in frames if isinstance(frames, list) else ():
            if isinstance(frame, dict) and frame.get("frame_type") == "ack":
                self._acknowledge(time_s, space, frame)

    def _acknowledge(self, time_s: float, space: str, frame: dict[str, Any]) -> None:
        ranges = frame.get("acked_ranges")
        newest, count = None, 0
        for bounds in ranges if isinstance(ranges, list) else ():
            numbers = [number_of(b) for b in bounds] if isinstance(bounds, list) else []
            if not numbers or any(math.isnan(number) for number in numbers):
                continue
            low, high = int(numbers[0]), int(numbers[-1])
            order = self.numbers[space]
            candidates = [
                number
                for start, end in self.acked[space].add(low, high + 1)
                for number in order[bisect_left(order, start) : bisect_left(order, end)]
            ]
            for number in candidates:
                sent_packet = self.sent.pop((space, number), None)
                if sent_packet is None:
                    continue
                count += 1
                self.delivered += sent_packet[1]
                self.flight -= sent_packet[1]
                self.rows.append((time_s, _ACKED, number, number + 1, sent_packet[1]))
                if newest is None or number > newest[0]:
                    newest = number, sent_packet[0]
        marks = number_of(frame.get("ce"))
        if marks > self.marks:
            self.rows.append((time_s, _MARKED, 0, 0, 0))
            self.marks = marks
        if newest is not None and newest[0] > self.largest.get(space, -1):
            self.largest[space] = newest[0]
            self.rtts.append((time_s, time_s - newest[1]))
        if count:
            self._sample(time_s)

    def lose(self, time_s: float, data: dict[str, Any]) -> None:
        packet = self._packet(data)
        if packet is None:
            return
        known = self.sent.pop(packet[:2], None)
        self.flight -= known[1] if known else 0
        self.lost += 1
        self.rows.append((time_s, _LOST, packet[1], packet[1] + 1, known[1] if known else 0))
        self._sample(time_s)

    def _sample(self, time_s: float) -> None:
        unknown = math.nan
        flight = max(0, self.flight)
        self.samples.append(
            [time_s, self.delivered, flight, flight, unknown, unknown, unknown, self.lost]
        )

    def update(self, time_s: float, data: dict[str, Any]) -> None:
        cwnd = number_of(data.get("congestion_window", data.get("cwnd")))
        srtt, least = number_of(data.get("smoothed_rtt")), number_of(data.get("min_rtt"))
        latest = number_of(data.get("latest_rtt"))
        if not math.isnan(latest):
            self.logged_rtts.append((time_s, latest / 1e3))
        self._sample(time_s)
        self.samples[-1][4:7] = [cwnd, srtt / 1e3, least / 1e3]
        if not self.rows:
            # Without packets the log's own count of what is in flight is all that there is.
            flight = number_of(data.get("bytes_in_flight"))
            self.samples[-1][1:4] = [math.nan, flight, flight]

    def flow(self, trace: dict[str, Any]) -> FlowTrace:
        flow = FlowTrace("", "quic", position="sender")
        rows = sorted(self.rows, key=lambda row: float(row[0]))
        flow.events = columns(rows, EVENTS)
        pairs = self.logged_rtts or self.rtts
        pairs = [pair for pair in pairs if pair[1] >= 0]
        flow.rtts = columns(pairs, {"time_s": np.float64, "rtt_s": np.float64})
        samples = sorted((tuple(row) for row in self.samples), key=lambda row: row[0])
        flow.samples = columns(samples, dict.fromkeys(SAMPLES, np.float64))
        flow.facts = {
            "stream_bytes": self.bytes,
            "rtt_samples": len(self.rtts),
            "mss": None,
            "numbers_are_packets": True,
        }
        sizes = flow.select("sent")["size_bytes"]
        if len(sizes):
            flow.facts["largest_payload_bytes"] = int(sizes.max())
        if not pairs:
            flow.doubts.append("no acknowledgement of a logged packet: no round trips of packets")
        if len(sizes) and not sizes.any():
            flow.doubts.append("packets have no lengths: no rates and no flight")
        common = trace.get("common_fields")
        kinds = common.get("protocol_type") if isinstance(common, dict) else None
        if isinstance(kinds, list) and "TCP" in kinds:
            flow.protocol = "tcp"
        flow.doubts.append(
            "bytes of QUIC are those of packets, as the log does not have them of streams"
        )
        return flow
