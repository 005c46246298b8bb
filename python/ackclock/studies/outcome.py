"""What a finished study offers: a page of text, plain data, and a folder with its report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ackclock._util.page import save_report

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["StudyOutcome", "find_code_hash"]


def find_code_hash(summaries: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Find the SHA-256 of the classes written in Python that runs had; None without any.

    Parameters
    ----------
    summaries
        Of the runs, by key.
    """
    hashes = (summary.get("user_code_hash") for summary in summaries.values())
    return next((str(code_hash) for code_hash in hashes if code_hash), None)


class StudyOutcome(ABC):
    """A finished study. Printing it gives its page.

    Attributes
    ----------
    MARKER
        The JSON file by which a folder of such a report is known.
    PAGE
        The file of the folder that people open first; empty: the folder itself.
    """

    MARKER: ClassVar[str]
    PAGE: ClassVar[str] = ""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Everything as plain data, for JSON; what is not known is None.

        Data with a ``command`` state the one that gives them again; others get what was typed.
        """

    def pages(self, command: str) -> Mapping[str, str]:
        """Texts of the folder by file name.

        Parameters
        ----------
        command
            What the user typed.
        """
        del command
        return {}

    def write_files(self, folder: Path, command: str) -> None:
        """Write what else belongs into the folder.

        Parameters
        ----------
        folder
            The folder.
        command
            What the user typed.
        """
        del folder, command

    def save(self, folder: str | Path, *, command: str = "") -> Path:
        """Write the report.

        Parameters
        ----------
        folder
            Is made, or replaced if it is such a report.
        command
            What the user typed.

        Returns
        -------
        Path
            The page, or the folder where there is none.
        """
        data = self.to_dict()
        data.setdefault("command", command)
        files = partial(self.write_files, command=command)
        return save_report(Path(folder), self.MARKER, data, self.pages(command), files) / self.PAGE
