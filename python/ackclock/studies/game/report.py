"""A game that was played, as text: first what it comes to, then the tables behind it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.number_text import interval
from ackclock._util.text_table import table
from ackclock.studies.game.payoff import PAYOFFS
from ackclock.studies.game.profiles import label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ackclock.experiments.statistics import Mean
    from ackclock.studies.game.judged import Findings, Judged

__all__ = ["text"]


def text(
    head: str, payoff: str, reps: int, names: Sequence[str], found: Mapping[str, Findings]
) -> str:
    """Write a page about a game.

    Parameters
    ----------
    head
        Title and number of players.
    payoff
        Its kind.
    reps
        Replications of each profile.
    names
        Of the strategies.
    found
        What came out, by network.
    """
    parts = [f"{head}, payoff {payoff} ({PAYOFFS[payoff][2]}), {reps} replications, 95 % intervals"]
    for network, findings in found.items():
        parts.append(_conclusion(network, names, findings))
        parts.append(_replies(network, names, findings.replies))
        parts.append(_all(network, names, findings.judged))
    return "\n\n".join(parts)


def _conclusion(network: str, names: Sequence[str], found: Findings) -> str:
    judged, price = found.judged, found.price
    lines = [f"{network}"]
    resting = [one for one in judged if one.verdict == "equilibrium"]
    open_ = [one for one in judged if one.verdict == "undecided"]
    if resting:
        profiles = "; ".join(label(one.profile, names) for one in resting)
        lines.append(f"  nobody gains by moving from: {profiles}")
    else:
        lines.append("  no profile is shown to be an equilibrium")
    if open_:
        profiles = "; ".join(label(one.profile, names) for one in open_)
        lines.append(f"  within noise, perhaps also from: {profiles}")
    best = max(judged, key=lambda one: one.welfare.mean)
    lines.append(f"  best for all together: {label(best.profile, names)}")
    if price is not None:
        lines.append(f"  price of selfishness: {_number(price)} (best welfare / worst equilibrium)")
    return "\n".join(lines)


def _replies(network: str, names: Sequence[str], replies: Mapping[str, Mapping[str, Mean]]) -> str:
    rows = []
    for other, row in replies.items():
        best = max(row, key=lambda name: row[name].mean, default="")
        cells = [_number(row[name]) if name in row else "-" for name in names]
        rows.append([other, *cells, best])
    head = ["all others play", *(f"one plays {name}" for name in names), "best reply"]
    return f"{network}: payoff of one player\n{table(head, rows)}"


def _all(network: str, names: Sequence[str], judged: Sequence[Judged]) -> str:
    rows = []
    for one in judged:
        cells = [_number(one.payoffs[n]) if n in one.payoffs else "-" for n in names]
        rows.append(
            [label(one.profile, names), *cells, _number(one.welfare), one.verdict, _way(one)]
        )
    head = ["profile", *names, "sum", "verdict", "largest gain"]
    return f"{network}: payoff by strategy\n{table(head, rows)}"


def _way(one: Judged) -> str:
    """The change that gains most."""
    if not one.gains:
        return "-"
    most = max(one.gains, key=lambda gain: gain.gain.mean)
    return f"{most.left} to {most.right}: {_number(most.gain)}"


def _number(value: Mean) -> str:
    return interval(*value, figures=3)
