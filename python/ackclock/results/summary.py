"""Summaries, and the tables that hold the greater part of them.

What a summary says of each flow and each link is kept once, as the rows of the tables of these
names: where a summary is kept beside its tables, its ``flows`` and ``links`` are null.
"""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

from ackclock._util.arrow import rows_of
from ackclock._util.json_text import json_text
from ackclock.results.old_columns import rename_keys

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pyarrow as pa

__all__ = ["LISTS", "beside_tables", "lacks", "read", "whole"]

Row = dict[str, Any]

LISTS = ("flows", "links")
"""Parts of a summary that are tables too."""

QUEUES = "link_queues"
"""The table of the queues that disciplines distinguish: in a summary, ``queues`` of their link."""

REASON = "drops_"
"""How columns of the table ``links`` begin that count the packets dropped for a reason."""


def beside_tables(summary: Mapping[str, Any]) -> str:
    """Write a summary without what its tables hold, as JSON.

    Parameters
    ----------
    summary
        Of a run of the packet engine.
    """
    return json_text({key: None if key in LISTS else value for key, value in summary.items()})


def read(text: str, tables: Mapping[str, pa.Table]) -> dict[str, Any]:
    """Read the summary of a run that was written beside its tables, or whole.

    Parameters
    ----------
    text
        The summary as JSON.
    tables
        Of the run.
    """
    return whole(json.loads(text), partial(_rows_if_any, tables))


def _rows_if_any(tables: Mapping[str, pa.Table], name: str) -> list[Row]:
    return [] if name == QUEUES and name not in tables else rows_of(tables, name)


def lacks(summary: Mapping[str, Any]) -> list[str]:
    """Name the parts of a summary that are only in its tables.

    Parameters
    ----------
    summary
        As it is kept.
    """
    return [name for name in LISTS if name in summary and summary[name] is None]


def whole(summary: dict[str, Any], rows: Callable[[str], list[Row]]) -> dict[str, Any]:
    """Put into a summary what only its tables hold.

    Parameters
    ----------
    summary
        As it is kept; is changed.
    rows
        Gives the rows of a table by its name; of ``link_queues`` none where there is no such table.

    Returns
    -------
    dict
        The same.
    """
    for name in lacks(summary):
        summary[name] = [_with_reasons(rename_keys(row)) for row in rows(name)]
        if name == "links":
            _add_queues(summary[name], rows(QUEUES))
    return summary


def _add_queues(links: list[Row], queues: list[Row]) -> None:
    """Give links whose disciplines distinguish queues a list of those."""
    by_id = {link["id"]: link for link in links}
    for row in queues:
        queue = {name: value for name, value in row.items() if name not in ("link", "key")}
        by_id[row["link"]].setdefault("queues", []).append(queue)


def _with_reasons(row: Row) -> Row:
    """A link's row with the reasons of its drops as one table, that has only those there were."""
    reported = {name: value for name, value in row.items() if not name.startswith(REASON)}
    if len(reported) < len(row):
        reported["drop_reasons"] = {
            name.removeprefix(REASON).replace("_", "-"): count
            for name, count in row.items()
            if name.startswith(REASON) and count
        }
    return reported
