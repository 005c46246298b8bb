"""The tables that a run records on request: the core has the list, here it is a class.

The types of its properties are in `recorded.pyi`, which `tools/write_stubs.py` writes.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

from ackclock import _core

if TYPE_CHECKING:
    from ackclock._util.table_type import Table

__all__ = ["RecordedTables", "recorded_tables"]


@cache
def recorded_tables() -> dict[str, dict[str, Any]]:
    """Read what the core says of each table: its name, meaning and columns."""
    return {table["name"]: table for table in json.loads(_core.recorded_tables())}


class RecordedTables:
    """A property for each table that can be recorded."""

    def table(self, name: str) -> Table:
        """Fetch a table by its name."""
        raise NotImplementedError(name)


def _add_property(name: str, description: str) -> None:
    setattr(RecordedTables, name, property(lambda self: self.table(name), doc=description))


for _table in recorded_tables().values():
    _add_property(_table["name"], _table["description"])
