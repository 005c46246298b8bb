"""Measures the numbers of an instructor's key and writes them into its ``key.toml``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ackclock.course.measure import measure
from ackclock.course.sheet import SheetNumber, read_sheet

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["write_key"]

_NUMBER = re.compile(r'\{ run = "([^"]+)", metric = "([^"]+)"(?:, value = [^ }]+)? \}')


def write_key(folder: Path) -> int:
    """Run the runs of a sheet and put ``value`` beside each metric, with four significant digits.

    Parameters
    ----------
    folder
        Of the sheet.

    Returns
    -------
    int
        How many numbers were measured.
    """
    file = folder / "key.toml"
    sheet = read_sheet(folder)

    def write_value(match: re.Match[str]) -> str:
        value = measure(sheet, SheetNumber(match[1], match[2]))
        return f'{{ run = "{match[1]}", metric = "{match[2]}", value = {value:.4g} }}'

    text, count = _NUMBER.subn(write_value, file.read_text(encoding="utf-8"))
    file.write_text(text, encoding="utf-8")
    return count
