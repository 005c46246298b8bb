"""Figures of a flow that was read: bytes, goodput, round trips, flight, losses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ackclock.captures.trace import Floats, FlowTrace

__all__ = ["goodput_over_time", "measure"]


def _keep_finite(values: Floats) -> Floats:
    return values[np.isfinite(values)]


def _percentile(values: Floats, percent: float) -> float | None:
    known = _keep_finite(values)
    return float(np.percentile(known, percent)) if len(known) else None


def measure(flow: FlowTrace) -> dict[str, Any]:
    """Measure a flow; what the file cannot show is None.

    Parameters
    ----------
    flow
        The flow.
    """
    samples = flow.samples
    times = np.concatenate([flow.events["time_s"], samples["time_s"]])
    start, end = (float(times.min()), float(times.max())) if len(times) else (0.0, 0.0)
    delivered = _keep_finite(samples["delivered_bytes"])
    size = float(delivered.max()) if len(delivered) else None
    # A log may begin when much had been delivered.
    gained = size - float(delivered[0]) if size is not None else None
    rtts, flights = flow.rtts["rtt_s"], _keep_finite(samples["flight_bytes"])
    has_packets = len(flow.events["time_s"]) > 0
    counts: dict[str, int | None] = {
        "sent_packets": _packets(flow) if has_packets else None,
        "retransmitted_packets": flow.count("retransmitted") if has_packets else None,
        "lost_packets": flow.count("lost") if has_packets else None,
        "spurious_retransmissions": flow.count("spurious") if has_packets else None,
        "reordered_packets": flow.count("reordered") if has_packets else None,
        "duplicated_packets": flow.count("duplicated") if has_packets else None,
        "marked_packets": flow.count("marked") if has_packets else None,
    }
    if not has_packets:
        counts["retransmitted_packets"] = flow.facts.get("retransmitted_packets")
    least = flow.facts.get("least_rtt_s")
    return {
        "id": flow.name,
        "protocol": flow.protocol,
        "ends": None if flow.ends is None else list(flow.ends),
        "cc": flow.control,
        "position": flow.position,
        "start_s": start,
        "duration_s": end - start,
        "delivered_bytes": None if size is None else int(size),
        "goodput_bps": gained * 8 / (end - start) if gained is not None and end > start else None,
        "rtt_min_s": least if least is not None else _percentile(rtts, 0),
        "rtt_p50_s": _percentile(rtts, 50),
        "rtt_p95_s": _percentile(rtts, 95),
        "rtt_samples": len(rtts),
        "flight_p50_bytes": _percentile(flights, 50),
        "flight_max_bytes": _percentile(flights, 100),
        **counts,
        "mss_bytes": flow.facts.get("mss") or flow.facts.get("largest_payload_bytes"),
        "doubts": list(flow.doubts),
    }


def _packets(flow: FlowTrace) -> int:
    return sum(flow.count(kind) for kind in ("sent", "retransmitted", "reordered", "duplicated"))


def goodput_over_time(flow: FlowTrace, step_s: float) -> tuple[Floats, Floats]:
    """Mean rates of delivery in equal intervals.

    Parameters
    ----------
    flow
        The flow.
    step_s
        Length of an interval [s].

    Returns
    -------
    tuple
        Ends of the intervals [s], and rates [bit/s].
    """
    times, delivered = flow.samples["time_s"], flow.samples["delivered_bytes"]
    mask = np.isfinite(delivered)
    times, delivered = times[mask], delivered[mask]
    if len(times) < 2 or times[-1] <= times[0]:
        return np.empty(0), np.empty(0)
    count = int(min(100_000, max(1, (times[-1] - times[0]) // step_s)))
    ends = times[0] + step_s * np.arange(count + 1)
    # The last sample at or before each end.
    sizes = delivered[np.searchsorted(times, ends, side="right") - 1]
    return ends[1:], np.diff(sizes) * 8 / step_s
