"""Measured values as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.number_text import bounds

if TYPE_CHECKING:
    from ackclock.reproduce.run.measure import ClaimResult

__all__ = ["measured"]


def measured(result: ClaimResult) -> str:
    """Write what was measured for a claim; of several numbers the first that decides.

    Parameters
    ----------
    result
        The claim.
    """
    if not result.parts:
        return "-"
    order = {"missed": 0, "undecided": 1, "met": 2}
    part = min(result.parts, key=lambda part: order[part.outcome])
    text = bounds(part.measured, part.low, part.high)
    more = len(result.parts) - 1
    return f"{text} and {more} more" if more else text
