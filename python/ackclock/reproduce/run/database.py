"""Puts the tables of studies and of expected values where queries find them."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from ackclock._util.confined_sql import QueryLimitError, connect, fetch, quote_identifier
from ackclock.errors import Problem
from ackclock.reproduce.check.queries import reads
from ackclock.reproduce.read.folder import PaperError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import duckdb
    import pyarrow as pa

    from ackclock.reproduce.paper import PaperData

__all__ = ["Database"]


class Database:
    """Tables by schema: one per study, and ``expected``.

    Parameters
    ----------
    paper
        Its expected values are there from the start.
    """

    def __init__(self, paper: PaperData) -> None:
        self.paper = paper
        self._connection = connect(threads=1)
        self._studies: dict[str, Mapping[str, pa.Table]] = {}
        self._view_names: set[tuple[str, str]] = set()
        _functions(self._connection)

    def add(self, study: str, tables: Mapping[str, pa.Table]) -> None:
        """Add a study's tables, in place of those it had.

        Parameters
        ----------
        study
            Its name.
        tables
            By name; fetched when a query needs them.
        """
        for schema, name in [pair for pair in self._view_names if pair[0] == study]:
            self._connection.execute(
                f"DROP VIEW {quote_identifier(schema)}.{quote_identifier(name)}"
            )
            self._connection.unregister(f"{schema}__{name}")
            self._view_names.discard((schema, name))
        self._studies[study] = tables

    def query(self, text: str, file: Path, key_path: str) -> pa.Table:
        """Run a query.

        Parameters
        ----------
        text
            One SELECT.
        file, place
            Its place, for messages.

        Raises
        ------
        PaperError
            It names a table or column that there is not, or fails otherwise.
        """
        return self._run(text, file, key_path, fetch)

    def columns(self, text: str, file: Path, key_path: str) -> list[str]:
        """Names of a query's columns, without running it.

        Parameters
        ----------
        text, file, place
            As of `query`.

        Raises
        ------
        PaperError
            It names a table or column that there is not.
        """
        names: list[str] = self._run(text, file, key_path, _columns)
        return names

    def _run(self, text: str, file: Path, key_path: str, finish: Any) -> Any:
        import duckdb

        tables = reads(text)
        if isinstance(tables, str):
            raise PaperError([Problem(key_path, tables, str(file))])
        for schema, name in sorted(tables):
            self._need(schema, name, file, key_path)
        try:
            return finish(self._connection, text)
        except QueryLimitError as error:
            raise PaperError([Problem(key_path, str(error), str(file))]) from None
        except duckdb.Error as error:
            raise PaperError([Problem(key_path, _describe_error(error), str(file))]) from None

    def _need(self, schema: str, name: str, file: Path, key_path: str) -> None:
        from ackclock.errors import suggestion

        if (schema, name) in self._view_names:
            return
        if not schema:
            message = f'the table "{name[:200]}" is named without its study; expected STUDY.TABLE'
            raise PaperError([Problem(key_path, message, str(file))])
        if schema == "expected" and name in self.paper.expected:
            tables: Mapping[str, pa.Table] = {name: _values(self.paper.expected[name].file)}
        else:
            tables = self._studies.get(schema, {})
        if name not in tables:
            message = f'the study "{schema}" has no table "{name}"; {suggestion(name, tables)}'
            raise PaperError([Problem(key_path, message, str(file))])
        run = self._connection.execute
        run(f"CREATE SCHEMA IF NOT EXISTS {quote_identifier(schema)}")
        self._connection.register(f"{schema}__{name}", tables[name])
        columns = _select_signed(tables[name].schema)
        source = quote_identifier(f"{schema}__{name}")
        view = f"{quote_identifier(schema)}.{quote_identifier(name)}"
        run(f"CREATE VIEW {view} AS SELECT {columns} FROM {source}")
        self._view_names.add((schema, name))


def _select_signed(schema: pa.Schema) -> str:
    """What to select of a table, so that a difference of two counts may be below zero.

    Parameters
    ----------
    schema
        The table's. Seeds use all 64 bits and stay as they are.
    """
    import pyarrow as pa

    counts = [
        quote_identifier(column.name)
        for column in schema
        if pa.types.is_unsigned_integer(column.type) and column.name != "seed"
    ]
    return f"* REPLACE ({', '.join(f'{c}::BIGINT AS {c}' for c in counts)})" if counts else "*"


def _columns(connection: duckdb.DuckDBPyConnection, text: str) -> list[str]:
    return list(connection.sql(text).columns)


def _values(file: Path) -> pa.Table:
    """Read a file of expected values in a separate database, for queries reach no file."""
    import duckdb

    with connect(confined=False) as base:
        try:
            return base.read_csv(
                str(file), header=True, comment="#", sample_size=-1
            ).to_arrow_table()
        except duckdb.Error as error:
            raise PaperError([Problem("", _describe_error(error), str(file))]) from None


def _describe_error(error: duckdb.Error) -> str:
    """A database's message as one sentence."""
    lines = [line.strip() for line in str(error).splitlines()]
    message_lines = [line for line in lines if line and not line.startswith(("LINE ", "^"))]
    # What follows is every form of the function there is.
    forms = next(
        (i for i, line in enumerate(message_lines) if line.startswith("Candidate func")), None
    )
    message_lines = message_lines[:forms]
    kind, _, detail = message_lines[0].partition(": ")
    hint = next((line for line in message_lines[1:] if line.startswith("Candidate bindings")), "")
    near = hint.partition(": ")[2]
    if near:
        return f"{detail.rstrip('!').rstrip('.')}; there are {near}"
    summary = "the query fails" if not kind.endswith("Error") else kind.lower()
    return f"{summary}: {' '.join([detail, *message_lines[1:]])}".strip()


def _functions(connection: duckdb.DuckDBPyConnection) -> None:
    """Make the scores of `ackclock.analysis` callable."""
    from ackclock.analysis import SQL

    for name, (function, lists) in SQL.items():
        kinds: list[Any] = ["DOUBLE[]"] * lists
        # Without annotations, which the database would try to read.
        bare = types.FunctionType(function.__code__, function.__globals__, name)
        connection.create_function(name, bare, kinds, "DOUBLE")
