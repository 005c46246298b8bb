"""Text, tables and folders of a run that is written out by hand."""

from __future__ import annotations

import gzip
import json
from types import SimpleNamespace

import pyarrow as pa
import pytest

import ackclock as ac
from ackclock.errors import AckclockError, UnsupportedError
from ackclock.results.bundle import read_bundle, write_bundle
from ackclock.results.formats import flent
from ackclock.results.run import TABLES, Run
from ackclock.results.summary import beside_tables, lacks, read, whole


def flow(name, **more):
    return {
        "id": name, "src": "s", "dst": "d", "cc": "aimd", "recovery": "sack", "goodput_bps": 1.5e6,
        "retransmits": 3, "timeouts": 1, "srtt_mean_s": 0.0421, **more,
    }  # fmt: skip


def link(name, utilisation, **more):
    return {
        "id": name, "utilisation": utilisation, "drops": 4, "marks": 2, "queue_mean_packets": 1.25,
        "queue_p99_packets": 7.6, "delay_mean_s": 0.0012, **more,
    }  # fmt: skip


def made(**changes):
    summary = {
        "engine": "packet", "era": "rfc", "seed": 7, "duration_s": 30.0, "window_s": 25.0,
        "flows": [
            flow("f0", loss_ratio=0.0123, queueing_p95_s=0.007),
            flow("f1", cc=None, recovery=None, srtt_mean_s=None, one_way_mean_s=0.05,
                 loss_ratio=0.0002),
            flow("f2"),
        ],
        "links": [link("a", 0.25), link("b", 0.5)],
        "totals": {"packet_hops": 12345, "events": 67890, "cpu_s": 0.25},
        **changes,
    }  # fmt: skip
    return Run(SimpleNamespace(name="mine"), summary, {"flows": pa.table({"x": [1]})})


def lines(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def test_the_text_of_a_run_has_its_window_flows_links_and_totals():
    assert lines(str(made())) == [
        "mine: packet engine, era rfc, seed 7, 30 s simulated, measured from 5 s to 30 s",
        "",
        "flow ends cc recovery goodput loss retransmits timeouts delay queueing p95",
        "f0 s -> d aimd sack 1.5 Mbit/s 1.2 % 3 1 42.1 ms 7 ms",
        "f1 s -> d - - 1.5 Mbit/s 0.02 % 3 1 50 ms one way -",
        "f2 s -> d aimd sack 1.5 Mbit/s - 3 1 42.1 ms -",
        "",
        "link used drops marks queue pkt p99 pkt queueing delay",
        # The busiest first.
        "b 50.0 % 4 2 1.2 8 1.2 ms",
        "a 25.0 % 4 2 1.2 8 1.2 ms",
        "",
        "retransmits, timeouts, and drops and marks of links are counted over the whole run",
        "",
        "12,345 packet hops, 67,890 events, 250 ms of one core",
    ]


def test_warnings_and_threads_are_reported():
    totals = {"packet_hops": 1, "events": 2, "cpu_s": 3.0, "threads": 4, "threads_reason": "why"}
    text = str(made(warnings=["one", "two"], totals=totals))
    assert lines(text)[-5:] == [
        "warning: one",
        "warning: two",
        "",
        "1 packet hops, 2 events, 3 s of 4 threads together",
        "run on 4 threads: why",
    ]
    text = str(made(totals={**totals, "threads": 1}))
    assert lines(text)[-2:] == [
        "1 packet hops, 2 events, 3 s of one core",
        "run on one thread: why",
    ]
    page = made(warnings=["careful"])._repr_html_()
    assert "warning: careful" in page
    assert page.count("<table") == 4
    assert made()._repr_html_().count("<table") == 3
    assert made(duration_s=25.0)._repr_html_().count("<table") == 2


def idle(number, **more):
    nothing = {"drops": 0, "marks": 0, "queue_mean_packets": 0.0, "queue_p99_packets": 0.0}
    return link(f"i{number}", 0.001, **{**nothing, "delay_mean_s": 0.0, **more})


def test_of_many_links_those_that_do_nothing_are_counted_not_listed():
    busy = [link("a", 0.25), idle("drops", drops=1), idle("marks", marks=1),
            idle("queues", queue_mean_packets=2.0), idle("carries")]  # fmt: skip
    busy[-1]["utilisation"] = 0.006
    text = str(made(links=[*busy, *(idle(n) for n in range(9))]))
    rows = text.partition("queueing delay")[2].partition("\n\n")[0]
    shown = {line.split()[0] for line in rows.strip().splitlines()}
    assert shown == {"a", "idrops", "imarks", "iqueues", "icarries"}
    assert "9 links carry less than 0.5 % and queue nothing; --json and" in text
    few = str(made(links=[*busy, idle(0)]))
    assert "i0 " in few
    assert "queue nothing" not in few


def test_flows_of_part_of_the_measured_time_have_their_rate_in_their_time():
    # 25 s are measured, from 5 s on.
    flows = [
        flow("early", start_s=0.0, completed_after_s=None, window_delivered_bytes=10**6),
        flow("late", start_s=20.0, completed_after_s=None, window_delivered_bytes=10**6),
        flow("short", start_s=1.0, completed_after_s=9.0, window_delivered_bytes=10**6),
        flow("before", start_s=1.0, completed_after_s=2.0, window_delivered_bytes=0),
    ]
    said = [line for line in lines(str(made(flows=flows))) if "goodput above" in line]
    assert said == [
        "late began at 20 s: 800 kbit/s from then on; its goodput above is over the measured time",
        "short sent from 1 s to 10 s: 1.6 Mbit/s then; its goodput above is over the measured time",
    ]
    many = [flow(f"f{n}", start_s=20.0, completed_after_s=None, window_delivered_bytes=1)
            for n in range(9)]  # fmt: skip
    assert "5 more flows did not send in all of the measured time" in str(made(flows=many))


def test_an_emulated_link_that_waits_less_than_the_clock_counts_does_not_wait():
    from ackclock.peers.emulate.run import EmulatedRun

    run = made(links=[link("a", 0.5, delay_mean_s=88.64e-12), link("b", 0.2, delay_mean_s=2e-9)])
    emulated = EmulatedRun(run.scenario, run.summary, run.tables)
    assert [row[-1] for row in emulated._link_rows()[1]] == ["0 s", "2 ns"]
    assert [row[-1] for row in run._link_rows()[1]] == ["88.64 ps", "2 ns"]


def test_a_table_that_is_not_there_says_why():
    run = made()
    assert run.table("flows").num_rows == 1
    assert repr(run).endswith("seed=7, tables=['flows'])")
    for name in TABLES:
        with pytest.raises(UnsupportedError, match=f'the table "{name}" was not recorded'):
            getattr(run, name)
    for name in ("links", "receivers"):
        with pytest.raises(UnsupportedError, match="there is no table"):
            getattr(run, name)


def test_a_summary_without_its_lists_is_read_with_its_tables():
    rows = {
        "flows": pa.Table.from_pylist([{"id": "f"}]),
        "links": pa.Table.from_pylist(
            [{"id": "l", "drops_overflow": 3, "drops_no_route": 1, "drops_early": 0}]
        ),
    }
    kept = beside_tables({"flows": [1], "links": [2], "seed": 4})
    assert json.loads(kept) == {"flows": None, "links": None, "seed": 4}
    assert read(kept, rows) == {
        "flows": [{"id": "f"}],
        "links": [{"id": "l", "drop_reasons": {"overflow": 3, "no-route": 1}}],
        "seed": 4,
    }
    assert lacks({"flows": None, "links": []}) == ["flows"]
    same = {"links": None}
    assert whole(same, lambda name: [{"id": name}] if name == "links" else []) is same
    assert same == {"links": [{"id": "links"}]}
    run = Run(SimpleNamespace(name=""), kept, rows)
    assert run.summary_json == kept
    assert run.summary["flows"] == [{"id": "f"}]
    assert json.loads(run.summary_json)["flows"] is None


def core_output(**changes):
    return {
        "summary": '{"name":"\\"totals\\":{","totals":{"events":1},"flows":null,"links":null}',
        "tables": {"flows": {"id": ["f"]}, "links": {"id": ["l"]}},
        "threads": 1,
        "reason": None,
        **changes,
    }


@pytest.mark.parametrize(
    ("changes", "more"),
    [
        ({}, {}),
        ({"threads": 2}, {"threads": 2, "threads_reason": None}),
        ({"reason": 'a "b"'}, {"threads": 1, "threads_reason": 'a "b"'}),
    ],
)
def test_what_the_core_returns_gets_the_hash_and_the_time(changes, more):
    case = SimpleNamespace(name="", fingerprint="abc")
    recorded = []
    run = Run.from_core(case, core_output(**changes), 1.5, recorded.append)
    assert json.loads(run.summary_json) == {
        "scenario_hash": "abc",
        "name": '"totals":{',
        "totals": {"cpu_s": 1.5, **more, "events": 1},
        "flows": None,
        "links": None,
    }
    assert recorded == [run.tables]


def bundle(folder, **summary):
    data = {"scenario_hash": "h", "seed": 3, "digest": "d", "version": "v", **summary}
    tables = {"flows": pa.table({"x": [1.5]}), "drops": pa.table({"y": ["a"]})}
    return write_bundle(
        folder, lambda at: (at / "scenario.toml").write_text("s"), data, tables, "the command"
    )


def test_a_bundle_has_its_case_summary_tables_and_provenance(tmp_path):
    at = bundle(tmp_path / "b", user_code={"m": "c"}, user_code_hash="u")
    assert sorted(file.name for file in at.iterdir()) == [
        "drops.parquet", "flows.parquet", "provenance.json", "scenario.toml", "summary.json",
    ]  # fmt: skip
    summary, tables = read_bundle(at)
    assert summary["seed"] == 3
    assert tables["flows"].to_pylist() == [{"x": 1.5}]
    assert tables["drops"].to_pylist() == [{"y": "a"}]
    found = json.loads((at / "provenance.json").read_text())
    assert {key: found[key] for key in found if key not in ("versions", "host", "written_at")} == {
        "bundle": "ackclock run", "bundle_version": 1, "scenario_hash": "h", "seed": 3,
        "digest": "d", "command": "the command", "user_code": {"m": "c"}, "user_code_hash": "u",
    }  # fmt: skip
    assert found["versions"]["ackclock"] == "v"
    assert set(found["versions"]) == {"ackclock", "python", "numpy", "pyarrow"}
    assert found["written_at"].endswith("+00:00")
    real = bundle(tmp_path / "c", emulation={"is_valid": True})
    assert json.loads((real / "provenance.json").read_text())["emulation"] == {"is_valid": True}


def test_a_folder_that_is_no_whole_bundle_is_refused(tmp_path):
    def refused(at):
        with pytest.raises(AckclockError) as caught:
            read_bundle(at)
        return str(caught.value)

    assert "has no readable provenance.json" in refused(tmp_path)
    at = bundle(tmp_path / "b")
    whole_text = (at / "provenance.json").read_text()
    for wrong in ("{", "[]", "{}", whole_text.replace("ackclock run", "other")):
        (at / "provenance.json").write_text(wrong)
        assert "is not a run bundle" in refused(at)
    for version in (0, 2):
        (at / "provenance.json").write_text(
            whole_text.replace('"bundle_version": 1', f'"bundle_version": {version}')
        )
        assert f"is a run bundle of version {version}; this ackclock reads 1:" in refused(at)
    (at / "provenance.json").write_text(whole_text)
    (at / "flows.parquet").write_bytes(b"no table")
    assert "is a damaged run bundle" in refused(at)
    (at / "flows.parquet").unlink()
    (at / "summary.json").write_text("{")
    assert "is a damaged run bundle" in refused(at)


def test_a_data_file_of_flent_has_rates_between_samples(tmp_path):
    rows = [
        # time, flow, delivered, window, round trip
        (0.0, "a", 0, 1.0, 0.0), (0.5, "a", 125_000, 2.0, 0.05), (1.0, "a", 125_000, 3.0, 0.0),
        (0.5, "b", 1000, 4.0, 0.1), (1.0, "b", 63_500, 5.0, 0.2),
    ]  # fmt: skip
    names = ("time_s", "flow", "delivered_bytes", "cwnd_segments", "srtt_s")
    table = pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows])
    column = table.column("flow").dictionary_encode()
    table = table.set_column(1, "flow", column)
    summary = {
        "scenario_hash": "h", "seed": 2, "version": "v",
        "flows": [flow("a"), flow("b", cc=None, goodput_bps=1e6), flow("idle")],
    }  # fmt: skip
    run = SimpleNamespace(
        scenario=SimpleNamespace(name=""),
        summary=summary,
        table=lambda name: {"flow_samples": table}[name],
    )
    file = flent.write(run, tmp_path / "x.flent.gz")
    data = json.loads(gzip.decompress(file.read_bytes()))
    assert data["version"] == 4
    assert data["x_values"] == [0.5, 1.0]
    assert data["results"] == {
        # 125 kB in half a second are 2 Mbit/s, 62.5 kB 1.
        "TCP upload::1": [2.0, 0.0],
        "TCP upload::2": [None, 1.0],
        "TCP upload avg": [2.0, 0.5],
        "TCP upload sum": [2.0, 1.0],
        "TCP upload fairness": [1.0, 0.5],
    }
    assert data["raw_values"] == {
        "TCP upload::1": [
            {"t": 0.5, "val": 2.0, "tcp_cwnd": 2.0, "tcp_rtt": 50.0},
            {"t": 1.0, "val": 0.0, "tcp_cwnd": 3.0},
        ],
        "TCP upload::2": [{"t": 1.0, "val": 1.0, "tcp_cwnd": 5.0, "tcp_rtt": 200.0}],
    }
    about = data["metadata"]
    assert about["SERIES_META"] == {
        "TCP upload::1": {
            "FLOW": "a", "CONG_CONTROL": "aimd", "MEAN_VALUE": 1.5, "UNITS": "Mbits/s"},
        "TCP upload::2": {"FLOW": "b", "CONG_CONTROL": "", "MEAN_VALUE": 1.0, "UNITS": "Mbits/s"},
        "TCP upload avg": {"UNITS": "Mbits/s"},
        "TCP upload sum": {"UNITS": "Mbits/s"},
        "TCP upload fairness": {"UNITS": "Idx"},
    }  # fmt: skip
    assert (about["LENGTH"], about["TOTAL_LENGTH"], about["STEP_SIZE"]) == (1.0, 1.0, 0.5)
    assert (about["NAME"], about["TITLE"], about["IP_VERSION"]) == ("tcp_nup", "ackclock", 4)
    assert about["TEST_PARAMETERS"] == {"upload_streams": "2"}
    assert about["NOTE"] == "ackclock scenario h, seed 2"
    one = table.filter(pa.array([row[0] == 0.5 for row in rows]))
    with pytest.raises(UnsupportedError, match="fewer than two samples were recorded"):
        flent.write(SimpleNamespace(**{**vars(run), "table": lambda _: one}), tmp_path / "y")
    assert not (tmp_path / "y").exists()


def test_replications_list_the_links_that_carry_or_queue_something():
    net = ac.topology.Dumbbell(pairs=6, rate="2 Mbps", rtt="20 ms", buffer="20 pkt")
    result = ac.replicate(ac.Scenario(net, [{"pair": 0}], duration="2 s"), reps=2)
    text = str(result)
    shown = {line.split()[1] for line in text.splitlines() if line.startswith("link ")}
    assert shown <= {"r0->r1", "r1->r0", "s0->r0", "r0->s0", "r1->d0", "d0->r1"}
    assert {"r0->r1", "s0->r0", "r1->d0"} <= shown
    left_out = 2 * (1 + 6 + 6) - len(shown)
    assert f"{left_out} links carry less than 0.5 % and queue nothing; --json" in text
    assert {row["id"] for row in result.means.to_pylist() if row["kind"] == "link"} > shown
