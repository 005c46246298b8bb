"""Measures claims: runs their queries and has each number judged."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ackclock.errors import Problem, suggestion
from ackclock.reproduce.check.crosscheck import studies_of
from ackclock.reproduce.read.folder import PaperError
from ackclock.reproduce.run.estimates import Spread, half_width, rank_correlation
from ackclock.reproduce.run.judge import (
    Outcome,
    Part,
    Verdict,
    compare,
    confidence_of,
    join,
    judge,
    target,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from ackclock.reproduce.paper import Check, Claim
    from ackclock.reproduce.run.database import Database
    from ackclock.reproduce.run.standing import Standing

__all__ = ["ClaimResult", "Evaluated", "evaluate"]

NOTHING = "measured nothing here"


@dataclass(frozen=True)
class ClaimResult:
    """A claim with its verdict and everything that led to it.

    Parameters
    ----------
    claim
        The claim.
    results
        Numbers in order of checks and parts.
    verdict
        What follows from them.
    reason
        Why, in words.
    """

    claim: Claim
    results: tuple[Part, ...]
    verdict: Verdict
    reason: str
    outcome: Outcome | None = None
    reading: Mapping[str, str] = field(default_factory=dict)
    is_exact: bool = False
    standing: Standing | None = None

    @property
    def deciding(self) -> Part | None:
        """The number that decides: the first that is missed, else undecided, else met."""
        order = {"missed": 0, "undecided": 1, "met": 2}
        parts = [part for part in self.results if not part.ours]
        return min(parts, key=lambda part: order[part.outcome], default=None)

    @property
    def orders(self) -> dict[str, int]:
        """How many of its deciding numbers are met, missed, undecided; and how many are ``right``.

        `right` counts estimates that are where they are expected, whatever their intervals.
        """
        numbers = [number for number in self.results if not number.ours]
        counts = dict.fromkeys(("met", "missed", "undecided", "right"), 0)
        for number in numbers:
            counts[number.outcome] += 1
            counts["right"] += number.is_right
        return counts

    @property
    def is_known_deviation(self) -> bool:
        """Whether it deviates and the paper's entry says that it would."""
        return self.verdict == "deviates" and bool(self.claim.known_deviation)

    def to_dict(self) -> dict[str, Any]:
        """The entry of ``claims.json``. Several numbers are tables of part and number."""
        claim, numbers, standing = self.claim, self.results, self.standing
        several = len(numbers) > 1
        deciding = self.deciding

        def column(name: str) -> Any:
            if not several:
                return getattr(numbers[0], name) if numbers else None
            return {number.name: getattr(number, name) for number in numbers}

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
            "orders": self.orders,
            "decided_by": deciding.name if deciding else None,
            "reason": self.reason,
            "unstated": list(claim.unstated),
            "reading": dict(self.reading),
            "standing": standing.name if standing else None,
            "standing_reason": standing.reason if standing else "",
            "share": standing.share if standing else None,
            "decides": list(standing.decides) if standing else [],
        }


@dataclass(frozen=True)
class Evaluated:
    """A claim with all its numbers, under every reading.

    Parameters
    ----------
    claim
        The claim.
    checks
        Each check with its numbers.
    unjudged
        Why nothing was measured; empty if something was.
    is_exact
        Nothing random is behind any number that decides.
    unmeasured
        Checks of some reading alone that measured nothing, as where the tier leaves that out: under
        this reading the claim is not judged.
    """

    claim: Claim
    checks: tuple[tuple[Check, tuple[Part, ...]], ...] = ()
    unjudged: str = ""
    is_exact: bool = False
    unmeasured: tuple[Check, ...] = ()

    def outcome(self, reading: Mapping[str, str]) -> Outcome | None:
        """What its deciding numbers say under a choice of readings; None if there are none.

        Parameters
        ----------
        reading
            Option by reading.
        """
        if any(check.counts(reading) for check in self.unmeasured):
            return None
        deciding = [number.outcome for number in self.parts(reading) if not number.ours]
        return join(deciding) if deciding and not self.unjudged else None

    def parts(self, chosen: Mapping[str, str]) -> list[Part]:
        """Its numbers under a choice of readings.

        Parameters
        ----------
        chosen
            Option by reading.
        """
        return [part for check, parts in self.checks if check.counts(chosen) for part in parts]

    def result(self, reading: Mapping[str, str]) -> ClaimResult:
        """The claim's verdict under a choice of readings.

        Parameters
        ----------
        reading
            Option by reading.
        """
        outcome = self.outcome(reading)
        if outcome is None:
            lacking = [check for check in self.unmeasured if check.counts(reading)]
            why = self.unjudged or _about(lacking[0], NOTHING) if lacking else self.unjudged
            return ClaimResult(self.claim, (), "not-checkable", why)
        numbers = self.parts(reading)
        verdict: Verdict = {"met": "reproduced", "missed": "deviates"}.get(outcome, "not-checkable")  # type: ignore[assignment]
        return ClaimResult(
            self.claim,
            tuple(numbers),
            verdict,
            _reason(self.claim, [number for number in numbers if not number.ours], outcome),
            outcome,
            {name: reading[name] for name in self.claim.readings if name in reading},
            self.is_exact,
        )


def evaluate(
    claim: Claim,
    database: Database,
    random: Mapping[str, bool],
    missing: Mapping[str, str],
    tier: str = "full",
    *,
    looks: Mapping[str, int] | None = None,
    fixed: Database | None = None,
) -> Evaluated:
    """Measure a claim under each of its readings.

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
    tier
        ``fast`` or ``full``.
    looks
        How often the numbers of a study may be judged, by study; left out: once.
    fixed
        Has of each study the points alone whose seeds give one and the same run.

    Raises
    ------
    PaperError
        A measure is wrong.
    """
    if claim.same_as:
        return Evaluated(claim, unjudged=f"judged as {' and '.join(claim.same_as)}")
    if claim.not_checkable:
        return Evaluated(claim, unjudged=claim.not_checkable)
    if claim.full_only and tier == "fast":
        return Evaluated(claim, unjudged=f"not judged in this tier: {claim.full_only}")
    needed = studies_of(database.paper, *(check.measure for check in claim.checks))
    lost = [f"{missing[name]} (study {name})" for name in needed if name in missing]
    if lost:
        return Evaluated(claim, unjudged="; ".join(lost))
    checks, unmeasured = [], []
    for check in claim.checks:
        reads = studies_of(database.paper, check.measure)
        changing = [name for name in reads if random[name]]
        most = max((looks.get(name, 1) for name in changing), default=1) if looks else 1
        numbers = _parts(claim, check, database, changing, most, fixed)
        if not numbers and check.reading:
            unmeasured.append(check)
            continue
        if not numbers:
            return Evaluated(claim, unjudged=_about(check, NOTHING))
        checks.append((check, tuple(replace(number, ours=bool(check.ours)) for number in numbers)))
    if not checks and unmeasured:
        return Evaluated(claim, unjudged=_about(unmeasured[0], NOTHING))
    deciding = [check.measure for check in claim.checks if not check.ours]
    is_exact = not any(random[name] for name in studies_of(database.paper, *deciding))
    return Evaluated(claim, tuple(checks), is_exact=is_exact, unmeasured=tuple(unmeasured))


def _about(check: Check, what: str) -> str:
    return f"{check.name}: {what}" if check.name else f"the measure {what}"


def _reason(claim: Claim, numbers: list[Part], outcome: str) -> str:
    decisive = [number for number in numbers if number.outcome == outcome]
    reported = [
        f"{number.name}: {number.why}" if number.name else number.why for number in decisive[:3]
    ]
    if len(decisive) > len(reported):
        reported.append(f"and {len(decisive) - len(reported)} more")
    if outcome != "met" and len(decisive) < len(numbers):
        reported.insert(0, f"{len(decisive)} of {len(numbers)} numbers")
    head = "undecided: " if outcome == "undecided" else ""
    text = head + "; ".join(reported)
    if outcome == "missed" and claim.known_deviation:
        text += f". Known: {claim.known_deviation}"
    if outcome == "met" and claim.known_deviation:
        text += ". Listed as a known deviation, which it is not here"
    return text


def _parts(
    claim: Claim,
    check: Check,
    database: Database,
    random: Collection[str],
    looks: int,
    fixed: Database | None,
) -> list[Part]:
    """Judge every part of one check."""
    key_path = f"{check.path}.measure"

    def wrong(message: str) -> PaperError:
        return PaperError([Problem(key_path, message, str(claim.file))])

    table = database.query(check.measure, claim.file, key_path)
    names = table.column_names
    is_ranked = check.statistic == "spearman"
    for column in ("at", "x", "y") if is_ranked else ("value",):
        if column not in names:
            raise wrong(f'gives no column "{column}"; it gives {", ".join(names)}')
    has_interval = {"low", "high"} <= set(names)
    if random and "replicate" not in names and not has_interval:
        study = sorted(random)[0]
        raise wrong(
            f'gives no column "replicate", and the study "{study}" is random: without it there is'
            " no interval"
        )
    groups = _by_part(table)
    unchanging = _unchanging(claim, check, fixed) if random and not is_ranked else {}
    numbers = []
    for name, rows in groups.items():
        keys = [(row.get("replicate"), row.get("at") if is_ranked else None) for row in rows]
        if len(set(keys)) < len(keys):
            part_text = f' of part "{name}"' if name else ""
            raise wrong(f"gives {len(keys)} rows for {len(set(keys))} replicates{part_text}")
        title = ": ".join(word for word in (check.name, name) if word)
        try:
            is_one_run = (
                not is_ranked
                and len(rows) > 1
                and unchanging.get(name) == [row["value"] for row in rows]
            )
            is_exact = not random or is_one_run
            number = _part(title, check, rows, wrong, is_exact=is_exact, looks=looks)
        except KeyError as error:
            hint = suggestion(str(error.args[0]), names)
            raise PaperError(
                [
                    Problem(
                        f"{check.path}.expect",
                        f"the measure has no number in a column {error}; {hint}",
                        str(claim.file),
                    )
                ]
            ) from None
        numbers.append(number)
    return numbers


def _by_part(table: Any) -> dict[str, list[dict[str, Any]]]:
    """Rows of each part, in the order of replicates."""
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in table.to_pylist():
        groups.setdefault(str(row.get("part", "")), []).append(row)
    for rows in groups.values():
        rows.sort(key=lambda row: (row.get("replicate") is None, row.get("replicate") or 0))
    return groups


def _unchanging(claim: Claim, check: Check, fixed: Database | None) -> dict[str, list[Any]]:
    """Equal values of parts that come out of points alone whose seeds give one and the same run."""
    if fixed is None:
        return {}
    try:
        table = fixed.query(check.measure, claim.file, f"{check.path}.measure")
    except PaperError:
        return {}
    values_by_part = {}
    for name, rows in _by_part(table).items():
        values = [row["value"] for row in rows]
        if len(set(values)) == 1 and values[0] is not None:
            values_by_part[name] = values
    return values_by_part


def _part(
    title: str,
    check: Check,
    rows: Sequence[dict[str, Any]],
    wrong: Any,
    *,
    is_exact: bool,
    looks: int,
) -> Part:
    """Judge the rows of one part."""
    first = rows[0]
    if check.statistic == "spearman":
        is_whole = is_exact or check.is_design
        estimate = rank_correlation(rows, confidence_of(looks), is_exact=is_whole)
        count = len({row.get("replicate") for row in rows})
        return compare(title, estimate, count, target(check.expect, first), looks)
    values = [row["value"] for row in rows]
    _kinds(values, check, wrong)
    if check.statistic == "half-width" and None not in values:
        is_sample = not (is_exact or check.is_design)
        estimate = half_width(values, check.ran, confidence_of(looks), is_sample=is_sample)
        judgement = compare(title, estimate, len(values), target(check.expect, first), looks)
        return replace(judgement, is_exact=is_exact, is_design=check.is_design)
    # A query that computes an interval over replicates has none of one.
    low, high = first.get("low"), first.get("high")
    query_interval = None if low is None or high is None else (float(low), float(high))
    pooled = {"spread", "freedom"} <= set(first) and first["spread"] is not None
    judgement = judge(
        title,
        values,
        check.expect,
        first,
        is_exact=is_exact,
        query_interval=query_interval,
        method=check.interval,
        ran=check.ran,
        spread=Spread(float(first["spread"]), float(first["freedom"])) if pooled else None,
        looks=looks,
        is_design=check.is_design,
    )
    return replace(judgement, values=tuple(None if v is None else float(v) for v in values))


def _kinds(values: list[Any], check: Check, wrong: Any) -> None:
    """Truth values go with ``holds``, numbers with all else."""
    import decimal

    truth = "holds" in check.expect
    for index, value in enumerate(values):
        if isinstance(value, decimal.Decimal):
            values[index] = float(value)
        elif value is not None and isinstance(value, bool) != truth:
            expected = "true or false, for holds" if truth else "a number"
            raise wrong(f"has the value {value!r}; expected {expected}")
        elif value is not None and not isinstance(value, bool | int | float):
            raise wrong(f"has the value {value!r}; expected a number")
