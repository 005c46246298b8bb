"""Writes what a sensitivity study found: a table, a plot, and the region as JSON."""

from __future__ import annotations

import csv
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.page import save_report
from ackclock.reproduce.run.sensitivity import shown

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


def write(done: Sensitivity, folder: str | Path) -> Path:
    """Write ``sensitivity.json``, ``.txt``, ``.csv``, ``.svg`` and ``.png``.

    Parameters
    ----------
    done
        What was found.
    folder
        Is made, or replaced if it is such a folder.
    """
    from ackclock.plot import style

    def fill(at: Path) -> None:
        _csv(done, at / "sensitivity.csv")
        canvas = draw(done)
        command = f"ackclock reproduce {done.paper.name} --sensitivity {done.claim.id}"
        for ending in ("svg", "png"):
            style.save(
                canvas, at / f"sensitivity.{ending}", command=f"{command} --tier {done.tier}"
            )

    pages = {"sensitivity.txt": str(done)}
    return save_report(Path(folder), MARKER, done.to_dict(), pages, fill)


def _csv(done: Sensitivity, path: Path) -> None:
    names = [parameter.id for parameter in done.parameters]
    head = [*names, "part", "measured", "ci_low", "ci_high", "expected", "outcome", "verdict"]
    defaults = {parameter.id: parameter.default for parameter in done.parameters}
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(head)
        for trial in done.trials:
            values = [shown({**defaults, **trial.values}[name]) for name in names]
            for part in trial.result.parts:
                writer.writerow(
                    [*values, part.name, part.measured, part.low, part.high, part.expected,
                     part.outcome, trial.result.verdict]
                )  # fmt: skip


def draw(done: Sensitivity) -> Canvas:
    """Draw the verdict of every trial, and the measured interval against what is expected.

    Parameters
    ----------
    done
        What was found.
    """
    import matplotlib as mpl

    from ackclock import _core
    from ackclock.plot import style

    names = list(dict.fromkeys(part.name for trial in done.trials for part in trial.result.parts))
    names = names[:4] or [""]
    rows = len(done.trials)
    with mpl.rc_context(style.style()["rc"]):
        canvas = style.figure(None, 3.2 + 3.4 * len(names), 1.6 + 0.32 * rows)
        grid = canvas.subplots(1, len(names), sharey=True, squeeze=False).ravel()
        for axes, name in zip(grid, names, strict=True):
            _panel(axes, done, name)
        grid[0].set_yticks(range(rows), [trial.label for trial in done.trials])
        grid[0].set_ylim(rows - 0.4, -0.6)
        handles = [
            mpl.lines.Line2D([], [], linestyle="", markersize=7, label=verdict, **look)  # type: ignore[arg-type]
            for verdict, look in LOOK.items()
            if any(trial.result.verdict == verdict for trial in done.trials)
        ]
        canvas.legend(handles=handles, loc="outside upper right", ncols=3)
        canvas.suptitle(f"{done.paper.name} {done.claim.id}", x=0.01, ha="left", fontsize=11)
        style.recipe(canvas, version=_core.version(), claim=done.claim.id, tier=done.tier)
    return canvas


def _panel(axes: Any, done: Sensitivity, name: str) -> None:
    """One number of the claim: its interval in every trial, what is expected shaded."""
    for row, trial in enumerate(done.trials):
        look = LOOK[trial.result.verdict]
        for part in trial.result.parts:
            if part.name == name and part.measured is not None:
                if part.low is not None and part.high is not None:
                    axes.plot([part.low, part.high], [row, row], color=look["color"], linewidth=2)
                axes.plot(part.measured, row, linestyle="", markersize=7, **look)
    goals = {p.goal for t in done.trials for p in t.result.parts if p.name == name}
    goal = goals.pop() if len(goals) == 1 else None
    if goal is not None:
        shown = axes.get_xlim()
        near = [end for end in goal.ends if math.isfinite(end)]
        low, high = min([shown[0], *near]), max([shown[1], *near])
        axes.axvspan(max(goal.low, low), min(goal.high, high), color="#0072B2", alpha=0.1, lw=0)
        axes.set_xlim(low, high)
    axes.set_xlabel(name or "measured; shaded: expected")
