"""A number with its interval."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["EstimatedValue"]


@dataclass(frozen=True)
class EstimatedValue:
    """A number with its interval."""

    value: float
    low: float
    high: float

    def clip(self, low: float, high: float) -> EstimatedValue:
        """The same within bounds.

        Parameters
        ----------
        low, high
            The bounds.
        """
        return EstimatedValue(*(min(max(x, low), high) for x in (self.value, self.low, self.high)))
