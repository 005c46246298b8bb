"""How busy links are over time, and which are the bottlenecks."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.studies.planner.percentiles import by_name, percentile, quantiles

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from ackclock.studies.planner.situation import Situation

    Floats = npt.NDArray[np.float64]

__all__ = ["Utilisation", "utilisation"]

_NOTHING: npt.NDArray[np.bool_] = np.empty(0, dtype=np.bool_)


@dataclass(frozen=True)
class Utilisation:
    """Load over capacity of each directed link, at each time.

    Parameters
    ----------
    situation
        Network and demands.
    loads
        Load [bit/s], ``(n_times, n_links)``.
    unreachable
        Demand [bit/s] without a path, ``(n_times,)``.
    hashed
        Where flows are hashed by several seeds: the 95th percentile over time of each link's
        utilisation by seed, ``(n_seeds, n_links)``.
    """

    situation: Situation
    loads: Floats
    unreachable: Floats
    hashed: Floats | None = None

    @property
    def used(self) -> Floats:
        """Load over capacity, ``(n_times, n_links)``."""
        return self.loads / self.situation.capacity

    def busiest(self) -> list[int]:
        """Directed links by their 95th percentile, then their mean, the busiest first."""
        used = self.used
        key = np.lexsort((-used.mean(axis=0), -np.round(self.percentile(95), 12)))
        return [int(link) for link in key]

    def percentile(self, q: float) -> Floats:
        """Percentile over time of each link's utilisation: of the times, the smallest not below.

        Parameters
        ----------
        q
            0 to 100.
        """
        return percentile(self.used, q)

    def lost(self) -> list[int]:
        """Pairs without a path, which demand something at some time."""
        if not self.unreachable.any():
            return []
        return self.situation.without_path(self.situation.demands.volume.max(axis=0) > 0)

    def to_data(self) -> dict[str, Any]:
        """All numbers as plain data."""
        used, times = self.used, self.situation.demands.times
        p95, top = self.percentile(95), used.argmax(axis=0)
        over_seeds = None if self.hashed is None else quantiles(self.hashed)
        more: dict[str, Any] = {}

        def of_link(link: int) -> dict[str, Any]:
            return {} if over_seeds is None else {"p95_over_hashes": by_name(over_seeds[:, link])}

        if self.hashed is not None:
            most = quantiles(self.hashed.max(axis=1))
            more = {
                "hashes": len(self.hashed),
                "busiest_over_hashes": by_name(most),
            }
        return {
            "question": "utilisation",
            "network": self.situation.network.title,
            "times": list(times),
            "demand_bps": [float(v) for v in self.situation.demands.volume.sum(axis=1)],
            "unreachable_bps": [float(v) for v in self.unreachable],
            "without_path": [self.situation.pair(pair) for pair in self.lost()],
            **more,
            "links": [
                {
                    "link": self.situation.direction(link),
                    "capacity_bps": float(self.situation.capacity[link]),
                    "mean": float(used[:, link].mean()),
                    "p95": float(p95[link]),
                    "max": float(used[top[link], link]),
                    "time_of_max": times[top[link]],
                    **of_link(link),
                }
                for link in self.busiest()
            ],
        }


def utilisation(
    situation: Situation,
    progress: Callable[[float], object] | None = None,
    *,
    hashes: int = 1,
) -> Utilisation:
    """Find the loads of all links at all times.

    Parameters
    ----------
    situation
        Network and demands.
    progress
        Gets the part that is done.
    hashes
        How many seeds of the hash are tried, where routers hash flows.

    Raises
    ------
    ScenarioError
        There are several seeds, and routers do not hash flows.
    """
    times = len(situation.demands.volume)
    every = [situation] if hashes == 1 else situation.with_seeds(hashes)
    first: tuple[Floats, Floats] | None = None
    hashed = []
    for number, seeded in enumerate(every):
        loads, unreachable = [], []
        for time in range(times):
            load, missing = replace(seeded, time=time).core().loads(up=_NOTHING)
            loads.append(load)
            unreachable.append(missing)
            if progress is not None:
                progress((number * times + time + 1) / (times * len(every)))
        link_loads = np.array(loads), np.array(unreachable)
        first = first or link_loads
        hashed.append(percentile(link_loads[0] / situation.capacity, 95))
    assert first is not None, "invariant: one seed at least"
    return Utilisation(situation, *first, np.array(hashed) if hashes > 1 else None)
