"""What a summary says of flows and links is kept once, in the tables, and comes back whole."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

import ackclock as ac
from ackclock.experiments.executors.task import Request, perform
from ackclock.experiments.store import Store, query
from ackclock.results.summary import beside_tables, lacks, whole
from ackclock.scenario.load import load_run

if TYPE_CHECKING:
    from pathlib import Path

CASE = """
duration = "5 s"
[net]
kind = "dumbbell"
pairs = 2
rate = "2 Mbps"
rtt = "40 ms"
buffer = "8 pkt"
qdisc = "red"
[[flows]]
pair = 0
[[flows]]
pair = 1
start = "10 s"
[[flows]]
pair = 1
cc = "vegas"
"""


@pytest.fixture(scope="module")
def run() -> ac.Run:
    return ac.load(CASE).run()


def test_lists_are_the_rows_of_the_tables(run: ac.Run) -> None:
    for name in ("flows", "links"):
        rows = run.tables[name].to_pylist()
        seen = run.summary[name]
        assert len(rows) == len(seen) > 0
        for row, reported in zip(rows, seen, strict=True):
            assert reported.items() >= {k: v for k, v in row.items() if k[:6] != "drops_"}.items()


def test_what_is_not_known_is_none(run: ac.Run) -> None:
    idle = run.summary["flows"][1]
    assert (idle["srtt_mean_s"], idle["rtt_min_s"], idle["completed_after_s"]) == (None, None, None)
    assert idle["sent_packets"] == 0


def test_reasons_of_drops_add_up_to_the_drops(run: ac.Run) -> None:
    busy = max(run.summary["links"], key=lambda link: link["drops"])
    assert busy["drops"] > 0
    assert sum(busy["drop_reasons"].values()) == busy["drops"]
    assert set(busy["drop_reasons"]) <= {"early", "forced", "overflow"}
    quiet = [link for link in run.summary["links"] if not link["drops"]]
    assert quiet and all(link["drop_reasons"] == {} for link in quiet)


def test_kept_text_has_no_lists_and_gives_the_whole_back(run: ac.Run) -> None:
    record = perform(Request("key", ac.load(CASE), 1))
    kept = json.loads(record.summary_json)
    assert lacks(kept) == ["flows", "links"]
    one, other = record.summary, dict(run.summary)
    one["totals"].pop("cpu_s")
    other["totals"] = {key: value for key, value in other["totals"].items() if key != "cpu_s"}
    assert one == other
    assert lacks(json.loads(beside_tables(one))) == ["flows", "links"]


def test_a_summary_that_is_whole_stays_as_it_is() -> None:
    reported = {"flows": [{"id": "a"}], "totals": {}}
    assert whole(dict(reported), lambda _: pytest.fail("nothing is to be read")) == reported
    assert whole({"totals": {}}, lambda _: pytest.fail("no such list")) == {"totals": {}}


def test_a_store_gives_whole_summaries(run: ac.Run, tmp_path: Path) -> None:
    sweep = ac.sweep(ac.load(CASE), {"net.buffer": ["8 pkt", "20 pkt"]}, reps=1)
    result = sweep.run(store=tmp_path / "store", progress=False)
    assert result.summaries[result.slots[0].key]["flows"] == run.summary["flows"]
    with Store(tmp_path / "store") as store:
        query.export_run(store, result.slots[0].key, tmp_path / "out")
    again = load_run(tmp_path / "out")
    assert again.summary["links"] == run.summary["links"]
    in_memory = sweep.run(store=None, progress=False)
    keys = [slot.key for slot in result.slots]
    for key in keys:
        one, other = result.summaries[key], in_memory.summaries[key]
        assert (one["flows"], one["links"]) == (other["flows"], other["links"])
