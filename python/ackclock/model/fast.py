"""Shares, queues and thresholds of FAST flows that take each other's queue for propagation.

M. Rodríguez-Pérez, S. Herrería-Alonso, M. Fernández-Veiga, C. López-García, "The persistent
congestion problem of FAST-TCP: Analysis and solutions". Equation numbers are the paper's.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

__all__ = [
    "additions",
    "buffer_packets",
    "correction",
    "equilibrium",
    "joining",
    "joining_addition",
    "rate_targets",
    "sequential",
    "sequential_flows",
    "sequential_shares",
    "weighted_queue",
]

PRECISION = 1e-13
MOST_STEPS = 100


@lru_cache(maxsize=8)
def _additions(flows: int) -> Real:
    found = np.zeros(flows)
    # What each flow sees queued beyond its own estimate, in units of alpha.
    seen = np.ones(1)
    for number in range(1, flows):
        seen = np.append(seen + 1.0, 1.0)
        found[number] = weighted_queue(np.ones_like(seen), -seen)
        seen += found[number]
    found.setflags(write=False)
    return found


def weighted_queue(weights: Real, errors: Real, capacity: float = 1.0) -> float:
    """Find the delay q at which flows that get ``weights / (q - errors)`` fill the link.

    Newton's method from the left of the root, where the sum is convex and falls: no step passes
    the root.

    Parameters
    ----------
    weights
        What each flow keeps queued [packets], more than 0.
    errors
        What each takes for propagation too much [s].
    capacity
        Of the link [packets/s].

    Returns
    -------
    float
        Queueing delay [s].
    """
    # At this delay the flow with the largest error alone fills the link, so the sum is too large.
    largest = int(np.argmax(errors + weights / capacity))
    q = float(errors[largest] + weights[largest] / capacity)
    for _ in range(MOST_STEPS):
        rates = weights / (q - errors)
        step = (rates.sum() - capacity) / (rates * rates / weights).sum()
        q += float(step)
        if abs(step) <= PRECISION * max(abs(q), 1e-300):
            break
    return q


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
    """
    return _additions(int(flows))


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
    a = additions(flows)
    later = np.arange(flows)[::-1]
    shares: Real = 1.0 / (1.0 + later + np.cumsum(a[::-1])[::-1])
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
    return float(alpha_packets * (flows + additions(flows).sum()))


def joining_addition(flows: Any) -> Any:
    """Extra packets when one flow joins n fair ones, in units of alpha: equation (15).

    Parameters
    ----------
    flows
        Number n of flows that know the propagation delay.
    """
    return (np.sqrt(1 + 4 * np.asarray(flows, dtype=float)) - 1) / 2


def _whole(flows: Any) -> npt.NDArray[np.int64]:
    numbers = np.asarray(flows, dtype=np.int64)
    if np.any(numbers < 1):
        message = f"flows is {numbers.min()}, but it must be 1 or more"
        raise ValueError(message)
    return numbers


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
    columns: dict[str, list[float]] = {}
    for number, alpha in np.broadcast(_whole(flows), alpha_packets):
        n = int(number)
        shares, queue = sequential_shares(n), buffer_packets(n, float(alpha))
        row = {
            "addition": additions(n)[-1],
            "share_oldest": shares[0],
            "share_newest": shares[-1],
            "newest_over_oldest": shares[-1] / shares[0],
            "newest_over_previous": shares[-1] / shares[-2] if n > 1 else np.nan,
            "queue_packets": queue,
            "queue_over_ideal": queue / (n * float(alpha)),
        }
        for key, value in row.items():
            columns.setdefault(key, []).append(float(value))
    made = {key: np.array(values) for key, values in columns.items()}
    return {**made, "queueing_delay_s": made["queue_packets"] / capacity_packets_per_s}


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
    numbers = np.atleast_1d(_whole(flows))
    each = [np.arange(1, n + 1) for n in numbers]
    return {
        "point": np.repeat(np.arange(len(numbers)), numbers),
        "flow": np.concatenate(each),
        "addition": np.concatenate([additions(int(n)) for n in numbers]),
        "share": np.concatenate([sequential_shares(int(n)) for n in numbers]),
    }


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
        ``threshold_s`` (20), ``rate_reduction_works``.
    """
    n = np.asarray(flows, dtype=float)
    a = joining_addition(n)
    backlog = alpha_packets * (1 + a)
    queue = n * alpha_packets + backlog
    rtt = propagation_s + queue / capacity_packets_per_s
    drain = queue / (capacity_packets_per_s * (1 - n / (n + 1 + a)))
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
    }


def correction(
    flows: Any,
    theta: Any = -0.5,
    alpha_packets: Any = 50.0,
    capacity_packets_per_s: Any = 12_500.0,
    propagation_s: Any = 0.024,
    sign: Any = "right",
) -> dict[str, Any]:
    """What a flow that joined n fair ones infers from a change of its window: (21) to (25).

    Parameters
    ----------
    flows
        Number n.
    theta
        Part by which the window is lowered for one round trip, less than 1, not 0.
    alpha_packets
        What each flow means to keep queued.
    capacity_packets_per_s
        Rate C of the link.
    propagation_s
        Round-trip propagation delay [s].
    sign
        ``right``: the queue's balance; ``printed``: equation (22) taken literally, which has the
        change of the round trip with the opposite sign.

    Returns
    -------
    dict
        ``rtt_change_s``, ``estimated_flows`` (23), ``estimated_capacity_packets_per_s`` (24),
        ``estimated_propagation_s`` (21), ``window_packets`` (25), ``fair_window_packets``.

    Raises
    ------
    ValueError
        Theta is 0, or 1 or more.
    """
    part = np.asarray(theta, dtype=float)
    if np.any(part == 0) or np.any(part >= 1):
        message = "theta must be less than 1 and not 0: only a change of the window shows the flows"
        raise ValueError(message)
    n = np.asarray(flows, dtype=float)
    a = joining_addition(n)
    capacity, alpha = np.asarray(capacity_packets_per_s), np.asarray(alpha_packets)
    rtt = propagation_s + alpha * (n + 1 + a) / capacity
    rate = capacity / (1 + a)
    # Others keep their rates for one round trip: the queue takes what is sent in excess.
    change = -part * rate * rtt / capacity
    literal = part * rtt / change
    ratio = np.where(np.asarray(sign) == "printed", literal, np.abs(literal))
    found = ratio * (ratio - 1)
    estimated = (1 + np.sqrt(1 + 4 * found)) / 2 * rate
    delay = propagation_s + n * alpha / capacity - found * alpha / estimated
    return {
        "rtt_change_s": change,
        "estimated_flows": found,
        "estimated_capacity_packets_per_s": estimated,
        "estimated_propagation_s": delay,
        "window_packets": alpha + delay * estimated / (found + 1),
        "fair_window_packets": alpha + propagation_s * capacity / (n + 1),
    }


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
    given = np.broadcast_arrays(_whole(flows), alpha_packets, capacity_packets_per_s, error_s)
    numbers, alphas, capacities, wrong = (np.atleast_1d(values) for values in given)
    rows: dict[str, list[Any]] = {"point": [], "flow": [], "share": [], "queue_packets": []}
    for at, n in enumerate(numbers):
        weights = np.full(int(n), float(alphas[at]))
        capacity = float(capacities[at])
        errors = np.full(int(n), float(wrong[at]))
        q = weighted_queue(weights, errors, capacity)
        rows["point"].append(np.full(int(n), at))
        rows["flow"].append(np.arange(1, int(n) + 1))
        rows["share"].append(weights / (q - errors) / capacity)
        rows["queue_packets"].append(np.full(int(n), q * capacity))
    return {key: np.concatenate(values) for key, values in rows.items()}


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
    given = np.broadcast_arrays(_whole(flows), alpha_packets, capacity_packets_per_s, propagation_s)
    rows: dict[str, list[Any]] = {"point": [], "flow": [], "share": [], "share_if_packets": []}
    for at, values in enumerate(zip(*(np.atleast_1d(v) for v in given), strict=True)):
        n, alpha, capacity, delay = int(values[0]), *map(float, values[1:])
        errors = np.zeros(0)
        q = 0.0
        for _ in range(n):
            errors = np.append(errors, q)
            q = weighted_queue(alpha / delay * (delay + errors), errors, capacity)
        rows["point"].append(np.full(n, at))
        rows["flow"].append(np.arange(1, n + 1))
        rows["share"].append(alpha / delay * (delay + errors) / (q - errors) / capacity)
        rows["share_if_packets"].append(sequential_shares(n))
    return {key: np.concatenate(found) for key, found in rows.items()}
