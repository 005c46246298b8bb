"""Measured values as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util.number_text import bounds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ackclock.reproduce.run.measure import ClaimResult

__all__ = ["OUTCOMES", "describe_orders", "write_measured"]

OUTCOMES = ("met", "missed", "undecided")
"""What a number may be, in the order in which counts are written."""


def describe_orders(orders: Mapping[str, int]) -> str:
    """Say how many numbers are met, missed and undecided: ``10 of 40 numbers met, 30 missed``.

    Parameters
    ----------
    orders
        Counts by outcome.
    """
    count = sum(orders[name] for name in OUTCOMES)
    other_counts = [f"{orders[name]} {name}" for name in OUTCOMES[1:] if orders[name]]
    numbers = "number" if count == 1 else "numbers"
    return ", ".join([f"{orders['met']} of {count} {numbers} met", *other_counts])


def write_measured(result: ClaimResult) -> str:
    """Write what was measured for a claim: the number that decides, and how many are met.

    Parameters
    ----------
    result
        The claim.
    """
    number = result.deciding
    if number is None:
        return "-"
    text = bounds(number.measured, number.low, number.high)
    count = sum(not other.ours for other in result.results)
    if count == 1:
        return text
    met = result.orders["met"]
    return f"{text}; {met} of {count} met"
