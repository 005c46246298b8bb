"""What came of an emulation, before it is a run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Captured", "EmulatedMeasurements"]

Captured = tuple[int, int, bool, int, bytes]
"""A packet at a device: time [ns], side, whether its host sent it, length [B], first bytes."""


@dataclass(frozen=True)
class EmulatedMeasurements:
    """What came of an emulation, as hosts and links saw it.

    Parameters
    ----------
    task
        What the hosts had to do.
    links
        What the core returned: tables, what passed of each flow, lateness.
    sent, received
        Samples of the senders and of the receivers, by column.
    completed
        When flows of a given size were complete [s], by number.
    failed
        Flows that had no connection.
    real_time
        Whether the kernel gave the processes real-time priority.
    unset
        Variables of the kernel that could not be set.
    """

    task: dict[str, Any]
    links: dict[str, Any]
    sent: dict[str, Any]
    received: dict[str, Any]
    completed: dict[int, float]
    failed: list[int]
    real_time: bool
    unset: list[str]
