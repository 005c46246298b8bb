"""The report of an evaluation of a queue: one HTML page that needs no other file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util import number_text
from ackclock._util.page import inline, render
from ackclock.studies.evaluate_queue.page import sentences
from ackclock.studies.evaluate_queue.scenarios import SCENARIOS
from ackclock.studies.evaluate_queue.score import METRICS, better, ellipse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.figure import Figure

    from ackclock.studies.algorithm_argument import Subject
    from ackclock.studies.evaluate_queue.score import Scores

__all__ = ["chart", "html"]

COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
"""Okabe and Ito's; the queue under study has the first."""

LEAST_DELAY_MS = 0.1
"""Shorter delays are drawn as this."""

DELAYS_MS = (0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
"""Where the axis may have ticks."""


def html(queue: Subject, scores: Mapping[str, Scores], **about: Any) -> str:
    """Write the report.

    Parameters
    ----------
    queue
        The one under study.
    scores
        By scenario.
    **about
        ``tier``; ``seeds`` and ``runs``, their numbers; ``code``, the hash of user-defined code if
        any ran; ``command``, what the user typed.
    """
    from ackclock import _core

    own_label = queue.label
    behind = {
        name: [
            rival
            for rival in queue_scores.queues
            if rival != own_label and better(queue_scores, rival, own_label)
        ]
        for name, queue_scores in scores.items()
    }
    return render(
        Path(__file__).with_name("evaluate_queue.html"),
        {"mean": _mean},
        own=own_label,
        value=queue.value,
        scores=scores,
        scenes=SCENARIOS,
        metrics=METRICS,
        behind=behind,
        answer=sentences(scores)[0],
        figure=inline(chart(scores)),
        version=_core.version(),
        **about,
    )


def chart(scores: Mapping[str, Scores]) -> Figure:
    """Draw goodput against delay: an ellipse of one standard deviation for each queue.

    Delays differ by factors of a hundred, so their logarithms are drawn, and the ellipses fitted to
    them.

    Parameters
    ----------
    scores
        By scenario.
    """
    from matplotlib.patches import Ellipse as Patch

    from ackclock.plot import style

    rows = math.ceil(len(scores) / 4)
    figure = style.figure(None, 11.5, 2.7 * rows)
    axes = figure.subplots(rows, 4, squeeze=False)
    for axis in axes.flat[len(scores) :]:
        axis.set_visible(False)
    for axis, (name, queue_scores) in zip(axes.flat, scores.items(), strict=False):
        for number, queue in enumerate(queue_scores.queues):
            if len(queue_scores.points[queue]) < 2:
                continue
            delay, goodput = queue_scores.points[queue].T
            decades = np.log10(np.maximum(delay, LEAST_DELAY_MS))
            fitted = ellipse(np.column_stack([decades, goodput]))
            colour = COLOURS[number % len(COLOURS)]
            width, height = (2 * half for half in fitted.axes)
            patch = Patch(fitted.centre, width, height, angle=fitted.angle)
            patch.set(facecolor=colour, alpha=0.35 if number == 0 else 0.15, edgecolor=colour)
            axis.add_patch(patch)
            axis.plot(*fitted.centre, "os^Dvx+"[number // len(COLOURS) % 7], color=colour, ms=5)
            axis.lines[-1].set_label(queue)
        axis.set_title(f"{name} (RFC 7928, {SCENARIOS[name].section})", fontsize=9)
        axis.autoscale_view()
        axis.set_ylim(bottom=0)
        left, right = axis.get_xlim()
        ticks = [tick for tick in DELAYS_MS if left <= math.log10(tick) <= right]
        axis.set_xticks([math.log10(tick) for tick in ticks], map(number_text.number, ticks))
        axis.grid(alpha=0.3)
    handles, labels = axes.flat[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=6, fontsize=9)
    figure.supxlabel("queueing delay of a flow [ms]", fontsize=9)
    figure.supylabel("goodput over the fair share", fontsize=9)
    return figure


def _mean(value: tuple[float, float, float]) -> str:
    return number_text.interval(*value, figures=3)
