"""What a log shows of a path, whatever its format."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ackclock._util.foreign_files import describe_bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

    Probe = tuple[float, ...]

__all__ = [
    "ARRIVED",
    "FORMATS",
    "LOST_SOMEWHERE",
    "QUANTITIES",
    "FormatError",
    "Layout",
    "Measurements",
    "decode",
]

FORMATS = ("ping", "irtt", "iperf3", "lens", "csv")
"""Formats of files, each with a reader in `measurement_files`."""

QUANTITIES = {"time": "duration", "rtt": "duration", "loss": "ratio", "rate": "rate"}
"""What a CSV file may have a column for, with its kind of quantity."""

ARRIVED = (0.0, 0.0, 0.0)
"""Ratios of a probe that was answered: lost somewhere, ahead, on the way back."""
LOST_SOMEWHERE = (1.0, 0.0, 0.0)
"""Ratios of a probe that was not, nobody knows why."""


@dataclass
class Measurements:
    """What a file shows of a path.

    Attributes
    ----------
    probes
        Time [s], round trip [s], and the ratios lost nobody knows where, towards the far end, and
        on the way back. NaN is unknown.
    rates
        Time [s] from which a rate [bit/s] was seen.
    end
        When the measurement ends [s].
    """

    probes: list[Probe] = field(default_factory=list)
    rates: list[tuple[float, float]] = field(default_factory=list)
    end: float = 0.0


@dataclass(frozen=True)
class Layout:
    """What the user says of a file.

    Attributes
    ----------
    columns
        Names of a CSV file's columns by what they hold, a key of `QUANTITIES`.
    units
        Units of a CSV file's bare numbers, by the same keys.
    interval
        Time between probes of a ping log without times [s].
    """

    columns: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    interval: float = 1.0


class FormatError(Exception):
    """What is wrong with a file, in one sentence without the file's name."""


def decode(content: bytes) -> str:
    """Read bytes as text.

    Parameters
    ----------
    content
        UTF-8, with or without a byte-order mark.

    Raises
    ------
    FormatError
        It is not.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise FormatError(f"it is {describe_bytes(content)}") from None
