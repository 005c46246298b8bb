"""Writes flows as a qlog: the log of a transport's decisions, as its sender sees them.

Version 0.3 of qlog (draft-ietf-quic-qlog-main-schema-02 and -quic-events-02, in JSON), the last
that qvis reads. Events are those of QUIC; where TCP differs this is what is written:

- A packet number counts transmissions from 0, so that a retransmission has a new one, as in QUIC.
  A stream frame's offset is segment number times payload of a full segment.
- An ACK frame lists the transmissions that the acknowledgement newly acknowledges, cumulatively or
  by SACK, without those that the network dropped.
- ``packet_lost`` is at the time at which the network dropped the packet, before its sender knew.
- An acknowledgement is received when its transmission over the last link ends; over a link whose
  rate changes the time is not known and the event is left out.

Of a flow over QUIC packets are left out: the table of packets has the ranges of its ACKs in part.
"""

from __future__ import annotations

import json
from collections import defaultdict, deque
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import UnsupportedError
from ackclock.results.formats.recorded import require_any, rows_by, write_whole
from ackclock.results.formats.tcp_sizes import Segment, segments
from ackclock.results.packet_case import without_code

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from pathlib import Path

    from ackclock.results.formats.recorded import Recorded

    Event = tuple[float, str, dict[str, Any]]

__all__ = ["write"]

_SYN, _FIN, _DATAGRAM = 2, 256, 512
_TABLES = ("windows", "rtts", "states", "packets", "flow_samples")
_STATES = {
    "slow-start": "slow_start",
    "avoidance": "congestion_avoidance",
    "recovery": "recovery",
}
"""Names of states in qlog; others are written as they are."""


def write(run: Recorded, path: Path, link: str | None = None) -> Path:
    """Write a qlog with a trace for each flow.

    Parameters
    ----------
    run
        At least one of the tables ``windows``, ``rtts``, ``states``, ``packets`` and
        ``flow_samples`` must have been recorded.
    path
        File to write.
    link
        Must be None: a qlog is of flows.
    """
    del link
    require_any(run, _TABLES)
    summary = run.summary
    sizes = segments(run)
    events_of_flow: dict[str, list[Event]] = defaultdict(list)
    for events in (_windows(run, sizes), _rtts(run), _read_smoothed_rtts(run), _states(run)):
        for flow, event in events:
            events_of_flow[flow].append(event)
    if "packets" in run.tables:
        for flow, event in _packets(run, sizes):
            events_of_flow[flow].append(event)
    traces = [
        _trace(flow, events_of_flow[str(flow["id"])])
        for flow in summary["flows"]
        if events_of_flow[str(flow["id"])]
    ]
    if not traces:
        raise UnsupportedError("nothing was recorded of any flow, so there is nothing to write")
    document = {
        "qlog_version": "0.3",
        "qlog_format": "JSON",
        "title": run.scenario.name or "ackclock",
        "description": (
            f"ackclock {summary['version']}, scenario {summary['scenario_hash']},"
            f" seed {summary['seed']}"
        ),
        "traces": traces,
    }
    return write_whole(path, json.dumps(document, allow_nan=False).encode())


def _trace(flow: Mapping[str, Any], events: list[Event]) -> dict[str, Any]:
    events.sort(key=lambda event: event[0])
    return {
        "title": f"{flow['id']}: {flow.get('cc') or 'no congestion control'}",
        "description": f"{flow['src']} -> {flow['dst']}",
        "vantage_point": {"name": str(flow["src"]), "type": "client"},
        "common_fields": {
            "protocol_type": ["QUIC" if flow["recovery"] == "quic" else "TCP"],
            "time_format": "relative",
            "reference_time": 0.0,
        },
        "events": [
            {"time": round(time_s * 1e3, 9), "name": name, "data": data}
            for time_s, name, data in events
        ],
    }


def _parts(run: Recorded, name: str) -> Iterator[tuple[str, dict[str, list[Any]]]]:
    if name in run.tables:
        for flow, columns in rows_by(run.table(name), "flow").items():
            yield flow, {field: values.tolist() for field, values in columns.items()}


def _metrics(at: float, **known: float) -> Event:
    return at, "recovery:metrics_updated", known


def _windows(run: Recorded, sizes: Mapping[str, Segment]) -> Iterator[tuple[str, Event]]:
    names = ("time_s", "cwnd_segments", "ssthresh_segments", "in_flight_segments")
    for flow, rows in _parts(run, "windows"):
        size = sizes[flow].payload
        for time_s, cwnd, ssthresh, flying in zip(*(rows[name] for name in names), strict=True):
            metrics = {
                "congestion_window": round(cwnd * size),
                "bytes_in_flight": flying * size,
                "packets_in_flight": flying,
            }
            if np.isfinite(ssthresh):
                metrics["ssthresh"] = round(ssthresh * size)
            yield flow, _metrics(time_s, **metrics)


def _rtts(run: Recorded) -> Iterator[tuple[str, Event]]:
    for flow, rows in _parts(run, "rtts"):
        least = np.minimum.accumulate(rows["rtt_s"]).tolist()
        for at, rtt, low in zip(rows["time_s"], rows["rtt_s"], least, strict=True):
            yield flow, _metrics(at, latest_rtt=rtt * 1e3, min_rtt=low * 1e3)


def _read_smoothed_rtts(run: Recorded) -> Iterator[tuple[str, Event]]:
    for flow, rows in _parts(run, "flow_samples"):
        for at, srtt in zip(rows["time_s"], rows["srtt_s"], strict=True):
            if srtt > 0:
                yield flow, _metrics(at, smoothed_rtt=srtt * 1e3)


def _states(run: Recorded) -> Iterator[tuple[str, Event]]:
    for flow, rows in _parts(run, "states"):
        old = None
        for at, state in zip(rows["time_s"], rows["state"], strict=True):
            new = _STATES.get(state, state)
            data = {"new": new} if old is None else {"old": old, "new": new}
            yield flow, (at, "recovery:congestion_state_updated", data)
            old = new


class _Sender:
    """Numbers the transmissions of a flow and finds what acknowledgements acknowledge."""

    def __init__(self, size: Segment) -> None:
        self.size = size
        self.sent = 0
        self.received = 0
        self.acknowledged = 0
        self.under_way: dict[int, deque[int]] = defaultdict(deque)

    def header(self, flags: int, number: int) -> dict[str, Any]:
        """The header of a packet."""
        return {"packet_type": "initial" if flags & _SYN else "1RTT", "packet_number": number}

    def send(self, row: Mapping[str, Any]) -> Event:
        """A transmission."""
        number, self.sent = self.sent, self.sent + 1
        flags, segment, length = row["flags"], row["seq"], row["size_bytes"]
        payload = 0
        frames: list[dict[str, Any]] = []
        if not flags & _SYN:
            self.under_way[segment].append(number)
            payload = max(0, min(self.size.payload, length - self.size.headers))
            frame = {
                "frame_type": "stream", "stream_id": 0,
                "offset": segment * self.size.payload, "length": payload,
            }  # fmt: skip
            frames.append({**frame, "fin": True} if flags & _FIN else frame)
        data = {
            "header": self.header(flags, number),
            "frames": frames,
            "raw": {"length": length, "payload_length": payload},
        }
        return row["time_s"], "transport:packet_sent", data

    def lose(self, row: Mapping[str, Any]) -> Event | None:
        """A drop; None where the table does not show when the packet was sent."""
        under_way = self.under_way.get(row["seq"])
        if not under_way:
            return None
        header = self.header(row["flags"], under_way.popleft())
        return row["time_s"], "recovery:packet_lost", {"header": header}

    def receive(self, row: Mapping[str, Any], time_s: float) -> Event:
        """An acknowledgement that arrives."""
        number, self.received = self.received, self.received + 1
        frames: list[dict[str, Any]] = []
        if not row["flags"] & _SYN:
            ranges = _ranges(self._acknowledge(row))
            frame = {"frame_type": "ack", "acked_ranges": ranges}
            frames = [frame] if ranges else [{"frame_type": "ack"}]
        data = {
            "header": self.header(row["flags"], number),
            "frames": frames,
            "raw": {"length": row["size_bytes"]},
        }
        return time_s, "transport:packet_received", data

    def _acknowledge(self, row: Mapping[str, Any]) -> list[int]:
        blocks = [(self.acknowledged, row["seq"])]
        blocks += [(row.get(f"sack{n}_start", 0), row.get(f"sack{n}_end", 0)) for n in (1, 2, 3)]
        self.acknowledged = max(self.acknowledged, row["seq"])
        found: list[int] = []
        for start, end in blocks:
            for segment in range(start, end):
                found += self.under_way.pop(segment, ())
        return sorted(found)


def _ranges(numbers: Iterable[int]) -> list[list[int]]:
    """Runs of neighbours as first and last."""
    made: list[list[int]] = []
    for number in numbers:
        if made and number == made[-1][1] + 1:
            made[-1][1] = number
        else:
            made.append([number, number])
    return made


def _packets(run: Recorded, sizes: Mapping[str, Segment]) -> Iterator[tuple[str, Event]]:
    links = {str(link["id"]): link for link in run.summary["links"]}
    varying = {
        str(link["id"])
        for link in without_code(run.scenario).explain().data["links"]
        if link["varies"]
    }
    source = {str(flow["id"]): str(flow["src"]) for flow in run.summary["flows"]}
    senders = {name: _Sender(sizes[name]) for name in source}
    quic = {str(flow["id"]) for flow in run.summary["flows"] if flow["recovery"] == "quic"}
    steps: list[tuple[float, int, str, str, Mapping[str, Any]]] = []
    for row in run.table("packets").to_pylist():
        flow, link = str(row["flow"]), links[str(row["link"])]
        if row.setdefault("flags", int(row["is_ack"])) & _DATAGRAM or flow in quic:
            continue
        kind, time_s = None, row["time_s"]
        if not row["is_ack"] and row["event"] == "arrival" and str(link["src"]) == source[flow]:
            kind = "send"
        elif not row["is_ack"] and row["event"] == "drop":
            kind = "lose"
        elif row["is_ack"] and row["event"] == "departure" and str(link["dst"]) == source[flow]:
            time_s += row["size_bytes"] * 8 / link["rate_bps"] + link["propagation_s"]
            kind = "receive" if str(link["id"]) not in varying else None
        if kind is not None:
            steps.append((time_s, len(steps), kind, flow, row))
    for time_s, _, kind, flow, row in sorted(steps, key=lambda step: step[:2]):
        sender = senders[flow]
        if kind == "receive":
            yield flow, sender.receive(row, time_s)
        else:
            event = sender.send(row) if kind == "send" else sender.lose(row)
            if event is not None:
                yield flow, event
