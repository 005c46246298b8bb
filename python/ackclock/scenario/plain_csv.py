"""Columns of a CSV file whose values are plain numbers and texts, read without a loop over rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ackclock._util.csv_rows import has_other_heads
from ackclock._util.foreign_files import read_bytes

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from pathlib import Path

    import numpy as np
    import numpy.typing as npt

__all__ = ["LEAST_BYTES", "Texts", "mixed_columns", "plain_columns"]

Texts = Any
"""A ``pyarrow.StringArray``."""

_PLAIN = b"0123456789.,\r\n"
"""What a file of numbers without signs and units consists of, below its head."""


LEAST_BYTES = 1 << 18
"""Smaller files are read row by row in less time than it takes to load Arrow."""


def plain_columns(
    path: Path, kinds: Mapping[str, type[int] | type[float]]
) -> dict[str, npt.NDArray[np.float64 | np.int64]] | None:
    """Read the columns of some names; None if anything about the file is not plain.

    What is None here, such as a file with units, signs, quotes, empty cells, or a small one, is for
    a reader that goes row by row and can say what is wrong where.

    Parameters
    ----------
    path
        The file, in UTF-8, with a head line.
    kinds
        Types of the columns that may be there; those of the head that are not among them are left
        out, and those that the head does not have too.

    Returns
    -------
    dict
        The columns of ``kinds`` that the file has, all of one length, above 0.
    """
    try:
        if path.stat().st_size < LEAST_BYTES:
            return None
        text = read_bytes(path, links=True)
    except (OSError, ValueError):
        return None
    head, _, body = text.removeprefix(b"\xef\xbb\xbf").partition(b"\n")
    if not head.isascii() or b'"' in head or b"\r" in head.removesuffix(b"\r"):
        return None
    names = head.removesuffix(b"\r").decode().split(",")
    if len({*names}) != len(names) or body.translate(None, _PLAIN):
        return None
    if has_other_heads(names, kinds):
        return None
    if b"\r" in body and body.count(b"\r") != body.count(b"\r\n"):
        return None
    import pyarrow as pa
    from pyarrow import csv

    from ackclock._util.arrow import numbers

    types: dict[type, Any] = {int: pa.int64(), float: pa.float64()}
    wanted = [name for name in names if name in kinds]
    options = csv.ConvertOptions(
        column_types={name: types[kinds[name]] for name in wanted}, include_columns=wanted
    )
    try:
        table = csv.read_csv(
            pa.BufferReader(body),
            csv.ReadOptions(column_names=names, use_threads=False),
            convert_options=options,
        )
    except pa.ArrowInvalid:
        return None
    columns = {name: table.column(name) for name in wanted}
    if not table.num_rows or any(column.null_count for column in columns.values()):
        return None
    return {name: numbers(column) for name, column in columns.items()}


def mixed_columns(
    path: Path,
    texts: Collection[str],
    reals: Collection[str],
    signed: Collection[str] = (),
) -> dict[str, Any] | None:
    """Read columns of texts and of numbers; None if a value may not be, or is quoted.

    What is None here is for a reader that goes row by row and can say what is wrong where.

    Parameters
    ----------
    path
        The file, in UTF-8, with a head line.
    texts
        Names of columns of text that may be there.
    reals, signed
        Names of columns of finite numbers; those of ``reals`` are 0 or more.

    Returns
    -------
    dict
        Those that the file has, all of one length above 0: Arrow arrays of text, and NumPy arrays
        of numbers with NaN for empty cells.
    """
    import numpy as np
    import pyarrow as pa
    from pyarrow import csv

    from ackclock._util.arrow import numbers

    try:
        text = read_bytes(path, links=True)
    except (OSError, ValueError):
        return None
    head = text.removeprefix(b"\xef\xbb\xbf").partition(b"\n")[0].removesuffix(b"\r")
    if b'"' in text or (b"\r" in text and text.count(b"\r") != text.count(b"\r\n")):
        return None
    try:
        names = head.decode().split(",")
        wanted = [name for name in names if name in (*texts, *reals, *signed)]
        if len({*names}) != len(names) or has_other_heads(names, (*texts, *reals, *signed)):
            return None
        types = {name: pa.string() if name in texts else pa.float64() for name in wanted}
        options = csv.ConvertOptions(
            column_types=types,
            include_columns=wanted,
            null_values=[""],
            strings_can_be_null=False,
        )
        table = csv.read_csv(
            pa.BufferReader(text), csv.ReadOptions(use_threads=False), convert_options=options
        )
    except (pa.ArrowInvalid, UnicodeDecodeError):
        return None
    found: dict[str, Any] = {}
    for name in wanted:
        column = table.column(name)
        if name in texts:
            found[name] = column.combine_chunks()
            continue
        values = numbers(column)
        # Not a number is what is empty, and nothing else.
        is_bad = ~np.isfinite(values) if name in signed else ~((values >= 0) & (values < np.inf))
        if is_bad.sum() > column.null_count:
            return None
        found[name] = values
    return found if table.num_rows else None
