"""Groups rows of tidy tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ackclock.errors import AckclockError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt
    import pyarrow as pa

__all__ = ["group_rows", "numbers", "table_of"]


def group_rows(
    table: pa.Table, by: Sequence[str], *needed: str
) -> Iterator[tuple[dict[str, Any], pa.Table]]:
    """Give the groups of a table in order of their first rows.

    Parameters
    ----------
    table
        Any.
    by
        Columns whose values distinguish groups.
    *needed
        Further columns that must be there.

    Raises
    ------
    AckclockError
        The table lacks a column.
    """
    import pyarrow as pa

    for name in (*by, *needed):
        if name not in table.column_names:
            message = f'the table has no column "{name}"; {suggestion(name, table.column_names)}'
            raise AckclockError(message)
    keys = zip(*(table[name].to_pylist() for name in by), strict=True) if by else None
    places: dict[tuple[Any, ...], list[int]] = {}
    for row, key in enumerate(keys if keys is not None else ((),) * table.num_rows):
        places.setdefault(tuple(key), []).append(row)
    for key, rows in places.items():
        yield dict(zip(by, key, strict=True)), table.take(pa.array(rows))


def numbers(table: pa.Table, column: str) -> npt.NDArray[np.float64]:
    """A column as numbers; unknown ones are left out.

    Parameters
    ----------
    table, column
        The table, and the name.
    """
    values = [value for value in table[column].to_pylist() if value is not None]
    if not values or not all(isinstance(v, int | float) for v in values):
        message = f'the column "{column}" holds no numbers'
        raise AckclockError(message)
    return np.array(values, dtype=np.float64)


def table_of(rows: Sequence[dict[str, Any]]) -> pa.Table:
    """Make a table of rows with equal keys; NaN becomes null.

    Parameters
    ----------
    rows
        At least one.
    """
    import pyarrow as pa

    def plain(value: Any) -> Any:
        return None if isinstance(value, float) and np.isnan(value) else value

    names = list(rows[0]) if rows else []
    columns = {name: [plain(row[name]) for row in rows] for name in names}
    return pa.table({name: pa.array(values) for name, values in columns.items()})
