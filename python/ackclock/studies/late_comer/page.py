"""The page of an audit, as text and as a file that needs nothing else."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from ackclock._util.number_text import decimals, number
from ackclock._util.page import inline, render
from ackclock._util.text_table import table
from ackclock.studies.late_comer.rows import LateComerRow, predict_ratio
from ackclock.studies.late_comer.situations import RATE_MBPS, SITUATIONS, TIERS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from matplotlib.axes import Axes

__all__ = ["about", "html", "text"]

MOST = 1e3
"""Larger ratios are drawn as this."""
HEAD = (
    "situation",
    "n",
    "buffer",
    "share [%]",
    "fair [%]",
    "model [%]",
    "late-comer / others",
    "range",
    "model",
    "link used [%]",
    "verdict",
)
WITHOUT, WITH, FAIR, MODEL = "#D55E00", "#009E73", "#0072B2", "#57606a"


def _cells(row: LateComerRow) -> list[str]:
    def ratio(value: float) -> str:
        return decimals(value, 2) if math.isfinite(value) else "all"

    return [
        SITUATIONS[row.situation].title,
        str(row.flows),
        "overflows" if row.overflows else "holds",
        decimals(100 * row.share, 1),
        decimals(100 * row.share_fair, 1),
        "-" if row.share_predicted is None else decimals(100 * row.share_predicted, 1),
        ratio(row.ratio),
        f"{ratio(row.low)} to {ratio(row.high)}",
        decimals(row.predicted, 2),
        decimals(100 * row.utilisation, 0),
        row.verdict,
    ]


def about(tier_name: str, runs: int, gap_s: float) -> str:
    """Say what was run and how the numbers are to be read.

    Parameters
    ----------
    tier_name
        What was run.
    runs
        How many runs.
    gap_s
        Time between starts [s].
    """
    tier = TIERS[tier_name]
    rtts = ", ".join(f"{ms}" for ms in tier.rtts_ms)
    return (
        f"{runs} runs over one link of {RATE_MBPS} Mbit/s: round trips of {rtts} ms, buffers"
        f" of {', '.join(tier.buffers)}, {tier.starts} start times each, {number(gap_s)} s between"
        " starts. Shares are parts of what the flows of this kind get together. Shares and ratios"
        " are medians over round trips and buffers, apart for runs with and without losses, the"
        " range that of means over starts; the model is equation (11) or (15) of persistent"
        " congestion. Not at rest: in half of the conditions or more the part of the late-comer"
        " beside one other changed by more than 0.012 from the first half of what is measured to"
        " the second, the same way for all start times."
    )


def text(answer: str, rows: Sequence[LateComerRow], about: str) -> str:
    """Write the page as text.

    Parameters
    ----------
    answer
        The whole in a sentence.
    rows
        What was measured.
    about
        As of the function of that name.
    """
    return "\n\n".join([answer, table(list(HEAD), [_cells(row) for row in rows]), about])


def _figure(all_rows: Sequence[LateComerRow]) -> str:
    """Shares in order of arrival, and ratios over the number of flows, beside the model, as SVG."""
    from ackclock.plot.notebook import NotebookFigure

    figure = NotebookFigure(figsize=(9, 6.4), layout="constrained")
    for at, key in enumerate(("sequential", "joining")):
        rows = [row for row in all_rows if row.situation == key]
        _ratios(figure.add_subplot(2, 2, at + 1), key, rows)
        _shares(figure.add_subplot(2, 2, at + 3), key, rows)
    return inline(figure)


def _ratios(axes: Axes, key: str, rows: list[LateComerRow]) -> None:
    from matplotlib.ticker import MaxNLocator

    from ackclock.plot.log_axis import make_logarithmic

    least = 2 if key == "sequential" else 1
    numbers = list(range(least, max(row.flows for row in rows) + 1))
    models = [model.ratio for n in numbers if (model := predict_ratio(key, n))]
    axes.plot(numbers, models, "--", color=MODEL)
    for overflows, colour, fill in ((False, WITHOUT, "full"), (True, WITH, "none")):
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
    axes.axhline(1, color=FAIR, linewidth=1)
    make_logarithmic(axes, "y")
    axes.set_title(SITUATIONS[key].title)
    axes.set_xlabel("number of flows")
    axes.set_ylabel("late-comer / others")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def _shares(axes: Axes, key: str, rows: list[LateComerRow]) -> None:
    from matplotlib.ticker import MaxNLocator

    most = max(row.flows for row in rows)
    model = predict_ratio(key, most)
    length = most if key == "sequential" else most + 1
    order = list(range(1, length + 1))
    if model is not None:
        axes.plot(order, [100 * share for share in model.shares], "--", color=MODEL)
    for row in rows:
        if row.flows == most:
            colour, fill = (WITH, "none") if row.overflows else (WITHOUT, "full")
            shares = [100 * share for share in row.shares]
            axes.plot(order, shares, "o", color=colour, fillstyle=fill)
    axes.axhline(100 / length, color=FAIR, linewidth=1)
    axes.set_ylim(bottom=0)
    axes.set_title(f"{SITUATIONS[key].title}, n = {most}")
    axes.set_xlabel("flow, in order of arrival")
    axes.set_ylabel("share [%]")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))


def html(
    control: str, answer: str, rows: Sequence[LateComerRow], *, about: str, command: str
) -> str:
    """Write the page as a file that needs nothing else.

    Parameters
    ----------
    control
        Its label.
    answer, rows, about
        As of `text`.
    command
        What the user typed.
    """
    return render(
        Path(__file__).with_name("audit.html"),
        control=control,
        answer=answer,
        about=about,
        head=HEAD,
        rows=[(_cells(row), row) for row in rows],
        situations=SITUATIONS.values(),
        figure=_figure(rows),
        command=command,
    )
