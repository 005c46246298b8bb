"""Who finds the network congested: satisfaction that falls, user by user, in recorded runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.analysis.grouping import group_rows, numbers, table_of
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import numpy.typing as npt
    import pyarrow as pa

    Satisfaction = Callable[[float, float], float]

__all__ = ["congested_users", "congestion_events"]


def _bandwidth(goodput_bps: float, rtt_s: float) -> float:
    """Satisfaction that is linear in the bandwidth received, as in the example of the paper."""
    del rtt_s
    return goodput_bps


def congestion_events(
    samples: pa.Table,
    period_s: float,
    *,
    satisfaction: Satisfaction = _bandwidth,
    tolerance: float = 0.05,
    by: Sequence[str] = (),
) -> pa.Table:
    """Where a network is congested from the perspective of a user, period by period.

    The network is congested from the perspective of user i if the satisfaction of i decreases due
    to a modification of the characteristics of his connection, which are what the user observes
    of it. So satisfaction is a function of goodput and round-trip time alone, and envy is no
    congestion. A user that sends nothing in a period changed what it wants, not its connection:
    such periods do not count. Keshav's definition demands further that the load has increased.

    Parameters
    ----------
    samples
        The table ``flow_samples`` of a run, or of several, which ``by`` keeps apart.
    period_s
        Length of the periods that are compared [s]: a multiple of the interval of the samples.
    satisfaction
        Of goodput [bit/s] and the last smoothed round-trip time [s], NaN where there is none;
        not negative. Left out: the goodput.
    tolerance
        Satisfaction has decreased if it falls by more than this part of what it was.
    by
        Columns that distinguish runs, as ``seed``.

    Returns
    -------
    pyarrow.Table
        A row per user and pair of consecutive periods in both of which it sends: columns of
        ``by``, ``flow``, ``time_s`` (the end of the second period), ``before`` and ``after``
        (satisfaction), ``load_before`` and ``load_after`` (packets that all users sent),
        ``congested``, and ``congested_keshav``, where the load has increased by more than the
        tolerance too.

    Raises
    ------
    AckclockError
        A column is missing, or the samples hold no two periods.

    References
    ----------
    A. Legout, E. W. Biersack, "Beyond TCP-Friendliness: A New Paradigm for End-to-End Congestion
    Control", 1999, definition 1. S. Keshav, "Congestion Control in Computer Networks", PhD thesis,
    Berkeley 1991, chapter 1.
    """
    needed = ("time_s", "flow", "delivered_bytes", "sent_packets", "srtt_s")
    found = [
        {**key, **row}
        for key, rows in group_rows(samples, by, *needed)
        for row in _events(rows, period_s, satisfaction, tolerance)
    ]
    if not found:
        message = f"the samples hold no two periods of {period_s:g} s in which a user sends"
        raise AckclockError(message)
    return table_of(found)


def _events(
    rows: pa.Table, period_s: float, satisfaction: Satisfaction, tolerance: float
) -> Iterator[dict[str, Any]]:
    last = float(np.max(numbers(rows, "time_s")))
    ends = period_s * np.arange(int(last / period_s + 1e-9) + 1)
    users: dict[str, dict[str, npt.NDArray[np.float64]]] = {}
    for key, mine in group_rows(rows.sort_by("time_s"), ("flow",)):
        users[str(key["flow"])] = _periods(mine, ends)
    if not users:
        return
    load = np.sum([user["sent"] for user in users.values()], axis=0)
    for name, user in users.items():
        wants = [
            satisfaction(float(bits / period_s), float(rtt))
            for bits, rtt in zip(user["bits"], user["rtt"], strict=True)
        ]
        for i in range(1, len(wants)):
            if not (user["sent"][i - 1] and user["sent"][i]):
                continue
            before, after = wants[i - 1], wants[i]
            fell = after < before * (1 - tolerance)
            yield {
                "flow": name,
                "time_s": float(ends[i + 1]),
                "before": before,
                "after": after,
                "load_before": float(load[i - 1]),
                "load_after": float(load[i]),
                "congested": fell,
                "congested_keshav": fell and bool(load[i] > load[i - 1] * (1 + tolerance)),
            }


def _periods(rows: pa.Table, ends: npt.NDArray[Any]) -> dict[str, npt.NDArray[np.float64]]:
    """What one user got and sent in each period: cumulative counts at their ends, subtracted."""
    at = np.array(rows["time_s"].to_pylist(), dtype=float)
    place = np.searchsorted(at, ends + 1e-9, side="right") - 1

    def count(column: str) -> npt.NDArray[np.float64]:
        values = np.array([v or 0 for v in rows[column].to_pylist()], dtype=float)
        return np.diff(np.where(place >= 0, values[place], 0.0))

    rtt = np.array([np.nan if v is None else v for v in rows["srtt_s"].to_pylist()], dtype=float)
    return {
        "bits": 8 * count("delivered_bytes"),
        "sent": count("sent_packets"),
        "rtt": np.where(place >= 0, rtt[place], np.nan)[1:],
    }


def congested_users(events: pa.Table, by: Sequence[str] = ()) -> pa.Table:
    """How often each user, and whether anybody, finds the network congested.

    Parameters
    ----------
    events
        What `congestion_events` gave.
    by
        Columns that distinguish runs.

    Returns
    -------
    pyarrow.Table
        A row per run and user: columns of ``by``, ``flow``, ``changes`` (pairs of periods that
        were compared), ``congested`` and ``congested_keshav`` (how many of them), ``part``
        (congested / changes), ``worst`` (largest part of its satisfaction that the user lost).

    Raises
    ------
    AckclockError
        A column is missing.
    """
    found: list[dict[str, Any]] = []
    for key, rows in group_rows(events, (*by, "flow"), "congested", "before", "after"):
        before, after = numbers(rows, "before"), numbers(rows, "after")
        congested = sum(rows["congested"].to_pylist())
        lost = 1 - np.divide(after, before, out=np.ones_like(after), where=before > 0)
        found.append(
            {
                **key,
                "changes": rows.num_rows,
                "congested": congested,
                "congested_keshav": sum(rows["congested_keshav"].to_pylist()),
                "part": congested / rows.num_rows,
                "worst": max(0.0, float(lost.max())),
            }
        )
    return table_of(found)
