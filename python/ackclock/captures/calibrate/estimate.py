"""Estimates a path from what a flow shows, by closed forms and filters.

While the bottleneck is busy, what is delivered grows at its rate; whether it is busy is known from
round trips above the least. The least round trip less the times of transmission is the base delay.
A packet that meets a full queue is lost, so that round trips about a loss less the base are the
buffer. Losses at short queues are random, an AQM's or a policer's.

Every value has an interval of about 95 %, or is None where the flow does not show it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from ackclock.captures.calibrate.bucket import estimate_bucket
from ackclock.captures.calibrate.others import estimate_others
from ackclock.captures.calibrate.value import EstimatedValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ackclock.captures.calibrate.evidence import Evidence
    from ackclock.captures.trace import Floats

__all__ = ["VARIES", "EstimatedValue", "PathEstimate", "estimate"]

Drop = Literal["drop-tail", "aqm", "policer", "none", "not known"]

_Z = 1.96
_LONGER, _SHARE_LONGER = 1.1, 0.01
"""Tail drops meet the longest queues: few round trips have a queue that is so much longer."""
_BUSY = 0.15
"""Share of the largest queueing delay above which a bottleneck is taken as busy."""
_FEW_BUSY = 6
VARIES = 0.06
"""Relative spread of busy rates above which the rate is said to vary."""


@dataclass
class PathEstimate:
    """A path, as far as a flow shows it.

    Parameters
    ----------
    rate_bps
        Rate of the bottleneck that the flow had.
    least_rate_bps
        What the flow got at least, where the rate is not known.
    rates
        Time, rate, and whether the bottleneck was busy, by windows.
    base_s
        Round trip without queues and without transmission at the bottleneck.
    buffer_bytes
        What the bottleneck holds.
    least_buffer_bytes
        The longest queue, where the buffer is not known.
    drop
        What drops packets.
    loss
        Share of packets lost at random.
    varies
        Share by which rates of busy windows spread: a rate that changes, or traffic of others.
    capacity_bps
        Rate of the link, where others had a part of it.
    others
        Share of the link that others had while it was busy.
    bucket_bytes
        Bucket of a shaper's tokens, where the flow shows one.
    doubts
        What is not known, as sentences.
    facts
        Counts that the estimates rest on.
    """

    rate_bps: EstimatedValue | None = None
    least_rate_bps: float | None = None
    rates: tuple[Floats, Floats, Floats] = field(
        default_factory=lambda: (np.empty(0), np.empty(0), np.empty(0))
    )
    base_s: EstimatedValue | None = None
    buffer_bytes: EstimatedValue | None = None
    least_buffer_bytes: float | None = None
    drop: Drop = "not known"
    loss: EstimatedValue | None = None
    varies: float | None = None
    capacity_bps: EstimatedValue | None = None
    others: EstimatedValue | None = None
    bucket_bytes: EstimatedValue | None = None
    doubts: list[str] = field(default_factory=list)
    facts: dict[str, float] = field(default_factory=dict)

    @property
    def link_bps(self) -> float:
        """Rate at which the bottleneck sends, as far as it is known; 0 if it is not at all."""
        rate = self.capacity_bps or self.rate_bps
        return rate.value if rate is not None else self.least_rate_bps or 0.0


def estimate(evidence: Evidence) -> PathEstimate:
    """Estimate a path.

    Parameters
    ----------
    evidence
        What a flow shows.
    """
    path = PathEstimate()
    if len(evidence.times_s) < 10 or evidence.duration_s <= 0:
        path.doubts.append("fewer than ten deliveries: nothing can be estimated")
        return path
    if not len(evidence.rtts_s):
        path.doubts.append("no round trips: neither the delay nor the buffer can be estimated")
    _estimate_rate(evidence, path)
    if len(evidence.rtts_s):
        _estimate_base(evidence, path)
        _estimate_drops(evidence, path)
    return path


def _windows(evidence: Evidence, length_s: float) -> tuple[Floats, Floats, Floats]:
    """Starts, ends and rates on the wire of consecutive windows, from delivery to delivery."""
    times, delivered = evidence.times_s, evidence.delivered_bytes
    edges = np.arange(times[0], times[-1] + length_s, length_s)
    index = np.unique(np.searchsorted(times, edges, side="right") - 1)
    starts, ends = times[index[:-1]], times[index[1:]]
    size = np.diff(delivered[index])
    span = ends - starts
    keep = span > length_s / 2
    rates = size[keep] * 8 * evidence.ratio / span[keep]
    return starts[keep], ends[keep], rates


def _queue_floor(evidence: Evidence, starts: Floats, ends: Floats) -> Floats:
    """Least round trip of each window; NaN where it has none."""
    floor = np.full(len(starts), np.nan)
    low = np.searchsorted(evidence.rtt_times_s, starts)
    high = np.searchsorted(evidence.rtt_times_s, ends)
    for number, (a, b) in enumerate(zip(low, high, strict=True)):
        if b > a:
            floor[number] = evidence.rtts_s[a:b].min()
    return floor


def _estimate_rate(evidence: Evidence, path: PathEstimate) -> None:
    mean = float(evidence.delivered_bytes[-1] - evidence.delivered_bytes[0]) * 8 * evidence.ratio
    mean /= evidence.duration_s
    if mean <= 0:
        path.doubts.append("nothing was delivered: no rate can be estimated")
        return
    packet_s = evidence.size_bytes * 8 / mean
    rtt = float(np.median(evidence.rtts_s)) if len(evidence.rtts_s) else 0.1
    length_s = max(2 * rtt, 40 * packet_s, 0.05)
    length_s = min(length_s, max(evidence.duration_s / 6, 12 * packet_s))
    starts, ends, rates = _windows(evidence, length_s)
    if len(rates) < 3:
        path.least_rate_bps = mean
        path.doubts.append("too short for a rate: only what was delivered is known")
        return
    if not len(evidence.rtts_s):
        path.least_rate_bps = float(np.percentile(rates, 90))
        path.rates = ends, rates, np.zeros(len(rates))
        path.doubts.append("without round trips it is not known whether the bottleneck was busy")
        return
    least = float(evidence.rtts_s.min())
    top = float(np.percentile(evidence.rtts_s, 99)) - least
    floor = _queue_floor(evidence, starts, ends)
    busy = floor - least > max(_BUSY * top, 1.5 * packet_s, 2e-4)
    path.rates = ends, rates, busy.astype(float)
    path.facts["busy_windows"] = int(busy.sum())
    if busy.sum() < 3 or _contradicts(rates, busy):
        path.least_rate_bps = float(np.percentile(rates, 95))
        path.doubts.append(
            "the flow never kept the bottleneck busy: its rate is at least what was delivered"
        )
        return
    values = rates[busy]
    middle = float(np.median(values))
    spread = float(1.4826 * np.median(np.abs(values - middle)))
    half = _Z * 1.25 * spread / np.sqrt(len(values)) + 0.002 * middle
    path.rate_bps = EstimatedValue(middle, middle - half, middle + half)
    low, high = np.percentile(values, [10, 90])
    path.varies = float(high - low) / 2 / middle
    path.capacity_bps, path.others, reason = estimate_others(evidence, path.rate_bps, path.rates)
    if path.others is None:
        path.doubts.append(f"whether others sent too is not known: {reason}")
    if path.others is None and path.varies > VARIES:
        path.doubts.append(
            f"rates of busy windows spread by {100 * path.varies:.0f} %: the link's rate changes,"
            " or others send too; one flow does not show which"
        )
    if path.varies <= VARIES:
        path.bucket_bytes = estimate_bucket(evidence, path.link_bps, path.rates)


def _contradicts(rates: Floats, busy: NDArray[np.bool_]) -> bool:
    """Whether the few busy windows are not: much more passed in others, as when a sender stalls."""
    few = busy.sum() < _FEW_BUSY
    return bool(few and np.median(rates[busy]) < np.percentile(rates, 90) / 2)


def _estimate_base(evidence: Evidence, path: PathEstimate) -> None:
    rate = path.link_bps
    if not rate:
        return
    base = evidence.base_s(rate)
    packet_s = evidence.size_bytes * 8 / rate
    # Links beside the bottleneck take time too: up to a fifth of that, at ten times its rate.
    low = max(0.0, base - 0.2 * packet_s)
    high = float(min(evidence.rtts_s.min(), np.nanmin([evidence.handshake_s, np.inf])))
    if not evidence.has_packets:
        path.doubts.append("the base delay is the least that was logged; logs smooth round trips")
    path.base_s = EstimatedValue(base, min(low, base), max(high, base))


def _clusters(losses: Floats, gap_s: float) -> list[Floats]:
    """Losses that are nearer than a time belong together."""
    if not len(losses):
        return []
    return list(np.split(losses, np.nonzero(np.diff(losses) > gap_s)[0] + 1))


def _peak(evidence: Evidence, low_s: float, high_s: float) -> float:
    a, b = np.searchsorted(evidence.rtt_times_s, [low_s, high_s])
    return float(evidence.rtts_s[a:b].max()) if b > a else float("nan")


def _estimate_drops(evidence: Evidence, path: PathEstimate) -> None:
    if path.base_s is None:
        return
    rate = path.link_bps
    base = path.base_s.value
    queues = evidence.rtts_s - base
    packet_s = evidence.size_bytes * 8 / rate
    longest = float(np.percentile(queues, 99.5))
    path.least_buffer_bytes = max(0.0, longest * rate / 8)
    rtt = float(np.median(evidence.rtts_s))
    groups = _clusters(evidence.losses_s, rtt)
    path.facts |= {"losses": len(evidence.losses_s), "loss_events": len(groups)}
    if not evidence.has_losses:
        path.doubts.append("the file has no losses: the buffer is at least the longest queue")
        return
    if not groups:
        path.drop = "none"
        path.doubts.append("nothing was lost: the buffer is at least the longest queue")
        sent = max(1, len(evidence.sent_times_s))
        path.loss = EstimatedValue(0.0, 0.0, 3 / sent) if evidence.has_packets else None
        return
    reach = max(rtt, 4 * packet_s)
    peaks = np.array([_peak(evidence, g[0] - reach, g[0] + reach / 4) - base for g in groups])
    has_peak = np.isfinite(peaks)
    peaks, groups = peaks[has_peak], [g for g, k in zip(groups, has_peak, strict=True) if k]
    if not len(peaks):
        path.doubts.append("no round trip near a loss: neither buffer nor kind of drop are known")
        return
    _classify(evidence, path, peaks, groups, rate)
    if not evidence.has_packets:
        # Counters say neither how many packets met short queues nor when they were lost.
        path.loss = None


def _deny_drop_tail(
    evidence: Evidence, path: PathEstimate, *, is_random: bool, is_early: bool
) -> None:
    """Say what is left where packets passed longer queues than any that lost some."""
    passed = "packets passed longer queues than those at which others were lost"
    if is_random:
        path.loss = _share(len(evidence.losses_s), max(1, len(evidence.sent_times_s)))
        path.doubts.append(f"{passed}: losses are random, the buffer is at least the longest queue")
    elif is_early:
        path.drop = "aqm"
        path.doubts.append(f"{passed}: an AQM; which, and its buffer, are not known")
    else:
        path.doubts.append(f"{passed}: not drop-tail; whether an AQM or chance is not known")


def _classify(
    evidence: Evidence, path: PathEstimate, peaks: Floats, groups: list[Floats], rate: float
) -> None:
    packet_s = evidence.size_bytes * 8 / rate
    top = float(np.max(peaks))
    full = peaks > 0.75 * top - packet_s
    low_losses = sum(len(g) for g, is_full in zip(groups, full, strict=True) if not is_full)
    queues = evidence.rtts_s - path.base_s.value if path.base_s else evidence.rtts_s
    short = float(np.mean(queues < 0.75 * top - packet_s))
    sent = max(1.0, len(evidence.sent_times_s) * short)
    sizes = np.array([len(g) for g in groups])
    path.facts["losses_at_short_queues"] = low_losses
    if top < max(4 * packet_s, 0.02 * (path.base_s.value if path.base_s else 0.0)):
        if sizes.mean() > 3 and len(evidence.losses_s) >= 10:
            path.drop = "policer"
            path.least_buffer_bytes = None
            path.doubts.append("losses in bursts without a queue: a policer; its bucket is unknown")
            _rate_of_policer(evidence, path)
        else:
            path.loss = _share(len(evidence.losses_s), max(1, len(evidence.sent_times_s)))
            path.drop = "none"
            path.doubts.append("all losses are at short queues: random; the buffer is not known")
        return
    chance = _chance_of_random(evidence, queues, 0.75 * top - packet_s)
    path.facts["chance_of_random"] = chance
    early, expected = _losses_at_empty(evidence, groups, full, queues, 0.1 * top)
    is_random = expected >= 3 and early >= 0.25 * expected
    longer = float(np.mean(queues > _LONGER * top + 3 * packet_s))
    path.facts["longer_than_at_losses"] = longer
    if longer > _SHARE_LONGER:
        _deny_drop_tail(evidence, path, is_random=is_random, is_early=expected >= 3)
        return
    if low_losses > len(evidence.losses_s) / 2 and expected >= 3 and not is_random:
        path.drop = "aqm"
        path.doubts.append(
            "losses are at queues that are neither full nor empty: an AQM; which, and its buffer,"
            " are not known"
        )
        return
    if low_losses > len(evidence.losses_s) / 2 and not is_random:
        path.doubts.append("losses at short queues are random or an AQM's: too few to decide")
        return
    if chance > (0.001 if low_losses > len(evidence.losses_s) / 2 else 0.05):
        path.loss = _share(len(evidence.losses_s), max(1, len(evidence.sent_times_s)))
        path.doubts.append(
            "losses do not depend on the queue enough to show that it was full: they may be random,"
            " and the buffer is at least the longest queue"
        )
        return
    path.loss = (
        _share(low_losses, sent) if low_losses else EstimatedValue(0.0, 0.0, min(1.0, 3 / sent))
    )
    path.drop = "drop-tail"
    if path.rate_bps is None:
        path.doubts.append("without the rate the buffer is known in seconds alone")
        return
    if path.capacity_bps is None and path.varies is not None and path.varies > VARIES:
        path.doubts.append("as the rate varies, the buffer is known in seconds alone")
        return
    # Of what the last packet waited for, one was under transmission and no longer in the buffer.
    values = np.maximum(peaks[full] * rate / 8 - evidence.size_bytes, evidence.size_bytes)
    middle = float(np.median(values))
    spread = float(1.4826 * np.median(np.abs(values - middle)))
    half = _Z * 1.25 * spread / np.sqrt(len(values)) + 1.5 * evidence.size_bytes
    speed = path.capacity_bps or path.rate_bps
    half += middle * (speed.high - speed.low) / 2 / rate
    path.buffer_bytes = EstimatedValue(middle, max(0.0, middle - half), middle + half)


def _rate_of_policer(evidence: Evidence, path: PathEstimate) -> None:
    """While packets are dropped, what passes is what the bucket is filled with."""
    ends, rates, _ = path.rates
    if len(ends) < 4:
        return
    starts = np.concatenate([[-np.inf], ends[:-1]])
    count = np.searchsorted(evidence.losses_s, ends) - np.searchsorted(evidence.losses_s, starts)
    values = rates[count > 1]
    if len(values) < 3:
        return
    middle = float(np.median(values))
    spread = float(1.4826 * np.median(np.abs(values - middle)))
    half = _Z * 1.25 * spread / np.sqrt(len(values)) + 0.01 * middle
    path.rate_bps = EstimatedValue(middle, middle - half, middle + half)


def _chance_of_random(evidence: Evidence, queues: Floats, limit_s: float) -> float:
    """Bound of the chance that random losses meet long queues as often as these do (Chernoff)."""
    count = len(evidence.losses_s)
    share = float(np.clip(np.mean(queues >= limit_s), 1e-6, 1 - 1e-6))
    met = float(np.mean(_queues_near(evidence, queues, evidence.losses_s) >= limit_s))
    if met <= share:
        return 1.0
    divergence = met * np.log(met / share)
    if met < 1:
        divergence += (1 - met) * np.log((1 - met) / (1 - share))
    return float(np.exp(-count * divergence))


def _queues_near(evidence: Evidence, queues: Floats, times_s: Floats) -> Floats:
    """Queues that the packets met which were measured nearest in time."""
    measured = evidence.rtt_times_s
    after = np.clip(np.searchsorted(measured, times_s), 0, len(queues) - 1)
    before = np.maximum(after - 1, 0)
    is_before = np.abs(times_s - measured[before]) <= np.abs(measured[after] - times_s)
    result: Floats = queues[np.where(is_before, before, after)]
    return result


def _losses_at_empty(
    evidence: Evidence,
    groups: list[Floats],
    full: NDArray[np.bool_],
    queues: Floats,
    limit_s: float,
) -> tuple[float, float]:
    """Losses at nearly empty queues, and how many would be there if losses were random."""
    low = [g for g, is_full in zip(groups, full, strict=True) if not is_full]
    firsts = np.asarray([g[0] for g in low], float)
    early = float(np.sum(_queues_near(evidence, queues, firsts) < limit_s))
    return early, len(low) * float(np.mean(queues < limit_s))


def _share(count: float, total: float) -> EstimatedValue:
    """Wilson's interval of a share."""
    total = max(total, count)
    share = count / total
    middle = (share + _Z**2 / 2 / total) / (1 + _Z**2 / total)
    half = _Z / (1 + _Z**2 / total) * np.sqrt(share * (1 - share) / total + (_Z / 2 / total) ** 2)
    return EstimatedValue(share, max(0.0, float(middle - half)), min(1.0, float(middle + half)))
