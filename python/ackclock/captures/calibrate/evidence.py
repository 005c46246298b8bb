"""What a flow shows of its path, as arrays: deliveries, round trips, losses by time of sending."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ackclock.captures.trace import Floats, FlowTrace

__all__ = ["Evidence", "gather"]

_ACK_BYTES = 52
"""Bytes of an acknowledgement: about."""


@dataclass(frozen=True)
class Evidence:
    """What a flow shows.

    Parameters
    ----------
    times_s, delivered_bytes
        When how much data had arrived, without headers; only where it grows.
    rtt_times_s, rtts_s
        Round trips, by the time at which their packet met the queue as far as that is known.
    losses_s
        When packets that were lost met the queue.
    sent_times_s
        When packets met the queue.
    size_bytes
        A full packet on the wire.
    ratio
        Bytes on the wire for each byte of data.
    handshake_s
        Round trip of the handshake; NaN if there is none.
    handshake_bytes
        Bytes of its packets that crossed the path both ways.
    has_packets
        Whether packets were captured, not counters.
    has_losses
        Whether the file shows losses.
    """

    times_s: Floats
    delivered_bytes: Floats
    rtt_times_s: Floats
    rtts_s: Floats
    losses_s: Floats
    sent_times_s: Floats
    size_bytes: float
    ratio: float
    handshake_s: float
    handshake_bytes: float
    has_packets: bool
    has_losses: bool

    @property
    def duration_s(self) -> float:
        """From the first delivery to the last [s]."""
        return float(self.times_s[-1] - self.times_s[0]) if len(self.times_s) > 1 else 0.0

    def base_s(self, rate_bps: float) -> float:
        """Least round trip without the time that a packet takes at the bottleneck [s].

        Parameters
        ----------
        rate_bps
            Of the bottleneck.
        """
        data = self.rtts_s.min() - (self.size_bytes + _ACK_BYTES) * 8 / rate_bps
        if np.isfinite(self.handshake_s):
            small = self.handshake_s - self.handshake_bytes * 8 / rate_bps
            # Without jitter both are equal; a queue of others can only make one longer.
            # Captured behind the bottleneck, packets did not take that time.
            return float(max(small if small < self.rtts_s.min() else data, 0.0))
        return float(max(data, 0.0))


def gather(flow: FlowTrace) -> Evidence:
    """Gather what a flow shows of its path.

    Parameters
    ----------
    flow
        The flow.
    """
    times, delivered = flow.samples["time_s"], flow.samples["delivered_bytes"]
    has_count = np.isfinite(delivered)
    # A counter that falls was written wrongly; what was delivered stays so.
    times, delivered = times[has_count], np.maximum.accumulate(delivered[has_count])
    grows = np.concatenate([[True], np.diff(delivered) > 0]) if len(times) else has_count[:0]
    times, delivered = times[grows], delivered[grows]
    rtt_times, rtts = flow.rtts["time_s"], flow.rtts["rtt_s"]
    handshake = np.nan
    if flow.facts.get("has_handshake") and len(rtts):
        handshake = float(rtts[0])
        if len(rtts) > 1:
            rtt_times, rtts = rtt_times[1:], rtts[1:]
    at_sender = flow.position != "receiver"
    if at_sender:
        rtt_times = rtt_times - rtts
        order = np.argsort(rtt_times, kind="stable")
        rtt_times, rtts = rtt_times[order], rtts[order]
    sent = flow.select("sent")
    size, ratio = _sizes(flow, sent["end"] - sent["start"], sent["size_bytes"])
    return Evidence(
        times, delivered, rtt_times, rtts, _losses(flow, at_sender=at_sender), sent["time_s"],
        size, ratio, handshake, float(flow.facts.get("handshake_bytes", 0)),
        len(sent["time_s"]) > 0,
        len(sent["time_s"]) > 0 or bool(np.isfinite(flow.samples["retransmitted_packets"]).any()),
    )  # fmt: skip


def _sizes(flow: FlowTrace, payload: Floats, size: Floats) -> tuple[float, float]:
    if not flow.has_stream or not len(payload) or not size.any():
        mss = float(flow.facts.get("mss") or 1448)
        if not flow.has_stream and len(size) and size.max() > 0:
            return float(size.max()), 1.0
        return mss + 52, (mss + 52) / mss
    full = payload == payload.max()
    return float(np.median(size[full])), float(size.sum() / payload.sum())


def _losses(flow: FlowTrace, *, at_sender: bool) -> Floats:
    """Times at which lost packets met the queue, as near as the file shows."""
    lost = flow.select("lost")
    if len(lost["time_s"]):
        sent = flow.select("sent")
        if not len(sent["time_s"]):
            return np.sort(lost["time_s"])
        order = np.argsort(sent["start"], kind="stable")
        starts, times = sent["start"][order], sent["time_s"][order]
        if at_sender:
            index = np.searchsorted(starts, lost["start"], side="right") - 1
        else:
            # The first packet that arrived behind the gap.
            index = np.searchsorted(starts, lost["end"], side="left")
        index = np.clip(index, 0, len(starts) - 1)
        return np.sort(times[index])
    again = flow.samples["retransmitted_packets"]
    has_count = np.isfinite(again)
    if has_count.sum() < 2:
        return np.empty(0)
    growth = np.diff(again[has_count])
    return np.repeat(flow.samples["time_s"][has_count][1:], np.clip(growth, 0, 1000).astype(int))
