"""Percentiles over time and over seeds of the hash: of the values, the smallest not below."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

__all__ = ["QUANTILES", "by_name", "percentile", "quantiles"]

QUANTILES = (5.0, 50.0, 95.0)
"""Percentiles over seeds of the hash."""


def percentile(values: Floats, q: float | tuple[float, ...]) -> Floats:
    """Find percentiles along the first axis.

    Parameters
    ----------
    values
        By time or seed, ``(n, ...)``.
    q
        One or several, 0 to 100.

    Returns
    -------
    ndarray
        ``(...)``, or ``(n_q, ...)`` of several.
    """
    quantile_values: Floats = np.percentile(values, q, axis=0, method="inverted_cdf")
    return quantile_values


def quantiles(values_by_seed: Floats) -> Floats:
    """Find the percentiles `QUANTILES` over seeds.

    Parameters
    ----------
    values_by_seed
        Values by seed, ``(n_seeds, ...)``.

    Returns
    -------
    ndarray
        ``(3, ...)``.
    """
    return percentile(values_by_seed, QUANTILES)


def by_name(found: Floats) -> dict[str, float]:
    """Name three numbers of `quantiles`: p5, p50 and p95.

    Parameters
    ----------
    found
        ``(3,)``.
    """
    return {f"p{q:g}": float(value) for q, value in zip(QUANTILES, found, strict=True)}
