"""Files for other tools, each read by the tool that it is for, or checked by its format."""

import gzip
import json
from pathlib import Path

import jsonschema
import pytest

import ackclock as ac
from ackclock.cli import main as cli
from ackclock.results.formats.registry import FORMATS

TWO = """
name = "two"
duration = "3 s"
net = { kind = "dumbbell", pairs = 2, rate = "5 Mbps", rtt = "40 ms", buffer = "20 pkt" }
flows = [
  { id = "long", pair = 0, cc = "cubic" },
  { id = "short", pair = 1, cc = "vegas", start = "1 s", size = "100 kB", tcp = { mss = 1000 } },
]
[record]
interval = "100 ms"
tables = ["windows", "rtts", "states", "drops", "queues", "packets", "flow_samples"]
"""


@pytest.fixture(scope="module")
def two():
    return ac.load(TWO).run()


@pytest.fixture(scope="module")
def qlog(two, tmp_path_factory):
    file = two.to_qlog(tmp_path_factory.mktemp("qlog") / "two.qlog")
    return json.loads(file.read_text())


def named(trace, name):
    return [event for event in trace["events"] if event["name"].split(":")[1] == name]


@pytest.mark.slow
def test_a_qlog_keeps_the_schema_of_the_drafts(qlog):
    schema = json.loads((Path(__file__).parent / "qlog_schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(qlog)
    # Times in a trace never decrease: qvis expects that.
    for trace in qlog["traces"]:
        times = [event["time"] for event in trace["events"]]
        assert times == sorted(times)


def test_a_qlog_accounts_for_each_transmission(two, qlog):
    for flow, trace in zip(two.summary["flows"], qlog["traces"], strict=True):
        sent = [event["data"] for event in named(trace, "packet_sent")]
        numbers = [data["header"]["packet_number"] for data in sent]
        assert numbers == list(range(len(sent)))
        data = {number for number, one in zip(numbers, sent, strict=True) if one["frames"]}
        assert len(data) == flow["sent_packets"]
        lost = [event["data"]["header"]["packet_number"] for event in named(trace, "packet_lost")]
        assert len(lost) == len(set(lost)) == flow["lost_data_packets"] > 0
        acknowledged = [
            number
            for event in named(trace, "packet_received")
            for frame in event["data"]["frames"]
            for first, last in frame.get("acked_ranges", [])
            for number in range(first, last + 1)
        ]
        assert len(acknowledged) == len(set(acknowledged))
        assert set(acknowledged) <= data - set(lost)
        rest = data - set(acknowledged) - set(lost)
        # Data under way, and data whose acknowledgement is under way or was delayed.
        assert (len(rest) == 0) == (flow["completed_after_s"] is not None)


def test_a_qlog_has_the_bytes_and_windows_of_the_flows(two, qlog):
    long, short = qlog["traces"]
    payload = {
        trace["title"]: [
            event["data"]["frames"][0]["length"]
            for event in named(trace, "packet_sent")
            if event["data"]["frames"]
        ]
        for trace in qlog["traces"]
    }
    assert set(payload["long: cubic"]) == {1460}
    assert set(payload["short: vegas"]) == {1000}
    frames = [
        event["data"]["frames"][0]
        for event in named(short, "packet_sent")
        if event["data"]["frames"]
    ]
    assert max(frame["offset"] + frame["length"] for frame in frames) == 100_000
    assert any(frame.get("fin") and frame["offset"] == 99_000 for frame in frames)
    windows = [
        event["data"]["congestion_window"]
        for event in named(long, "metrics_updated")
        if "congestion_window" in event["data"]
    ]
    rows = [row for row in two.windows.to_pylist() if row["flow"] == "long"]
    assert [round(row["cwnd_segments"] * 1460) for row in rows] == windows
    smoothed = [
        (event["time"], event["data"]["smoothed_rtt"])
        for event in named(short, "metrics_updated")
        if "smoothed_rtt" in event["data"]
    ]
    samples = [row for row in two.flow_samples.to_pylist() if row["flow"] == "short"]
    assert smoothed == [
        (pytest.approx(row["time_s"] * 1e3), pytest.approx(row["srtt_s"] * 1e3))
        for row in samples
        if row["srtt_s"] > 0
    ]
    lows = [
        event["data"]["min_rtt"]
        for event in named(long, "metrics_updated")
        if "min_rtt" in event["data"]
    ]
    assert lows == sorted(lows, reverse=True)
    assert lows[-1] == pytest.approx(two.summary["flows"][0]["rtt_min_s"] * 1e3)
    states = [event["data"]["new"] for event in named(long, "congestion_state_updated")]
    assert states[:2] == ["slow_start", "recovery"]


def test_an_acknowledgement_is_received_when_its_round_trip_is_sampled(two, qlog):
    samples = {round(row["time_s"] * 1e3, 6) for row in two.rtts.to_pylist()}
    received = {
        round(event["time"], 6)
        for trace in qlog["traces"]
        for event in named(trace, "packet_received")
    }
    assert len(samples) > 100
    assert samples <= received


def test_flent_reads_its_data_file(two, tmp_path):
    resultset = pytest.importorskip("flent.resultset", reason="flent is not installed")
    file = two.to_flent(tmp_path / "two.flent.gz")
    found = resultset.load(str(file))
    assert found.meta("NAME") == "tcp_nup"
    assert found.x_values == pytest.approx([0.1 * (i + 1) for i in range(30)])
    one, other, both = (found.series(f"TCP upload{name}") for name in ("::1", "::2", " sum"))
    assert both == pytest.approx([a + b for a, b in zip(one, other, strict=True)])
    # Mean goodput over the run, in Mbit/s, is what the summary has.
    for series, flow in zip((one, other), two.summary["flows"], strict=True):
        mean = sum(series) / len(series) * found.x_values[-1] / two.summary["window_s"]
        assert mean == pytest.approx(flow["goodput_bps"] / 1e6, rel=1e-6)
    rtts = dict(found.raw_series("TCP upload::1", raw_key="tcp_rtt"))
    samples = [row for row in two.flow_samples.to_pylist() if row["flow"] == "long"]
    assert rtts[samples[-1]["time_s"]] == pytest.approx(samples[-1]["srtt_s"] * 1e3)
    assert file.read_bytes() == two.to_flent(tmp_path / "again.flent.gz").read_bytes()


@pytest.mark.slow
def test_flent_draws_its_data_file(two, tmp_path):
    pytest.importorskip("flent", reason="flent is not installed")
    import subprocess
    import sys

    file = two.to_flent(tmp_path / "two.flent.gz")
    made = tmp_path / "upload.png"
    command = [sys.executable, "-m", "flent", "-i", str(file), "-p", "upload", "-o", str(made)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert made.read_bytes().startswith(b"\x89PNG")


def test_a_perfetto_trace_has_a_track_for_each_flow_and_link(two, tmp_path):
    protos = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto is not installed"
    )
    trace = protos.Trace()
    trace.ParseFromString(two.to_perfetto(tmp_path / "two.pftrace").read_bytes())
    tracks = {
        packet.track_descriptor.uuid: packet.track_descriptor
        for packet in trace.packet
        if packet.HasField("track_descriptor")
    }
    tops = [track.name for track in tracks.values() if not track.parent_uuid]
    assert tops[:2] == ["flow long: cubic, s0 -> d0", "flow short: vegas, s1 -> d1"]
    assert "link r0->r1" in tops
    kinds = protos.TrackEvent.Type
    events = [
        (packet.timestamp, packet.track_event)
        for packet in trace.packet
        if packet.HasField("track_event")
    ]
    # Every slice that begins on a track ends there, before the next begins.
    depth = dict.fromkeys(tracks, 0)
    for _, event in events:
        change = {kinds.TYPE_SLICE_BEGIN: 1, kinds.TYPE_SLICE_END: -1}.get(event.type, 0)
        depth[event.track_uuid] += change
        assert 0 <= depth[event.track_uuid] <= 1
    assert set(depth.values()) == {0}
    drops = [event for _, event in events if event.type == kinds.TYPE_INSTANT]
    # Each drop is on its flow's track and on its link's.
    assert len(drops) == 2 * two.drops.num_rows > 0
    (window,) = (
        uuid for uuid, track in tracks.items() if track.name == "cwnd" and track.parent_uuid == 1
    )
    rows = [row for row in two.windows.to_pylist() if row["flow"] == "long"]
    counted = [(at, e.double_counter_value) for at, e in events if e.track_uuid == window]
    assert counted == [(round(row["time_s"] * 1e9), row["cwnd_segments"]) for row in rows]


def test_counters_of_a_perfetto_trace_have_the_units_that_they_name(two, tmp_path):
    """A round trip takes 40 ms, and with 20 packets of 1500 B at 5 Mbit/s before it 48 ms more."""
    protos = pytest.importorskip(
        "perfetto.protos.perfetto.trace.perfetto_trace_pb2", reason="perfetto is not installed"
    )
    trace = protos.Trace()
    trace.ParseFromString(two.to_perfetto(tmp_path / "two.pftrace").read_bytes())
    about, values = {}, {}
    for packet in trace.packet:
        if packet.HasField("track_descriptor"):
            track = packet.track_descriptor
            about[track.uuid] = track.name, track.counter.unit_name
        elif packet.track_event.type == protos.TrackEvent.Type.TYPE_COUNTER:
            name = about[packet.track_event.track_uuid]
            values.setdefault(name, []).append(packet.track_event.double_counter_value)
    trips = values["RTT", "ms"]
    assert 40 < min(trips) < 50
    assert 80 < max(trips) < 100
    assert max(values["queue", "packets"]) == 20


def test_a_missing_package_is_named(two, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "perfetto.trace_builder.proto_builder", None)
    with pytest.raises(ac.AckclockError, match=r'pip install "\.\[perfetto\]"'):
        two.to_perfetto(tmp_path / "x")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("form", [name for name in FORMATS if name != "pcapng"])
def test_a_format_refuses_a_run_without_its_tables(tmp_path, form):
    if form == "perfetto":
        pytest.importorskip("perfetto", reason="perfetto is not installed")
    bare = ac.load(TWO).replace(record=None, duration="1 s").run()
    with pytest.raises(ac.UnsupportedError, match="recorded"):
        bare.export(form, tmp_path / "x")
    with pytest.raises(ac.UnsupportedError, match="leave the link out"):
        bare.export(form, tmp_path / "x", link="r0->r1")
    assert not list(tmp_path.iterdir())


def test_a_run_without_a_flow_gives_no_qlog(tmp_path):
    groups = """
duration = "2 s"
net = { kind = "dumbbell", pairs = 1, rate = "2 Mbps", rtt = "40 ms", buffer = "5 pkt" }
groups = [{ src = "s0", receivers = ["d0"], layers = ["100 kbps"] }]
record = { tables = ["packets"] }
"""
    with pytest.raises(ac.UnsupportedError, match="nothing was recorded of any flow"):
        ac.load(groups).run().to_qlog(tmp_path / "x.qlog")
    assert not list(tmp_path.iterdir())


def test_an_unknown_format_is_refused_with_the_nearest(two, tmp_path):
    with pytest.raises(ac.UnsupportedError, match='did you mean "qlog"'):
        two.export("qlgo", tmp_path / "x")


def test_the_command_line_writes_formats_of_a_run_and_of_a_bundle(tmp_path, capsys):
    pytest.importorskip("perfetto", reason="perfetto is not installed")
    scenario = tmp_path / "two.toml"
    scenario.write_text(TWO.split("[record]", maxsplit=1)[0])
    out = tmp_path / "run"
    wanted = {name: tmp_path / f"x{form.suffix}" for name, form in FORMATS.items()}
    options = [word for name, path in wanted.items() for word in (f"--{name}", str(path))]
    assert cli.main(["run", str(scenario), "--quiet", "--out", str(out), *options]) == 0
    for name, path in wanted.items():
        again = tmp_path / f"again-{name}"
        command = ["results", "export", str(out), "--format", name, "--out", str(again)]
        assert cli.main(command) == 0
        assert again.read_bytes() == path.read_bytes()
    capsys.readouterr()
    assert cli.main(["results", "export", str(out), "--link", "a", "--out", str(tmp_path)]) == 2
    assert "--link goes with" in capsys.readouterr().err


def test_a_format_of_a_stored_run_is_that_of_the_run(tmp_path, capsys):
    store = tmp_path / "store"
    case = ac.load(TWO)
    result = ac.sweep(case, {"net.buffer": ["20 pkt"]}).run(store=store, progress=False)
    out = tmp_path / "x.qlog"
    command = ["results", "export", result.keys[0], "--store", str(store)]
    assert cli.main([*command, "--format", "qlog", "--out", str(out)]) == 0
    capsys.readouterr()
    run = case.replace(seed=result.slots[0].seed).run()
    events = json.loads(run.to_qlog(tmp_path / "y.qlog").read_text())["traces"]
    assert json.loads(out.read_text())["traces"] == events


def test_no_rate_of_a_file_for_flent_is_above_that_of_the_link(tmp_path):
    # Data behind a hole are given to the application at once when it is filled.
    run = ac.load(
        """
        duration = "20 s"
        net = { kind = "dumbbell", pairs = 1, rate = "20 Mbps", rtt = "40 ms", buffer = "60 pkt" }
        flows = [{ pair = 0 }]
        record = { tables = ["flow_samples"], interval = "100 ms" }
        """
    ).run()
    assert run.summary["flows"][0]["retransmits"] > 0
    with gzip.open(run.to_flent(tmp_path / "x.flent.gz")) as file:
        data = json.load(file)
    rates = [rate for rate in data["results"]["TCP upload::1"] if rate is not None]
    assert max(rates) <= 20.0
    assert max(value["val"] for value in data["raw_values"]["TCP upload::1"]) <= 20.0
