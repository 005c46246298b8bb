"""What a link could have carried in each interval of a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.units import parse

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    Values = npt.NDArray[np.float64]
    Data = Mapping[str, Any]

__all__ = ["mean_capacity", "schedules"]

_TURN_BITS = 1500 * 8
"""What may leave at each time of a Mahimahi trace [bit]."""


def schedules(scenario: Data) -> list[tuple[float, Data]]:
    """Find the links whose rate changes: own rate [bit/s] and schedule of each.

    Parameters
    ----------
    scenario
        A scenario's document in which files and environments are expanded.
    """

    def find_schedules() -> Iterator[tuple[float, Data]]:
        net = scenario["net"]
        for link in (net, *net.get("links", ()), *scenario.get("links", ())):
            for key in ("schedule", "back_schedule"):
                if link.get(key) is not None and _changes_rate(link[key]):
                    yield parse(link.get("rate", net.get("rate", 0.0)), "rate"), link[key]

    return list(find_schedules())


def _changes_rate(schedule: Data) -> bool:
    """Whether a schedule says more than when packets are lost."""
    return "mahimahi" in schedule or any("rate" in step for step in schedule["steps"])


def mean_capacity(rate_bps: float, schedule: Data, times_s: Values) -> Values:
    """Mean rate of a link between each two neighbours of a list of times [bit/s].

    Parameters
    ----------
    rate_bps
        The link's own rate, which holds before the first step [bit/s].
    schedule
        ``steps`` or ``mahimahi``, as of a scenario.
    times_s
        Ends of the intervals, increasing, ``(n + 1,)`` [s].

    Returns
    -------
    ndarray
        Shape ``(n,)``.
    """
    times_s = np.maximum(times_s, 0.0)
    if "mahimahi" in schedule:
        turns = np.asarray(schedule["mahimahi"], dtype=np.float64) / 1e3
        rounds, into_turn = np.divmod(times_s, turns[-1])
        bits = _TURN_BITS * (rounds * len(turns) + np.searchsorted(turns, into_turn, side="right"))
    else:
        rated = [step for step in schedule["steps"] if "rate" in step]
        steps = [(parse(step["at"], "duration"), parse(step["rate"], "rate")) for step in rated]
        begin = np.array([0.0, *(time_s for time_s, _ in steps)])
        rates = np.array([rate_bps, *(rate for _, rate in steps)])
        # Bits that could have left by the beginning of each step.
        before = np.concatenate([[0.0], np.cumsum(np.diff(begin) * rates[:-1])])
        step_of_time = np.searchsorted(begin, times_s, side="right") - 1
        bits = before[step_of_time] + (times_s - begin[step_of_time]) * rates[step_of_time]
    mean_bps: Values = np.diff(bits) / np.diff(times_s)
    return mean_bps
