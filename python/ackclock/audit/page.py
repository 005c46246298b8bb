"""The page of an audit, as text and as a file that needs nothing else."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ackclock.audit.latecomer import RATE_MBPS, SITUATIONS, TIERS
from ackclock.report.page import inline, render, save_report
from ackclock.tabular import table

if TYPE_CHECKING:
    from pathlib import Path

    from ackclock.audit.latecomer import Audit, Row

__all__ = ["text", "write"]

MARKER = "audit.json"
MOST = 1e3
"""Larger ratios are drawn as this."""
HEAD = ("situation", "n", "buffer", "late-comer / others", "range", "model", "used", "verdict")


def _cells(row: Row) -> list[str]:
    def number(value: float) -> str:
        return f"{value:.2f}" if math.isfinite(value) else "all"

    return [
        SITUATIONS[row.situation].title,
        str(row.flows),
        "overflows" if row.overflows else "holds",
        number(row.ratio),
        f"{number(row.low)} to {number(row.high)}",
        "-" if row.predicted is None else f"{row.predicted:.2f}",
        f"{100 * row.utilisation:.0f} %",
        row.verdict,
    ]


def _about(found: Audit) -> str:
    tier = TIERS[found.tier]
    rtts = ", ".join(f"{ms}" for ms in tier.rtts_ms)
    return (
        f"{found.runs} runs over one link of {RATE_MBPS} Mbit/s: round trips of {rtts} ms, buffers"
        f" of {', '.join(tier.buffers)}, {tier.starts} start times each, {found.gap_s:g} s between"
        " starts. Ratios are medians over round trips and buffers, apart for runs with and without"
        " losses; the model is equation (11) or (15) of persistent congestion."
    )


def text(found: Audit) -> str:
    """Write the page as text.

    Parameters
    ----------
    found
        The audit.
    """
    rows = [_cells(row) for row in found.rows]
    return "\n\n".join([found.answer, table(list(HEAD), rows), _about(found)])


def _figure(found: Audit) -> str:
    """Ratios over the number of flows beside the model's curves, as SVG."""
    from matplotlib.figure import Figure

    from ackclock.audit.latecomer import predicted

    figure = Figure(figsize=(8, 3.2), layout="constrained")
    for at, key in enumerate(("sequential", "joining"), 1):
        axes = figure.add_subplot(1, 2, at)
        rows = [row for row in found.rows if row.situation == key]
        least = 2 if key == "sequential" else 1
        numbers = list(range(least, max(row.flows for row in rows) + 1))
        axes.plot(numbers, [predicted(key, n) or 1 for n in numbers], "--", color="#57606a")
        for overflows, colour, fill in ((False, "#D55E00", "full"), (True, "#009E73", "none")):
            chosen = [row for row in rows if row.overflows == overflows]
            shown = [min(row.ratio, MOST) for row in chosen]
            low = [v - min(row.low, v) for v, row in zip(shown, chosen, strict=True)]
            high = [min(row.high, MOST) - v for v, row in zip(shown, chosen, strict=True)]
            axes.errorbar(
                [row.flows for row in chosen],
                shown,
                yerr=[low, [max(v, 0.0) for v in high]],
                fmt="o",
                color=colour,
                fillstyle=fill,
                capsize=3,
            )
        axes.axhline(1, color="#0072B2", linewidth=1)
        axes.set_yscale("log")
        axes.set_title(SITUATIONS[key].title)
        axes.set_xlabel("number of flows")
        axes.set_ylabel("late-comer / others")
    return inline(figure)


def write(found: Audit, folder: Path, command: str | None = None) -> Path:
    """Write ``index.html`` and ``audit.json`` into a folder.

    Parameters
    ----------
    found
        The audit.
    folder
        Is made, or replaced if it is an audit.
    command
        What the user typed.
    """
    page = render(
        "audit.html",
        found=found,
        about=_about(found),
        head=HEAD,
        rows=[(_cells(row), row) for row in found.rows],
        situations=SITUATIONS.values(),
        figure=_figure(found),
        command=command,
    )
    return save_report(
        folder, MARKER, {**found.to_dict(), "command": command}, {"index.html": page}
    )
