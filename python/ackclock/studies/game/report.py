"""A game that was played, as text: first what it comes to, then the tables behind it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ackclock._util.text_table import table
from ackclock.studies.game.payoff import PAYOFFS
from ackclock.studies.game.profiles import label

if TYPE_CHECKING:
    from ackclock.studies.game.empirical import Estimate, Judged, Played

__all__ = ["text"]


def text(played: Played) -> str:
    """Write a page about a game.

    Parameters
    ----------
    played
        The game and what came out.
    """
    game = played.game
    parts = [
        f"{game.title}: {game.players} players, payoff {game.payoff.kind}"
        f" ({PAYOFFS[game.payoff.kind][2]}), {game.reps} replications, 95 % intervals"
    ]
    for network in played.seen:
        parts += [_conclusion(played, network), _replies(played, network), _all(played, network)]
    return "\n\n".join(parts)


def _conclusion(played: Played, network: str) -> str:
    judged = played.judged(network)
    names = played.names
    lines = [f"{network}"]
    resting = [one for one in judged if one.verdict == "equilibrium"]
    open_ = [one for one in judged if one.verdict == "undecided"]
    if resting:
        told = "; ".join(label(one.profile, names) for one in resting)
        lines.append(f"  nobody gains by moving from: {told}")
    else:
        lines.append("  no profile is shown to be an equilibrium")
    if open_:
        told = "; ".join(label(one.profile, names) for one in open_)
        lines.append(f"  within noise, perhaps also from: {told}")
    best = max(judged, key=lambda one: one.welfare.mean)
    lines.append(f"  best for all together: {label(best.profile, names)}")
    price = played.price(network)
    if price is not None:
        lines.append(f"  price of selfishness: {_number(price)} (best welfare / worst equilibrium)")
    return "\n".join(lines)


def _replies(played: Played, network: str) -> str:
    rows = []
    for other, row in played.replies(network).items():
        best = max(row, key=lambda name: row[name].mean, default="")
        told = [_number(row[name]) if name in row else "-" for name in played.names]
        rows.append([other, *told, best])
    head = ["all others play", *(f"one plays {name}" for name in played.names), "best reply"]
    return f"{network}: payoff of one player\n{table(head, rows)}"


def _all(played: Played, network: str) -> str:
    rows = []
    for one in played.judged(network):
        told = [_number(one.payoffs[n]) if n in one.payoffs else "-" for n in played.names]
        rows.append(
            [label(one.profile, played.names), *told, _number(one.welfare), one.verdict, _way(one)]
        )
    head = ["profile", *played.names, "sum", "verdict", "largest gain"]
    return f"{network}: payoff by strategy\n{table(head, rows)}"


def _way(one: Judged) -> str:
    """The change that gains most."""
    if not one.gains:
        return "-"
    most = max(one.gains, key=lambda gain: gain.gain.mean)
    return f"{most.left} to {most.right}: {_number(most.gain)}"


def _number(value: Estimate) -> str:
    if math.isnan(value.low):
        return f"{value.mean:.3g}"
    return f"{value.mean:.3g} ± {(value.high - value.low) / 2:.2g}"
