"""How busy links are over time, and which are the bottlenecks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

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
    """

    situation: Situation
    loads: Floats
    unreachable: Floats

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
        found: Floats = np.percentile(self.used, q, axis=0, method="inverted_cdf")
        return found

    def to_data(self) -> dict[str, Any]:
        """All numbers as plain data."""
        used, times = self.used, self.situation.demands.times
        p95, top = self.percentile(95), used.argmax(axis=0)
        return {
            "question": "utilisation",
            "network": self.situation.network.title,
            "times": list(times),
            "demand_bps": [float(v) for v in self.situation.demands.volume.sum(axis=1)],
            "unreachable_bps": [float(v) for v in self.unreachable],
            "links": [
                {
                    "link": self.situation.direction(link),
                    "capacity_bps": float(self.situation.capacity[link]),
                    "mean": float(used[:, link].mean()),
                    "p95": float(p95[link]),
                    "max": float(used[top[link], link]),
                    "time_of_max": times[top[link]],
                }
                for link in self.busiest()
            ],
        }


def utilisation(
    situation: Situation, progress: Callable[[float], object] | None = None
) -> Utilisation:
    """Find the loads of all links at all times.

    Parameters
    ----------
    situation
        Network and demands.
    progress
        Gets the part that is done.
    """
    loads, unreachable = [], []
    volumes = situation.demands.volume
    for i, volume in enumerate(volumes):
        load, missing = situation.core(volume).loads(up=_NOTHING)
        loads.append(load)
        unreachable.append(missing)
        if progress is not None:
            progress((i + 1) / len(volumes))
    return Utilisation(situation, np.array(loads), np.array(unreachable))
