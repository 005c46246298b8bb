"""Looking into a store: filters over its runs, SQL over its tables, export."""

from __future__ import annotations

import difflib
import json
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ackclock.errors import suggestion
from ackclock.experiments.store import pack, purpose
from ackclock.experiments.store.filters import Filter, read_filter
from ackclock.experiments.store.names import check_files
from ackclock.experiments.store.pack import COLUMNS
from ackclock.experiments.store.store import Store, StoreError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pyarrow as pa

__all__ = ["count_hidden", "export_run", "export_table", "find", "one_run", "sql", "views"]


def find(
    store: Store, filters: Iterable[str] = (), limit: int | None = None, *, hidden: bool = False
) -> list[dict[str, Any]]:
    """Give runs that pass filters, in the order in which they finished, as their packs have them.

    Parameters
    ----------
    store
        The store.
    filters
        See `ackclock.experiments.store.filters.read_filter`; all must hold.
    limit
        Only the last so many.
    hidden
        Whether runs that commands such as ``evaluate`` did for their reports are among them; they
        are too where a filter names a sweep or a key.

    Raises
    ------
    StoreError
        A filter names what no run of the store has, or compares what cannot be compared.
    """
    store.refresh()
    texts = list(filters)
    while True:
        read = [read_filter(text) for text in texts]
        with_hidden = hidden or any(condition.name in ("sweep", "key") for condition in read)
        rows = _passing(store, read, limit, hidden=with_hidden)
        if store.index.confirm({row["pack"] for row in rows}):
            break
    for row in rows:
        del row["document_id"]
    return rows


def count_hidden(store: Store) -> int:
    """Count runs that commands such as ``evaluate`` did for their reports.

    Parameters
    ----------
    store
        The store.
    """
    return sum(map(purpose.is_hidden, store.index.select()))


def _passing(
    store: Store, filters: list[Filter], limit: int | None, *, hidden: bool
) -> list[dict[str, Any]]:
    rows = store.index.select()
    if not hidden:
        rows = [row for row in rows if not purpose.is_hidden(row)]
    if not filters:
        return rows if limit is None else rows[-limit:]
    documents = (
        _Documents(store) if any(condition.needs_document() for condition in filters) else None
    )
    parsed = cache(json.loads)
    passing = []
    for row in rows:
        labels = parsed(row["labels"])
        document = {} if documents is None else documents.of(row)
        # Each is checked against every run, so that what it says of them does not depend on others.
        passes = [condition.holds(row, labels, document) for condition in filters]
        if all(passes):
            passing.append(row)
    for condition in filters:
        if rows and not condition.is_known():
            _refuse_name(store, condition.name)
        condition.check()
    return passing if limit is None else passing[-limit:]


class _Documents:
    """Scenarios of runs, read once each; whole, if the index leaves out lists."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._texts = store.index.documents()
        self._read: dict[str, dict[str, Any]] = {}

    def of(self, row: Mapping[str, Any]) -> dict[str, Any]:
        name = row["document_id"]
        if name not in self._read:
            text, is_short = self._texts[name]
            if is_short:
                (whole,) = self._store.runs([row["key"]])
                text = whole["document"]
            self._read[name] = json.loads(text)
        return self._read[name]


_NEAREST = 3
"""So many names are suggested for one that there is not."""


def _refuse_name(store: Store, name: str) -> None:
    own = set(COLUMNS) - {"labels", "tables"}
    known = sorted(own | store.index.names())
    near = difflib.get_close_matches(_any_entry(name), known, n=_NEAREST, cutoff=0.0)
    raise StoreError(
        f'{store.folder}: no run has a key "{name}"; the nearest are {", ".join(near)}'
    )


def _any_entry(name: str) -> str:
    return re.sub(r"\[[^]]*\]", "[*]", name)


def one_run(store: Store, name: str) -> dict[str, Any]:
    """Give all that the store says of a run.

    Parameters
    ----------
    store
        The store.
    name
        The run's key, or as many of its first digits as no other run has.

    Raises
    ------
    StoreError
        There is no such run, or there are several, or it is damaged.
    """
    matches = find(store, [f"key={name}"], 2) if re.fullmatch("[0-9a-f]+", name) else []
    if len(matches) != 1:
        trouble = "there are several runs" if matches else "there is no run"
        raise StoreError(f'{store.folder}: {trouble} whose key begins with "{name}"')
    key = matches[0]["key"]
    if key not in store.find_stored([key]):
        raise StoreError(f"{store.folder}: the run {name} is damaged; run its sweep again")
    return store.runs([key])[0]


def views(store: Store) -> dict[str, list[str]]:
    """Find the files of each table, of packs that are whole.

    Parameters
    ----------
    store
        The store.
    """
    store.refresh()
    files: dict[str, list[str]] = {"runs": []}
    for name in sorted(set(store.index.places().values())):
        if not store.check_pack(name):
            continue
        pack_folder = store.folder / "packs" / name
        contents = pack.manifest(pack_folder)
        for file in contents["files"] if contents is not None else ():
            files.setdefault(Path(file).stem, []).append(str(pack_folder / file))
    return files


def sql(store: Store, query: str, *, confined: bool = True) -> pa.Table:
    """Query the whole store in SQL, by DuckDB.

    Parameters
    ----------
    store
        The store.
    query
        Over ``runs`` and every recorded table by its name; ``key`` joins them.
    confined
        Whether the query is kept from files, network and extensions, and its memory and time are
        bounded.

    Raises
    ------
    StoreError
        DuckDB refuses the query, or it exceeds the bounds.
    """
    import duckdb

    from ackclock._util.confined_sql import QueryLimitError, connect, fetch

    files = views(store)
    # Opening thousands of packs takes time: only those tables that the text can mean.
    query_words = set(re.findall(r"\w+", query.lower()))
    with connect(confined=confined) as base:
        for name in [name for name in files if name in query_words] or files:
            if files[name]:
                base.register(name, _dataset(files[name]))
        try:
            if confined:
                return fetch(base, query)
            return base.sql(query).to_arrow_table()
        except QueryLimitError as error:
            raise StoreError(f"{error}, or give --unconfined") from None
        except (duckdb.Error, AttributeError) as error:
            reason = "the query gives no table" if isinstance(error, AttributeError) else str(error)
            hint = "; see --unconfined" if isinstance(error, duckdb.PermissionException) else ""
            raise StoreError(f"query: {reason.splitlines()[0]}{hint}") from None


def _dataset(files: Sequence[str]) -> Any:
    """Give the rows of many files as one table, which is read as far as a query needs."""
    import pyarrow as pa
    import pyarrow.dataset as ds
    import pyarrow.parquet as pq

    schemas = []
    for file in files:
        schemas.append(pa.schema([_to_query_type(field) for field in pq.read_schema(file)]))
    schema = pa.unify_schemas(schemas, promote_options="permissive")
    return ds.dataset(list(files), schema=schema, format="parquet")


def _to_query_type(field: pa.Field) -> pa.Field:
    """A column as queries see it."""
    import pyarrow as pa

    if pa.types.is_dictionary(field.type):
        # The dictionaries of packs differ in the type of their indices.
        return field.with_type(field.type.value_type)
    if pa.types.is_unsigned_integer(field.type) and field.name != "seed":
        # A difference of two counts may be below zero.
        return field.with_type(pa.int64())
    return field


def export_run(store: Store, name: str, folder: Path) -> Path:
    """Write a run as a run bundle, as ``ackclock run --out`` does.

    Parameters
    ----------
    store
        The store.
    name
        As of `one_run`.
    folder
        Is made, or replaced if it is a run bundle.
    """
    import tomli_w

    from ackclock.experiments.store.keeper import KEY
    from ackclock.results.bundle import write_bundle
    from ackclock.results.summary import read

    row = one_run(store, name)
    key = row["key"]
    tables = {}
    for table in store.table_names([key]):
        rows = store.table(table, [key])
        if rows is not None:
            tables[table] = rows.drop_columns([KEY])

    def write_case(at: Path) -> None:
        document = {**json.loads(row["document"]), "seed": row["seed"]}
        (at / "scenario.toml").write_text(tomli_w.dumps(document), encoding="utf-8")
        for file, text in files.items():
            (at / file).parent.mkdir(parents=True, exist_ok=True)
            (at / file).write_text(text, encoding="utf-8")

    # Before anything is written.
    files = check_files(key, json.loads(row["files"]))
    summary = read(row["summary"], tables)
    return write_bundle(folder, write_case, summary, tables, row["command"] or None)


def export_table(store: Store, table: str, rows: Sequence[dict[str, Any]], out: Path) -> int:
    """Write a table of many runs, with their labels, into one file.

    Parameters
    ----------
    store
        The store.
    table
        ``flows``, ``links``, or a recorded table; ``runs`` for the runs themselves.
    rows
        Runs as `find` gave them.
    out
        ``.csv`` or ``.parquet``.

    Returns
    -------
    int
        Rows written.

    Raises
    ------
    StoreError
        No run has such a table, or the file's name has no known ending.
    """
    import numpy as np
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from ackclock._util.arrow import array, numbers
    from ackclock._util.labels import label_column, own_name
    from ackclock.experiments.store.keeper import KEY

    if out.suffix not in (".csv", ".parquet"):
        raise StoreError(f"{out}: expected a name that ends in .csv or .parquet")
    keys = [row["key"] for row in rows]
    names = store.table_names(keys) if keys else []
    if table != "runs" and table not in names:
        hint = suggestion(table, ["runs", *names])
        raise StoreError(f'{store.folder}: no such run has a table "{table}"; {hint}')
    exported = store.table(table, keys)
    if exported is None:
        raise StoreError(f"{store.folder}: no run passes the filters")
    text = pc.cast(exported[KEY], "string")
    row_of_key = numbers(pc.index_in(text, array(keys))).astype(np.int64)
    labels = [json.loads(row["labels"]) for row in rows]
    columns = {
        name: [entry.get(name) for entry in labels]
        for name in dict.fromkeys(name for entry in labels for name in entry)
    }
    columns["seed"] = [int(row["seed"]) for row in rows]
    taken = array(row_of_key)
    if table != "runs":
        same = {name: own_name(table, name) for name in exported.column_names if name in columns}
        exported = exported.rename_columns([same.get(name, name) for name in exported.column_names])
    for position, (name, values) in enumerate(columns.items()):
        if name not in exported.column_names:
            exported = exported.add_column(position + 1, name, label_column(values).take(taken))
    if out.suffix == ".parquet":
        pq.write_table(exported, out, compression="zstd")
    else:
        from pyarrow import csv

        csv.write_csv(exported, out)
    return int(exported.num_rows)
