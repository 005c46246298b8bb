"""Says of a run whose measurement begins at 0 s that its start is a warm-up, and what that does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock._util.number_text import engineering, number, percent
from ackclock.analysis.warm_up import find_warm_up

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from ackclock._util.table_type import Table

__all__ = ["describe_warm_up"]


def describe_warm_up(summary: Mapping[str, Any], tables: Mapping[str, Table]) -> list[str]:
    """Write a sentence for each series of a run that has a warm-up, in which it is measured.

    Parameters
    ----------
    summary, tables
        Of the run, with ``flow_samples`` or ``link_samples``; without these nothing is known.
    """
    if summary["window_s"] != summary["duration_s"]:
        return []
    series = []
    if "flow_samples" in tables:
        # A transfer that ends leaves a lower rate behind, which is no end of a warm-up.
        lasting = [flow["id"] for flow in summary["flows"] if flow.get("completed_after_s") is None]
        series.append(("goodput", "bit/s", *_goodput(tables["flow_samples"], lasting)))
    if "link_samples" in tables and summary["links"]:
        busiest = max(summary["links"], key=lambda link: link["utilisation"])["id"]
        queue = _queue(tables["link_samples"], busiest)
        series.append((f"the queue of {busiest}", "packets", *queue))
    texts = []
    for name, unit, times, values in series:
        found = find_warm_up(values)
        if found is None:
            continue
        begin = f"{number(float(times[found.length - 1]))} s"
        means = [
            engineering(mean, unit) if unit == "bit/s" else f"{number(mean)} {unit}"
            for mean in (found.mean, found.mean_after)
        ]
        more = "more" if found.move > 0 else "less"
        remedy = f'set warmup = "{begin}"'
        if found.is_longer:
            remedy = "that is half of the run and may not be all: simulate longer, with a warmup"
        texts.append(
            f"measured from 0 s, but the first {begin} are a warm-up of {name} (MSER-5): its mean"
            f" is {means[0]}, {percent(abs(found.move))} {more} than without them, {means[1]};"
            f" {remedy}"
        )
    return texts


def _goodput(
    samples: Table, flows: list[str]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Ends of the intervals [s], and what flows delivered in each together [bit/s]."""
    from ackclock._util.arrow import numbers

    names = np.asarray(samples["flow"].to_pylist(), dtype=str)
    rows = np.isin(names, flows)
    time, delivered = (numbers(samples[name])[rows] for name in ("time_s", "delivered_bytes"))
    flow = np.unique(names[rows], return_inverse=True)[1]
    order = np.lexsort((time, flow))
    same = np.diff(flow[order]) == 0
    times, place = np.unique(time[order][1:][same], return_inverse=True)
    gained = np.bincount(place, np.diff(delivered[order].astype(float))[same], len(times))
    return _equal(times, 8 * gained / np.diff(np.concatenate([[0.0], times])))


def _queue(samples: Table, link: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Times of samples [s], and what waits at a link then [packets]."""
    from ackclock._util.arrow import numbers

    rows = np.asarray(samples["link"].to_pylist()) == link
    time, packets = (numbers(samples[name])[rows] for name in ("time_s", "queue_packets"))
    return _equal(time[1:], packets[1:].astype(float))


def _equal(
    times: npt.NDArray[np.float64], values: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Without a last sample that is nearer to the one before it than the others are."""
    if len(times) > 2 and times[-1] - times[-2] < 0.99 * (times[1] - times[0]):
        return times[:-1], values[:-1]
    return times, values
