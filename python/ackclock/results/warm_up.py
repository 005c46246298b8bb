"""Says of a run whose measurement begins at 0 s that its start is a warm-up, and what that does."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import engineering, number, percent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

__all__ = ["describe_warm_up", "describe_warm_ups"]


def describe_warm_up(summary: Mapping[str, Any]) -> list[str]:
    """Write a sentence for each series of a run that has a warm-up, in which it is measured.

    Parameters
    ----------
    summary
        Of the run, with ``warm_ups``: what was searched is what flows without an end delivered, and
        the queue of the link that was used most.
    """
    return [_sentence(warm_up) for warm_up in summary.get("warm_ups") or ()]


def describe_warm_ups(summaries: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write a sentence for goodput, and one for queues, of runs of which some have a warm-up.

    Parameters
    ----------
    summaries
        Of the runs, with ``warm_ups``.
    """
    runs = [summary.get("warm_ups") or () for summary in summaries]
    series: dict[bool, list[Mapping[str, Any]]] = {}
    for warm_ups in runs:
        for warm_up in warm_ups:
            series.setdefault(warm_up["link"] is None, []).append(warm_up)
    return [_joint_sentence(series[key], len(runs)) for key in (True, False) if key in series]


def _joint_sentence(warm_ups: Sequence[Mapping[str, Any]], runs: int) -> str:
    name = "goodput" if warm_ups[0]["link"] is None else "the queue of the busiest link"
    ends = _range([number(warm_up["end_s"]) for warm_up in _extremes(warm_ups, _end)])
    moves = _range([percent(_move(warm_up)) for warm_up in _extremes(warm_ups, _move)])
    many = "1 run has" if len(warm_ups) == 1 else f"{len(warm_ups):,} runs have"
    return (
        f"measured from 0 s, but {many} a warm-up of {name} (MSER-5), of {runs:,}: the first {ends}"
        f" s, without which the mean would be {moves} of what it is; set warmup"
    )


def _range(ends: Sequence[str]) -> str:
    return " to ".join(dict.fromkeys(ends))


def _extremes(
    warm_ups: Sequence[Mapping[str, Any]], key: Callable[[Mapping[str, Any]], float]
) -> list[Mapping[str, Any]]:
    return [min(warm_ups, key=key), max(warm_ups, key=key)]


def _end(warm_up: Mapping[str, Any]) -> float:
    return float(warm_up["end_s"])


def _move(warm_up: Mapping[str, Any]) -> float:
    """The mean without the warm-up over that with it; infinite where nothing is left of it."""
    return float(warm_up["mean_after"] / warm_up["mean"]) if warm_up["mean"] else math.inf


def _sentence(warm_up: Mapping[str, Any]) -> str:
    link, unit, end = warm_up["link"], warm_up["unit"], f"{number(warm_up['end_s'])} s"
    mean, mean_after = warm_up["mean"], warm_up["mean_after"]
    name = "goodput" if link is None else f"the queue of {link}"
    means = [
        engineering(value, unit) if unit == "bit/s" else f"{number(value)} {unit}"
        for value in (mean, mean_after)
    ]
    more = "more" if mean > mean_after else "less"
    remedy = f'set warmup = "{end}"'
    if warm_up["is_longer"]:
        remedy = "that is half of the run and may not be all: simulate longer, with a warmup"
    return (
        f"measured from 0 s, but the first {end} are a warm-up of {name} (MSER-5): its mean is"
        f" {means[0]}, {percent(abs(mean / mean_after - 1))} {more} than without them, {means[1]};"
        f" {remedy}"
    )
