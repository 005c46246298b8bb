"""Measurements as networks: each format, wrong files, and that a run has what they show."""

import gzip
import json

import numpy as np
import pytest
import tomli_w

import ackclock as ac
from ackclock.catalogue.network_kinds import expand
from ackclock.cli import main as cli
from ackclock.scenario.paths.measurement import Layout
from ackclock.scenario.paths.measurement_files import read_measurements

# Round trips of 30, 50 and 40 ms, a second each, ten a second; the 25th probe got no answer.
TRIPS = [0.030] * 10 + [0.050] * 10 + [0.040] * 10
LOST = 24


def probes():
    return [(i, 1_700_000_000 + i / 10, rtt) for i, rtt in enumerate(TRIPS) if i != LOST]


def iputils():
    lines = [
        f"[{sent + rtt:.6f}] 64 bytes from 192.0.2.1: icmp_seq={i + 1} ttl=57"
        f" time={rtt * 1e3:.1f} ms"
        for i, sent, rtt in probes()
    ]
    return "PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n" + "\n".join(lines) + "\n"


def macos():
    lines = [
        f"Request timeout for icmp_seq {i}"
        if i == LOST
        else f"64 bytes from 192.0.2.1: icmp_seq={i} ttl=57 time={rtt * 1e3:.3f} ms"
        for i, rtt in enumerate(TRIPS)
    ]
    return "PING 192.0.2.1 (192.0.2.1): 56 data bytes\n" + "\n".join(lines) + "\n"


def windows():
    lines = [
        "Request timed out."
        if i == LOST
        else f"Reply from 192.0.2.1: bytes=32 time={rtt * 1e3:.0f}ms TTL=57"
        for i, rtt in enumerate(TRIPS)
    ]
    return "Pinging 192.0.2.1 with 32 bytes of data:\n" + "\n".join(lines) + "\n"


def irtt():
    trips = []
    for i, rtt in enumerate(TRIPS):
        sent = {"wall": 1_700_000_000_000_000_000 + i * 100_000_000, "monotonic": i}
        trip = {"seqno": i, "lost": "false", "timestamps": {"client": {"send": sent}}}
        trip |= {"lost": "true_down"} if i == LOST else {"delay": {"rtt": round(rtt * 1e9)}}
        trips.append(trip)
    return json.dumps({"version": {"irtt": "0.9.1"}, "round_trips": trips})


def lens_irtt():
    lines = [
        f"{1_700_000_000_000_000_000 + i * 100_000_000},"
        + ("0,0,-1" if i == LOST else f"{rtt * 1e3:.6f},{rtt * 400},{rtt * 600}")
        for i, rtt in enumerate(TRIPS)
    ]
    return "timestamp,rtt,uplink,downlink\n" + "\n".join(lines) + "\n"


def table():
    lines = [
        f"2026-11-28T10:00:{i / 10:04.1f}+00:00,{'' if i == LOST else rtt * 1e3},{i == LOST:d}"
        for i, rtt in enumerate(TRIPS)
    ]
    return "timestamp,latency_ms,loss\n" + "\n".join(lines) + "\n"


FILES = {
    "iputils": (iputils, "1 s", "schedule"),
    "macos": (macos, "0.1 s", "schedule"),
    "windows": (windows, "0.1 s", "schedule"),
    "irtt": (irtt, "1 s", "schedule"),
    "lens": (lens_irtt, "1 s", "schedule"),
    "csv": (table, "1 s", "schedule"),
}


def scenario(folder, **net):
    net = {"kind": "measured", "files": ["file"], "rate": "20 Mbps", **net}
    net = {key: value for key, value in net.items() if value is not None}
    data = {"duration": "3 s", "net": net, "flows": [{"pair": 0}]}
    (folder / "path.toml").write_text(tomli_w.dumps(data))
    return ac.load(folder / "path.toml")


def drawn(path):
    return expand(path.resolve_files().data)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_every_format_gives_the_same_path(name, packed, tmp_path):
    write, interval, key = FILES[name]
    content = write().encode()
    (tmp_path / "file").write_bytes(gzip.compress(content) if packed else content)
    made = drawn(scenario(tmp_path, interval=interval))
    net = made["net"]
    assert net["rtt"] == pytest.approx(0.030, abs=1e-6)
    [delays] = net["impairments"]
    steps = [(step["at"], step["extra"]) for step in delays["steps"]]
    assert np.allclose(steps, [(0, 0), (1, 0.020), (2, 0.010)], atol=1e-6)
    losses = [(step["at"], step["loss"]) for step in net[key]["steps"]]
    assert np.allclose(losses, [(0, 0), (2, 0.1)])
    assert not made.get("links")


def test_a_loss_is_on_the_way_that_irtt_names(tmp_path):
    (tmp_path / "file").write_text(irtt())
    up = drawn(scenario(tmp_path, data="ahead"))
    [change] = up["links"]
    assert change["link"] == "r1->r0"
    assert [step["loss"] for step in change["schedule"]["steps"]] == [0, 0.1]
    assert "schedule" not in up["net"]


def test_rates_of_iperf3_and_round_trips_of_ping_make_one_path(tmp_path):
    rates = [8e6, 0, 4e6]
    intervals = [
        {"streams": [{"rtt": 99_000}], "sum": {"start": i, "end": i + 1, "bits_per_second": rate}}
        for i, rate in enumerate(rates)
    ]
    (tmp_path / "rates.json").write_text(json.dumps({"intervals": intervals, "end": {}}))
    (tmp_path / "file").write_text(iputils())
    both = scenario(tmp_path, files=["file", "rates.json"], rate=None)
    net = drawn(both)["net"]
    assert net["rate"] == pytest.approx(4e6)
    # iperf3's own round trips are those of its queue.
    assert net["rtt"] == pytest.approx(0.030, abs=1e-6)
    assert [step.get("rate") for step in net["schedule"]["steps"]] == rates


def test_what_was_measured_can_be_repeated_from_any_time(tmp_path):
    (tmp_path / "file").write_text(iputils())
    net = drawn(scenario(tmp_path, start="1 s", repeat=2))["net"]
    [delays] = net["impairments"]
    assert net["rtt"] == pytest.approx(0.040, abs=1e-6)
    steps = [(step["at"], step["extra"]) for step in delays["steps"]]
    assert np.allclose(steps, [(0, 0.010), (1, 0), (2, 0.010), (3, 0)], atol=1e-6)


def test_a_run_has_the_round_trips_that_were_measured(tmp_path):
    # Windows of two segments: no queue, so that what TCP measures is the path.
    answer = "64 bytes from 192.0.2.1: icmp_seq=24 ttl=57 time=40.000 ms"
    (tmp_path / "file").write_text(macos().replace("Request timeout for icmp_seq 24", answer))
    path = scenario(tmp_path, rate="1 Gbps", interval="0.1 s").replace(
        tcp={"receiver_window": 2}, record={"tables": ["rtts"]}
    )
    table = path.run().tables["rtts"]
    times, trips = (np.asarray(table[name]) for name in ("time_s", "rtt_s"))
    for second, rtt in enumerate((0.030, 0.050, 0.040)):
        # What is acknowledged just after a step was sent before it.
        inside = trips[(times > second + 0.1) & (times < second + 1)]
        assert inside.size > 8
        assert np.median(inside) == pytest.approx(rtt, rel=0.01)


def test_numbers_of_requests_turn_at_16_bits(tmp_path):
    lines = [
        f"64 bytes from 192.0.2.1: icmp_seq={number % 65536} ttl=57 time=10.0 ms"
        for number in range(65_530, 65_545)
        if number != 65_540
    ]
    (tmp_path / "ping").write_text("\n".join(lines))
    seen = read_measurements(tmp_path / "ping", "auto", Layout(), "net")
    assert len(seen.probes) == 15
    assert sum(probe[2] for probe in seen.probes) == 1


def test_an_answer_from_before_numbers_began_again_may_come_after_it(tmp_path):
    """The third answer is that of the request before the second."""
    numbers = [65533, 65535, 65534, 0, 65532, 1]
    lines = [f"64 bytes from 192.0.2.1: icmp_seq={n} ttl=57 time=10.0 ms" for n in numbers]
    (tmp_path / "file").write_text("\n".join(lines))
    measurements = read_measurements(tmp_path / "file", "ping", Layout({}, {}, 1.0), "net")
    assert [probe[0] for probe in measurements.probes] == [0, 1, 2, 3, 4, 5]
    assert not any(np.isnan(probe[1]) for probe in measurements.probes)


WRONG = {
    "no answer in it\nat all\nPING icmp_seq": "no line has an answer; expected those of ping",
    '{"round_trips": [{"lost": "false"}]}': "timestamps.client.send.wall: expected a number",
    '{"round_trips": 3}': "round_trips: expected a list of tables",
    '{"intervals": [{"sum": {"start": "0"}}]}': "intervals[0].sum.start: expected a number",
    "{": "it is not JSON",
    "timestamp,rtt\n1,2,3\n": "line 2: expected 2 numbers, as timestamp,rtt",
    "time,latency_ms\nsoon,3\n": 'line 2: "soon" is no time',
    "place,latency_ms\n1,3\n": "no column has the time",
    "time,colour\n1,3\n": "no column has a round trip, a loss or a rate",
    "time,loss\n1,3\n": 'line 2, loss: "3" is out of range; expected 0 to 1',
    "time,latency_ms\n1,-3\n": "is out of range; expected 0 or more",
}


@pytest.mark.parametrize("content", WRONG)
def test_what_is_wrong_with_a_file_is_one_sentence(content, tmp_path, capsys):
    (tmp_path / "file").write_text(content)
    path = scenario(tmp_path)
    with pytest.raises(ac.ScenarioError) as raised:
        path.check()
    [problem] = raised.value.problems
    assert problem.path == "net.files[0]"
    assert WRONG[content] in problem.message
    assert "file" in problem.message
    assert cli.main(["check", str(tmp_path / "path.toml")]) == 2
    assert "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    ("net", "key", "message"),
    [
        ({"rate": None}, "net.rate", "is missing, and no file has rates"),
        ({"rtt": "10 ms"}, "net.rtt", "is given, and the files have round trips"),
        ({"files": ["file", "file"]}, "net.files[1]", "have round trips; expected one of them"),
        ({"start": "1 h"}, "net.start", "is after the end of what was measured"),
        ({"every": "1 ns"}, "net.every", "windows; expected at most 1,000,000"),
        ({"every": "0 s"}, "net.every", "expected more than 0 s"),
        ({"files": ["none"]}, "net.files[0]", "cannot be read"),
    ],
)
def test_what_is_wrong_with_the_keys_is_one_sentence(net, key, message, tmp_path):
    (tmp_path / "file").write_text(iputils())
    path = scenario(tmp_path, **net)
    with pytest.raises(ac.ScenarioError) as raised:
        path.check()
    assert [problem.path for problem in raised.value.problems] == [key]
    assert message in raised.value.problems[0].message


def test_columns_have_the_names_and_units_that_the_user_says(tmp_path):
    (tmp_path / "file").write_text("utc;answer;gone\n0;30;5\n1;50;10\n")
    net = scenario(
        tmp_path,
        columns={"time": "utc", "rtt": "answer", "loss": "gone"},
        units={"time": "min", "rtt": "ms", "loss": "%"},
        every="1 min",
    )
    made = drawn(net)["net"]
    assert made["rtt"] == pytest.approx(0.030)
    assert [step["loss"] for step in made["schedule"]["steps"]] == pytest.approx([0.05, 0.10])


def test_a_column_without_a_unit_needs_one(tmp_path):
    (tmp_path / "file").write_text("time,answer\n0,30\n")
    path = scenario(tmp_path, columns={"rtt": "answer"})
    with pytest.raises(ac.ScenarioError, match=r"needs its unit, units\.rtt"):
        path.check()
