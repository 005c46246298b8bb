"""A sweep's results as text and as plain data."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ackclock._util.text_table import table

if TYPE_CHECKING:
    from ackclock.experiments.result import SweepResult

__all__ = ["data", "text"]

DEFAULT_METRICS = (
    "mean(flows.goodput_bps)",
    "jain(flows.goodput_bps)",
    "max(links.utilisation)",
    "max(links.delay_mean_s)",
)
"""Shown if the sweep names none and its runs have them."""


def shown(result: SweepResult) -> list[str]:
    """Metrics that a report shows: those of the sweep, or the usual ones that the runs have.

    Parameters
    ----------
    result
        The result.
    """
    from ackclock.experiments import metrics

    if result.sweep.metrics or not result.slots:
        return list(result.sweep.metrics)
    found = []
    for metric in DEFAULT_METRICS:
        parsed = metrics.parse(metric)
        tables = result.tables
        if parsed.table in tables and parsed.column in tables[parsed.table].column_names:
            found.append(metric)
    return found


def text(result: SweepResult) -> str:
    """Write a table per metric: axes, mean, interval, seeds.

    Parameters
    ----------
    result
        The result.
    """
    sweep = result.sweep
    count = f"{len(result.slots):,} runs"
    if result.interrupted or len(result.slots) < result.wanted:
        count = f"{len(result.slots):,} of {result.wanted:,} runs"
    stored = f", {result.stored:,} of them stored before" if result.stored else ""
    parts = [f"{sweep.name}: {count}{stored}"]
    for metric in shown(result):
        rows = [
            [str(row[name]) for name in result.axes]
            + [_number(row[key]) for key in ("mean", "ci_low", "ci_high")]
            + [str(row["seeds"])]
            for row in result.summary(metric).to_pylist()
        ]
        parts.append(f"{metric}\n{table([*result.axes, 'mean', 'low', 'high', 'seeds'], rows)}")
    return "\n\n".join(parts)


def _number(value: float | None) -> str:
    return "-" if value is None or math.isnan(value) else f"{value:.4g}"


def data(result: SweepResult) -> dict[str, Any]:
    """Give counts and summaries as plain data, for JSON.

    Parameters
    ----------
    result
        The result.
    """
    sweep = result.sweep
    return {
        "name": sweep.name,
        "engine": sweep.case.engine,
        "version": sweep.case.engine_version,
        "axes": list(result.axes),
        "points": len(sweep.points),
        "runs": len(result.slots),
        "wanted": result.wanted,
        "stored": result.stored,
        "interrupted": result.interrupted,
        "seconds": result.seconds,
        "summary": {metric: result.summary(metric).to_pylist() for metric in shown(result)},
    }
