"""A finished comparison: a page of text, a folder with the report and each control's dossier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.dossier.compare import Compared
from ackclock.dossier.finding import Finding, command_of, origin
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.dossier.compare import ControlDifference

__all__ = ["ControlComparison"]


@dataclass(frozen=True)
class ControlComparison(Compared, StudyOutcome):
    """What was found of several controls. Printing it gives the page."""

    MARKER = "comparison.json"
    PAGE = "report.html"

    @property
    def command(self) -> str:
        """What gives this again."""
        return command_of("compare", [one.task for one in self.results])

    def __str__(self) -> str:
        from ackclock.dossier.write.comparison_page import page

        return page(self)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data; ``ackclock schema comparison`` prints its form."""
        from ackclock.dossier.write.comparison_page import sentences

        task = self.results[0].task
        return {
            "comparison": 1,
            **origin(task),
            "command": self.command,
            "runs": sum(results.runs for results in self.results),
            "cpu_s": sum(results.cpu_s for results in self.results),
            "pairs": [
                {
                    "controls": list(pair.names),
                    "compared": len(pair.differences),
                    "better": {name: len(pair.wins(i)) for i, name in enumerate(pair.names)},
                    "sentences": sentences(self, pair),
                    "differences": [
                        _difference(difference, pair.names) for difference in pair.differences
                    ],
                }
                for pair in self.pairs
            ],
            "dossiers": [Finding(results).to_dict() for results in self.results],
        }

    def write_files(self, folder: Path, command: str) -> None:
        """Write the page in its forms, and each control's dossier."""
        from ackclock.dossier.dossier import Dossier
        from ackclock.dossier.write.comparison_page import write_html

        del command
        for number, one in enumerate(self.results, start=1):
            Dossier(one).save(folder / f"dossier-{number}")
        (folder / self.PAGE).write_text(write_html(self, folder, self.command), encoding="utf-8")
        (folder / "page.txt").write_text(f"{self}\n", encoding="utf-8")


def _difference(difference: ControlDifference, names: tuple[str, str]) -> dict[str, Any]:
    change = difference.change
    return {
        "id": change.id,
        "number": change.title,
        "family": difference.family,
        "unit": change.unit,
        "values": [change.before, change.after],
        "difference": change.difference,
        "low": change.low,
        "high": change.high,
        "size": change.size,
        "expected": difference.expected,
        "better": None if difference.winner is None else names[difference.winner],
    }
