"""Recordings as small files: a Parquet table with case, provenance and repetitions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from pathlib import Path

    from linux_link.record import Recording

#: Most rows that a flow has in a file.
MOST_ROWS = 3000
KEY = b"recording"


def table_of(recording: Recording) -> pa.Table:
    """Make the table of a recording: a row for each sample of a flow.

    Columns are `t_s`, `flow`, `cwnd` and `ssthresh` in segments, `srtt_us`, `acked_bytes`,
    `retransmits`, and of the link, at the time of the sample, `drops` so far and packets that wait,
    `queue_packets`.
    """
    samples = recording.samples
    every = -(-len(samples["t_s"]) // MOST_ROWS)
    # Samples of all flows at one time stay together.
    tick = np.cumsum(np.diff(samples["flow"], prepend=1e9) <= 0) - 1
    kept = tick % every == 0
    at = samples["t_s"][kept]
    lost = np.isnan(recording.waited_s)
    drops = np.searchsorted(recording.arrived_s[lost], at, side="right")
    entered = recording.arrived_s[~lost]
    left = entered + recording.waited_s[~lost]
    queue = np.searchsorted(entered, at, side="right") - np.searchsorted(left, at, side="right")

    def column(name: str) -> Any:
        return samples[name][kept]

    return pa.table(
        {
            "t_s": pa.array(np.round(at, 4), pa.float32()),
            "flow": pa.array(column("flow").astype(np.uint8)),
            "cwnd": pa.array(column("cwnd").astype(np.uint16)),
            "ssthresh": pa.array(np.minimum(column("ssthresh"), 65535).astype(np.uint16)),
            "srtt_us": pa.array(column("rtt_us").astype(np.uint32)),
            "acked_bytes": pa.array(column("bytes_acked").astype(np.uint32)),
            "retransmits": pa.array(column("total_retrans").astype(np.uint16)),
            "drops": pa.array(drops.astype(np.uint16)),
            "queue_packets": pa.array(queue.astype(np.uint16)),
        }
    )


def write(path: Path, table: pa.Table, about: dict[str, Any]) -> None:
    """Write a table with what it is about; the file appears complete or not at all."""
    table = table.replace_schema_metadata({KEY: json.dumps(about, sort_keys=True)})
    temporary = path.with_suffix(".part")
    pq.write_table(table, temporary, compression="zstd", compression_level=19, use_dictionary=True)
    temporary.replace(path)


def read(path: Path) -> tuple[pa.Table, dict[str, Any]]:
    """Read a file that `write` wrote: the table and what it is about."""
    table = pq.read_table(path)
    return table, json.loads(table.schema.metadata[KEY])
