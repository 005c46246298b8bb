"""What an evaluation's runs say: scores with intervals, winners, worst environment, neighbours.

Rule (s the goodput of a control in an environment, under one seed; b(e) the best control of e, and
w(a) the environment in which a is furthest behind that, both chosen by other seeds)::

    d(a, e) = s(b(e), e)  -  s(a, e)
    D(a)    = mean of d(a, e) over e,   C(a) = d(a, w(a))

The greatest of several values that differ by chance is greater than each of them is. So what is
chosen by the mean over one half of the replicates is measured in the other half, and the other way
round. D and C are therefore differences, and no distances: of equal controls they are 0 on average
and as often below 0 as above. In truth the best control of all environments has D = 0; where the
halves do not always choose it, its estimate is below 0 on average, by what the chosen ones are
worse, and every other D is too small by that: D says no more than is sure. No value is cut off at
0, as that would make the mean of them too high. Differences of D between controls do not depend on
the choice: they are those of mean goodput. The one environment that is named the worst is chosen
by every second replicate, and its interval is that of the others. With one replicate the choice is
its own, and D and C are at least 0.

Each replicate has its own D and C; intervals are Student's over replicates. In a setting the best
controls are the one of least D and all that Holm's procedure at 5 % over the differences to it does
not exclude; with their seeds in common the differences are paired. The interval says what the runs
support, not what other environments would give.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.errors import AckclockError
from ackclock.experiments.groups import one_run_points
from ackclock.experiments.statistics import Mean, holm, mean_p_value

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ackclock.experiments.result import SweepResult
    from ackclock.studies.algorithm_argument import Subject

__all__ = ["UNFAIR", "Judgement", "judge_results", "mean_ratio"]

UNFAIR = 1.0
"""A control is called unfair where the mean of (max - min) / mean of goodputs, over seeds, is above
this by its 95 % interval."""

METRICS = ("goodput", "fairness", "loss_percent", "delay_ms", "timeouts")


@dataclass(frozen=True)
class Neighbour:
    """How flows of the control and of another share.

    Parameters
    ----------
    share
        Goodput of an own flow over that of a flow of the other, in all environments together; 1 is
        equal. As `retained` a geometric mean over replicates, see `mean_ratio`.
    retained
        Goodput of a flow of the other beside own flows, over its goodput among its own kind: 1
        where they change nothing, 0 where they take all, above 1 where it gains.
    """

    share: Mean
    retained: Mean

    @property
    def is_harmed(self) -> bool:
        """Whether the other gets less than among its own kind, beyond the 95 % interval."""
        return self.retained.high < 1


@dataclass(frozen=True)
class Judgement:
    """Everything that the page and the report say.

    Parameters
    ----------
    control
        Label of the control under study.
    controls, settings, environments
        Labels.
    rank_d, rank_c
        D and C by setting and control.
    best
        Controls among the best, by setting.
    metrics
        Mean over environments by setting, control and metric.
    worst
        By setting: environment in which the control is furthest behind, by how much, behind whom;
        behind itself where the seeds that choose have it ahead in all environments.
    gaps
        d of the control by setting and environment.
    neighbours
        By router and other control.
    seeds, runs
        Replicates, runs in all.
    cpu_s
        Time of one core [s].
    one_run, points
        Points of the grid of which all seeds give one and the same run, and all points.
    """

    control: str
    controls: tuple[str, ...]
    settings: tuple[str, ...]
    environments: tuple[str, ...]
    rank_d: Mapping[tuple[str, str], Mean]
    rank_c: Mapping[tuple[str, str], Mean]
    best: Mapping[str, tuple[str, ...]]
    metrics: Mapping[tuple[str, str, str], Mean]
    worst: Mapping[str, tuple[str, Mean, str]]
    gaps: Mapping[tuple[str, str], Mean]
    neighbours: Mapping[tuple[str, str], Neighbour]
    seeds: int
    runs: int
    cpu_s: float
    one_run: int = 0
    points: int = 0

    def is_unfair(self, setting: str, control: str) -> bool:
        """Whether a control shares unevenly among its own kind, beyond the 95 % interval.

        Parameters
        ----------
        setting, control
            Labels.
        """
        return self.metrics[setting, control, "fairness"].low > UNFAIR

    @property
    def won(self) -> list[str]:
        """Settings in which the control is among the best."""
        return [setting for setting in self.settings if self.control in self.best[setting]]


Scores = dict[tuple[str, str, str], dict[int, dict[str, float]]]
"""By setting, control, environment, then by replicate: the metrics."""


def _scores(result: SweepResult) -> Scores:
    found: Scores = defaultdict(dict)
    for row in result.tables["environment"].to_pylist():
        place = (row["setting"], row["control"], row["environment"])
        values = {name: row[name] for name in METRICS}
        found[place][row["replicate"]] = {
            name: float("nan") if value is None else float(value) for name, value in values.items()
        }
    return found


def judge_results(control: Subject, alone: SweepResult, shared: SweepResult) -> Judgement:
    """Judge the results of both sweeps.

    Parameters
    ----------
    control
        The one under study.
    alone, shared
        Results of `ackclock.studies.evaluate_control.grid`'s sweeps, whole.

    Raises
    ------
    AckclockError
        Runs are missing.
    """
    if alone.interrupted or shared.interrupted:
        raise AckclockError("the evaluation was stopped before its end; run it again to go on")
    scores = _scores(alone)
    settings = tuple(dict.fromkeys(key[0] for key in scores))
    controls = tuple(dict.fromkeys(key[1] for key in scores))
    environments = tuple(dict.fromkeys(key[2] for key in scores))
    reps = sorted(next(iter(scores.values())))
    ahead = {
        (s, e, half): max(controls, key=lambda a: _goodput(scores[s, a, e], half))
        for s in settings
        for e in environments
        for half in _halves(reps)
    }
    behind = {
        (s, c, e, r): scores[s, ahead[s, e, _other_half(reps, r)], e][r]["goodput"]
        - scores[s, c, e][r]["goodput"]
        for s in settings
        for c in controls
        for e in environments
        for r in reps
    }
    furthest = {
        (s, c, half): max(
            environments,
            key=lambda e: (
                _goodput(scores[s, ahead[s, e, half], e], half) - _goodput(scores[s, c, e], half)
            ),
        )
        for s in settings
        for c in controls
        for half in _halves(reps)
    }
    per_rep = {
        (s, c): [sum(behind[s, c, e, r] for e in environments) / len(environments) for r in reps]
        for s in settings
        for c in controls
    }
    own_label = control.label
    gaps = {
        (s, e): Mean.of(behind[s, own_label, e, r] for r in reps)
        for s in settings
        for e in environments
    }
    return Judgement(
        control=own_label,
        controls=controls,
        settings=settings,
        environments=environments,
        rank_d={key: Mean.of(values) for key, values in per_rep.items()},
        rank_c={
            (s, c): Mean.of(behind[s, c, furthest[s, c, _other_half(reps, r)], r] for r in reps)
            for s in settings
            for c in controls
        },
        best={s: _best(s, controls, per_rep) for s in settings},
        metrics={
            (s, c, m): Mean.of(_mean(scores[s, c, e][r][m] for e in environments) for r in reps)
            for s in settings
            for c in controls
            for m in METRICS
        },
        worst={
            s: _worst(s, own_label, furthest[s, own_label, _halves(reps)[0]], ahead, behind, reps)
            for s in settings
        },
        gaps=gaps,
        neighbours=_neighbours(shared, alone),
        seeds=len(reps),
        runs=len(alone.slots) + len(shared.slots),
        cpu_s=sum(
            summary["totals"]["cpu_s"]
            for result in (alone, shared)
            for summary in result.summaries.values()
        ),
        one_run=len(one_run_points(alone.slots, alone.digests)),
        points=len({slot.point for slot in alone.slots}),
    )


def _mean(values: Iterable[float]) -> float:
    known = [value for value in values if not math.isnan(value)]
    return sum(known) / len(known) if known else float("nan")


def _halves(reps: Sequence[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Two halves of the replicates, the first the smaller; of one replicate twice the same."""
    return tuple(reps[1::2] or reps), tuple(reps[::2])


def _other_half(reps: Sequence[int], replicate: int) -> tuple[int, ...]:
    """The half in which a replicate is not."""
    first, second = _halves(reps)
    return second if replicate in first else first


def _goodput(of_reps: Mapping[int, Mapping[str, float]], half: Sequence[int]) -> float:
    return _mean(of_reps[r]["goodput"] for r in half)


def _best(
    setting: str, controls: tuple[str, ...], per_rep: Mapping[tuple[str, str], list[float]]
) -> tuple[str, ...]:
    def mean(name: str) -> float:
        return _mean(per_rep[setting, name])

    first = min(controls, key=mean)
    # One replicate distinguishes nothing, and then only the first is best.
    if len(per_rep[setting, first]) < 2:
        return (first,)
    rivals = [name for name in controls if name != first]
    apart = [
        [a - b for a, b in zip(per_rep[setting, name], per_rep[setting, first], strict=True)]
        for name in rivals
    ]
    is_behind = holm([mean_p_value(values) for values in apart])
    best_controls = [
        first,
        *(name for name, behind in zip(rivals, is_behind, strict=True) if not behind),
    ]
    return tuple(sorted(best_controls, key=mean))


def _worst(
    setting: str,
    own_label: str,
    environment: str,
    ahead: Mapping[tuple[str, str, tuple[int, ...]], str],
    behind: Mapping[tuple[str, str, str, int], float],
    reps: Sequence[int],
) -> tuple[str, Mean, str]:
    """The worst environment by the first half of the replicates, measured in the second."""
    choosing, measuring = _halves(reps)
    gap = Mean.of(behind[setting, own_label, environment, r] for r in measuring)
    return environment, gap, ahead[setting, environment, choosing]


def _neighbours(shared: SweepResult, alone: SweepResult) -> dict[tuple[str, str], Neighbour]:
    alone_bps: dict[tuple[str, str, str, int], list[float]] = defaultdict(list)
    for row in alone.tables["flows"].to_pylist():
        setting = row["setting"]
        if setting.startswith("SACK"):
            router = setting.removeprefix("SACK + ")
            key = (router, row["control"], row["environment"], row["replicate"])
            alone_bps[key].append(row["goodput_bps"])
    got: dict[tuple[str, str, str, int], dict[str, list[float]]] = {}
    for row in shared.tables["flows"].to_pylist():
        key = (row["router"], row["other"], row["environment"], row["replicate"])
        kind = "own" if row["id"].startswith("own") else "other"
        got.setdefault(key, {"own": [], "other": []})[kind].append(row["goodput_bps"])
    totals: dict[tuple[str, str], dict[int, _Goodputs]] = defaultdict(dict)
    for (router, other, environment, replicate), kinds in got.items():
        total = totals[router, other].get(replicate, _Goodputs())
        mine, theirs = _mean(kinds["own"]), _mean(kinds["other"])
        alone_flows = alone_bps[router, other, environment, replicate]
        totals[router, other][replicate] = _Goodputs(
            total.mine + mine,
            total.theirs + theirs,
            total.after + (theirs if alone_flows else 0.0),
            total.before + (_mean(alone_flows) if alone_flows else 0.0),
        )
    return {
        key: Neighbour(
            mean_ratio([_ratio(total.mine, total.theirs) for total in of.values()]),
            mean_ratio([_ratio(total.after, total.before) for total in of.values()]),
        )
        for key, of in totals.items()
    }


@dataclass(frozen=True)
class _Goodputs:
    """Total goodput of a flow in all environments of a replicate [bit/s].

    The ratio of totals is not ruled by an environment in which one side gets nearly nothing, as a
    mean of ratios is, nor the ratio of its logarithm.
    """

    mine: float = 0.0
    theirs: float = 0.0
    after: float = 0.0
    before: float = 0.0


def _ratio(one: float, other: float) -> float:
    return one / other if other > 0 else float("nan")


def mean_ratio(ratios: Sequence[float]) -> Mean:
    """Compute the geometric mean of ratios with the interval of Student's t of their logarithms.

    Of two equal flows one gets twice as much as the other as often as half: 2 and 1/2 average 1,
    where their mean is 1.25; and the mean ratio of a to b is one over that of b to a.

    Parameters
    ----------
    ratios
        At least 0, one per replicate; NaN where not known.

    Returns
    -------
    Mean
        Where one is 0, which has no logarithm: the arithmetic mean.
    """
    defined = [ratio for ratio in ratios if not math.isnan(ratio)]
    if any(ratio <= 0 for ratio in defined):
        return Mean.of(defined)
    mean_log = Mean.of(math.log(ratio) for ratio in defined)
    return Mean(*(math.exp(end) for end in mean_log))
