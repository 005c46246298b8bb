"""A page over a store: its sweeps, their figures, and what is missing or was warned of."""

from __future__ import annotations

import base64
import io
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import metric as metric_text
from ackclock._util.number_text import working_time
from ackclock._util.page import render
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ackclock.experiments.result import SweepResult
    from ackclock.experiments.store import Store

__all__ = ["METRICS", "store_page"]

METRICS = ("mean(flows.goodput_bps)", "max(links.delay_mean_s)")
"""What a page shows of each sweep where nothing else is requested."""

MOST_ROWS = 60
"""Rows of a table that are shown."""
MOST_WARNINGS = 20


def store_page(
    store: Store,
    metrics: Sequence[str] = (),
    sweeps: Sequence[str] = (),
    filters: Sequence[str] = (),
    *,
    hidden: bool = False,
) -> str:
    """Write a page about the sweeps of a store; it loads nothing.

    Parameters
    ----------
    store
        The store.
    metrics
        Shown of each sweep; none: `METRICS`, as far as the sweep's runs have them.
    sweeps
        Names; none: all.
    filters
        As of ``ackclock results list --where``.
    hidden
        Whether sweeps of commands such as ``evaluate`` are among them.

    Raises
    ------
    AckclockError
        A filter is none, or no run of a sweep passes.
    """
    from ackclock import _core
    from ackclock.experiments.store import query

    rows = query.find(store, filters, hidden=hidden or bool(sweeps))
    names = list(dict.fromkeys(row["sweep"] for row in rows if row["sweep"]))
    missing = [name for name in sweeps if name not in names]
    if missing or not names:
        trouble = f'no sweep "{missing[0]}"' if missing else "no runs of a sweep"
        message = f"{store.folder} has {trouble}"
        raise AckclockError(message)
    sweep_tables = [
        _sweep(store, name, [row for row in rows if row["sweep"] == name], metrics, filters)
        for name in names
        if not sweeps or name in sweeps
    ]
    return render(
        Path(__file__).with_name("store_page.html"),
        folder=store.folder.name,
        sweeps=sweep_tables,
        alone=sum(1 for row in rows if not row["sweep"]),
        version=_core.version(),
    )


def _sweep(
    store: Store,
    name: str,
    rows: Sequence[dict[str, Any]],
    metrics: Sequence[str],
    filters: Sequence[str],
) -> dict[str, Any]:
    """What the page says of a sweep."""
    from ackclock.experiments.stored import stored_result

    about: dict[str, Any] = {
        "name": name,
        "runs": len(rows),
        "engines": ", ".join(dict.fromkeys(row["engine"] for row in rows)),
        "versions": ", ".join(dict.fromkeys(row["version"] for row in rows)),
        "cpu": working_time(sum(row["cpu_s"] or 0.0 for row in rows)),
        "ended": time.strftime("%Y-%m-%d %H:%M", time.gmtime(max(r["finished_at"] for r in rows))),
        "faults": [],
        "metrics": [],
        "axes": [],
    }
    try:
        result = stored_result(store, name, filters)
    except AckclockError as error:
        about["faults"].append(str(error))
        return about
    about["axes"] = list(result.axes)
    about["seeds"] = len({slot.seed for slot in result.slots})
    about["faults"] += [*_gaps(result), *_warnings(result)]
    for metric in metrics or METRICS:
        try:
            about["metrics"].append(_metric(result, metric))
        except AckclockError as error:
            if metrics:
                about["faults"].append(f"{metric}: {error}")
    return about


def _gaps(result: SweepResult) -> list[str]:
    """Points with fewer runs than others: a sweep that stopped, or packs that are damaged."""
    counts = dict.fromkeys(range(len(result.sweep.points)), 0)
    for slot in result.slots:
        counts[slot.point] += 1
    most = max(counts.values(), default=0)
    few = [result.sweep.points[i] for i, count in counts.items() if count < most]
    if not few:
        return []
    labels = ", ".join(f"{name} = {label}" for name, label in few[0].labels.items())
    more = f", and {len(few) - 1} more" if len(few) > 1 else ""
    return [f"{len(few)} of {len(counts)} points have fewer than {most} runs: {labels}{more}"]


def _warnings(result: SweepResult) -> list[str]:
    """What runs warned of, each sentence once with the number of runs."""
    counts: dict[str, int] = {}
    for summary in result.summaries.values():
        for warning in dict.fromkeys(summary.get("warnings") or ()):
            counts[warning] = counts.get(warning, 0) + 1
    often = sorted(counts.items(), key=lambda one: -one[1])
    return [f"{count} runs: {warning}" for warning, count in often[:MOST_WARNINGS]]


def _metric(result: SweepResult, metric: str) -> dict[str, Any]:
    """The means of a metric with their intervals, and its figure."""
    rows = result.summary(metric).to_pylist()
    if all(row["mean"] is None or row["mean"] != row["mean"] for row in rows):
        message = "no run has a value of it"
        raise AckclockError(message)
    table = [
        [str(row[name]) for name in result.axes]
        + [metric_text(metric, row[name]) for name in ("mean", "ci_low", "ci_high")]
        + [str(row["seeds"]), str(row["note"] or "")]
        for row in rows
    ]
    return {
        "name": metric,
        "head": [*result.axes, "mean", "low", "high", "seeds", "note"],
        "rows": table[:MOST_ROWS],
        "left_out": len(table) - len(table[:MOST_ROWS]),
        "picture": _picture(result, metric),
    }


def _picture(result: SweepResult, metric: str) -> str:
    """The figure of a metric as SVG in base 64."""
    options: dict[str, Any] = {"metric": metric}
    figure = result.plot("lines" if result.axes else "ecdf", **options)
    file = io.BytesIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    return base64.b64encode(file.getvalue()).decode()
