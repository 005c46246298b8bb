"""Looks for metrics that the runs of a sweep cannot have, before the first of them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ackclock.errors import AckclockError, ScenarioError, suggestion
from ackclock.experiments import metrics

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    import pyarrow as pa

    from ackclock.case import Case
    from ackclock.experiments.design import Design

__all__ = ["check_metrics"]

MOST_POINTS = 24
"""Points that are tried. A metric that none of these has is refused only if there are no others."""

_NUMBERED = re.compile(r"f\d+")
"""Ids of transfers, which come while the run lasts."""


def check_metrics(sweep: Design) -> None:
    """Read every metric of a sweep from the first moment of its points.

    Parameters
    ----------
    sweep
        What is to be run. Engines whose runs have no first moment are not tried, nor is user code.

    Raises
    ------
    MetricError
        A metric is not one, or names a table, a column or a row that no point has.
    """
    until = sweep.replicates.until
    texts = [*sweep.metrics, *([until.metric] if until else [])]
    parsed = [metrics.parse(text) for text in texts if isinstance(text, str)]
    left = {metric.text: metric for metric in parsed}
    first: dict[str, metrics.MetricError] = {}
    for point in sweep.points[:MOST_POINTS]:
        if not left:
            return
        case = sweep.case_at(point)
        brief = _cut_short(case)
        if brief is None:
            return
        try:
            outcome = brief.execute()
        except AckclockError:
            return
        for text, metric in list(left.items()):
            try:
                _read(metric, outcome.summary, outcome.tables)
                del left[text]
            except metrics.MetricError as error:
                first.setdefault(text, error)
    if left and len(sweep.points) <= MOST_POINTS:
        raise first[next(iter(left))]


def _cut_short(case: Case) -> Case | None:
    """The case cut to its first microsecond, which has all tables; None if that is not known."""
    if case.engine != "packet" or case.holds_lock:
        return None
    try:
        made = case.replace(duration="1 us", warmup=None)
        made.check()
    except ScenarioError:
        return None
    return made


def _read(
    metric: metrics.Metric, summary: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> None:
    """Read a metric; in a table of flows or links its row must be there already."""
    if metric.table not in tables:
        metrics.of_summary(summary, metric)
        return
    table = tables[metric.table]
    rows = metrics.select_rows(table, metric)
    metrics.numbers(rows, metric)
    names = dict(metric.where)
    if rows.num_rows or "id" not in names or metric.table not in ("flows", "links"):
        return
    if metric.table == "flows" and _NUMBERED.fullmatch(names["id"]):
        return
    row_ids = table["id"].to_pylist()
    if names["id"] not in row_ids:
        row_kind = metric.table.removesuffix("s")
        hint = suggestion(names["id"], [str(name) for name in row_ids])
        raise metrics.MetricError(
            f'"{metric.text}": there is no {row_kind} "{names["id"]}"; {hint}'
        )
