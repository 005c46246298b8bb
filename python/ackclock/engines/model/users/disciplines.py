"""How much congestion each user of a queue suffers, given everybody's rate.

Users offer Poisson streams of rate r_i to a server of rate 1 with exponential service times. The
congestion c_i of user i is the mean number of its packets in the queue. Whatever serves without
idling has the same sum, Σ c_i = g(Σ r_i) with g(x) = x / (1 - x); disciplines differ in who bears
it.

Source: S. Shenker, "Making greed work in networks: a game-theoretic analysis of switch service
disciplines", IEEE/ACM Transactions on Networking 3(6), 1995, sections 2 and 3.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ackclock.errors import find_by_name

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

__all__ = ["DISCIPLINES", "discipline", "fair_share", "fifo", "total"]


def total(load: float) -> float:
    """Mean number of packets in the queue, g(x) = x / (1 - x); infinite from load 1 on.

    Parameters
    ----------
    load
        Sum of the rates, in units of the server's rate.
    """
    return load / (1 - load) if load < 1 else float("inf")


def fifo(rates: Real) -> Real:
    """Share congestion in proportion to rates: c_i = r_i / (1 - Σ r).

    So does any discipline that does not distinguish users, RED's early drops included.

    Parameters
    ----------
    rates
        By user, in units of the server's rate; shape (n,).

    Returns
    -------
    numpy.ndarray
        Packets by user, shape (n,).
    """
    load = float(rates.sum())
    return rates / (1 - load) if load < 1 else np.where(rates > 0, np.inf, 0.0)


def fair_share(rates: Real) -> Real:
    """Make nobody pay for others' larger rates, as fair queueing does.

    Order users by rate, r_1 <= ... <= r_n, and let s_k = r_1 + ... + r_(k-1) + (n - k + 1) r_k: the
    load if nobody sent more than user k. Then c_k = c_(k-1) + (g(s_k) - g(s_(k-1))) / (n - k + 1).

    Parameters
    ----------
    rates
        As of `fifo`.

    Returns
    -------
    numpy.ndarray
        As of `fifo`.
    """
    order = np.argsort(rates, kind="stable")
    congestion = np.empty_like(rates)
    paid, before, passed, n = 0.0, 0.0, 0.0, len(rates)
    for rank, user in enumerate(order):
        load = passed + (n - rank) * float(rates[user])
        now = total(load)
        paid = paid + (now - before) / (n - rank) if np.isfinite(now) else float("inf")
        congestion[user] = paid
        before, passed = now, passed + float(rates[user])
    return congestion


DISCIPLINES: dict[str, Callable[[Real], Real]] = {"fifo": fifo, "fair-share": fair_share}
"""Disciplines by name."""


def discipline(name: str) -> Callable[[Real], Real]:
    """Find a discipline.

    Parameters
    ----------
    name
        A key of `DISCIPLINES`.

    Raises
    ------
    UnsupportedError
        There is no such discipline.
    """
    return find_by_name(name, DISCIPLINES, "discipline")
