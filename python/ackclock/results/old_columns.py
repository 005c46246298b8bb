"""Columns of tables that had another name in earlier versions.

``completion_s`` was a duration in tables of packets, and a time in those of fluid transfers.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import pyarrow as pa

__all__ = ["add_old_columns", "new_name", "rename_columns", "rename_keys", "with_old_names"]

_OLD = "completion_s"
_DURATION, _TIME = "completed_after_s", "completed_at_s"


def new_name(name: str, beside: Collection[str]) -> str:
    """Give the present name of a column.

    Parameters
    ----------
    name
        As it is or was.
    beside
        Columns of its table.
    """
    if name != _OLD:
        return name
    return _TIME if "arrival_s" in beside else _DURATION


def rename_columns(table: pa.Table) -> pa.Table:
    """Give a table that an earlier version wrote the names of this one.

    Parameters
    ----------
    table
        Of one or many runs.
    """
    if _OLD not in table.column_names:
        return table
    return table.rename_columns([new_name(name, table.column_names) for name in table.column_names])


def rename_keys(row: dict[str, Any]) -> dict[str, Any]:
    """Give a row of such a table the names of this version.

    Parameters
    ----------
    row
        Its values by column.
    """
    return {new_name(name, row): value for name, value in row.items()} if _OLD in row else row


def with_old_names(text: str) -> str:
    """Write the earlier names of columns in a text, so that its hash is that of before.

    Parameters
    ----------
    text
        SQL, or data that has some.
    """
    return re.sub(rf"\b({_DURATION}|{_TIME})\b", _OLD, text)


def add_old_columns(table: pa.Table, names: Iterable[str]) -> pa.Table:
    """Add columns under the earlier names that something still uses.

    Parameters
    ----------
    table
        With the present names.
    names
        That are read; those that are no earlier names are left alone.
    """
    for name in {name for name in names if name not in table.column_names}:
        present = new_name(name, table.column_names)
        if present in table.column_names:
            table = table.append_column(name, table[present])
    return table
