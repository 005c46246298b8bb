"""Metrics in words, for the axes of figures."""

from __future__ import annotations

import re

__all__ = ["describe_metric"]

_FORM = re.compile(
    r"(?:(?P<function>\w+)\()?(?P<table>\w+)(?:\[(?P<filter>[^\]]*)\])?\.(?P<column>[\w.]+)\)?"
)
"""Of a metric, as `ackclock.experiments.metrics` reads it."""

_FUNCTIONS = {
    "mean": "mean",
    "sum": "sum of",
    "min": "least",
    "max": "largest",
    "median": "median",
    "p95": "95th percentile of",
    "p99": "99th percentile of",
    "std": "standard deviation of",
    "count": "count of",
    "jain": "Jain's index of",
}

_COLUMNS = {
    "delay_mean_s": "mean queueing delay",
    "srtt_mean_s": "mean round trip",
    "rtt_min_s": "least round trip",
    "queue_mean_packets": "mean queue in packets",
    "completed_after_s": "completion time",
    "completion_s": "completion time",
    "loss_ratio": "loss ratio",
    "one_way_mean_s": "mean one-way delay",
}
"""Columns whose name, with its unit left out, is not what a reader would say."""

_PERCENTILE = re.compile(r"(?P<what>.+)_p(?P<rank>\d+)_\w+")
_WHAT = {
    "rtt": "the round trip",
    "one_way": "the one-way delay",
    "queueing": "queueing",
    "delay": "the delay",
    "queue": "the queue in packets",
}
_UNITS = ("_bps", "_s", "_bytes", "_ratio")


def describe_metric(text: str) -> str:
    """Say a metric in words: ``goodput of mine`` for ``flows[mine].goodput_bps``.

    Parameters
    ----------
    text
        The metric; what is none stays as it is.
    """
    metric = _FORM.fullmatch(text.strip())
    if metric is None:
        return text
    quantity, table, function = _column(metric["column"]), metric["table"], metric["function"]
    if table in ("flows", "links"):
        names = [pair.strip().removeprefix("id=") for pair in (metric["filter"] or "").split(",")]
        whose = ", ".join(name.replace("=", " ") for name in names if name)
        quantity = f"{quantity} of {whose or table}"
    return quantity if function is None else f"{_FUNCTIONS.get(function, function)} {quantity}"


def _column(name: str) -> str:
    if name in _COLUMNS:
        return _COLUMNS[name]
    match = _PERCENTILE.fullmatch(name)
    if match and match["what"] in _WHAT:
        return f"{match['rank']}th percentile of {_WHAT[match['what']]}"
    for unit in _UNITS:
        name = name.removesuffix(unit)
    return name.replace("_", " ")
