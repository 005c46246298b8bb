"""Arrow tables of what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ackclock.captures.read.measures import measure
from ackclock.captures.trace import KINDS

if TYPE_CHECKING:
    import pyarrow as pa

    from ackclock.captures.trace import Trace

__all__ = ["tables_of"]


def tables_of(trace: Trace) -> dict[str, pa.Table]:
    """Make the tables ``flows``, ``events``, ``rtts`` and ``samples``.

    Parameters
    ----------
    trace
        What was read.
    """
    import pyarrow as pa

    rows = [measure(flow) for flow in trace.flows]
    for row in rows:
        row["doubts"] = "; ".join(row["doubts"])
        row["ends"] = " -> ".join(row["ends"]) if row["ends"] else None
    tables = {"flows": pa.Table.from_pylist(rows)}
    kinds = pa.array(list(KINDS))
    for name in ("events", "rtts", "samples"):
        pieces = []
        for flow in trace.flows:
            columns = dict(getattr(flow, name))
            count = len(columns["time_s"])
            arrays = {"time_s": pa.array(columns.pop("time_s"))}
            index = pa.array([0] * count, pa.int32())
            arrays["flow"] = pa.DictionaryArray.from_arrays(index, pa.array([flow.name]))
            if "event" in columns:
                event = pa.array(columns.pop("event").astype("int32"))
                arrays["event"] = pa.DictionaryArray.from_arrays(event, kinds)
            arrays |= {key: pa.array(values, from_pandas=True) for key, values in columns.items()}
            pieces.append(pa.table(arrays))
        tables[name] = pa.concat_tables(pieces).unify_dictionaries()
    return tables
