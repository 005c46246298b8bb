"""The queue at which FAST flows fill a link, whatever each takes for propagation.

M. Rodríguez-Pérez, S. Herrería-Alonso, M. Fernández-Veiga, C. López-García, "The persistent
congestion problem of FAST-TCP: Analysis and solutions". Equation numbers are the paper's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.ranges import Range, ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

__all__ = [
    "ALPHA",
    "CAPACITY",
    "FLOWS",
    "SECONDS",
    "equilibrium",
    "rows_of_points",
    "weighted_queue",
    "whole_numbers",
]

FLOWS = Range(minimum=1, is_integer=True)
ALPHA = Range(above=0, unit="packets")
CAPACITY = Range(above=0, unit="packets/s")
SECONDS = Range(above=0, unit="s")

PRECISION = 1e-13
MOST_STEPS = 100


def whole_numbers(flows: Any) -> npt.NDArray[np.int64]:
    """Read numbers of flows.

    Parameters
    ----------
    flows
        Number or numbers n.

    Raises
    ------
    ValueError
        One is less than 1.
    """
    numbers = np.asarray(flows, dtype=np.int64)
    if np.any(numbers < 1):
        message = f"flows is {numbers.min()}, but it must be 1 or more"
        raise ValueError(message)
    return numbers


def weighted_queue(weights: Any, errors: Any, capacity: Any = 1.0) -> Any:
    """Find the delay q at which flows that get ``weights / (q - errors)`` fill the link.

    Newton's method from the left of the root, where the sum is convex and falls: no step passes
    the root.

    Parameters
    ----------
    weights
        What each flow keeps queued [packets], more than 0, shape ``(..., n)``.
    errors
        What each takes for propagation too much [s], shape ``(..., n)``.
    capacity
        Of the link [packets/s], shape ``(...)``.

    Returns
    -------
    numpy.ndarray
        Queueing delay [s], shape ``(...)``; a number for one link.
    """
    weight_array, wrong = np.broadcast_arrays(np.asarray(weights, float), np.asarray(errors, float))
    rate = np.asarray(capacity, float)[..., None]
    # At this delay the flow with the largest error alone fills the link, so the sum is too large.
    q = (wrong + weight_array / rate).max(axis=-1, keepdims=True)
    for _ in range(MOST_STEPS):
        rates = weight_array / (q - wrong)
        excess = rates.sum(axis=-1, keepdims=True) - rate
        step = excess / (rates * rates / weight_array).sum(axis=-1, keepdims=True)
        q = q + step
        if np.all(np.abs(step) <= PRECISION * np.maximum(np.abs(q), 1e-300)):
            break
    return q[..., 0]


def rows_of_points(rows_at: Callable[..., dict[str, Any]], *parameters: Any) -> dict[str, Any]:
    """Compute the rows of each point and join them; ``point`` is its number.

    Parameters
    ----------
    rows_at
        Gives columns of equal length for the values of one point.
    *parameters
        Values of each parameter, to be broadcast against each other.
    """
    points = zip(*map(np.atleast_1d, np.broadcast_arrays(*parameters)), strict=True)
    tables = [rows_at(*(value.item() for value in values)) for values in points]
    lengths = [len(next(iter(table.values()))) for table in tables]
    columns = {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}
    return {"point": np.repeat(np.arange(len(tables)), lengths), **columns}


@ranges(
    flows=FLOWS,
    alpha_packets=ALPHA,
    capacity_packets_per_s=CAPACITY,
    error_s=Range(unit="s"),
)
def equilibrium(
    flows: Any,
    alpha_packets: Any = 50.0,
    capacity_packets_per_s: Any = 12_500.0,
    error_s: Any = 0.0,
) -> dict[str, Any]:
    """Rates of n flows that all err alike about the propagation delay: equations (3) and (4).

    Parameters
    ----------
    flows
        Number n.
    alpha_packets
        What each flow means to keep queued.
    capacity_packets_per_s
        Rate C of the link.
    error_s
        What every flow takes for propagation too much [s].

    Returns
    -------
    dict
        A row per flow: ``point``, ``flow``, ``share``, ``queue_packets`` of the link.
    """

    def rows_at(n: int, alpha: float, rate: float, error: float) -> dict[str, Any]:
        weights, errors = np.full(n, float(alpha)), np.full(n, float(error))
        q = weighted_queue(weights, errors, rate)
        return {
            "flow": np.arange(1, n + 1),
            "share": weights / (q - errors) / rate,
            "queue_packets": np.full(n, q * rate),
        }

    parameters = (alpha_packets, capacity_packets_per_s, error_s)
    return rows_of_points(rows_at, whole_numbers(flows), *parameters)
