"""Arrow tables from the core's columns, made when they are first asked for.

pyarrow takes a second to load, more where pandas is installed, which it then loads to recognise
pandas' types. A run that prints its summary needs neither; and built from buffers, tables never
need pandas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pyarrow as pa

__all__ = ["Tables", "array", "plain_words", "table", "words"]

Columns = Mapping[str, Any]


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
        self._made: dict[str, pa.Table] = {}

    def __getitem__(self, name: str) -> pa.Table:
        if name not in self._made:
            columns = self._raw[name]
            is_raw = isinstance(columns, Mapping)
            self._made[name] = _joined(columns, self._names) if is_raw else columns
            self._raw[name] = None
        return self._made[name]

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
        self._made.pop(name, None)
        self._raw[name] = columns

    def keep(self, name: str, kept: Sequence[bool]) -> None:
        """Leave rows out of a table.

        Parameters
        ----------
        name
            The table.
        kept
            For each row whether it stays.
        """
        mask = np.asarray(kept, dtype=bool)
        columns = self._made.pop(name, None) or self._raw[name]
        if isinstance(columns, Mapping):
            self._raw[name] = {
                key: [v for v, stays in zip(values, mask, strict=True) if stays]
                if isinstance(values, list)
                else np.asarray(values)[mask]
                for key, values in columns.items()
            }
        else:
            self._raw[name] = columns.filter(list(kept))


def _joined(columns: Columns, names: Mapping[str, list[str]]) -> pa.Table:
    made = {}
    for name, values in columns.items():
        if name in names and not isinstance(values, list):
            made[name] = words(names[name], values)
        elif isinstance(values, list) and name != "id":
            known = list(dict.fromkeys(values))
            place = {word: i for i, word in enumerate(known)}
            made[name] = words(known, np.array([place[v] for v in values], dtype=np.int32))
        else:
            made[name] = array(values)
    return table(made)


def table(columns: Mapping[str, pa.Array]) -> pa.Table:
    """Join arrays to a table.

    Parameters
    ----------
    columns
        Arrays of equal length by name.
    """
    import pyarrow as pa

    return pa.Table.from_arrays(list(columns.values()), names=list(columns))


def array(values: Sequence[str] | np.ndarray[Any, Any]) -> pa.Array:
    """Turn a column into an Arrow array; NaN, which stands for "not known", becomes null.

    Parameters
    ----------
    values
        A list of text, or a NumPy array of numbers or of truth values.
    """
    import pyarrow as pa

    if not isinstance(values, np.ndarray):
        coded = [value.encode() for value in values]
        ends = np.cumsum([0, *map(len, coded)], dtype=np.int32)
        buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(coded))]
        return pa.Array.from_buffers(pa.string(), len(values), buffers)
    if values.dtype == np.bool_:
        bits = pa.py_buffer(np.packbits(values, bitorder="little"))
        return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])
    values = np.ascontiguousarray(values)
    known = None
    unknown = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, dtype=np.bool_)
    if unknown.any():
        known = pa.py_buffer(np.packbits(~unknown, bitorder="little"))
    kind = pa.from_numpy_dtype(values.dtype)
    return pa.Array.from_buffers(kind, len(values), [known, pa.py_buffer(values)])


def words(known: Sequence[str], indices: np.ndarray[Any, Any]) -> pa.Array:
    """Make a dictionary array: few words over many rows.

    Parameters
    ----------
    known
        The words.
    indices
        For each row the number of its word.
    """
    import pyarrow as pa

    numbers = array(np.asarray(indices, dtype=np.int32))
    return pa.DictionaryArray.from_arrays(numbers, array(known))


def plain_words(table: pa.Table) -> pa.Table:
    """Turn columns of words into text, for formats that know no dictionaries.

    Parameters
    ----------
    table
        The table.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    for at, field in enumerate(table.schema):
        if pa.types.is_dictionary(field.type):
            text = pc.cast(table.column(at), pa.string())
            table = table.set_column(at, field.name, text)
    return table
