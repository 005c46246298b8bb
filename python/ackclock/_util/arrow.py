"""Arrow tables from the core's columns, built on first use.

pyarrow takes a second to load, more where pandas is installed, which it then loads to recognise
pandas' types. A run that prints its summary needs neither; and built from buffers, tables never
need pandas.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa

    from ackclock._util.table_type import Table

__all__ = [
    "Tables",
    "array",
    "join_columns",
    "merge_raw_tables",
    "numbers",
    "plain_words",
    "rows",
    "rows_of",
    "table",
    "words",
]

Columns = Mapping[str, Any]
Raw = tuple[Columns, Mapping[str, list[str]]]


class Tables(Mapping[str, "pa.Table"]):
    """The tables of a run by name.

    Parameters
    ----------
    raw
        Per table its columns, as the core gives them, or the finished table.
    names
        For the columns ``flow`` and ``link`` the names that their numbers stand for.
    """

    def __init__(self, raw: Mapping[str, Any], names: Mapping[str, list[str]]) -> None:
        self._raw = dict(raw)
        self._names = names
        self._converted: dict[str, pa.Table] = {}
        self._held: object = None

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._converted:
            columns = self._raw[name]
            if isinstance(columns, _InFile):
                # Not kept: it is in a file because it may be large.
                return columns.read()
            is_raw = isinstance(columns, Mapping)
            self._converted[name] = join_columns(columns, self._names) if is_raw else columns
            self._raw[name] = None
        return self._converted[name]

    def raw(self, name: str) -> Raw | None:
        """Give a table's columns as the core gave them, and names; None once it is made.

        Parameters
        ----------
        name
            Of the table.
        """
        columns = self._raw[name]
        return (columns, self._names) if isinstance(columns, Mapping) else None

    def rows(self, name: str) -> list[dict[str, Any]]:
        """Give a table row by row, as plain data; does not need pyarrow for the core's columns.

        Parameters
        ----------
        name
            Of the table.
        """
        columns = self._raw[name]
        if not isinstance(columns, Mapping):
            return rows(self[name])
        return _across(
            {
                title: [self._names[title][i] for i in values]
                if title in self._names and not isinstance(values, list)
                else _plain(values)
                for title, values in columns.items()
            }
        )

    def __getstate__(self) -> dict[str, Any]:
        """Give what another process needs: memory views, which cannot be sent, as arrays."""
        raw = {
            name: {title: _to_array(values) for title, values in columns.items()}
            if isinstance(columns, Mapping)
            else columns
            for name, columns in self._raw.items()
        }
        return {**vars(self), "_raw": raw}

    def __contains__(self, name: object) -> bool:
        return name in self._raw

    def __iter__(self) -> Iterator[str]:
        return iter(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    def put(self, name: str, columns: Columns) -> None:
        """Add a table.

        Parameters
        ----------
        name
            Of the table; one of that name is replaced.
        columns
            Arrays, or lists of words, by name.
        """
        self._converted.pop(name, None)
        self._raw[name] = columns

    def put_file(self, name: str, file: Path, without: tuple[str, ...] = ()) -> None:
        """Add a table that is in a Parquet file, which is read whenever the table is used.

        Parameters
        ----------
        name
            Of the table.
        file
            Where it is.
        without
            Columns of the file that are not the table's.
        """
        self._converted.pop(name, None)
        self._raw[name] = _InFile(file, without)

    def file(self, name: str) -> Path | None:
        """Give the file in which a table is; None for one in memory.

        Parameters
        ----------
        name
            Of the table.
        """
        columns = self._raw[name]
        return columns.file if isinstance(columns, _InFile) else None

    def copy_to(self, name: str, file: Path) -> None:
        """Write a table to a Parquet file; one that is in a file is copied group by group.

        Parameters
        ----------
        name
            Of the table.
        file
            Is written.
        """
        import pyarrow as pa
        import pyarrow.parquet as pq

        columns = self._raw[name]
        if not isinstance(columns, _InFile):
            pq.write_table(self[name], file, compression="zstd")
            return
        with pq.ParquetFile(columns.file) as source:
            column_names = [
                title for title in source.schema_arrow.names if title not in columns.without
            ]
            schema = pa.schema([source.schema_arrow.field(title) for title in column_names])
            with pq.ParquetWriter(file, schema, compression="zstd") as sink:
                for group in range(source.num_row_groups):
                    sink.write_table(source.read_row_group(group, columns=column_names))

    def arrange(self, last: Sequence[str]) -> None:
        """Put tables in order.

        Parameters
        ----------
        last
            Those that follow the others, in this order; names of no table are left out.
        """
        order = [*(name for name in self._raw if name not in last), *last]
        self._raw = {name: self._raw[name] for name in order if name in self._raw}

    def hold(self, thing: object) -> None:
        """Keep an object as long as the tables, as the folder in which they are.

        Parameters
        ----------
        thing
            The object.
        """
        self._held = thing

    def keep(self, name: str, is_kept: Sequence[bool]) -> None:
        """Leave rows out of a table.

        Parameters
        ----------
        name
            The table.
        is_kept
            For each row whether it stays.
        """
        import numpy as np

        mask = np.asarray(is_kept, dtype=bool)
        columns = self._converted.pop(name, None) or self._raw[name]
        if isinstance(columns, Mapping):
            self._raw[name] = {
                key: [v for v, stays in zip(values, mask, strict=True) if stays]
                if isinstance(values, list)
                else np.asarray(_to_array(values))[mask]
                for key, values in columns.items()
            }
        else:
            self._raw[name] = columns.filter(list(is_kept))


def _to_array(values: Any) -> Any:
    """A column of numbers as an array of NumPy, which need not be loaded for those of the core."""
    if not isinstance(values, memoryview):
        return values
    import numpy as np

    # Of two types of 64 bits that C has, Arrow knows the one that NumPy calls so.
    return np.asarray(values).view(np.uint64) if values.format == "Q" else np.asarray(values)


def join_columns(columns: Columns, names: Mapping[str, list[str]]) -> Table:
    """Make a table of the core's columns.

    Parameters
    ----------
    columns
        Arrays, or lists of words, by name.
    names
        For the columns ``flow`` and ``link`` the names that their numbers stand for.
    """
    import numpy as np

    arrays = {}
    for name, column in columns.items():
        values = _to_array(column)
        if name in names and not isinstance(values, list):
            arrays[name] = words(names[name], values)
        elif isinstance(values, list) and name != "id":
            distinct = list(dict.fromkeys(values))
            index_of_word = {word: i for i, word in enumerate(distinct)}
            arrays[name] = words(
                distinct, np.fromiter(map(index_of_word.__getitem__, values), np.int32)
            )
        else:
            arrays[name] = array(values)
    return table(arrays)


@dataclass(frozen=True)
class _InFile:
    """A table in a Parquet file, without some columns of that."""

    file: Path
    without: tuple[str, ...]

    def read(self) -> Table:
        import pyarrow.parquet as pq

        try:
            # A single file: pyarrow would look for partitions in the names of folders above it.
            full_table = pq.ParquetFile(self.file).read()
        except OSError as error:
            problem = f"in which the run's table {self.file.stem} is, cannot be read"
            message = f"{self.file}, {problem}: {error}"
            raise AckclockError(message) from None
        columns_left: Table = full_table.drop_columns(
            [n for n in self.without if n in full_table.column_names]
        )
        return columns_left


def merge_raw_tables(raw_tables: Sequence[Raw]) -> tuple[pa.Table, list[int]] | None:
    """Make one table of those of many runs at once, which is much less work than one by one.

    Parameters
    ----------
    raw_tables
        What `Tables.raw` gave for each run; at least one.

    Returns
    -------
    tuple
        The table, and how many rows are of each run; None if the runs' columns differ.
    """
    import numpy as np

    first, names = raw_tables[0]
    if any(list(columns) != list(first) for columns, _ in raw_tables):
        return None
    every: dict[str, Any] = {}
    merged_names: dict[str, list[str]] = {}
    for title, values in first.items():
        pieces = [_to_array(columns[title]) for columns, _ in raw_tables]
        if isinstance(values, list):
            every[title] = list(chain.from_iterable(pieces))
            continue
        if title in names and any(other[title] != names[title] for _, other in raw_tables):
            merged_names[title] = list(
                dict.fromkeys(n for _, other in raw_tables for n in other[title])
            )
            index_of_name = {name: i for i, name in enumerate(merged_names[title])}
            pieces = [
                np.array([index_of_name[n] for n in other[title]], dtype=np.int32)[piece]
                for piece, (_, other) in zip(pieces, raw_tables, strict=True)
            ]
        every[title] = np.concatenate(pieces)
    lengths = [len(next(iter(columns.values()))) for columns, _ in raw_tables]
    return join_columns(every, {**names, **merged_names}), lengths


def table(columns: Mapping[str, pa.Array]) -> Table:
    """Join arrays to a table.

    Parameters
    ----------
    columns
        Arrays of equal length by name.
    """
    import pyarrow as pa

    joined_table: Table = pa.Table.from_arrays(list(columns.values()), names=list(columns))
    return joined_table


def array(values: Sequence[str | None] | np.ndarray[Any, Any]) -> pa.Array:
    """Turn a column into an Arrow array; NaN, which stands for "not known", becomes null.

    Parameters
    ----------
    values
        A list of text (None is null), or a NumPy array of numbers or of truth values.
    """
    import numpy as np
    import pyarrow as pa

    if not isinstance(values, np.ndarray):
        coded = [b"" if value is None else value.encode() for value in values]
        ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
        # Text of many runs may have more bytes than 32 bits count.
        kind = pa.string() if ends[-1] < 2**31 else pa.large_string()
        ends = ends.astype(np.int32) if kind == pa.string() else ends
        here = np.array([value is not None for value in values], dtype=np.bool_)
        bits = None if here.all() else pa.py_buffer(np.packbits(here, bitorder="little"))
        buffers = [bits, pa.py_buffer(ends), pa.py_buffer(b"".join(coded))]
        return pa.Array.from_buffers(kind, len(values), buffers)
    if values.dtype == np.bool_:
        bits = pa.py_buffer(np.packbits(values, bitorder="little"))
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])
    values = np.ascontiguousarray(values)
    validity = None
    unknown = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, dtype=np.bool_)
    if unknown.any():
        validity = pa.py_buffer(np.packbits(~unknown, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [validity, pa.py_buffer(values)])


def words(vocabulary: Sequence[str], indices: np.ndarray[Any, Any]) -> pa.Array:
    """Make a dictionary array: few words over many rows.

    Parameters
    ----------
    vocabulary
        The words.
    indices
        For each row the number of its word.
    """
    import numpy as np
    import pyarrow as pa

    numbers = array(np.asarray(indices, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(numbers, array(vocabulary))


def numbers(column: pa.ChunkedArray | pa.Array) -> np.ndarray[Any, Any]:
    """Give a column of numbers as a NumPy array; null becomes NaN.

    Parameters
    ----------
    column
        Of a table.
    """
    import numpy as np

    chunks = getattr(column, "chunks", [column])
    return np.concatenate([_numbers(chunk) for chunk in chunks or [array(np.zeros(0))]])


def _numbers(chunk: pa.Array) -> np.ndarray[Any, Any]:
    # Read from the buffers: pyarrow's own way may load pandas.
    import numpy as np

    kind = chunk.type.to_pandas_dtype()
    validity, data = chunk.buffers()
    begin, end = chunk.offset, chunk.offset + len(chunk)
    values = np.frombuffer(data, dtype=kind, count=end)[begin:] if len(chunk) else np.zeros(0, kind)
    if chunk.null_count == 0:
        return values
    bits = np.unpackbits(np.frombuffer(validity, dtype=np.uint8), count=end, bitorder="little")[
        begin:
    ]
    return np.where(bits.astype(np.bool_), values, np.nan)


def rows(table: pa.Table) -> list[dict[str, Any]]:
    """Give a table row by row, as plain data; much faster than pyarrow's own way.

    Parameters
    ----------
    table
        Columns of numbers, truth values and words.
    """
    import pyarrow as pa

    columns = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        is_number = pa.types.is_floating(column.type) or pa.types.is_integer(column.type)
        # Whole numbers that are not known would become real ones.
        exact = is_number and (pa.types.is_floating(column.type) or not column.null_count)
        columns[name] = _plain(numbers(column)) if exact else column.to_pylist()
    return _across(columns)


def rows_of(tables: Mapping[str, pa.Table], name: str) -> list[dict[str, Any]]:
    """Give a table of a run row by row.

    Parameters
    ----------
    tables
        Of the run.
    name
        Of the table.
    """
    return tables.rows(name) if isinstance(tables, Tables) else rows(tables[name])


def _plain(values: Sequence[str | None] | memoryview | np.ndarray[Any, Any]) -> list[Any]:
    """A column as plain data; NaN is None."""
    if isinstance(values, memoryview):
        plain_values = values.tolist()
        if values.format != "d":
            return plain_values
        return [None if math.isnan(value) else value for value in plain_values]
    if isinstance(values, list):
        return list(values)
    import numpy as np

    if not isinstance(values, np.ndarray):
        return list(values)
    if values.dtype.kind != "f":
        return list(values.tolist())
    plain = values.astype(object)
    plain[np.isnan(values)] = None
    return list(plain)


def _across(columns: Mapping[str, list[Any]]) -> list[dict[str, Any]]:
    titles = list(columns)
    return [dict(zip(titles, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def plain_words(table: pa.Table) -> pa.Table:
    """Turn columns of words into text, for formats that know no dictionaries.

    Parameters
    ----------
    table
        The table.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for index, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            text = pc.cast(table.column(index), pa.string())
            table = table.set_column(index, field.name, text)
    return table
