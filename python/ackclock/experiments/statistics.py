"""Means with intervals: Student's t, the bootstrap, and when to stop repeating."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ackclock.experiments.metrics import Reader

__all__ = ["Mean", "Method", "Precision", "bootstrap_interval", "interval", "mean_interval"]

Method = Literal["t", "bootstrap"]


def mean_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float, float]:
    """Mean with its Student-t confidence interval.

    Parameters
    ----------
    values
        Independent observations, NaN left out.
    confidence
        Level in (0, 1).

    Returns
    -------
    tuple of float
        Mean, lower end, upper end; the ends are NaN for fewer than two observations.
    """
    from scipy.special import stdtrit

    data = np.asarray(values, dtype=float)
    data = data[~np.isnan(data)]
    if data.size == 0:
        return (float("nan"),) * 3
    mean = float(data.mean())
    if data.size < 2:
        return mean, float("nan"), float("nan")
    error = float(data.std(ddof=1)) / data.size**0.5
    half = float(stdtrit(data.size - 1, 0.5 + confidence / 2)) * error
    return mean, mean - half, mean + half


def bootstrap_interval(
    values: Sequence[float], confidence: float = 0.95, *, resamples: int = 9999
) -> tuple[float, float, float]:
    """Mean with its bias-corrected and accelerated (BCa) bootstrap interval.

    Parameters
    ----------
    values
        Independent observations, NaN left out.
    confidence
        Level in (0, 1).
    resamples
        How often is drawn. The draws have a fixed seed: the same values, the same interval.

    Returns
    -------
    tuple of float
        Mean, lower end, upper end; the ends are NaN for fewer than two observations.

    References
    ----------
    B. Efron, "Better bootstrap confidence intervals", J. Amer. Statist. Assoc. 82 (1987), 171-185.
    """
    from scipy.stats import bootstrap

    data = np.asarray(values, dtype=float)
    data = data[~np.isnan(data)]
    if data.size < 2:
        return mean_interval(values, confidence)
    mean = float(data.mean())
    if np.ptp(data) <= 1e-12 * np.abs(data).max():
        return mean, mean, mean
    found = bootstrap(
        (data,),
        np.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return mean, float(found.low), float(found.high)


def interval(
    values: Sequence[float], confidence: float = 0.95, method: Method = "t"
) -> tuple[float, float, float]:
    """Mean with an interval of the method requested.

    Parameters
    ----------
    values
        Independent observations, NaN left out.
    confidence
        Level in (0, 1).
    method
        ``t`` or ``bootstrap``.

    Raises
    ------
    AckclockError
        There is no such method.
    """
    methods: dict[str, Callable[[Sequence[float], float], tuple[float, float, float]]] = {
        "t": mean_interval,
        "bootstrap": bootstrap_interval,
    }
    if method not in methods:
        message = f'there is no interval "{method}"; expected t or bootstrap'
        raise AckclockError(message)
    return methods[method](values, confidence)


class Mean(NamedTuple):
    """A mean with the ends of its 95 % interval; NaN where there are too few values."""

    mean: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Mean:
        """Make one.

        Parameters
        ----------
        values
            One per replicate.
        """
        return cls(*mean_interval([float(value) for value in values]))

    def to_list(self) -> list[float | None]:
        """Mean and ends as plain data; None for what is not known."""
        return [None if math.isnan(value) else value for value in self]


@dataclass(frozen=True)
class Precision:
    """When a point of a sweep has been repeated often enough.

    Replicates are added until the half-width of the mean's Student-t interval is at most
    ``half_width`` times the mean's magnitude. How many come next follows from the values alone, so
    the runs of a sweep do not depend on how many ran at once. As with every sequential rule, the
    interval's level holds only about; more in ``at_least`` make it better.

    Parameters
    ----------
    metric
        One number per run, as of `SweepResult.summary`.
    half_width
        Relative half-width requested, as 0.02 for 2 %.
    at_most
        Replicates after which a point ends in any case.
    at_least
        Replicates that every point gets, at least 2.
    confidence
        Level of the interval, in (0, 1).

    References
    ----------
    A. M. Law, Simulation Modeling and Analysis, 5th ed., McGraw-Hill 2015, section 9.4.1.
    """

    metric: str | Reader
    half_width: float = 0.02
    at_most: int = 50
    at_least: int = 5
    confidence: float = 0.95

    def __post_init__(self) -> None:
        found = {
            "half_width": (self.half_width, self.half_width > 0, "more than 0"),
            "at_least": (self.at_least, self.at_least >= 2, "at least 2"),
            "at_most": (
                self.at_most,
                self.at_most >= self.at_least,
                f"at least at_least, which is {self.at_least}",
            ),
            "confidence": (self.confidence, 0 < self.confidence < 1, "between 0 and 1"),
        }
        for name, (value, right, expected) in found.items():
            if not right:
                message = f"until.{name} is {value}; expected {expected}"
                raise AckclockError(message)

    def wanted(self, values: Sequence[float]) -> int:
        """Give the number of replicates wanted in all, after these values.

        Parameters
        ----------
        values
            The metric of the replicates so far; NaN counts as a replicate without a value.

        Returns
        -------
        int
            ``len(values)`` if it is enough.
        """
        count = len(values)
        if count < self.at_least:
            return self.at_least
        mean, low, high = mean_interval(values, self.confidence)
        half, allowed = (high - low) / 2, self.half_width * abs(mean)
        if half <= allowed or count >= self.at_most:
            return count
        if math.isnan(half) or allowed == 0:
            return min(self.at_most, 2 * count)
        # A half-width falls with the root of the count; at most twice as many at a time, for the
        # standard deviation of few values is uncertain itself.
        next_ = math.ceil(count * (half / allowed) ** 2)
        return min(self.at_most, max(count + 1, min(next_, 2 * count)))
