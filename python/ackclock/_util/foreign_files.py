"""Opens files that may come from somebody else: the one place where their bytes come in.

What is opened is a regular file, or it is refused before anything is read: no device that never
ends, no pipe that waits. Sizes, depths and counts are bounded, text is UTF-8. In a folder that is
one thing (a paper, a profile, a run bundle, a store, parts of an analysis) no link is followed,
wherever it leads.
"""

from __future__ import annotations

import math
import os
import stat
from typing import TYPE_CHECKING, Any

from ackclock._util.json_text import JsonError, parse_json
from ackclock.errors import AckclockError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from io import BufferedReader
    from pathlib import Path

    import pyarrow as pa

__all__ = [
    "MOST_BYTES",
    "ForeignFileError",
    "check_folder",
    "describe_bytes",
    "open_file",
    "read_bytes",
    "read_json",
    "read_table",
    "read_text",
    "refuse_links",
    "unpack",
]

MOST_BYTES = 256 * 2**20
"""Largest file that is read into memory [bytes]: some ten million lines."""

MOST_FILES = 10_000
"""Files and folders within a paper, a profile or a run bundle."""

MOST_LEVELS = 20
"""Levels of folders within one."""


_BINARY = {
    b"\x1f\x8b": "packed with gzip",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"\xfd7zXZ": "packed with xz",
    b"BZh": "packed with bzip2",
    b"PK\x03\x04": "a ZIP archive or a spreadsheet",
    b"PAR1": "a Parquet file",
}
"""What files are that begin so."""


class ForeignFileError(AckclockError, ValueError):
    """A file is not one that is read; the text is one sentence, without the file's name.

    Parameters
    ----------
    path
        The file.
    reason
        What it is, and what was expected.
    """

    def __init__(self, path: Path, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path}: {reason}")


def open_file(path: Path, *, links: bool = False) -> BufferedReader:
    """Open a regular file to read.

    Parameters
    ----------
    path
        The file.
    links
        Whether it may be a link: only of files that a person named.

    Raises
    ------
    OSError
        It cannot be opened.
    ForeignFileError
        It is a link, a device, a pipe or a folder.
    """
    # Without waiting: a pipe that nobody writes to would wait for ever.
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if links else os.O_NOFOLLOW)
    try:
        handle = os.open(path, flags)
    except OSError:
        if not links and path.is_symlink():
            raise ForeignFileError(path, "it is a link; expected a file") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise ForeignFileError(path, "it is no regular file; expected one")
    return os.fdopen(handle, "rb")


def read_bytes(path: Path, *, links: bool = False, most: int | None = None) -> bytes:
    """Read a regular file.

    Parameters
    ----------
    path, links
        As of `open_file`.
    most
        Largest size [bytes]; left out: `MOST_BYTES`.

    Raises
    ------
    OSError
        It cannot be read.
    ForeignFileError
        It is none, or larger.
    """
    most = MOST_BYTES if most is None else most
    with open_file(path, links=links) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ForeignFileError(path, f"it has more than {most / 2**20:g} MiB; expected less")
    return content


def unpack(content: bytes, path: Path) -> bytes:
    """Unpack what gzip or zstd packed, known by its first bytes; give back what is neither.

    Parameters
    ----------
    content
        Of the file.
    path
        The file, for messages.

    Raises
    ------
    ForeignFileError
        It cannot be unpacked, or has more than `MOST_BYTES` then.
    """
    import zlib

    try:
        if content.startswith(b"\x1f\x8b"):
            import gzip
            import io

            with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
                content = packed.read(MOST_BYTES + 1)
        elif content.startswith(b"\x28\xb5\x2f\xfd"):
            import pyarrow as pa

            with pa.CompressedInputStream(pa.BufferReader(content), "zstd") as stream:
                content = stream.read(MOST_BYTES + 1)
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ForeignFileError(path, f"it cannot be unpacked: {str(error)[:100]}") from None
    if len(content) > MOST_BYTES:
        raise ForeignFileError(path, f"it has more than {MOST_BYTES / 2**20:g} MiB unpacked")
    return content


def describe_bytes(content: bytes) -> str:
    """Say what bytes are that should be text and are not, after the words "it is".

    Parameters
    ----------
    content
        Of a file.
    """
    kinds = (kind for begin, kind in _BINARY.items() if content.startswith(begin))
    kind = next(kinds, None)
    return "not UTF-8 text" if kind is None else f"{kind}; expected UTF-8 text"


def read_text(path: Path, *, links: bool = False, most: int | None = None) -> str:
    """Read a text file in UTF-8.

    Parameters
    ----------
    path, links, most
        As of `read_bytes`.

    Raises
    ------
    OSError
        It cannot be read.
    ForeignFileError
        It is none, larger, or not UTF-8.
    """
    content = read_bytes(path, links=links, most=most)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise ForeignFileError(path, f"it is {describe_bytes(content)}") from None


def read_json(path: Path, *, links: bool = False) -> Any:
    """Read data of JSON, of few levels.

    Parameters
    ----------
    path, links
        As of `read_bytes`.

    Raises
    ------
    OSError
        It cannot be read.
    ForeignFileError
        It is none, or is nested too deep.
    """
    text = read_text(path, links=links)
    try:
        return parse_json(text)
    except JsonError as error:
        raise ForeignFileError(path, str(error)) from None


def check_folder(folder: Path) -> None:
    """Look through a folder for what is never read: links, devices, pipes; too many files.

    Parameters
    ----------
    folder
        The folder; that itself may be a link, for a person named it.

    Raises
    ------
    ForeignFileError
        There is one.
    OSError
        A folder cannot be listed.
    """
    for count, (entry, level) in enumerate(_walk(folder, 0), start=1):
        _check_entry(folder, entry)
        if level > MOST_LEVELS:
            message = f"its folders are nested more than {MOST_LEVELS} levels deep"
            raise ForeignFileError(folder, f"{message}; expected a few")
        if count > MOST_FILES:
            message = f"it has more than {MOST_FILES:,} files; expected fewer"
            raise ForeignFileError(folder, message)


def refuse_links(folder: Path) -> None:
    """Refuse links, devices and pipes right in a folder; not in the folders within it.

    Parameters
    ----------
    folder
        The folder; one that is not there has none.

    Raises
    ------
    ForeignFileError
        There is one, or the folder is a link itself.
    """
    if folder.is_symlink():
        raise ForeignFileError(folder, "it is a link; expected a folder")
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                _check_entry(folder, entry)
    except (FileNotFoundError, NotADirectoryError):
        return


def _walk(folder: str | Path, level: int) -> Iterator[tuple[os.DirEntry[str], int]]:
    with os.scandir(folder) as entries:
        for entry in entries:
            yield entry, level
            if level <= MOST_LEVELS and entry.is_dir(follow_symlinks=False):
                yield from _walk(entry.path, level + 1)


def _check_entry(folder: Path, entry: os.DirEntry[str]) -> None:
    path = folder / os.path.relpath(entry.path, folder)
    if entry.is_symlink():
        raise ForeignFileError(path, "it is a link; expected files and folders only")
    if not entry.is_file(follow_symlinks=False) and not entry.is_dir(follow_symlinks=False):
        message = "it is no regular file; expected files and folders only"
        raise ForeignFileError(path, message)


def read_table(
    path: Path,
    columns: list[str] | None = None,
    *,
    most_rows: float = math.inf,
    most_bytes: float = math.inf,
    as_text: bool = False,
) -> pa.Table:
    """Read a Parquet file, whose few bytes may mean very many rows.

    Parameters
    ----------
    path
        The file.
    columns
        Names of columns; left out: all.
    most_rows
        Most rows.
    most_bytes
        Most memory [bytes].
    as_text
        Whether columns of words are given as text, each row with its own.

    Raises
    ------
    OSError
        It cannot be read.
    ForeignFileError
        It is a link or no regular file, has more rows or needs more memory: found before rows are
        read, or where many rows share one long text, before it is repeated.
    ValueError
        It is not Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    with open_file(path) as file:
        metadata = pq.read_metadata(file)
        schema = metadata.schema.to_arrow_schema()
        file.seek(0)
        texts = [field.name for field in schema if _is_text(field.type)]
        # No threads: Arrow's own let go of the file, a Python object, some time after the call, and
        # where Python is ending by then that aborts the process.
        with pq.ParquetFile(
            file, metadata=metadata, read_dictionary=texts, pre_buffer=False
        ) as opened:
            names = [name for name in schema.names if columns is None or name in columns]
            least = _least_bytes(opened.metadata, schema, names)
            rows = opened.metadata.num_rows
            if rows > most_rows or least > most_bytes:
                reason = f"it has {rows:,} rows of {len(names)} columns"
                raise ForeignFileError(path, f"{reason}; {_FEWER}")
            table = opened.read(columns=columns, use_threads=False)
    plain = {
        name: pa.string() if _is_words(schema.field(name).type) else schema.field(name).type
        for name in table.column_names
        if name in texts or (as_text and _is_words(schema.field(name).type))
    }
    if sum(_text_bytes(table[name]) for name in plain) > most_bytes:
        raise ForeignFileError(path, f"its texts are too long; {_FEWER}")
    for name, kind in plain.items():
        column = table[name]
        if pa.types.is_dictionary(column.type) and column.type.value_type == kind:
            # Not `cast`, for which pyarrow.compute would be loaded.
            words = pa.chunked_array([part.dictionary_decode() for part in column.chunks], kind)
            table = table.set_column(table.column_names.index(name), name, words)
        elif column.type != kind:
            table = table.set_column(table.column_names.index(name), name, column.cast(kind))
    return table


_FEWER = "expected what fits into the memory that may be used"


def _least_bytes(metadata: Any, schema: pa.Schema, names: list[str]) -> float:
    """Memory that columns need at least: of their values' widths, and of their pages."""
    widths = [_width(schema.field(name).type) for name in names]
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    chunks = [group.column(j) for group in groups for j in range(group.num_columns)]
    pages = [c.total_uncompressed_size for c in chunks if c.path_in_schema.split(".")[0] in names]
    return float(max(metadata.num_rows * sum(widths), sum(pages)))


def _is_text(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_binary(kind))


def _is_words(kind: pa.DataType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_dictionary(kind) and _is_text(kind.value_type))


def _width(kind: pa.DataType) -> float:
    """Bytes of a value, at least."""
    import pyarrow as pa

    if pa.types.is_dictionary(kind):
        return float(kind.index_type.bit_width / 8)
    return float(kind.bit_width / 8) if pa.types.is_primitive(kind) else 4.0


def _text_bytes(column: pa.ChunkedArray) -> int:
    """Bytes of a column's texts, each row with its own."""
    import numpy as np
    import pyarrow as pa

    from ackclock._util.arrow import numbers

    total = 0
    for part in column.chunks:
        texts = part.dictionary
        if not len(texts):
            continue
        # From buffers: functions of pyarrow.compute take longer to load than to run.
        is_large = pa.types.is_large_string(texts.type) or pa.types.is_large_binary(texts.type)
        ends = np.frombuffer(texts.buffers()[1], dtype=np.int64 if is_large else np.int32)
        lengths = np.diff(ends[texts.offset : texts.offset + len(texts) + 1])
        codes = numbers(part.indices)
        total += int(lengths[codes[~np.isnan(codes)].astype(np.int64)].sum())
    return total
