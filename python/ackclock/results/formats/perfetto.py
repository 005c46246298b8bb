"""Writes a run as a Perfetto trace, to be opened at ui.perfetto.dev or queried in SQL.

A flow is a track: a slice for each state of its sender, a mark for each of its packets that was
dropped, and below it counters of window and RTT. A link is a track with a mark for each drop and a
counter of its queue. Simulated time 0 is time 0 of the trace; its clock counts nanoseconds.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.results.formats.recorded import import_extra, require_any, rows_by, write_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from ackclock.results.formats.recorded import Recorded

__all__ = ["write"]

_TABLES = ("windows", "rtts", "states", "drops", "queues", "flow_samples", "link_samples")
_SEQUENCE = 1  # All packets are of one writer.
_CLEARED = 1  # SEQ_INCREMENTAL_STATE_CLEARED, once for each writer.
_CLOCK = 6  # BUILTIN_CLOCK_BOOTTIME, the clock of traces by default.


class _Trace:
    """Packets of a trace in order of writing."""

    def __init__(self) -> None:
        builders = import_extra("perfetto.trace_builder.proto_builder", "perfetto")
        self.events = import_extra("perfetto.protos.perfetto.trace.perfetto_trace_pb2", "perfetto")
        self.file = io.BytesIO()
        self.builder: Any = builders.StreamingTraceProtoBuilder(self.file)
        self.tracks = 0

    def _packet(self) -> Any:
        packet = self.builder.create_packet()
        packet.trusted_packet_sequence_id = _SEQUENCE
        return packet

    def track(self, name: str, parent: int | None = None, unit: str | None = None) -> int:
        """Describe a track, a counter's if it has a unit, and give its number."""
        self.tracks += 1
        packet = self._packet()
        if self.tracks == 1:
            packet.sequence_flags = _CLEARED
        descriptor = packet.track_descriptor
        descriptor.uuid = self.tracks
        descriptor.name = name
        if parent is not None:
            descriptor.parent_uuid = parent
        if unit is not None:
            descriptor.counter.unit_name = unit
        self.builder.write_packet(packet)
        return self.tracks

    def event(self, time_s: float, track: int, kind: str, **fields: Any) -> None:
        """Write an event at a simulated time [s]."""
        packet = self._packet()
        packet.timestamp = round(time_s * 1e9)
        packet.timestamp_clock_id = _CLOCK
        event = packet.track_event
        event.type = self.events.TrackEvent.Type.Value(f"TYPE_{kind}")
        event.track_uuid = track
        for name, value in fields.items():
            setattr(event, name, value)
        self.builder.write_packet(packet)

    def counter(
        self, name: str, unit: str, parent: int, times: Iterable[float], values: Iterable[float]
    ) -> None:
        """Write a counter below a track."""
        track = self.track(name, parent, unit)
        for at, value in zip(times, values, strict=True):
            if np.isfinite(value):
                self.event(at, track, "COUNTER", double_counter_value=float(value))


def write(run: Recorded, path: Path, link: str | None = None) -> Path:
    """Write a Perfetto trace.

    Parameters
    ----------
    run
        At least one of the tables that it draws must have been recorded.
    path
        File to write.
    link
        Must be None: the trace is of the whole run.

    Raises
    ------
    AckclockError
        The package perfetto is not installed.
    """
    del link
    require_any(run, _TABLES)
    trace = _Trace()
    by_flow, by_link = (
        {name: rows_by(run.table(name), key) for name in _TABLES if _has(run, name, key)}
        for key in ("flow", "link")
    )
    for flow in run.summary["flows"]:
        _write_flow(trace, flow, by_flow, float(run.summary["duration_s"]))
    for each in run.summary["links"]:
        _write_link(trace, str(each["id"]), by_link)
    return write_whole(path, trace.file.getvalue())


def _has(run: Recorded, name: str, key: str) -> bool:
    return name in run.tables and key in run.table(name).column_names


def _write_flow(
    trace: _Trace, flow: Mapping[str, Any], tables: Mapping[str, Any], until: float
) -> None:
    name = str(flow["id"])
    ends = f"{flow['src']} -> {flow['dst']}"
    track = trace.track(f"flow {name}: {flow.get('cc') or 'no congestion control'}, {ends}")
    states = tables.get("states", {}).get(name)
    if states is not None and len(states["time_s"]):
        times = states["time_s"].tolist()
        for time_s, end, state in zip(times, [*times[1:], until], states["state"], strict=True):
            trace.event(time_s, track, "SLICE_BEGIN", name=str(state))
            trace.event(max(time_s, end), track, "SLICE_END")
    _write_drops(trace, track, tables.get("drops", {}).get(name), "seq")
    windows = tables.get("windows", tables.get("flow_samples", {})).get(name)
    if windows is not None:
        for column in ("cwnd_segments", "ssthresh_segments", "in_flight_segments"):
            title = column.removesuffix("_segments").replace("_", " ")
            trace.counter(title, "segments", track, windows["time_s"], windows[column])
    rtts = tables.get("rtts", {}).get(name)
    if rtts is not None:
        trace.counter("RTT", "ms", track, rtts["time_s"], rtts["rtt_s"] * 1e3)


def _write_link(trace: _Trace, name: str, tables: Mapping[str, Any]) -> None:
    queue = tables.get("queues", tables.get("link_samples", {})).get(name)
    drops = tables.get("drops", {}).get(name)
    if queue is None and drops is None:
        return
    track = trace.track(f"link {name}")
    _write_drops(trace, track, drops, "flow")
    if queue is not None:
        trace.counter("queue", "packets", track, queue["time_s"], queue["queue_packets"])


def _write_drops(trace: _Trace, track: int, drops: Mapping[str, Any] | None, of: str) -> None:
    if drops is None:
        return
    for at, reason, which in zip(drops["time_s"], drops["reason"], drops[of], strict=True):
        trace.event(float(at), track, "INSTANT", name=f"drop ({reason}): {of} {which}")
