"""Draws round trips of the path starlink-2025 beside those of a log of ping over Starlink.

``python tools/calibration/draw_path_beside_log.py LOG OUT.svg``, LOG as ``ping -D`` writes it.
The figure of docs/howto/paths.md is of latency/ping-example-isl.txt in the public repository
clarkzjw/LEONetEM (commit 780a063, August 2024: 154 s, 10,000 answers), which has no licence and is
not kept here.
Also prints the numbers of the page's table.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np

import ackclock as ac
from ackclock.plot import style
from ackclock.scenario.paths.measurement import Layout
from ackclock.scenario.paths.measurement_files import read_measurements
from ackclock.scenario.paths.models import REALLOCATION_S

FIRST_S = 1.0
"""Beginning of an interval, in which round trips are longer."""
EDGE_S = 11.83
"""When an interval begins in that log, whose first answer came 0.17 s after a full minute.

Terminals are given satellites 12, 27, 42 and 57 s after each."""
SHOWN_S = 150.0


class RoundTrips(NamedTuple):
    """Round trips of probes, by when they were sent."""

    name: str
    time_s: np.ndarray
    rtt_s: np.ndarray
    since_s: np.ndarray
    """Since the interval began."""
    beyond_s: np.ndarray
    """Beyond the least of the same interval."""


def by_interval(name: str, time_s: np.ndarray, rtt_s: np.ndarray, edge_s: float) -> RoundTrips:
    """Place round trips within the intervals between reallocations.

    Parameters
    ----------
    name
        What they are of.
    time_s, rtt_s
        Of each probe.
    edge_s
        When some interval begins, on the clock of `time_s`.
    """
    interval = np.floor((time_s - edge_s) / REALLOCATION_S).astype(int)
    beyond = rtt_s.copy()
    for number in np.unique(interval):
        beyond[interval == number] -= rtt_s[interval == number].min()
    since = (time_s - edge_s) - interval * REALLOCATION_S
    return RoundTrips(name, time_s, rtt_s, since, beyond)


def draw(trips: list[RoundTrips], out: str) -> None:
    """Draw round trips over time, and how they lie above the least of their interval.

    Parameters
    ----------
    trips
        Of the log and of the model.
    out
        File to write.
    """
    figure = style.figure(None, width=9.0, height=6.0)
    above, below = figure.subplots(2, 2, sharey="row")
    for column, one_path in enumerate(trips):
        shown = one_path.time_s < SHOWN_S
        above[column].plot(one_path.time_s[shown], 1e3 * one_path.rtt_s[shown], ",", color="C0")
        above[column].set(title=one_path.name, xlabel="time [s]")
        early = one_path.since_s < FIRST_S
        for look, words, which in (("C1", "first second", early), ("C0", "after it", ~early)):
            below[column].ecdf(1e3 * one_path.beyond_s[which], color=look, label=words)
        below[column].set(xlabel="beyond the least of the interval [ms]", xlim=(0, 60))
        below[column].legend(loc="lower right")
    above[0].set_ylabel("round trip [ms]")
    below[0].set_ylabel("share of probes")
    figure.savefig(out)


def main(log: str, out: str) -> None:
    """Draw the figure.

    Parameters
    ----------
    log, out
        Files to read and to write.
    """
    probes = read_measurements(Path(log), "ping", Layout(), log).probes
    times, trips = np.array([(probe[0], probe[1]) for probe in probes if probe[1] > 0]).T
    data = by_interval("Starlink, a log of ping", times, trips, EDGE_S)
    probe = {"pair": 0, "size": "64 B", "every": "20 ms", "tcp": {"mss": 64, "delayed_ack": 1}}
    net = {"kind": "path", "path": "starlink-2025"}
    run = ac.Scenario(net=net, flows=[probe], duration="600 s").run(record=["rtts"])
    rows = run.tables["rtts"]
    times, trips = np.asarray(rows["time_s"]), np.asarray(rows["rtt_s"])
    model = by_interval("starlink-2025", times, trips, edge_s=0.0)
    for path in (data, model):
        early = path.since_s < FIRST_S
        for words, which in (("first second", early), ("after it", ~early)):
            quantiles = np.quantile(1e3 * path.beyond_s[which], (0.1, 0.5, 0.9))
            print(f"{path.name}, {words}: 10, 50, 90 %:", *(f"{q:.1f} ms" for q in quantiles))
        number = ((path.time_s - path.time_s[0]) // REALLOCATION_S).astype(int)
        print(f"{path.name}: {number.max() + 1} intervals")
    draw([data, model], out)


if __name__ == "__main__":
    main(*sys.argv[1:3])
