"""Measures claims: runs their queries and has each number judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.errors import Problem, suggestion
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.read.folder import PaperError
from ackclock.reproduce.run.judge import Part, Verdict, join, judge

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from ackclock.reproduce.paper import Check, Claim
    from ackclock.reproduce.run.database import Database

__all__ = ["ClaimResult", "measure"]


@dataclass(frozen=True)
class ClaimResult:
    """A claim with its verdict and everything that led to it.

    Parameters
    ----------
    claim
        The claim.
    parts
        Numbers in order of checks and parts.
    verdict
        What follows from them.
    reason
        Why, in words.
    """

    claim: Claim
    parts: tuple[Part, ...]
    verdict: Verdict
    reason: str

    @property
    def is_known_deviation(self) -> bool:
        """Whether it deviates and the paper's entry says that it would."""
        return self.verdict == "deviates" and bool(self.claim.known_deviation)

    def to_dict(self) -> dict[str, Any]:
        """The entry of ``claims.json``. Several numbers are tables of part and number."""
        claim, parts = self.claim, self.parts
        several = len(parts) > 1

        def column(name: str) -> Any:
            if not several:
                return getattr(parts[0], name) if parts else None
            return {part.name: getattr(part, name) for part in parts}

        return {
            "id": claim.id,
            "statement": claim.statement,
            "kind": claim.kind,
            "paper": claim.paper,
            "measured": column("measured"),
            "ci_low": column("low"),
            "ci_high": column("high"),
            "tolerance": column("expected"),
            "verdict": self.verdict,
            "reason": self.reason,
            "unstated": list(claim.unstated),
        }


def measure(
    claim: Claim,
    database: Database,
    random: Mapping[str, bool],
    missing: Mapping[str, str],
) -> ClaimResult:
    """Measure a claim.

    Parameters
    ----------
    claim
        The claim.
    database
        Has the tables of the studies.
    random
        Whether a study's seeds matter, by study.
    missing
        Studies that were not run, with the reason.

    Raises
    ------
    PaperError
        A measure is wrong.
    """
    if claim.not_checkable:
        return ClaimResult(claim, (), "not-checkable", claim.not_checkable)
    needed = studies_of(database.paper, *(check.measure for check in claim.checks))
    lost = [f"{missing[name]} (study {name})" for name in needed if name in missing]
    if lost:
        return ClaimResult(claim, (), "not-checkable", "; ".join(lost))
    parts: list[Part] = []
    for check in claim.checks:
        reads = studies_of(database.paper, check.measure)
        found = _parts(claim, check, database, [name for name in reads if random[name]])
        if not found:
            return ClaimResult(claim, (), "not-checkable", _about(check, "measured nothing here"))
        parts += found
    outcome = join([part.outcome for part in parts])
    verdict: Verdict = {"met": "reproduced", "missed": "deviates"}.get(outcome, "not-checkable")  # type: ignore[assignment]
    return ClaimResult(claim, tuple(parts), verdict, _reason(claim, parts, outcome))


def _about(check: Check, what: str) -> str:
    return f"{check.name}: {what}" if check.name else f"the measure {what}"


def _reason(claim: Claim, parts: list[Part], outcome: str) -> str:
    decisive = [part for part in parts if part.outcome == outcome]
    reported = [f"{part.name}: {part.why}" if part.name else part.why for part in decisive[:3]]
    if len(decisive) > len(reported):
        reported.append(f"and {len(decisive) - len(reported)} more")
    if outcome != "met" and len(decisive) < len(parts):
        reported.insert(0, f"{len(decisive)} of {len(parts)} numbers")
    head = "undecided: " if outcome == "undecided" else ""
    text = head + "; ".join(reported)
    if outcome == "missed" and claim.known_deviation:
        text += f". Known: {claim.known_deviation}"
    if outcome == "met" and claim.known_deviation:
        text += ". Listed as a known deviation, which it is not here"
    return text


def _parts(claim: Claim, check: Check, database: Database, random: Collection[str]) -> list[Part]:
    """Judge every part of one check."""
    place = f"{check.place}.measure"

    def wrong(message: str) -> PaperError:
        return PaperError([Problem(place, message, str(claim.file))])

    table = database.query(check.measure, claim.file, place)
    names = table.column_names
    if "value" not in names:
        raise wrong(f'gives no column "value"; it gives {", ".join(names)}')
    has_interval = {"low", "high"} <= set(names)
    if random and "replicate" not in names and not has_interval:
        study = sorted(random)[0]
        raise wrong(
            f'gives no column "replicate", and the study "{study}" is random: without it there is'
            " no interval"
        )
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        groups.setdefault(str(row.get("part", "")), []).append(row)
    parts = []
    for name, rows in groups.items():
        rows.sort(key=lambda row: (row.get("replicate") is None, row.get("replicate") or 0))
        seen = [row.get("replicate") for row in rows]
        if len(set(seen)) < len(seen):
            what = f' of part "{name}"' if name else ""
            raise wrong(f"gives {len(seen)} rows for {len(set(seen))} replicates{what}")
        values = [row["value"] for row in rows]
        _kinds(values, check, wrong)
        given = (rows[0]["low"], rows[0]["high"]) if has_interval else None
        title = ": ".join(word for word in (check.name, name) if word)
        try:
            part = judge(
                title,
                values,
                check.expect,
                rows[0],
                is_exact=not random,
                given=given,
                method=check.interval,
            )
        except KeyError as error:
            hint = suggestion(str(error.args[0]), names)
            raise PaperError(
                [
                    Problem(
                        f"{check.place}.expect",
                        f"the measure has no number in a column {error}; {hint}",
                        str(claim.file),
                    )
                ]
            ) from None
        parts.append(part)
    return parts


def _kinds(values: list[Any], check: Check, wrong: Any) -> None:
    """Truth values go with ``holds``, numbers with all else."""
    import decimal

    truth = "holds" in check.expect
    for place, value in enumerate(values):
        if isinstance(value, decimal.Decimal):
            values[place] = float(value)
        elif value is not None and isinstance(value, bool) != truth:
            expected = "true or false, for holds" if truth else "a number"
            raise wrong(f"has the value {value!r}; expected {expected}")
        elif value is not None and not isinstance(value, bool | int | float):
            raise wrong(f"has the value {value!r}; expected a number")
