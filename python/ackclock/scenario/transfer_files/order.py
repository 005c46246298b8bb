"""The order of what waits for other lines of a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.scenario.transfer_files.line_error import LineError

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["sort_by_waits"]


def sort_by_waits(waits: Sequence[Sequence[int]], lines: Sequence[int], by: str) -> list[int]:
    """Sort so that each number is after those that it waits for.

    Parameters
    ----------
    waits
        For each number those that it waits for.
    lines
        Where each is in the file, for the message.
    by
        What makes them wait, for the message.

    Raises
    ------
    LineError
        One waits for itself, directly or through others.
    """
    followers: list[list[int]] = [[] for _ in waits]
    for number, others in enumerate(waits):
        for other in others:
            followers[other].append(number)
    open_waits = [len(others) for others in waits]
    order = [number for number, count in enumerate(open_waits) if not count]
    for number in order:  # grows while it is read
        for follower in followers[number]:
            open_waits[follower] -= 1
            if not open_waits[follower]:
                order.append(follower)
    if len(order) < len(waits):
        first = next(number for number, count in enumerate(open_waits) if count)
        raise LineError(f"waits for itself, by {by}; expected no circle", lines[first])
    return order
