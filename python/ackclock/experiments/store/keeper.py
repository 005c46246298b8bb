"""The interface of a sweep to its store; and a store that is memory only."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from ackclock._util.output_folder import ScratchFolder
from ackclock.experiments.executors.task import KEY

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    import pyarrow as pa

    from ackclock.case import Case
    from ackclock.experiments.executors.task import RunRecord

__all__ = ["KEY", "Keeper", "Memory", "with_key"]


class Keeper(Protocol):
    """Keeps runs by key. Every key is kept once."""

    @property
    def pieces(self) -> Path:
        """Folder where runs may write large tables; what `add` gets may be in files there."""

    def find_stored(self, keys: Collection[str]) -> set[str]:
        """Those of the keys whose runs are kept, and whole."""

    def claim(self, keys: Collection[str]) -> set[str]:
        """Those of the keys that nobody else is doing or has done; others wait for them."""

    def add(self, record: RunRecord, case: Case, labels: Mapping[str, Any] | None = None) -> None:
        """Take a finished run; it is safe at the latest after `flush`."""

    def flush(self) -> None:
        """Make safe all that was added."""

    def table_names(self, keys: Collection[str]) -> list[str]:
        """Tables that at least one of the runs has."""

    def table(self, name: str, keys: Collection[str]) -> pa.Table | None:
        """Rows of a table of these runs, with a column ``key`` before the others."""

    def summaries(self, keys: Collection[str]) -> dict[str, dict[str, Any]]:
        """Summaries of these runs by key, as they are kept: without what their tables hold."""


def with_key(key: str, table: pa.Table) -> pa.Table:
    """Put the run's key before the columns of a table.

    Parameters
    ----------
    key
        Of the run.
    table
        Of the run.
    """
    import numpy as np

    from ackclock._util.arrow import words

    column = words([key], np.zeros(table.num_rows, dtype=np.int32))
    return table.add_column(0, KEY, column)


def join_tables(tables: list[pa.Table]) -> pa.Table:
    """Join tables of the same kind of many runs, also of engines that differ in some columns.

    Parameters
    ----------
    tables
        At least one.
    """
    import pyarrow as pa

    if len(tables) == 1:
        return tables[0]
    same = all(table.schema.equals(tables[0].schema) for table in tables)
    combined = pa.concat_tables(tables, promote_options="none" if same else "permissive")
    return combined.unify_dictionaries().combine_chunks()


class Memory:
    """Keeps runs as long as it is used: in memory, their large tables in a temporary folder."""

    def __init__(self) -> None:
        self._records: dict[str, RunRecord] = {}
        self._scratch = ScratchFolder()

    @property
    def pieces(self) -> Path:
        """A temporary folder, for as long as the runs are kept."""
        return self._scratch.path

    def find_stored(self, keys: Collection[str]) -> set[str]:
        """Those of the keys whose runs are kept.

        Parameters
        ----------
        keys
            Keys of runs.
        """
        return self._records.keys() & set(keys)

    def claim(self, keys: Collection[str]) -> set[str]:
        """All of the keys: nobody else has this memory.

        Parameters
        ----------
        keys
            Keys of runs.
        """
        return set(keys)

    def add(self, record: RunRecord, case: Case, labels: Mapping[str, Any] | None = None) -> None:
        """Take a finished run.

        Parameters
        ----------
        record
            The run.
        case, labels
            What was run, and where in its grid; not kept.
        """
        del case, labels
        self._records[record.key] = record

    def flush(self) -> None:
        """Nothing to do: memory is never safe."""

    def table_names(self, keys: Collection[str]) -> list[str]:
        """Tables that at least one of the runs has.

        Parameters
        ----------
        keys
            Keys of runs.
        """
        return list(dict.fromkeys(name for key in keys for name in self._records[key].tables))

    def table(self, name: str, keys: Collection[str]) -> pa.Table | None:
        """Rows of a table of these runs, with a column ``key`` before the others.

        Parameters
        ----------
        name
            Of the table.
        keys
            Keys of runs.
        """
        keyed_tables = [
            with_key(key, self._records[key].tables[name])
            for key in keys
            if name in self._records[key].tables
        ]
        return join_tables(keyed_tables) if keyed_tables else None

    def summaries(self, keys: Collection[str]) -> dict[str, dict[str, Any]]:
        """Summaries of these runs by key, without what their tables hold.

        Parameters
        ----------
        keys
            Keys of runs.
        """
        return {key: json.loads(self._records[key].summary_json) for key in keys}
