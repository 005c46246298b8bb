"""ACK compression: acknowledgements that reach the sender closer together than they left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.analysis.grouping import group_rows, table_of
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import numpy.typing as npt
    import pyarrow as pa

    Times = npt.NDArray[np.float64]

__all__ = ["ack_compression", "compression_of"]


def compression_of(left_s: Times, arrived_s: Times, threshold: float = 0.5) -> dict[str, float]:
    """Compression of the ACKs of one flow.

    The spacing of two ACKs that follow each other at the receiver is compared with that of the
    same two at the sender. Where ACKs queue behind data of the opposite direction, they leave the
    queue at the rate of ACKs, not at that of the data that caused them.

    Parameters
    ----------
    left_s, arrived_s
        Times at which each ACK left the receiver and reached the sender [s], in the order in
        which they left; at least two.
    threshold
        A pair is compressed if its spacing at the sender is less than this part of that at the
        receiver.

    Returns
    -------
    dict
        ``pairs``; ``ratio``, the median of spacing at the sender / spacing at the receiver;
        ``least``, the tenth percentile; ``compressed``, the part of the pairs below the threshold.
        Pairs that left at once have no ratio and are left out.

    References
    ----------
    L. Zhang, S. Shenker, D. D. Clark, "Observations on the dynamics of a congestion control
    algorithm: the effects of two-way traffic", SIGCOMM 1991, doi:10.1145/115992.116006. The
    threshold is not theirs; they give the smallest ratio that there can be, the size of an ACK
    over that of a data packet.
    """
    left, arrived = (np.asarray(x, dtype=float) for x in (left_s, arrived_s))
    before, after = np.diff(left), np.diff(arrived)
    spaced = before > 0
    ratio = after[spaced] / before[spaced]
    if not ratio.size:
        nan = float("nan")
        return {"pairs": 0, "ratio": nan, "least": nan, "compressed": nan}
    return {
        "pairs": int(ratio.size),
        "ratio": float(np.median(ratio)),
        "least": float(np.quantile(ratio, 0.1)),
        "compressed": float(np.mean(ratio < threshold)),
    }


def ack_compression(
    packets: pa.Table,
    ends: Mapping[str, tuple[str, str]],
    *,
    since_s: float = 0.0,
    threshold: float = 0.5,
) -> pa.Table:
    """Compression of the ACKs of each flow of a run.

    ACKs that were lost on the way are in neither list. ACKs of equal number are matched in order.

    Parameters
    ----------
    packets
        The table ``packets`` of a run that records the links of ``ends``.
    ends
        For each flow, the first and the last link on the way of its ACKs, as
        ``{"f0": ("d0->r1", "r0->s0")}``. ACKs are seen where they arrive at the first, and where
        they leave the last: both links are to have no queue, as links of hosts have not.
    since_s
        ACKs that left before are ignored, as during a warm-up [s].
    threshold
        As of `compression_of`.

    Returns
    -------
    pyarrow.Table
        A row per flow of ``ends``: ``flow``, ``pairs``, ``ratio``, ``least``, ``compressed``.

    Raises
    ------
    AckclockError
        A column is missing, or a flow has no ACKs at one of its links.
    """
    seen: dict[tuple[str, str, str], list[tuple[float, int]]] = {}
    wanted = {("arrival", flow, pair[0]) for flow, pair in ends.items()}
    wanted |= {("departure", flow, pair[1]) for flow, pair in ends.items()}
    for key, rows in group_rows(packets, ("event", "flow", "link"), "time_s", "seq", "is_ack"):
        name = (str(key["event"]), str(key["flow"]), str(key["link"]))
        if name in wanted:
            columns = (rows[c].to_pylist() for c in ("time_s", "seq", "is_ack"))
            seen[name] = [(t, seq) for t, seq, is_ack in zip(*columns, strict=True) if is_ack]
    found: list[dict[str, Any]] = []
    for flow, (first, last) in ends.items():
        left, arrived = seen.get(("arrival", flow, first)), seen.get(("departure", flow, last))
        if not left or not arrived:
            missing = last if left else first
            message = f'no ACK of flow "{flow}" was recorded at link "{missing}"'
            raise AckclockError(message)
        pairs = [(a, b) for a, b in _match_acks(left, arrived) if a >= since_s]
        times = np.array(pairs, dtype=float).reshape(-1, 2)
        found.append({"flow": flow, **compression_of(times[:, 0], times[:, 1], threshold)})
    return table_of(found)


def _match_acks(
    left: Iterable[tuple[float, int]], arrived: Iterable[tuple[float, int]]
) -> list[tuple[float, float]]:
    """Times at both ends of ACKs seen at both; duplicates, which have one number, in order."""
    waiting: dict[int, list[float]] = {}
    for time, seq in left:
        waiting.setdefault(seq, []).append(time)
    pairs = []
    for time, seq in arrived:
        if waiting.get(seq):
            pairs.append((waiting[seq].pop(0), time))
    return sorted(pairs)
