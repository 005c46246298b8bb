"""A sweep's results as text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock._util import number_text
from ackclock._util.text_table import table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pyarrow as pa

__all__ = ["text"]

MOST_NAMED = 3
"""Rows that a note names."""


def text(title: str, axes: Sequence[str], summaries: Mapping[str, pa.Table]) -> str:
    """Write a table per metric: axes, mean, interval, range, seeds; below it what its notes say.

    Parameters
    ----------
    title
        The first line.
    axes
        Names of the axes.
    summaries
        By metric: columns of the axes, then those of `SweepResult.summary`.
    """
    blocks = [title]
    for metric, rows_table in summaries.items():
        data = rows_table.to_pylist()
        numbers = ("mean", "ci_low", "ci_high", "min", "max")
        rows = [
            [str(row[name]) for name in axes]
            + [number_text.metric(metric, row[key]) for key in numbers]
            + [str(row["seeds"])]
            for row in data
        ]
        head = [*axes, "mean", "low", "high", "min", "max", "seeds"]
        blocks.append("\n".join([metric, table(head, rows), *_notes(data, axes)]))
    return "\n\n".join(blocks)


def _notes(rows: Sequence[Mapping[str, Any]], axes: Sequence[str]) -> list[str]:
    """A line for each note, with the rows that it is about, unless that is all of them."""
    rows_of_note: dict[str, list[str]] = {}
    for row in rows:
        for note in filter(None, row["note"].split("; ")):
            row_text = ", ".join(f"{name} = {row[name]}" for name in axes)
            rows_of_note.setdefault(note, []).append(row_text)
    lines = []
    for note, row_texts in rows_of_note.items():
        if len(row_texts) == len(rows):
            lines.append(f"note: {note}")
        else:
            more = (
                f" and at {len(row_texts) - MOST_NAMED} more" if len(row_texts) > MOST_NAMED else ""
            )
            lines.append(f"note: at {'; at '.join(row_texts[:MOST_NAMED])}{more}: {note}")
    return lines
