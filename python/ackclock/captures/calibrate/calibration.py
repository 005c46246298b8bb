"""What ``ackclock calibrate`` gives: the path, its scenario, the replay, and alternatives."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock._util.number_text import bounds, engineering, percent
from ackclock._util.page import inline, render
from ackclock._util.text_table import table
from ackclock.captures.calibrate.alternatives import METRICS, Alternative, try_alternatives
from ackclock.captures.calibrate.candidates import KINDS
from ackclock.captures.calibrate.estimate import PathEstimate, estimate
from ackclock.captures.calibrate.evidence import Evidence, gather
from ackclock.captures.calibrate.fitting import describe_sender, improve, list_senders
from ackclock.captures.calibrate.replay import (
    Distance,
    compare,
    distance_of_round_trips,
    replay,
    score,
)
from ackclock.captures.calibrate.scenario import MOST_SECONDS, centre, scenario_of
from ackclock.captures.calibrate.search import NOT_KNOWN, CandidateSender, Fit, search
from ackclock.captures.read.measures import measure
from ackclock.captures.read.read import read_trace
from ackclock.captures.trace import CaptureError
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ackclock.captures.calibrate.value import EstimatedValue
    from ackclock.captures.identify.identification import Identification
    from ackclock.captures.trace import FlowTrace
    from ackclock.scenario.scenario import Scenario

__all__ = ["Calibration", "calibrate"]

TRIED_SECONDS = 30.0
"""Longest simulated time of an alternative [s]."""


@dataclass
class Calibration(StudyOutcome):
    """A calibrated path. Printing it gives its summary.

    Parameters
    ----------
    name
        Name of the file.
    digest
        SHA-256 of the file.
    flow
        The flow.
    path
        What it shows of its path.
    scenario
        The path as a scenario; None if too little is known.
    control
        The control of the replay.
    is_assumed
        Whether that control is an assumption.
    replayed
        The flow of the replay.
    era
        Whose defaults the sender of the replay has.
    fit
        What the search gives: kinds of queues with their probabilities.
    identified
        What `identify` says, where the control is not named.
    sent_by
        The control, and how it is known.
    distances, verdict
        How far the replay is from the measurement, and whether the path may be used.
    alternatives
        What others did.
    doubts
        What the file cannot show.
    """

    MARKER: ClassVar[str] = "calibration.json"
    PAGE: ClassVar[str] = "calibration.html"

    name: str
    digest: str
    flow: FlowTrace
    evidence: Evidence
    path: PathEstimate
    scenario: Scenario | None
    control: str
    is_assumed: bool
    replayed: FlowTrace | None = None
    era: str = ""
    fit: Fit = field(default_factory=Fit)
    identified: Identification | None = None
    sent_by: str = ""
    distances: list[Distance] = field(default_factory=list)
    verdict: str = ""
    alternatives: list[Alternative] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data."""
        from ackclock import _core

        path = self.path
        far = None if self.replayed is None else distance_of_round_trips(self.flow, self.replayed)
        return {
            "version": _core.version(),
            "file": self.name,
            "sha256": self.digest,
            "flow": measure(self.flow),
            "path": {
                "rate_bps": _plain(path.rate_bps),
                "least_rate_bps": path.least_rate_bps,
                "base_s": _plain(path.base_s),
                "buffer_bytes": _plain(path.buffer_bytes),
                "least_buffer_bytes": path.least_buffer_bytes,
                "drop": path.drop,
                "queue": self.fit.kind,
                "queues": self.fit.kinds,
                "queue_not_known": self.fit.reason,
                "link_bps": _plain(path.capacity_bps),
                "bucket_bytes": _plain(path.bucket_bytes),
                "others": _plain(path.others),
                "random_loss": _plain(path.loss),
                "rate_spread": path.varies,
                "rates": [
                    {"time_s": t, "rate_bps": r, "is_busy": bool(b)}
                    for t, r, b in zip(*(x.tolist() for x in path.rates), strict=True)
                ],
                "facts": path.facts,
                "doubts": path.doubts,
            },
            "replay": {
                "cc": self.control,
                "cc_is_assumed": self.is_assumed,
                "sent_by": self.sent_by,
                "probabilities": self.identified.probabilities if self.identified else {},
                "distances": [vars(distance) for distance in self.distances],
                "round_trip_distance": far,
                "verdict": self.verdict,
            },
            "alternatives": [
                {
                    "cc": other.control,
                    "qdisc": other.qdisc,
                    "draws": len(other.values["goodput_bps"]),
                    **{
                        metric: dict(
                            zip(("mean", "low", "high"), other.interval(metric), strict=True)
                        )
                        for metric in METRICS
                    },
                }
                for other in self.alternatives
            ],
            "doubts": self.doubts,
        }

    def __str__(self) -> str:
        lines = [f"{self.name}: path of flow {self.flow.name}", "", *self._path_lines()]
        if self.distances:
            lines += ["", self._replay_head(), "", table(*self._replay_rows()), "", self.verdict]
        if self.alternatives:
            lines += ["", self._alternative_head(), "", table(*self._alternative_rows())]
        doubts = self._all_doubts()
        if doubts:
            lines += ["", "what is not known:", *(f"- {doubt}" for doubt in doubts)]
        return "\n".join(lines)

    def _all_doubts(self) -> list[str]:
        unsure = []
        if self.is_assumed and self.distances and self.sent_by.startswith(NOT_KNOWN):
            unsure = [f"the control is not known: {self.control} is replayed (--cc names another)"]
        kind = [f"kind of queue: {self.fit.reason}"] if self.fit.reason else []
        doubts = [*self.path.doubts, *kind, *self.flow.doubts, *self.doubts, *unsure]
        return list(dict.fromkeys(doubts))

    def _path_rows(self) -> tuple[list[str], list[list[str]]]:
        path = self.path
        rate = _text(path.rate_bps, "bit/s")
        if path.rate_bps is None and path.least_rate_bps:
            rate = f"at least {engineering(path.least_rate_bps, 'bit/s')}"
        buffer = _text(path.buffer_bytes, "B")
        if path.buffer_bytes is None and path.least_buffer_bytes:
            buffer = f"at least {engineering(path.least_buffer_bytes, 'B')}"
        loss = "not known"
        if path.loss is not None:
            low, high = percent(path.loss.low, 3), percent(path.loss.high, 3)
            loss = f"{percent(path.loss.value, 3)} [{low}, {high}]"
        spread = "-" if path.varies is None else percent(path.varies)
        rows = [["sent by", self.sent_by]]
        if path.capacity_bps is not None:
            rows.append(["bottleneck rate", _text(path.capacity_bps, "bit/s")])
            rows.append(["of it this flow had, while busy", rate])
        else:
            rows.append(["bottleneck rate", rate])
        rows += [
            ["spread of busy rates", spread],
            ["traffic of others", self._others()],
            ["base round trip", _text(path.base_s, "s")],
            ["buffer", buffer],
            ["queue", self._queue()],
            ["random loss", loss],
        ]
        nearest = self.fit.nearest
        if nearest is not None and nearest.burst_bytes and self.fit.kind == nearest.kind:
            burst = (
                path.bucket_bytes
                if nearest.kind == "shaper"
                else self.fit.interval(lambda candidate: candidate.burst_bytes or 0.0)
            )
            rows.insert(-1, ["bucket of tokens", _text(burst, "B")])
        return ["", "estimate [95 % interval], or name with its probability"], rows

    def _others(self) -> str:
        others = self.path.others
        if others is None:
            return NOT_KNOWN
        if self.fit.kind == "codel":
            return f"{NOT_KNOWN}: if the queue is a fair one, it hides them"
        return (
            f"{percent(others.value)} of the link [{percent(others.low)}, {percent(others.high)}]"
        )

    def _queue(self) -> str:
        shares = [f"{KINDS[kind]} {share:.2f}" for kind, share in self.fit.kinds.items()]
        if self.fit.kind == NOT_KNOWN:
            likely = ", ".join(shares[:3])
            drops = f"drops: {self.path.drop}"
            return f"{NOT_KNOWN} ({likely})" if likely else f"{NOT_KNOWN} ({drops})"
        return shares[0]

    def _path_lines(self) -> list[str]:
        return [table(*self._path_rows())]

    def _replay_head(self) -> str:
        return f"replay of {self.control}, sender of era {self.era}, on this path:"

    def _replay_rows(self) -> tuple[list[str], list[list[str]]]:
        rows = []
        for distance in self.distances:
            change = "-"
            if distance.measured and distance.replayed is not None:
                change = percent(distance.replayed / distance.measured - 1, sign=True)
            near = {True: "near", False: "far", None: "-"}[distance.is_near]
            rows.append([
                distance.name, _quantity(distance.name, distance.measured),
                _quantity(distance.name, distance.replayed), change, near,
            ])  # fmt: skip
        return ["", "measured", "replayed", "difference", ""], rows

    def _alternative_head(self) -> str:
        count = len(self.alternatives[0].values["goodput_bps"])
        return (
            f"on {count} paths drawn from the intervals: mean [between which 95 % of the draws are]"
        )

    def _alternative_rows(self) -> tuple[list[str], list[list[str]]]:
        head = ["control", "queue", "goodput [Mbit/s]", "round trip [ms]", "p95 [ms]", "lost [%]"]
        measured = {distance.name: distance.measured for distance in self.distances}
        scales = (1e-6, 1e3, 1e3, 100.0)
        names = ("goodput", "round trip, median", "round trip, p95", "lost")
        first = ["measured", "-"]
        for name, scale in zip(names, scales, strict=True):
            value = measured.get(name)
            first.append("-" if value is None else f"{value * scale:.4g}")
        rows = [first]
        for other in self.alternatives:
            cells = [other.control, other.qdisc]
            for metric, scale in zip(METRICS, scales, strict=True):
                cells.append(bounds(*(scale * x for x in other.interval(metric)), figures=3))
            rows.append(cells)
        return head, rows

    def provenance(self, command: str) -> str:
        """The scenario's file, with what it comes from as comments.

        Parameters
        ----------
        command
            What the user typed.
        """
        from ackclock import _core

        if self.scenario is None:
            return ""
        rows = [f"# {name}: {text}" for name, text in self._path_rows()[1]]
        lines = [
            f"# Calibrated by ackclock {_core.version()} from {self.name}, flow {self.flow.name}.",
            f"# SHA-256 of the file: {self.digest}",
            *([f"# Command: {command}"] if command else []),
            *rows,
            *(f"# {doubt}" for doubt in self._all_doubts()),
            *([f"# Replay: {self.verdict}"] if self.verdict else []),
        ]
        return "\n".join([*lines, "", self.scenario.to_toml()])

    def pages(self, command: str) -> Mapping[str, str]:
        """The page and the scenario."""
        from ackclock.captures.calibrate.figures import draw_all

        pictures = {
            name: {"title": title, "svg": inline(picture, name)}
            for name, (title, picture) in draw_all(
                self.path, self.flow, self.replayed, self.alternatives
            ).items()
        }
        page = render(
            Path(__file__).with_name("calibration.html"),
            name=self.name,
            flow=self.flow.name,
            path=self._path_rows(),
            replay=self._replay_rows() if self.distances else None,
            replay_head=self._replay_head(),
            verdict=self.verdict,
            alternatives=self._alternative_rows() if self.alternatives else None,
            alternative_head=self._alternative_head() if self.alternatives else "",
            doubts=self._all_doubts(),
            pictures=pictures,
            command=command,
        )
        pages = {self.PAGE: page, "summary.txt": str(self)}
        if self.scenario is not None:
            pages["path.toml"] = self.provenance(command)
        return pages


def _plain(value: EstimatedValue | None) -> dict[str, float] | None:
    return None if value is None else {"value": value.value, "low": value.low, "high": value.high}


def _text(value: EstimatedValue | None, unit: str) -> str:
    if value is None:
        return "not known"
    middle, low, high = (engineering(x, unit) for x in (value.value, value.low, value.high))
    return f"{middle} [{low}, {high}]"


def _quantity(name: str, value: float | None) -> str:
    if value is None:
        return "-"
    if name == "lost":
        return percent(value, 2)
    return engineering(value, "bit/s" if name == "goodput" else "s")


def calibrate(
    path: str | Path,
    *,
    flow: int = 1,
    control: str | None = None,
    alternatives: Sequence[str] = (),
    qdiscs: Sequence[str] = (),
    draws: int = 20,
    workers: int | None = None,
    interface: int | None = None,
    interval_s: float = 1.0,
    progress: Callable[[float], object] | None = None,
) -> Calibration:
    """Calibrate the path of a flow of a capture or a log, and replay the flow on it.

    Parameters
    ----------
    path
        The file.
    flow
        Number of the flow, from 1, as `read` prints it.
    control
        The control of the flow; left out: what the file names, else what `identify` does, else
        the nearest of CUBIC, Reno and BBR.
    alternatives
        Controls to try on the path.
    qdiscs
        Queues to try beside the path's.
    draws
        Paths drawn from the intervals for each alternative.
    workers
        Runs at a time; left out: one per core.
    interface, interval_s
        As of `read`.
    progress
        Called with the share of runs that are finished.
    """
    path = Path(path)
    trace = read_trace(path, interface=interface, interval_s=interval_s)
    if not 1 <= flow <= len(trace.flows):
        raise CaptureError(f"{path}: there is no flow {flow}; it has 1 to {len(trace.flows)}")
    measured = trace.flows[flow - 1]
    evidence = gather(measured)
    guess = estimate(evidence)
    named = control or measured.control
    senders, answer = list_senders(measured, named, path.name)
    result = Calibration(
        path.name, _digest(path), measured, evidence, guess, None, senders[0].control,
        named is None, identified=answer, doubts=list(trace.doubts),
    )  # fmt: skip
    result.sent_by = describe_sender(None, named, answer)
    if guess.base_s is None or not (guess.rate_bps or guess.least_rate_bps):
        if alternatives or qdiscs:
            result.doubts.append("so little is known that nothing can be tried on the path")
        return result
    duration_s = max(evidence.duration_s, 1.0)
    result.fit = search(
        guess, measured, evidence, senders=senders, workers=workers,
        progress=None if progress is None else lambda share: progress(share / 2),
    )  # fmt: skip
    if result.fit.sender is not None:
        result.control = result.fit.sender.control
        result.sent_by = describe_sender(result.fit.sender, named, answer)
    result.path = improve(guess, result.fit)
    _replay(result, senders, duration_s)
    if duration_s > MOST_SECONDS:
        result.doubts.append(f"the replay has the first {MOST_SECONDS:g} s alone")
    if alternatives or qdiscs:
        result.alternatives = try_alternatives(
            result.path, measured, list(dict.fromkeys([result.control, *alternatives])),
            list(qdiscs), own=result.fit.nearest, size_bytes=evidence.size_bytes,
            duration_s=min(duration_s, TRIED_SECONDS), draws=draws, workers=workers,
            era=result.era,
            progress=None if progress is None else lambda share: progress(0.5 + share / 2),
        )  # fmt: skip
    return result


def _replay(result: Calibration, senders: list[CandidateSender], duration_s: float) -> None:
    """Replay the flow on the nearest path of the search; without one, on what is known."""
    measured, size_bytes, name = result.flow, result.evidence.size_bytes, f"Path of {result.name}"
    nearest, sender = result.fit.nearest, result.fit.sender
    if nearest is not None and sender is not None:
        scenarios = [(sender.era, scenario_of(
            result.path, measured, nearest.draw, control=sender.control, qdisc=nearest.qdisc,
            duration_s=duration_s, era=sender.era, name=name, link_factor=nearest.link_factor,
        ))]  # fmt: skip
    else:
        # Losses may be random or a full queue's, the sender's stack is not known: the replay
        # decides.
        is_unsure = result.path.drop == "not known" and result.path.loss is not None
        paths = [result.path, replace(result.path, loss=None)] if is_unsure else [result.path]
        scenarios = [
            (sender.era, scenario_of(
                path, measured, centre(path, size_bytes), control=sender.control,
                duration_s=duration_s, era=sender.era, name=name,
            ))
            for sender in senders if sender.control == result.control
            for path in paths
        ]  # fmt: skip
    trials = []
    for era, scenario in scenarios:
        replayed = replay(scenario, measured.position)
        distances, verdict = compare(measured, replayed)
        trials.append((score(distances), era, scenario, replayed, distances, verdict))
    _, result.era, result.scenario, result.replayed, result.distances, result.verdict = min(
        trials, key=lambda trial: trial[0]
    )


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
