"""Weights that make the busiest link less busy, beside what is usual and what is possible."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.studies.planner.situation import costs

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.studies.planner.situation import Situation

    Floats = npt.NDArray[np.float64]

__all__ = ["WeightsResult", "least_utilisation", "search", "write_weights"]

_MOST_VARIABLES = 60_000
"""Up to so many variables the bound is computed."""


@dataclass(frozen=True)
class WeightsResult:
    """The best weights found, and baselines.

    Parameters
    ----------
    situation
        Network and demands, with the costs it had.
    cost
        Cost of each directed link.
    utilisation
        Utilisation of the busiest link with them.
    course
        Sets of weights tried when the best was beaten, with that utilisation.
    tries
        Sets of weights tried.
    baselines
        Utilisation of the busiest link with the costs given, with 1 everywhere, and with inverse
        capacities.
    bound
        Below this no routing of any kind comes; None where it was not computed.
    """

    situation: Situation
    cost: Floats
    utilisation: float
    course: tuple[tuple[int, float], ...]
    tries: int
    baselines: dict[str, float]
    bound: float | None

    def changed_links(self) -> list[str]:
        """Names of full-duplex links with another weight in a direction."""
        return [self.situation.link(row) for row in self._changed_rows()]

    def list_changes(self) -> list[tuple[str, float, float]]:
        """What has another weight: name, weight before, weight now.

        A link whose directions have one weight, before and now, is one entry; else each direction
        that changes is.
        """
        changes = []
        before, now = self.situation.cost, self.cost
        for row in self._changed_rows():
            there, back = 2 * row, 2 * row + 1
            if before[there] == before[back] and now[there] == now[back]:
                entries = [(self.situation.link(row), there)]
            else:
                entries = [(self.situation.direction(i), i) for i in (there, back)]
            changes += [
                (name, float(before[i]), float(now[i]))
                for name, i in entries
                if before[i] != now[i]
            ]
        return changes

    def _changed_rows(self) -> list[int]:
        differs = (self.situation.cost != self.cost).reshape(-1, 2).any(axis=1)
        rows: list[int] = np.flatnonzero(differs).tolist()
        return rows

    def to_data(self) -> dict[str, Any]:
        """All numbers as plain data."""
        return {
            "question": "weights",
            "network": self.situation.network.title,
            "time": self.situation.demands.times[self.situation.time],
            "tries": self.tries,
            "utilisation": self.utilisation,
            "baselines": self.baselines,
            "bound": self.bound,
            "reference_bps": self.situation.reference,
            "weights": [
                {
                    "link": self.situation.link(row),
                    "weight": float(self.cost[2 * row]),
                    "back_weight": float(self.cost[2 * row + 1]),
                }
                for row in range(self.situation.links)
            ],
        }


def search(
    situation: Situation,
    *,
    tries: int = 2000,
    most: int = 20,
    seed: int = 1,
    progress: Callable[[float], object] | None = None,
) -> WeightsResult:
    """Search for weights that lower the utilisation of the busiest link.

    The search gives both directions of a link the same weight; weights that are given may differ,
    and stay so where nothing better is found. The search starts from the best of the baselines, is
    random by its seed, and proves nothing: the bound says how far it may be off.

    Parameters
    ----------
    situation
        Network and demands.
    tries
        Sets of weights to try.
    most
        Largest weight.
    seed
        Seed of the search.
    progress
        Gets the part that is done.
    """
    starts = {
        "as given": situation.cost,
        "hops": costs(situation.network, "hops"),
        "inverse capacity": costs(situation.network, "inverse-capacity", situation.reference),
    }
    baselines = {
        name: float(situation.with_cost(cost).utilisation.max()) for name, cost in starts.items()
    }
    start = situation.with_cost(starts[min(baselines, key=lambda name: baselines[name])])
    rows = np.arange(situation.links + 1, dtype=np.uint32)
    cost, _, course = start.core().search_weights(
        offsets=2 * rows,
        links=np.arange(2 * situation.links, dtype=np.uint32),
        tries=tries,
        most=most,
        seed=seed,
        progress=None if progress is None else lambda done, of: progress(done / of),
    )
    bound = least_utilisation(situation)
    # The search compares rounded numbers.
    utilisation = float(situation.with_cost(cost).utilisation.max())
    return WeightsResult(situation, cost, utilisation, tuple(course), tries, baselines, bound)


def least_utilisation(situation: Situation) -> float | None:
    """Find the least utilisation of the busiest link that any routing can reach.

    The linear programme of multi-commodity flow, with one commodity for each destination, solved by
    HiGHS. What is on given paths stays there; demands without a path are left out.

    Parameters
    ----------
    situation
        Network and demands.

    Returns
    -------
    float or None
        The bound; None where the programme has more than 60,000 variables.
    """
    from scipy.optimize import linprog
    from scipy.sparse import coo_array, hstack, kron

    graph, demands = situation.network.graph, situation.demands
    n, m = len(graph.nodes), len(graph.src)
    targets = np.unique(demands.target)
    if len(targets) * m > _MOST_VARIABLES:
        return None
    demand_parts, on_paths = situation.demand_parts, np.zeros(m)
    volume = situation.volume[demand_parts.owner] * demand_parts.share
    routed = ~np.isin(demand_parts.owner, situation.without_path(situation.volume > 0))
    if demand_parts.on_given_paths is not None:
        parts_on_paths, offsets, hops = demand_parts.on_given_paths
        np.add.at(on_paths, hops, np.repeat(volume[parts_on_paths], np.diff(offsets)))
        routed[parts_on_paths] = False
    links = np.arange(m)
    incidence = coo_array(
        (np.r_[np.ones(m), -np.ones(m)], (np.r_[graph.src, graph.dst], np.r_[links, links])),
        shape=(n, m),
    )
    supply = np.zeros((len(targets), n))
    row_of_target = {int(t): i for i, t in enumerate(targets)}
    of = demand_parts.owner[routed]
    for a, b, sent in zip(demands.source[of], demands.target[of], volume[routed], strict=True):
        supply[row_of_target[int(b)], a] += sent
        supply[row_of_target[int(b)], b] -= sent
    scale = float(situation.capacity.max())
    count = len(targets)
    conserve: Any = kron(coo_array(np.eye(count)), incidence)
    equal: Any = hstack([conserve, coo_array((count * n, 1))])
    load: Any = kron(coo_array(np.ones((1, count))), coo_array(np.eye(m)))
    upper: Any = hstack([load, coo_array(-(situation.capacity / scale)[:, None])])
    solved = linprog(
        np.r_[np.zeros(count * m), 1.0],
        A_ub=upper.tocsr(),
        b_ub=-on_paths / scale,
        A_eq=equal.tocsr(),
        b_eq=supply.ravel() / scale,
        method="highs",
    )
    return None if solved.fun is None else float(solved.fun)


def write_weights(best: WeightsResult, path: Path) -> None:
    """Write the network with the weights found, as the CSV of links that the planner reads.

    Parameters
    ----------
    best
        The weights.
    path
        The file.
    """
    situation = best.situation
    graph, groups = situation.network.graph, situation.network.risk_groups
    head = ["source", "target", "capacity_bps", "back_capacity_bps", "weight", "back_weight"]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*head, "srlg"] if groups else head)
        for row in range(situation.links):
            there, back = 2 * row, 2 * row + 1
            ends = graph.nodes[graph.src[there]], graph.nodes[graph.dst[there]]
            capacities = (_digits(graph.capacity[there]), _digits(graph.capacity[back]))
            weights = (_digits(best.cost[there]), _digits(best.cost[back]))
            shared = ";".join(name for name, rows in groups.items() if row in rows)
            writer.writerow([*ends, *capacities, *weights, *([shared] if groups else [])])


def _digits(value: float) -> str:
    """A number with all of its digits."""
    return repr(float(value)).removesuffix(".0")
