"""A finished dossier: a page of text, a folder with the report."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from ackclock.dossier.finding import Finding
from ackclock.studies.outcome import Outcome

__all__ = ["Dossier"]


@dataclass(frozen=True)
class Dossier(Finding, Outcome):
    """What was found of a control. Printing it gives the page."""

    MARKER = "dossier.json"
    PAGE = "report.html"

    def __str__(self) -> str:
        from ackclock.dossier.page import page

        return page(self)

    def save(self, folder: str | Path, *, command: str = "") -> Path:
        """Write the report; see `ackclock.studies.outcome.Outcome.save`.

        Parameters
        ----------
        folder
            Is made, or replaced if it is such a report.
        command
            What the user typed; the report states the command that gives it again.
        """
        from ackclock._util.page import save_report

        del command
        data = self.to_dict()
        return save_report(Path(folder), self.MARKER, data, more=self._fill) / self.PAGE

    def _fill(self, at: Path) -> None:
        from ackclock.dossier.junit import junit
        from ackclock.dossier.report import write_figures, write_html, write_studies

        for name, audited in self.results.audits.items():
            if audited.outcome is not None:
                audited.outcome.save(at / "audits" / name, command=self.command)
        write_figures(self, at)
        write_studies(self, at)
        (at / self.PAGE).write_text(write_html(self, at), encoding="utf-8")
        (at / "page.txt").write_text(f"{self}\n", encoding="utf-8")
        (at / "junit.xml").write_text(junit(self), encoding="utf-8")
