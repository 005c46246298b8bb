"""What is compared of two runs of a flow: numbers, and the place where their windows part."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.experiments.statistics import equal_values, mean_interval

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ackclock.results.run import Run

    Floats = np.ndarray[Any, np.dtype[np.float64]]

__all__ = [
    "LINK_QUANTITIES",
    "QUANTITIES",
    "SLACK",
    "DivergencePlace",
    "Parting",
    "PeerTrace",
    "count_cuts",
    "judge",
    "known_since",
    "measure",
    "measure_link",
    "part",
    "sample_windows",
    "states_of",
    "trace",
]

QUANTITIES = {
    "goodput_mbps": "goodput [Mbit/s]",
    "loss_percent": "loss [%]",
    "srtt_ms": "mean round trip [ms]",
    "cwnd_mean": "mean window [packets]",
    "cwnd_max": "largest window [packets]",
    "cuts": "windows cut by a tenth or more",
}
"""What is compared, after the warm-up: name and words."""

LINK_QUANTITIES = {
    "drops": "drops [packets]",
    "drops_percent": "drops [%]",
    "queue_delay_ms": "queueing delay [ms]",
}
"""The same of a link."""

SLACK = {"cuts": 1.0, "loss_percent": 0.05, "drops": 5.0, "drops_percent": 0.05}
"""By how much what counts few events may differ by chance, beside the tolerance."""

CUT = 0.9
APART = 0.1


@dataclass(frozen=True)
class PeerTrace:
    """A window over time: from each time on it has this value.

    Parameters
    ----------
    time_s, cwnd, acked
        As long as each other, times ascending; ``acked`` is the packet that is expected next.
    """

    time_s: Floats
    cwnd: Floats
    acked: Floats


@dataclass(frozen=True)
class DivergencePlace:
    """Two windows at a time.

    Parameters
    ----------
    time_s
        When.
    ours, theirs
        The windows then [packets].
    state
        The state of our sender then; empty if unknown.
    acked
        Packets of ours that were acknowledged then.
    """

    time_s: float
    ours: float
    theirs: float
    state: str
    acked: int

    def __str__(self) -> str:
        state = f", in {self.state}" if self.state else ""
        return (
            f"{self.time_s:.3f} s{state}, with {self.acked:,} packets acknowledged:"
            f" {self.ours:.1f} packets here, {self.theirs:.1f} there"
        )


@dataclass(frozen=True)
class Parting:
    """Where the windows of two runs part.

    Parameters
    ----------
    packet
        From where on they differ by more than a packet; None: never.
    tenth
        From where on by more than a tenth, and more than a packet; None: never.
    """

    packet: DivergencePlace | None = None
    tenth: DivergencePlace | None = None

    def __str__(self) -> str:
        if self.packet is None:
            return "the windows are within a packet of each other all the time"
        first = f"the windows are within a packet until {self.packet}"
        if self.tenth is None:
            return f"{first}; they never differ by a tenth"
        return first if self.tenth == self.packet else f"{first}; within a tenth until {self.tenth}"


def _rows(table: Any, flow: str) -> Any:
    """The rows of a table that are of a flow."""
    import pyarrow.compute as pc

    return table.filter(pc.equal(pc.cast(table["flow"], "string"), flow))


def trace(run: Run, flow: str) -> PeerTrace:
    """Take the window of a flow.

    Parameters
    ----------
    run
        With the table ``windows``.
    flow
        Its id.
    """
    mine = _rows(run.tables["windows"], flow)
    columns = (mine[name].to_numpy() for name in ("time_s", "cwnd_segments", "acked"))
    return PeerTrace(*columns)


def known_since(runs: Iterable[Run], flow: str) -> float:
    """Find when the window of a flow is known in all runs [s].

    Parameters
    ----------
    runs
        With the table ``windows``.
    flow
        Its id.
    """
    begins = (trace(run, flow).time_s for run in runs)
    return max((float(times[0]) for times in begins if len(times)), default=0.0)


def measure(run: Run, flow: int, since_s: float = 0.0) -> dict[str, float]:
    """Measure a flow after the warm-up.

    Parameters
    ----------
    run
        With the table ``windows``.
    flow
        Its number.
    since_s
        From when on its window is known, here and there [s].

    Returns
    -------
    dict
        By the names of `QUANTITIES`; NaN for what cannot be said.
    """
    row = run.summary["flows"][flow]
    end = float(run.summary["duration_s"])
    start = end - float(run.summary["window_s"])
    window = trace(run, row["id"])
    sent = row["window_sent_packets"]
    loss = row["window_lost_data_packets"] / sent if sent else np.nan
    srtt = row["srtt_mean_s"]
    begin = max(start, since_s)
    mean, most = _window(window, begin, end)
    after = window.cwnd[_row_at(window, begin) :]
    return {
        # Other programs count data when they are delivered, whenever they arrived.
        "goodput_mbps": _delivered_bps(row, end - start) / 1e6,
        "loss_percent": 100 * loss,
        "srtt_ms": np.nan if srtt is None else 1e3 * srtt,
        "cwnd_mean": mean,
        "cwnd_max": most,
        "cuts": float(count_cuts(after)),
    }


def measure_link(run: Run, name: str) -> dict[str, float]:
    """Measure a link after the warm-up.

    Parameters
    ----------
    run
        The run.
    name
        The link's.

    Returns
    -------
    dict
        By the names of `LINK_QUANTITIES`; NaN for what cannot be said.
    """
    row = next(link for link in run.summary["links"] if link["id"] == name)
    drops, arrived = row["window_drops"], row["window_arrived_packets"]
    return {
        "drops": float(drops),
        "drops_percent": 100 * drops / arrived if arrived else np.nan,
        "queue_delay_ms": 1e3 * row["delay_mean_s"],
    }


def _delivered_bps(row: Any, window_s: float) -> float:
    """Payload delivered in the window [bit/s]; of a run without that count its goodput."""
    delivered = row.get("window_delivered_bytes")
    return float(row["goodput_bps"] if delivered is None else delivered * 8 / window_s)


def _row_at(window: PeerTrace, time_s: float) -> int:
    """The row that holds at a time, or the first."""
    return max(int(np.searchsorted(window.time_s, time_s, side="right")) - 1, 0)


def count_cuts(cwnd: Floats) -> int:
    """Count falls of a window by a tenth or more, at once or in steps without growth between.

    Parameters
    ----------
    cwnd
        The window, at each change.
    """
    cwnd = cwnd[np.append(np.diff(cwnd) != 0, np.full(min(len(cwnd), 1), fill_value=True))]
    falls = np.concatenate(([0], (np.diff(cwnd) < 0).astype(np.int8), [0]))
    begin, end = np.flatnonzero(np.diff(falls) == 1), np.flatnonzero(np.diff(falls) == -1)
    return int(np.count_nonzero(cwnd[end] < CUT * cwnd[begin]))


def _window(window: PeerTrace, start: float, end: float) -> tuple[float, float]:
    """The mean over time and the largest window between two times."""
    first = _row_at(window, start)
    cwnd = window.cwnd[first:]
    if not len(cwnd):
        return np.nan, np.nan
    edges = np.append(np.maximum(window.time_s[first:], start), end)
    lasts = np.diff(edges)
    return float(np.sum(cwnd * lasts) / np.sum(lasts)), float(np.max(cwnd))


def sample_windows(run: Run, interval_s: float) -> Run:
    """Look at the windows of a run at equal intervals, as others can only be looked at.

    Parameters
    ----------
    run
        With the table ``windows``.
    interval_s
        The interval [s].

    Returns
    -------
    Run
        The same; its table ``windows`` has the last row of each interval, at its end.
    """
    import pyarrow as pa

    from ackclock.results.run import Run

    table: Any = run.tables["windows"]
    flow = np.asarray(table["flow"].cast("string").to_pylist())
    tick = np.ceil(table["time_s"].to_numpy() / interval_s - 1e-9)
    last_rows: list[int] = []
    for name in dict.fromkeys(flow):
        here = np.flatnonzero(flow == name)
        is_last = np.append(np.diff(tick[here]) > 0, np.True_)
        last_rows.extend(here[is_last])
    rows = np.array(sorted(last_rows), dtype=np.int64)
    thinned = table.take(pa.array(rows))
    column = thinned.schema.get_field_index("time_s")
    thinned = thinned.set_column(column, "time_s", pa.array(tick[rows] * interval_s))
    return Run(run.scenario, run.summary, {**run.tables, "windows": thinned})


def part(
    ours: PeerTrace,
    theirs: PeerTrace,
    states: Sequence[tuple[float, str]] = (),
    resolution_s: float = 0.0,
) -> Parting:
    """Find where two windows part.

    Parameters
    ----------
    ours, theirs
        The windows.
    states
        When our sender entered which state.
    resolution_s
        Windows that differ for no longer than this are the same [s].
    """
    begin = max(ours.time_s[0], theirs.time_s[0])
    times = np.union1d(ours.time_s, theirs.time_s)
    times = times[times >= begin]
    mine, other = (_at(window, times) for window in (ours, theirs))
    by = np.abs(mine - other)
    packet = _lasting(times, by > 1, resolution_s)
    tenth = _lasting(times, (by > 1) & (by > APART * mine), resolution_s)

    def place(row: int) -> DivergencePlace:
        then = float(times[row])
        entered = [state for entered_s, state in states if entered_s <= then]
        row_then = int(np.searchsorted(ours.time_s, then, side="right")) - 1
        return DivergencePlace(
            then,
            float(mine[row]),
            float(other[row]),
            entered[-1] if entered else "",
            int(ours.acked[row_then]),
        )

    partings = (place(int(rows[0])) if len(rows) else None for rows in (packet, tenth))
    return Parting(*partings)


def _lasting(times: Floats, apart: Any, longer_s: float) -> Any:
    """First rows of the stretches of rows that are apart for longer than this [s]."""
    edges = np.flatnonzero(np.diff(apart, prepend=False, append=False))
    starts, ends = edges[::2], edges[1::2]
    return starts[np.append(times, np.inf)[ends] - times[starts] > longer_s]


def _at(window: PeerTrace, times: Floats) -> Floats:
    """The window at each time: of several values at one time, the last."""
    found: Floats = window.cwnd[np.searchsorted(window.time_s, times, side="right") - 1]
    return found


def judge(
    ours: Sequence[float],
    theirs: Sequence[float],
    tolerance: float,
    slack: float = 0.0,
    resolution: float = 0.0,
) -> str:
    """Compare a quantity over the same seeds.

    Parameters
    ----------
    ours, theirs
        The values, seed by seed.
    tolerance
        By how much of our mean the difference of the means may be.
    slack
        The least that it may be.
    resolution
        By how much values may differ that are written no finer.

    Returns
    -------
    str
        ``equal``: the same for each seed, but for this and the rounding of a sum. ``inside``: the
        95 % interval of the difference is within the tolerance, on both sides; ``apart``: all of it
        is beyond, or a value is not known on one side; ``undecided``: neither. The difference of
        one seed, or the same of all, has no interval and is taken as it is.
    """
    if np.allclose(ours, theirs, rtol=1e-12, atol=resolution, equal_nan=True):
        return "equal"
    here, there = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if (np.isnan(here) != np.isnan(there)).any():
        return "apart"
    has_value = ~np.isnan(here)
    by = max(slack, tolerance * abs(float(here[has_value].mean())))
    apart = (there - here)[has_value].tolist()
    mean, low, high = mean_interval(apart)
    if len(apart) == 1 or equal_values(apart):
        low = high = mean
    if -by <= low and high <= by:
        return "inside"
    return "apart" if low > by or high < -by else "undecided"


def states_of(run: Run, flow: str) -> list[tuple[float, str]]:
    """List when a sender entered which state.

    Parameters
    ----------
    run
        With the table ``states``.
    flow
        Its id.
    """
    mine = _rows(run.tables["states"], flow)
    return list(zip(mine["time_s"].to_pylist(), mine["state"].to_pylist(), strict=True))
