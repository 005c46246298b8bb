"""TCP throughput with timeouts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.ranges import Range, ranges

if TYPE_CHECKING:
    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

__all__ = ["pftk", "rate_bps"]


def rate_bps(
    loss_ratio: Any, rtt_s: Any, mss_bytes: Any, per_ack: Any, rto_s: Any, window: Any
) -> Any:
    """Throughput [bit/s] by the closed form of `pftk`; arguments as there.

    Parameters
    ----------
    loss_ratio
        Probability that a data packet is lost.
    rtt_s
        Round-trip time [s].
    mss_bytes
        Payload of a segment [B].
    per_ack
        Segments that one ACK acknowledges.
    rto_s
        Retransmission timeout [s].
    window
        Receiver's window [segments].
    """
    retransmits = np.sqrt(2 * per_ack * loss_ratio / 3) * rtt_s
    timeout = np.minimum(1.0, 3 * np.sqrt(3 * per_ack * loss_ratio / 8))
    waits = rto_s * timeout * loss_ratio * (1 + 32 * loss_ratio**2)
    with np.errstate(divide="ignore"):
        segments = np.minimum(window / rtt_s, 1 / (retransmits + waits))
    return 8 * mss_bytes * segments


@ranges(
    loss_ratio=Range(minimum=0, maximum=1),
    rtt_s=Range(above=0, unit="s"),
    mss_bytes=Range(above=0, unit="B"),
    per_ack=Range(minimum=1, unit="segments"),
    rto_s=Range(above=0, unit="s", may_be_nan=True),
    window=Range(above=0, unit="segments"),
)
def pftk(
    loss_ratio: Real,
    rtt_s: Any = 1.0,
    mss_bytes: Any = 1460.0,
    per_ack: Any = 2.0,
    rto_s: Any = np.nan,
    window: Any = np.inf,
) -> dict[str, Real]:
    """Throughput of Reno under random loss, timeouts included (PFTK).

    Rate = MSS × min(W / RTT, 1 / (RTT √(2bp/3) + T₀ min(1, 3√(3bp/8)) p (1 + 32p²))).

    Parameters
    ----------
    loss_ratio
        Probability p that a data packet is lost.
    rtt_s
        Round-trip time [s].
    mss_bytes
        Payload of a segment [B].
    per_ack
        Segments b that one ACK acknowledges: 1, or 2 with delayed ACKs.
    rto_s
        First retransmission timeout T₀ [s]; NaN: twice the round trip, at least 0.2 s.
    window
        Receiver's window W [segments].

    Returns
    -------
    dict
        ``rate_bps``.

    References
    ----------
    J. Padhye, V. Firoiu, D. Towsley, J. Kurose, "Modeling TCP throughput: a simple model and its
    empirical validation", SIGCOMM 1998, equation (32) (doi:10.1145/285237.285291).
    """
    first = np.where(np.isnan(rto_s), np.maximum(0.2, 2 * np.asarray(rtt_s)), rto_s)
    return {"rate_bps": rate_bps(loss_ratio, rtt_s, mss_bytes, per_ack, first, window)}
