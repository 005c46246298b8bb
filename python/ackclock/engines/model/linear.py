"""Linear congestion control under synchronous signals: steady state, fairness, phase plots.

Source: Akella, Seshan, Shenker, Stoica, "Exploring Congestion Control", CMU-CS-02-139, 2002,
section 5.1; D. Chiu, R. Jain, "Analysis of the increase/decrease algorithms for congestion
avoidance in computer networks", Computer Networks and ISDN Systems 17(1), 1989,
doi:10.1016/0169-7552(89)90019-6.

Rule (w the window after a decrease, k_i increases, then k_d decreases)::

    w <- a_i + b_i w   on success,   w <- a_d + b_d w   on loss
    a cycle takes w to  alpha + beta w,   beta = b_i^k_i b_d^k_d,
    alpha = a_d (1 + b_d + ... + b_d^(k_d-1)) + a_i b_d^k_d (1 + b_i + ... + b_i^(k_i-1))

The windows of two flows, which see the same signals, differ after a cycle by beta times what they
differed by before. So they become equal if and only if beta < 1, whatever alpha. The paper says
that beta != 1 and alpha != 0 are enough, for then there is one fixed point; with beta > 1 nothing
converges to it. This is what excludes MIAD.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.ranges import Range, ranges

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

__all__ = ["chiu_jain_phase", "linear_sequence", "linear_steady_state"]

Array = "npt.NDArray[np.float64]"
NEAR = 1e-12
"""Two numbers of a rule closer than this are the same."""


def _series(ratio: npt.NDArray[np.float64], count: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    """1 + ratio + ... + ratio^(count - 1)."""
    is_one = np.abs(ratio - 1) < NEAR
    safe = np.where(is_one, 2.0, ratio)
    return np.where(is_one, count, (safe**count - 1) / (safe - 1))


@ranges(
    b_i=Range(minimum=0),
    b_d=Range(minimum=0),
    k_i=Range(minimum=0, is_integer=True),
    k_d=Range(minimum=0, is_integer=True),
)
def linear_steady_state(
    a_i: npt.NDArray[np.float64],
    b_i: npt.NDArray[np.float64],
    a_d: npt.NDArray[np.float64],
    b_d: npt.NDArray[np.float64],
    k_i: npt.NDArray[np.int64],
    k_d: npt.NDArray[np.int64] = 1,  # type: ignore[assignment]
) -> Mapping[str, npt.NDArray[Any]]:
    """Fixed point of the cycle of a linear control, and whether flows become equal.

    Parameters
    ----------
    a_i, b_i
        Increase: added [segments], and factor.
    a_d, b_d
        Decrease: added, zero or less [segments], and factor.
    k_i, k_d
        Increases and decreases of a cycle.

    Returns
    -------
    mapping
        ``alpha`` [segments], ``beta``; ``window`` [segments], the window after the decreases that
        a cycle gives back, NaN where there is none above 0 or any is one; ``unique``, whether there
        is exactly one; ``fair``, whether the windows of all flows converge to it.
    """
    alpha = a_d * _series(b_d, k_d) + a_i * b_d**k_d * _series(b_i, k_i)
    beta = b_i**k_i * b_d**k_d
    other = np.abs(beta - 1) > NEAR
    fixed_point = np.where(other, alpha / np.where(other, 1 - beta, 1.0), np.nan)
    window = np.where(fixed_point > NEAR, fixed_point, np.nan)
    unique = other & np.isfinite(window)
    return {
        "alpha": alpha,
        "beta": beta,
        "window": window,
        "unique": unique,
        "fair": unique & (beta < 1),
    }


@ranges(
    b_i=Range(minimum=0),
    b_d=Range(minimum=0),
    k_i=Range(minimum=0, is_integer=True),
    k_d=Range(minimum=0, is_integer=True),
    start=Range(minimum=0, unit="segments"),
    cycles=Range(minimum=0, is_integer=True),
)
def linear_sequence(
    a_i: npt.NDArray[np.float64],
    b_i: npt.NDArray[np.float64],
    a_d: npt.NDArray[np.float64],
    b_d: npt.NDArray[np.float64],
    k_i: npt.NDArray[np.int64],
    k_d: npt.NDArray[np.int64] = 1,  # type: ignore[assignment]
    start: npt.NDArray[np.float64] = 10.0,  # type: ignore[assignment]
    cycles: npt.NDArray[np.int64] = 10,  # type: ignore[assignment]
) -> Mapping[str, npt.NDArray[Any]]:
    """The window of one flow over cycles of ``k_i`` increases and then ``k_d`` decreases.

    Parameters
    ----------
    a_i, b_i, a_d, b_d, k_i, k_d
        The rule and its cycle, as of `linear_steady_state`.
    start
        Window at the beginning [segments].
    cycles
        Number of cycles.

    Returns
    -------
    mapping
        A row per update, and one for the beginning: ``point``, ``update``, ``window`` [segments].
    """
    broadcast = np.broadcast_arrays(a_i, b_i, a_d, b_d, k_i, k_d, start, cycles)
    rows: list[tuple[int, int, float]] = []
    for point, (up_add, up, down_add, down, rises, falls, first, count) in enumerate(
        zip(*(np.atleast_1d(values) for values in broadcast), strict=True)
    ):
        window = float(first)
        cycle = [(up_add, up)] * int(rises) + [(down_add, down)] * int(falls)
        rows.append((point, 0, window))
        for number, (add, factor) in enumerate(cycle * int(count), 1):
            window = float(add + factor * window)
            rows.append((point, number, window))
    table = np.array(rows, dtype=float)
    return {
        "point": table[:, 0].astype(np.int64),
        "update": table[:, 1].astype(np.int64),
        "window": table[:, 2],
    }


@ranges(
    capacity=Range(above=0, unit="segments"),
    start_1=Range(minimum=0, unit="segments"),
    start_2=Range(minimum=0, unit="segments"),
    rounds=Range(minimum=0, is_integer=True),
)
def chiu_jain_phase(
    a_i: npt.NDArray[np.float64],
    b_i: npt.NDArray[np.float64],
    a_d: npt.NDArray[np.float64],
    b_d: npt.NDArray[np.float64],
    capacity: npt.NDArray[np.float64] = 100.0,  # type: ignore[assignment]
    start_1: npt.NDArray[np.float64] = 60.0,  # type: ignore[assignment]
    start_2: npt.NDArray[np.float64] = 10.0,  # type: ignore[assignment]
    rounds: npt.NDArray[np.int64] = 200,  # type: ignore[assignment]
) -> Mapping[str, npt.NDArray[Any]]:
    """The way of two windows under synchronous signals, as Chiu and Jain draw it.

    Both grow in each round after which their sum is at most the capacity, else both shrink. A
    window stays at 1 at least.

    Parameters
    ----------
    a_i, b_i, a_d, b_d
        The rule, as of `linear_steady_state`.
    capacity
        Segments that the path holds [segments].
    start_1, start_2
        Windows at the beginning [segments].
    rounds
        Number of rounds.

    Returns
    -------
    mapping
        A row per round: ``point``, ``round``, ``window_1``, ``window_2`` [segments], ``jain``.
    """
    broadcast = np.broadcast_arrays(a_i, b_i, a_d, b_d, capacity, start_1, start_2, rounds)
    rows: list[tuple[int, int, float, float]] = []
    for point, (up_add, up, down_add, down, most, first_user, second_user, count) in enumerate(
        zip(*(np.atleast_1d(values) for values in broadcast), strict=True)
    ):
        windows = np.array([first_user, second_user], dtype=float)
        for number in range(int(count) + 1):
            rows.append((point, number, float(windows[0]), float(windows[1])))
            add, factor = (up_add, up) if windows.sum() <= most else (down_add, down)
            windows = np.maximum(add + factor * windows, 1.0)
    table = np.array(rows, dtype=float)
    first, second = table[:, 2], table[:, 3]
    return {
        "point": table[:, 0].astype(np.int64),
        "round": table[:, 1].astype(np.int64),
        "window_1": first,
        "window_2": second,
        "jain": (first + second) ** 2 / (2 * (first**2 + second**2)),
    }
