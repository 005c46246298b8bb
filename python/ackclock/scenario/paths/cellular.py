"""Makes traces of a cellular link in Mahimahi's format.

Source: Winstein, Sivaraman and Balakrishnan, "Stochastic forecasts achieve high throughput and low
delay over cellular networks" (Sprout), NSDI 2013, section 3.1.

Rule: packets leave by a Poisson process whose rate is a Brownian motion with reflection::

    every 20 ms   rate += 200 packets/s per root of a second, times a normal number
    0 <= rate <= 1000 packets/s;  a rate that comes to 0 stays there for a time of mean 1 s,
                                  and leaves it upwards

This is the model behind Sprout's forecasts, with its published values, and not a recorded link.
"""

from __future__ import annotations

import math
import random
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

__all__ = ["cellular_trace", "write_trace"]

TICK_S = 0.020
NOISE = 200.0
"""Packets per second per root of a second."""

MOST = 1000.0
"""Packets of 1500 B per second: 12 Mbit/s."""

OUTAGE_MEAN_S = 1.0


def cellular_trace(seed: int, duration_s: float = 60.0, start: float = 400.0) -> list[int]:
    """Draw the milliseconds at which a cellular link may send 1500 bytes.

    Parameters
    ----------
    seed
        The same number gives the same trace, on any machine.
    duration_s
        Length of the trace [s], after which it repeats.
    start
        Rate at the beginning [packets/s].

    Returns
    -------
    list of int
        As the lines of a file of Mahimahi [ms], the last one being the length of the trace.
    """
    # Only `random()` is drawn: Python promises the same sequence for ever.
    draw = random.Random(f"cellular {seed}").random
    rate, outage_until, times = start, 0.0, []
    for tick in range(round(duration_s / TICK_S)):
        now = tick * TICK_S
        if now < outage_until:
            continue
        normal = math.sqrt(-2 * math.log(1 - draw())) * math.cos(2 * math.pi * draw())
        step = NOISE * math.sqrt(TICK_S) * normal
        rate = rate + step if rate > 0.0 else abs(step)
        if rate <= 0.0:
            rate = 0.0
            outage_until = now - OUTAGE_MEAN_S * math.log(1 - draw())
            continue
        if rate > MOST:
            rate = 2 * MOST - rate
        slot_s = now - math.log(1 - draw()) / rate
        while slot_s < now + TICK_S:
            times.append(max(1, math.ceil(slot_s * 1e3)))
            slot_s -= math.log(1 - draw()) / rate
    end = round(duration_s * 1e3)
    return [*(min(time, end) for time in times if time < end), end]


def write_trace(file: Path, times: Sequence[int]) -> None:
    """Write a trace in Mahimahi's format, a time a line.

    Parameters
    ----------
    file
        Is replaced.
    times
        Of `cellular_trace` [ms].
    """
    file.write_text("".join(f"{time}\n" for time in times), encoding="ascii")
