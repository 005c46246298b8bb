"""What notebooks show: tables as HTML, escaped, and scrolled where they are wide or long."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from ackclock._util.number_text import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ackclock._util.table_type import Table

__all__ = ["MOST_ROWS", "fragment", "html_table", "of_table", "show_tables"]

MOST_ROWS = 20
"""Rows of a recorded table that are shown; it may have millions."""


def _escape(text: str) -> str:
    from html import escape

    return escape(text)


def fragment(title: str, *blocks: str) -> str:
    """Join a title and parts of HTML.

    Parameters
    ----------
    title
        As text.
    blocks
        As HTML.
    """
    return f"<div><p><strong>{_escape(title)}</strong></p>{''.join(blocks)}</div>"


def html_table(head: Sequence[str], rows: Iterable[Sequence[Any]], note: str = "") -> str:
    """Write a table.

    Parameters
    ----------
    head
        Titles of the columns.
    rows
        Cells, written by ``str``.
    note
        One sentence below.
    """
    body = "".join(f"<tr>{_cells('td', row)}</tr>" for row in rows)
    below = f"<p>{_escape(note)}</p>" if note else ""
    return (
        '<div style="overflow: auto; max-height: 30em"><table>'
        f"<thead><tr>{_cells('th', head)}</tr></thead><tbody>{body}</tbody></table></div>{below}"
    )


def _cells(kind: str, row: Sequence[Any]) -> str:
    return "".join(f"<{kind}>{_escape(str(cell))}</{kind}>" for cell in row)


def of_table(table: Table) -> str:
    """Write the first rows of an Arrow table, and how many there are.

    Parameters
    ----------
    table
        The table.
    """
    rows = table.slice(0, MOST_ROWS).to_pylist()
    names = table.column_names
    cells = [["" if row[name] is None else _short(row[name]) for name in names] for row in rows]
    more = f", of which the first {MOST_ROWS} are shown" if table.num_rows > MOST_ROWS else ""
    return html_table(names, cells, f"{table.num_rows:,} rows{more}")


def _short(value: object) -> object:
    return number(value, 6) if isinstance(value, float) else value


def show_tables() -> None:
    """Let IPython, if it runs, show Arrow tables as tables; PyArrow itself gives text only."""
    if "IPython" not in sys.modules:
        return
    from IPython.core.getipython import get_ipython

    shell = get_ipython()
    if shell is not None and shell.display_formatter is not None:
        formatter = shell.display_formatter.formatters["text/html"]
        formatter.for_type_by_name("pyarrow.lib", "Table", of_table)
