"""Runs a scenario here and by peers, and says where the two differ."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ackclock._util.text_table import table
from ackclock.peers.registry import Options, prepare, prepare_all
from ackclock.studies.differ.measure import (
    LINK_QUANTITIES,
    QUANTITIES,
    SLACK,
    Parting,
    PeerTrace,
    judge,
    known_since,
    measure,
    measure_link,
    part,
    sample_windows,
    states_of,
    trace,
)
from ackclock.studies.differ.meeting import Meeting, meet
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ackclock.peers.registry import PreparedPeer
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario

__all__ = ["Difference", "Peer", "QuantityRow", "differ"]

WORDS = {**QUANTITIES, **LINK_QUANTITIES}

HEAD = ("flow or link", "ours", "theirs", "quantity", "here", "there", "difference", "verdict")


@dataclass(frozen=True)
class QuantityRow:
    """A quantity of a flow or a link, here and there.

    Parameters
    ----------
    flow
        The flow's id, or the link's.
    controls
        Ours and theirs; of a link its discipline.
    quantity
        One of `QUANTITIES` or `LINK_QUANTITIES`.
    here, there
        Values, seed by seed.
    verdict
        ``equal``, ``inside``, ``apart`` or ``undecided``.
    """

    flow: str
    controls: tuple[str, str]
    quantity: str
    here: tuple[float, ...]
    there: tuple[float, ...]
    verdict: str

    @property
    def cells(self) -> list[str]:
        """As a line of a table."""
        ours, theirs = float(np.mean(self.here)), float(np.mean(self.there))
        by = f"{100 * (theirs / ours - 1):+.1f} %" if ours else f"{theirs - ours:+.3g}"
        words = WORDS[self.quantity]
        span = [_span(values) for values in (self.here, self.there)]
        return [self.flow, *self.controls, words, *span, by, self.verdict]


def _span(values: Sequence[float]) -> str:
    """The mean of several values, with their range where they are not one."""
    least, most = min(values), max(values)
    mean = f"{float(np.mean(values)):.4g}"
    return mean if least == most else f"{mean} ({least:.4g} to {most:.4g})"


@dataclass(frozen=True)
class Peer:
    """What differs with a peer.

    Parameters
    ----------
    name
        Of the peer.
    release
        Name and version of what took part.
    rows
        Quantities of the flows that are compared.
    partings
        Where the windows of a flow part, with the first seed, by its id.
    traces
        These windows: ours and theirs.
    notes
        What the peer does otherwise, a sentence each.
    meeting
        How far the events of both are the same, with the first seed; None: not compared.
    """

    name: str
    release: str
    rows: tuple[QuantityRow, ...]
    partings: dict[str, Parting]
    traces: dict[str, tuple[PeerTrace, PeerTrace]] = field(repr=False)
    notes: tuple[str, ...] = ()
    meeting: Meeting | None = None
    state: str = ""

    @property
    def sentences(self) -> list[str]:
        """What is said beside the table."""
        said = [f"{flow}: {parting}." for flow, parting in self.partings.items()]
        if self.meeting is not None:
            said.insert(0, f"{self.meeting.sentence(self.name, self.state)}.")
        return [*said, *(f"different: {note}." for note in self.notes)]


@dataclass(frozen=True)
class Difference(StudyOutcome):
    """A scenario with our controls, and with those of peers.

    Parameters
    ----------
    name
        Of the scenario.
    peers
        What differs with each.
    seeds
        Of the runs.
    tolerance
        By how much of our mean the means may differ.
    left_out
        Why the other peers were not compared, by name, where none was chosen.
    """

    MARKER: ClassVar[str] = "differ.json"
    PAGE: ClassVar[str] = "index.html"

    name: str
    peers: tuple[Peer, ...]
    seeds: tuple[int, ...]
    tolerance: float
    left_out: dict[str, str] = field(default_factory=dict)

    @property
    def absent(self) -> list[str]:
        """Who was not compared and why, one sentence a peer."""
        return [f"not compared with {peer}: {reason}" for peer, reason in self.left_out.items()]

    @property
    def apart(self) -> list[str]:
        """What is apart, one sentence a quantity."""
        return [
            f"{row.flow}, {WORDS[row.quantity]}: {row.cells[4]} with {row.controls[0]}, "
            f"{row.cells[5]} with {row.controls[1]}"
            for peer in self.peers
            for row in peer.rows
            if row.verdict == "apart"
        ]

    @property
    def answer(self) -> str:
        """One sentence."""
        clauses = []
        for peer in self.peers:
            verdicts = [row.verdict for row in peer.rows]
            if set(verdicts) == {"equal"}:
                clauses.append(f"{peer.name} is equal in every quantity")
                continue
            counts = {word: verdicts.count(word) for word in ("apart", "undecided")}
            which = [f"{word} in {count}" for word, count in counts.items() if count]
            if which:
                apart_text = " and ".join(which)
                clauses.append(f"{peer.name} is {apart_text} of {len(verdicts)} quantities")
            else:
                clauses.append(f"{peer.name} is inside the band in every quantity")
        return "; ".join(clauses) + "."

    @property
    def about(self) -> str:
        """How verdicts are made."""
        runs = f"{len(self.seeds)} runs" if len(self.seeds) > 1 else "one run"
        return (
            f"Of {runs} each, seeds {self.seeds[0]} to {self.seeds[-1]}, after the warm-up. Equal:"
            " the same in every run. Inside: the 95 % interval of the difference, run by run, is"
            f" within {100 * self.tolerance:g} % of our mean, and at least"
            f" {SLACK['cuts']:g} cut and {SLACK['loss_percent']:g} points of loss. Apart: all of it"
            " is beyond. Undecided: neither, and more runs decide; one run of each has no interval,"
            " and its verdict is of this run."
        )

    def __str__(self) -> str:
        parts = [f"{self.name}: {self.answer}"]
        for peer in self.peers:
            rows = [row.cells for row in peer.rows]
            parts.append(f"{peer.name} ({peer.release})\n{table(HEAD, rows, most=len(rows))}")
            parts.append("\n".join(peer.sentences))
        if self.absent:
            parts.append("\n".join(self.absent))
        return "\n\n".join([*parts, self.about])

    def to_dict(self) -> dict[str, Any]:
        """Everything but the windows, as plain data."""
        return {
            "scenario": self.name,
            "answer": self.answer,
            "seeds": list(self.seeds),
            "tolerance": self.tolerance,
            "peers": [
                {
                    "peer": peer.name,
                    "release": peer.release,
                    "quantities": [
                        {
                            "flow": row.flow,
                            "ours": row.controls[0],
                            "theirs": row.controls[1],
                            "quantity": row.quantity,
                            "here": list(row.here),
                            "there": list(row.there),
                            "verdict": row.verdict,
                        }
                        for row in peer.rows
                    ],
                    "partings": {
                        flow: {
                            "packet": parting.packet and asdict(parting.packet),
                            "tenth": parting.tenth and asdict(parting.tenth),
                            "sentence": str(parting),
                        }
                        for flow, parting in peer.partings.items()
                    },
                    "notes": list(peer.notes),
                    "events": _event_data(peer),
                }
                for peer in self.peers
            ],
            "left_out": self.left_out,
        }

    def pages(self, command: str) -> dict[str, str]:
        """The page.

        Parameters
        ----------
        command
            What the user typed.
        """
        from ackclock._util.page import inline, render
        from ackclock.studies.differ.draw import draw_windows

        peers = []
        for peer in self.peers:
            figure = draw_windows(peer.traces, peer.partings)
            peers.append(
                {
                    "peer": peer.name,
                    "release": peer.release,
                    "rows": peer.rows,
                    "sentences": peer.sentences,
                    "figure": figure and inline(figure, prefix=peer.name),
                }
            )
        template = Path(__file__).with_name("differ.html")
        text = render(
            template,
            title=f"{self.name}: ours and theirs",
            answer=self.answer,
            about=self.about,
            head=HEAD,
            peers=peers,
            absent=self.absent,
            command=command,
        )
        return {"index.html": text}


def _event_data(peer: Peer) -> dict[str, Any] | None:
    if peer.meeting is None:
        return None
    sentence = peer.meeting.sentence(peer.name, peer.state)
    return {**asdict(peer.meeting), "state": peer.state, "sentence": sentence}


def differ(
    scenario: Scenario,
    peers: Sequence[str] | None = None,
    *,
    reps: int = 1,
    tolerance: float = 0.05,
    options: Options | None = None,
    progress: Callable[[float], object] | None = None,
) -> Difference:
    """Run a scenario here, and by peers.

    Parameters
    ----------
    scenario
        The scenario.
    peers
        Names of `ackclock.peers.registry.PEERS`; left out: all that can run the scenario.
    reps
        Runs of each, with seeds one after another; one is enough where nothing is random.
    tolerance
        By how much of our mean the means may differ for the verdict ``inside``.
    options
        Where peers are that are programs, and how long they may take.
    progress
        Called before each run with the share that is done.

    Raises
    ------
    ScenarioError
        The scenario cannot be run, or not by a peer that is named.
    UnsupportedError
        A peer that is named is not there, or none can run the scenario.
    """
    scenario.check()
    options = options or Options()
    left_out: dict[str, str] = {}
    if peers is None:
        prepared, left_out = prepare_all(scenario, options)
    else:
        prepared = {peer: prepare(peer, scenario, options) for peer in peers}
    seeds = tuple(range(scenario.seed, scenario.seed + reps))
    # Peers of one era have the same runs of ours beside them.
    here: dict[str, list[Run]] = {}
    eras = {prepared_peer.ours.fingerprint for prepared_peer in prepared.values()}
    total = len(seeds) * (
        len(eras) + sum(prepared_peer.cost for prepared_peer in prepared.values())
    )
    spent = 0.0

    def run(case: Callable[[int], Run], cost: float) -> list[Run]:
        nonlocal spent
        runs = []
        for seed in seeds:
            if progress is not None:
                progress(spent / total)
            runs.append(case(seed))
            spent += cost
        return runs

    peer_differences = []
    for name, prepared_peer in prepared.items():
        events = any(
            other.has_events and other.ours.fingerprint == prepared_peer.ours.fingerprint
            for other in prepared.values()
        )
        tables = ["windows", "states", *(["packets"] if events else [])]
        ours = prepared_peer.ours.replace(**{"record.tables": tables})
        if prepared_peer.ours.fingerprint not in here:
            here[prepared_peer.ours.fingerprint] = run(partial(_run, ours), 1)
        mine = here[prepared_peer.ours.fingerprint]
        if prepared_peer.samples_s is not None:
            mine = [sample_windows(each, prepared_peer.samples_s) for each in mine]
        sides = (mine, run(prepared_peer.run, prepared_peer.cost))
        peer_differences.append(_compare_runs(name, prepared_peer, sides, tolerance))
    return Difference(
        scenario.name or "scenario", tuple(peer_differences), seeds, tolerance, left_out
    )


def _run(scenario: Scenario, seed: int) -> Run:
    return scenario.with_seed(seed).run()


def _compare_runs(
    name: str, prepared: PreparedPeer, sides: tuple[list[Run], list[Run]], tolerance: float
) -> Peer:
    """Compare the runs of both sides."""
    rows, partings, traces = [], {}, {}

    def judge_quantity(name: str, kinds: Any, quantity: str, a: Any, b: Any) -> QuantityRow:
        slack, resolution = SLACK.get(quantity, 0.0), prepared.resolution.get(quantity, 0.0)
        return QuantityRow(name, kinds, quantity, a, b, judge(a, b, tolerance, slack, resolution))

    first, other = (side[0] for side in sides)
    finest_s = prepared.resolution.get("time_s", 0.0)
    for i in prepared.flows(other):
        flow = first.summary["flows"][i]["id"]
        controls = tuple(run.summary["flows"][i]["cc"] for run in (first, other))
        since = [known_since(pair, flow) + finest_s for pair in zip(*sides, strict=True)]
        values = [
            [measure(run, i, at) for run, at in zip(side, since, strict=True)] for side in sides
        ]
        for quantity in QUANTITIES:
            a, b = (tuple(value[quantity] for value in side) for side in values)
            if np.isnan(b).all() and not np.isnan(a).all():
                continue  # the peer does not measure it
            rows.append(judge_quantity(flow, controls, quantity, a, b))
        if not all(len(trace(side, flow).time_s) for side in (first, other)):
            continue  # it has no window
        traces[flow] = pair = (trace(first, flow), trace(other, flow))
        partings[flow] = part(*pair, states_of(first, flow), finest_s)
    disciplines = {link["id"]: link["qdisc"] for link in first.summary["links"]}
    for link in prepared.links:
        values = [[measure_link(run, link) for run in side] for side in sides]
        for quantity in LINK_QUANTITIES:
            a, b = (tuple(value[quantity] for value in side) for side in values)
            rows.append(judge_quantity(link, (disciplines[link],) * 2, quantity, a, b))
    meeting, state = None, ""
    if prepared.has_events:
        meeting = meet(first.packets, other.packets, prepared.links)
        if meeting.time_s is not None and meeting.flow:
            states = states_of(first, meeting.flow)
            entered = [state for time_s, state in states if time_s <= meeting.time_s]
            state = entered[-1] if entered else ""
    release = prepared.release(other)
    return Peer(name, release, tuple(rows), partings, traces, prepared.notes, meeting, state)
