"""Means with intervals: Student's t, the bootstrap, and when to stop repeating."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ackclock.errors import AckclockError
from ackclock.experiments import student_t

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ackclock.experiments.metrics import Reader

__all__ = [
    "FEWEST_EQUAL",
    "Mean",
    "Method",
    "Precision",
    "bootstrap_interval",
    "equal_values",
    "holm",
    "interval",
    "mean_interval",
    "mean_p_value",
    "most_differing",
]

Method = Literal["t", "bootstrap"]

FEWEST_EQUAL = 6
"""Equal values of a random study that are evidence: of fewer it may be that most runs differ."""


def equal_values(values: Sequence[float]) -> bool:
    """Whether there are two values or more and all are equal, so that their spread says nothing.

    Parameters
    ----------
    values
        Independent observations.
    """
    if len(values) < 2:
        return False
    low, high = min(values), max(values)
    # Of infinite values only the same are equal: the tolerance of one would take in all others.
    return low == high or high - low <= 1e-12 * max(abs(low), abs(high)) < math.inf


def most_differing(count: int, confidence: float = 0.95) -> float:
    """Upper end of the share of runs with another value, where all observed ones are equal.

    Parameters
    ----------
    count
        Equal observations, at least 1.
    confidence
        Level of the two-sided interval, in (0, 1).

    Returns
    -------
    float
        In (0, 1): of six equal values 0.46 at 95 %.

    References
    ----------
    C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the
    case of the binomial", Biometrika 26 (1934), 404-413.
    """
    # None of `count` differ, which has a probability of (1 - share) ** count.
    return -math.expm1(math.log((1.0 - confidence) / 2.0) / count)


def mean_p_value(values: Sequence[float], bound: float = 0.0) -> float:
    """Compute the p-value of Student's t-test that the mean is a bound, two-sided.

    It is the level at which the interval of `mean_interval` ends at the bound.

    Parameters
    ----------
    values
        Independent observations, NaN left out.
    bound
        The mean under the hypothesis.

    Returns
    -------
    float
        In [0, 1]; 1 for fewer than two values, and for infinite ones. Equal values away from the
        bound: 0, or 1 for fewer than `FEWEST_EQUAL`.
    """
    from scipy.special import stdtr

    data = np.asarray(values, dtype=float)
    data = data[~np.isnan(data)]
    if data.size < 2:
        return 1.0
    if equal_values(data.tolist()):
        return 0.0 if data.size >= FEWEST_EQUAL and data[0] != bound else 1.0
    if np.isinf(data).any():
        return 1.0
    apart = abs(float(data.mean()) - bound)
    error = float(data.std(ddof=1)) / data.size**0.5
    if apart == 0 or error == 0:
        return 1.0 if apart == 0 else 0.0
    return float(2 * stdtr(data.size - 1, -apart / error))


def holm(p_values: Sequence[float], level: float = 0.05) -> list[bool]:
    """Reject hypotheses so that any true one is rejected with at most a given probability.

    Parameters
    ----------
    p_values
        One for each hypothesis, of any dependence.
    level
        Probability of one or more false rejections, in (0, 1).

    Returns
    -------
    list of bool
        Whether each is rejected.

    References
    ----------
    S. Holm, "A simple sequentially rejective multiple test procedure", Scand. J. Statist. 6 (1979),
    65-70.
    """
    rejected = [False] * len(p_values)
    for rank, index in enumerate(np.argsort(p_values, kind="stable")):
        if not p_values[index] <= level / (len(p_values) - rank):
            break
        rejected[index] = True
    return rejected


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
        Mean, lower end, upper end; the ends are NaN for fewer than two observations, and where one
        is infinite, as a ratio to nothing, unless all are equal.
    """
    data = np.asarray(values, dtype=float)
    data = data[~np.isnan(data)]
    if data.size == 0:
        return (float("nan"),) * 3
    if np.isinf(data).any():
        mean = sum(data.tolist()) / data.size
        end = mean if equal_values(data.tolist()) else float("nan")
        return mean, end, end
    mean = float(data.mean())
    if data.size < 2:
        return mean, float("nan"), float("nan")
    error = float(data.std(ddof=1)) / data.size**0.5
    half = student_t.quantile(data.size - 1, 0.5 + confidence / 2) * error
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
    if data.size < 2 or np.isinf(data).any():
        return mean_interval(values, confidence)
    mean = float(data.mean())
    if np.ptp(data) <= 1e-12 * np.abs(data).max():
        return mean, mean, mean
    bca = bootstrap(
        (data,),
        np.mean,
        confidence_level=confidence,
        n_resamples=resamples,
        method="BCa",
        rng=np.random.default_rng(0),
    ).confidence_interval
    return mean, float(bca.low), float(bca.high)


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
    ``half_width`` times the mean's magnitude at two looks in a row, the second with twice the
    replicates of the first. How many come next follows from the values alone, so the runs of a
    sweep do not depend on how many ran at once. As with every sequential rule, the interval's level
    holds only about, and least where runs have two states, one of them rare; more in ``at_least``
    make it better. A replicate without a value counts towards ``at_most`` alone.

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
    at_least: int = 10
    confidence: float = 0.95

    def __post_init__(self) -> None:
        checks = {
            "half_width": (self.half_width, self.half_width > 0, "more than 0"),
            "at_least": (self.at_least, self.at_least >= 2, "at least 2"),
            "at_most": (
                self.at_most,
                self.at_most >= self.at_least,
                f"at least at_least, which is {self.at_least}",
            ),
            "confidence": (self.confidence, 0 < self.confidence < 1, "between 0 and 1"),
        }
        for name, (value, right, expected) in checks.items():
            if not right:
                message = f"until.{name} is {value}; expected {expected}"
                raise AckclockError(message)

    def count_replicates(self, values: Sequence[float]) -> int:
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
        count, look = len(values), self.at_least
        was_narrow = False
        while look <= count:
            is_narrow, next_ = self._look(values[:look])
            if look >= self.at_most or (is_narrow and was_narrow):
                return count
            was_narrow, look = is_narrow, min(self.at_most, next_)
        return look

    def is_reached(self, values: Sequence[float]) -> bool:
        """Whether the interval of values is as narrow as requested.

        Parameters
        ----------
        values
            The metric of all replicates of a point.
        """
        return self._look(values)[0]

    def _look(self, values: Sequence[float]) -> tuple[bool, int]:
        """Whether the interval is narrow, and how many replicates to have at the next look."""
        count = len(values)
        valued = sum(not math.isnan(value) for value in values)
        if valued < self.at_least:
            return False, count + self.at_least - valued if valued else 2 * count
        mean, low, high = mean_interval(values, self.confidence)
        half, allowed = (high - low) / 2, self.half_width * abs(mean)
        if half <= allowed:
            return True, 2 * count
        if allowed == 0:
            return False, 2 * count
        # A half-width falls with the root of the count; at most twice as many at a time, for the
        # standard deviation of few values is uncertain itself.
        needed = math.ceil(count * (half / allowed) ** 2)
        return False, max(count + 1, min(needed, 2 * count))
