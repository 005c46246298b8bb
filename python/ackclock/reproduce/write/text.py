"""The summary of a reproduction as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.text_table import table
from ackclock.reproduce.run.standing import STANDINGS
from ackclock.reproduce.run.wording import OUTCOMES, describe_orders, write_measured

if TYPE_CHECKING:
    from ackclock.reproduce.run.measure import ClaimResult
    from ackclock.reproduce.run.reproduction import Reproduction

__all__ = ["summary"]

GROUP = 12
"""Claims made from the same file are counted, not listed, if there are more than this."""


def summary(reproduction: Reproduction) -> str:
    """Write what came out.

    Parameters
    ----------
    reproduction
        The reproduction.
    """
    paper = reproduction.paper
    errata = sum(result.claim.kind == "E" for result in reproduction.claims)
    claims = _write_count(len(reproduction.claims) - errata, "claim")
    head = f"{paper.name}, tier {reproduction.tier}: {claims}"
    head += f" and {_write_count(errata, 'erratum', 'errata')}" if errata else ""
    if sum(reproduction.orders[name] for name in OUTCOMES):
        head += f"; {describe_orders(reproduction.orders)}"
    single_claims = [claim for claim in reproduction.claims if not _is_many(reproduction, claim)]
    rows = [
        [
            result.claim.id,
            _standing(result),
            write_measured(result),
            _short(result.claim.statement, 60),
        ]
        for result in single_claims
    ]
    paragraphs = [
        head,
        table(["claim", "standing", "measured [95 %]", "statement"], rows, most=1000),
    ]
    files = dict.fromkeys(
        result.claim.made_from for result in reproduction.claims if result not in single_claims
    )
    for file in files:
        rows_of_file = [result for result in reproduction.claims if result.claim.made_from == file]
        text = ", ".join(
            f"{count} {name}"
            for name in STANDINGS
            if (count := sum(_name(result) == name for result in rows_of_file))
        )
        paragraphs.append(f"{len(rows_of_file)} claims of {file}: {text}")
    standings_ = [
        f"{count} {name}" for name in STANDINGS if (count := reproduction.count_standing(name))
    ]
    paragraphs.append(f"standings: {', '.join(standings_)}")
    if reproduction.figures:
        drawn_ids = [item.figure.id for item in reproduction.figures if not item.missing]
        missing_count = len(reproduction.figures) - len(drawn_ids)
        text = f"figures: {', '.join(drawn_ids) or 'none'}"
        paragraphs.append(f"{text}; {missing_count} not drawn" if missing_count else text)
    return "\n\n".join(paragraphs)


def _is_many(done: Reproduction, result: ClaimResult) -> bool:
    file = result.claim.made_from
    return bool(file) and sum(other.claim.made_from == file for other in done.claims) > GROUP


def _name(result: ClaimResult) -> str:
    return result.standing.name if result.standing else "not-judged"


def _standing(result: ClaimResult) -> str:
    return f"{_name(result)} (known)" if result.is_known_deviation else _name(result)


def _write_count(count: int, one: str, many: str = "") -> str:
    return f"{count} {one if count == 1 else many or one + 's'}"


def _short(words: str, most: int) -> str:
    return words if len(words) <= most else words[: most - 3].rstrip() + "..."
