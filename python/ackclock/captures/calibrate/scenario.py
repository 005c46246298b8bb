"""The scenario of a calibrated path."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from ackclock.captures.calibrate.estimate import EstimatedValue, PathEstimate
    from ackclock.captures.trace import FlowTrace
    from ackclock.scenario.scenario import Scenario

__all__ = ["Draw", "centre", "draw_from", "scenario_of"]

MOST_SECONDS = 120.0
"""Longest simulated time [s]."""
_MOST_STEPS = 200


@dataclass(frozen=True)
class Draw:
    """Values of a path that a scenario is made of."""

    rate_bps: float
    base_s: float
    buffer_bytes: float
    loss: float


def _rate(path: PathEstimate) -> float:
    rate = path.rate_bps.value if path.rate_bps else path.least_rate_bps
    if not rate or path.base_s is None:
        raise AckclockError(
            "the path is not known well enough for a scenario: it needs deliveries and round trips"
        )
    return rate


def _least_buffer(path: PathEstimate, size: float) -> float:
    return max(path.least_buffer_bytes or 0.0, 2 * size)


def centre(path: PathEstimate, size_bytes: float) -> Draw:
    """The most likely values.

    Parameters
    ----------
    path
        The path.
    size_bytes
        A full packet on the wire.
    """
    rate = _rate(path)
    buffer = path.buffer_bytes.value if path.buffer_bytes else None
    if buffer is None:
        buffer = 2 * size_bytes if path.drop == "policer" else _least_buffer(path, size_bytes)
    is_lossy = path.loss is not None and path.loss.low > 0 and path.drop != "policer"
    loss = path.loss.value if path.loss is not None and is_lossy else 0.0
    base = path.base_s.value if path.base_s else 0.0
    # The scenario has the flow's part of the link, so that the queue is as long in time.
    part = rate / path.capacity_bps.value if path.capacity_bps else 1.0
    return Draw(rate, base, max(buffer * part, 2 * size_bytes), loss)


def draw_from(path: PathEstimate, size_bytes: float, seed: int) -> Draw:
    """Values drawn from the intervals; where only a bound is known, up to four times as much.

    Parameters
    ----------
    path
        The path.
    size_bytes
        A full packet on the wire.
    seed
        Of the draw.
    """
    rng = np.random.default_rng([seed, 66])
    middle = centre(path, size_bytes)

    def normal(value: EstimatedValue | None, otherwise: float) -> float:
        step = rng.normal()
        if value is None:
            return otherwise
        half = (value.high - value.low) / 2 / 1.96
        return float(np.clip(value.value + half * step, value.low, value.high))

    rate = normal(path.rate_bps, middle.rate_bps)
    wide = float(np.exp(rng.uniform(0, np.log(4))))
    if path.rate_bps is None:
        rate *= wide
    base = normal(path.base_s, middle.base_s)
    more = float(np.exp(rng.uniform(0, np.log(4))))
    buffer = middle.buffer_bytes * more
    if path.buffer_bytes is not None:
        part = middle.buffer_bytes / max(path.buffer_bytes.value, 1e-9)
        buffer = normal(path.buffer_bytes, buffer) * part
    loss = normal(path.loss, 0.0) if middle.loss > 0 else 0.0
    return Draw(rate, base, max(buffer, 2 * size_bytes), loss)


def scenario_of(
    path: PathEstimate,
    flow: FlowTrace,
    draw: Draw,
    *,
    control: Any,
    qdisc: Any = "fifo",
    duration_s: float,
    seed: int = 1,
    era: str = "linux",
    name: str = "",
    link_factor: float = 1.0,
) -> Scenario:
    """Make the scenario of a path and one flow on it.

    Parameters
    ----------
    path
        The path.
    flow
        The flow from which it was calibrated.
    draw
        Values.
    control, qdisc
        Names of algorithms.
    duration_s
        Simulated time [s].
    seed
        Of the run.
    era
        Whose defaults the sender has.
    name
        Of the scenario.
    link_factor
        By how much the link is faster than the rate, which a policer or a shaper then has.
    """
    from ackclock.scenario.scenario import Scenario

    duration_s = min(duration_s, MOST_SECONDS)
    net: dict[str, Any] = {
        "kind": "dumbbell",
        "pairs": 1,
        "rate": f"{link_factor * draw.rate_bps:.6g} bps",
        "rtt": f"{draw.base_s:.6g} s",
        "access_delay": f"{min(1e-3, draw.base_s / 20):.6g} s",
        "buffer": f"{round(draw.buffer_bytes)} B",
        "qdisc": qdisc,
    }
    if draw.loss > 0:
        net["loss"] = float(f"{draw.loss:.4g}")
    steps = _steps(path, draw, duration_s) if link_factor == 1 else []
    if steps:
        net["schedule"] = {"steps": steps}
        if "loss" in net:
            steps[0]["loss"] = net.pop("loss")
    tcp: dict[str, Any] = {}
    mss = flow.facts.get("mss") or flow.facts.get("largest_payload_bytes")
    if flow.protocol == "tcp" and mss and 200 <= mss <= 9000:
        tcp["mss"] = int(mss)
        tcp["timestamps"] = bool(flow.facts.get("has_timestamps"))
        if not tcp["timestamps"]:
            tcp["eifel"] = False
    document: dict[str, Any] = {
        "name": name,
        "duration": f"{duration_s:.6g} s",
        "seed": seed,
        "era": era,
        "net": net,
        "flows": [{"id": "flow", "pair": 0, "cc": control}],
    }
    if tcp:
        document["tcp"] = tcp
    return Scenario.from_data(document)


def _steps(path: PathEstimate, draw: Draw, duration_s: float) -> list[dict[str, Any]]:
    """Rates over time, where they vary: means of the busy windows."""
    from ackclock.captures.calibrate.estimate import VARIES

    if path.rate_bps is None or (path.varies or 0) <= VARIES:
        return []
    times, rates, busy = path.rates
    scale = draw.rate_bps / path.rate_bps.value
    length_s = max(float(np.median(np.diff(times))), duration_s / _MOST_STEPS)
    steps, last = [], draw.rate_bps
    for start in np.arange(0.0, duration_s, length_s):
        inside = (times > start) & (times <= start + length_s) & (busy > 0)
        if inside.any():
            last = float(rates[inside].mean()) * scale
        steps.append({"at": f"{start:.6g} s", "rate": f"{last:.6g} bps"})
    return steps
