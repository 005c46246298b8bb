"""Selfish users who choose their sending rates at one queue.

Each user knows its own outcome only and changes its own rate only. A Nash equilibrium is a vector
of rates from which nobody gains by moving alone; it is Pareto optimal if no feasible outcome is
better for everybody.

Source: S. Shenker, "Making greed work in networks: a game-theoretic analysis of switch service
disciplines", IEEE/ACM Transactions on Networking 3(6), 1995: under Fair Share the equilibrium
exists, is unique, and simple hill climbing finds it; it is Pareto optimal if all users want the
same, but not in general; under FIFO it is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.users import search
from ackclock.engines.model.users.disciplines import discipline, total

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ackclock.engines.model.users.utility import Utility

    Real = npt.NDArray[np.float64]

__all__ = ["Equilibrium", "best_reply", "climb", "equilibria", "equilibrium", "room_for_all"]

MOST = 1 - 1e-9
"""Largest rate a user may try."""


@dataclass(frozen=True)
class Equilibrium:
    """Where selfish users come to rest.

    Parameters
    ----------
    rates, congestion
        By user.
    steps
        Rounds in which every user moved once, until nobody moved any more.
    converged
        Whether they came to rest within the rounds allowed.
    """

    rates: Real
    congestion: Real
    steps: int
    converged: bool


def _value(name: str, wants: Sequence[Utility]) -> Callable[[Real, int], float]:
    shares = discipline(name)
    return lambda rates, user: wants[user](float(rates[user]), float(shares(rates)[user]))


def _at(name: str, rest: search.Rest) -> Equilibrium:
    return Equilibrium(rest.rates, discipline(name)(rest.rates), rest.rounds, rest.converged)


def best_reply(name: str, rates: Real, user: int, wants: Utility) -> float:
    """Find the rate that is best for one user while the others keep theirs.

    Parameters
    ----------
    name
        A discipline.
    rates
        By user.
    user
        Whose reply.
    wants
        Its utility.
    """
    return search.best_reply(_value(name, [wants] * len(rates)), rates, user, MOST)


def equilibrium(
    name: str,
    wants: Sequence[Utility],
    start: Real | None = None,
    *,
    rounds: int = 500,
    tolerance: float = 1e-7,
) -> Equilibrium:
    """Let users reply to each other in turn until nobody moves.

    Parameters
    ----------
    name
        A discipline.
    wants
        Utilities by user.
    start
        Rates at the start; left out: all 0.5 / n.
    rounds, tolerance
        As of `ackclock.engines.model.users.search.settle`.
    """
    n = len(wants)
    first = np.full(n, 0.5 / n) if start is None else start
    value = _value(name, wants)
    return _at(name, search.settle(value, first, MOST, rounds=rounds, tolerance=tolerance))


def climb(
    name: str,
    wants: Sequence[Utility],
    start: Real,
    *,
    step: float = 0.1,
    rounds: int = 5000,
    tolerance: float = 1e-6,
) -> Equilibrium:
    """Let users climb hills; see `ackclock.engines.model.users.search.climb`.

    Parameters
    ----------
    name
        A discipline.
    wants
        Utilities by user.
    start
        Rates at the start.
    step, rounds, tolerance
        As there.
    """
    value = _value(name, wants)
    return _at(
        name, search.climb(value, start, MOST, step=step, rounds=rounds, tolerance=tolerance)
    )


def equilibria(
    name: str, wants: Sequence[Utility], seed: int, starts: int = 20, apart: float = 1e-4
) -> list[Equilibrium]:
    """Look for different equilibria from random starts.

    Parameters
    ----------
    name
        A discipline.
    wants
        Utilities by user.
    seed
        Of the starts.
    starts
        How many.
    apart
        Rates that differ by less are the same equilibrium.

    Returns
    -------
    list of Equilibrium
        Those that differ, and one that did not converge, if there was one.
    """
    rng = np.random.default_rng(seed)
    distinct: list[Equilibrium] = []
    for _ in range(starts):
        draw = rng.exponential(size=len(wants) + 1)
        outcome = equilibrium(name, wants, draw[:-1] / draw.sum())
        if not any(
            other.converged == outcome.converged
            and (not outcome.converged or np.abs(other.rates - outcome.rates).max() < apart)
            for other in distinct
        ):
            distinct.append(outcome)
    return distinct


def room_for_all(wants: Sequence[Utility], outcome: Equilibrium) -> float:
    """Measure how far an outcome is from Pareto optimal.

    The largest x for which there is a feasible outcome that every user likes as much as its present
    congestion with a rate (1 + x) times its present rate. Zero: Pareto optimal.

    An outcome is feasible if Σ_S c >= g(Σ_S r) for every set S of users, with equality for all of
    them (Coffman & Mitrani 1980); the sets that can bind are those of the least c / r.

    Parameters
    ----------
    wants
        Utilities by user.
    outcome
        The outcome.
    """
    from scipy import optimize

    n = len(wants)
    before = np.concatenate([outcome.rates, outcome.congestion, [0.0]])

    def gains(v: Real) -> Real:
        r, c, x = v[:n], v[n : 2 * n], v[-1]
        return np.array(
            [
                want(r[i], c[i]) - want(outcome.rates[i] * (1 + x), outcome.congestion[i])
                for i, want in enumerate(wants)
            ]
        )

    def feasible(v: Real) -> Real:
        r, c = v[:n], v[n : 2 * n]
        order = np.argsort(c / np.maximum(r, 1e-12))
        rates, held = np.cumsum(r[order]), np.cumsum(c[order])
        return np.array([held[k] - total(min(rates[k], MOST)) for k in range(n)])

    # The stubs of minimize know no function of a plain array.
    solve: Any = optimize.minimize
    optimum = solve(
        lambda v: -v[-1],
        before,
        method="SLSQP",
        bounds=[(1e-9, MOST)] * n + [(1e-12, None)] * n + [(0.0, 10.0)],
        constraints=[optimize.NonlinearConstraint(f, 0.0, np.inf) for f in (gains, feasible)],
        options={"maxiter": 500, "ftol": 1e-10},
    )
    good = optimum.success and gains(optimum.x).min() > -1e-6 and feasible(optimum.x).min() > -1e-6
    return float(optimum.x[-1]) if good else 0.0
