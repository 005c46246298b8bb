"""Cross traffic that leaves a given bandwidth: one source of varying rate, or many of fixed rate.

Source: Akella et al. (2002), section 3.3.

Rule (C capacity, n test flows, B available bandwidth per test flow)::

    cbr        one source sends C - n B(t)
    cbr-flows  m(t) sources send at the same time, n C / (n + m) = n B, so m = n (C - n B) / (n B),
               rounded; under fair queueing each flow, test or not, then gets C / (n + m)

The rate of a source of fixed rate is not in the paper; it has to be more than fair queueing can
leave the source. Source k is only on while m >= k, so it never gets more than C / (n + k), and
sends ``margin`` times that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.scenario.environments.patterns import Pattern

if TYPE_CHECKING:
    from ackclock.scenario.environments.form import Settings

__all__ = ["MOST_SOURCES", "Place", "available", "cross_flows", "sources"]

Data = dict[str, Any]

MOST_SOURCES = 5000
"""More sources of fixed rate than this are refused."""


def sources(rate_bps: float, flows: int, capacity_bps: float) -> int:
    """Number of sources that leave a rate to each test flow under fair queueing.

    Parameters
    ----------
    rate_bps
        Available bandwidth per test flow, more than 0 [bit/s].
    flows
        Number of test flows.
    capacity_bps
        Capacity of the link [bit/s].
    """
    test_bps = flows * rate_bps
    return max(round(flows * (capacity_bps - test_bps) / test_bps), 0)


def available(pattern: Pattern, flows: int, capacity_bps: float, by: str) -> Pattern:
    """What is really left for each test flow: of many sources there is a whole number.

    Parameters
    ----------
    pattern
        Bandwidth that is wanted per test flow.
    flows
        Number of test flows.
    capacity_bps
        Capacity of the link [bit/s].
    by
        ``cbr``, ``cbr-flows`` or ``link``.
    """
    if by != "cbr-flows":
        return pattern
    return Pattern.of(
        [
            (time_s, capacity_bps / (flows + sources(rate, flows, capacity_bps)))
            for time_s, rate in pattern.steps()
        ]
    )


@dataclass(frozen=True)
class Place:
    """Where cross traffic goes.

    Parameters
    ----------
    flows
        Number of test flows on the link.
    capacity_bps
        Capacity of the link [bit/s].
    ends
        ``pair``, or ``src`` and ``dst``.
    name
        What the flows' names begin with.
    """

    flows: int
    capacity_bps: float
    ends: Data
    name: str


def cross_flows(pattern: Pattern, settings: Settings, bottleneck: Place) -> list[Data]:
    """Make the flows that leave a bandwidth.

    Parameters
    ----------
    pattern
        Bandwidth per test flow.
    settings
        Of the environment; ``by`` is not ``link``.
    bottleneck
        The link.

    Returns
    -------
    list
        Flows as a scenario has them.
    """
    if settings.by == "cbr-flows":
        return _many(pattern, settings, bottleneck)
    schedule = [
        {"at": time_s, "rate": round(max(bottleneck.capacity_bps - bottleneck.flows * rate, 0.0))}
        for time_s, rate in pattern.steps()
    ]
    if all(step["rate"] == 0 for step in schedule):
        return []
    source = {**_common(settings), "rate": round(bottleneck.capacity_bps), "schedule": schedule}
    return [{"id": bottleneck.name, **bottleneck.ends, "source": source}]


def _common(settings: Settings) -> Data:
    return {"kind": "cbr", "packet": settings.packet_bytes, "jitter": settings.jitter}


def _many(pattern: Pattern, settings: Settings, place: Place) -> list[Data]:
    counts = [(at, sources(rate, place.flows, place.capacity_bps)) for at, rate in pattern.steps()]
    most = max(count for _, count in counts)
    made = []
    for k in range(1, most + 1):
        rate = settings.margin * place.capacity_bps / (place.flows + k)
        source = {**_common(settings), "rate": round(rate), "periods": _periods(counts, k)}
        made.append({"id": f"{place.name}{k}", **place.ends, "source": source})
    return made


def _periods(counts: list[tuple[float, int]], k: int) -> list[Data]:
    """When at least ``k`` sources are on; the last period has no end that a run would reach."""
    periods: list[Data] = []
    on: float | None = None
    for time_s, count in counts:
        if count >= k and on is None:
            on = time_s
        elif count < k and on is not None:
            periods.append({"on": on, "off": time_s})
            on = None
    if on is not None:
        periods.append({"on": on, "off": 1e6})
    return periods
