"""Recorded tables written to Parquet files while a run lasts, part by part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import pyarrow.parquet as pq

__all__ = ["ROWS", "TableFiles"]

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
        import pyarrow.parquet as pq

        from ackclock._util.arrow import joined

        if names is not None:
            self._names = dict(zip(("flow", "link"), names, strict=True))
        if self.error is not None:
            return
        try:
            for name, columns in tables.items():
                rows = joined(columns, self._names)
                if name not in self._writers:
                    file = self.folder / f"{name}.parquet"
                    self._writers[name] = pq.ParquetWriter(file, rows.schema, compression="zstd")
                if rows.num_rows:
                    self._writers[name].write_table(rows)
        except OSError as error:
            self.error = error

    @property
    def tables(self) -> list[str]:
        """Tables that have files."""
        return list(self._writers)

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
