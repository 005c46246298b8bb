"""What is compared of a flow and of a run: rates, round trips, queues at losses, bursts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ackclock.captures.calibrate.evidence import Evidence
    from ackclock.captures.trace import Floats

__all__ = ["TABLES", "Observation", "measure_distances", "observe_evidence", "observe_run"]

TABLES = ("rtts", "drops", "flow_samples")
"""Tables of a run that are compared."""

_STEPS = np.linspace(2, 98, 49)
_AT_LOSSES = (10, 25, 50, 75, 90)
_FEW = 0.3
"""What is added to counts of losses, so that none and one differ little."""


@dataclass(frozen=True)
class Observation:
    """The first seconds of a flow.

    Parameters
    ----------
    duration_s
        How long it is.
    goodput_bps
        Data delivered a second.
    rtt_times_s, rtts_s
        Round trips, by the time at which their packet met the queue.
    losses_s
        When packets that were lost met the queue.
    sent
        Packets sent.
    grid_s, delivered_bytes
        What was delivered, at equal steps.
    """

    duration_s: float
    goodput_bps: float
    rtt_times_s: Floats
    rtts_s: Floats
    losses_s: Floats
    sent: int
    grid_s: Floats
    delivered_bytes: Floats

    def excess_bytes(self, rate_bps: float) -> float:
        """Most that was delivered in any time beyond what a rate brings in it.

        Parameters
        ----------
        rate_bps
            Rate of data.
        """
        above = self.delivered_bytes - rate_bps / 8 * self.grid_s
        return float(np.max(above - np.minimum.accumulate(above))) if len(above) else 0.0

    def loss_events(self) -> list[Floats]:
        """Losses within a round trip of each other."""
        if not len(self.losses_s) or not len(self.rtts_s):
            return []
        gap_s = float(np.median(self.rtts_s))
        return list(np.split(self.losses_s, np.nonzero(np.diff(self.losses_s) > gap_s)[0] + 1))

    def queues_at_losses(self, packet_s: float) -> Floats:
        """Longest queueing delay just before each loss event.

        Parameters
        ----------
        packet_s
            What a packet takes at the bottleneck.
        """
        if not len(self.rtts_s):
            return np.empty(0)
        least = float(self.rtts_s.min())
        reach = max(float(np.median(self.rtts_s)), 4 * packet_s)
        peaks = []
        for event in self.loss_events():
            bounds = [event[0] - reach, event[0] + reach / 4]
            low, high = np.searchsorted(self.rtt_times_s, bounds)
            if high > low:
                peaks.append(float(self.rtts_s[low:high].max()) - least)
        return np.asarray(peaks)


def observe_evidence(evidence: Evidence, step_s: float, until_s: float) -> Observation:
    """Observe the first seconds of a measured flow.

    Parameters
    ----------
    evidence
        What the flow shows.
    step_s
        Step of the grid [s].
    until_s
        Length [s].
    """
    first = min(
        float(values[0])
        for values in (evidence.times_s, evidence.rtt_times_s, evidence.sent_times_s)
        if len(values)
    )
    times = evidence.times_s - first
    grid = np.arange(0.0, until_s, step_s)
    index = np.searchsorted(times, grid, side="right")
    delivered = np.concatenate([[0.0], evidence.delivered_bytes])[index]
    rtt_times = evidence.rtt_times_s - first
    keep = rtt_times <= until_s
    losses = evidence.losses_s - first
    total = np.interp(until_s, times, evidence.delivered_bytes)
    return Observation(
        until_s, float(total) * 8 / until_s, rtt_times[keep], evidence.rtts_s[keep],
        losses[losses <= until_s], int(np.sum(evidence.sent_times_s - first <= until_s)),
        grid, delivered,
    )  # fmt: skip


def observe_run(run: Any, position: str) -> Observation:
    """Observe the first flow of a run.

    Parameters
    ----------
    run
        With the tables of `TABLES`.
    position
        End near which the measured flow was captured.
    """
    name = run.summary["flows"][0]["id"]
    duration_s = float(run.summary["duration_s"])
    rtts = _rows_of(run.table("rtts"), name)
    values = rtts["rtt_s"].to_numpy()[1:]
    times = rtts["time_s"].to_numpy()[1:]
    if position != "receiver":
        times = times - values
        order = np.argsort(times, kind="stable")
        times, values = times[order], values[order]
    drops = _rows_of(run.table("drops"), name)
    is_data = ~np.asarray(drops["is_ack"].to_pylist(), bool)
    losses = drops["time_s"].to_numpy()[is_data]
    samples = _rows_of(run.table("flow_samples"), name)
    grid = samples["time_s"].to_numpy()
    delivered = samples["received_bytes"].to_numpy().astype(float)
    total = float(delivered[-1]) if len(delivered) else 0.0
    return Observation(
        duration_s, total * 8 / duration_s, times, values, np.sort(losses),
        int(run.summary["flows"][0]["sent_packets"]), grid, delivered,
    )  # fmt: skip


def _rows_of(table: Any, flow: str) -> Any:
    """The rows of one flow."""
    import pyarrow.compute as pc

    return table.filter(pc.equal(table["flow"].cast("string"), flow)) if table.num_rows else table


def measure_distances(
    measured: Observation,
    replayed: Observation,
    *,
    rate_bps: float,
    size_bytes: float,
    ratio: float,
) -> dict[str, float]:
    """Measure how far a run is from the flow, by quantity; each at most one.

    Parameters
    ----------
    measured, replayed
        The flow and the run.
    rate_bps
        Of the bottleneck.
    size_bytes
        A full packet on the wire.
    ratio
        Bytes on the wire for each byte of data.
    """
    packet_s = size_bytes * 8 / rate_bps
    if not len(replayed.rtts_s) or not len(measured.rtts_s):
        return {"round trips": 1.0}
    base = float(measured.rtts_s.min())
    trips, others = (np.percentile(x.rtts_s, _STEPS) for x in (measured, replayed))
    scale = max(float(trips[-1]) - base, 2 * packet_s)
    queues, other_queues = trips - base, others - float(replayed.rtts_s.min())
    result = {
        "goodput": _relative(measured.goodput_bps, replayed.goodput_bps),
        "round trip, median": _relative(np.median(trips), np.median(others)),
        "round trip, p95": _relative(*(np.interp(95, _STEPS, x) for x in (trips, others))),
        "lost": _ratio(
            len(measured.losses_s) / max(1, measured.sent) + 1e-5,
            len(replayed.losses_s) / max(1, replayed.sent) + 1e-5,
            10,
        ),
        "round trips": float(np.mean(np.abs(trips - others)) / np.median(trips)),
        "queues": float(np.mean(np.abs(queues - other_queues)) / scale),
    }
    events, other_events = measured.loss_events(), replayed.loss_events()
    result["loss events"] = _ratio(
        len(events) / measured.duration_s + _FEW / measured.duration_s,
        len(other_events) / replayed.duration_s + _FEW / measured.duration_s,
        4,
    )
    if events:
        sizes = [np.mean([len(e) for e in x]) if x else 1.0 for x in (events, other_events)]
        result["losses an event"] = _ratio(float(sizes[0]), float(sizes[1]), 8)
        peaks = [x.queues_at_losses(packet_s) for x in (measured, replayed)]
        if all(len(x) for x in peaks):
            ours, theirs = (np.percentile(x, _AT_LOSSES) for x in peaks)
            result["queues at losses"] = float(np.mean(np.abs(ours - theirs)) / scale)
        else:
            result["queues at losses"] = float(len(peaks[0]) > 0)
    # A little faster than the bottleneck, so that no small error of its rate adds up.
    filled = 1.01 * rate_bps / ratio
    excess = [x.excess_bytes(filled) + 10 * size_bytes for x in (measured, replayed)]
    result["excess"] = _ratio(excess[0], excess[1], 4)
    return {name: min(1.0, value) for name, value in result.items()}


def _relative(value: float, other: float) -> float:
    return float(abs(other / value - 1)) if value > 0 else 1.0


def _ratio(value: float, other: float, base: float) -> float:
    """Logarithm of a ratio."""
    low, high = sorted((value, other))
    return float(np.log(high / low) / np.log(base)) if low > 0 else 1.0
