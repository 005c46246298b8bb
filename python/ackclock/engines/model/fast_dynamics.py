"""FAST over time: the fluid equation (1), and where equation (2) is stable."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.fast_queue import (
    ALPHA,
    CAPACITY,
    FLOWS,
    SECONDS,
    rows_of_points,
    whole_numbers,
)
from ackclock.engines.model.ranges import Range, ranges

if TYPE_CHECKING:
    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

GAMMA = Range(above=0, maximum=1)

__all__ = ["Trajectory", "fluid", "integrate", "stability"]


class Trajectory:
    """A solution of the fluid equation.

    Parameters
    ----------
    time_s
        Times [s], shape ``(n_times,)``.
    rates
        Rate of each flow over capacity, shape ``(n_flows, n_times)``; 0 before its start.
    queue_packets
        Packets that wait, shape ``(n_times,)``.
    """

    def __init__(self, time_s: Real, rates: Real, queue_packets: Real) -> None:
        self.time_s = time_s
        self.rates = rates
        self.queue_packets = queue_packets


@ranges(
    duration_s=SECONDS,
    alpha_packets=ALPHA,
    gamma=GAMMA,
    capacity_packets_per_s=CAPACITY,
    propagation_s=SECONDS,
)
def integrate(
    starts_s: Real,
    duration_s: float,
    *,
    alpha_packets: float = 50.0,
    gamma: float = 0.5,
    capacity_packets_per_s: float = 12_500.0,
    propagation_s: float = 0.024,
    initial_packets: float = 2.0,
    samples: int = 500,
) -> Trajectory:
    """Integrate equation (1) for flows over one link, with the queue as a separate state.

    Per round trip d + q the window moves by gamma (alpha - q' x), where x = w / (d + q) and q' is
    the delay beyond what the flow takes for propagation: the least delay since its start.

    Parameters
    ----------
    starts_s
        Start of each flow [s], rising.
    duration_s
        End [s].
    alpha_packets, gamma
        Parameters of FAST.
    capacity_packets_per_s
        Rate of the link.
    propagation_s
        Round-trip propagation delay [s].
    initial_packets
        Window at the start.
    samples
        Times of the solution, spread evenly.

    Returns
    -------
    Trajectory
        The solution.

    Raises
    ------
    ValueError
        A parameter is out of range.
    """
    from scipy.integrate import solve_ivp

    starts = np.asarray(starts_s, dtype=float)
    times = np.linspace(0.0, duration_s, samples)
    rates, queue = np.zeros((len(starts), samples)), np.zeros(samples)
    bounds = np.append(starts, duration_s)
    # State: windows, then queueing delay, then the least queueing delay that each has seen.
    windows, delay, least = np.zeros(0), 0.0, np.zeros(0)

    def move(_: float, state: Real) -> Real:
        count = (len(state) - 1) // 2
        w, q, base = state[:count], max(state[count], 0.0), state[count + 1 :]
        rtt = propagation_s + q
        x = w / rtt
        filling = x.sum() / capacity_packets_per_s - 1.0
        grown = gamma * (alpha_packets - np.maximum(q - base, 0.0) * x) / rtt
        # The least delay follows the queue down at once, on the scale of this system.
        fall = np.where(base > q, (q - base) / (0.05 * propagation_s), 0.0)
        return np.concatenate([grown, [filling if q > 0 or filling > 0 else 0.0], fall])

    for number, start in enumerate(starts):
        windows = np.append(windows, initial_packets)
        least = np.append(least, delay)
        end = bounds[number + 1]
        inside = (times >= start) & (times <= end)
        sample_times = np.unique(np.concatenate([[start], times[inside], [end]]))
        solution = solve_ivp(
            move,
            (start, end),
            np.concatenate([windows, [delay], least]),
            method="LSODA",
            t_eval=sample_times,
            rtol=1e-8,
            atol=1e-9,
            max_step=0.25 * propagation_s,
        )
        count = number + 1
        windows, delay, least = (
            solution.y[:count, -1],
            max(float(solution.y[count, -1]), 0.0),
            solution.y[count + 1 :, -1],
        )
        is_sample = np.isin(sample_times, times[inside])
        waits = np.maximum(solution.y[count, is_sample], 0.0)
        rates[:count, inside] = (
            solution.y[:count, is_sample] / (propagation_s + waits) / capacity_packets_per_s
        )
        queue[inside] = waits * capacity_packets_per_s
    return Trajectory(times, rates, queue)


@ranges(
    flows=FLOWS,
    gap_s=SECONDS,
    alpha_packets=ALPHA,
    gamma=GAMMA,
    capacity_packets_per_s=CAPACITY,
    propagation_s=SECONDS,
)
def fluid(
    flows: Any,
    gap_s: Any = 20.0,
    alpha_packets: Any = 50.0,
    gamma: Any = 0.5,
    capacity_packets_per_s: Any = 12_500.0,
    propagation_s: Any = 0.024,
) -> dict[str, Any]:
    """Integrate equation (1) for n flows that start one after another.

    Parameters
    ----------
    flows
        Number n.
    gap_s
        Time between starts, and after the last [s].
    alpha_packets, gamma
        Parameters of FAST.
    capacity_packets_per_s
        Rate of the link.
    propagation_s
        Round-trip propagation delay [s].

    Returns
    -------
    dict
        A row per flow and time: ``point``, ``flow`` (1 is the oldest), ``time_s``, ``share``,
        ``queue_packets``.
    """

    def rows_at(
        n: int, gap: float, alpha: float, gain: float, capacity: float, delay: float
    ) -> dict[str, Any]:
        trajectory = integrate(
            gap * np.arange(n, dtype=np.float64),
            gap * n,
            alpha_packets=alpha,
            gamma=gain,
            capacity_packets_per_s=capacity,
            propagation_s=delay,
        )
        return {
            "flow": np.repeat(np.arange(1, n + 1), len(trajectory.time_s)),
            "time_s": np.tile(trajectory.time_s, n),
            "share": trajectory.rates.ravel(),
            "queue_packets": np.tile(trajectory.queue_packets, n),
        }

    parameters = (gap_s, alpha_packets, gamma, capacity_packets_per_s, propagation_s)
    return rows_of_points(rows_at, whole_numbers(flows), *parameters)


@ranges(
    gamma=GAMMA,
    alpha_packets=ALPHA,
    propagation_s=SECONDS,
    flows=FLOWS,
    capacity_packets_per_s=CAPACITY,
    lag_rounds=Range(minimum=0, is_integer=True, unit="rounds"),
)
def stability(
    gamma: Any,
    alpha_packets: Any = 50.0,
    propagation_s: Any = 0.024,
    flows: Any = 1,
    capacity_packets_per_s: Any = 12_500.0,
    lag_rounds: Any = 1,
) -> dict[str, Any]:
    """Linear stability of equation (2), once per round trip, when delays are seen rounds late.

    A deviation e of the sum of windows from rest, by round k, follows
    e(k+1) = (1 - gamma) e(k) + gamma rho (e(k) - e(k - L)) with rho = d / r and lag L: the
    delay at hand is that of windows L rounds ago. At rest r = d + n alpha / C.

    Parameters
    ----------
    gamma
        Gain.
    alpha_packets
        What each flow means to keep queued.
    propagation_s
        Round-trip propagation delay [s].
    flows
        Number n of flows.
    capacity_packets_per_s
        Rate C of the link.
    lag_rounds
        L: 0, none; 1, the round trip itself; 2, with a mean over one more round or an increase
        that is spread over it.

    Returns
    -------
    dict
        ``radius``: what is left of a deviation after a round, the largest root's magnitude;
        ``stable``: it is less than 1.
    """
    broadcast = np.broadcast_arrays(
        gamma, alpha_packets, propagation_s, flows, capacity_packets_per_s, lag_rounds
    )
    gain, alpha, delay, n, capacity, lag = (np.atleast_1d(v).astype(float) for v in broadcast)
    rho = delay / (delay + n * alpha / capacity)
    radius = np.empty(len(gain))
    for point in range(len(gain)):
        steps = int(lag[point])
        polynomial = np.zeros(steps + 2)
        polynomial[0] = 1.0
        polynomial[1] -= 1 - gain[point] + gain[point] * rho[point]
        polynomial[-1] += gain[point] * rho[point]
        radius[point] = np.abs(np.roots(polynomial)).max(initial=0.0)
    return {"radius": radius, "stable": radius < 1 - 1e-12}
