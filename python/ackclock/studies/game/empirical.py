"""Plays a game: every profile in every network, and what each player would gain by another choice.

Replicates of all profiles share their random numbers, so gains are differences of pairs.
"""

from __future__ import annotations

import math
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.experiments.statistics import Mean, holm, mean_p_value
from ackclock.studies.game.payoff import outcome
from ackclock.studies.game.profiles import deviations, label
from ackclock.studies.game.verdict import Findings, Gain, GameVerdict

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

__all__ = ["Played", "plan", "play"]


class Played:
    """A game that was played.

    Parameters
    ----------
    game
        What was played.
    payoffs
        Payoffs by network, profile, strategy: one per replicate.
    """

    def __init__(
        self, game: Game, payoffs: Mapping[str, Mapping[Profile, Mapping[int, Real]]]
    ) -> None:
        self.game = game
        self.payoffs = payoffs
        self.names = list(game.strategies)

    def judge_profiles(self, network: str) -> list[GameVerdict]:
        """Judge every profile that was played in a network.

        Parameters
        ----------
        network
            Its name.
        """
        payoffs = self.payoffs[network]
        return [self._judge(payoffs, profile) for profile in payoffs]

    def _judge(
        self, payoffs_of_profile: Mapping[Profile, Mapping[int, Real]], profile: Profile
    ) -> GameVerdict:
        gain_values = list(self._gains(payoffs_of_profile, profile))
        gains = tuple(gain for gain, _ in gain_values)
        # Of several changes that gain nothing one seems to by chance: all are judged together.
        gaining = holm([p_value for _, p_value in gain_values])
        if any(
            above and gain.gain.mean > gain.least
            for gain, above in zip(gains, gaining, strict=True)
        ):
            verdict = "left"
        elif all(gain.gain.high <= gain.least for gain in gains):
            verdict = "equilibrium"
        else:
            verdict = "undecided"
        payoffs = {
            self.names[s]: Mean.of(values) for s, values in payoffs_of_profile[profile].items()
        }
        return GameVerdict(
            profile, payoffs, Mean.of(welfare(payoffs_of_profile, profile)), gains, verdict
        )

    def _gains(
        self, payoffs: Mapping[Profile, Mapping[int, Real]], profile: Profile
    ) -> Iterator[tuple[Gain, float]]:
        """What each change gains, and the p-value of the gain that one bears."""
        for left, right, moved in deviations(profile):
            if moved in payoffs:
                now, then = payoffs[profile][left], payoffs[moved][right]
                least = self.game.tolerance * abs(float(now.mean()))
                gain = Gain(self.names[left], self.names[right], Mean.of(then - now), least)
                yield gain, mean_p_value(list(then - now), least)

    def price(self, network: str) -> Mean | None:
        """Welfare of the best profile over that of the worst equilibrium; None without one.

        The price of anarchy, of Koutsoupias & Papadimitriou, STACS 1999, for this game. Only for
        payoffs above 0. Which profiles these are is chosen by every second replicate, and the
        price is that of the others, its interval that of its logarithm; with one replicate the
        choice is its own.

        Parameters
        ----------
        network
            Its name.
        """
        judged = self.judge_profiles(network)
        resting = [
            judged_profile for judged_profile in judged if judged_profile.verdict == "equilibrium"
        ]
        if not resting or min(judged_profile.welfare.mean for judged_profile in judged) <= 0:
            return None
        payoffs_of_profile = self.payoffs[network]

        def chosen_by(judged_profile: GameVerdict) -> float:
            values = welfare(payoffs_of_profile, judged_profile.profile)
            return float((values[1::2] if len(values) > 1 else values).mean())

        best = max(judged, key=chosen_by).profile
        worst = min(resting, key=chosen_by).profile
        ratios = (welfare(payoffs_of_profile, best) / welfare(payoffs_of_profile, worst))[::2]
        if not (ratios > 0).all():
            return Mean.of(ratios)
        return Mean(*(math.exp(end) for end in Mean.of(np.log(ratios))))

    def replies(self, network: str) -> dict[str, dict[str, Mean]]:
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
        payoffs_of_profile = self.payoffs[network]
        reply_of_name: dict[str, dict[str, Mean]] = {}
        for other, name in enumerate(self.names):
            row = {}
            for strategy, own_name in enumerate(self.names):
                profile = [0] * len(self.names)
                profile[other] += self.game.players - 1
                profile[strategy] += 1
                values = payoffs_of_profile.get(tuple(profile))
                if values is not None:
                    row[own_name] = Mean.of(values[strategy])
            reply_of_name[name] = row
        return reply_of_name

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as plain data, for JSON."""
        networks = {}
        for network in self.payoffs:
            price = self.price(network)
            networks[network] = {
                "profiles": [
                    {
                        "profile": dict(zip(self.names, judged_profile.profile, strict=True)),
                        "verdict": judged_profile.verdict,
                        "payoffs": {
                            name: e._asdict() for name, e in judged_profile.payoffs.items()
                        },
                        "welfare": judged_profile.welfare._asdict(),
                        "gains": [
                            {"from": g.left, "to": g.right, **g.gain._asdict(), "least": g.least}
                            for g in judged_profile.gains
                        ],
                    }
                    for judged_profile in self.judge_profiles(network)
                ],
                "price_of_selfishness": None if price is None else price._asdict(),
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

        game = self.game
        found = {
            network: Findings(
                self.judge_profiles(network), self.replies(network), self.price(network)
            )
            for network in self.payoffs
        }
        head = f"{game.title}: {game.players} players"
        return text(head, game.payoff.kind, game.reps, self.names, found)


def welfare(payoffs_of_profile: Mapping[Profile, Mapping[int, Real]], profile: Profile) -> Real:
    """Sum of all players' payoffs, by replicate.

    Parameters
    ----------
    payoffs_of_profile
        Payoffs by profile and strategy.
    profile
        Which.
    """
    shares = [profile[s] * values for s, values in payoffs_of_profile[profile].items()]
    total: Real = np.sum(shares, axis=0)
    return total


def _sweep(game: Game) -> Sweep:
    from ackclock._util.documents import Typed
    from ackclock.engines.registry import case
    from ackclock.errors import Problem, ScenarioError
    from ackclock.experiments import Axis, sweep

    names = list(game.strategies)
    flows = {label(profile, names): game.flows(profile) for profile in game.profiles}
    document = {**game.scenario, "flows": flows[label(game.profiles[0], names)]}
    if isinstance(game.scenario, Typed):
        document = Typed(document)
    try:
        base = case(document, game.file)
    except ScenarioError as error:
        reported = [Problem(f"scenario.{p.path}", p.message, p.file) for p in error.problems]
        raise ScenarioError(reported) from None
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
    samples: dict[str, dict[Profile, dict[int, dict[int, float]]]] = {
        name: {profile: defaultdict(dict) for profile in game.profiles} for name in game.networks
    }
    profile_of = result.labels("profile")
    network_of = result.labels("network") if "network" in result.axes else [first] * len(profile_of)
    for slot, profile_label, network in zip(result.slots, profile_of, network_of, strict=True):
        profile = by_label[str(profile_label)]
        players: dict[int, list[Mapping[str, Any]]] = defaultdict(list)
        for flow in result.summaries[slot.key]["flows"]:
            players[int(str(flow["id"])[1:].partition(".")[0])].append(flow)
        payoffs = [game.payoff(outcome(players[player])) for player in range(game.players)]
        begin = 0
        for strategy, count in enumerate(profile):
            if count:
                mean = float(np.mean(payoffs[begin : begin + count]))
                samples[str(network)][profile][strategy][slot.replicate] = mean
            begin += count
    payoffs_by_network = {
        network: {
            profile: {
                strategy: np.array([value for _, value in sorted(values.items())])
                for strategy, values in strategies.items()
            }
            for profile, strategies in profiles_.items()
        }
        for network, profiles_ in samples.items()
    }
    return Played(game, payoffs_by_network)
