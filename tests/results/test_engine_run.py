"""Runs of the packet engine through Python: contract, tables, bundle, determinism."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.scenario import execution

FLOW_KEYS = {
    "id", "src", "dst", "cc", "recovery", "goodput_bps", "delivered_packets", "sent_packets",
    "retransmits", "timeouts", "lost_data_packets", "lost_ack_packets", "srtt_mean_s",
}  # fmt: skip
LINK_KEYS = {
    "id", "utilisation", "drops", "marks", "queue_mean_packets", "queue_p99_packets",
    "delay_mean_s",
}  # fmt: skip
TOP_KEYS = {
    "scenario_hash", "seed", "version", "engine", "era", "duration_s", "window_s", "flows",
    "links", "totals",
}  # fmt: skip
EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))


def test_the_summary_keeps_its_contract(run):
    assert set(run.summary) >= TOP_KEYS
    assert all(set(flow) >= FLOW_KEYS for flow in run.summary["flows"])
    assert all(set(link) >= LINK_KEYS for link in run.summary["links"])
    assert set(run.summary["totals"]) >= {"packet_hops", "events", "cpu_s"}
    json.dumps(run.summary, allow_nan=False)


def test_two_bulk_flows_fill_the_link_and_no_more(run):
    total = sum(flow["goodput_bps"] for flow in run.summary["flows"])
    assert 0.8 * 5e6 < total < 5e6
    assert max(link["utilisation"] for link in run.summary["links"]) <= 1.0


def test_tables_carry_names_and_say_their_units(run):
    assert run.flows.column("id").to_pylist() == [f["id"] for f in run.summary["flows"]]
    names = {f["id"] for f in run.summary["flows"]}
    assert set(run.windows.column("flow").to_pylist()) == names
    assert set(run.windows.column_names) >= {"time_s", "flow", "cwnd_segments", "acked"}
    assert pa.types.is_dictionary(run.windows.schema.field("flow").type)
    assert set(run.states.column("state").to_pylist()) >= {"slow-start"}
    known = {link["id"] for link in run.summary["links"]}
    assert set(run.drops.column("link").to_pylist()) <= known
    for name, rows in run.tables.items():
        if "time_s" in rows.column_names:
            assert np.all(np.diff(rows.column("time_s").to_numpy()) >= 0), name


def test_goodput_agrees_with_the_samples(run):
    samples = run.flow_samples.to_pandas()
    end = run.summary["duration_s"]
    begin = end - run.summary["window_s"]
    for flow in run.summary["flows"]:
        mine = samples[samples.flow == flow["id"]]
        inside = mine[(mine.time_s >= begin - 1e-9) & (mine.time_s <= end + 1e-9)]
        # What had arrived by then, in order or not, is of the time before.
        bits = 8 * (inside.delivered_bytes.iloc[-1] - inside.received_bytes.iloc[0])
        seconds = inside.time_s.iloc[-1] - inside.time_s.iloc[0]
        assert bits / seconds == pytest.approx(flow["goodput_bps"], rel=0.05)


def test_the_same_seed_gives_the_same_run(small, run):
    again = small.run()
    without = {k: v for k, v in again.summary.items() if k != "totals"}
    assert without == {k: v for k, v in run.summary.items() if k != "totals"}
    assert all(again.table(name).equals(run.table(name)) for name in run.tables)


def test_a_table_that_was_not_recorded_says_how_to(small):
    plain = small.run(record=[])
    with pytest.raises(ac.UnsupportedError, match=r'record=\["windows"\]'):
        _ = plain.windows
    with pytest.raises(ac.UnsupportedError, match="did you mean"):
        plain.table("window")


def test_the_text_summary_names_every_flow(run):
    text = str(run)
    assert "small" in text
    assert all(f["id"] in text for f in run.summary["flows"])


def test_a_bundle_reads_back_equal(run, tmp_path):
    folder = run.save(tmp_path / "out", command="ackclock run small.toml")
    assert {f.name for f in folder.iterdir()} >= {
        "scenario.toml", "summary.json", "flows.parquet", "links.parquet", "windows.parquet",
        "provenance.json",
    }  # fmt: skip
    back = ac.load_run(folder)
    assert back.summary == run.summary
    assert back.scenario == run.scenario
    assert all(back.table(name).equals(run.table(name)) for name in run.tables)
    provenance = json.loads((folder / "provenance.json").read_text())
    assert provenance["command"] == "ackclock run small.toml"
    run.save(folder)  # a bundle may be replaced
    assert list(tmp_path.iterdir()) == [folder]


def test_other_folders_and_other_versions_are_refused(run, tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    with pytest.raises(ac.AckclockError, match="choose another"):
        run.save(tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "precious"
    with pytest.raises(ac.AckclockError, match="not a run bundle"):
        ac.load_run(tmp_path / "mine")
    folder = run.save(tmp_path / "b")
    file = folder / "provenance.json"
    file.write_text(file.read_text().replace('"bundle_version": 1', '"bundle_version": 99'))
    with pytest.raises(ac.AckclockError, match="version 99"):
        ac.load_run(folder)


def test_what_progress_raises_stops_the_run_as_it_is(small, monkeypatch):
    class EnoughError(Exception):
        pass

    reported = []

    def progress(fraction, seconds):
        reported.append((fraction, seconds))
        if len(reported) == 3:
            raise EnoughError

    monkeypatch.setattr(execution, "PROGRESS_S", 0.0)
    with pytest.raises(EnoughError):
        small.replace(duration="1 h", **{"record.tables": []}).run(progress=progress)
    assert len(reported) == 3
    assert 0 < reported[0][0] < reported[1][0] < reported[2][0] < 1
    assert all(seconds == pytest.approx(3600 * fraction) for fraction, seconds in reported)


def test_meaning_is_checked_before_running(small):
    with pytest.raises(ac.ScenarioError, match="warmup"):
        small.replace(warmup="1 h").run()


def test_replications_differ_by_seed_and_agree_in_order(small):
    jittered = small.replace(**{"record.tables": [], "flows[*].start_jitter": "100 ms"})
    many = ac.replicate(jittered, reps=3, workers=2)
    assert many.distinct_runs == 3
    assert [r.summary["seed"] for r in many.runs] == [3, 4, 5]
    means = {(m["kind"], m["id"], m["metric"]): m for m in many.means.to_pylist()}
    first = many.runs[0].summary["flows"][0]
    row = means["flow", first["id"], "goodput_bps"]
    values = [r.summary["flows"][0]["goodput_bps"] for r in many.runs]
    assert row["mean"] == pytest.approx(sum(values) / 3)
    assert row["ci_low"] <= row["mean"] <= row["ci_high"]
    assert many.observations.num_rows == sum(m["n"] for m in many.means.to_pylist())


@pytest.mark.parametrize(
    "file",
    [pytest.param(f, marks=pytest.mark.slow if f.stem == "fat-tree" else ()) for f in EXAMPLES],
    ids=lambda file: file.stem,
)
def test_examples_run(file):
    """Each example; the data centre, the largest, among the slow tests."""
    example = ac.load(file)
    # A few milliseconds of a data centre are enough.
    is_short = tomllib.loads(file.read_text())["duration"].endswith(" ms")
    result = (example if is_short else example.replace(duration="8 s", warmup="2 s")).run()
    assert sum(flow["goodput_bps"] for flow in result.summary["flows"]) > 0


def test_queues_agree_with_samples_of_the_same_queues(small):
    """A row of `queues` says what waits from then on: samples between changes must say the same."""
    import numpy as np

    tables = {"record.tables": ["queues", "link_samples"], "record.interval": "97 ms"}
    run = small.replace(duration="10 s", **tables).run()
    busiest = max(run.links.to_pylist(), key=lambda link: link["queue_mean_packets"])["id"]
    assert max(row["queue_packets"] for row in run.link_samples.to_pylist()) > 2
    for name in run.links["id"].to_pylist():
        exact = [row for row in run.queues.to_pylist() if row["link"] == name]
        assert exact or name != busiest
        times = np.array([0.0] + [row["time_s"] for row in exact])
        packets = np.array([0] + [row["queue_packets"] for row in exact])
        bytes_ = np.array([0] + [row["queue_bytes"] for row in exact])
        for row in run.link_samples.to_pylist():
            if row["link"] == name and not np.any(np.isclose(times, row["time_s"], atol=1e-9)):
                at = np.searchsorted(times, row["time_s"]) - 1
                assert (packets[at], bytes_[at]) == (row["queue_packets"], row["queue_bytes"])


def test_queues_count_every_flow_though_packets_keep_one(small):
    tables = {"record.tables": ["queues", "packets"]}
    every = small.replace(**tables).run()
    one = small.replace(**tables, **{"record.flows": [0]}).run()
    assert one.queues.equals(every.queues)
    assert len(set(one.packets["flow"].to_pylist())) == 1
    assert 0 < one.packets.num_rows < every.packets.num_rows


def test_sampled_tables_hold_what_was_requested(small):
    tables = {"record.tables": ["flow_samples", "link_samples"], "record.interval": None}
    every = small.replace(**tables).run()
    link = every.links["id"][0].as_py()
    some = small.replace(**tables, **{"record.links": [link], "record.flows": [1]}).run()
    times = some.link_samples["time_s"].to_pylist()
    assert times[:3] == pytest.approx([0.0, 0.1, 0.2])  # the interval of 100 ms when none is given
    assert set(some.link_samples["link"].to_pylist()) == {link}
    kept = [row for row in every.link_samples.to_pylist() if row["link"] == link]
    assert some.link_samples.to_pylist() == kept
    name = every.flows["id"][1].as_py()
    kept = [row for row in every.flow_samples.to_pylist() if row["flow"] == name]
    assert some.flow_samples.to_pylist() == kept
