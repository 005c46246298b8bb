"""Puts every law that applies beside what a run shows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import engineering, number, percent
from ackclock._util.text_table import table
from ackclock.studies.twin.laws import LAWS
from ackclock.studies.twin.measurements import TheoryMeasurements

if TYPE_CHECKING:
    from ackclock.results.run import Run
    from ackclock.scenario.scenario import Scenario
    from ackclock.studies.twin.law import Law, Prediction

__all__ = ["TheoryRow", "Twin", "compare"]

_UNITS = {"_bps": "bit/s", "_s": "s"}


@dataclass(frozen=True)
class TheoryRow:
    """A law at one flow or link.

    Parameters
    ----------
    law
        The law.
    prediction
        What it predicts and what was measured.
    """

    law: Law
    prediction: Prediction

    @property
    def deviation(self) -> float:
        """How far the measurement is outside what the law predicts, relative to it; signed."""
        low, high, measured = self.prediction.low, self.prediction.high, self.prediction.measured
        if low <= measured <= high:
            return 0.0
        bound = high if measured > high else low
        return (measured - bound) / bound

    @property
    def agrees(self) -> bool:
        """Whether the deviation is within the law's accuracy."""
        return abs(self.deviation) <= self.law.accuracy

    @property
    def verdict(self) -> str:
        """``agrees``; ``parts, known`` where the law does not know something; or ``parts``."""
        if self.agrees:
            return "agrees"
        return "parts, known" if self.prediction.limit else "parts"

    @property
    def sentence(self) -> str:
        """Where they part, and by how much."""
        side = "above" if self.deviation > 0 else "below"
        reason = f": {self.prediction.limit}" if self.prediction.limit else "; no reason is known"
        part = percent(abs(self.deviation))
        return f"{self.prediction.subject}: {part} {side} the law {self.law.name}{reason}"

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "subject": self.prediction.subject,
            "law": self.law.name,
            "quantity": self.law.quantity,
            "low": self.prediction.low,
            "high": self.prediction.high,
            "measured": self.prediction.measured,
            "deviation": self.deviation,
            "accuracy": self.law.accuracy,
            "verdict": self.verdict,
            "limit": self.prediction.limit,
            "source": self.law.source,
        }


class Twin:
    """A run beside theory. Printing it gives the table and a sentence for each row that parts.

    Parameters
    ----------
    rows
        Law by law.
    """

    def __init__(self, rows: list[TheoryRow]) -> None:
        self.rows = rows

    def to_dict(self) -> dict[str, Any]:
        """All rows as plain data."""
        return {"rows": [row.to_dict() for row in self.rows]}

    def __str__(self) -> str:
        if not self.rows:
            return "No law applies to this run."
        agree = sum(row.agrees for row in self.rows)
        head = ["subject", "law", "quantity", "predicted", "measured", "deviation", "verdict"]
        cells = [
            [
                row.prediction.subject,
                row.law.name,
                row.law.quantity,
                _write_range(row.law.quantity, row.prediction.low, row.prediction.high),
                _write_range(row.law.quantity, row.prediction.measured, row.prediction.measured),
                f"{100 * row.deviation:+.0f} %",
                row.verdict,
            ]
            for row in self.rows
        ]
        disagreements = [f"- {row.sentence}." for row in self.rows if not row.agrees]
        first = f"{agree} of {len(self.rows)} predictions agree with the run within their accuracy."
        return "\n".join(
            [first, "", table(head, cells), *([""] if disagreements else []), *disagreements]
        )


def _write_range(quantity: str, low: float, high: float) -> str:
    unit = next((unit for ending, unit in _UNITS.items() if quantity.endswith(ending)), "")
    one = (lambda v: engineering(v, unit)) if unit else number
    return one(low) if low == high else f"{one(low)} to {one(high)}"


def compare(scenario: Scenario, run: Run | None = None) -> Twin:
    """Put every law that applies beside what a run shows.

    Parameters
    ----------
    scenario
        The scenario.
    run
        Its run; left out: it is run.
    """
    measurements = TheoryMeasurements(scenario, scenario.run() if run is None else run)
    return Twin(
        [TheoryRow(law, prediction) for law in LAWS for prediction in law.predict(measurements)]
    )
