"""Counts are whole numbers that cannot be negative; a difference of two of them can."""

from pathlib import Path

import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.experiments.store import query
from ackclock.experiments.store.store import Store
from ackclock.reproduce.read.folder import PAPERS, read
from ackclock.reproduce.run.database import Database


def test_a_query_of_a_paper_may_subtract_counts_and_keeps_seeds():
    database = Database(read(PAPERS / "example"))
    counts = {
        "lost": pa.array([585, 7], pa.uint64()),
        "seed": pa.array([2**64 - 1, 1], pa.uint64()),
    }
    database.add("loss", {"flows": pa.table(counts)})
    text = "SELECT min(lost) - max(lost) AS value, max(seed) AS seed FROM loss.flows"
    row = database.query(text, Path("claims.toml"), "measure").to_pylist()[0]
    assert row == {"value": -578, "seed": 2**64 - 1}


@pytest.mark.parametrize("confined", [True, False])
def test_a_query_of_a_store_may_subtract_counts(tmp_path, confined):
    flow = {"id": "f", "pair": 0}
    net = {"kind": "dumbbell", "pairs": 1, "rate": "5 Mbps", "rtt": "20 ms", "buffer": "5 pkt"}
    case = ac.Scenario.from_data({"net": net, "flows": [flow], "duration": "2 s"})
    ac.sweep(case, {"net.buffer": ["5 pkt", "50 pkt"]}).run(
        store=tmp_path / "store", workers=1, progress=False
    )
    text = "SELECT min(sent_packets) - max(sent_packets) AS value FROM flows"
    value = query.sql(Store(tmp_path / "store"), text, confined=confined).to_pylist()[0]["value"]
    assert value < 0
