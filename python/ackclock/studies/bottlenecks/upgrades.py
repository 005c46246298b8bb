"""Which links to upgrade: what a larger capacity does to the least rate and to the total.

A link here is full duplex: both directions are upgraded together.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from ackclock.engines.fluid.net import FluidNet

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Upgrade", "best_upgrades", "duplex", "least_wanting"]

Goal = Literal["minimum", "total"]

_EXACT = 20_000
"""Up to so many sets of links, every one is tried."""

_SAME = 1e-9


@dataclass(frozen=True)
class Upgrade:
    """The best set of links found for one goal.

    Parameters
    ----------
    goal
        ``minimum``: the least rate of flows that want more first, then how few flows have it, then
        the total; ``total``: the sum of rates first, then the least.
    links
        Their names, in the order in which they help.
    least, total
        Least rate of flows that want more, infinite where none does, and sum of rates, with all of
        them.
    exact
        Whether all sets were tried; else one link was added after the other, the best each time.
    """

    goal: Goal
    links: tuple[str, ...]
    least: float
    total: float
    exact: bool


def duplex(net: FluidNet) -> list[tuple[int, ...]]:
    """Group directed links into full-duplex ones.

    Parameters
    ----------
    net
        A network with a graph.
    """
    assert net.graph is not None, "invariant: upgrades are requested on a network with a graph"
    groups: dict[tuple[int, int], list[int]] = {}
    for link, (a, b) in enumerate(zip(net.graph.src, net.graph.dst, strict=True)):
        groups.setdefault((min(a, b), max(a, b)), []).append(link)
    return [tuple(group) for group in groups.values()]


def best_upgrades(net: FluidNet, count: int, *, factor: float = 2.0) -> tuple[Upgrade, Upgrade]:
    """Find the links whose upgrade helps most in the max-min allocation.

    Parameters
    ----------
    net
        Capacities and routed flows, with a graph.
    count
        How many links.
    factor
        What the capacity of an upgraded link is multiplied by, above 1.

    Returns
    -------
    tuple of Upgrade
        For the least rate, and for the total.
    """
    groups = [g for g in duplex(net) if np.isin(g, net.hops).any()]
    count = min(count, len(groups))
    exact = math.comb(len(groups), count) <= _EXACT
    search = _every_set if exact else _one_by_one
    minimum, total = (search(net, groups, count, factor, goal) for goal in ("minimum", "total"))
    return minimum, total


def least_wanting(net: FluidNet, rates: npt.NDArray[np.float64]) -> float:
    """Find the least rate of the flows that get less than they request; infinite if there is none.

    Where flows have weights it is the least of rates over weights.

    Parameters
    ----------
    net
        The network with its demands.
    rates
        Rate of each flow.
    """
    alike = _by_weight(net, rates)
    wanting = alike if net.demand is None else alike[rates < net.demand * (1 - _SAME)]
    return float(wanting.min()) if len(wanting) else math.inf


def _by_weight(net: FluidNet, rates: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return rates if net.weight is None else rates / net.weight


def _score(net: FluidNet, goal: Goal, rates: npt.NDArray[np.float64]) -> tuple[float, ...]:
    least, total = least_wanting(net, rates), float(rates.sum())
    if goal == "total":
        return (_round_off(total), _round_off(least))
    at_least = int((_by_weight(net, rates) <= least * (1 + _SAME)).sum())
    return (_round_off(least), -at_least, _round_off(total))


def _round_off(value: float) -> float:
    """Without the last bits, in which equal allocations may differ."""
    return float(f"{value:.9e}")


def _rates(
    net: FluidNet, groups: list[tuple[int, ...]], chosen: tuple[int, ...], factor: float
) -> npt.NDArray[np.float64]:
    capacity = net.capacity.copy()
    for group in chosen:
        capacity[list(groups[group])] *= factor
    changed = FluidNet(capacity, net.offsets, net.hops, demand=net.demand, weight=net.weight)
    return changed.max_min()


def _make_upgrade(
    net: FluidNet,
    groups: list[tuple[int, ...]],
    group_indices: tuple[int, ...],
    factor: float,
    goal: Goal,
    *,
    exact: bool,
) -> Upgrade:
    rates = _rates(net, groups, group_indices, factor)
    names = tuple(net.link_name(groups[group][0]).replace("->", " - ") for group in group_indices)
    return Upgrade(goal, names, least_wanting(net, rates), float(rates.sum()), exact)


def _every_set(
    net: FluidNet, groups: list[tuple[int, ...]], count: int, factor: float, goal: Goal
) -> Upgrade:
    best = max(
        itertools.combinations(range(len(groups)), count),
        key=lambda chosen: _score(net, goal, _rates(net, groups, chosen, factor)),
    )
    alone = sorted(
        best, key=lambda g: _score(net, goal, _rates(net, groups, (g,), factor)), reverse=True
    )
    return _make_upgrade(net, groups, tuple(alone), factor, goal, exact=True)


def _one_by_one(
    net: FluidNet, groups: list[tuple[int, ...]], count: int, factor: float, goal: Goal
) -> Upgrade:
    chosen: tuple[int, ...] = ()
    for _ in range(count):
        rest = [g for g in range(len(groups)) if g not in chosen]
        more = max(rest, key=lambda g: _score(net, goal, _rates(net, groups, (*chosen, g), factor)))
        chosen = (*chosen, more)
    return _make_upgrade(net, groups, chosen, factor, goal, exact=False)
