"""Many runs beside theory: how often each law and the engine agree, and where they part."""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass, field
from statistics import median
from typing import TYPE_CHECKING, Any

from ackclock._util.text_table import table
from ackclock.studies.twin.laws import LAWS

if TYPE_CHECKING:
    from ackclock.studies.twin.law import Law
    from ackclock.studies.twin.twin import TheoryRow, Twin

__all__ = ["Count", "TheorySurvey"]

_NUMBER = re.compile(r"\d+(\.\d+)?(e[+-]\d+)?")


@dataclass(frozen=True)
class Count:
    """How a law came out over many runs.

    Parameters
    ----------
    law
        The law.
    agrees
        Predictions within the law's accuracy.
    known
        Predictions that part for something that the law does not know.
    parts
        Predictions that part without a known reason.
    median_deviation
        Of those that agree or part without a reason; NaN if there are none.
    """

    law: Law
    agrees: int
    known: int
    parts: int
    median_deviation: float


@dataclass
class TheorySurvey:
    """Rows of many runs. Printing it gives a table by law and the rows that part.

    Parameters
    ----------
    rows
        Label of the run, and the row.
    runs
        Runs that were compared.
    """

    rows: list[tuple[str, TheoryRow]] = field(default_factory=list)
    runs: int = 0

    def add(self, label: str, twin: Twin) -> None:
        """Add what came out for a run.

        Parameters
        ----------
        label
            Of the run.
        twin
            Its rows.
        """
        self.runs += 1
        self.rows += [(label, row) for row in twin.rows]

    @property
    def counts(self) -> list[Count]:
        """For each law that applied somewhere, in the order of the laws."""
        return [self._count(law) for law in LAWS if any(row.law is law for _, row in self.rows)]

    def _count(self, law: Law) -> Count:
        mine = [row for _, row in self.rows if row.law is law]
        by_verdict = Counter(row.verdict for row in mine)
        sound = [row.deviation for row in mine if row.verdict != "parts, known"]
        return Count(
            law,
            by_verdict["agrees"],
            by_verdict["parts, known"],
            by_verdict["parts"],
            median(sound) if sound else math.nan,
        )

    @property
    def reasons(self) -> list[tuple[str, str, int]]:
        """Law, reason without its numbers, and how often, for predictions that part with one."""
        found = Counter(
            (row.law.name, _NUMBER.sub("N", row.prediction.limit))
            for _, row in self.rows
            if row.verdict == "parts, known"
        )
        order = [law.name for law in LAWS]
        ranked = sorted(found.items(), key=lambda item: (order.index(item[0][0]), -item[1]))
        return [(law, reason, count) for (law, reason), count in ranked]

    @property
    def parted(self) -> list[tuple[str, TheoryRow]]:
        """Label and row of each prediction that parts without a known reason, the worst first."""
        rows = [(label, row) for label, row in self.rows if row.verdict == "parts"]
        return sorted(rows, key=lambda item: -abs(item[1].deviation) / item[1].law.accuracy)

    def to_dict(self) -> dict[str, Any]:
        """Counts by law and all rows as plain data."""
        counts = [
            {"law": c.law.name, "agrees": c.agrees, "known": c.known, "parts": c.parts}
            for c in self.counts
        ]
        rows = [{"run": label, **row.to_dict()} for label, row in self.rows]
        return {"runs": self.runs, "laws": counts, "rows": rows}

    def __str__(self) -> str:
        head = ["law", "agrees", "parts, known", "parts"]
        cells = [[c.law.name, str(c.agrees), str(c.known), str(c.parts)] for c in self.counts]
        parts = [f"- {label}: {row.sentence}." for label, row in self.parted]
        first = f"{self.runs} runs, {len(self.rows)} predictions."
        return "\n".join([first, "", table(head, cells), *([""] if parts else []), *parts])
