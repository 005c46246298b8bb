"""Fits a path by simulation: candidates run with the flow's control, and the nearest are kept.

Successive halving (K. Jamieson and A. Talwalkar, AISTATS 2016): all candidates run for a part of
the flow's time, the better for all of it, the best with several seeds and with parameters nearby.
The distance of a candidate is the mean of how far its run is from the flow in goodput, round trips,
losses and queues at losses. What the best distance of each kind of queue is gives its probability.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ackclock.captures.calibrate.candidates import Candidate, list_candidates, vary
from ackclock.captures.calibrate.observation import (
    TABLES,
    Observation,
    measure_distances,
    observe_evidence,
    observe_run,
)
from ackclock.captures.calibrate.scenario import scenario_of
from ackclock.captures.calibrate.value import EstimatedValue

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ackclock.captures.calibrate.estimate import PathEstimate
    from ackclock.captures.calibrate.evidence import Evidence
    from ackclock.captures.trace import FlowTrace

__all__ = ["NOT_KNOWN", "SURE", "CandidateSender", "Fit", "search"]

SURE = 0.5
"""Probability from which on a kind of queue is named."""
NOT_KNOWN = "not known"

_FIRST_SHARE, _SHORTEST_S, _LONGEST_S = 0.3, 6.0, 30.0
_MOST_PACKETS = 150_000
_KEPT = 0.34
"""Share of the candidates that goes on."""
_MARGIN = 0.12
"""The best of a kind goes on if it is farther than the best of all by less than this."""
_SEEDS = 3
_SHARPNESS = 0.03
"""Distance by which a kind becomes less likely by a factor of e."""
_FAR = 0.25
"""Distance from which on no candidate is like the flow."""
_FEWEST_LOSSES = 5
_AS_NEAR = 0.02
"""Distance within which parameters of a kind are as good as the best."""
_STEP = 0.06
"""Relative step between parameters nearby; half of the least interval."""


@dataclass(frozen=True)
class CandidateSender:
    """A sender that a flow may have had.

    Parameters
    ----------
    control
        Its congestion control.
    era
        Whose defaults it has.
    """

    control: str
    era: str


@dataclass(frozen=True)
class FitTrial:
    """A candidate with its distance."""

    candidate: Candidate
    distance: float
    parts: dict[str, float]


@dataclass
class Fit:
    """What a search gives.

    Parameters
    ----------
    kinds
        Probability of each kind, largest first; empty where nothing can be said.
    best
        The nearest of each kind.
    near
        Candidates that ran last, with their distances.
    sender
        The nearest of the senders.
    runs
        How many runs it took.
    reason
        Why nothing can be said.
    """

    kinds: dict[str, float] = field(default_factory=dict)
    best: dict[str, FitTrial] = field(default_factory=dict)
    near: list[FitTrial] = field(default_factory=list)
    sender: CandidateSender | None = None
    runs: int = 0
    reason: str = ""

    @property
    def kind(self) -> str:
        """The kind of queue, or `NOT_KNOWN`."""
        if not self.kinds:
            return NOT_KNOWN
        name = max(self.kinds, key=lambda kind: self.kinds[kind])
        return name if self.kinds[name] >= SURE else NOT_KNOWN

    @property
    def nearest(self) -> Candidate | None:
        """The nearest candidate of all."""
        return next((trial.candidate for trial in self.best.values()), None)

    def interval(self, read: Callable[[Candidate], float]) -> EstimatedValue | None:
        """A number of the nearest candidate, between those that are as near.

        Parameters
        ----------
        read
            Takes the number from a candidate.
        """
        best = next(iter(self.best.values()), None)
        if best is None:
            return None
        values = [
            read(trial.candidate)
            for trial in self.near
            if trial.candidate.kind == best.candidate.kind
            and trial.distance <= best.distance + _AS_NEAR
        ]
        value = read(best.candidate)
        low, high = min([value, *values]), max([value, *values])
        return EstimatedValue(value, low * (1 - _STEP), high * (1 + _STEP))


class _Bench:
    """Runs candidates and measures how far they are."""

    def __init__(
        self, path: PathEstimate, flow: FlowTrace, evidence: Evidence, sender: CandidateSender
    ) -> None:
        self.path, self.flow, self.evidence, self.sender = path, flow, evidence, sender
        self.rate = path.rate_bps.value if path.rate_bps else path.least_rate_bps or 0.0
        self.step_s = max(0.01, 4 * evidence.size_bytes * 8 / self.rate)
        self.runs = 0

    def observe(self, until_s: float) -> Observation:
        """The first seconds of the flow."""
        return observe_evidence(self.evidence, self.step_s, until_s)

    def measure(self, candidate: Candidate, until_s: float, seeds: Sequence[int]) -> FitTrial:
        """Run a candidate."""
        measured = self.observe(until_s)
        rows = []
        for seed in seeds:
            scenario = scenario_of(
                self.path, self.flow, candidate.draw, control=self.sender.control,
                qdisc=candidate.qdisc, duration_s=until_s, seed=seed, era=self.sender.era,
                link_factor=candidate.link_factor,
            ).replace(**{"record.interval": f"{self.step_s:.6g} s"})  # fmt: skip
            replayed = observe_run(scenario.run(record=list(TABLES)), self.flow.position)
            rows.append(measure_distances(
                measured, replayed, rate_bps=self.rate, size_bytes=self.evidence.size_bytes,
                ratio=self.evidence.ratio,
            ))  # fmt: skip
        self.runs += len(seeds)
        parts = {name: float(np.mean([row.get(name, 1.0) for row in rows])) for name in rows[0]}
        return FitTrial(candidate, float(np.mean(list(parts.values()))), parts)


def search(
    path: PathEstimate,
    flow: FlowTrace,
    evidence: Evidence,
    *,
    senders: Sequence[CandidateSender],
    workers: int | None = None,
    progress: Callable[[float], object] | None = None,
) -> Fit:
    """Search for the path that a flow had.

    Parameters
    ----------
    path
        What closed forms show.
    flow
        The flow.
    evidence
        What it shows.
    senders
        Those that it may have had; the nearest is kept.
    workers
        Runs at a time; left out: one per core.
    progress
        Called with the share that is finished.
    """
    reason = _refuse(path, evidence)
    if reason:
        return Fit(reason=reason)
    bench = _Bench(path, flow, evidence, senders[0])
    packets = bench.rate / 8 / evidence.size_bytes
    whole_s = min(evidence.duration_s, _LONGEST_S, max(_SHORTEST_S, _MOST_PACKETS / packets))
    part_s = min(whole_s, max(_SHORTEST_S, _FIRST_SHARE * whole_s))
    measured = bench.observe(whole_s)
    if len(measured.losses_s) < _FEWEST_LOSSES:
        return Fit(reason="too few losses to distinguish kinds of queues")
    latest: dict[str, FitTrial] = {}

    pool = ThreadPoolExecutor(workers)

    def try_all(
        candidates: list[Candidate], until_s: float, seeds: Sequence[int]
    ) -> list[FitTrial]:
        trials = list(pool.map(lambda x: bench.measure(x, until_s, seeds), candidates))
        return sorted(trials, key=lambda trial: trial.distance)

    def keep(trials: list[FitTrial]) -> list[Candidate]:
        for kind in {trial.candidate.kind for trial in trials}:
            latest[kind] = next(trial for trial in trials if trial.candidate.kind == kind)
        chosen = trials[: max(2, round(_KEPT * len(trials)))]
        limit = trials[0].distance + _MARGIN
        for trial in latest.values():
            if trial in trials and trial not in chosen and trial.distance < limit:
                chosen.append(trial)
        return [trial.candidate for trial in chosen]

    def try_all_of(sender: CandidateSender) -> list[FitTrial]:
        bench.sender = sender
        return try_all(pilots, part_s, [1])

    def report(share: float) -> None:
        if progress is not None:
            progress(share)

    with pool:
        kept = list_candidates(path, measured, evidence.size_bytes, evidence.ratio)
        pilots = [
            next(x for x in kept if x.kind == kind) for kind in dict.fromkeys(x.kind for x in kept)
        ]
        if len(senders) > 1:
            bench.sender = min(senders, key=lambda sender: try_all_of(sender)[0].distance)
        report(0.2)
        if part_s < whole_s:
            kept = keep(try_all(kept, part_s, [1]))
        report(0.4)
        kept = keep(try_all(kept, whole_s, [1]))
        report(0.6)
        kinds = list(dict.fromkeys(candidate.kind for candidate in kept))
        firsts = [latest[kind].candidate for kind in kinds]
        near = [other for candidate in firsts for other in vary(candidate)]
        last = try_all([*firsts, *near], whole_s, range(2, 2 + _SEEDS))
        keep(last)
        report(1.0)
    best = dict(sorted(latest.items(), key=lambda item: item[1].distance))
    fit = Fit(best=best, near=last, sender=bench.sender, runs=bench.runs)
    least = min(trial.distance for trial in best.values())
    if least > _FAR:
        fit.reason = "no kind of queue does what was measured with this control"
        return fit
    weights = {kind: np.exp((least - trial.distance) / _SHARPNESS) for kind, trial in best.items()}
    total = sum(weights.values())
    fit.kinds = {kind: float(weight / total) for kind, weight in weights.items()}
    return fit


def _refuse(path: PathEstimate, evidence: Evidence) -> str:
    """Why a search would show nothing."""
    if not evidence.has_packets:
        return "counters do not show which queue a packet met"
    if not len(evidence.rtts_s) or path.base_s is None:
        return "without round trips no kind of queue can be distinguished"
    if not (path.rate_bps or path.least_rate_bps):
        return "without a rate no kind of queue can be distinguished"
    if len(evidence.losses_s) < _FEWEST_LOSSES:
        return "too few losses to distinguish kinds of queues"
    return ""
