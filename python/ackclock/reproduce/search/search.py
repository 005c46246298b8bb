"""Searches the space: many points cheaply, few of them well, the best on fresh seeds."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ackclock.errors import AckclockError, ScenarioError
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.paper import FIRST
from ackclock.reproduce.read.folder import PaperError
from ackclock.reproduce.run.database import Database
from ackclock.reproduce.run.measure import Evaluated, evaluate
from ackclock.reproduce.run.readings import choose
from ackclock.reproduce.run.studies import RunOptions, StudyResult, run_study
from ackclock.reproduce.search import design, surrogate
from ackclock.reproduce.search.conflicts import Conflict, find_conflicts
from ackclock.reproduce.search.space import Space, halves
from ackclock.reproduce.search.votes import count_votes, describe_misses, join_votes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.experiments.sweeps import Sweep

__all__ = ["SearchResult", "Tried", "search"]

SHIFT = 1_000_000
"""Added to seeds for runs that the search must not have seen."""

LEVEL = 0.05
"""Probability that a gain where nothing was fitted is called clear though it is of random sign."""

PRIOR = 4096
"""Points at which the surrogate stands in for runs."""

TRUSTED = 0.3
"""Share of the variance that a surrogate must explain before its predictions are used."""


@dataclass(frozen=True)
class Tried:
    """A point with the votes of all claims there, from the last rung that it reached.

    Parameters
    ----------
    values
        By parameter.
    rungs
        Votes by claim, one table a rung.
    wrong
        Why the values do not go together; then there are no votes.
    misses
        At the first rung, by claim that is not met: its numbers and what they were to be.
    """

    values: Mapping[str, Any]
    rungs: tuple[Mapping[str, float], ...] = ()
    wrong: str = ""
    misses: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchResult:
    """What a search found.

    Parameters
    ----------
    space, tier
        What was searched.
    predicted_s
        CPU time [s] that was predicted.
    defaults
        The default settings, at every rung.
    tried
        Points of the design in their order.
    fitted, held_out
        Units that vote (claims, or files that claims are made from), by half.
    best
        Place of the best point in the design; -1 if the defaults are the best.
    fresh_best, fresh_defaults
        Claims on fresh seeds at the best point and at the defaults: votes and verdicts.
    accepted
        Places of points that miss at most one vote more than the best, at the first rung.
    surrogate
        Fitted to the score of the first half.
    surrogate_share
        Share of the prior that it accepts; None if it explains too little.
    decides
        Parameters that decide, by claim.
    conflicts
        Sets of claims met nowhere together.
    """

    space: Space
    tier: str
    predicted_s: float
    defaults: Tried
    tried: tuple[Tried, ...]
    fitted: tuple[str, ...]
    held_out: tuple[str, ...]
    best: int
    fresh_best: PointJudgement
    fresh_defaults: PointJudgement
    accepted: tuple[int, ...]
    surrogate: surrogate.Surrogate
    surrogate_share: float | None
    decides: Mapping[str, tuple[str, ...]]
    conflicts: tuple[Conflict, ...]

    @property
    def valid(self) -> list[int]:
        """Places of points that could be run."""
        return [place for place, at in enumerate(self.tried) if not at.wrong]

    @property
    def values(self) -> dict[str, Any]:
        """The best point's values."""
        return dict(self.tried[self.best].values if self.best >= 0 else self.defaults.values)

    @property
    def is_clear(self) -> bool:
        """Whether the best point is better where it was not fitted: by a vote, and above chance."""
        gains = self._gains()
        return self.best >= 0 and sum(gains) >= 1 - 1e-9 and gain_p_value(gains) <= LEVEL

    @property
    def p_value(self) -> float:
        """How often gains of random sign are as large, in the units that were held out."""
        return gain_p_value(self._gains())

    def _gains(self) -> list[float]:
        ours, theirs = (
            self.join_files(one.votes) for one in (self.fresh_best, self.fresh_defaults)
        )
        both = [unit for unit in self.held_out if unit in ours and unit in theirs]
        return [ours[unit] - theirs[unit] for unit in both]

    def join_files(self, votes: Mapping[str, float]) -> dict[str, float]:
        """Votes by unit.

        Parameters
        ----------
        votes
            By claim.
        """
        return join_votes(votes, {claim.id: claim.made_from for claim in self.space.claims})

    def share(self, claim: str) -> float | None:
        """Share of the design at which a claim is met, at the first rung; None if not judged there.

        Parameters
        ----------
        claim
            Its id.
        """
        votes = [self.tried[index].rungs[0].get(claim) for index in self.valid]
        judged_votes = [vote for vote in votes if vote is not None]
        return sum(vote == 1 for vote in judged_votes) / len(judged_votes) if judged_votes else None

    def met_at_defaults(self, claim: str) -> bool | None:
        """Whether a claim is met at the defaults, at the first rung; None if not judged there.

        Parameters
        ----------
        claim
            Its id.
        """
        vote = self.defaults.rungs[0].get(claim) if self.defaults.rungs else None
        return None if vote is None else vote == 1

    def holds_inferred(self, claim: str) -> bool:
        """Whether a claim is reproduced at the best point on fresh seeds, if that point is clear.

        Of the claims that were held out alone: the point was chosen by how it meets the others.
        Never in the tier ``first``, whose runs judge nothing.

        Parameters
        ----------
        claim
            Its id.
        """
        files = {
            searched_claim.id: searched_claim.made_from for searched_claim in self.space.claims
        }
        is_held_out = (files.get(claim) or claim) in self.held_out
        is_met = self.fresh_best.verdicts.get(claim) == "reproduced"
        return self.is_clear and is_held_out and is_met


@dataclass(frozen=True)
class PointJudgement:
    """Claims at one point on fresh seeds: votes, and verdicts by the usual rule.

    Runs of the tier ``first`` give votes only.
    """

    votes: Mapping[str, float]
    verdicts: Mapping[str, str]


def gain_p_value(gains: Sequence[float]) -> float:
    """Compute the p-value of a gain in votes: how often gains of random sign are as large.

    Parameters
    ----------
    gains
        By unit; a unit that gains nothing says nothing.

    Returns
    -------
    float
        Exact for up to 13 units that differ, else of 9999 draws of fixed seed; 1 for no gain.

    References
    ----------
    R. A. Fisher, The Design of Experiments, Oliver and Boyd 1935, section 21.
    """
    import numpy as np
    from scipy.stats import permutation_test

    differing = [gain for gain in gains if abs(gain) > 1e-9]
    if len(differing) < 2:
        return 1.0 if not differing or differing[0] < 0 else 0.5
    test_result = permutation_test(
        (np.array(differing), np.zeros(len(differing))),
        lambda one, other, axis: np.sum(one - other, axis=axis),
        permutation_type="samples",
        vectorized=True,
        alternative="greater",
        n_resamples=9999,
        rng=np.random.default_rng(0),
    )
    return float(test_result.pvalue)


def score(votes: Mapping[str, float], units: Sequence[str]) -> float:
    """Mean vote of units; those that abstain do not count.

    Parameters
    ----------
    votes
        By unit.
    units
        Those that count.
    """
    cast_votes = [votes[unit] for unit in units if unit in votes]
    return sum(cast_votes) / len(cast_votes) if cast_votes else 0.0


def search(plan: design.SearchPlan, options: RunOptions) -> SearchResult:
    """Search a space.

    Parameters
    ----------
    plan
        Space, tier and number of points.
    options
        Where and how studies run; what the store has is not run again.

    Raises
    ------
    AckclockError
        A run failed, or no point of the design could be run.
    KeyboardInterrupt
        It was stopped; what had finished is in the store.
    """
    surrogate.need_library()
    space, tier = plan.space, plan.tier
    runner = _Runner(space, tier, options)
    made_from = {claim.id: claim.made_from for claim in space.claims}
    levels = design.rungs(space, tier)
    units = list(dict.fromkeys(claim.made_from or claim.id for claim in space.claims))
    fitted, held_out = halves(units)
    defaults = Tried(space.defaults)
    for rung in levels:
        defaults = runner.next_rung(rung, defaults, {}, "defaults")
    tried = [Tried(values) for values in space.design(plan.count)]
    ranking = list(range(plan.count))

    def merit(point: Tried) -> float:
        return score(join_votes(point.rungs[-1], made_from), fitted)

    for number, (rung, count) in enumerate(zip(levels, plan.sizes, strict=True), start=1):
        ranking = ranking[:count]
        for position, index in enumerate(ranking, start=1):
            where = f"rung {number} of {len(levels)} ({rung.text})"
            tried[index] = _try_point(
                runner, rung, tried[index], f"{where}, point {position} of {len(ranking)}"
            )
        ranking = [index for index in ranking if not tried[index].wrong]
        if not ranking:
            raise AckclockError(f"no point of the design could be run; the first: {tried[0].wrong}")
        ranking.sort(key=lambda index: merit(tried[index]), reverse=True)
        best = ranking[0]
    if merit(defaults) >= merit(tried[best]):
        best = -1
    values = dict(tried[best].values) if best >= 0 else {}
    fresh_defaults = runner.judgement(design.judge(tier), {}, "defaults on fresh seeds")
    fresh_best = runner.judgement(design.judge(tier), values, "best point on fresh seeds")
    halves_ = (tuple(fitted), tuple(held_out))
    fresh = (fresh_best, fresh_defaults)
    return _sum_up(space, tier, plan.cpu_s, defaults, tried, halves_, best, fresh)


def _try_point(runner: _Runner, rung: design.Rung, at: Tried, text: str) -> Tried:
    """Run a point at the next rung; values that do not go together are noted."""
    try:
        return runner.next_rung(rung, at, dict(at.values), text)
    except ScenarioError as error:
        if isinstance(error, PaperError) and not _is_of_values(error):
            raise
        return Tried(at.values, (), str(error))


def _is_of_values(error: PaperError) -> bool:
    return all(problem.path.startswith("parameter[") for problem in error.problems)


def _sum_up(
    space: Space,
    tier: str,
    predicted_s: float,
    defaults: Tried,
    tried: Sequence[Tried],
    halves: tuple[tuple[str, ...], tuple[str, ...]],
    best: int,
    fresh: tuple[PointJudgement, PointJudgement],
) -> SearchResult:
    """Work out shares, what decides, and conflicts from the first rung, which all points had."""
    made_from = {claim.id: claim.made_from for claim in space.claims}
    fitted = halves[0]
    valid = [index for index, point in enumerate(tried) if not point.wrong]
    points = [tried[index].values for index in valid]
    first = [tried[index].rungs[0] for index in valid]
    merits = [score(join_votes(votes, made_from), fitted) for votes in first]
    bound = max(merits) - 1 / max(len(fitted), 1) - 1e-9
    merit_model = surrogate.fit(space, points, merits)
    share = None
    if merit_model.quality >= TRUSTED:
        share = float((merit_model.predict(space.prior(PRIOR)) >= bound).mean())
    decides = {
        claim.id: tuple(
            surrogate.fit(space, points, [votes.get(claim.id, 0.0) for votes in first]).decides
        )
        for claim in space.claims
        if not claim.made_from
    }
    deciding_votes = [
        {name: vote for name, vote in votes.items() if not made_from[name]}
        for votes in [*first, defaults.rungs[0]]
    ]
    return SearchResult(
        space, tier, predicted_s, defaults, tuple(tried), *halves, best, *fresh,
        tuple(index for index, merit in zip(valid, merits, strict=True) if merit >= bound),
        merit_model, share, decides, tuple(find_conflicts(deciding_votes)),
    )  # fmt: skip


class _Runner:
    """Runs the studies of points and counts votes; studies at their defaults are kept."""

    def __init__(self, space: Space, tier: str, options: RunOptions) -> None:
        self.space = space
        self.tier = tier
        self.options = RunOptions(
            workers=options.workers, cluster=options.cluster, store=options.store, progress=False,
            command=options.command,
        )  # fmt: skip
        self.report = options.report
        self.database = Database(space.paper)
        self._results: dict[str, StudyResult] = {}

    def next_rung(self, rung: design.Rung, at: Tried, values: dict[str, Any], text: str) -> Tried:
        """The point with its votes at one more rung."""
        found = self._evaluate(rung, values, text)
        votes = count_votes(self.space.paper, found)
        misses = at.misses if at.rungs else describe_misses(self.space.paper, found)
        return Tried(at.values, (*at.rungs, votes), misses=misses)

    def judgement(self, rung: design.Rung, values: dict[str, Any], text: str) -> PointJudgement:
        """Votes and verdicts at a point, on fresh seeds."""
        found = self._evaluate(rung, values, text, shift=SHIFT)
        reading = choose(self.space.paper, found)
        verdicts = {one.claim.id: one.result(reading).verdict for one in found}
        votes = count_votes(self.space.paper, found)
        return PointJudgement(votes, {} if rung.tier == FIRST else verdicts)

    def _evaluate(
        self, rung: design.Rung, values: dict[str, Any], text: str, *, shift: int = 0
    ) -> list[Evaluated]:
        self.report(text)
        random = {}
        for name, sweep in design.sweeps(self.space, rung, values, shift=shift).items():
            result = self._study(name, sweep, rung, values, shift)
            self.database.add(name, result.tables)
            random[name] = result.is_random
        claims = [
            claim
            for claim in self.space.claims
            if all(name in random for name in _studies(self.space, claim))
        ]
        return [evaluate(claim, self.database, random, {}, rung.tier) for claim in claims]

    def _study(
        self, name: str, sweep: Sweep, rung: design.Rung, values: dict[str, Any], shift: int
    ) -> StudyResult:
        paper = self.space.paper
        changes = paper.changes(name, values)
        key = json.dumps([name, rung.tier, rung.seeds, shift, changes], sort_keys=True)
        if key in self._results:
            return self._results[key]
        result = run_study(paper, paper.studies[name], rung.tier, self.options, sweep=sweep)
        if changes == paper.defaults(name):
            self._results[key] = result
        return result


def _studies(space: Space, claim: Any) -> list[str]:
    return studies_of(space.paper, *(check.measure for check in claim.checks))
