"""Recorded tables written to Parquet files while a run lasts, part by part."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any, Self

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow.parquet as pq

    from ackclock._util.arrow import Tables
    from ackclock._util.table_type import Table
    from ackclock.case import Spill

__all__ = ["ROWS", "SpilledTables", "TableFiles"]

ROWS = 2**18
"""Rows in memory from which on the core hands over those that are final; a group of a file."""


class TableFiles:
    """Takes the recorded tables of a run in parts and appends each to its file.

    After an error of the disk it takes the rest and writes nothing: the run goes on, for its
    summary is worth its time, and ``error`` is to be raised at its end.

    Parameters
    ----------
    folder
        Where ``NAME.parquet`` go.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.error: OSError | None = None
        self._writers: dict[str, pq.ParquetWriter] = {}
        self._names: dict[str, list[str]] = {}

    def take(self, tables: Mapping[str, Mapping[str, Any]], names: list[list[str]] | None) -> None:
        """Append a part.

        Parameters
        ----------
        tables
            Columns by table, as the core gives them.
        names
            Of flows and of links, with the first part.
        """
        if names is not None:
            self._names = dict(zip(("flow", "link"), names, strict=True))
        if self.error is not None:
            return
        try:
            self._append(tables)
        except OSError as error:
            self.error = error

    def _append(self, tables: Mapping[str, Mapping[str, Any]]) -> None:
        import pyarrow.parquet as pq

        from ackclock._util.arrow import join_columns

        for name, columns in tables.items():
            rows = self._add_labels(join_columns(columns, self._names))
            if name not in self._writers:
                file = self.folder / f"{name}.parquet"
                self._writers[name] = pq.ParquetWriter(file, rows.schema, compression="zstd")
            if rows.num_rows:
                self._writers[name].write_table(rows)

    def _add_labels(self, rows: Table) -> Table:
        return rows

    @property
    def tables(self) -> list[str]:
        """Tables that have files."""
        return list(self._writers)

    def put_into(self, tables: Tables, folder: Path) -> None:
        """Add what was taken to the other tables of the run.

        Parameters
        ----------
        tables
            Of the run.
        folder
            Where the files will be.
        """
        for name in self.tables:
            tables.put_file(name, folder / f"{name}.parquet")

    def __enter__(self) -> Self:
        """Nothing is open before the first part."""
        return self

    def __exit__(self, *args: object) -> None:
        """Close the files."""
        for writer in self._writers.values():
            try:
                writer.close()
            except OSError as error:
                self.error = self.error or error


class SpilledTables(TableFiles):
    """Recorded tables that stay in memory while they are few rows, and else go to files.

    An error of the disk ends the run. A run that fails leaves no files.

    Parameters
    ----------
    spill
        Where to, and what the files say besides.
    """

    def __init__(self, spill: Spill) -> None:
        super().__init__(spill.folder)
        self._labels = spill.labels
        self._small: Mapping[str, Mapping[str, Any]] = {}

    def take(self, tables: Mapping[str, Mapping[str, Any]], names: list[list[str]] | None) -> None:
        """Append a part; one that is all of the run and small is kept in memory.

        Parameters
        ----------
        tables, names
            As of `TableFiles`.

        Raises
        ------
        AckclockError
            The files cannot be written.
        """
        count = sum(len(next(iter(columns.values()), ())) for columns in tables.values())
        if not self._writers and not self._small and count < ROWS:
            self._small = tables
            self._names = dict(zip(("flow", "link"), names or ([], []), strict=True))
            return
        try:
            if not self._writers:
                # What is in it belongs to one user.
                self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
                self.folder.mkdir(exist_ok=True)
        except OSError as error:
            raise self._unwritten(error) from None
        pending, self._small = self._small, {}
        if pending:
            super().take(pending, None)
        super().take(tables, names)
        if self.error is not None:
            raise self._unwritten(self.error) from None

    def _unwritten(self, error: OSError) -> AckclockError:
        return AckclockError(
            f"{self.folder}: recorded tables of a run, which are written while it lasts, cannot be:"
            f" {error.strerror or error}"
        )

    def _add_labels(self, rows: Table) -> Table:
        import numpy as np

        from ackclock._util.arrow import words

        widened: Any = rows
        for column_index, (name, value) in enumerate(self._labels.items()):
            column = words([value], np.zeros(rows.num_rows, dtype=np.int32))
            widened = widened.add_column(column_index, name, column)
        labelled: Table = widened
        return labelled

    def put_into(self, tables: Tables, folder: Path) -> None:
        """Add what was taken to the other tables of the run.

        Parameters
        ----------
        tables, folder
            As of `TableFiles`.
        """
        for name, columns in self._small.items():
            tables.put(name, columns)
        for name in self.tables:
            tables.put_file(name, folder / f"{name}.parquet", tuple(self._labels))

    def __exit__(self, *args: object) -> None:
        """Close the files; after an error, remove them.

        Raises
        ------
        AckclockError
            What was left to write could not be written.
        """
        super().__exit__(*args)
        failed = args[0] is not None
        if (failed or self.error is not None) and self._writers:
            shutil.rmtree(self.folder, ignore_errors=True)
        if self.error is not None and not failed:
            raise self._unwritten(self.error) from None
