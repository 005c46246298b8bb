"""What is computed of a measure's rows other than their mean: correlations, widths, predictions."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ackclock.experiments.statistics import FEWEST_EQUAL

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "Estimate",
    "Spread",
    "half_width",
    "prediction",
    "prediction_p_value",
    "rank_correlation",
]

RESAMPLES = 2000
"""Bootstrap samples of replicates."""

FEWEST = 3
"""Replicates that a bootstrap of replicates needs."""

FEWEST_OF_SHAPE = 5
"""Values from which on a kurtosis is estimated."""


class Estimate(NamedTuple):
    """A number with its interval; the ends are NaN if there is none."""

    value: float
    low: float
    high: float


class Spread(NamedTuple):
    """A standard deviation between runs, and its degrees of freedom."""

    deviation: float
    freedom: float


def rank_correlation(
    rows: Sequence[dict[str, Any]], confidence: float, *, is_exact: bool
) -> Estimate:
    """Compute Spearman's correlation of means over replicates, with a bootstrap of replicates.

    Ranks of single replicates are ranks of noise; means over them are what is compared.

    Parameters
    ----------
    rows
        With ``x``, ``y`` and ``at``, the place whose replicates are averaged; ``replicate`` where
        there are several.
    confidence
        Level of the interval.
    is_exact
        Nothing random is behind the rows.

    Returns
    -------
    Estimate
        NaN if one side is constant; ends are NaN for fewer than three replicates.
    """
    import numpy as np
    from scipy.stats import spearmanr

    points = list(dict.fromkeys(str(row["at"]) for row in rows))
    replicates = list(dict.fromkeys(row.get("replicate") for row in rows))
    values = np.full((2, len(replicates), len(points)), np.nan)
    for row in rows:
        cell = replicates.index(row.get("replicate")), points.index(str(row["at"]))
        values[:, *cell] = row["x"], row["y"]

    def correlate(replicate_rows: Any) -> float:
        x, y = np.nanmean(values[:, replicate_rows, :], axis=1)
        if len(points) < 2 or np.ptp(x) == 0 or np.ptp(y) == 0:
            return math.nan
        return float(spearmanr(x, y).statistic)

    correlation = correlate(np.arange(len(replicates)))
    if is_exact or math.isnan(correlation):
        return Estimate(correlation, correlation, correlation)
    if len(replicates) < FEWEST:
        return Estimate(correlation, math.nan, math.nan)
    draws = np.random.default_rng(0).integers(len(replicates), size=(RESAMPLES, len(replicates)))
    correlations = np.array([correlate(draw) for draw in draws])
    correlations = correlations[~np.isnan(correlations)]
    low, high = np.quantile(correlations, [(1 - confidence) / 2, (1 + confidence) / 2])
    return Estimate(correlation, float(low), float(high))


def half_width(
    values: Sequence[float], ran: int, confidence: float, *, is_sample: bool = True
) -> Estimate:
    """Estimate half the interval that a number of runs has, with its interval after Bonett.

    The chi-squared interval of a deviation is for normal data alone: of data with long tails it
    holds the truth the less often the more values there are. Bonett's has the sample's kurtosis.

    Parameters
    ----------
    values
        One per replicate.
    ran
        Runs of the interval in question, at least 2.
    confidence
        Level of both intervals.
    is_sample
        The values are a sample; else all points of a design, whose deviation has no interval.

    Returns
    -------
    Estimate
        NaN throughout for fewer than two values; ends are NaN for fewer than five of a sample, of
        which the kurtosis is not known.

    References
    ----------
    D. G. Bonett, "Approximate confidence interval for standard deviation of nonnormal
    distributions", Comput. Statist. Data Anal. 50 (2006), 775-782.
    """
    import numpy as np
    from scipy.special import ndtri, stdtrit

    count = len(values)
    if count < 2 or ran < 2:
        return Estimate(math.nan, math.nan, math.nan)
    data = np.sort(np.asarray(values, dtype=float))
    per_deviation = float(stdtrit(ran - 1, 0.5 + confidence / 2)) / ran**0.5
    deviation = float(data.std(ddof=1))
    half = deviation * per_deviation
    if not is_sample or (deviation == 0 and count >= FEWEST_EQUAL):
        return Estimate(half, half, half)
    z = float(ndtri(0.5 + confidence / 2))
    if deviation == 0 or count < FEWEST_OF_SHAPE or count <= z:
        return Estimate(half, math.nan, math.nan)
    cut = int(count / (2 * (count - 4) ** 0.5))
    centre = data[cut : count - cut].mean() if count > 2 * cut else np.median(data)
    squares = ((data - data.mean()) ** 2).sum()
    kurtosis = float(count * ((data - centre) ** 4).sum() / squares**2)
    scale = count / (count - z)
    error = scale * (max(kurtosis - (count - 3) / count, 0.0) / (count - 1)) ** 0.5
    low, high = (math.sqrt(scale * math.exp(sign * z * error)) for sign in (-1, 1))
    return Estimate(half, half * low, half * high)


def prediction(
    values: Sequence[float], ran: int, confidence: float, spread: Spread | None = None
) -> tuple[Estimate, float]:
    """Compute the interval in which the mean of a number of further runs lies.

    Parameters
    ----------
    values
        One per replicate.
    ran
        Runs behind the printed number.
    confidence
        Level.
    spread
        Pooled over alike measures; left out: that of the values.

    Returns
    -------
    tuple of Estimate and float
        The interval, and its width over that of endless replicates.
    """
    import numpy as np
    from scipy.special import ndtri, stdtrit

    count, mean = len(values), float(np.mean(values))
    if spread is None:
        if count < 2:
            return Estimate(mean, math.nan, math.nan), math.inf
        spread = Spread(float(np.std(values, ddof=1)), count - 1)
    level = 0.5 + confidence / 2
    ours = float(stdtrit(spread.freedom, level)) * (1 / ran + 1 / count) ** 0.5
    half = ours * spread.deviation
    return Estimate(mean, mean - half, mean + half), ours / (float(ndtri(level)) / ran**0.5)


def prediction_p_value(
    values: Sequence[float], ran: int, printed: float, spread: Spread | None = None
) -> float:
    """Compute the level at which the interval of `prediction` ends at a printed number.

    Parameters
    ----------
    values, ran, spread
        As of `prediction`.
    printed
        The number.

    Returns
    -------
    float
        In [0, 1]; 1 for fewer than two values without a pooled deviation.
    """
    import numpy as np
    from scipy.special import stdtr

    count, mean = len(values), float(np.mean(values))
    if spread is None:
        if count < 2:
            return 1.0
        spread = Spread(float(np.std(values, ddof=1)), count - 1)
    scale = spread.deviation * (1 / ran + 1 / count) ** 0.5
    if printed == mean or scale == 0:
        return 1.0 if printed == mean else 0.0
    return float(2 * stdtr(spread.freedom, -abs(printed - mean) / scale))
