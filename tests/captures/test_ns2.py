"""Traces of ns-2: lines as its manual has them, and runs of ns-2 itself where it is installed."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from itertools import pairwise
from pathlib import Path

import pytest

from ackclock.captures.calibrate.estimate import estimate
from ackclock.captures.calibrate.evidence import gather
from ackclock.captures.read.reading import read
from ackclock.captures.trace import CaptureError

TRACED = Path(__file__).parents[2] / "benchmarks" / "peers" / "ns2" / "traced.tcl"


def lines(events):
    """Lines of a trace: event, time, node, node, kind, size, source, target, number, packet."""
    rows = [
        f"{event} {time:g} {a} {b} {kind} {size} {flags} 1 {source} {target} {number} {packet}"
        for event, time, a, b, kind, size, flags, source, target, number, packet in events
    ]
    return "\n".join(rows) + "\n"


def hop(time, path, kind, size, number, packet, flags="-------"):
    """A packet on its way over links that take 10 ms each."""
    source, target = f"{path[0]}.0", f"{path[-1]}.0"
    rows = []
    for a, b in pairwise(path):
        facts = (a, b, kind, size, flags, source, target, number, packet)
        rows += [("+", time, *facts), ("-", time, *facts), ("r", time + 0.01, *facts)]
        time += 0.01
    return rows


def small_trace():
    """A request, three packets of which the second is dropped, and what answers them."""
    there, back = (0, 1, 2), (2, 1, 0)
    events = [
        *hop(0.0, there, "tcp", 40, 0, 0),
        *hop(0.02, back, "ack", 40, 0, 1),
        *hop(0.04, there, "tcp", 1040, 1, 2, "------N"),
        *hop(0.041, there[:2], "tcp", 1040, 2, 3),
        ("d", 0.0511, 1, 2, "tcp", 1040, "-------", "0.0", "2.0", 2, 3),
        *hop(0.042, there, "tcp", 1040, 3, 4, "----E-N"),
        *hop(0.06, back, "ack", 40, 1, 5),
        *hop(0.062, back, "ack", 40, 1, 6),
        *hop(0.09, there, "tcp", 1040, 2, 7),
        *hop(0.11, back, "ack", 40, 3, 8),
    ]
    rows = [row for row in events if row[10] != 3 or row[3] != 2 or row[0] == "d"]
    for index, row in enumerate(rows):
        if row[10] == 3:
            rows[index] = (*row[:8], "2.0", *row[9:])
    return lines(sorted(rows, key=lambda row: row[1]))


def write(tmp_path, text):
    path = tmp_path / "out.tr"
    path.write_text(text)
    return path


def test_a_trace_is_a_capture_at_the_node_that_sends(tmp_path):
    reading = read(write(tmp_path, small_trace()))
    assert reading.trace.form == "ns2"
    assert reading.trace.facts == {"packets": 8 * 3 + 2, "nodes": 3, "dropped": 1}
    [figures] = reading.flows
    flow = reading.trace.flows[0]
    assert flow.position == "sender"
    assert figures["sent_packets"] == 4
    assert figures["retransmitted_packets"] == figures["lost_packets"] == 1
    # 40 bytes of the request are headers.
    assert figures["delivered_bytes"] == 3 * 1000
    assert flow.rtts["rtt_s"].tolist() == pytest.approx([0.04, 0.04])
    assert flow.select("sent")["time_s"].tolist() == pytest.approx([0.04, 0.041, 0.042])


def test_at_a_router_and_at_the_receiver_less_is_seen(tmp_path):
    path = write(tmp_path, small_trace())
    router, receiver = read(path, interface=1), read(path, interface=2)
    assert router.trace.flows[0].position == "between"
    assert router.flows[0]["sent_packets"] == 4
    assert receiver.trace.flows[0].position == "receiver"
    assert receiver.flows[0]["sent_packets"] == 3
    assert receiver.flows[0]["marked_packets"] == 1
    with pytest.raises(CaptureError, match="there is no interface 3; it has 3"):
        read(path, interface=3)


def test_addresses_are_written_on_request_alone(tmp_path):
    path = write(tmp_path, small_trace())
    assert "node" not in repr(read(path).to_dict()["flows"])
    assert "node 0 port 0 -> node 2 port 0" in str(read(path, keep_addresses=True))


def test_what_duplicates_report_has_left_the_flight(tmp_path):
    flow = read(write(tmp_path, small_trace())).trace.flows[0]
    before, after = (
        flow.samples["flight_bytes"][flow.samples["time_s"].searchsorted(t, side="right") - 1]
        for t in (0.0801, 0.0821)
    )
    assert (before, after) == (2000, 1000)


def test_full_tcp_needs_its_headers_for_acknowledgements(tmp_path):
    rows = [
        f"+ {0.1 * i:g} 0 1 tcp 1040 ------- 1 0.0 1.0 {1 + 1000 * i} {i}" for i in range(3)
    ]  # fmt: skip
    reading = read(write(tmp_path, "\n".join(rows)))
    assert reading.flows[0]["sent_packets"] == 3
    assert "show_tcphdr_ 1" in str(reading)
    headers = [f"{row} 1 0x10 40 0" for row in rows]
    headers.append("r 0.5 1 0 ack 40 ------- 1 1.0 0.0 1 9 3001 0x10 40 0")
    reading = read(write(tmp_path, "\n".join(headers)))
    assert reading.flows[0]["delivered_bytes"] == 3000
    assert "show_tcphdr_" not in str(reading)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("- 1 0 1 tcp 40 ------- 1 0.0 1.0 0 0\n", "no line has a packet that starts or arrives"),
        ("+ 1 999999 1 tcp 40 ------- 1 0.0 1.0 0 0\n", "node 999999 is above 100,000"),
        ("+ 1 0 1 tcp 40\n", "its format is not known; expected pcap, .*, tcp-info or ns2"),
    ],
)
def test_what_is_no_trace_is_refused(tmp_path, text, message):
    with pytest.raises(CaptureError, match=message):
        read(write(tmp_path, text))


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("ns") is None, reason="ns-2 is not installed")
def test_a_run_of_ns2_has_the_drops_and_the_path_that_it_had(tmp_path):
    path = tmp_path / "run.tr"
    command = ["ns", str(TRACED), "Sack1", "-", "5e6", "0.05", "30", "20", str(path)]
    subprocess.run(command, check=True, capture_output=True)
    events = Counter(line.split()[0] for line in path.read_text().splitlines())
    reading = read(path)
    assert reading.trace.facts["dropped"] == events["d"] > 10
    assert abs(reading.flows[0]["lost_packets"] - events["d"]) <= 2
    guess = estimate(gather(reading.trace.flows[0]))
    assert guess.rate_bps.value == pytest.approx(5e6, rel=0.01)
    assert guess.base_s.value == pytest.approx(0.05, rel=0.01)
    assert guess.buffer_bytes.value == pytest.approx(30 * 1488, rel=0.15)
