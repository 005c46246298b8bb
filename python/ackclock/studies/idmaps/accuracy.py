"""How good estimates are, and what their errors do to GREEN."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ackclock.analysis.fairness import jain
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    import numpy.typing as npt

    from ackclock.studies.idmaps.distances import Distances
    from ackclock.studies.idmaps.service import IDMaps

    Real = npt.NDArray[np.float64]

__all__ = ["Accuracy", "accuracy"]


@dataclass(frozen=True)
class Accuracy:
    """Factors by which estimates exceed the truth, over pairs of hosts.

    Parameters
    ----------
    factors
        Estimate over truth, ascending, of shape (n_pairs,).
    """

    factors: Real

    @property
    def within_two(self) -> float:
        """Share of pairs whose estimate is correct within a factor of two: IDMaps' aim."""
        return float(((self.factors >= 0.5) & (self.factors <= 2)).mean())

    @property
    def in_paper_range(self) -> float:
        """Share of pairs with a factor from 1 to 2, as Kapadia et al. assume."""
        return float(((self.factors >= 1 - 1e-9) & (self.factors <= 2)).mean())

    @property
    def from_uniform(self) -> float:
        """Kolmogorov's distance from the uniform distribution on [1, 2]."""
        steps = np.arange(len(self.factors) + 1) / len(self.factors)
        uniform = np.clip(self.factors - 1, 0, 1)
        return float(max(abs(steps[1:] - uniform).max(), abs(steps[:-1] - uniform).max()))

    @property
    def jain_bound(self) -> float:
        """Jain's index of GREEN's flows by the square-root law: (E u)² / E u²."""
        return jain(self.factors)

    @property
    def load(self) -> float:
        """Load that GREEN's flows offer, relative to true round-trip times: E u."""
        return float(self.factors.mean())

    def quantile(self, share: float) -> float:
        """Find the factor below which a share of the pairs lies.

        Parameters
        ----------
        share
            From 0 to 1.
        """
        return float(np.quantile(self.factors, share))

    def __str__(self) -> str:
        low, middle, high = (self.quantile(share) for share in (0.1, 0.5, 0.9))
        return (
            f"factor {low:.2f} / {middle:.2f} / {high:.2f} (10, 50, 90 %), "
            f"{100 * self.within_two:.0f} % within a factor of two, "
            f"Jain bound {self.jain_bound:.3f}, load {self.load:.2f}"
        )


def accuracy(distances: Distances, service: IDMaps, host: int | None = None) -> Accuracy:
    """Compare estimates with the truth.

    Pairs in one place (no distance) and of tracers, which measure each other, do not count; pairs
    of a tracer and another host do: routers are tracers.

    Parameters
    ----------
    distances
        The truth.
    service
        The estimates.
    host
        Only pairs of this host with others, as a router sees them; left out: all pairs.

    Raises
    ------
    AckclockError
        No pair is left.
    """
    if host is None:
        a, b = np.triu_indices(len(distances), 1)
    else:
        b = np.delete(np.arange(len(distances)), host)
        a = np.full_like(b, host)
    true = distances.rtt_s[a, b]
    tracer = np.isin(a, service.tracers) & np.isin(b, service.tracers)
    keep = (true > 0) & ~tracer
    if not keep.any():
        message = "every pair of hosts is of two tracers; expected hosts that are none"
        raise AckclockError(message)
    factors = np.sort(service.rtt_s(a[keep], b[keep]) / true[keep])
    return Accuracy(factors)
