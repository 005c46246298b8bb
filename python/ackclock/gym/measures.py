"""What an agent observes of its flow in a step, what it is rewarded for, and what it does."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import UnsupportedError, suggestion

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = [
    "ACTIONS",
    "MOST",
    "OBSERVATION",
    "GymPath",
    "Step",
    "apply",
    "check_action",
    "default_reward",
]

MOST = 10.0
"""Entries of observations are cut here."""

OBSERVATION = (
    "goodput / most that the bottleneck carries of payload",
    "mean RTT / smallest RTT - 1",
    "lost / (lost + delivered)",
    "share of acknowledgements with ECN-Echo",
    "cwnd / bandwidth-delay product",
    "in flight / bandwidth-delay product",
    "duration of the step / base RTT",
)
"""Entries of an observation, each in [0, 10]."""

ACTIONS = ("window-factor", "window", "rate-factor")
"""What an action may be."""


@dataclass(frozen=True)
class GymPath:
    """The path of an agent's flow, without load."""

    rtt_s: float
    bottleneck_bps: float
    bdp_segments: float
    mss_bytes: float

    @property
    def segment_bits(self) -> float:
        """Bits of a full segment on the wire."""
        return self.bottleneck_bps * self.rtt_s / self.bdp_segments


@dataclass(frozen=True)
class Step:
    """What happened to a flow in a step; the environments give it as ``info["step"]``."""

    time_s: float
    """End of the step [s]."""
    duration_s: float
    """Its length [s]; 0 before the flow's first acknowledgement."""
    delivered: int
    """Segments delivered."""
    lost: int
    """Segments that the sender declared lost. The last step of a run also counts those that its
    links had lost and the sender had not noticed."""
    written_off: int
    """Of them, those that a timeout declared lost: all that was under way (RFC 5681), of which some
    may arrive all the same. No sender knows of which while the run goes on."""
    spurious: int
    """In the last step of a run, those of all steps that were declared lost and were not, by what
    the links have counted; 0 before. The `lost` of all steps less this are the run's losses."""
    timeouts: int
    """Expiries of the retransmission timer."""
    rtt_s: float
    """Mean of the RTT samples [s]; NaN if there was none."""
    min_rtt_s: float
    """Smallest RTT of the flow so far [s]; NaN before the first."""
    ecn_share: float
    """Share of acknowledgements with ECN-Echo."""
    cwnd: float
    """Congestion window at the end [segments]."""
    in_flight: int
    """Segments in flight at the end."""
    goodput_bps: float
    """Payload delivered over the length of the step [bit/s], as in the summary of a run."""
    goodput_share: float
    """Goodput over the most that the flow's narrowest link can carry of payload, in full
    segments."""

    @property
    def rtt_inflation(self) -> float:
        """Mean RTT over the smallest, minus 1; 0 without samples."""
        inflation = self.rtt_s / self.min_rtt_s - 1 if self.min_rtt_s > 0 else 0.0
        return 0.0 if math.isnan(inflation) else inflation

    @property
    def loss_ratio(self) -> float:
        """Lost over lost and delivered."""
        return self.lost / max(1, self.lost + self.delivered)

    def observation(self, path: GymPath) -> npt.NDArray[np.float32]:
        """Make the observation: see `OBSERVATION`.

        Parameters
        ----------
        path
            Of the flow.
        """
        values = (
            self.goodput_share,
            self.rtt_inflation,
            self.loss_ratio,
            self.ecn_share,
            self.cwnd / path.bdp_segments,
            self.in_flight / path.bdp_segments,
            self.duration_s / path.rtt_s,
        )
        return np.clip(np.array(values, dtype=np.float32), 0.0, MOST)


def default_reward(step: Step) -> float:
    """Reward goodput, less queueing and loss: G - (R - 1) / 2 - 10 L.

    G is the goodput over the most that the flow's narrowest link can carry of payload, R the mean
    RTT over the smallest, L the share of segments lost. A full link with an empty queue gives 1,
    one with a queue of a bandwidth-delay product 0.5.

    Parameters
    ----------
    step
        What happened.
    """
    return step.goodput_share - 0.5 * step.rtt_inflation - 10.0 * step.loss_ratio


def check_action(name: str) -> str:
    """Check the name of a kind of action.

    Parameters
    ----------
    name
        One of `ACTIONS`.

    Raises
    ------
    UnsupportedError
        There is no such kind.
    """
    if name not in ACTIONS:
        raise UnsupportedError(f'there is no action "{name}"; {suggestion(name, ACTIONS)}')
    return name


def apply(kind: str, value: float, window: Any, path: GymPath, srtt_s: float) -> None:
    """Change a window as an action says.

    Parameters
    ----------
    kind
        ``window-factor``: the window is multiplied by 2 to the value, in [-1, 1]. ``window``: the
        value, in [0, 1], is a window from 1 segment to four bandwidth-delay products, by ratio.
        ``rate-factor``: the pacing rate is multiplied by 2 to the value, in [-1, 1], and the
        window is what two round trips take at it, so that the rate decides.
    value
        Of the action.
    window
        As a user-defined control has it.
    path
        Of the flow.
    srtt_s
        Smoothed RTT [s].
    """
    if kind == "window-factor":
        window.cwnd = min(max(1.0, window.cwnd * 2.0**value), highest(path))
    elif kind == "window":
        window.cwnd = highest(path) ** value
    else:
        rate = window.pacing_bps
        if rate is None:
            rate = window.cwnd * path.segment_bits / srtt_s
        lowest = path.segment_bits / srtt_s
        rate = min(max(lowest, rate * 2.0**value), 4 * path.bottleneck_bps)
        window.pacing_bps = rate
        window.cwnd = max(2.0, 2 * rate * srtt_s / path.segment_bits)
    window.ssthresh = window.cwnd


def highest(path: GymPath) -> float:
    """The largest window that an action sets [segments].

    Parameters
    ----------
    path
        Of the flow.
    """
    return max(4.0, 4 * path.bdp_segments)
