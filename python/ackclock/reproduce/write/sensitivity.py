"""Writes what a sensitivity study found: a table, a plot, and the region as JSON."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.page import save_report
from ackclock.reproduce.run.sensitivity import write_value

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Canvas

    from ackclock.reproduce.run.sensitivity import Sensitivity

__all__ = ["MARKER", "draw", "write"]

MARKER = "sensitivity.json"

LOOK = {
    "reproduced": {"color": "#0072B2", "marker": "o"},
    "deviates": {"color": "#D55E00", "marker": "X"},
    "not-checkable": {"color": "#6b7280", "marker": "$?$"},
}
"""Verdicts are shown by colour, by mark and by word."""


def write(sensitivity: Sensitivity, folder: str | Path) -> Path:
    """Write ``sensitivity.json``, ``.txt``, ``.csv``, ``.svg`` and ``.png``.

    Parameters
    ----------
    sensitivity
        What was found.
    folder
        Is made, or replaced if it is such a folder.
    """
    from ackclock.plot import style

    def fill(at: Path) -> None:
        _csv(sensitivity, at / "sensitivity.csv")
        canvas = draw(sensitivity)
        command = (
            f"ackclock reproduce {sensitivity.paper.name} --sensitivity {sensitivity.claim.id}"
        )
        for ending in ("svg", "png"):
            style.save(
                canvas, at / f"sensitivity.{ending}", command=f"{command} --tier {sensitivity.tier}"
            )

    pages = {"sensitivity.txt": str(sensitivity)}
    return save_report(Path(folder), MARKER, sensitivity.to_dict(), pages, fill)


def _csv(sensitivity: Sensitivity, path: Path) -> None:
    names = [parameter.id for parameter in sensitivity.parameters]
    head = [*names, "part", "measured", "ci_low", "ci_high", "expected", "outcome", "verdict"]
    defaults = {parameter.id: parameter.default for parameter in sensitivity.parameters}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        for trial in sensitivity.trials:
            values = [write_value({**defaults, **trial.values}[name]) for name in names]
            for number in trial.result.results:
                writer.writerow(
                    [*values, number.name, number.measured, number.low, number.high,
                     number.expected, number.outcome, trial.result.verdict]
                )  # fmt: skip


def draw(sensitivity: Sensitivity) -> Canvas:
    """Draw the verdict of every trial, and the measured interval against what is expected.

    Parameters
    ----------
    sensitivity
        What was found.
    """
    import matplotlib as mpl

    from ackclock import _core
    from ackclock.plot import style

    names = list(
        dict.fromkeys(
            number.name for trial in sensitivity.trials for number in trial.result.results
        )
    )
    names = names[:4] or [""]
    rows = len(sensitivity.trials)
    with mpl.rc_context(style.style()["rc"]):
        canvas = style.figure(None, 3.2 + 3.4 * len(names), 1.6 + 0.32 * rows)
        grid = canvas.subplots(1, len(names), sharey=True, squeeze=False).ravel()
        for axes, name in zip(grid, names, strict=True):
            _panel(axes, sensitivity, name)
        grid[0].set_yticks(range(rows), [trial.label for trial in sensitivity.trials])
        grid[0].set_ylim(rows - 0.4, -0.6)
        handles = [
            mpl.lines.Line2D([], [], linestyle="", markersize=7, label=verdict, **look)  # type: ignore[arg-type]
            for verdict, look in LOOK.items()
            if any(trial.result.verdict == verdict for trial in sensitivity.trials)
        ]
        canvas.legend(handles=handles, loc="outside upper right", ncols=3)
        canvas.suptitle(
            f"{sensitivity.paper.name} {sensitivity.claim.id}", x=0.01, ha="left", fontsize=11
        )
        style.recipe(
            canvas, version=_core.version(), claim=sensitivity.claim.id, tier=sensitivity.tier
        )
    return canvas


def _panel(axes: Any, sensitivity: Sensitivity, name: str) -> None:
    """One number of the claim: its interval in every trial, what is expected shaded."""
    for row, trial in enumerate(sensitivity.trials):
        look = LOOK[trial.result.verdict]
        for number in trial.result.results:
            if number.name == name and number.measured is not None:
                if number.low is not None and number.high is not None:
                    axes.plot(
                        [number.low, number.high], [row, row], color=look["color"], linewidth=2
                    )
                axes.plot(number.measured, row, linestyle="", markersize=7, **look)
    goals = {p.goal for t in sensitivity.trials for p in t.result.results if p.name == name}
    goal = goals.pop() if len(goals) == 1 else None
    if goal is not None:
        x_limits = axes.get_xlim()
        near = [end for end in goal.ends if math.isfinite(end)]
        low, high = min([x_limits[0], *near]), max([x_limits[1], *near])
        axes.axvspan(max(goal.low, low), min(goal.high, high), color="#0072B2", alpha=0.1, lw=0)
        axes.set_xlim(low, high)
    axes.set_xlabel(name or "measured; shaded: expected")
