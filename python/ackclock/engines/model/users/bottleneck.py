"""One finite queue in flow terms: what each user's rate brings it in goodput, loss and waiting.

Users offer Poisson streams of rate r_i to a server of rate 1 with exponential service times and
room for ``buffer`` packets. A packet that finds i packets is dropped with probability p(i): drop
tail's p is 0 below the buffer, RED's grows on the way. With load s = Σ r the stationary chain

    π_(i+1) = π_i s (1 - p(i))        lost(s) = s Σ π_i p(i)        held(s) = Σ i π_i

gives the packets lost per unit of time and those held, of all users together. Who bears them:

    fifo, red   in proportion to rates: a queue that knows no users (Poisson arrivals see averages)
    fq          in series: with r_1 <= ... <= r_n and s_k = r_1 + ... + r_(k-1) + (n - k + 1) r_k,
                user k bears what user k-1 does and its part of lost(s_k) - lost(s_(k-1)); so a user
                pays for what the queue would be if nobody sent more than it does. Longest-queue
                drop with fair queueing puts losses and waiting on the largest in the same way

Source: the series is S. Shenker, "Making greed work in networks", IEEE/ACM Transactions on
Networking 3(6), 1995, section 3.1, here for losses as well; RED's law Floyd & Jacobson, IEEE/ACM
Transactions on Networking 1(4), 1993, section IV, on the present length in place of its average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import find_by_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from ackclock.engines.model.users import search

    Real = npt.NDArray[np.float64]

__all__ = ["QUEUES", "WANTS", "Got", "Queue", "Want", "queue", "room_for_all", "value_of", "want"]

RED_MIN, RED_MAX, RED_P = 0.1, 0.3, 0.1
"""RED's thresholds, as parts of the buffer, and its drop ratio at the upper one; beyond it all."""


@dataclass(frozen=True)
class Got:
    """What users get.

    Parameters
    ----------
    goodput
        Packets that arrive, in units of the server's rate; shape (n,).
    lost
        Packets lost, likewise.
    queue
        Mean number of packets in the queue.
    """

    goodput: Real
    lost: Real
    queue: Real


@dataclass(frozen=True)
class Queue:
    """A queue.

    Parameters
    ----------
    drop
        Drop ratio by number of packets found, from 0 to the buffer, where it is 1.
    in_series
        Whether burdens are shared in series, else in proportion.
    """

    drop: tuple[float, ...]
    in_series: bool

    def burden(self, load: float) -> tuple[float, float]:
        """Packets lost per unit of time and packets held at a load.

        Parameters
        ----------
        load
            Sum of the rates, in units of the server's rate.
        """
        weight = total = 1.0
        lost, queued = self.drop[0], 0.0
        for number in range(1, len(self.drop)):
            weight *= load * (1 - self.drop[number - 1])
            total += weight
            lost += weight * self.drop[number]
            queued += weight * number
        return load * lost / total, queued / total

    def got(self, rates: Real) -> Got:
        """What each user gets.

        Parameters
        ----------
        rates
            By user, in units of the server's rate; shape (n,).
        """
        if not self.in_series:
            load = float(rates.sum())
            lost, queued = self.burden(load)
            share = rates / load
            return Got(rates - lost * share, lost * share, queued * share)
        n = len(rates)
        borne = np.zeros((2, n))
        paid = before = (0.0, 0.0)
        passed = 0.0
        for rank, user in enumerate(np.argsort(rates, kind="stable")):
            rate = float(rates[user])
            now = self.burden(passed + (n - rank) * rate)
            paid = (
                paid[0] + (now[0] - before[0]) / (n - rank),
                paid[1] + (now[1] - before[1]) / (n - rank),
            )
            borne[:, user] = paid
            before, passed = now, passed + rate
        return Got(rates - borne[0], borne[0], borne[1])


def queue(name: str, buffer: int = 50) -> Queue:
    """Make a queue.

    Parameters
    ----------
    name
        One of `QUEUES`.
    buffer
        Room, the packet in service included, at least 1 [packets].

    Raises
    ------
    UnsupportedError
        There is no such queue.
    """
    find_by_name(name, QUEUES, "queue")
    full = np.arange(buffer + 1)
    drop = np.zeros(buffer + 1)
    if name == "red":
        low, high = RED_MIN * buffer, RED_MAX * buffer
        drop = np.where(full >= high, 1.0, np.clip((full - low) / (high - low), 0, 1) * RED_P)
    drop[-1] = 1.0
    return Queue(tuple(float(p) for p in drop), name == "fq")


QUEUES = {
    "fifo": "drop tail, one queue for all",
    "red": "early drops, one queue for all",
    "fq": "fair queueing with longest-queue drop",
}
"""Queues by name."""


@dataclass(frozen=True)
class Want:
    """What a user wants: a utility, and by what factor of goodput one outcome beats another.

    Parameters
    ----------
    utility
        Of goodput, loss ratio, packets held.
    factor
        Of a utility and of goodput, loss ratio and packets held: how many times that goodput, with
        that loss and queue, is worth the utility.
    """

    utility: Callable[[float, float, float], float]
    factor: Callable[[float, float, float, float], float]


PRICE = 0.01
"""What a packet in the queue costs users with a linear or concave utility."""


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


WANTS: dict[str, Want] = {
    "linear": Want(
        lambda x, _, c: x - PRICE * c, lambda u, x, _, c: (u + PRICE * c) / x if x > 0 else 1.0
    ),
    "concave": Want(
        lambda x, _, c: _log(x) - PRICE * c,
        lambda u, x, _, c: math.exp(min(u + PRICE * c, 50.0)) / x if x > 0 else 1.0,
    ),
    "loss-tolerant": Want(
        lambda x, loss, _: x * (1 - loss),
        lambda u, x, loss, _: u / (x * (1 - loss)) if x > 0 else 1.0,
    ),
    "delay-sensitive": Want(
        lambda x, _, c: _log(x) - c,
        lambda u, x, _, c: math.exp(min(u + c, 50.0)) / x if x > 0 else 1.0,
    ),
    # Little's law: the mean delay is c / x; the power x / delay. Of these only it is not convex.
    "power": Want(
        lambda x, _, c: 2 * _log(x) - _log(c),
        lambda u, x, _, c: math.exp(min(u + _log(c), 50.0) / 2) / x if x > 0 else 1.0,
    ),
}
"""Wants by name, of goodput x, loss l, packets held c: x - w c, log x - w c, x (1 - l), log x - c,
x^2 / c.

Shenker's theorems are about convex preferences: what is liked as much as an outcome, or better, is
a convex set of (x, c). The last is not of that kind.
"""


def want(name: str) -> Want:
    """Find what a user wants.

    Parameters
    ----------
    name
        A key of `WANTS`.

    Raises
    ------
    UnsupportedError
        There is no such want.
    """
    return find_by_name(name, WANTS, "want")


def _read_user(got: Got, rates: Real, user: int) -> tuple[float, float, float]:
    return (
        float(got.goodput[user]),
        float(got.lost[user] / rates[user]),
        float(got.queue[user]),
    )


def value_of(behind: Queue, wants: Sequence[Want]) -> search.Value:
    """Give the function of a game: what each user's utility is at all rates.

    Parameters
    ----------
    behind
        The queue.
    wants
        By user.
    """
    return lambda rates, user: wants[user].utility(*_read_user(behind.got(rates), rates, user))


def factors(behind: Queue, wants: Sequence[Want], now: Real, then: Real) -> Real:
    """By what factor of goodput each user likes other rates better.

    Parameters
    ----------
    behind
        The queue.
    wants
        By user.
    now, then
        Rates by user.
    """
    value, got = value_of(behind, wants), behind.got(now)
    return np.array(
        [want.factor(value(then, i), *_read_user(got, now, i)) for i, want in enumerate(wants)]
    )


def room_for_all(behind: Queue, wants: Sequence[Want], rates: Real, most: float) -> float:
    """Measure how far rates are from Pareto optimal.

    The largest x for which other rates behind this queue, or behind drop tail with burdens in
    series, are worth to every user at least (1 + x) times its present goodput. Zero: nothing better
    for all was found.

    Parameters
    ----------
    behind
        The queue.
    wants
        By user.
    rates
        By user.
    most
        Largest rate.
    """
    from scipy import optimize

    def least(logarithms: Real, other: Queue) -> float:
        then = np.minimum(np.exp(logarithms), most)
        value, got = value_of(other, wants), behind.got(rates)
        return min(
            wanted.factor(value(then, i), *_read_user(got, rates, i))
            for i, wanted in enumerate(wants)
        )

    # The stubs of minimize know no function of a plain array.
    solve: Any = optimize.minimize
    best_factor = 1.0
    for other in {behind, Queue(queue("fifo", len(behind.drop) - 1).drop, in_series=True)}:
        for scale in (1.0, 0.7, 0.4, 0.2, 0.1):
            optimum = solve(
                lambda v, other=other: -least(v, other),
                np.log(rates * scale),
                method="Nelder-Mead",
                options={"maxiter": 400 * len(rates), "xatol": 1e-6, "fatol": 1e-8},
            )
            best_factor = max(best_factor, -float(optimum.fun))
    return best_factor - 1
