"""A sweep's results as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock._util import number_text
from ackclock._util.text_table import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

__all__ = ["text"]


def text(title: str, axes: Sequence[str], summaries: Mapping[str, pa.Table]) -> str:
    """Write a table per metric: axes, mean, interval, seeds.

    Parameters
    ----------
    title
        The first line.
    axes
        Names of the axes.
    summaries
        By metric: columns of the axes, then mean, ci_low, ci_high, seeds.
    """
    parts = [title]
    for metric, found in summaries.items():
        rows = [
            [str(row[name]) for name in axes]
            + [number_text.metric(metric, row[key]) for key in ("mean", "ci_low", "ci_high")]
            + [str(row["seeds"])]
            for row in found.to_pylist()
        ]
        parts.append(f"{metric}\n{table([*axes, 'mean', 'low', 'high', 'seeds'], rows)}")
    return "\n\n".join(parts)
