"""Looks at queries before they are run: each is one SELECT, over known tables."""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb

__all__ = ["Reads", "connect", "reads"]

Reads = frozenset[tuple[str, str]]
"""Schema and table of everything that a query reads."""


def connect() -> duckdb.DuckDBPyConnection:
    """Open an empty database in memory that reads no file and gives the same order always."""
    from ackclock._util.confined_sql import connect as confined

    return confined(threads=1)


@cache
def _parser() -> duckdb.DuckDBPyConnection:
    return connect()


@cache
def reads(query: str) -> Reads | str:
    """Find the tables that a query reads.

    Parameters
    ----------
    query
        The text.

    Returns
    -------
    frozenset or str
        Pairs of schema and table; or a sentence that says what is wrong with the query.
    """
    row = _parser().execute("SELECT json_serialize_sql($1)", [query]).fetchone()
    tables: set[tuple[str, str]] = set()
    own: set[str] = set()

    def note_tables(node: dict[str, Any]) -> dict[str, Any]:
        if node.get("type") == "BASE_TABLE":
            tables.add((str(node["schema_name"]), str(node["table_name"])))
        own.update(_own_tables(node))
        return node

    # While it is read: a tree has a hundred times as many nodes as tables.
    tree: Any = {"error": True, "error_message": "it is empty"}
    if row:
        tree = json.loads(row[0], object_hook=note_tables)
    if tree.get("error"):
        return f"the query is not one SELECT: {tree['error_message']}"
    if len(tree["statements"]) != 1:
        return f"the query is {len(tree['statements'])} statements; expected one SELECT"
    return frozenset(pair for pair in tables if pair[0] or pair[1] not in own)


def _own_tables(node: dict[str, Any]) -> Iterator[str]:
    """Names that WITH gives inside the query."""
    table = node.get("cte_map")
    if isinstance(table, dict):
        for entry in table.get("map", ()):
            yield str(entry["key"])
