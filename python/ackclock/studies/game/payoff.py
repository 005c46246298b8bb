"""What a player gets out of a run: goodput, loss and delay of its flows, joined to one number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.errors import UnsupportedError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

__all__ = ["PAYOFFS", "GameOutcome", "Payoff", "outcome"]


@dataclass(frozen=True)
class GameOutcome:
    """What a player's flows got.

    Parameters
    ----------
    goodput_bps
        Sum over its flows [bit/s].
    loss_ratio
        Data packets lost over sent, in the whole run.
    rtt_s
        Mean round-trip time of its flows' samples, NaN where no flow measures any [s].
    """

    goodput_bps: float
    loss_ratio: float
    rtt_s: float


def outcome(flows: Sequence[Mapping[str, Any]]) -> GameOutcome:
    """Join the flows of a player.

    Parameters
    ----------
    flows
        Rows of a run's summary.
    """
    sent = sum(int(flow["sent_packets"]) for flow in flows)
    lost = sum(int(flow["lost_data_packets"]) for flow in flows)
    rtts = [flow["srtt_mean_s"] for flow in flows if flow.get("srtt_mean_s") is not None]
    return GameOutcome(
        sum(float(flow["goodput_bps"]) for flow in flows),
        lost / sent if sent else 0.0,
        sum(rtts) / len(rtts) if rtts else math.nan,
    )


def _goodput(seen: GameOutcome, weight: float) -> float:
    return seen.goodput_bps / 1e6


def _concave(seen: GameOutcome, weight: float) -> float:
    return math.log(1 + seen.goodput_bps / (weight * 1e6))


def _loss(seen: GameOutcome, weight: float) -> float:
    return seen.goodput_bps / 1e6 * max(0.0, 1 - weight * seen.loss_ratio)


def _delay(seen: GameOutcome, weight: float) -> float:
    if seen.goodput_bps <= 0:
        return -math.inf
    return math.log(seen.goodput_bps / 1e6) - weight * math.log(seen.rtt_s)


PAYOFFS: dict[str, tuple[Callable[[GameOutcome, float], float], float, str]] = {
    "goodput": (_goodput, 1.0, "goodput in Mbit/s: linear in bandwidth"),
    "concave": (_concave, 1.0, "log(1 + goodput / w Mbit/s): the first bits count most"),
    "loss": (
        _loss,
        1.0,
        "goodput x (1 - w loss), at least 0: packets lost are worth less than none",
    ),
    "delay": (_delay, 1.0, "log goodput - w log round-trip time: power, for w = 1"),
}
"""Payoffs by name: function, default of the weight w, formula."""


@dataclass(frozen=True)
class Payoff:
    """A payoff.

    Parameters
    ----------
    kind
        A key of `PAYOFFS`.
    weight
        The w of its formula, above 0; None: its default.
    """

    kind: str = "goodput"
    weight: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in PAYOFFS:
            message = f'game.payoff: there is no payoff "{self.kind}"'
            raise UnsupportedError(f"{message}; {suggestion(self.kind, PAYOFFS)}")
        if self.weight is not None and not (0 < self.weight < math.inf):
            message = f"game.weight is {self.weight}; expected a number above 0"
            raise UnsupportedError(message)

    def __call__(self, seen: GameOutcome) -> float:
        """Value an outcome."""
        function, default, _ = PAYOFFS[self.kind]
        return function(seen, default if self.weight is None else self.weight)
