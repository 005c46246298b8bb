"""What is wrong with a line of a file, and numbers that a line may contain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

__all__ = ["MOST_TRANSFERS", "LineError", "Transfer", "whole_number"]

MOST_TRANSFERS = 2_000_000
"""Most transfers of a file: as many as a scenario has flows."""

_MOST_DIGITS = 18
"""Digits of a number that is read."""


class LineError(ValueError):
    """What is wrong with a file, as one sentence.

    Parameters
    ----------
    message
        The sentence.
    line
        Number of the line, from 1; 0: the file as a whole.
    """

    def __init__(self, message: str, line: int = 0) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True)
class Transfer:
    """A transfer between two hosts by number."""

    source: int
    target: int
    size: int
    start_s: float = 0.0
    after: dict[int, float] = field(default_factory=dict)
    """What it waits for: places of others, and the time from their completion [s]."""

    def to_table(self) -> dict[str, Any]:
        """Give it as the pattern ``listed`` has it."""
        table: dict[str, Any] = {"from": self.source, "to": self.target, "size": self.size}
        if self.start_s:
            table["at"] = self.start_s
        if self.after:
            table["after"] = [
                {"transfer": index, "pause": pause} if pause else {"transfer": index}
                for index, pause in sorted(self.after.items())
            ]
        return table


def whole_number(text: str, name: str, line: int, least: int = 0) -> int:
    """Read a whole number.

    Parameters
    ----------
    text
        What there is.
    name
        What it is, for the message.
    line
        Of the file.
    least
        The smallest that may be.

    Raises
    ------
    LineError
        It is no such number.
    """
    if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS and int(text) >= least:
        return int(text)
    message = f'{name} is "{text[:20]}", expected a whole number from {least} to 10^{_MOST_DIGITS}'
    raise LineError(message, line)
