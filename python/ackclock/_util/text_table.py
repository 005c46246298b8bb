"""Plain aligned text tables, for terminals and logs."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["clock", "engineering", "table", "working_time"]


def engineering(value: float | None, unit: str) -> str:
    """Write a quantity with four figures and a decimal prefix: ``9.587 Mbit/s``.

    Parameters
    ----------
    value
        In the unit without prefix; None or NaN gives a dash.
    unit
        The unit, such as ``bit/s``.
    """
    if value is None or math.isnan(value):
        return "-"
    if value == 0:
        return f"0 {unit}"
    if math.isinf(value):
        return f"{value} {unit}"
    power = math.floor(math.log10(abs(value)) / 3)
    prefixes = {-4: "p", -3: "n", -2: "µ", -1: "m", 0: "", 1: "k", 2: "M", 3: "G", 4: "T"}
    power = max(-4, min(4, power))
    return f"{value / 1000.0**power:.4g} {prefixes[power]}{unit}"


def clock(seconds: float) -> str:
    """Write a time as people say it: ``2 days 1:02:03``, ``1:02:03``, ``4:05``, ``12 s``.

    Parameters
    ----------
    seconds
        The time [s].
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days:,} day{'s' * (days > 1)} {hours}:{minutes:02}:{rest:02}"
    if hours:
        return f"{hours}:{minutes:02}:{rest:02}"
    return f"{minutes}:{rest:02}" if minutes else f"{rest} s"


def working_time(seconds: float | None) -> str:
    """Write how long work takes: ``8.296 ms``, and from two minutes on as `clock` does.

    Parameters
    ----------
    seconds
        The time [s]; None or NaN gives a dash.
    """
    if seconds is None or not 120 <= seconds < math.inf:
        return engineering(seconds, "s")
    return clock(seconds)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], most: int = 40) -> str:
    """Align columns: text to the left, numbers to the right.

    Parameters
    ----------
    head
        Column titles.
    rows
        Cells as text.
    most
        Rows shown; the number left out is said.
    """
    shown = list(rows)
    if len(rows) > most:
        shown = [*rows[: most // 2], *rows[len(rows) - most // 2 :]]
    widths = [max(len(row[i]) for row in [head, *shown]) for i in range(len(head))]
    right = [
        bool(shown) and all(row[i][:1].isdigit() or row[i][:1] in "-+" for row in shown)
        for i in range(len(head))
    ]

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        ]
        return "  ".join(parts).rstrip()

    out = [line(head), *(line(row) for row in shown)]
    if len(rows) > most:
        out.insert(1 + most // 2, f"... {len(rows) - len(shown)} more ...")
    return "\n".join(out)
