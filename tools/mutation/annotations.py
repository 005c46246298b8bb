"""Finds what a Python module holds that no run evaluates: annotations, and imports for them."""

from __future__ import annotations

import ast

__all__ = ["annotated"]

Place = tuple[int, int]


def annotated(text: str) -> list[tuple[Place, Place]]:
    """Find where annotations are, and what only a type checker reads; ends are not included.

    Lines count from 1 and columns from 0, in characters. Annotations are evaluated unless the
    module has ``from __future__ import annotations``.

    Parameters
    ----------
    text
        Of the module.
    """
    tree, lines = ast.parse(text), text.split("\n")
    is_lazy = any(
        isinstance(node, ast.ImportFrom)
        and node.module == "__future__"
        and "annotations" in {alias.name for alias in node.names}
        for node in tree.body
    )
    found: list[ast.AST | None] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            found += node.body
        elif is_lazy and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.append(node.returns)
        elif is_lazy and isinstance(node, ast.AnnAssign | ast.arg):
            found.append(node.annotation)

    def place(row: int, column: int) -> Place:
        return row, len(lines[row - 1].encode()[:column].decode())

    return [
        (place(node.lineno, node.col_offset), place(node.end_lineno, node.end_col_offset))
        for node in found
        if isinstance(node, ast.expr | ast.stmt)
        and node.end_lineno is not None
        and node.end_col_offset is not None
    ]
