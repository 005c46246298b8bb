"""What a newcomer costs those who were there before."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from ackclock.analysis.grouping import group_rows, numbers, table_of
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

__all__ = ["harm", "harm_table"]


def harm(solo: float, together: float, better: Literal["more", "less"] = "more") -> float:
    """Harm: the part of a service's solo performance that a competitor takes.

    (solo − together) / solo where more is better, as throughput; (together − solo) / together
    where less is better, as delay or loss.

    Parameters
    ----------
    solo
        Performance alone.
    together
        Performance beside the competitor.
    better
        Whether more or less is better.

    Returns
    -------
    float
        0: none, 1: all; negative if the competitor helps. NaN if both are zero.

    References
    ----------
    R. Ware, M. K. Mukerjee, S. Seshan, J. Sherry, "Beyond Jain's Fairness Index: Setting the Bar
    For The Deployment of Congestion Control Algorithms", HotNets 2019, section 4.
    """
    high, low = (solo, together) if better == "more" else (together, solo)
    return (high - low) / high if high else float("nan")


def harm_table(
    solo: pa.Table,
    together: pa.Table,
    value: str,
    by: Sequence[str],
    *,
    better: Literal["more", "less"] = "more",
) -> pa.Table:
    """Harm of each group: mean performance alone against that beside a competitor.

    Parameters
    ----------
    solo, together
        Tidy tables of the same victims, alone and beside the competitor.
    value
        Column of the performance.
    by
        Columns that distinguish groups, as victim and seed; both tables have them.
    better
        Whether more or less is better.

    Returns
    -------
    pyarrow.Table
        Columns of ``by``, ``solo``, ``together``, ``harm``; groups that both tables have.

    Raises
    ------
    AckclockError
        A column is missing, or no group is in both tables.
    """
    alone = {
        tuple(key.values()): float(numbers(rows, value).mean())
        for key, rows in group_rows(solo, by, value)
    }
    made: list[dict[str, Any]] = []
    for key, rows in group_rows(together, by, value):
        before = alone.get(tuple(key.values()))
        if before is not None:
            after = float(numbers(rows, value).mean())
            made.append(
                {**key, "solo": before, "together": after, "harm": harm(before, after, better)}
            )
    if not made:
        message = f"no group of {', '.join(by)} is in both tables"
        raise AckclockError(message)
    return table_of(made)
