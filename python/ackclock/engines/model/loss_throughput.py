"""How much a TCP sender gets at a given loss."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.engines.model.ranges import Range, ranges

if TYPE_CHECKING:
    import numpy.typing as npt

    Real = npt.NDArray[np.float64]

__all__ = ["square_root_law"]


@ranges(
    loss_ratio=Range(above=0, below=1),
    rtt_s=Range(above=0, unit="s"),
    mss_bytes=Range(above=0, unit="B"),
    per_ack=Range(minimum=1, unit="segments"),
)
def square_root_law(
    loss_ratio: Real,
    rtt_s: Any = 1.0,
    mss_bytes: Any = 1460.0,
    per_ack: Any = 1.0,
) -> dict[str, Real]:
    """Throughput of AIMD(1, 1/2) under periodic loss, with no timeouts.

    Between two losses the window climbs from W/2 to W by 1 every b round trips, so a cycle
    carries 3 b W² / 8 = 1/p segments and lasts b W / 2 round trips. Hence W = √(8 / (3 b p)), mean
    window √(3 / (2 b p)), rate = mean window × MSS / RTT.

    Parameters
    ----------
    loss_ratio
        Share p of data packets that is lost.
    rtt_s
        Round-trip time [s].
    mss_bytes
        Payload of a segment [B].
    per_ack
        Segments b that one ACK acknowledges: 1, or 2 with delayed ACKs.

    Returns
    -------
    dict
        ``window_segments`` (mean), ``peak_segments``, ``rate_bps``.

    References
    ----------
    M. Mathis, J. Semke, J. Mahdavi, T. Ott, "The macroscopic behavior of the TCP congestion
    avoidance algorithm", ACM SIGCOMM Computer Communication Review 27(3), 1997, section 2.
    """
    window = np.sqrt(1.5 / (per_ack * loss_ratio))
    peak = np.sqrt(8 / (3 * per_ack * loss_ratio))
    rate = window * mss_bytes * 8 / rtt_s
    return {"window_segments": window, "peak_segments": peak, "rate_bps": rate}
