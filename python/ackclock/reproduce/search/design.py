"""Which points are run at which fidelity, and what that costs."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import working_time
from ackclock.errors import UnsupportedError
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.paper import FIRST
from ackclock.reproduce.run.studies import sweep_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.experiments.sweeps import Sweep
    from ackclock.reproduce.search.space import Space

__all__ = [
    "Rung",
    "SearchPlan",
    "count_survivors",
    "halve_points",
    "has_first",
    "judge",
    "plan",
    "predict",
    "rungs",
    "sweeps",
]

KEPT = 4
"""One point in this many goes on to the next rung of the same tier, or from fast to full."""

KEPT_OF_FIRST = 16
"""One point in this many goes on from the first tier, which costs a hundredth of the others."""

FEWEST_KEPT = 4
FEWEST_KEPT_OF_FIRST = 2
MOST = 1024
FEWEST = 8

MINUTES = {FIRST: 10.0, "fast": 10.0, "full": 60.0}
"""Budgets, CPU time, of papers that state none."""


@dataclass(frozen=True)
class Rung:
    """A fidelity: a tier, and how many seeds; 0: those of the tier."""

    tier: str
    seeds: int

    @property
    def text(self) -> str:
        """As text."""
        if not self.seeds:
            return f"tier {self.tier}"
        return f"tier {self.tier}, {self.seeds} seed{'s' * (self.seeds > 1)}"


def has_first(space: Space) -> bool:
    """Whether the paper's data state a first tier.

    Parameters
    ----------
    space
        Has the paper.
    """
    return any(FIRST in study.document.get("tiers", {}) for study in space.paper.studies.values())


def rungs(space: Space, tier: str) -> list[Rung]:
    """Fidelities at which points are chosen, from the cheapest on; `judge` comes after them.

    With a first tier that is all of the choice in the fast tier, since one setting there may cost
    minutes; the best is judged in the tier itself.

    Parameters
    ----------
    space
        Has the paper.
    tier
        The one that judges in the end; ``first``: no more than what all settings are tried in.

    Raises
    ------
    UnsupportedError
        The tier is ``first``, and the paper states none.
    """
    if tier == FIRST and not has_first(space):
        raise UnsupportedError(f"no study of {space.paper.name} states a tier first")
    if has_first(space):
        cheap = [Rung(FIRST, 1), Rung(FIRST, 0)]
        return [*cheap, Rung("full", 1)] if tier == "full" else cheap
    cheap = [Rung("fast", 1), Rung("fast", 2), Rung("fast", 0)]
    return cheap if tier == "fast" else [cheap[0], cheap[2], Rung("full", 1), Rung("full", 0)]


def judge(tier: str) -> Rung:
    """Find the fidelity at which the best point and the defaults are judged on fresh seeds.

    Parameters
    ----------
    tier
        ``first``, ``fast`` or ``full``.
    """
    return Rung(tier, 0)


def count_survivors(count: int, rung: Rung, following: Rung) -> int:
    """Count the points that go on from a rung to the next.

    Parameters
    ----------
    count
        Points of the rung.
    rung, following
        The two.
    """
    if rung.tier == FIRST != following.tier:
        return min(count, max(FEWEST_KEPT_OF_FIRST, -(-count // KEPT_OF_FIRST)))
    return min(count, max(FEWEST_KEPT, -(-count // KEPT)))


def study_names(space: Space, tier: str) -> list[str]:
    """Studies that the claims need in a tier.

    Parameters
    ----------
    space
        Has the claims.
    tier
        ``fast``, ``full`` or ``first``.
    """
    queries = [check.measure for claim in space.claims for check in claim.checks]
    needed = studies_of(space.paper, *queries)
    return [name for name in needed if tier not in space.paper.studies[name].skipped]


def sweeps(space: Space, rung: Rung, values: dict[str, Any], *, shift: int = 0) -> dict[str, Sweep]:
    """Make the sweeps of a point.

    Parameters
    ----------
    space, rung, values
        Where.
    shift
        Added to the seeds of random studies.

    Raises
    ------
    ScenarioError
        The values do not go together.
    """
    study_sweeps = {}
    for name in study_names(space, rung.tier):
        study, changes = space.paper.studies[name], space.paper.changes(name, values)
        sweep = sweep_of(space.paper, study, rung.tier, changes)
        seeds = _seeds(sweep, rung)
        if shift and sweep.case.is_random:
            changes = {**changes, "seed": sweep.case.seed + shift}
        if seeds < sweep.replicates.at_first or "seed" in changes:
            sweep = sweep_of(space.paper, study, rung.tier, changes, reps=seeds)
        study_sweeps[name] = sweep
    return study_sweeps


def _seeds(sweep: Sweep, rung: Rung) -> int:
    """Replicates of a study at a rung: never more than its tier has."""
    whole = sweep.replicates.at_first
    return min(rung.seeds or whole, whole)


def predict(space: Space, tier: str) -> list[float]:
    """Predict the CPU time [s] of one point at each rung and of one judgement.

    Parameters
    ----------
    space
        The space.
    tier
        The tier that judges.

    Returns
    -------
    list of float
        From the default settings; one more than there are rungs.
    """
    levels = [*rungs(space, tier), judge(tier)]
    sweep_costs = {
        name: [(sweep, sweep.plan(1).cpu_s) for sweep in sweeps(space, Rung(name, 0), {}).values()]
        for name in dict.fromkeys(rung.tier for rung in levels)
    }
    return [
        sum(
            cpu_s * _seeds(sweep, rung) / sweep.replicates.at_first
            for sweep, cpu_s in sweep_costs[rung.tier]
        )
        for rung in levels
    ]


def halve_points(count: int, levels: Sequence[Rung]) -> list[int]:
    """Points of each rung.

    Parameters
    ----------
    count
        Of the first.
    levels
        The rungs.
    """
    sizes = [count]
    for rung, following in itertools.pairwise(levels):
        sizes.append(count_survivors(sizes[-1], rung, following))
    return sizes


@dataclass(frozen=True)
class SearchPlan:
    """What a search would do; its text is for people.

    Parameters
    ----------
    space, tier
        What is searched.
    count
        Points of the design.
    each
        Predicted CPU time [s] of one point at each rung, and last of one judgement.
    budget_s
        CPU time [s] that it may take.
    """

    space: Space
    tier: str
    count: int
    each: tuple[float, ...]
    budget_s: float

    @property
    def cpu_s(self) -> float:
        """CPU time [s]: all rungs with the defaults, and two judgements on fresh seeds."""
        runs = sum(one * (size + 1) for one, size in zip(self.each[:-1], self.sizes, strict=True))
        return runs + 2 * self.each[-1]

    @property
    def sizes(self) -> list[int]:
        """Points of each rung."""
        return halve_points(self.count, rungs(self.space, self.tier))

    def command(self, claims: Sequence[str], vary: Sequence[str]) -> str:
        """The command that gives the search again.

        Parameters
        ----------
        claims, vary
            Ids to which claims and parameters were restricted.
        """
        import shlex

        options = [*(f"--claim={id_}" for id_ in claims), *(f"--vary={id_}" for id_ in vary)]
        arguments = ["ackclock", "forensics", self.space.paper.name, *options]
        return shlex.join([*arguments, "--tier", self.tier, "--points", str(self.count)])

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return {
            "paper": self.space.paper.name,
            "tier": self.tier,
            "points": self.count,
            "parameters": [parameter.id for parameter in self.space.parameters],
            "claims": [claim.id for claim in self.space.claims],
            "cpu_s": self.cpu_s,
            "budget_cpu_s": self.budget_s,
        }

    def __str__(self) -> str:
        space = self.space
        each = zip(rungs(space, self.tier), self.sizes, self.each[:-1], strict=True)
        levels = "; ".join(
            f"{rung.text}: {size} points of {working_time(cpu_s)}" for rung, size, cpu_s in each
        )
        levels += f"; {judge(self.tier).text}: 2 judgements of {working_time(self.each[-1])}"
        over = "" if self.cpu_s <= self.budget_s else ", more than the budget"
        return (
            f"{space.paper.name}: {len(space.parameters)} parameters, {len(space.claims)} claims"
            f"\n{levels}\npredicted: {working_time(self.cpu_s)} of one core for what is not"
            f" stored{over}"
        )


def plan(space: Space, tier: str, count: int | None, minutes: float | None) -> SearchPlan:
    """Decide how many points are tried: as many as the budget allows, a power of two.

    Parameters
    ----------
    space
        The space.
    tier
        The tier that judges.
    count
        Points; left out: from the budget, at least 8 and at most 1024.
    minutes
        The budget, CPU time [min]; left out: the paper's, or 10 (fast) and 60 (full).
    """
    stated = space.paper.about.get("tiers", {}).get(tier, {})
    budget = 60 * (minutes or stated.get("forensics_minutes", MINUTES[tier]))
    each = tuple(predict(space, tier))
    if count is not None:
        return SearchPlan(space, tier, count, each, budget)
    count = MOST
    while count > FEWEST and SearchPlan(space, tier, count, each, budget).cpu_s > budget:
        count //= 2
    return SearchPlan(space, tier, count, each, budget)
