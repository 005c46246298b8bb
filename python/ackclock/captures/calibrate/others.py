"""Traffic of others: what a bottleneck can carry beside what a flow had of it.

Two packets that leave a queue one after the other arrive at the distance that the link's rate gives
them (packet pairs: J.-C. Bolot, SIGCOMM 1993); with packets of others in between they are farther
apart. So the highest rate at which many pairs arrive is the link's, and what the flow lacks of it
while the link is busy is what others had. A link whose rate changes has no such pairs while it is
slow, and a fair queue parts all pairs, so that neither is taken for the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.captures.calibrate.value import EstimatedValue

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ackclock.captures.calibrate.evidence import Evidence
    from ackclock.captures.trace import Floats

__all__ = ["estimate_others"]

_NEAR = 0.015
"""Relative distance within which pairs have the same rate."""
_SHARPER = 3.0
"""By how much more of them there must be than of rates beside it."""
_FEWEST = 0.02
_PERCENTS = (97.0, 99.0, 99.5)
_PRESENT = 0.7
"""Share of the spans of busy windows in which the link's rate must be seen."""
_ABSENT = 0.15
"""Share of them in which it may be absent without a break: others come and go."""
_SPAN = 5
"""Windows in which it must be."""
_PAIRS = 50
_FEW = 0.02
"""Share of others below which the link's rate is what the flow had."""


def estimate_others(
    evidence: Evidence, rate_bps: EstimatedValue, rates: tuple[Floats, Floats, Floats]
) -> tuple[EstimatedValue | None, EstimatedValue | None, str]:
    """Estimate the link's rate, and the share of it that others had.

    Parameters
    ----------
    evidence
        What a flow shows.
    rate_bps
        What the flow had while the bottleneck was busy.
    rates
        Ends, rates and whether the bottleneck was busy, by windows.

    Returns
    -------
    tuple
        The link's rate, None where it is what the flow had; the share of others, None where it is
        not known; and why not.
    """
    if not evidence.has_packets:
        return None, None, "counters do not show packets of others"
    times, speeds, starts = _pairs(evidence)
    ends, windows, busy = rates
    is_busy = busy > 0
    begins = np.concatenate([[starts[0] if len(starts) else 0.0], ends[:-1]])
    number = np.clip(np.searchsorted(ends, times), 0, len(ends) - 1)
    inside = is_busy[number] & (starts >= begins[number])
    pairs, number = speeds[inside], number[inside]
    if len(pairs) < _PAIRS:
        return None, None, "too few packets arrived one after the other"
    capacity = _find_capacity(pairs)
    if capacity is None or capacity < 0.98 * rate_bps.value:
        return None, None, "packets do not arrive at distances that a link gives them"
    near = np.abs(pairs / capacity - 1) <= 2 * _NEAR
    # A window has few pairs without a packet of others in between; several have some.
    spans = (np.cumsum(is_busy) - 1) // _SPAN
    is_present = np.isin(np.arange(spans[-1] + 1), spans[number[near]])
    if is_present.mean() < _PRESENT or _longest_absence(is_present) > _ABSENT * len(is_present):
        return None, None, "the link's rate may change"
    shares = 1 - windows[is_busy] / capacity
    middle = float(np.mean(shares))
    half = 1.96 * float(np.std(shares)) / np.sqrt(len(shares)) + 0.01
    others = EstimatedValue(max(0.0, middle), max(0.0, middle - half), min(1.0, middle + half))
    if others.low <= _FEW:
        return None, others, ""
    link = EstimatedValue(capacity, capacity * (1 - _NEAR / 2), capacity * (1 + _NEAR / 2))
    return link, others, ""


def _longest_absence(is_present: NDArray[np.bool_]) -> int:
    """Longest run of spans that lack the link's rate."""
    edges = np.flatnonzero(np.concatenate([[True], is_present, [True]]))
    return int(np.diff(edges).max()) - 1


def _pairs(evidence: Evidence) -> tuple[Floats, Floats, Floats]:
    """Ends, rates and starts of consecutive deliveries."""
    times, delivered = evidence.times_s, evidence.delivered_bytes
    gaps = np.diff(times)
    keep = gaps > 1e-7
    rates = np.diff(delivered)[keep] * 8 * evidence.ratio / gaps[keep]
    return times[1:][keep], rates, times[:-1][keep]


def _find_capacity(rates: Floats) -> float | None:
    """The highest rate at which many pairs arrive; None if there is none."""
    for percent in _PERCENTS:
        guess = float(np.percentile(rates, percent))
        ratios = rates / guess
        same = np.abs(ratios - 1) <= _NEAR
        share = float(same.mean())
        lower = float(np.mean((ratios < 1 - _NEAR) & (ratios >= 1 - 3 * _NEAR))) / 2
        upper = float(np.mean((ratios > 1 + _NEAR) & (ratios <= 1 + 3 * _NEAR))) / 2
        above = float(np.mean(ratios > 1 + _NEAR))
        if share < _FEWEST or share < _SHARPER * max(lower + upper, above):
            continue
        return float(np.median(rates[same]))
    return None
