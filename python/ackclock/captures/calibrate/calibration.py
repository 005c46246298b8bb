"""What ``ackclock calibrate`` gives: the path, its scenario, the replay, and alternatives."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from pathlib import Path as File
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock._util.number_text import bounds, engineering, percent
from ackclock._util.page import inline, render
from ackclock._util.text_table import table
from ackclock.captures.calibrate.alternatives import METRICS, Alternative, try_alternatives
from ackclock.captures.calibrate.estimate import Path, Value, estimate
from ackclock.captures.calibrate.evidence import Evidence, gather
from ackclock.captures.calibrate.replay import (
    Distance,
    compare,
    distance_of_round_trips,
    replay,
    score,
)
from ackclock.captures.calibrate.scenario import MOST_SECONDS, centre, scenario_of
from ackclock.captures.read.measures import measure
from ackclock.captures.read.read import read_trace
from ackclock.captures.trace import CaptureError
from ackclock.studies.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ackclock.captures.trace import FlowTrace
    from ackclock.scenario.scenario import Scenario

__all__ = ["Calibration", "calibrate"]

TRIED_SECONDS = 30.0
"""Longest simulated time of an alternative [s]."""


@dataclass
class Calibration(Outcome):
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
    path: Path
    scenario: Scenario | None
    control: str
    is_assumed: bool
    replayed: FlowTrace | None = None
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
        assumed = []
        if self.is_assumed and self.distances:
            assumed = [f"the file does not name the control: {self.control} is assumed (--cc)"]
        return [*self.path.doubts, *self.flow.doubts, *self.doubts, *assumed]

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
        return ["", "estimate [95 % interval]"], [
            ["bottleneck rate", rate],
            ["spread of busy rates", spread],
            ["base round trip", _text(path.base_s, "s")],
            ["buffer", buffer],
            ["drops", path.drop],
            ["random loss", loss],
        ]

    def _path_lines(self) -> list[str]:
        return [table(*self._path_rows())]

    def _replay_head(self) -> str:
        era = self.scenario.to_document().get("era", "rfc") if self.scenario else ""
        return f"replay of {self.control}, sender of era {era}, on this path:"

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
            File(__file__).with_name("calibration.html"),
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


def _plain(value: Value | None) -> dict[str, float] | None:
    return None if value is None else {"value": value.value, "low": value.low, "high": value.high}


def _text(value: Value | None, unit: str) -> str:
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
    path: str | File,
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
        The control of the flow; left out: what the file names, else CUBIC.
    alternatives
        Controls to try on the path.
    qdiscs
        Queues to try beside FIFO.
    draws
        Paths drawn from the intervals for each alternative.
    workers
        Runs at a time; left out: one per core.
    interface, interval_s
        As of `read`.
    progress
        Called with the share of runs that are finished.
    """
    path = File(path)
    trace = read_trace(path, interface=interface, interval_s=interval_s)
    if not 1 <= flow <= len(trace.flows):
        raise CaptureError(f"{path}: there is no flow {flow}; it has 1 to {len(trace.flows)}")
    measured = trace.flows[flow - 1]
    evidence = gather(measured)
    guess = estimate(evidence)
    named = control or measured.control
    result = Calibration(
        path.name, _digest(path), measured, evidence, guess, None, named or "cubic",
        named is None, doubts=list(trace.doubts),
    )  # fmt: skip
    if guess.base_s is None or not (guess.rate_bps or guess.least_rate_bps):
        if alternatives:
            raise CaptureError(f"{path}: {'; '.join(guess.doubts)}: nothing can be tried on it")
        return result
    duration_s = max(evidence.duration_s, 1.0)
    hypotheses = [guess]
    if guess.drop == "not known" and guess.loss is not None:
        # Losses may be random or a full queue's: the replay decides.
        hypotheses.append(replace(guess, loss=None))
    trials = []
    for era in ("linux", "rfc"):
        for hypothesis in hypotheses:
            scenario = scenario_of(
                hypothesis, measured, centre(hypothesis, evidence.size_bytes),
                control=result.control, duration_s=duration_s, era=era,
                name=f"Path of {path.name}",
            )  # fmt: skip
            replayed = replay(scenario, measured.position)
            distances, verdict = compare(measured, replayed)
            trials.append((
                score(distances), era, hypothesis, scenario, replayed, distances, verdict,
            ))  # fmt: skip
    # The sender's stack is not known: the nearest is kept.
    _, era, hypothesis, result.scenario, result.replayed, result.distances, result.verdict = min(
        trials, key=lambda trial: trial[0]
    )
    if duration_s > MOST_SECONDS:
        result.doubts.append(f"the replay has the first {MOST_SECONDS:g} s alone")
    if alternatives or qdiscs:
        result.alternatives = try_alternatives(
            hypothesis, measured, list(dict.fromkeys([result.control, *alternatives])),
            list(dict.fromkeys(["fifo", *qdiscs])), size_bytes=evidence.size_bytes,
            duration_s=min(duration_s, TRIED_SECONDS), draws=draws, workers=workers,
            era=era, progress=progress,
        )  # fmt: skip
    return result


def _digest(path: File) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
