"""Slowdown of transfers by size: how much longer each took than alone on its path."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

__all__ = ["slowdown_by_size"]

PERCENTILES = (50, 95, 99)


def slowdown_by_size(
    flows: Iterable[Mapping[str, Any]], *, groups: int = 10
) -> list[dict[str, float]]:
    """Give percentiles of the slowdown of transfers, in groups of equally many by size.

    The slowdown of a transfer is the time that it took divided by the least that it can take alone:
    the columns ``slowdown`` and ``ideal_s`` of the table ``flows``.

    Parameters
    ----------
    flows
        Rows of the table ``flows``, as ``run.summary["flows"]``. Those that did not complete are
        left out.
    groups
        How many groups, at least 1; fewer if there are fewer transfers. Transfers of one size are
        in one group.

    Returns
    -------
    list of dict
        By size: ``bytes_to``, the largest size of the group [B]; ``flows``, how many; ``p50``,
        ``p95``, ``p99`` and ``max`` of their slowdown, by nearest rank.

    Raises
    ------
    AckclockError
        ``groups`` is less than 1.

    References
    ----------
    Y. Li et al., "HPCC: High Precision Congestion Control", SIGCOMM 2019, section 5.1: "FCT
    slowdown", with percentiles by size.
    """
    if groups < 1:
        raise AckclockError(f"groups is {groups}, expected at least 1")
    ended = [flow for flow in flows if flow.get("slowdown") is not None]
    pairs = sorted((float(flow["delivered_bytes"]), float(flow["slowdown"])) for flow in ended)
    known = [pair for pair in pairs if not np.isnan(pair[1])]
    rows: list[dict[str, float]] = []
    sizes = [size for size, _ in known]
    begin = 0
    for group in range(min(groups, len(known))):
        end = max(round((group + 1) * len(known) / min(groups, len(known))), begin)
        while 0 < end < len(known) and sizes[end] == sizes[end - 1]:
            end += 1
        values = np.array([slowdown for _, slowdown in known[begin:end]])
        if values.size:
            ranks = np.percentile(values, PERCENTILES, method="inverted_cdf")
            row = {f"p{rank}": float(value) for rank, value in zip(PERCENTILES, ranks, strict=True)}
            rows.append(
                {"bytes_to": sizes[end - 1], "flows": float(values.size)}
                | row
                | {"max": float(values.max())}
            )
        begin = end
    return rows
