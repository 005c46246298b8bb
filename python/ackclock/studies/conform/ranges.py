"""One flow over a suite's ranges of rate and round-trip time: its share, its queue, its losses."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any

from ackclock._util import units
from ackclock._util.number_text import number
from ackclock.errors import Problem, ScenarioError
from ackclock.studies.conform.judge import FAIL, PASS, ConformanceRow
from ackclock.studies.conform.run import Conformance, document, facts, read_under_test
from ackclock.studies.conform.suite import find_suite

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.studies.algorithm_argument import Subject
    from ackclock.studies.conform.suite import Suite

__all__ = ["conform_over_ranges"]

MEASURED_S, MEASURED_ROUNDS = 15.0, 40
"""The end of each run that is measured, at least [s, round trips]: three intervals of ProbeRTT."""
INTERVAL_S, PROBE_S, HALF = 5.0, 0.2, 0.5
"""ProbeRTTInterval, ProbeRTTDuration, ProbeRTTCwndGain."""
PACED = 0.99
"""1 - PacingMarginPercent."""
ROUNDS = 45
"""Round trips before: 20 doublings, three without growth behind a queue, and what drains it."""
INITIAL_PACKETS = 10
"""A round trip is at least what the initial window takes to leave."""
LEAST_BUFFER_PACKETS = 64
PACKET_BITS = 12_000.0
QUANTUM_S, QUANTUM_BITS = 1e-3, 65_536 * 8.0
"""SetSendQuantum(): 1 ms at the pacing rate, up to 64 KiB, at least 2 packets."""


@dataclass(frozen=True)
class _Place:
    """A rate [bit/s] and a round-trip time [s]."""

    label: str
    rate_bps: float
    rtt_s: float

    @property
    def bdp_bits(self) -> float:
        return self.rate_bps * self.rtt_s

    @property
    def share(self) -> float:
        """What PROBE_RTT leaves: a round until little is in flight, then 200 ms or a round."""
        low_s = self.rtt_s + max(PROBE_S, self.rtt_s)
        return PACED * (INTERVAL_S + HALF * low_s) / (INTERVAL_S + low_s)

    @property
    def slack_bits(self) -> float:
        """What may be in flight beyond multiples of the BDP: three quanta, at least MinPipeCwnd."""
        quantum = min(self.rate_bps * QUANTUM_S, QUANTUM_BITS)
        return 3 * max(quantum, 2 * PACKET_BITS) + 2 * PACKET_BITS


def conform_over_ranges(
    suite: str | Suite,
    control: str,
    *,
    seed: int = 1,
    workers: int | None = None,
    folder: Path | None = None,
) -> Conformance:
    """Run one flow of a control over a suite's ranges of rate and round-trip time.

    Parameters
    ----------
    suite, control, seed, folder
        As of `ackclock.studies.conform.conform`.
    workers
        Runs at a time; left out: one per core.

    Returns
    -------
    Conformance
        Three checks for each rate and round-trip time.

    Raises
    ------
    ScenarioError
        The suite has no ranges, there is no such suite or control, or it is a guest.
    """
    from concurrent.futures import ThreadPoolExecutor

    from ackclock.experiments.executors.local import cores

    conformance_suite = find_suite(suite) if isinstance(suite, str) else suite
    ranges = conformance_suite.ranges
    if ranges is None:
        raise ScenarioError([Problem("ranges", f"the suite {conformance_suite.name} has none")])
    subject = read_under_test(conformance_suite, control, seed, folder)
    if subject.is_guest:
        message = "are measured in segments of TCP, which a guest does not have; expected a control"
        raise ScenarioError([Problem("ranges", message)])
    paths = [
        _Place(f"{rate}, {rtt}", units.parse(rate, "rate"), units.parse(rtt, "duration"))
        for rate, rtt in product(ranges["rates"], ranges["rtts"])
    ]
    with ThreadPoolExecutor(workers or cores()) as pool:
        path_rows = list(
            pool.map(lambda path: _run_place(conformance_suite, path, subject, seed), paths)
        )
    rows = tuple(row for rows in path_rows for row in rows)
    title = f"{conformance_suite.title}: over the ranges of rate and round-trip time"
    return Conformance(conformance_suite.name, title, conformance_suite.source, subject.label, rows)


def _run_place(suite: Suite, path: _Place, subject: Subject, seed: int) -> list[ConformanceRow]:
    from ackclock.scenario.scenario import Scenario

    ranges: dict[str, Any] = dict(suite.ranges or {})
    round_s = max(path.rtt_s, INITIAL_PACKETS * PACKET_BITS / path.rate_bps)
    measured_s = max(MEASURED_S, MEASURED_ROUNDS * round_s)
    duration_s = measured_s + ROUNDS * round_s
    buffer_bits = max(4 * path.bdp_bits, LEAST_BUFFER_PACKETS * PACKET_BITS)
    data = document(suite, None, subject.value, seed)
    data |= {
        "duration": f"{duration_s} s",
        "warmup": f"{duration_s - measured_s} s",
        "net": {
            "kind": "dumbbell",
            "pairs": 1,
            "rate": f"{path.rate_bps} bps",
            "rtt": f"{path.rtt_s} s",
            "access_delay": f"{path.rtt_s / 40} s",
            "buffer": f"{int(buffer_bits / 8)} B",
        },
        "record": {"interval": f"{max(path.rtt_s / 4, measured_s / 2000)} s"},
    }
    scenario = Scenario.from_data(data)
    run = scenario.run(record=["link_samples", "probes"])
    flow = run.summary["flows"][0]
    link = next(link for link in run.summary["links"] if link["id"] == "r0->r1")
    samples = run.table("link_samples").to_pylist()
    bits = [
        8.0 * row["queue_bytes"]
        for row in samples
        if str(row["link"]) == "r0->r1" and row["time_s"] >= duration_s - measured_s
    ]
    share = flow["goodput_bps"] / facts(scenario)["payload_bps"]
    extra = [
        row["value"] for row in run.table("probes").to_pylist() if row["probe"] == "extra_acked"
    ]
    most = ranges["queue_bdp"] * path.bdp_bits + path.slack_bits + sum(extra) * PACKET_BITS
    low = path.share - float(ranges["share_slack"])
    return [
        _row(path, 1, "share of what the path carries", f">= {number(low)}", number(share),
             share, passes=share >= low, why=ranges["share_reason"]),
        _row(path, 2, "largest queue", f"<= {number(most / PACKET_BITS)} packets",
             f"{number(max(bits) / PACKET_BITS)} packets", max(bits) / PACKET_BITS,
             passes=max(bits) <= most, why=ranges["queue_reason"]),
        _row(path, 3, "packets lost", "0", f"{link['drops']}", float(link["drops"]),
             passes=link["drops"] == 0, why=ranges["loss_reason"]),
    ]  # fmt: skip


def _row(
    path: _Place,
    step: int,
    text: str,
    expected: str,
    measured: str,
    value: float,
    *,
    passes: bool,
    why: str,
) -> ConformanceRow:
    verdict = PASS if passes else FAIL
    return ConformanceRow(
        path.label, path.label, step, text, expected, measured, value, verdict, why
    )
