"""Fair queueing on a few routers: what it would save when traffic turns to fire hoses.

A fire hose pushes a multiple of its demand whatever is lost; other demands offer what they are.
Routers without fair queueing drop from all in proportion to what arrives, as FIFO queues do with
traffic that does not react. Those with it share max-min, each demand with its volume as its weight,
so that a demand counts like the users it stands for.

J. McCullough, B. Raghavan, A. C. Snoeren, "The role of end-to-end congestion control in networks
with fairness-enforcing routers", 2010, is about fire hoses and such routers.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ackclock.engines.fluid.net import FluidNet
from ackclock.engines.fluid.outcome import Routers
from ackclock.errors import Problem, ScenarioError
from ackclock.studies.planner.upgrades import most_carried

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ackclock.studies.planner.situation import Situation

    Floats = npt.NDArray[np.float64]
    Flags = npt.NDArray[np.bool_]

__all__ = ["Enforcement", "EnforcementOutcome", "enforcement"]

_MOST_SETS = 2000
_MOST_BOUNDED = 20_000
"""Up to so many demands the bound over all sets of routers is computed."""
_LEAST_GAIN = 1e-9


@dataclass(frozen=True)
class EnforcementOutcome:
    """What arrives with fair queueing at a set of routers.

    Parameters
    ----------
    label
        Name of the set.
    routers
        Names of the routers with fair queueing.
    polite, hoses
        What arrives of demands that offer what they are, and of fire hoses [bit/s]; means over
        draws.
    least
        Smallest part of a polite demand that arrives, in any draw.
    dead
        What is dropped beyond the first hop, in vain for the links before [bit/s]; mean over draws.
    """

    label: str
    routers: tuple[str, ...]
    polite: float
    hoses: float
    least: float
    dead: float

    def to_data(self) -> dict[str, Any]:
        """All numbers as plain data."""
        return {
            "label": self.label,
            "routers": list(self.routers),
            "polite_bps": self.polite,
            "hoses_bps": self.hoses,
            "least_part": self.least,
            "dead_bps": self.dead,
        }


@dataclass(frozen=True)
class Enforcement:
    """The routers at which fair queueing saves most, beside baselines.

    Parameters
    ----------
    situation
        Network and demands.
    share
        Part of the demands that are fire hoses.
    push
        Multiple of its demand that a fire hose pushes.
    draws
        How often the demands that turn were drawn.
    seed
        Of the draws.
    demanded, hosed
        Polite demand, and that of the fire hoses before they turned [bit/s]; means over draws.
    candidates
        Routers at which fair queueing can change anything.
    best
        With the routers found.
    baselines
        With none, with the routers of the most overloaded links, with all.
    steps
        Polite goodput after each router, in the order in which they were added; empty where all
        sets were tried.
    proof
        ``exact``: no other set of at most as many routers saves more; ``bound``: no set of any
        size brings the polite demands above ``bound``; ``none``.
    bound
        The most that any routers could deliver of the polite demands [bit/s].
    loads
        What arrives at each directed link without fair queueing [bit/s]; means over draws.
    """

    situation: Situation
    share: float
    push: float
    draws: int
    seed: int
    demanded: float
    hosed: float
    candidates: int
    best: EnforcementOutcome
    baselines: tuple[EnforcementOutcome, ...]
    steps: tuple[float, ...]
    proof: Literal["exact", "bound", "none"]
    bound: float | None
    loads: Floats

    def to_data(self) -> dict[str, Any]:
        """All numbers as plain data."""
        return {
            "question": "enforcement",
            "network": self.situation.network.title,
            "time": self.situation.demands.times[self.situation.time],
            "hoses": self.share,
            "push": self.push,
            "draws": self.draws,
            "seed": self.seed,
            "polite_demand_bps": self.demanded,
            "hoses_demand_bps": self.hosed,
            "candidates": self.candidates,
            "chosen": self.best.to_data(),
            "baselines": [baseline.to_data() for baseline in self.baselines],
            "steps_bps": list(self.steps),
            "proof": self.proof,
            "bound_bps": self.bound,
        }


class _Pushed:
    """The demands with fire hoses among them, put through the network for any set of routers."""

    def __init__(self, situation: Situation, hose: Flags, push: float) -> None:
        self.situation = situation
        positive = situation.volume > 0
        volume, pushes = situation.volume[positive], np.where(hose[positive], push, 1.0)
        self.graph = situation.network.graph
        self.net, self.pair = situation.route(positive, pushes * volume, volume / volume.max())
        assert self.net.demand is not None, "invariant: what is offered is given"
        self.hose: Flags = hose[positive][self.pair]
        self.offered: Floats = self.net.demand
        self.volume: Floats = self.offered / pushes[self.pair]
        self.owner = np.repeat(np.arange(self.net.n_flows), np.diff(self.net.offsets))
        self.ideal: Floats = self.net.max_min()

    def polite_net(self) -> FluidNet:
        """The network with the polite demands alone."""
        keep = ~self.hose
        lengths = np.diff(self.net.offsets)[keep]
        return FluidNet(
            self.net.capacity,
            np.r_[0, np.cumsum(lengths)],
            self.net.hops[keep[self.owner]],
            demand=self.volume[keep],
            graph=self.graph,
        )

    def may_overflow(self) -> Flags:
        """Links that would overflow if all that is offered got there.

        The rule of any other link does nothing: no set of routers lets more than that arrive.
        """
        most = np.bincount(self.net.hops, self.offered[self.owner], self.net.n_links)
        over: Flags = most > self.net.capacity * (1 + 1e-12)
        return over

    def outcome(self, routers: Sequence[str]) -> tuple[float, float, float, float, Floats]:
        """Put the demands through.

        Parameters
        ----------
        routers
            Routers with fair queueing.

        Returns
        -------
        tuple
            What polite demands and fire hoses get [bit/s], the least part of a polite demand, dead
            traffic [bit/s], and what arrives at each link [bit/s].
        """
        rates = self.net.evaluate(
            self.offered, Routers("max-min", "proportional", tuple(routers)), tolerance=1e-9
        )
        accounts = self.net.account(rates, self.ideal)
        polite = ~self.hose
        of_pair = [np.bincount(self.pair[polite], v[polite]) for v in (rates.goodput, self.volume)]
        delivered_share = of_pair[0][of_pair[1] > 0] / of_pair[1][of_pair[1] > 0]
        return (
            float(rates.goodput[polite].sum()),
            float(rates.goodput[self.hose].sum()),
            float(delivered_share.min(initial=1.0)),
            float(accounts.dead.sum()),
            accounts.offered,
        )


class _Draws:
    """Draws of the demands that turn, put through the network for any set of routers."""

    def __init__(
        self, situation: Situation, share: float, push: float, draws: int, seed: int
    ) -> None:
        positive = np.flatnonzero(situation.volume > 0)
        random = np.random.default_rng(seed)
        self.every = []
        for _ in range(draws if share > 0 else 1):
            hose = np.zeros(len(situation.volume), dtype=np.bool_)
            hose[random.permutation(positive)[: round(share * len(positive))]] = True
            self.every.append(_Pushed(situation, hose, push))
        self.graph = self.every[0].graph

    def mean(self, of: Callable[[_Pushed], float]) -> float:
        """Mean over the draws.

        Parameters
        ----------
        of
            The number of one draw.
        """
        return float(np.mean([of(one) for one in self.every]))

    def candidates(self) -> list[str]:
        """Routers with a link that may overflow in some draw."""
        over = np.any([one.may_overflow() for one in self.every], axis=0)
        return [self.graph.nodes[node] for node in np.unique(self.graph.src[over])]

    def outcome(self, label: str, routers: Sequence[str]) -> EnforcementOutcome:
        """Put the demands of all draws through.

        Parameters
        ----------
        label
            Name of the set.
        routers
            Routers with fair queueing.
        """
        outcomes = [draw.outcome(routers) for draw in self.every]
        polite, hoses, least, dead = np.array([row[:4] for row in outcomes]).T
        means = (float(polite.mean()), float(hoses.mean()))
        return EnforcementOutcome(
            label, tuple(routers), *means, float(least.min()), float(dead.mean())
        )

    def arriving(self) -> Floats:
        """What arrives at each link without fair queueing, on average."""
        arriving: Floats = np.mean([one.outcome(())[4] for one in self.every], axis=0)
        return arriving


def enforcement(
    situation: Situation,
    *,
    count: int = 1,
    share: float = 0.5,
    push: float = 3.0,
    draws: int = 10,
    seed: int = 1,
    progress: Callable[[float], object] | None = None,
) -> Enforcement:
    """Find the routers at which fair queueing saves most of the polite demands.

    Routes follow the first shortest path, or where flows are hashed theirs. All sets of routers are
    tried where they are at most 2000; else one router is added after the other. Either way a linear
    programme of the polite demands alone bounds what any routers could do for them, up to 20,000
    demands.

    Parameters
    ----------
    situation
        Network and demands.
    count
        How many routers.
    share
        Part of the demands that turn to fire hoses, each as likely as another.
    push
        Multiple of its demand that a fire hose pushes, at least 1.
    draws
        How often the demands that turn are drawn. What is saved is the mean over all.
    seed
        Of the draws.
    progress
        Gets the part that is done.

    Raises
    ------
    ScenarioError
        A number is out of range, or a demand has no path.
    ConvergenceError
        Links that feed each other in a circle did not settle.
    """
    problems = []
    if not 0 <= share < 1:
        problems.append(Problem("--hoses", f"is {share}; expected 0 or more, and less than 1"))
    if not 1 <= push < np.inf:
        problems.append(Problem("--push", f"is {push}; expected at least 1"))
    if problems:
        raise ScenarioError(problems)
    pushed = _Draws(situation, share, push, draws, seed)
    names = pushed.candidates()
    count = min(count, len(names))
    nowhere = pushed.outcome("nowhere", ())
    best, steps, exact = _search(pushed, names, count, nowhere, progress or (lambda _: None))
    arriving = pushed.arriving()
    baselines = (
        nowhere,
        pushed.outcome("most overloaded", _most_overloaded(pushed, arriving, names, count)),
        pushed.outcome("everywhere", situation.network.graph.nodes),
    )
    bound = None
    if max(draw.net.n_flows for draw in pushed.every) <= _MOST_BOUNDED:
        bound = pushed.mean(lambda draw: most_carried(draw.polite_net(), 0, 1.0))
    return Enforcement(
        situation,
        share,
        push,
        len(pushed.every),
        seed,
        pushed.mean(lambda draw: float(draw.volume[~draw.hose].sum())),
        pushed.mean(lambda draw: float(draw.volume[draw.hose].sum())),
        len(names),
        best,
        baselines,
        steps,
        "exact" if exact else "none" if bound is None else "bound",
        bound,
        arriving,
    )


def _search(
    pushed: _Draws,
    names: list[str],
    count: int,
    nowhere: EnforcementOutcome,
    progress: Callable[[float], object],
) -> tuple[EnforcementOutcome, tuple[float, ...], bool]:
    """The best set, the polite goodput after each step of adding, and whether all were tried."""
    sets = sum(comb(len(names), size) for size in range(1, count + 1))
    best = nowhere
    if sets <= _MOST_SETS:
        every = (
            router_set for size in range(1, count + 1) for router_set in combinations(names, size)
        )
        for tried, routers in enumerate(every, 1):
            best = _better(best, pushed.outcome("chosen", routers))
            progress(tried / sets)
        return best, (), True
    steps = []
    for step in range(count):
        last = best
        left = [name for name in names if name not in last.routers]
        for tried, name in enumerate(left, 1):
            best = _better(best, pushed.outcome("chosen", (*last.routers, name)))
            progress((step + tried / len(left)) / count)
        if best is last:
            break
        steps.append(best.polite)
    return best, tuple(steps), False


def _better(best: EnforcementOutcome, other: EnforcementOutcome) -> EnforcementOutcome:
    """The one that delivers more of the polite demands; the first where they do not differ."""
    return other if other.polite > best.polite * (1 + _LEAST_GAIN) else best


def _most_overloaded(
    pushed: _Draws, arriving: Floats, names: list[str], count: int
) -> tuple[str, ...]:
    """The routers at which most is dropped without fair queueing."""
    excess = np.maximum(arriving - pushed.graph.capacity, 0.0)
    nodes = pushed.graph.nodes
    dropped = np.bincount(pushed.graph.src, excess, len(nodes))
    ranked = sorted(names, key=lambda name: -dropped[nodes.index(name)])
    return tuple(ranked[:count])
