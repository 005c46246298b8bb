"""SQL from strangers: DuckDB without files, network or extensions, bounded in memory and time.

Tables are registered as Arrow data; a query reads nothing else.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    import duckdb
    import pyarrow as pa

__all__ = ["QueryLimitError", "connect", "fetch", "quote_identifier"]

MEMORY_BYTES = 2 * 2**30
"""Memory of one query, and size of its result [bytes]."""

TIME_S = 300.0
"""Longest time that one query may take [s]: far beyond those of papers, which take seconds."""

_ROWS = 100_000
"""Rows of a result that are fetched at once."""


class QueryLimitError(Exception):
    """A query exceeds a bound; the text is one sentence."""


def connect(*, threads: int | None = None, confined: bool = True) -> duckdb.DuckDBPyConnection:
    """Open an empty database in memory.

    Parameters
    ----------
    threads
        Threads of a query; with one, rows come in the same order always. Left out: as many as
        there are cores.
    confined
        Whether queries reach registered tables only: no file, no network, no extension, and none
        of this can be switched on again.
    """
    import duckdb

    config: dict[str, str | bool | int | float | list[str]] = {"python_enable_replacements": False}
    if threads is not None:
        config["threads"] = threads
    if confined:
        config |= {
            "enable_external_access": False,
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "allow_community_extensions": False,
            "memory_limit": f"{MEMORY_BYTES // 2**20}MiB",
            "temp_directory": "",
            "lock_configuration": True,
        }
    return duckdb.connect(":memory:", config=config)


def fetch(
    connection: duckdb.DuckDBPyConnection,
    text: str,
    *,
    time_s: float | None = None,
    most_bytes: int | None = None,
) -> pa.Table:
    """Run a query within bounds.

    Parameters
    ----------
    connection
        Of `connect`.
    text
        The query.
    time_s
        Longest time [s]; left out: `TIME_S`.
    most_bytes
        Largest result [bytes]; left out: `MEMORY_BYTES`.

    Returns
    -------
    pa.Table
        Its result.

    Raises
    ------
    QueryLimitError
        It needs more time or memory.
    duckdb.Error
        It fails otherwise.
    AttributeError
        It is a statement without a result.
    """
    import duckdb
    import pyarrow as pa

    time_s = TIME_S if time_s is None else time_s
    most_bytes = MEMORY_BYTES if most_bytes is None else most_bytes
    late = f"the query was ended after {time_s:g} s; restrict the rows that it reads"
    expired = threading.Event()
    try:
        with _ended_after(connection, time_s, expired):
            reader = connection.sql(text).to_arrow_reader(_ROWS)
            batches: list[pa.RecordBatch] = []
            size = 0
            for batch in reader:
                size += batch.nbytes
                if size > most_bytes:
                    rows = sum(batch.num_rows for batch in batches)
                    raise QueryLimitError(
                        f"the result of the query exceeds {most_bytes / 2**20:,.0f} MiB after"
                        f" {rows:,} rows; select fewer rows, or aggregate them"
                    )
                batches.append(batch)
            return pa.Table.from_batches(batches, reader.schema)
    except duckdb.InterruptException:
        raise QueryLimitError(late) from None
    except (OSError, pa.ArrowException):
        # What stops the query while its rows are fetched comes as an error of Arrow.
        if expired.is_set():
            raise QueryLimitError(late) from None
        raise
    except duckdb.OutOfMemoryException:
        raise QueryLimitError(
            f"the query needs more than {MEMORY_BYTES / 2**20:,.0f} MiB of memory; restrict the"
            " rows that it reads"
        ) from None


@contextmanager
def _ended_after(
    connection: duckdb.DuckDBPyConnection, time_s: float, expired: threading.Event
) -> Iterator[None]:
    """Interrupt what a connection does when the time is over."""

    def end() -> None:
        expired.set()
        connection.interrupt()

    timer = threading.Timer(time_s, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        # A thread that wakes while the interpreter ends would abort the process.
        timer.join()


def quote_identifier(name: str) -> str:
    """Quote an identifier for SQL.

    Parameters
    ----------
    name
        Of a schema, table or column.
    """
    return '"' + name.replace('"', '""') + '"'
