"""Loss-load curves: routers that drop more of those who send more, and senders that know it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.ranges import Range, ranges

if TYPE_CHECKING:
    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

__all__ = ["loss_load_equilibrium"]


@ranges(
    k=Range(minimum=1),
    n=Range(minimum=2, is_integer=True),
    capacity=Range(above=0),
)
def loss_load_equilibrium(k: Real, n: Real, capacity: Any = 1.0) -> dict[str, Real]:
    """Load and loss when equal senders on a loss-load link each send what suits them best.

    The router drops flow i with p_i = (Λ − μ) r_i^k / Σ_j r_j^(k+1), where Λ is the load and μ the
    capacity. A sender that knows A = Σ r_j and B = Σ r_j^(k+1) of the others has most goodput at
    the root of k r^(k+1) + (k+1)(A − μ) r^k − B = 0. All take turns until none moves.

    Parameters
    ----------
    k
        Penalty of the router, at least 1.
    n
        Senders, at least 2.
    capacity
        Of the link, μ.

    Returns
    -------
    dict
        ``load_ratio`` Λ/μ, ``loss_ratio`` (Λ − μ)/Λ, ``goodput`` of one sender.

    References
    ----------
    Reconstructed from what J. McCullough, B. Raghavan, A. C. Snoeren (2010), sections 3.1.2 and 9,
    say of C. L. Williamson, D. R. Cheriton, "Loss-load curves", SIGCOMM 1991.
    """
    k, n, capacity = np.broadcast_arrays(*(np.asarray(v, dtype=float) for v in (k, n, capacity)))
    shape = k.shape
    k, n, capacity = k.ravel(), n.ravel(), capacity.ravel()
    most = int(n.max())
    there = np.arange(most)[:, None] < n[None, :]
    # Each begins elsewhere, so that equality in the end is found, not put in.
    rates = np.where(there, capacity / n * (1 + np.arange(most)[:, None] / n), 0.0)
    for _ in range(2000):
        before = rates.copy()
        for sender in range(most):
            other_rates = np.where(np.arange(most)[:, None] == sender, 0.0, rates)
            best = _best_response(other_rates.sum(0), (other_rates ** (k + 1)).sum(0), k, capacity)
            rates[sender] = np.where(there[sender], best, 0.0)
        if np.max(np.abs(rates - before) / np.maximum(capacity, 1e-300)) < 1e-13:
            break
    load = rates.sum(0)
    loss = (load - capacity) / load
    goodput = rates[0] * (1 - (load - capacity) * rates[0] ** k / (rates ** (k + 1)).sum(0))
    return {
        "load_ratio": (load / capacity).reshape(shape),
        "loss_ratio": loss.reshape(shape),
        "goodput": goodput.reshape(shape),
    }


def _best_response(a: Real, b: Real, k: Real, capacity: Real) -> Real:
    """The positive root, by Newton steps from above, where the polynomial is convex."""
    r = (b / k) ** (1 / (k + 1)) + (k + 1) / k * np.maximum(capacity - a, 0.0) + 1e-9 * capacity
    for _ in range(200):
        value = k * r ** (k + 1) + (k + 1) * (a - capacity) * r**k - b
        slope = (k + 1) * k * (r**k + (a - capacity) * r ** (k - 1))
        step = value / slope
        r = r - step
        if np.max(np.abs(step) / capacity) < 1e-15:
            break
    return r
