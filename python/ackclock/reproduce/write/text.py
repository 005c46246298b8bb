"""The summary of a reproduction as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.text_table import table
from ackclock.reproduce.run.standing import STANDINGS
from ackclock.reproduce.run.wording import OUTCOMES, describe_orders, measured

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
    errata = sum(result.claim.kind == "E" for result in done.claims)
    head = f"{paper.name}, tier {done.tier}: {_counted(len(done.claims) - errata, 'claim')}"
    head += f" and {_counted(errata, 'erratum', 'errata')}" if errata else ""
    if sum(done.orders[name] for name in OUTCOMES):
        head += f"; {describe_orders(done.orders)}"
    listed = [claim for claim in done.claims if not _is_many(done, claim)]
    rows = [
        [
            result.claim.id,
            _standing(result),
            measured(result),
            _short(result.claim.statement, 60),
        ]
        for result in listed
    ]
    parts = [head, table(["claim", "standing", "measured [95 %]", "statement"], rows, most=1000)]
    files = dict.fromkeys(result.claim.made_from for result in done.claims if result not in listed)
    for file in files:
        rows_of_file = [result for result in done.claims if result.claim.made_from == file]
        text = ", ".join(
            f"{count} {name}"
            for name in STANDINGS
            if (count := sum(_name(result) == name for result in rows_of_file))
        )
        parts.append(f"{len(rows_of_file)} claims of {file}: {text}")
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


def _name(result: ClaimResult) -> str:
    return result.standing.name if result.standing else "not-judged"


def _standing(result: ClaimResult) -> str:
    return f"{_name(result)} (known)" if result.is_known_deviation else _name(result)


def _counted(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 3].rstrip() + "..."
