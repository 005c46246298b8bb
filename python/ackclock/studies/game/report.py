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
    from ackclock.studies.game.verdict import Findings, GameVerdict

__all__ = ["text"]


def text(
    head: str,
    payoff: str,
    reps: int,
    names: Sequence[str],
    findings_by_network: Mapping[str, Findings],
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
    findings_by_network
        What came out, by network.
    """
    paragraphs = [
        f"{head}, payoff {payoff} ({PAYOFFS[payoff][2]}), {reps} replications, 95 % intervals"
    ]
    for network, findings in findings_by_network.items():
        paragraphs.append(_conclusion(network, names, findings))
        paragraphs.append(_replies(network, names, findings.replies))
        paragraphs.append(_all(network, names, findings.judged))
    return "\n\n".join(paragraphs)


def _conclusion(network: str, names: Sequence[str], findings: Findings) -> str:
    judged, price = findings.judged, findings.price
    lines = [f"{network}"]
    resting = [
        judged_profile for judged_profile in judged if judged_profile.verdict == "equilibrium"
    ]
    open_ = [judged_profile for judged_profile in judged if judged_profile.verdict == "undecided"]
    if resting:
        profiles = "; ".join(label(judged_profile.profile, names) for judged_profile in resting)
        lines.append(f"  nobody gains by moving from: {profiles}")
    else:
        lines.append("  no profile is shown to be an equilibrium")
    if open_:
        profiles = "; ".join(label(judged_profile.profile, names) for judged_profile in open_)
        lines.append(f"  within noise, perhaps also from: {profiles}")
    best = max(judged, key=lambda judged_profile: judged_profile.welfare.mean)
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


def _all(network: str, names: Sequence[str], judged: Sequence[GameVerdict]) -> str:
    rows = []
    for one in judged:
        cells = [_number(one.payoffs[n]) if n in one.payoffs else "-" for n in names]
        rows.append(
            [label(one.profile, names), *cells, _number(one.welfare), one.verdict, _way(one)]
        )
    head = ["profile", *names, "sum", "verdict", "largest gain"]
    return f"{network}: payoff by strategy\n{table(head, rows)}"


def _way(one: GameVerdict) -> str:
    """The change that gains most."""
    if not one.gains:
        return "-"
    most = max(one.gains, key=lambda gain: gain.gain.mean)
    return f"{most.left} to {most.right}: {_number(most.gain)}"


def _number(value: Mean) -> str:
    return interval(*value, figures=3)
