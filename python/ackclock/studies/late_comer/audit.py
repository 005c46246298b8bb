"""What a flow gets that starts after others of its kind: five situations, measured.

A delay-based control that takes the smallest round trip it has seen for propagation takes the
queue of those before it for propagation too, and gets more than they do. The closed forms of this
are equations (11) and (15) of M. Rodríguez-Pérez et al., "The persistent congestion problem of
FAST-TCP: Analysis and solutions". This audit puts any control through the same situations.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import decimals, number
from ackclock.experiments.store.purpose import runs_of
from ackclock.studies.late_comer.rows import LateComerRow, predict_ratio, verdict
from ackclock.studies.late_comer.situations import SITUATIONS, TIERS, documents, sweep_of
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ackclock.experiments.status_line import Status
    from ackclock.experiments.store import Place
    from ackclock.studies.algorithm_argument import Subject
    from ackclock.studies.late_comer.situations import LateComerTier

__all__ = ["Audit", "audit"]

Data = dict[str, Any]
Rates = Mapping[str, float]

RESTLESS = 0.012
"""Where the late-comer's part of what it and one other get changes by more than this, and the same
way for all start times, from half to half of what is measured, the flows are not at rest."""


def _ratio(situation: str, rates: Rates) -> float:
    """The late-comer's goodput over that of the others of its kind."""
    old = [rate for name, rate in rates.items() if name.startswith("old")]
    if situation == "sequential":
        old = [rates["old0"]]
    new, mean = rates["new"], statistics.fmean(old)
    return new / mean if mean > 0 else math.inf if new > 0 else 1.0


def _shares(rates: Rates) -> tuple[float, ...]:
    """Parts of what the flows of this kind get together, the late-comer's last."""
    own = [rate for name, rate in rates.items() if name.startswith("old")] + [rates["new"]]
    whole = sum(own)
    return tuple(rate / whole if whole > 0 else 1 / len(own) for rate in own)


@dataclass(frozen=True)
class Audit(StudyOutcome):
    """A finished audit. Printing it gives the page."""

    MARKER = "audit.json"

    control: str
    tier: str
    gap_s: float
    runs: int
    rows: tuple[LateComerRow, ...]

    @property
    def answer(self) -> str:
        """The whole in one sentence, or two."""
        pure = [row for row in self.rows if row.situation in ("sequential", "joining")]
        # A buffer that overflows empties now and then and shows the propagation delay.
        pure = [row for row in pure if not row.overflows] or pure
        restless = sum(not row.at_rest for row in pure)
        reported = self._judge_fairness([row for row in pure if row.at_rest])
        if not restless:
            return reported
        more = (
            f"{restless} of {len(pure)} cases among its own kind had not come to rest;"
            f" --gap {number(4 * self.gap_s)} gives them more time."
        )
        return f"{reported} {more}".strip()

    def _judge_fairness(self, pure: list[LateComerRow]) -> str:
        favoured = [row for row in pure if "favoured" in row.verdict]
        as_model = [row for row in favoured if "persistent" in row.verdict]
        starved = [row for row in pure if "starved" in row.verdict]
        if not pure:
            return f"No judgement of {self.control}:"
        if len(as_model) > len(pure) / 2:
            return (
                f"{self.control} suffers from persistent congestion: late-comers get"
                f" {decimals(min(r.ratio for r in as_model), 1)} to"
                f" {decimals(max(r.ratio for r in as_model), 1)}"
                " times what the others get, as the model predicts."
            )
        if favoured:
            worst = max(favoured, key=lambda row: row.ratio)
            return (
                f"{self.control} favours late-comers in {len(favoured)} of {len(pure)} cases among"
                f" its own kind, by up to {decimals(worst.ratio, 1)}; not by the model's amount"
                " in most."
            )
        if starved:
            worst = min(starved, key=lambda row: row.ratio)
            return (
                f"{self.control} starves late-comers in {len(starved)} of {len(pure)} cases among"
                f" its own kind, down to {decimals(worst.ratio, 2)} of what the others get."
            )
        return f"{self.control} treats late-comers of its own kind fairly."

    def __str__(self) -> str:
        from ackclock.studies.late_comer.page import text

        return text(self.answer, self.rows, self.about)

    @property
    def about(self) -> str:
        """What was run and how the numbers are to be read."""
        from ackclock.studies.late_comer.page import about

        return about(self.tier, self.runs, self.gap_s)

    def to_dict(self) -> Data:
        """Everything as plain data, for JSON."""
        return {**asdict(self), "answer": self.answer}

    def pages(self, command: str) -> dict[str, str]:
        """The page.

        Parameters
        ----------
        command
            What the user typed.
        """
        from ackclock.studies.late_comer.page import html

        page = html(self.control, self.answer, self.rows, about=self.about, command=command)
        return {"index.html": page}


@dataclass(frozen=True)
class _Measured:
    """One run: rates over all that is measured, and over its halves."""

    rates: Rates
    halves: tuple[Rates, Rates]
    overflows: bool
    utilisation: float


At = tuple[Any, ...]


def _measure_runs(result: Any, gap_s: float, end_s: float) -> dict[At, _Measured]:
    """Runs by round trip, buffer and start."""

    def at(row: Mapping[str, Any]) -> At:
        return row["rtt_ms"], row["buffer"], row["start"]

    rates: dict[At, dict[str, float]] = {}
    samples: dict[At, dict[str, list[tuple[float, float]]]] = {}
    for row in result.tables["flows"].to_pylist():
        rates.setdefault(at(row), {})[str(row["id"])] = float(row["goodput_bps"])
    for row in result.tables["flow_samples"].to_pylist():
        seen = samples.setdefault(at(row), {}).setdefault(str(row["flow"]), [])
        seen.append((row["time_s"], float(row["delivered_bytes"])))
    found = {}
    for row in result.tables["links"].to_pylist():
        if str(row["id"]) != "r0->r1":
            continue
        first, second = {}, {}
        for name, rate in rates[at(row)].items():
            begin, middle = (
                next((b for t, b in samples[at(row)][name] if abs(t - when) < gap_s / 8), 0.0)
                for when in (end_s - gap_s, end_s - gap_s / 2)
            )
            first[name] = 16 * (middle - begin) / gap_s
            second[name] = 2 * rate - first[name]
        overflows, used = row["drops"] > 0, float(row["utilisation"])
        found[at(row)] = _Measured(rates[at(row)], (first, second), overflows, used)
    return found


def _rests(situation: str, runs: Mapping[At, _Measured]) -> bool:
    """Whether the late-comer's part is the same in both halves, in most conditions."""
    changes: dict[At, list[float]] = {}
    for at, run in runs.items():
        # Beside one other: a ratio of 100 or of 200 makes no difference.
        one, other = (1 - 1 / (1 + _ratio(situation, half)) for half in run.halves)
        changes.setdefault(at[:2], []).append(other - one)
    # Chance moves runs that differ by their start one way or the other; a drift moves all alike.
    moving = [min(c) > RESTLESS or max(c) < -RESTLESS for c in changes.values()]
    return 2 * sum(moving) < len(moving)


def _rows(situation: str, flows: int, all_runs: Mapping[At, _Measured]) -> Iterator[LateComerRow]:
    """Rows of a situation: where the buffer never overflowed, and where it did."""
    model = predict_ratio(situation, flows)
    for overflows in (False, True):
        runs = {at: run for at, run in all_runs.items() if run.overflows == overflows}
        if not runs:
            continue
        of_condition: dict[At, list[float]] = {}
        for at, run in runs.items():
            of_condition.setdefault(at[:2], []).append(_ratio(situation, run.rates))
        means = {at: statistics.fmean(ratios) for at, ratios in of_condition.items()}
        worst = max(means, key=lambda at: max(means[at], 1 / max(means[at], 1e-9)))
        middle = statistics.median(means.values())
        columns = zip(*(_shares(run.rates) for run in runs.values()), strict=True)
        shares = tuple(statistics.median(column) for column in columns)
        at_rest = _rests(situation, runs)
        judged = verdict(middle, model.ratio if model else None)
        yield LateComerRow(
            situation,
            flows,
            overflows,
            middle,
            min(means.values()),
            max(means.values()),
            model.ratio if model else None,
            shares[-1],
            model.shares[-1] if model else None,
            1 / len(shares),
            shares,
            at_rest,
            f"{worst[0]} ms, {worst[1]}",
            statistics.fmean(run.utilisation for run in runs.values()),
            judged if at_rest else f"not at rest: {judged}",
        )


def audit(
    control: Subject,
    tier: str = "fast",
    *,
    gap_s: float | None = None,
    settings: Mapping[str, Any] | None = None,
    size: LateComerTier | None = None,
    workers: int | None = None,
    store: Place = None,
    progress: bool | Callable[[Status], object] = True,
    report: Callable[[str], object] = lambda _: None,
) -> Audit:
    """Put a control through every situation.

    Parameters
    ----------
    control
        As `ackclock.studies.evaluate_control.grid.read_control` reads it.
    tier
        ``fast`` or ``full``.
    gap_s
        Time between starts, and that which is measured [s]; left out: the tier's.
    settings
        What the control's flows need beside it, as keys of a flow.
    size
        In place of the tier's.
    workers, store, progress
        As of `ackclock.experiments.Sweep.run`.
    report
        Gets a line when a situation begins.

    Raises
    ------
    UnsupportedError
        There is no such tier.
    AckclockError
        The control failed in a run.
    KeyboardInterrupt
        It was stopped; runs that had finished are in the store.
    """
    from ackclock.errors import find_by_name

    size = size or find_by_name(tier, TIERS, "tier")
    if gap_s is not None:
        size = replace(size, gap_s=gap_s)
    rows: list[LateComerRow] = []
    runs = 0
    for situation, flows, document in documents(control.value, size, settings):
        report(f"{SITUATIONS[situation].title}, n = {flows}")
        sweep = sweep_of(document, size, f"{situation}, n = {flows}")
        with runs_of("audit"):
            result = sweep.run(workers=workers, store=store, progress=progress)
        if result.interrupted:
            raise KeyboardInterrupt
        found = _measure_runs(result, size.gap_s, document["duration"])
        runs += len(found)
        rows.extend(_rows(situation, flows, found))
    return Audit(control.label, tier, size.gap_s, runs, tuple(rows))
