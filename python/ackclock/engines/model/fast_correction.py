"""What a late flow infers from a change of its window: the proposed correction.

M. Rodríguez-Pérez, S. Herrería-Alonso, M. Fernández-Veiga, C. López-García, "The persistent
congestion problem of FAST-TCP: Analysis and solutions". Equation numbers are the paper's.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ackclock.engines.model.fast import joining_addition
from ackclock.engines.model.fast_queue import ALPHA, CAPACITY, SECONDS
from ackclock.engines.model.ranges import Range, ranges

__all__ = ["correction"]


@ranges(
    flows=Range(minimum=1),
    theta=Range(below=1),
    alpha_packets=ALPHA,
    capacity_packets_per_s=CAPACITY,
    propagation_s=SECONDS,
)
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
        Part by which the window is lowered for one round trip, not 0.
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
        Theta is 0.
    """
    theta_values = np.asarray(theta, dtype=float)
    if np.any(theta_values == 0):  # a hole in a range, which no bound states
        message = "theta: 0 is no change of the window, which alone shows the flows"
        raise ValueError(message)
    n = np.asarray(flows, dtype=float)
    a = joining_addition(n)
    capacity, alpha = np.asarray(capacity_packets_per_s), np.asarray(alpha_packets)
    rtt = propagation_s + alpha * (n + 1 + a) / capacity
    rate = capacity / (1 + a)
    # Others keep their rates for one round trip: the queue takes what is sent in excess.
    change = -theta_values * rate * rtt / capacity
    literal = theta_values * rtt / change
    ratio = np.where(np.asarray(sign) == "printed", literal, np.abs(literal))
    flows_estimated = ratio * (ratio - 1)
    estimated = (1 + np.sqrt(1 + 4 * flows_estimated)) / 2 * rate
    delay = propagation_s + n * alpha / capacity - flows_estimated * alpha / estimated
    return {
        "rtt_change_s": change,
        "estimated_flows": flows_estimated,
        "estimated_capacity_packets_per_s": estimated,
        "estimated_propagation_s": delay,
        "window_packets": alpha + delay * estimated / (flows_estimated + 1),
        "fair_window_packets": alpha + propagation_s * capacity / (n + 1),
    }
