"""Flows that routers hash to one of their equal next hops, in place of equal parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import Problem, ScenarioError
from ackclock.studies.bottlenecks.demands import MOST_FLOWS

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]
    Ids = npt.NDArray[np.uint32]

__all__ = ["Hashing"]


@dataclass(frozen=True)
class Hashing:
    """How a demand becomes flows, and how routers hash these.

    Parameters
    ----------
    flow_bps
        Rate of a flow [bit/s], where the file gives no number of flows.
    seed
        Seed of the hash.
    same
        Whether all routers use one hash function, so that a choice decides the later ones
        (polarisation).
    """

    flow_bps: float = 10e6
    seed: int = 1
    same: bool = False

    def flows(self, volume: Floats, stated_flows: Ids | None) -> Ids:
        """Count the flows of each demand, at least 1.

        Parameters
        ----------
        volume
            Demand of each pair [bit/s].
        stated_flows
            Number of flows by the file, 0 where there is none.

        Raises
        ------
        ScenarioError
            They are more than can be computed.
        """
        by_rate = np.maximum(1.0, np.ceil(volume / self.flow_bps * (1 - 1e-12)))
        flows = (
            by_rate if stated_flows is None else np.where(stated_flows > 0, stated_flows, by_rate)
        )
        if flows.sum() > MOST_FLOWS:
            message = (
                f"the demands are {flows.sum():,.0f} flows; expected {MOST_FLOWS:,} at most, of a"
                " higher rate"
            )
            raise ScenarioError([Problem("--flow-rate", message)])
        return flows.astype(np.uint32)
