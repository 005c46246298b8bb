"""How selfish users look for their best rate: by trying all, or by climbing hills.

A user's value of all rates is a function ``value(rates, user)``; a user changes its own rate only.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import numpy.typing as npt

    Real = npt.NDArray[np.float64]
    Value = Callable[[Real, int], float]

__all__ = ["Rest", "best_reply", "climb", "settle"]

GRID = np.concatenate([np.geomspace(1e-6, 0.05, 40), np.linspace(0.06, 1.0, 60)])
"""Rates that a best reply tries before it refines, as parts of the largest."""


@dataclass(frozen=True)
class Rest:
    """Where a search ended.

    Parameters
    ----------
    rates
        By user.
    rounds
        Rounds in which every user moved once, until nobody moved any more.
    converged
        Whether they came to rest within the rounds allowed.
    """

    rates: Real
    rounds: int
    converged: bool


def _try_rate(value: Value, rates: Real, user: int, rate: float) -> float:
    tried = rates.copy()
    tried[user] = rate
    return value(tried, user)


def best_reply(value: Value, rates: Real, user: int, most: float) -> float:
    """Find the rate that is best for one user while the others keep theirs.

    Parameters
    ----------
    value
        What a user gets out of all rates.
    rates
        By user.
    user
        Whose reply.
    most
        Largest rate a user may try.

    Returns
    -------
    float
        To about 1e-9, found on a grid of logarithms and refined by golden section.
    """
    from scipy.optimize import minimize_scalar

    def loss(logarithm: float) -> float:
        optimum = _try_rate(value, rates, user, float(np.exp(logarithm)))
        return -optimum if np.isfinite(optimum) else 1e300

    grid = np.log(GRID * most)
    losses = [loss(log_rate) for log_rate in grid]
    best = int(np.argmin(losses))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    optimum = minimize_scalar(loss, bounds=(low, high), method="bounded", options={"xatol": 1e-11})
    log_rate = optimum.x if optimum.fun <= losses[best] else grid[best]
    return float(np.exp(log_rate))


def settle(
    value: Value,
    start: Real,
    most: float,
    *,
    rounds: int = 500,
    tolerance: float = 1e-7,
    movers: Iterable[int] | None = None,
) -> Rest:
    """Let users reply to each other in turn until nobody moves.

    Parameters
    ----------
    value
        What a user gets out of all rates.
    start
        Rates at the start.
    most
        Largest rate a user may try.
    rounds
        Most rounds.
    tolerance
        Nobody moves if all changes of a round are below this.
    movers
        Users who reply; the others keep their rates. Left out: all.
    """
    rates = np.array(start, dtype=float)
    users = list(range(len(rates)) if movers is None else movers)
    for step in range(1, rounds + 1):
        before = rates.copy()
        for user in users:
            rates[user] = best_reply(value, rates, user, most)
        if np.abs(rates - before).max() < tolerance:
            return Rest(rates, step, converged=True)
    return Rest(rates, rounds, converged=False)


def climb(
    value: Value,
    start: Real,
    most: float,
    *,
    step: float = 0.1,
    rounds: int = 5000,
    tolerance: float = 1e-6,
) -> Rest:
    """Let users climb hills: try a little more, then a little less; keep what is better.

    A user knows only whether its last outcome was better. Its step grows by half after a success
    and halves after two failures.

    Parameters
    ----------
    value
        What a user gets out of all rates.
    start
        Rates at the start.
    most
        Largest rate a user may try.
    step
        First step, as a share of the rate.
    rounds
        Most rounds.
    tolerance
        Ends when every step is below this.
    """
    rates = np.array(start, dtype=float)
    steps = np.full(len(rates), step)
    for round_number in range(1, rounds + 1):
        for user in range(len(rates)):
            now = value(rates, user)
            for factor in (1 + steps[user], 1 / (1 + steps[user])):
                tried = min(rates[user] * factor, most)
                if _try_rate(value, rates, user, tried) > now:
                    rates[user] = tried
                    steps[user] = min(1.5 * steps[user], 1.0)
                    break
            else:
                steps[user] /= 2
        if steps.max() < tolerance:
            return Rest(rates, round_number, converged=True)
    return Rest(rates, rounds, converged=False)
