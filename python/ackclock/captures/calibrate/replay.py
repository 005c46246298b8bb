"""Replays a flow on its calibrated path, and measures how far that is from what was captured."""

from __future__ import annotations

import tempfile
from dataclasses import dataclass
from pathlib import Path as File
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.captures.read.measures import measure
from ackclock.captures.read.read import read_trace

if TYPE_CHECKING:
    from ackclock.captures.trace import FlowTrace
    from ackclock.scenario.scenario import Scenario

__all__ = ["Distance", "compare", "distance_of_round_trips", "replay", "score"]

GOODPUT, DELAY, LOSS = 0.10, 0.15, 2.0
"""Largest distances at which a path is said to be usable: relative, relative, a factor."""
_FEW_LOSSES = 0.002
"""Shares of lost packets below which a factor says nothing."""


@dataclass(frozen=True)
class Distance:
    """A quantity as measured and as replayed.

    Parameters
    ----------
    name
        Of the quantity.
    measured, replayed
        Its values; None where there is none.
    is_near
        Whether they are near enough; None if one is missing.
    """

    name: str
    measured: float | None
    replayed: float | None
    is_near: bool | None


def replay(scenario: Scenario, position: str) -> FlowTrace:
    """Run a scenario and read the capture of its flow as a stranger's would be read.

    Parameters
    ----------
    scenario
        Of the calibrated path.
    position
        End near which the measured flow was captured.
    """
    link = "r1->d0" if position == "receiver" else "s0->r0"
    # All links: timestamps are those that the ends had.
    scenario = scenario.replace(**{"record.tables": ["packets"]})
    run = scenario.run()
    with tempfile.TemporaryDirectory(prefix="ackclock-") as folder:
        file = File(folder) / "replay.pcapng"
        run.to_pcapng(file, link=link)
        flow = read_trace(file).flows[0]
    flow.control = str(run.summary["flows"][0]["cc"])
    return flow


def figures(flow: FlowTrace) -> dict[str, float | None]:
    """The quantities that are compared.

    Parameters
    ----------
    flow
        A flow.
    """
    row = measure(flow)
    lost, sent = row["lost_packets"], row["sent_packets"]
    share = lost / sent if sent and lost is not None else None
    if share is None and row["retransmitted_packets"] is not None and row["delivered_bytes"]:
        mss = row["mss_bytes"] or 1448
        share = row["retransmitted_packets"] / max(1.0, row["delivered_bytes"] / mss)
    return {
        "goodput": row["goodput_bps"],
        "round trip, median": row["rtt_p50_s"],
        "round trip, p95": row["rtt_p95_s"],
        "lost": share,
    }


def compare(measured: FlowTrace, replayed: FlowTrace) -> tuple[list[Distance], str]:
    """Compare a flow with its replay.

    Parameters
    ----------
    measured, replayed
        Both flows.

    Returns
    -------
    tuple
        The distances, and a sentence: whether the path may be used.
    """
    ours, theirs = figures(replayed), figures(measured)
    distances = []
    for name, value in theirs.items():
        distances.append(Distance(name, value, ours[name], _is_near(name, value, ours[name])))
    judged = [distance for distance in distances if distance.is_near is not None]
    far = [distance.name for distance in judged if not distance.is_near]
    if len(judged) < 2:
        verdict = "too little was measured to judge the path"
    elif not far:
        verdict = "the path may be used: the same control on it does what was measured"
    else:
        verdict = f"use the path with care: its replay differs in {', '.join(far)}"
    return distances, verdict


def score(distances: list[Distance]) -> float:
    """Sum of the relative distances; shares of losses count by their logarithm, at most one each.

    Parameters
    ----------
    distances
        Of one replay.
    """
    total = 0.0
    for distance in distances:
        if distance.measured is None or distance.replayed is None:
            continue
        if distance.name == "lost":
            low, high = sorted((distance.measured + 1e-5, distance.replayed + 1e-5))
            total += min(1.0, float(np.log10(high / low)))
        elif distance.measured > 0:
            total += min(1.0, abs(distance.replayed / distance.measured - 1))
    return total


def _is_near(name: str, measured: float | None, replayed: float | None) -> bool | None:
    if measured is None or replayed is None:
        return None
    if name == "lost":
        if max(measured, replayed) < _FEW_LOSSES:
            return True
        low, high = sorted((measured, replayed))
        return bool(high <= LOSS * low)
    limit = GOODPUT if name == "goodput" else DELAY
    return bool(abs(replayed - measured) <= limit * measured)


def distance_of_round_trips(measured: FlowTrace, replayed: FlowTrace) -> float | None:
    """Mean difference of the quantiles of round trips, relative to the measured median.

    Parameters
    ----------
    measured, replayed
        Both flows.
    """
    series: list[Any] = [flow.rtts["rtt_s"] for flow in (measured, replayed)]
    if not all(len(values) for values in series):
        return None
    steps = np.linspace(0, 100, 101)
    first, second = (np.percentile(values, steps) for values in series)
    return float(np.mean(np.abs(first - second)) / np.median(series[0]))
