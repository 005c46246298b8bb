"""What a game comes to: profiles judged, best replies, the price of selfishness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.experiments.statistics import Mean
    from ackclock.studies.game.profiles import Profile

__all__ = ["Findings", "Gain", "GameVerdict"]


@dataclass(frozen=True)
class Gain:
    """What one player of a profile gains by changing its strategy.

    Parameters
    ----------
    left, right
        Names of the strategies.
    gain
        In payoff, of pairs of runs.
    least
        A gain that is worth moving for.
    """

    left: str
    right: str
    gain: Mean
    least: float


@dataclass(frozen=True)
class GameVerdict:
    """A profile of one network.

    Parameters
    ----------
    profile
        Players by strategy.
    payoffs
        Mean payoff of those who play a strategy, by name.
    welfare
        Sum of all payoffs.
    gains
        Every change by one player.
    verdict
        ``equilibrium``: nobody gains. ``left``: somebody gains. ``undecided``: noise allows both.
    """

    profile: Profile
    payoffs: Mapping[str, Mean]
    welfare: Mean
    gains: tuple[Gain, ...]
    verdict: str


class Findings(NamedTuple):
    """What was found in one network; see `ackclock.studies.game.Played` for each."""

    judged: Sequence[GameVerdict]
    replies: Mapping[str, Mapping[str, Mean]]
    price: Mean | None
