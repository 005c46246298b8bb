"""A finished dossier: a page of text, a folder with the report."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock.dossier.finding import Finding
from ackclock.studies.outcome import StudyOutcome

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["Dossier"]


@dataclass(frozen=True)
class Dossier(Finding, StudyOutcome):
    """What was found of a control. Printing it gives the page."""

    MARKER = "dossier.json"
    PAGE = "report.html"

    def __str__(self) -> str:
        from ackclock.dossier.write.page import page

        return page(self)

    def write_files(self, folder: Path, command: str) -> None:
        """Write audits, figures, studies, the page in its forms."""
        from ackclock.dossier.write.junit import junit
        from ackclock.dossier.write.report import write_figures, write_html, write_studies
        from ackclock.dossier.write.summary import write_summary

        del command
        for name, audited in self.results.audits.items():
            if audited.outcome is not None:
                audited.outcome.save(folder / "audits" / name, command=self.command)
        write_figures(self, folder)
        write_studies(self, folder)
        (folder / self.PAGE).write_text(write_html(self, folder), encoding="utf-8")
        (folder / "page.txt").write_text(f"{self}\n", encoding="utf-8")
        (folder / "summary.md").write_text(write_summary(self), encoding="utf-8")
        (folder / "junit.xml").write_text(junit(self), encoding="utf-8")
