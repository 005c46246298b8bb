"""Plain aligned text tables, for terminals and logs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["printable", "table"]

_CONTROL = {code: f"\\x{code:02x}" for code in (*range(9), *range(11, 32), *range(127, 160))}
# What turns the direction of text, ends lines, or is not to be seen; halves of characters.
_HIDDEN = (0x61C, *range(0x200B, 0x2010), *range(0x2028, 0x202F), *range(0x2060, 0x2070), 0xFEFF)
_CONTROL |= {code: f"\\u{code:04x}" for code in (*_HIDDEN, *range(0xD800, 0xE000))}


def printable(text: str) -> str:
    """Write control characters as escapes: names from strangers send no commands to a terminal.

    Also those that change the direction of what follows, or are invisible.

    Parameters
    ----------
    text
        To be printed; tabs and ends of lines stay.
    """
    return text.translate(_CONTROL)


def table(head: Sequence[str], rows: Sequence[Sequence[str]], most: int = 40) -> str:
    """Align columns: text to the left, numbers to the right.

    Parameters
    ----------
    head
        Column titles.
    rows
        Cells as text.
    most
        Rows shown; the number left out is said.
    """
    visible_rows = list(rows)
    if len(rows) > most:
        visible_rows = [*rows[: most // 2], *rows[len(rows) - most // 2 :]]
    head, visible_rows = (
        [printable(cell) for cell in head],
        [[*map(printable, row)] for row in visible_rows],
    )
    widths = [max(len(row[i]) for row in [head, *visible_rows]) for i in range(len(head))]
    right = [
        bool(visible_rows)
        and all(row[i][:1].isdigit() or row[i][:1] in "-+" for row in visible_rows)
        for i in range(len(head))
    ]

    def line(cells: Sequence[str]) -> str:
        parts = [
            cell.rjust(width) if to_right else cell.ljust(width)
            for cell, width, to_right in zip(cells, widths, right, strict=True)
        ]
        return "  ".join(parts).rstrip()

    out = [line(head), *(line(row) for row in visible_rows)]
    if len(rows) > most:
        out.insert(1 + most // 2, f"... {len(rows) - len(visible_rows)} more ...")
    return "\n".join(out)
