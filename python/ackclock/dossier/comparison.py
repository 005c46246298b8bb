"""A finished comparison: a page of text, a folder with the report and each control's dossier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ackclock.dossier.compare import Compared
from ackclock.dossier.finding import Finding, command_of, origin
from ackclock.studies.outcome import Outcome

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.dossier.compare import Difference

__all__ = ["Comparison"]


@dataclass(frozen=True)
class Comparison(Compared, Outcome):
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
            "runs": sum(one.runs for one in self.results),
            "cpu_s": sum(one.cpu_s for one in self.results),
            "pairs": [
                {
                    "controls": list(pair.names),
                    "compared": len(pair.differences),
                    "better": {name: len(pair.wins(i)) for i, name in enumerate(pair.names)},
                    "sentences": sentences(self, pair),
                    "differences": [_difference(one, pair.names) for one in pair.differences],
                }
                for pair in self.pairs
            ],
            "dossiers": [Finding(one).to_dict() for one in self.results],
        }

    def write_files(self, at: Path, command: str) -> None:
        """Write the page in its forms, and each control's dossier."""
        from ackclock.dossier.dossier import Dossier
        from ackclock.dossier.write.comparison_page import write_html

        del command
        for number, one in enumerate(self.results, start=1):
            Dossier(one).save(at / f"dossier-{number}")
        (at / self.PAGE).write_text(write_html(self, at, self.command), encoding="utf-8")
        (at / "page.txt").write_text(f"{self}\n", encoding="utf-8")


def _difference(one: Difference, names: tuple[str, str]) -> dict[str, Any]:
    change = one.change
    return {
        "id": change.id,
        "number": change.title,
        "family": one.family,
        "unit": change.unit,
        "values": [change.before, change.after],
        "difference": change.difference,
        "low": change.low,
        "high": change.high,
        "size": change.size,
        "expected": one.expected,
        "better": None if one.winner is None else names[one.winner],
    }
