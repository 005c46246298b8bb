"""Shares, queues and thresholds of FAST flows that take each other's queue for propagation.

M. Rodríguez-Pérez, S. Herrería-Alonso, M. Fernández-Veiga, C. López-García, "The persistent
congestion problem of FAST-TCP: Analysis and solutions". Equation numbers are the paper's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.fast_queue import (
    ALPHA,
    CAPACITY,
    FLOWS,
    SECONDS,
    rows_of_points,
    weighted_queue,
    whole_numbers,
)
from ackclock.engines.model.ranges import ranges

if TYPE_CHECKING:
    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

__all__ = [
    "additions",
    "buffer_packets",
    "joining",
    "joining_addition",
    "rate_targets",
    "sequential",
    "sequential_flows",
    "sequential_shares",
]


@lru_cache(maxsize=8)
def _additions(flows: int) -> Real:
    additions = np.zeros(flows)
    # What each flow sees queued beyond its own estimate, in units of alpha.
    excess = np.zeros(flows)
    excess[0] = 1.0
    for number in range(1, flows):
        here = excess[: number + 1]
        here += 1.0
        additions[number] = weighted_queue(1.0, -here)
        here += additions[number]
    additions.setflags(write=False)
    return additions


def additions(flows: int) -> Real:
    """Extra packets a_1 ... a_n that each flow's arrival adds, in units of alpha: equation (11).

    Parameters
    ----------
    flows
        Number n of flows that started one after another, 1 or more.

    Returns
    -------
    numpy.ndarray
        Shape ``(n,)``; the first is 0.

    Raises
    ------
    ValueError
        There is no flow.
    """
    return _additions(int(whole_numbers(flows)))


def _sums(flows: int) -> Real:
    """Sums a_1 + ... + a_k for k = 0 ... n."""
    return np.concatenate([[0.0], np.cumsum(additions(flows))])


def sequential_shares(flows: int) -> Real:
    """Shares of the link of n flows that started one after another, oldest first: equation (11).

    Parameters
    ----------
    flows
        Number n, 1 or more.

    Returns
    -------
    numpy.ndarray
        Shape ``(n,)``; sums to 1.
    """
    sums = _sums(flows)
    shares: Real = 1.0 / (flows - np.arange(flows) + sums[-1] - sums[:-1])
    return shares


def buffer_packets(flows: int, alpha_packets: float) -> float:
    """Packets that n flows keep queued when they started one after another: section 4.2.1.

    Parameters
    ----------
    flows
        Number n, 1 or more.
    alpha_packets
        What each means to keep queued.
    """
    return float(alpha_packets * (flows + _sums(flows)[-1]))


def joining_addition(flows: Any) -> Any:
    """Extra packets when one flow joins n fair ones, in units of alpha: equation (15).

    Parameters
    ----------
    flows
        Number n of flows that know the propagation delay.
    """
    return (np.sqrt(1 + 4 * np.asarray(flows, dtype=float)) - 1) / 2


@ranges(
    flows=FLOWS,
    alpha_packets=ALPHA,
    capacity_packets_per_s=CAPACITY,
)
def sequential(
    flows: Any, alpha_packets: Any = 50.0, capacity_packets_per_s: Any = 12_500.0
) -> dict[str, Any]:
    """Sum up n flows that started one after another: equation (11), section 4.2.1.

    Parameters
    ----------
    flows
        Number n.
    alpha_packets
        What each flow means to keep queued.
    capacity_packets_per_s
        Rate of the link.

    Returns
    -------
    dict
        ``addition`` (a_n), ``share_oldest``, ``share_newest``, ``newest_over_oldest``,
        ``newest_over_previous``, ``queue_packets``, ``queue_over_ideal``, ``queueing_delay_s``.
    """
    n, alpha, capacity = np.broadcast_arrays(
        whole_numbers(flows), np.asarray(alpha_packets, float), capacity_packets_per_s
    )
    sums = _sums(int(n.max()))
    last = sums[n] - sums[n - 1]
    before = sums[n - 1] - sums[np.maximum(n - 2, 0)]
    queue = n + sums[n]
    return {
        "addition": last,
        "share_oldest": 1 / queue,
        "share_newest": 1 / (1 + last),
        "newest_over_oldest": queue / (1 + last),
        "newest_over_previous": np.where(n > 1, (2 + last + before) / (1 + last), np.nan),
        "queue_packets": alpha * queue,
        "queue_over_ideal": queue / n,
        "queueing_delay_s": alpha * queue / capacity,
    }


@ranges(
    flows=FLOWS,
)
def sequential_flows(flows: Any) -> dict[str, Any]:
    """Give each of n flows that started one after another: equation (11).

    Parameters
    ----------
    flows
        Number n.

    Returns
    -------
    dict
        A row per flow: ``point``, ``flow`` (1 is the oldest), ``addition``, ``share``.
    """
    numbers = np.atleast_1d(whole_numbers(flows))
    sums = _sums(int(numbers.max()))
    point = np.repeat(np.arange(len(numbers)), numbers)
    flow = np.concatenate([np.arange(1, n + 1) for n in numbers])
    n = numbers[point]
    return {
        "point": point,
        "flow": flow,
        "addition": sums[flow] - sums[flow - 1],
        "share": 1 / (1 + n - flow + sums[n] - sums[flow - 1]),
    }


@ranges(
    flows=FLOWS,
    alpha_packets=ALPHA,
    capacity_packets_per_s=CAPACITY,
    propagation_s=SECONDS,
)
def joining(
    flows: Any,
    alpha_packets: Any = 50.0,
    capacity_packets_per_s: Any = 12_500.0,
    propagation_s: Any = 0.024,
) -> dict[str, Any]:
    """One flow joins n that share fairly: equations (12) to (20).

    Parameters
    ----------
    flows
        Number n.
    alpha_packets
        What each flow means to keep queued.
    capacity_packets_per_s
        Rate C of the link.
    propagation_s
        Round-trip propagation delay of all [s].

    Returns
    -------
    dict
        ``addition`` (a), ``share_new``, ``share_old``, ``fairness_ratio`` (26),
        ``backlog_new_packets`` (18), ``queue_packets`` (16), ``drain_s`` and ``rtt_s`` (19),
        ``threshold_s`` (20), ``rate_reduction_works``, ``left_packets`` and ``reduced_ratio``: what
        a pause of one round trip leaves in the queue, taken for propagation, and the fairness
        ratio that follows.
    """
    n = np.asarray(flows, dtype=float)
    a = joining_addition(n)
    backlog = alpha_packets * (1 + a)
    queue = n * alpha_packets + backlog
    rtt = propagation_s + queue / capacity_packets_per_s
    drain = queue / (capacity_packets_per_s * (1 - n / (n + 1 + a)))
    # Others keep their rates for a round trip, so it drains what the new flow would have sent.
    left = queue - rtt * capacity_packets_per_s / (1 + a)
    left = np.clip(left, 0.0, n * alpha_packets)
    # n / Q + 1 / (Q - E) = 1 in units of alpha: the rates fill the link.
    error = left / alpha_packets
    queue_ratio = (error + n + 1 + np.sqrt((error + n + 1) ** 2 - 4 * n * error)) / 2
    return {
        "addition": a,
        "share_new": 1 / (1 + a),
        "share_old": 1 / (n + 1 + a),
        "fairness_ratio": (n + 1 + a) / (1 + a),
        "backlog_new_packets": backlog,
        "queue_packets": queue,
        "drain_s": drain,
        "rtt_s": rtt,
        "threshold_s": n * backlog / capacity_packets_per_s,
        "rate_reduction_works": drain < rtt,
        "left_packets": left,
        "reduced_ratio": queue_ratio / (queue_ratio - error),
    }


@ranges(
    flows=FLOWS,
    alpha_packets=ALPHA,
    capacity_packets_per_s=CAPACITY,
    propagation_s=SECONDS,
)
def rate_targets(
    flows: Any,
    alpha_packets: Any = 50.0,
    capacity_packets_per_s: Any = 12_500.0,
    propagation_s: Any = 0.024,
) -> dict[str, Any]:
    """Sequential arrivals when alpha is a rate: each flow keeps alpha times its own estimate.

    This is the reading of Vegas that the paper's footnote 2 sets its own against: a flow that
    takes more for propagation also keeps more queued. Alpha is alpha_packets / propagation_s.

    Parameters
    ----------
    flows
        Number n.
    alpha_packets
        What a flow with the right estimate keeps queued.
    capacity_packets_per_s
        Rate C of the link.
    propagation_s
        Round-trip propagation delay [s].

    Returns
    -------
    dict
        A row per flow: ``point``, ``flow`` (1 is the oldest), ``share``, ``share_if_packets``,
        that of equation (11).

    References
    ----------
    S. Low, L. Peterson, L. Wang, "Understanding Vegas: a duality model", J. ACM 49(2), 2002,
    section 5, rebuilt from its description.
    """

    def rows_at(n: int, alpha: float, capacity: float, delay: float) -> dict[str, Any]:
        errors = np.zeros(0)
        q = 0.0
        for _ in range(n):
            errors = np.append(errors, q)
            q = weighted_queue(alpha / delay * (delay + errors), errors, capacity)
        return {
            "flow": np.arange(1, n + 1),
            "share": alpha / delay * (delay + errors) / (q - errors) / capacity,
            "share_if_packets": sequential_shares(n),
        }

    parameters = (alpha_packets, capacity_packets_per_s, propagation_s)
    return rows_of_points(rows_at, whole_numbers(flows), *parameters)
