"""The summary of a reproduction as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.text_table import table
from ackclock.reproduce.run.standing import STANDINGS
from ackclock.reproduce.run.wording import measured

if TYPE_CHECKING:
    from ackclock.reproduce.run.measure import ClaimResult
    from ackclock.reproduce.run.reproduction import Reproduction

__all__ = ["summary"]

GROUP = 12
"""Claims made from the same file are counted, not listed, if there are more than this."""


def summary(done: Reproduction) -> str:
    """Write what came out.

    Parameters
    ----------
    done
        The reproduction.
    """
    paper = done.paper
    counts = [
        f"{done.count(verdict)} {verdict}"
        for verdict in ("reproduced", "deviates", "not-checkable")
        if done.count(verdict)
    ]
    head = f"{paper.name}, tier {done.tier}: {len(done.claims)} claims, {', '.join(counts)}"
    listed = [claim for claim in done.claims if not _is_many(done, claim)]
    rows = [
        [
            result.claim.id,
            _verdict(result),
            measured(result),
            _short(result.claim.statement, 60),
        ]
        for result in listed
    ]
    parts = [head, table(["claim", "verdict", "measured [95 %]", "statement"], rows, most=1000)]
    files = dict.fromkeys(result.claim.made_from for result in done.claims if result not in listed)
    for file in files:
        own = [result for result in done.claims if result.claim.made_from == file]
        text = ", ".join(
            f"{count} {verdict}"
            for verdict in ("reproduced", "deviates", "not-checkable")
            if (count := sum(result.verdict == verdict for result in own))
        )
        parts.append(f"{len(own)} claims of {file}: {text}")
    standings_ = [f"{count} {name}" for name in STANDINGS if (count := done.count_standing(name))]
    parts.append(f"standings: {', '.join(standings_)}")
    if done.figures:
        drawn = [item.figure.id for item in done.figures if not item.missing]
        others = len(done.figures) - len(drawn)
        text = f"figures: {', '.join(drawn) or 'none'}"
        parts.append(f"{text}; {others} not drawn" if others else text)
    return "\n\n".join(parts)


def _is_many(done: Reproduction, result: ClaimResult) -> bool:
    file = result.claim.made_from
    return bool(file) and sum(other.claim.made_from == file for other in done.claims) > GROUP


def _verdict(result: ClaimResult) -> str:
    return f"{result.verdict} (known)" if result.is_known_deviation else result.verdict


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 3].rstrip() + "..."
