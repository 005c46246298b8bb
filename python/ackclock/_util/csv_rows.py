"""Rows of a CSV file with a head line; what is wrong with the file is one sentence."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from ackclock._util.foreign_files import ForeignFileError, read_bytes
from ackclock.errors import suggestion

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["CsvError", "Row", "rows"]

Row = tuple[int, dict[str, str]]
"""The number of the line that a row ends on, and its cells by column."""


class CsvError(Exception):
    """A file is not what was expected.

    Parameters
    ----------
    message
        One sentence without the file's name.
    line
        The line at fault; 0: the file as a whole.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line

    def of(self, path: Path) -> str:
        """The sentence with file and line.

        Parameters
        ----------
        path
            The file.
        """
        where = f"{path}, line {self.line}" if self.line else str(path)
        return f"{where}: {self}"


def rows(path: Path, *needed: tuple[str, ...]) -> list[Row]:
    """Read all rows.

    Parameters
    ----------
    path
        The file, in UTF-8.
    *needed
        Columns that must be there, each with the other names that it may have.

    Raises
    ------
    CsvError
        The file cannot be read, is not UTF-8 or not CSV, lacks a column, or has a row that is
        shorter or longer than the head.
    """
    try:
        # Spreadsheets begin UTF-8 with a byte-order mark.
        text = read_bytes(path, links=True).decode("utf-8-sig")
        return _read(csv.DictReader(io.StringIO(text, newline="")), needed)
    except OSError as error:
        raise CsvError(f"cannot be read: {error.strerror}") from None
    except UnicodeDecodeError:
        raise CsvError("is not UTF-8 text") from None
    except ForeignFileError as error:
        raise CsvError(f"cannot be read: {error.reason}") from None
    except ValueError as error:  # a path with a null character
        raise CsvError(f"cannot be read: {error}") from None


def _read(reader: csv.DictReader[str], needed: tuple[tuple[str, ...], ...]) -> list[Row]:
    found = []
    try:
        names = list(reader.fieldnames or [])
        missing = [choice[0] for choice in needed if not any(name in names for name in choice)]
        if missing:
            hint = suggestion(missing[0], names)
            more = f"; {hint}" if hint.startswith("did") else ""
            raise CsvError(f"there is no column {', '.join(missing)}{more}", 1)
        for row in reader:
            if None in row or None in row.values():
                raise CsvError(f"expected {len(names)} values", reader.line_num)
            found.append((reader.line_num, row))
    except csv.Error as error:
        raise CsvError(f"this is not CSV: {error}", reader.reader.line_num) from None
    return found
