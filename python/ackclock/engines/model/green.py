"""GREEN at its operating point: what its drop probabilities make of flows with many round trips."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.analysis import jain
from ackclock.engines.model.loss_throughput import square_root_law
from ackclock.engines.model.pftk import rate_bps as pftk_rate
from ackclock.engines.model.ranges import Range, ranges

if TYPE_CHECKING:
    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

__all__ = ["fairness_bound", "green_drop", "green_operating_point"]

DRAWS = 400
"""Points of each integral; the midpoint rule then errs by less than one in a hundred thousand."""


@ranges(
    flows=Range(minimum=1),
    rtt_s=Range(above=0, unit="s"),
    rate_bps=Range(above=0, unit="bit/s"),
    mss_bytes=Range(above=0, unit="B"),
    constant=Range(above=0),
    per_ack=Range(minimum=1, unit="segments"),
    min_rto_s=Range(above=0, unit="s"),
    rto_rtts=Range(above=0, unit="round trips"),
)
def green_drop(
    flows: Any,
    rtt_s: Any,
    rate_bps: Any = 155e6,
    mss_bytes: Any = 1000.0,
    constant: Any = 0.93,
    per_ack: Any = 2.0,
    min_rto_s: Any = 0.2,
    rto_rtts: Any = 2.0,
) -> dict[str, Real]:
    """Drop probability of GREEN, p = (N MSS c / (L R))², at most 1, and what it makes of a flow.

    Parameters
    ----------
    flows
        Number N of active flows.
    rtt_s
        Round-trip time R that the router assumes [s].
    rate_bps
        Rate L of the link [bit/s].
    mss_bytes
        Segment size MSS [B].
    constant
        c of the square-root law.
    per_ack
        Segments that one ACK acknowledges.
    min_rto_s
        Smallest retransmission timeout [s].
    rto_rtts
        Retransmission timeout in round trips.

    Returns
    -------
    dict
        ``drop_ratio``; throughput of a flow of that loss in units of L / N: ``share_square_root``
        by the square-root law, ``share_pftk`` by PFTK, which knows of timeouts.

    References
    ----------
    A. Kapadia, S. Thulasidasan, W. Feng, "GREEN + IDMaps: A practical solution for ensuring
    fairness in a biased Internet", LA-UR-02-6126, 2002, equation (2).
    """
    drop = _drop(flows, rtt_s, rate_bps, mss_bytes, constant)
    rto = np.maximum(min_rto_s, rto_rtts * np.asarray(rtt_s))
    fair = np.asarray(rate_bps) / flows
    square_root = square_root_law(drop, rtt_s, mss_bytes, per_ack)["rate_bps"]
    return {
        "drop_ratio": drop,
        "share_square_root": square_root / fair,
        "share_pftk": pftk_rate(drop, rtt_s, mss_bytes, per_ack, rto, np.inf) / fair,
    }


def _drop(flows: Any, rtt_s: Any, rate_bps: Any, mss_bytes: Any, constant: Any) -> Real:
    root = flows * 8 * mss_bytes * constant / (rate_bps * rtt_s)
    return np.asarray(np.minimum(root**2, 1.0))


@ranges(
    flows=Range(minimum=1),
    rtt_low_s=Range(above=0, unit="s"),
    rtt_high_s=Range(above=0, unit="s"),
    factor_low=Range(above=0),
    factor_high=Range(above=0),
    mss_bytes=Range(above=0, unit="B"),
    rate_bps=Range(above=0, unit="bit/s"),
    constant=Range(above=0),
    per_ack=Range(minimum=1, unit="segments"),
    min_rto_s=Range(above=0, unit="s"),
    rto_rtts=Range(above=0, unit="round trips"),
)
def green_operating_point(
    flows: Real,
    rtt_low_s: Any = 0.062,
    rtt_high_s: Any = 1.06,
    factor_low: Any = 1.0,
    factor_high: Any = 1.0,
    mss_bytes: Any = 1000.0,
    rate_bps: Any = 155e6,
    constant: Any = 0.93,
    per_ack: Any = 2.0,
    min_rto_s: Any = 0.2,
    rto_rtts: Any = 2.0,
) -> dict[str, Real]:
    """Loss, load and fairness that follow if each flow gets what PFTK says at GREEN's drop ratio.

    Round-trip times are uniform on an interval; the router's are those times a factor, uniform on
    another and fixed for each flow. Nothing is lost but what GREEN drops, and nothing queues: a
    load above 1 cannot be carried, so then the queue grows until overflow or delay slows the flows.

    Parameters
    ----------
    flows
        Number of flows.
    rtt_low_s, rtt_high_s
        Least and greatest round-trip time [s].
    factor_low, factor_high
        Least and greatest factor of the router's estimate.
    mss_bytes
        Segment size [B].
    rate_bps
        Rate of the link [bit/s].
    constant
        GREEN's c.
    per_ack
        Segments that one ACK acknowledges.
    min_rto_s
        Smallest retransmission timeout [s].
    rto_rtts
        Retransmission timeout in round trips.

    Returns
    -------
    dict
        ``drop_mean_ratio`` (over flows), ``drop_weighted_ratio`` (over packets: the loss that a
        router would count), ``drop_max_ratio``, ``load`` (offered, in units of the link),
        ``jain``.
    """
    grid = (np.arange(DRAWS) + 0.5) / DRAWS
    # Axes: points of the caller, round-trip times, factors. One factor is enough if all are equal.
    inputs = [flows, rtt_low_s, rtt_high_s, factor_low, factor_high, mss_bytes, rate_bps, constant]
    inputs += [per_ack, min_rto_s, rto_rtts]
    arrays = np.broadcast_arrays(*(np.asarray(value, dtype=float) for value in inputs))
    out: dict[str, list[float]] = {
        key: []
        for key in ("drop_mean_ratio", "drop_weighted_ratio", "drop_max_ratio", "load", "jain")
    }
    for row in zip(*(array.ravel() for array in arrays), strict=True):
        for key, value in _point(grid, *row).items():
            out[key].append(value)
    shape = arrays[0].shape
    return {key: np.reshape(np.asarray(values), shape) for key, values in out.items()}


def _point(
    grid: Real,
    flows: float,
    rtt_low: float,
    rtt_high: float,
    factor_low: float,
    factor_high: float,
    mss: float,
    rate: float,
    constant: float,
    per_ack: float,
    min_rto: float,
    rto_rtts: float,
) -> dict[str, float]:
    rtt = (rtt_low + (rtt_high - rtt_low) * grid)[:, None]
    wide = factor_high > factor_low
    factor = factor_low + (factor_high - factor_low) * (grid if wide else np.zeros(1))[None, :]
    drop = _drop(flows, rtt * factor, rate, mss, constant)
    rto = np.maximum(min_rto, rto_rtts * rtt)
    got = pftk_rate(drop, rtt, mss, per_ack, rto, np.inf)
    return {
        "drop_mean_ratio": float(drop.mean()),
        "drop_weighted_ratio": float((drop * got).sum() / got.sum()),
        "drop_max_ratio": float(_drop(flows, rtt_low * factor_low, rate, mss, constant)),
        "load": float(got.mean() * flows / rate),
        "jain": jain(got.ravel()),
    }


@ranges(
    factor_low=Range(above=0),
    factor_high=Range(above=0),
)
def fairness_bound(factor_low: Real, factor_high: Any = 2.0) -> dict[str, Real]:
    """Jain's index of GREEN's flows if the router's round-trip times are wrong by a fixed factor.

    By the square-root law a flow gets a share proportional to the factor u by which its round trip
    is overestimated, whatever the round trip. Jain's index of very many flows is then
    (E u)² / E u². For u uniform on [a, b]: E u = (a + b) / 2, E u² = (a² + ab + b²) / 3.

    Parameters
    ----------
    factor_low, factor_high
        Least and greatest factor.

    Returns
    -------
    dict
        ``jain``; ``drop_relative``: mean drop probability relative to a true one, E 1/u² = 1/(ab);
        ``load_relative``: E u.
    """
    mean = (factor_low + factor_high) / 2
    square = (factor_low**2 + factor_low * factor_high + factor_high**2) / 3
    return {
        "jain": mean**2 / square,
        "drop_relative": 1 / (factor_low * factor_high),
        "load_relative": mean,
    }
