"""Features of a flow that do not depend on the scale of its path.

Time is counted in least round trips, packets in flight by the bandwidth-delay product, queues in
packets and in parts of the longest. What has no value (no loss, too short) is a number that no
flow has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ackclock.captures.trace import Floats, FlowTrace

__all__ = ["NAMES", "features", "features_of_flow", "features_of_run"]

_LAGS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48)
_STEPS = tuple(round(0.1 * i, 1) for i in range(1, 10))
_PERCENTS = (5, 25, 50, 75, 95)
_MISSING = -9.0

NAMES = (
    *(f"flight p{p}" for p in _PERCENTS),
    *(f"queue p{p} [packets]" for p in _PERCENTS),
    *(f"queue p{p} [of the longest]" for p in _PERCENTS[:-1]),
    *(f"autocorrelation {lag}" for lag in _LAGS),
    *(f"growth shape {step}" for step in _STEPS),
    "after a loss p10", "after a loss p50", "after a loss p90", "loss events a round trip",
    "losses an event", "growth a round trip [packets]", "growth a round trip, early",
    "growth a round trip, late", "growth a round trip [of the flight]", "few in flight",
    "variation", "first growth", "share of steps up", "steepest fall", "epoch [round trips]",
    "growth against base",
)  # fmt: skip
"""Names of the features, in order."""


def features(
    times_s: Floats, flight: Floats, rtt_times_s: Floats, rtts_s: Floats, losses_s: Floats
) -> Floats | None:
    """Compute the features; None where too little was seen.

    Parameters
    ----------
    times_s, flight
        Packets in flight over time.
    rtt_times_s, rtts_s
        Round trips, by the time of the acknowledgement.
    losses_s
        When packets were lost.
    """
    if len(times_s) < 100 or len(rtts_s) < 50:
        return None
    base = float(rtts_s.min())
    count = int(min(3000, (times_s[-1] - times_s[0]) / base))
    if base <= 0 or count < 40:
        return None
    # Means over half of a round trip, so that bursts do not count.
    grid = times_s[0] + base * np.arange(0.5, count, 0.5)
    series = _mean_at(times_s, flight, grid, base / 2)
    rtt = _mean_at(rtt_times_s, rtts_s, grid, base / 2)
    queue = np.clip(rtt - base, 0, None)
    rate = float(np.percentile(series / np.maximum(rtt, base), 90))
    product = max(1.0, rate * base)
    packets = queue * rate
    longest = float(np.percentile(packets, 99)) + 1e-9
    settled = slice(len(series) // 5, None)
    levels = np.percentile(series[settled] / product, _PERCENTS)
    queues = np.log2(1 + np.percentile(packets[settled], _PERCENTS))
    shares = np.percentile(packets[settled] / longest, _PERCENTS[:-1])
    values = [*levels, *queues, *shares, *_correlations(series[settled])]
    values += _epochs(grid, series, rtt, base, losses_s)
    changes = np.diff(series[settled][::2]) / product
    values += [
        float(np.mean(series[settled] < 5)),
        float(series[settled].std() / max(1e-9, series[settled].mean())),
        _first_growth(series),
        float(np.mean(changes > 0)) if len(changes) else 0.0,
        float(changes.min()) if len(changes) else 0.0,
        _epoch_length(grid, base, losses_s),
        _slope_against_base(series[settled], base),
    ]
    row = np.nan_to_num(np.asarray(values, float), nan=_MISSING, posinf=99, neginf=-99)
    result: Floats = np.clip(row, -99, 99)
    return result


def _mean_at(times: Floats, values: Floats, grid: Floats, width: float) -> Floats:
    """Means of a series within windows that end at given times; the last value where none is."""
    sums = np.concatenate([[0.0], np.cumsum(values)])
    high = np.searchsorted(times, grid, side="right")
    low = np.minimum(np.searchsorted(times, grid - width, side="right"), high)
    size = high - low
    means = (sums[high] - sums[low]) / np.maximum(size, 1)
    last = values[np.maximum(high - 1, 0)]
    result: Floats = np.where(size > 0, means, last)
    return result


def _correlations(series: Floats) -> list[float]:
    steps = series[::2]
    centred = steps - steps.mean()
    power = float(np.dot(centred, centred)) + 1e-9
    return [
        float(np.dot(centred[:-lag], centred[lag:]) / power) if lag < len(centred) else _MISSING
        for lag in _LAGS
    ]


def _groups(losses: Floats, gap: float) -> list[Floats]:
    if not len(losses):
        return []
    return list(np.split(losses, np.nonzero(np.diff(losses) > gap)[0] + 1))


def _epochs(grid: Floats, series: Floats, rtt: Floats, base: float, losses: Floats) -> list[float]:
    """Shape of growth between losses, cuts, and growth by round trips."""
    groups = _groups(losses, 2 * float(np.median(rtt)))
    shapes, cuts, growths, earlies, lates, shares = [], [], [], [], [], []
    bounds = [*(group[0] for group in groups), float(grid[-1])]
    for group, until in zip(groups, bounds[1:], strict=True):
        index = int(np.clip(np.searchsorted(grid, group[0]), 1, len(grid) - 1))
        trip = float(rtt[index])
        before = series[(grid > group[0] - trip) & (grid <= group[0])]
        settled = (grid > group[-1] + 2 * trip) & (grid <= group[-1] + 3.5 * trip)
        after = series[settled & (grid < until)]
        if len(before) and len(after):
            cuts.append(float(np.median(after) / max(1.0, np.median(before))))
        epoch = (grid > group[-1] + 2.5 * trip) & (grid < until)
        if epoch.sum() < 16:
            continue
        values, trips = series[epoch], rtt[epoch]
        rise = values[-3:].mean() - values[:3].mean()
        rounds = np.cumsum(base / 2 / np.maximum(trips, base))
        if rise > 1:
            steps = np.interp(np.asarray(_STEPS) * rounds[-1], rounds, values)
            shapes.append((steps - values[:3].mean()) / rise)
        third = len(values) // 3
        growths.append(rise / rounds[-1])
        early = (values[third] - values[0]) / max(0.5, rounds[third] - rounds[0])
        earlies.append(early)
        lates.append((values[-1] - values[-third]) / max(0.5, rounds[-1] - rounds[-third]))
        shares.append(rise / rounds[-1] / max(1.0, values.mean()))
    shape = np.clip(np.median(shapes, axis=0), -3, 3) if shapes else np.full(9, _MISSING)
    length = (grid[-1] - grid[0]) / base
    result = [*shape]
    result += list(np.percentile(cuts, [10, 50, 90])) if cuts else [_MISSING] * 3
    result += [
        np.log2(1e-3 + len(groups) / length),
        np.log2(1 + len(losses) / len(groups)) if groups else _MISSING,
        *(_median(x) for x in (growths, earlies, lates)),
        100 * _median(shares) if shares else _MISSING,
    ]
    return [float(value) for value in result]


def _median(values: list[Any]) -> float:
    if not values:
        return _MISSING
    middle = float(np.median(values))
    return float(np.sign(middle) * np.log2(1 + 10 * abs(middle)))


def _first_growth(series: Floats) -> float:
    """Factor by which the flight grows in a round trip at first."""
    steps = series[::2][:8]
    ratios = steps[1:] / np.maximum(1.0, steps[:-1])
    return float(np.median(ratios)) if len(ratios) else _MISSING


def _epoch_length(grid: Floats, base: float, losses: Floats) -> float:
    groups = _groups(losses, 3 * base)
    if len(groups) < 3:
        return _MISSING
    starts = np.array([group[0] for group in groups[1:]])
    spread = np.diff(starts)
    return float(np.log2(np.median(spread) / base)) if len(spread) else _MISSING


def _slope_against_base(series: Floats, base: float) -> float:
    """Growth a second, which some controls keep equal on all paths."""
    rising = np.diff(series[::2])
    rising = rising[(rising > 0) & (rising < 0.5 * np.maximum(4, series[::2][:-1]))]
    return float(np.log2(np.median(rising) / base)) if len(rising) > 5 else _MISSING


def features_of_flow(flow: FlowTrace) -> Floats | None:
    """Features of a captured flow; None where too little was seen.

    Parameters
    ----------
    flow
        The flow, captured near its sender, or near its receiver with timestamps.
    """
    sent = flow.select("sent")
    payload = sent["end"] - sent["start"]
    if not len(payload):
        return None
    size = float(payload.max()) if flow.has_stream else float(sent["size_bytes"].max())
    if size <= 0:
        return None
    lost = flow.select("lost")
    order = np.argsort(sent["start"], kind="stable")
    skip = 1 if flow.facts.get("has_handshake") else 0
    trips = flow.rtts["time_s"][skip:], flow.rtts["rtt_s"][skip:]
    if flow.position == "receiver":
        # What arrived first behind a gap followed what was lost.
        index = np.searchsorted(sent["start"][order], lost["end"])
        times, flight = _flight_at_receiver(flow, *trips)
    else:
        index = np.searchsorted(sent["start"][order], lost["start"], side="right") - 1
        is_measured = np.isfinite(flow.samples["flight_bytes"])
        times, flight = (flow.samples[x][is_measured] for x in ("time_s", "flight_bytes"))
    losses = np.sort(sent["time_s"][order][np.clip(index, 0, len(order) - 1)])
    return features(times, flight / size, *trips, losses)


def _flight_at_receiver(flow: FlowTrace, times_s: Floats, rtts_s: Floats) -> tuple[Floats, Floats]:
    """Bytes that a sender had in flight: what it sent in the round trip before each arrival.

    An acknowledgement that left the receiver a round trip before a packet arrives led to that
    packet. What was above all that had arrived then was in flight, and what was sent again since.
    """
    data = [flow.select(kind) for kind in ("sent", "retransmitted", "reordered")]
    arrivals = np.concatenate([part["time_s"] for part in data])
    order = np.argsort(arrivals, kind="stable")
    ends = np.concatenate([part["end"] for part in data]).astype(float)[order]
    again = np.concatenate([
        (part["end"] - part["start"]) * float(number > 0) for number, part in enumerate(data)
    ])[order]  # fmt: skip
    arrivals = arrivals[order]
    high = np.concatenate([[0.0], np.maximum.accumulate(ends)])
    repeated = np.concatenate([[0.0], np.cumsum(again)])
    now = np.searchsorted(arrivals, times_s, side="right")
    before = np.searchsorted(arrivals, times_s - rtts_s, side="right")
    flight: Floats = high[now] - high[before] + repeated[now] - repeated[before]
    return times_s, flight


def features_of_run(run: Any) -> Floats | None:
    """Features of a run's only flow, without a capture; None where too little was seen.

    Parameters
    ----------
    run
        With the tables ``windows``, ``rtts`` and ``drops``.
    """
    windows, rtts = run.table("windows"), run.table("rtts")
    drops = run.table("drops")
    mask = ~np.asarray(drops["is_ack"].to_pylist(), bool) if drops.num_rows else np.zeros(0, bool)
    losses = drops["time_s"].to_numpy()[mask] if drops.num_rows else np.empty(0)
    return features(
        windows["time_s"].to_numpy(),
        windows["in_flight_segments"].to_numpy().astype(float),
        rtts["time_s"].to_numpy()[1:],
        rtts["rtt_s"].to_numpy()[1:],
        np.asarray(losses, float),
    )
