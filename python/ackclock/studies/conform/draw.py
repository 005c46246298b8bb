"""What a page shows of a case beside its checks: states and window as a figure, and the recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ackclock._util.number_text import number
from ackclock._util.page import inline

if TYPE_CHECKING:
    from ackclock.studies.conform.stages import Staged
    from ackclock.studies.conform.suite import ConformanceCase

__all__ = ["Shown", "picture", "show"]

EVENT, LOST = "#222222", "#D55E00"
MOST_POINTS = 20_000
"""Longer curves are dots in the SVG, which would be too large for a page otherwise."""


@dataclass(frozen=True)
class Shown:
    """What a page shows of a case.

    Parameters
    ----------
    note
        Where the suite had to choose or to deviate.
    events
        When its events were, as text.
    picture
        SVG; empty: it could not be run.
    recipe
        The scenario of the last run as TOML.
    """

    note: str
    events: str = ""
    picture: str = ""
    recipe: str = ""


def show(case: ConformanceCase, staged: Staged | None) -> Shown:
    """Draw a case and write its recipe.

    Parameters
    ----------
    case
        The case.
    staged
        Its run; None: it cannot be run.
    """
    if staged is None:
        return Shown(case.note)
    events = ", ".join(f"{name} at {number(time_s, 4)} s" for name, time_s in staged.events.items())
    return Shown(case.note, events, picture(staged, case.key), staged.scenario.to_toml())


def picture(staged: Staged, case: str) -> str:
    """Draw a case as SVG for a page.

    Parameters
    ----------
    staged
        The case that was run.
    case
        Its key, by which the ids of its picture differ from those of others.
    """
    from ackclock.plot.states import states

    figure = states(staged.run)
    axes = figure.axes[0]
    axes.set_title("", loc="left")
    for curve in axes.lines:
        curve.set_rasterized(len(curve.get_xdata()) > MOST_POINTS)  # type: ignore[arg-type]
    lost = staged.run.table("drops")["time_s"].to_pylist()
    ground = axes.get_xaxis_transform()
    if lost:
        axes.plot(lost, [0.02] * len(lost), "|", color=LOST, transform=ground, label="packet lost")
    for name, time in staged.events.items():
        axes.axvline(time, color=EVENT, linestyle=":", linewidth=1)
        axes.text(time, 1.01, name, transform=ground, fontsize=8, ha="center", va="bottom")
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)
    return inline(figure, f"case-{case}")
