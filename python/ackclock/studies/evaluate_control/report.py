"""The report of an evaluation: one HTML page that needs no other file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import decimals, interval, number, percent
from ackclock._util.page import inline, render
from ackclock.scenario.environments import ENVIRONMENTS
from ackclock.studies.evaluate_control.judge import UNFAIR
from ackclock.studies.evaluate_control.page import sentences

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ackclock.experiments.statistics import Mean
    from ackclock.studies.evaluate_control.judge import Judgement

__all__ = ["chart", "html"]


def html(judgement: Judgement, *, value: Any, tier: str, code: str | None, command: str) -> str:
    """Write the report.

    Parameters
    ----------
    judgement
        The judgement.
    value
        The control as a scenario says it.
    tier
        What was run.
    code
        Hash of user-defined code, if any ran.
    command
        What the user typed.
    """
    from ackclock import _core

    names = [ENVIRONMENTS[name] for name in judgement.environments]
    return render(
        Path(__file__).with_name("evaluate.html"),
        {"mean": _mean, "percent": percent, "number": number, "decimals": decimals},
        shade=_shade,
        found=judgement,
        tier=tier,
        value=value,
        answer=sentences(judgement)[0],
        figure=inline(chart(judgement)),
        environments=names,
        routers=list(dict.fromkeys(router for router, _ in judgement.neighbours)),
        others=list(dict.fromkeys(other for _, other in judgement.neighbours)),
        unfair=UNFAIR,
        command=command,
        version=_core.version(),
        code=code,
    )


def chart(judgement: Judgement) -> Figure:
    """Draw D of every control with its interval, a panel for each setting.

    Parameters
    ----------
    judgement
        The judgement.
    """
    from ackclock.plot import style

    rows = math.ceil(len(judgement.settings) / 4)
    figure = style.figure(None, 10.5, 2.6 * rows)
    axes = figure.subplots(rows, 4, sharex=True, sharey=True, squeeze=False)
    positions = list(range(len(judgement.controls)))
    ends = [end for value in judgement.rank_d.values() for end in (value.mean, value.low)]
    least = min(end for end in ends if not math.isnan(end))
    for axis, setting in zip(axes.flat, judgement.settings, strict=False):
        for position, name in zip(positions, judgement.controls, strict=True):
            value = judgement.rank_d[setting, name]
            colour = "#D55E00" if name == judgement.control else "#0072B2"
            axis.plot([value.low, value.high], [position, position], color=colour, lw=2)
            axis.plot([value.mean], [position], "o", color=colour, ms=5)
        axis.set_title(setting, fontsize=9)
        axis.set_yticks(positions, judgement.controls)
        axis.vlines(0, -0.5, len(positions) - 0.5, colors="0.6", lw=0.8, zorder=0)
        if least >= 0:
            axis.set_xlim(left=0)
        axis.grid(axis="x", alpha=0.3)
    axes.flat[0].invert_yaxis()
    figure.supxlabel("D: goodput of the best control, by other seeds, less its own", fontsize=9)
    return figure


def _mean(value: Mean) -> str:
    return interval(*value, figures=3)


def _shade(value: float, most: float = 0.3) -> Any:
    """Background of a cell: white at 0, orange at ``most`` and above."""
    from markupsafe import Markup

    if math.isnan(value):
        return Markup("")
    part = min(max(value / most, 0.0), 1.0)
    return Markup("style='background: rgba(213, 94, 0, {:.2f})'").format(0.55 * part)
