"""Measured values in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ackclock.reproduce.run.measure import ClaimResult

__all__ = ["interval", "measured"]


def interval(measured: float | None, low: float | None, high: float | None) -> str:
    """Write a value with its interval: ``1.25 [1.2, 1.3]``.

    Parameters
    ----------
    measured, low, high
        None if unknown.
    """
    if measured is None:
        return "-"
    if low is None or high is None or low == high:
        return f"{measured:.4g}"
    return f"{measured:.4g} [{low:.4g}, {high:.4g}]"


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
    text = interval(part.measured, part.low, part.high)
    more = len(result.parts) - 1
    return f"{text} and {more} more" if more else text
