"""The named paths, each with the source of its numbers.

Only `random()` is drawn from the seed: Python promises the same sequence for ever.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ackclock.scenario.paths.cellular import cellular_trace
from ackclock.scenario.paths.model import ASSUMED, PathModel, PathParameter

if TYPE_CHECKING:
    import random

    Data = dict[str, Any]

__all__ = ["BACK", "PATHS", "REALLOCATION_S"]

_HUSTON = "Huston, A transport protocol's view of Starlink, APNIC Blog, 17 May 2024"
_LEO_GEO = "Huston, Testing LEO and GEO satellite services in Australia, APNIC Blog, 2 May 2022"
_WETLINKS = "Laniewski and others, WetLinks, arXiv 2402.16448, 2024"
_MOHAN = "Mohan and others, A multifaceted look at Starlink performance, arXiv 2310.09242, 2023"
_BOUNDARIES = "Statistical characterization of latency over LEO networks, arXiv 2601.08439, 2026"
_C4 = "Huitema, draft-huitema-ccwg-c4-test"
_SPROUT = "Winstein, Sivaraman and Balakrishnan (Sprout), NSDI 2013, section 3.1"
_LLD = "White, Sundaresan and Briscoe, draft-white-tsvwg-lld-00, 2019"
_SATELLITE = "Kuhn and others, draft-kuhn-quic-4-sat-06, section 4.2, 2020"
_AQM = "White and Pan, RFC 8034, 2017"
_THERMAL = "study of sustained mmWave throughput in Miami, Chicago and San Francisco (arXiv)"
_MMWAVE_RTT = "Telegraphic, 5G millimeter wave performance evaluation, part 1, December 2023"

BACK = "back_rate"
"""Key of the rate from right to left, which a dumbbell does not have."""

REALLOCATION_S = 15.0
"""Starlink gives terminals other satellites at these intervals."""
_LEO_FLOOR_S, _LEO_MOST_S = 0.030, 0.050
_LEO_JITTER_S = 0.0067
_HANDOVER_LOW_S, _HANDOVER_HIGH_S, _HANDOVER_LASTS_S = 0.030, 0.050, 0.200
_LEO_LOSS = 0.01
_LEO_LOW_BPS, _LEO_HIGH_BPS = 50e6, 350e6

_BLOCKED_BPS, _CLEAR_LOW_BPS, _CLEAR_HIGH_BPS = 100e6, 1e9, 2e9
_CLEAR_MEAN_S, _BLOCKED_MEAN_S = 5.0, 0.5


def _between(low: float, high: float, draw: random.Random) -> float:
    return low + (high - low) * draw.random()


def _waiting(mean: float, draw: random.Random) -> float:
    return -mean * math.log(1 - draw.random())


def _starlink(draw: random.Random, duration: float) -> Data:
    """A satellite for 15 s each: a rate, a delay, and a spike at the beginning."""
    rates, delays = [], []
    for number in range(math.ceil(duration / REALLOCATION_S) + 1):
        time_s = number * REALLOCATION_S
        rates.append({"at": time_s, "rate": _between(_LEO_LOW_BPS, _LEO_HIGH_BPS, draw)})
        extra = _between(0.0, _LEO_MOST_S - _LEO_FLOOR_S, draw)
        if number:
            spike = _between(_HANDOVER_LOW_S, _HANDOVER_HIGH_S, draw)
            delays.append({"at": time_s, "extra": extra + spike})
            delays.append({"at": time_s + _HANDOVER_LASTS_S, "extra": extra})
        else:
            delays.append({"at": 0.0, "extra": extra})
    return {
        "rate": rates[0]["rate"],
        "rtt": _LEO_FLOOR_S,
        "buffer": "100 ms",
        "loss": _LEO_LOSS,
        "schedule": {"steps": rates},
        "impairments": [
            {"kind": "delay-steps", "steps": delays, "keep_order": True},
            {"kind": "jitter", "shape": "exponential", "mean": _LEO_JITTER_S, "keep_order": True},
        ],
    }


def _lte(draw: random.Random, duration: float) -> Data:
    seed = math.floor(draw.random() * 2**31)
    times = cellular_trace(seed, math.ceil(max(duration, 1.0)))
    return {
        "rate": "12 Mbps",
        "rtt": "40 ms",
        "buffer": "1000 pkt",
        "schedule": {"mahimahi": times},
    }


def _mmwave(draw: random.Random, duration: float) -> Data:
    """A clear line of sight until something comes between."""
    time_s, steps = 0.0, []
    while time_s <= duration:
        steps.append({"at": time_s, "rate": _between(_CLEAR_LOW_BPS, _CLEAR_HIGH_BPS, draw)})
        time_s += 1e-3 + _waiting(_CLEAR_MEAN_S, draw)
        steps.append({"at": time_s, "rate": _BLOCKED_BPS})
        time_s += 1e-3 + _waiting(_BLOCKED_MEAN_S, draw)
    return {
        "rate": steps[0]["rate"],
        "rtt": "15 ms",
        "buffer": "20 ms",
        "schedule": {"steps": steps},
    }


def _wifi(draw: random.Random, duration: float) -> Data:
    del draw, duration
    wifi = {"kind": "wifi", "jitter": "7 ms"}
    return {"rate": "10 Mbps", "rtt": "22 ms", "buffer": "500 pkt", "impairments": [wifi]}


def _cable(draw: random.Random, duration: float) -> Data:
    del draw, duration
    return {
        "rate": "200 Mbps",
        "rtt": "20 ms",
        "buffer": "100 ms",
        BACK: "20 Mbps",
        "back_qdisc": {"kind": "pie", "target": "10 ms"},
        "back_impairments": [{"kind": "aggregation", "interval": "2 ms"}],
    }


def _geo(draw: random.Random, duration: float) -> Data:
    del draw, duration
    return {"rate": "50 Mbps", "rtt": "650 ms", "buffer": "1 bdp", BACK: "10 Mbps"}


PATHS = {
    "starlink-2025": PathModel(
        "A Starlink terminal that is given another satellite every 15 s",
        (
            PathParameter("interval of reallocation", "15 s", f"{_MOHAN}; {_HUSTON}"),
            PathParameter("least round trip", "30 ms", f"{_HUSTON}: shifts from 30 to 80 ms"),
            PathParameter(
                "round trip of a satellite beyond the least",
                "uniform from 0 to 20 ms",
                f"{ASSUMED}; with the spike it comes to the shift of 50 ms of {_HUSTON}",
            ),
            PathParameter("spike at a reallocation", "uniform from 30 to 50 ms", _HUSTON),
            PathParameter(
                "length of that spike",
                "200 ms",
                f"{ASSUMED}; {_BOUNDARIES}: 140 ms after a reallocation and 75 ms before it",
            ),
            PathParameter(
                "mean difference of successive round trips",
                "6.7 ms, by exponential jitter towards the terminal",
                f"{_HUSTON}; {ASSUMED} of the shape and the direction",
            ),
            PathParameter("loss without congestion", "1 %", f"{_HUSTON}: 1 to 2 %"),
            PathParameter(
                "rate of a satellite",
                "uniform from 50 to 350 Mbit/s",
                f"{ASSUMED} within the 0 to over 400 Mbit/s of {_WETLINKS}",
            ),
            PathParameter("buffer", "100 ms", ASSUMED),
        ),
        _starlink,
    ),
    "lte-driving": PathModel(
        "An LTE link in a car: a Poisson process whose rate is a Brownian motion, with outages",
        (
            PathParameter("noise of the rate", "200 packets/s per root of a second", _SPROUT),
            PathParameter("largest rate", "1000 packets of 1500 B a second", _SPROUT),
            PathParameter("mean outage", "1 s", _SPROUT),
            PathParameter("round trip", "40 ms", ASSUMED),
            PathParameter("buffer", "1000 packets", ASSUMED),
        ),
        _lte,
    ),
    "5g-mmwave": PathModel(
        "A 5G millimetre-wave cell whose line of sight is blocked now and then",
        (
            PathParameter("rate in sight", "uniform from 1 to 2 Gbit/s", _THERMAL),
            PathParameter("rate while blocked", "100 Mbit/s, as of 4G", ASSUMED),
            PathParameter("mean time in sight", "5 s", ASSUMED),
            PathParameter("mean time blocked", "0.5 s", ASSUMED),
            PathParameter(
                "round trip",
                "15 ms: 7 ms of radio and 8 ms beyond",
                f"{_MMWAVE_RTT}: below 7 ms; {ASSUMED} of the rest",
            ),
            PathParameter("buffer", "20 ms", ASSUMED),
        ),
        _mmwave,
    ),
    "wifi-busy": PathModel(
        "A Wi-Fi link among many: back-off after collisions, and frames sent again",
        (
            PathParameter("rate", "10 Mbit/s", f"{_C4}, bad Wi-Fi"),
            PathParameter("mean jitter", "7 ms, towards the host", f"{_C4}, bad Wi-Fi"),
            PathParameter(
                "round trip",
                "22 ms: 2 ms of the link and 20 ms beyond",
                f"{_C4}, bad Wi-Fi; {ASSUMED} of the 20 ms",
            ),
            PathParameter("buffer", "500 packets", ASSUMED),
        ),
        _wifi,
    ),
    "cable-docsis": PathModel(
        "A cable modem of DOCSIS 3.1: downstream as data go, upstream in granted slots under PIE",
        (
            PathParameter(
                "round trip", "20 ms: 10 ms of access and 10 ms beyond", f"{_LLD}; {ASSUMED} beyond"
            ),
            PathParameter("target of PIE upstream", "10 ms", _AQM),
            PathParameter("interval of grants", "2 ms", ASSUMED),
            PathParameter("rate downstream", "200 Mbit/s", ASSUMED),
            PathParameter("rate upstream", "20 Mbit/s", ASSUMED),
            PathParameter("buffer", "100 ms", ASSUMED),
        ),
        _cable,
    ),
    "geo": PathModel(
        "A geostationary satellite",
        (
            PathParameter(
                "round trip", "650 ms", f"{_SATELLITE}; {_LEO_GEO}: about 600, at least 477"
            ),
            PathParameter("rate to the terminal", "50 Mbit/s", _SATELLITE),
            PathParameter("rate from the terminal", "10 Mbit/s", _SATELLITE),
            PathParameter("buffer", "1 bandwidth-delay product", _SATELLITE),
        ),
        _geo,
    ),
}
"""The paths by name."""
