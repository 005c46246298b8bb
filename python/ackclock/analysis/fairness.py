"""How evenly rates are shared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.analysis.grouping import group_rows, numbers, table_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt
    import pyarrow as pa

    Rates = Sequence[float] | npt.NDArray[np.float64]

__all__ = ["fairness", "jain", "legout_sigma", "max_min_distance", "max_min_share", "spread"]


def _rates(values: Rates) -> npt.NDArray[np.float64]:
    rates = np.asarray(values, dtype=np.float64)
    if rates.ndim != 1 or rates.size == 0:
        message = f"a score needs a list of at least one rate, not {values!r}"
        raise ValueError(message)
    return rates


def jain(rates: Rates) -> float:
    """Jain's index: (Σx)² / (n Σx²).

    Parameters
    ----------
    rates
        At least one, not negative.

    Returns
    -------
    float
        From 1/n (one has all) to 1 (all are equal); NaN if all are zero.

    References
    ----------
    R. Jain, D. Chiu, W. Hawe, "A quantitative measure of fairness and discrimination for resource
    allocation in shared computer systems", DEC-TR-301, 1984.
    """
    x = _rates(rates)
    # Scaled first, so that squares of neither tiny nor huge rates leave the range of numbers.
    most = float(np.abs(x).max())
    if most == 0:
        return float("nan")
    x = x / most
    return float(x.sum() ** 2 / (x.size * np.sum(x * x)))


def spread(rates: Rates) -> float:
    """Distance of best and worst: (max − min) / mean.

    Parameters
    ----------
    rates
        At least one, not negative.

    Returns
    -------
    float
        From 0 (all are equal) to n (one has all); NaN if the mean is zero.

    References
    ----------
    A. Akella, S. Seshan, S. Shenker, I. Stoica, "Exploring Congestion Control", CMU-CS-02-139,
    2002, section 4.
    """
    x = _rates(rates)
    mean = float(x.mean())
    return float((x.max() - x.min()) / mean) if mean != 0 else float("nan")


def legout_sigma(rates: Rates) -> float:
    """Standard deviation of the rates: √(Σ(x − mean)² / (n − 1)).

    Parameters
    ----------
    rates
        At least one.

    Returns
    -------
    float
        In the unit of the rates; NaN for one rate.

    References
    ----------
    A. Legout, E. W. Biersack, "Beyond TCP-Friendliness: A New Paradigm for End-to-End Congestion
    Control", 1999, section 3.1.
    """
    x = _rates(rates)
    return float(x.std(ddof=1)) if x.size > 1 else float("nan")


def max_min_share(demands: Rates, capacity: float) -> npt.NDArray[np.float64]:
    """Max-min fair shares of one link, by filling.

    Every flow gets its demand or, if that is more, the same level λ with Σ min(demand, λ) =
    capacity.

    Parameters
    ----------
    demands
        Demand of each flow; ``inf`` for as much as there is.
    capacity
        Of the link, in the same unit.

    References
    ----------
    D. Bertsekas, R. Gallager, Data Networks, 2nd ed., Prentice Hall 1992, section 6.5.2.
    """
    demand = _rates(demands)
    given = np.empty_like(demand)
    left = float(capacity)
    order = np.argsort(demand, kind="stable")
    for done, flow in enumerate(order):
        given[flow] = min(demand[flow], left / (demand.size - done))
        left -= given[flow]
    return given


def max_min_distance(rates: Rates, fair: Rates) -> float:
    """Distance to the max-min allocation: Σ|x − m| / Σm.

    Parameters
    ----------
    rates
        What each flow got.
    fair
        What max-min fairness gives each, in the same order; see `max_min_share`.

    Returns
    -------
    float
        0 if they agree. If both use the same capacity, half of it is the part of the capacity
        that the wrong flows have.

    Notes
    -----
    The ℓ1 distance, made free of units by the fair total.
    """
    x, m = _rates(rates), _rates(fair)
    if x.size != m.size:
        message = f"{x.size} rates and {m.size} fair rates; expected as many"
        raise ValueError(message)
    total = float(m.sum())
    return float(np.abs(x - m).sum() / total) if total else float("nan")


def fairness(
    table: pa.Table, value: str = "goodput_bps", by: Sequence[str] = ("seed",)
) -> pa.Table:
    """Scores of each group of rows: n, mean, minimum, sigma, jain, spread.

    Mean, minimum and sigma are those of Legout and Biersack (1999), section 3.1.

    Parameters
    ----------
    table
        Tidy: one row per flow and run.
    value
        Column of the rates.
    by
        Columns that distinguish runs.

    Returns
    -------
    pyarrow.Table
        One row per group: columns of ``by``, then the scores.

    Raises
    ------
    AckclockError
        The table lacks a column.
    """
    rows: list[dict[str, Any]] = []
    for key, group in group_rows(table, by, value):
        x = numbers(group, value)
        rows.append(
            {
                **key,
                "n": x.size,
                "mean": float(x.mean()),
                "minimum": float(x.min()),
                "sigma": legout_sigma(x),
                "jain": jain(x),
                "spread": spread(x),
            }
        )
    return table_of(rows)
