"""A run's files come back as the run's own tables."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ackclock as ac
from ackclock.captures.read.packets import read_packets
from ackclock.captures.read.read import read_trace
from ackclock.captures.read.reading import read

EXAMPLES = Path(__file__).parents[2] / "examples"
SHORT = {"cubic-reno-codel": "3 s", "dumbbell-aimd-vegas": "2 s", "red-ecn": "3 s"}
LONG = ("cellular-schedule", "cubic-reno-codel", "dumbbell-aimd-vegas", "parking-lot", "red-ecn")


def compare_packets(run, path, link):
    """Every row of the table of packets that left the link is a packet of the capture."""
    rows = [row for row in run.table("packets").to_pylist() if row["event"] == "departure"]
    back = "->".join(reversed(link.split("->")))
    rows = sorted(
        (row for row in rows if row["link"] in (link, back)), key=lambda row: row["time_s"]
    )
    with path.open("rb") as file:
        segments = read_packets(file, path).segments
    assert len(segments) == len(rows) > 0
    assert np.allclose(
        [segment.time_ns / 1e9 for segment in segments],
        [row["time_s"] for row in rows],
        rtol=0, atol=1e-9,
    )  # fmt: skip
    reading = read(path, keep_addresses=True)
    ports = {1024 + i: str(flow["id"]) for i, flow in enumerate(run.summary["flows"])}
    for flow in reading.trace.flows:
        name = ports[int(flow.ends[0].rpartition(" ")[2])]
        data = [
            row for row in rows
            if row["flow"] == name and not row["is_ack"] and not row["flags"] & 2
        ]  # fmt: skip
        kinds = ("sent", "retransmitted", "reordered", "duplicated")
        mask = np.isin(flow.events["event"], [("sent", *kinds[1:]).index(kind) for kind in kinds])
        size = flow.facts["largest_payload_bytes"]
        starts = flow.events["start"][mask]
        assert (starts // size).tolist() == [row["seq"] for row in data]
        times = flow.events["time_s"][mask] + reading.trace.start_s
        assert np.allclose(times, [row["time_s"] for row in data], rtol=0, atol=2e-9)
        highest, again = -1, 0
        for row in data:
            again += row["seq"] <= highest
            highest = max(highest, row["seq"])
        assert flow.count("retransmitted") == again
        assert flow.count("reordered") == flow.count("duplicated") == 0
        acks = [row["seq"] for row in rows if row["flow"] == name and row["is_ack"]]
        if acks:
            una = int(flow.select("acknowledged")["end"].max(initial=0))
            blocks = [
                row[f"sack{n}_end"] for row in rows
                if row["flow"] == name and row["is_ack"] for n in (1, 2, 3)
            ]  # fmt: skip
            assert -(-una // size) == max(*acks, *blocks)
    return reading


def capture(example, path, **changes):
    scenario = ac.load(EXAMPLES / f"{example}.toml").replace(**changes)
    run = scenario.run(record=["packets"])
    rows = run.table("packets").to_pylist()
    links = [row["link"] for row in rows if row["event"] == "departure" and not row["is_ack"]]
    link = max(sorted(set(links)), key=links.count)
    run.to_pcapng(path, link=link)
    return run, link


@pytest.mark.slow
@pytest.mark.parametrize("example", SHORT)
def test_the_packets_of_an_example_come_back(example, tmp_path):
    path = tmp_path / "x.pcapng"
    changes = {"duration": SHORT[example], "warmup": "0 s"}
    run, link = capture(example, path, **changes)
    compare_packets(run, path, link)


@pytest.mark.slow
@pytest.mark.parametrize("example", LONG)
def test_the_packets_of_a_whole_example_come_back(example, tmp_path):
    path = tmp_path / "x.pcapng"
    run, link = capture(example, path)
    compare_packets(run, path, link)


def test_a_capture_at_the_sender_has_the_run_s_counts_and_round_trips(run_of_cubic):
    run, path = run_of_cubic
    reading = compare_packets(run, path, "s0->r0")
    flow, figures = run.summary["flows"][0], reading.flows[0]
    assert figures["retransmitted_packets"] == flow["retransmits"] > 0
    drops = [row for row in run.table("drops").to_pylist() if not row["is_ack"]]
    # Those of the last round trip are not sent again before the end.
    assert abs(figures["lost_packets"] - len(drops)) <= 2
    own = run.table("rtts").to_pydict()
    trace = reading.trace.flows[0]
    # An acknowledgement leaves for its last link as long before it arrives as the SYN's answer.
    half = trace.facts["to_sender_s"]
    known = dict(zip(np.round(own["time_s"], 6), own["rtt_s"], strict=True))
    times = np.round(trace.rtts["time_s"][1:] + reading.trace.start_s + half, 6)
    pairs = [
        (rtt, known[time]) for time, rtt in zip(times, trace.rtts["rtt_s"][1:], strict=True)
        if time in known
    ]  # fmt: skip
    assert len(pairs) > 0.9 * len(known)
    # The tap is behind the queue of the sender's device, in which a burst waits.
    late = [theirs - ours for ours, theirs in pairs]
    arrivals = {}
    waits = [0.0]
    for row in run.table("packets").to_pylist():
        if row["link"] == "s0->r0" and row["event"] == "arrival":
            arrivals[row["seq"]] = row["time_s"]
        elif row["link"] == "s0->r0":
            waits.append(row["time_s"] - arrivals[row["seq"]])
    assert min(late) > -2e-6
    assert max(late) < max(waits) + 2e-6
    assert np.median(late) < np.median(waits) + 2e-6


@pytest.mark.slow
def test_a_qlog_of_a_run_has_its_transmissions_losses_and_round_trips(run_of_cubic, tmp_path):
    run, _ = run_of_cubic
    path = tmp_path / "x.qlog"
    run.to_qlog(path)
    reading = read(path)
    flow, figures = run.summary["flows"][0], reading.flows[0]
    assert figures["sent_packets"] == flow["sent_packets"] + 1  # with the SYN
    assert figures["lost_packets"] == flow["lost_data_packets"]
    assert figures["rtt_min_s"] == pytest.approx(flow["rtt_min_s"], rel=1e-6)


def test_a_file_for_flent_has_the_run_s_bytes(run_of_cubic, tmp_path):
    run, _ = run_of_cubic
    path = tmp_path / "x.flent.gz"
    run.to_flent(path)
    reading = read(path)
    received = run.table("flow_samples")["received_bytes"].to_pylist()
    assert reading.flows[0]["delivered_bytes"] == pytest.approx(received[-1], rel=1e-6)
    assert reading.flows[0]["cc"] == "cubic"


@pytest.mark.slow
def test_tables_and_page_are_written(run_of_cubic, tmp_path):
    import pyarrow.parquet as pq

    _, path = run_of_cubic
    folder = tmp_path / "out"
    reading = read(path, csv=True)
    reading.save(folder)
    events = pq.read_table(folder / "events.parquet")
    assert events.column_names == ["time_s", "flow", "event", "start", "end", "size_bytes"]
    assert events.num_rows == len(reading.trace.flows[0].events["time_s"])
    names = {file.name for file in folder.iterdir()}
    assert {"read.html", "read.json", "sequence.svg", "rtt.svg", "flows.csv"} <= names


def test_a_capture_of_era_linux_has_the_timestamps_of_linux(tmp_path):
    """Its segments are 1448 B and 12 B of option; near the receiver they show round trips."""
    net = ac.topology.Dumbbell(pairs=1, rate="5 Mbps", rtt="40 ms", buffer="30 pkt")
    scenario = ac.Scenario(net, [ac.Flow(pair=0, cc="cubic")], duration="3 s", era="linux")
    run = scenario.run(record=["packets"])
    run.to_pcapng(tmp_path / "x.pcapng", link="r1->d0")
    flow = read_trace(tmp_path / "x.pcapng").flows[0]
    assert flow.facts["has_timestamps"]
    assert flow.facts["largest_payload_bytes"] == 1448
    assert flow.position == "receiver"
    # A full queue is 30 packets of 1500 B, 72 ms.
    assert flow.rtts["rtt_s"].min() == pytest.approx(0.042, abs=0.003)
    assert flow.rtts["rtt_s"].max() == pytest.approx(0.04 + 0.072, abs=0.005)
