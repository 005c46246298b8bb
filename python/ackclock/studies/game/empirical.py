"""Plays a game: every profile in every network, and what each player would gain by another choice.

Replicates of all profiles share their random numbers, so gains are differences of pairs.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.experiments.statistics import mean_interval
from ackclock.studies.game.payoff import outcome
from ackclock.studies.game.profiles import deviations, label

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import numpy.typing as npt

    from ackclock.experiments.plan import Plan
    from ackclock.experiments.status_line import Status
    from ackclock.experiments.store import Store
    from ackclock.experiments.sweeps import Sweep
    from ackclock.studies.game.form import Game
    from ackclock.studies.game.profiles import Profile

    Real = npt.NDArray[np.float64]

__all__ = ["Estimate", "Gain", "Judged", "Played", "plan", "play"]


@dataclass(frozen=True)
class Estimate:
    """A mean with the ends of its 95 % interval."""

    mean: float
    low: float
    high: float


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
    gain: Estimate
    least: float


@dataclass(frozen=True)
class Judged:
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
    payoffs: Mapping[str, Estimate]
    welfare: Estimate
    gains: tuple[Gain, ...]
    verdict: str


class Played:
    """A game that was played.

    Parameters
    ----------
    game
        What was played.
    seen
        Payoffs by network, profile, strategy: one per replicate.
    """

    def __init__(
        self, game: Game, seen: Mapping[str, Mapping[Profile, Mapping[int, Real]]]
    ) -> None:
        self.game = game
        self.seen = seen
        self.names = list(game.strategies)

    def judged(self, network: str) -> list[Judged]:
        """Judge every profile that was played in a network.

        Parameters
        ----------
        network
            Its name.
        """
        seen = self.seen[network]
        return [self._judge(seen, profile) for profile in seen]

    def _judge(self, seen: Mapping[Profile, Mapping[int, Real]], profile: Profile) -> Judged:
        gains = tuple(self._gains(seen, profile))
        if any(gain.gain.low > gain.least for gain in gains):
            verdict = "left"
        elif all(gain.gain.high <= gain.least for gain in gains):
            verdict = "equilibrium"
        else:
            verdict = "undecided"
        payoffs = {self.names[s]: _estimate(values) for s, values in seen[profile].items()}
        return Judged(profile, payoffs, _estimate(welfare(seen, profile)), gains, verdict)

    def _gains(
        self, seen: Mapping[Profile, Mapping[int, Real]], profile: Profile
    ) -> Iterator[Gain]:
        for left, right, moved in deviations(profile):
            if moved in seen:
                now, then = seen[profile][left], seen[moved][right]
                least = self.game.tolerance * abs(float(now.mean()))
                yield Gain(self.names[left], self.names[right], _estimate(then - now), least)

    def price(self, network: str) -> Estimate | None:
        """Welfare of the best profile over that of the worst equilibrium; None without one.

        The price of anarchy, of Koutsoupias & Papadimitriou, STACS 1999, for this game. Only for
        payoffs above 0.

        Parameters
        ----------
        network
            Its name.
        """
        judged = self.judged(network)
        resting = [one for one in judged if one.verdict == "equilibrium"]
        if not resting or min(one.welfare.mean for one in judged) <= 0:
            return None
        best = max(judged, key=lambda one: one.welfare.mean).profile
        worst = min(resting, key=lambda one: one.welfare.mean).profile
        seen = self.seen[network]
        return _estimate(welfare(seen, best) / welfare(seen, worst))

    def replies(self, network: str) -> dict[str, dict[str, Estimate]]:
        """Give the payoff of one player while all others play the same.

        Parameters
        ----------
        network
            Its name.

        Returns
        -------
        dict
            By what the others play, by what the one plays.
        """
        seen = self.seen[network]
        found: dict[str, dict[str, Estimate]] = {}
        for other, name in enumerate(self.names):
            row = {}
            for own, own_name in enumerate(self.names):
                profile = [0] * len(self.names)
                profile[other] += self.game.players - 1
                profile[own] += 1
                values = seen.get(tuple(profile))
                if values is not None:
                    row[own_name] = _estimate(values[own])
            found[name] = row
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as plain data, for JSON."""
        networks = {}
        for network in self.seen:
            price = self.price(network)
            networks[network] = {
                "profiles": [
                    {
                        "profile": dict(zip(self.names, one.profile, strict=True)),
                        "verdict": one.verdict,
                        "payoffs": {name: vars(e) for name, e in one.payoffs.items()},
                        "welfare": vars(one.welfare),
                        "gains": [
                            {"from": g.left, "to": g.right, **vars(g.gain), "least": g.least}
                            for g in one.gains
                        ],
                    }
                    for one in self.judged(network)
                ],
                "price_of_selfishness": None if price is None else vars(price),
            }
        game = self.game
        return {
            "title": game.title,
            "players": game.players,
            "payoff": game.payoff.kind,
            "reps": game.reps,
            "strategies": {name: dict(fields) for name, fields in game.strategies.items()},
            "networks": networks,
        }

    def __str__(self) -> str:
        from ackclock.studies.game.report import text

        return text(self)


def welfare(seen: Mapping[Profile, Mapping[int, Real]], profile: Profile) -> Real:
    """Sum of all players' payoffs, by replicate.

    Parameters
    ----------
    seen
        Payoffs by profile and strategy.
    profile
        Which.
    """
    shares = [profile[s] * values for s, values in seen[profile].items()]
    total: Real = np.sum(shares, axis=0)
    return total


def _estimate(values: Real) -> Estimate:
    return Estimate(*mean_interval([float(value) for value in values]))


def _sweep(game: Game) -> Sweep:
    from ackclock.engines.registry import case
    from ackclock.errors import Problem, ScenarioError
    from ackclock.experiments import Axis, sweep

    names = list(game.strategies)
    flows = {label(profile, names): game.flows(profile) for profile in game.profiles}
    document = {**game.scenario, "flows": flows[label(game.profiles[0], names)]}
    try:
        base = case(document, game.file)
    except ScenarioError as error:
        told = [Problem(f"scenario.{p.path}", p.message, p.file) for p in error.problems]
        raise ScenarioError(told) from None
    over = {"profile": Axis("flows", flows)}
    if any(game.networks.values()):
        over["network"] = Axis(None, {name: dict(c) for name, c in game.networks.items()})
    return sweep(base, over, reps=game.reps, name=game.title)


def plan(game: Game, workers: int | None = None, store: Store | None = None) -> Plan:
    """Say how many runs a game needs, and how long they will take.

    Parameters
    ----------
    game
        The game.
    workers
        Runs at a time; left out: one per core.
    store
        If given, runs that it has are counted as done.
    """
    return _sweep(game).plan(workers, store)


def play(
    game: Game,
    *,
    workers: int | None = None,
    cluster: object | None = None,
    store: Store | str | Path | bool | None = None,
    progress: bool | Callable[[Status], object] = True,
    command: str | None = None,
) -> Played:
    """Run every profile in every network.

    Parameters
    ----------
    game
        The game.
    workers, cluster, store, progress, command
        As of `ackclock.experiments.Sweep.run`.

    Raises
    ------
    ScenarioError
        A strategy or a network does not fit the scenario.
    KeyboardInterrupt
        It was stopped; finished runs are in the store.
    """
    result = _sweep(game).run(
        workers=workers, cluster=cluster, store=store, progress=progress, command=command
    )
    if result.interrupted:
        raise KeyboardInterrupt
    by_label = {label(profile, list(game.strategies)): profile for profile in game.profiles}
    first = next(iter(game.networks))
    found: dict[str, dict[Profile, dict[int, dict[int, float]]]] = {
        name: {profile: defaultdict(dict) for profile in game.profiles} for name in game.networks
    }
    profile_of = result.labels("profile")
    network_of = result.labels("network") if "network" in result.axes else [first] * len(profile_of)
    for slot, chosen, network in zip(result.slots, profile_of, network_of, strict=True):
        profile = by_label[str(chosen)]
        players: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
        for flow in result.summaries[slot.key]["flows"]:
            players[int(str(flow["id"])[1:].partition(".")[0])].append(flow)
        payoffs = [game.payoff(outcome(players[player])) for player in range(game.players)]
        begin = 0
        for strategy, count in enumerate(profile):
            if count:
                mean = float(np.mean(payoffs[begin : begin + count]))
                found[str(network)][profile][strategy][slot.replicate] = mean
            begin += count
    seen = {
        network: {
            profile: {
                strategy: np.array([value for _, value in sorted(values.items())])
                for strategy, values in strategies.items()
            }
            for profile, strategies in profiles_.items()
        }
        for network, profiles_ in found.items()
    }
    return Played(game, seen)
