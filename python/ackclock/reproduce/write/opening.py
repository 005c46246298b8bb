"""The first page of a report: what a paper says, what holds and what does not, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.number_text import bounds
from ackclock.reproduce.run.wording import describe_orders

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.reproduce.run.measure import ClaimResult
    from ackclock.reproduce.run.reproduction import Reproduction

__all__ = ["sentences"]

LONGEST = 220
"""Characters of a statement that is quoted."""


def sentences(reproduction: Reproduction) -> list[str]:
    """Write up to ten sentences, each with numbers of this run.

    Parameters
    ----------
    reproduction
        The reproduction.
    """
    claims = [result for result in reproduction.claims if result.claim.kind != "E"]
    errata = [result for result in reproduction.claims if result.claim.kind == "E"]
    judged = [result for result in claims if result.outcome is not None]
    repeated = len(_of(claims, "repeats"))
    again = f" ({repeated} repeat{'s' * (repeated == 1)} others)" if repeated else ""
    opening = [
        f"{len(claims)} claims of the paper are listed here{again}, of which {len(judged)} were"
        f" judged in tier {reproduction.tier}, from {_runs(reproduction)}:"
        f" {describe_orders(reproduction.orders)}."
    ]
    holds = _of(judged, "holds")
    opening.append(
        f"{_count(holds, 'holds', 'hold')} at the default settings{_name_claims(holds)}."
    )
    opening += [
        sentence
        for sentence in (
            _example(holds, "For instance"),
            _group(_of(judged, "holds-inferred"), "holds", "hold",
                   "at the settings inferred from the paper's own numbers, on seeds that the search"
                   " did not see"),
            _shares(_of(judged, "undetermined")),
            _group(_of(judged, "paper-error"), "is", "are",
                   "shown to be the paper's own error by arithmetic, a closed form or a bound"),
            _group(_of(judged, "not-public"), "rests", "rest",
                   "on data that nobody outside had, and is not met with a substitute"),
            _group(_of(judged, "open"), "is", "are",
                   "open: not met, and why is not known"),
            _example(_of(judged, "open"), "Of the open ones"),
            _errata(errata),
        )
        if sentence
    ]  # fmt: skip
    return opening


def _runs(done: Reproduction) -> str:
    runs = sum(int(study.provenance.get("runs", 0)) for study in done.studies.values())
    return f"{runs:,} runs of {len(done.studies)} studies"


def _of(results: Sequence[ClaimResult], name: str) -> list[ClaimResult]:
    return [r for r in results if r.standing is not None and r.standing.name == name]


def _count(results: Sequence[ClaimResult], one: str, many: str) -> str:
    return f"{len(results)} {one if len(results) == 1 else many}"


def _name_claims(results: Sequence[ClaimResult], most: int = 12) -> str:
    """Ids of claims; those made from a file are counted."""
    ids = [result.claim.id for result in results if not result.claim.made_from]
    rows = len(results) - len(ids)
    words = [*ids[:most], *([f"{len(ids) - most} more"] if len(ids) > most else [])]
    words += [f"{rows} rows of a table"] if rows else []
    return f" ({', '.join(words)})" if words else ""


def _group(results: Sequence[ClaimResult], one: str, many: str, what: str) -> str:
    return f"{_count(results, one, many)} {what}{_name_claims(results)}." if results else ""


def _shares(results: Sequence[ClaimResult]) -> str:
    if not results:
        return ""
    parts = [_share(result) for result in results[:8]]
    more = f", and {len(results) - 8} more" if len(results) > 8 else ""
    head = _count(results, "is", "are")
    return (
        f"{head} not determined by what the paper states: met in a part of the plausible settings,"
        f" {', '.join(parts)}{more}."
    )


def _share(result: ClaimResult) -> str:
    standing = result.standing
    if standing is None or standing.share is None:
        return f"{result.claim.id} at the best one alone"
    decides = f" ({', '.join(standing.decides)} decide)" if standing.decides else ""
    return f"{result.claim.id} in {standing.share:.0%}{decides}"


def _example(results: Sequence[ClaimResult], head: str) -> str:
    """The first number among claims, with what was measured and expected."""
    for result in results:
        deciding = result.deciding
        if result.claim.kind != "N" or deciding is None or deciding.measured is None:
            continue
        unit = next((check.unit for check in result.claim.checks if check.unit), "")
        statement = result.claim.statement
        statement = statement if len(statement) <= LONGEST else statement[:LONGEST].rstrip() + "..."
        number = f"{bounds(deciding.measured, deciding.low, deciding.high)} {unit}".strip()
        quoted = f"{result.claim.id}, \u201c{statement}\u201d"
        return f"{head}, {quoted}: measured {number}, expected {deciding.expected}."
    return ""


def _errata(errata: Sequence[ClaimResult]) -> str:
    found = _of(errata, "erratum")
    if not found:
        return ""
    what = _count(found, "error was", "errors were")
    return f"{what} found in the paper itself{_name_claims(found)}."
