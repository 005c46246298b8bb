"""Which links to make wider, so that the busiest link is less busy, with or without failures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from ackclock.errors import Problem, ScenarioError, suggestion
from ackclock.studies.bottlenecks.upgrades import best_upgrades, duplex, least_wanting
from ackclock.studies.planner.failures import MEMORY, survey

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.engines.fluid.net import FluidNet
    from ackclock.studies.planner.situation import Situation

    Floats = npt.NDArray[np.float64]

__all__ = ["Goal", "Upgrades", "most_carried", "upgrades"]

Goal = Literal["utilisation", "failure", "minimum", "total"]
"""What to improve: the utilisation of the busiest link; the same under the worst failure of a link;
the least max-min rate of a demand that wants more; the sum of max-min rates."""

_EXACT_LINKS = 60
"""Up to so many links the most that any upgrade can carry is found exactly; else bounded."""


@dataclass(frozen=True)
class Upgrades:
    """The links to upgrade, and what it brings.

    Parameters
    ----------
    situation
        Network and demands.
    goal
        What was improved.
    factor
        What the capacity of an upgraded link is multiplied by.
    links
        Their names, in the order in which they help.
    before, after
        The goal without and with them: a utilisation, or a rate [bit/s].
    steps
        The goal after each link.
    proof
        ``exact``: no other set of as many links is better; ``bound``: none is better than
        ``bound``; ``none``: nothing is proven.
    bound
        Where the proof is a bound.
    loads
        Loads [bit/s] that the goal is about, without the upgrade, ``(n_links,)``.
    """

    situation: Situation
    goal: Goal
    factor: float
    links: tuple[str, ...]
    before: float
    after: float
    steps: tuple[float, ...]
    proof: Literal["exact", "bound", "none"]
    bound: float | None
    loads: Floats

    def to_data(self) -> dict[str, Any]:
        """All numbers as plain data."""

        def finite(value: float | None) -> float | None:
            return value if value is not None and np.isfinite(value) else None

        return {
            "question": "upgrades",
            "network": self.situation.network.title,
            "time": self.situation.demands.times[self.situation.time],
            "goal": self.goal,
            "factor": self.factor,
            "links": list(self.links),
            "before": finite(self.before),
            "after": finite(self.after),
            "steps": [finite(step) for step in self.steps],
            "proof": self.proof,
            "bound": finite(self.bound),
        }


def upgrades(
    situation: Situation,
    goal: Goal = "failure",
    *,
    count: int = 1,
    factor: float = 2.0,
    memory: int = MEMORY,
    resume: Path | None = None,
    progress: Callable[[float], object] | None = None,
) -> Upgrades:
    """Find the links whose upgrade helps most.

    Routes stay as they are: weights do not follow capacities. So loads stay, and the
    busiest links are the ones to upgrade, one after the other, which no other set betters. For
    rates, every set is tried where there are at most 20,000, else one link is added after the
    other, and a linear programme bounds what any set could carry.

    Parameters
    ----------
    situation
        Network and demands.
    goal
        What to improve.
    count
        How many full-duplex links.
    factor
        What their capacity is multiplied by, above 1.
    memory
        Bytes for loads under failures.
    resume
        Folder for failures that are done, as of `survey`; of the goal ``failure`` only.
    progress
        Gets the part that is done.

    Raises
    ------
    ScenarioError
        There is no such goal; it has no failures to keep; a demand has no path.
    """
    if goal not in get_args(Goal):
        message = f'"{goal}" is not one; {suggestion(goal, get_args(Goal))}'
        raise ScenarioError([Problem("--goal", message)])
    if resume is not None and goal != "failure":
        raise ScenarioError(
            [Problem("--resume", f'--goal {goal} has nothing to keep; "failure" has')]
        )
    count = min(count, situation.links)
    if goal in ("minimum", "total"):
        return _by_rates(situation, goal, count, factor)
    loads = situation.loads
    if goal == "failure":
        link_survey = survey(situation, "links", memory=memory, resume=resume, progress=progress)
        assert link_survey.worst is not None, "invariant: a survey of links has their worst loads"
        loads = np.maximum(loads, link_survey.worst)
    return _by_loads(situation, goal, loads, count, factor)


def _by_loads(
    situation: Situation, goal: Goal, loads: Floats, count: int, factor: float
) -> Upgrades:
    used = (loads / situation.capacity).reshape(-1, 2).max(axis=1)
    before = float(used.max())
    links, steps = [], []
    for _ in range(count):
        # An upgraded link may be the busiest again: no other choice would then help.
        row = int(used.argmax())
        if situation.link(row) in links:
            break
        used[row] /= factor
        links.append(situation.link(row))
        steps.append(float(used.max()))
    return Upgrades(
        situation,
        goal,
        factor,
        tuple(links),
        before,
        steps[-1],
        tuple(steps),
        "exact",
        None,
        loads,
    )


def _by_rates(situation: Situation, goal: Goal, count: int, factor: float) -> Upgrades:
    positive = situation.volume > 0
    net, _ = situation.route(positive, situation.volume[positive])
    rates = net.max_min()
    best = best_upgrades(net, count, factor=factor)[0 if goal == "minimum" else 1]
    before = least_wanting(net, rates) if goal == "minimum" else float(rates.sum())
    after = best.least if goal == "minimum" else best.total
    proof: Literal["exact", "bound", "none"] = "exact" if best.exact else "none"
    bound = None
    if goal == "total" and not best.exact:
        proof, bound = "bound", most_carried(net, count, factor)
    return Upgrades(
        situation, goal, factor, best.links, before, after, (), proof, bound, situation.loads
    )


def most_carried(net: FluidNet, count: int, factor: float) -> float:
    """Bound the sum of rates that any allocation can reach with so many links upgraded.

    A mixed-integer programme where there are at most 60 full-duplex links, else its linear
    relaxation, both solved by HiGHS.

    Parameters
    ----------
    net
        Capacities and routed flows, with demands.
    count
        How many full-duplex links are upgraded.
    factor
        What their capacity is multiplied by.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array, hstack, vstack

    groups = duplex(net)
    flows, links = net.n_flows, net.n_links
    flow_of_hop = np.repeat(np.arange(flows), np.diff(net.offsets).astype(np.int64))
    crossing = coo_array((np.ones(len(net.hops)), (net.hops, flow_of_hop)), shape=(links, flows))
    scale = float(net.capacity.max())
    of_link = np.zeros(links, dtype=np.int64)
    for number, group in enumerate(groups):
        of_link[list(group)] = number
    more: Any = coo_array(
        (-(factor - 1) * net.capacity / scale, (np.arange(links), of_link)),
        shape=(links, len(groups)),
    )
    upgrade_row: Any = hstack([coo_array((1, flows)), coo_array(np.ones((1, len(groups))))])
    rows: Any = vstack([hstack([crossing, more]), upgrade_row])
    exact = len(groups) <= _EXACT_LINKS
    limit = np.full(flows, np.inf) if net.demand is None else net.demand / scale
    solved = milp(
        -np.r_[np.ones(flows), np.zeros(len(groups))],
        constraints=[
            LinearConstraint(
                rows.tocsr(),
                ub=np.r_[net.capacity / scale, count],
            )
        ],
        bounds=Bounds(0, np.r_[limit, np.ones(len(groups))]),
        integrality=np.r_[np.zeros(flows), np.full(len(groups), int(exact))],
    )
    assert solved.status == 0, f"invariant: HiGHS finds an optimum of a bounded programme: {solved}"
    return float(-solved.fun * scale)
