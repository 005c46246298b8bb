"""Paths that a flow may have had: kinds of queues with their parameters, from what is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.captures.calibrate.scenario import Draw, centre

if TYPE_CHECKING:
    from ackclock.captures.calibrate.estimate import PathEstimate
    from ackclock.captures.calibrate.observation import Observation

__all__ = ["KINDS", "Candidate", "list_candidates", "vary"]

KINDS = {
    "drop-tail": "drop-tail (link or shaper)",
    "codel": "CoDel or FQ-CoDel",
    "pie": "PIE",
    "red": "RED",
    "policer": "policer",
    "shaper": "shaper",
    "random": "no drops of a queue: random loss",
}
"""Kinds of queues, and what they are called.

A shaper whose bucket shows nowhere does what a link of its rate does.
"""

FAST = 10.0
"""By how much the link of a policer or a shaper is taken to be faster than its tokens."""
_DEEP = 8.0


@dataclass(frozen=True)
class Candidate:
    """A path that a flow may have had.

    Parameters
    ----------
    kind
        One of `KINDS`.
    draw
        Rate, delay, buffer and random loss.
    parameters
        Of its queue discipline.
    """

    kind: str
    draw: Draw
    parameters: dict[str, Any] = field(default_factory=dict)

    @property
    def burst_bytes(self) -> float | None:
        """Size of the bucket of tokens; None without one."""
        text = self.parameters.get("burst")
        return None if text is None else float(text.split()[0])

    @property
    def qdisc(self) -> Any:
        """The queue discipline, as a scenario has it."""
        if self.kind in ("drop-tail", "random"):
            return "fifo"
        if self.kind not in ("policer", "shaper"):
            return {"kind": self.kind, **self.parameters}
        return {"kind": self.kind, "rate": f"{self.draw.rate_bps:.6g} bps", **self.parameters}

    @property
    def link_factor(self) -> float:
        """By how much the link is faster than the bottleneck's rate."""
        return FAST if self.kind in ("policer", "shaper") else 1.0


def list_candidates(
    path: PathEstimate, measured: Observation, size_bytes: float, ratio: float
) -> list[Candidate]:
    """List what a flow's path may have been, a few candidates of each kind.

    Parameters
    ----------
    path
        What closed forms show.
    measured
        The flow.
    size_bytes
        A full packet on the wire.
    ratio
        Bytes on the wire for each byte of data.
    """
    middle = replace(centre(path, size_bytes), loss=0.0)
    rate = middle.rate_bps
    queues = measured.rtts_s - float(measured.rtts_s.min())
    longest = max(float(np.percentile(queues, 99.5)) * rate / 8, 4 * size_bytes)
    product = rate * middle.base_s / 8
    deep = replace(middle, buffer_bytes=_DEEP * max(longest, product, 100 * size_bytes))
    lost = len(measured.losses_s) / max(1, measured.sent)
    result = [Candidate("random", replace(deep, loss=lost * x)) for x in (0.8, 1.0)]
    buffers = [longest * x for x in (1.0, 1.1, 1.3, 2.0)]
    if path.buffer_bytes is not None:
        buffers = [path.buffer_bytes.value]
    losses = [0.0]
    if path.loss is not None and path.loss.low > 0:
        losses.append(path.loss.value)
    result += [
        Candidate("drop-tail", replace(middle, buffer_bytes=b, loss=x))
        for b in buffers
        for x in losses
    ]
    result += [Candidate("codel", deep, {"target": f"{x} ms"}) for x in (5, 10, 20)]
    result += [Candidate("pie", deep, {"target": f"{x} ms"}) for x in (15, 20, 30)]
    result += _list_red(deep, queues, rate, size_bytes)
    result += _list_policers(deep, measured, size_bytes, ratio)
    if path.bucket_bytes is None:
        return result
    # A link does not deliver faster than its rate, whatever drops before it.
    burst = {"burst": f"{path.bucket_bytes.value:.0f} B"}
    shapers = [
        Candidate("shaper", replace(middle, buffer_bytes=b, loss=x), burst)
        for b in buffers
        for x in losses
    ]
    return [*shapers, *(candidate for candidate in result if candidate.kind == "policer")]


def _list_policers(
    deep: Draw, measured: Observation, size_bytes: float, ratio: float
) -> list[Candidate]:
    """Policers: what passed on the average may be much less than the tokens that came."""
    result = []
    for faster in (1.0, 1.2, 1.5, 2.0, 3.0, 5.0):
        rate = deep.rate_bps * faster
        burst = measured.excess_bytes(1.01 * rate / ratio) * ratio
        for share in (0.6, 0.8, 1.0, 1.25) if faster == 1 else (0.8, 1.1):
            size = {"burst": f"{max(burst * share, 3 * size_bytes):.0f} B"}
            result.append(Candidate("policer", replace(deep, rate_bps=rate), size))
    return result


def _list_red(deep: Draw, queues: Any, rate: float, size_bytes: float) -> list[Candidate]:
    """RED with thresholds by its rules, and by what the queue was."""
    mean = float(np.median(queues)) * rate / 8 / size_bytes
    result = [Candidate("red", deep, {"adaptive": x}) for x in (False, True)]
    for share in (0.4, 0.8):
        least = max(3.0, share * mean)
        for chance in (0.02, 0.1):
            limits = {"min_th": round(least, 1), "max_th": round(3 * least, 1), "max_p": chance}
            result.append(Candidate("red", deep, limits))
    return result


def vary(candidate: Candidate) -> list[Candidate]:
    """Candidates near another: what its kind has beside rate and delay is changed.

    Parameters
    ----------
    candidate
        The candidate.
    """
    draw, parameters = candidate.draw, candidate.parameters
    if candidate.kind in ("drop-tail", "shaper"):
        return [
            replace(candidate, draw=replace(draw, buffer_bytes=draw.buffer_bytes * x))
            for x in (0.88, 0.94, 1.06, 1.13)
        ]
    if candidate.burst_bytes is not None:
        bursts = [
            replace(candidate, parameters={"burst": f"{candidate.burst_bytes * x:.0f} B"})
            for x in (0.7, 0.85, 1.17, 1.4)
        ]
        rates = [replace(draw, rate_bps=draw.rate_bps * x) for x in (0.85, 0.93, 1.07, 1.15)]
        return [*bursts, *(replace(candidate, draw=near) for near in rates)]
    if candidate.kind in ("codel", "pie"):
        target = float(parameters["target"].split()[0])
        return [
            replace(candidate, parameters={"target": f"{target * x:.3g} ms"}) for x in (0.75, 1.3)
        ]
    if candidate.kind == "red" and "min_th" in parameters:
        return [
            replace(candidate, parameters={
                **parameters, **{name: parameters[name] * x for name in ("min_th", "max_th")},
            })
            for x in (0.7, 1.4)
        ]  # fmt: skip
    return []
