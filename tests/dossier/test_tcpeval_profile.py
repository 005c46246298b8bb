"""The profile tcpeval: the draft's formulas by hand-made tables, and what must hold exactly."""

import json
import tomllib
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

import duckdb
import pytest

from ackclock.cli.main import main
from ackclock.dossier.read import PROFILES, read
from ackclock.scenario.scenario import Scenario

TCPEVAL = PROFILES / "tcpeval" / "scenarios"


def measure(requirement, check):
    claim = read("tcpeval").data.claims[requirement]
    return next(one.measure for one in claim.checks if one.name == check)


def values(requirement, check, table, columns, made):
    """What a check measures of a table made by hand."""
    base = duckdb.connect()
    study, name = table.split(".")
    base.execute(f"CREATE SCHEMA {study}")
    marks = ", ".join("?" for _ in made[0])
    base.execute(f"CREATE TABLE {study}.{name} ({columns})")
    base.executemany(f"INSERT INTO {study}.{name} VALUES ({marks})", made)
    found = base.execute(measure(requirement, check))
    keys = [column[0] for column in found.description]
    return {
        row["part"]: row["value"]
        for row in (dict(zip(keys, values, strict=True)) for values in found.fetchall())
    }


def test_gain_and_loss_are_throughputs_of_the_mix_over_the_baseline():
    columns = "load_pct TEXT, experiment TEXT, replicate INT, id TEXT, goodput_bps DOUBLE"
    made = [
        ("50", "baseline", 0, "A1", 2e6), ("50", "baseline", 0, "A2", 2e6),
        ("50", "baseline", 0, "B1", 3e6), ("50", "baseline", 0, "B2", 1e6),
        ("50", "mix", 0, "A1", 2e6), ("50", "mix", 0, "A2", 1e6),
        ("50", "mix", 0, "B1", 4e6), ("50", "mix", 0, "B2", 2e6),
    ]  # fmt: skip
    assert values("6.1-impact", "G", "impact.flows", columns, made) == {"50 %": 6 / 4}
    assert values("6.1-impact", "L", "impact.flows", columns, made) == {"50 %": 3 / 4}


def test_ramp_up_times_are_those_of_1500_times_powers_of_ten_bytes():
    columns = (
        "rtts_ms TEXT, who TEXT, replicate INT, flow TEXT, time_s DOUBLE, received_bytes BIGINT"
    )
    made = [
        ("80, 80", "mine", 0, "new", 30.0 + t, b)
        for t, b in (
            (0, 0),
            (1, 14_999),
            (2, 15_000),
            (5, 150_000),
            (9, 14_999_999),
            (70, 14_999_999),
        )
    ]
    found = values("5.2-rampup", "time", "rampup.flow_samples", columns, made)
    # 15 kB, 150 kB, 1.5 MB; 15 MB never within the 70 s.
    assert [found[f"10^{n} packets, 80, 80 ms, mine"] for n in (1, 2, 3, 4)] == [2, 5, 9, 70]


def test_release_of_bandwidth_is_timed_by_the_window_in_parts_of_the_bdp():
    columns = "change TEXT, who TEXT, replicate INT, flow TEXT, time_s DOUBLE, cwnd_segments DOUBLE"
    # The BDP of 100 Mbit/s and 100 ms is 833.3 packets: 60 % are 500, 80 % 666.7, 90 % 750.
    windows = ((39, 900), (40, 200), (41, 499), (42, 501), (43, 740), (44, 751), (45, 1500))
    made = [("decrease", "mine", 0, "own", float(t), float(w)) for t, w in windows]
    time = values("5.3-decrease", "time", "transients.flow_samples", columns, made)
    assert time == {"60 %, mine": 2, "80 %, mine": 3, "90 %, mine": 4}
    # 299 of 200 to 499; what comes after 90 % does not count.
    change = values("5.3-decrease", "change", "transients.flow_samples", columns, made)
    assert change == {"mine": 299}


def test_the_ratio_of_bottlenecks_is_the_mean_of_the_short_ones_over_the_long_one():
    columns = "load_pct TEXT, who TEXT, replicate INT, id TEXT, goodput_bps DOUBLE"
    made = [
        ("60", "mine", 0, "long_0", 10e6), ("60", "mine", 0, "long_1", 10e6),
        *(("60", "mine", 0, f"cross{i}_0", 10e6 * i) for i in (1, 2, 3)),
        ("60", "mine", 0, "cross3_1", 60e6),
    ]  # fmt: skip
    found = values("6.3-bottlenecks", "ratio", "bottlenecks.flows", columns, made)
    assert found == {"60 %, mine": pytest.approx((10 + 20 + 90) / 3 / 20)}


def test_round_trips_are_those_of_table_1_beside_the_central_links():
    table = [4, 74, 150, 28, 98, 174, 54, 124, 200]
    for name, central in (("access", 2), ("transoceanic", 65), ("satellite", 300), ("dialup", 5)):
        net = tomllib.loads((TCPEVAL / f"{name}.toml").read_text())["scenario"]["net"]
        found = [int(rtt.removesuffix(" ms")) - 2 * central for rtt in net["rtts"]]
        assert found == table, name


def test_round_trips_of_the_ramp_up_are_those_of_the_delays_of_table_8():
    # Delays of T_n1 and T_n3, of T_n2 and T_n4, and 2 ms of the central link.
    table = [((0, 38), (0, 38)), ((23, 35), (12, 1)), ((12, 1), (23, 35))]
    for name in ("rampup", "rampup1g"):
        axis = tomllib.loads((TCPEVAL / f"{name}.toml").read_text())["over"]["rtts_ms"]
        for rtts, delays in zip(axis["values"], table, strict=True):
            assert rtts[9:] == [f"{2 * (sum(pair) + 2)} ms" for pair in delays], name


def test_buffers_are_parts_of_the_bdp_of_100_ms():
    for name, parts in (("tradeoff", [10, 20, 50, 100, 200]), ("intra", [25, 50, 100, 200])):
        axis = tomllib.loads((TCPEVAL / f"{name}.toml").read_text())["over"]["buffer_pct"]
        assert axis["labels"] == parts
        assert axis["values"] == [f"{part} ms" for part in parts]


def test_every_scenario_with_connections_begins_with_those_under_way():
    for file in TCPEVAL.glob("*.toml"):
        for traffic in tomllib.loads(file.read_text())["scenario"].get("traffic", ()):
            assert traffic["generator"]["prefill"] == "100 s", file.name


def test_a_link_of_1_gbit_has_its_load_within_seconds():
    # Of 4 s of the data centre at 60 %. Without prefill it is two thirds of that.
    document = tomllib.loads((TCPEVAL / "datacentre.toml").read_text())["scenario"]
    document["traffic"][0]["flow"]["cc"] = "aimd"
    document |= {"duration": "3 s", "warmup": "1 s"}
    use = {}
    for prefill in ("0 s", "100 s"):
        document["traffic"][0]["generator"]["prefill"] = prefill
        links = Scenario.from_data(document).run().links.to_pylist()
        use[prefill] = next(link["utilisation"] for link in links if link["id"] == "r0->r1")
    assert use["100 s"] == pytest.approx(0.6, abs=0.06)
    assert use["0 s"] < 0.45


def test_the_camps_of_6_1_have_the_same_transfers():
    # For every flow in camp A there is one with the same size, source and destination in camp B.
    document = tomllib.loads((TCPEVAL / "impact.toml").read_text())["scenario"]
    document["traffic"][1]["flow"]["cc"] = "cubic"
    document |= {"duration": "20 s", "warmup": "5 s"}
    flows = Scenario.from_data(document).run().flows.to_pylist()
    camps = {
        camp: [(f["id"][1:], f["start_s"], f["src"], f["dst"]) for f in flows if f["id"][0] == camp]
        for camp in "AB"
    }
    assert camps["A"] == camps["B"]
    assert len(camps["A"]) > 20


def test_loads_are_parts_of_the_central_link():
    for name, mbps in (("datacentre", 1000), ("access", 100), ("satellite", 40), ("dialup", 0.064)):
        axis = tomllib.loads((TCPEVAL / f"{name}.toml").read_text())["over"]["load_pct"]
        for load, percent in zip(axis["values"], axis["labels"], strict=True):
            on_the_wire = float(load.removesuffix(" Mbps")) * 1500 / 1460
            assert on_the_wire == pytest.approx(percent / 100 * mbps, rel=1e-4)


@pytest.mark.slow
def test_standard_tcp_neither_gains_nor_takes_and_values_are_reported(tmp_path):
    text = StringIO()
    words = ["--only", "6.1-impact", "--reps", "2", "--store", str(tmp_path / "store")]
    words += ["--out", str(tmp_path / "out"), "--workers", "1"]
    with redirect_stdout(text), redirect_stderr(text):
        code = main(["evaluate", "aimd", "--profile", "tcpeval", *words])
    assert code == 0, text.getvalue()
    (row,) = json.loads((tmp_path / "out/dossier.json").read_text())["rows"]
    assert row["verdict"] == "reported"
    assert row["thresholds"] == []
    # The mix of Reno with Reno is the baseline, with the same arrivals.
    assert {n["measured"] for n in row["numbers"]} == {1.0}
    assert {n["decides"] for n in row["numbers"]} == {False}
    assert "1 reported" in text.getvalue()
