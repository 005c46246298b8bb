"""How properties are measured in packets.

A property of cycles is measured over the second half of a run; one of a number of round trips from
the moment at which the solver's path begins (`ackclock.prove.counterexample`).
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ackclock.prove.counterexample import BEGIN, ROUND_TRIP_S
from ackclock.prove.refine import times_of

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from ackclock.prove.properties import PathClaim
    from ackclock.results.run import Run

__all__ = ["Measure", "measure_of"]


def _utilisation(run: Run, packets: int) -> float:
    del packets
    return next(
        float(link["utilisation"]) for link in run.summary["links"] if link["id"] == "r0->r1"
    )


def _standing(run: Run, packets: int) -> float:
    begin = run.summary["duration_s"] / 2
    queued = [
        row["queue_packets"]
        for row in run.link_samples.to_pylist()
        if row["link"] == "r0->r1" and row["time_s"] >= begin
    ]
    return float(min(queued)) / packets


def least_window_at_loss(run: Run, packets: int) -> float:
    """Smallest window at which a packet of the flow was dropped [BDP]; infinite if none was."""
    import numpy as np

    windows, drops = run.windows, run.drops
    times = np.asarray(windows["time_s"])
    lost = [row["time_s"] for row in drops.to_pylist() if not row["is_ack"]]
    if not len(times) or not lost:
        return float("inf")
    at = np.searchsorted(times, np.asarray(lost), side="right") - 1
    return float(np.asarray(windows["cwnd_segments"])[at[at >= 0]].min()) / packets


def ratio_of_flows(run: Run, packets: int) -> float:
    del packets
    goodputs = [float(flow["goodput_bps"]) for flow in run.summary["flows"]]
    return min(goodputs) / max(*goodputs, 1e-9)


def _deliveries(run: Run) -> NDArray[np.float64]:
    """Times at which data left the path, in base round trips after the solver's path begins.

    The receiver is half of a base round trip behind it.
    """
    import numpy as np

    times = times_of(run.packets, "r1->d0", "departure", is_ack=False)
    return np.asarray(times / ROUND_TRIP_S - BEGIN - 0.5)


def _recovered(run: Run, packets: int, steps: int) -> float:
    """Share of the capacity delivered in the last two round trips; NaN below the window named."""
    import numpy as np

    windows = run.windows
    times = np.asarray(windows["time_s"])
    at = int(np.searchsorted(times, BEGIN * ROUND_TRIP_S, side="right")) - 1
    if at < 0 or float(windows["cwnd_segments"][at].as_py()) < 2 * packets:
        return float("nan")
    times = _deliveries(run)
    return float(np.sum((times > steps - 2) & (times <= steps))) / 2 / packets


def _longest_silence(run: Run, packets: int) -> float:
    """Longest time without a delivery once the solver's path has begun [base round trips]."""
    import numpy as np

    del packets
    times = _deliveries(run)
    end = float(run.summary["duration_s"]) / ROUND_TRIP_S - BEGIN - 0.5
    before = times[times <= 0][-1:]
    return float(np.diff([*(before if len(before) else [0.0]), *times[times > 0], end]).max())


class Measure(NamedTuple):
    """How a property is measured in packets.

    Attributes
    ----------
    read
        Its value, from a run and the packets to a BDP.
    bound
        Of the value.
    unit
        Of the value, as part of a sentence.
    tables
        That the run records.
    least
        Whether the claim is that it is at least the bound; else at most.
    none
        What an infinite value says.
    begins_small
        Whether windows begin small, so that the violation is not what they began with.
    """

    read: Callable[[Run, int], float]
    bound: float
    unit: str
    tables: tuple[str, ...] = ()
    least: bool = True
    none: str = ""
    begins_small: bool = False

    def is_nearer(self, value: float | None, other: float | None) -> bool:
        """Say whether a value of JSON is nearer to a violation than another; None never is."""
        if value is None or other is None:
            return value is not None
        return value < other if self.least else value > other

    def judge(self, value: float) -> tuple[bool, float | None, str]:
        """Say whether a value violates the claim, what it is for JSON, and both in a sentence."""
        if math.isnan(value):
            return False, None, "the violation is not there: the window was below 2 BDP"
        shown = value < self.bound if self.least else value > self.bound
        outcome = "the violation is there" if shown else "the violation is not there"
        if value == float("inf"):
            return shown, None, f"{outcome}: {self.none}"
        return shown, value, f"{outcome}: {value:.3g} {self.unit}"


def measure_of(claim: PathClaim) -> Measure:
    """Return how a claim is measured.

    Parameters
    ----------
    claim
        A property with its value.
    """
    bound = float(claim.value)
    match claim.kind.name:
        case "utilisation":
            return Measure(_utilisation, bound, "of the capacity")
        case "standing-queue":
            return Measure(
                _standing, bound, "BDP at least queued", ("link_samples",), least=False,
                begins_small=True,
            )  # fmt: skip
        case "loss-above":
            return Measure(
                least_window_at_loss, bound, "BDP, the least window at a loss",
                ("windows", "drops"), none="nothing is dropped",
            )  # fmt: skip
        case "no-starvation":
            return Measure(ratio_of_flows, bound, "of the other flow", begins_small=True)
        case "no-deadlock":
            return Measure(
                _longest_silence, bound, "round trips, the longest without a delivery",
                ("packets",), least=False,
            )  # fmt: skip
        case "recovery":
            steps = int(claim.value)
            return Measure(
                partial(_recovered, steps=steps), 0.5,
                f"of the capacity in the last two of {steps} round trips", ("packets", "windows"),
            )  # fmt: skip
    raise AssertionError(claim.kind.name)
