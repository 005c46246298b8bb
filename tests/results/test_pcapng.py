"""Captures: lengths, numbers and timestamps as Wireshark's tools read them."""

import shutil
import subprocess

import pytest

import ackclock as ac
from ackclock.results.formats.tcp_timestamps import Way, stamps

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")

FIELDS = (
    "frame.len", "ip.len", "tcp.len", "tcp.seq_raw", "tcp.ack_raw", "tcp.flags.syn",
    "tcp.options.mss_val", "tcp.options.sack_perm", "tcp.options.wscale.shift",
    "tcp.options.timestamp.tsval", "tcp.options.timestamp.tsecr", "tcp.analysis.flags",
)  # fmt: skip


def read(file):
    command = ["tshark", "-r", str(file), "-T", "fields"]
    for field in FIELDS:
        command += ["-e", field]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [dict(zip(FIELDS, line.split("\t"), strict=True)) for line in done.stdout.splitlines()]


def capture(tmp_path, tcp, *, size=None, record="", buffer="1000 pkt", link="r0->r1"):
    """A run, what left the link either way by the table, and by tshark."""
    transfer = "" if size is None else f', size = "{size} B"'
    run = ac.load(f"""
duration = "2 s"
net = {{ kind = "dumbbell", pairs = 1, rate = "5 Mbps", rtt = "40 ms", buffer = "{buffer}" }}
tcp = {{ {tcp} }}
flows = [{{ pair = 0, cc = "aimd", recovery = "sack"{transfer} }}]
record = {{ tables = ["packets", "rtts"]{record} }}
""").run()
    both = {link, "->".join(reversed(link.split("->")))}
    rows = run.table("packets").to_pylist()
    left = [row for row in rows if row["event"] == "departure" and row["link"] in both]
    left.sort(key=lambda row: row["time_s"])
    seen = read(run.to_pcapng(tmp_path / "x.pcapng", link=link))
    assert len(left) == len(seen) > 0
    return run, left, seen


@pytest.mark.slow
@needs_tshark
@pytest.mark.parametrize("timestamps", ["true", "false"])
@pytest.mark.parametrize(
    ("size", "mss", "last"),
    [(1, 1460, 1), (1460, 1460, 1460), (1461, 1460, 1), (100_000, 9000, 1000), (None, 536, 536)],
)
def test_wireshark_finds_nothing_wrong_without_losses(tmp_path, timestamps, size, mss, last):
    tcp = f"timestamps = {timestamps}, mss = {mss}"
    run, left, seen = capture(tmp_path, tcp, size=size)
    assert run.summary["flows"][0]["lost_data_packets"] == 0
    assert not [frame for frame in seen if frame["tcp.analysis.flags"]]
    # The simulation counts no options of a SYN but the timestamps.
    more = 8 if timestamps == "true" else 12
    for row, frame in zip(left, seen, strict=True):
        syn = row["flags"] & 2
        assert int(frame["frame.len"]) == row["size_bytes"] + (more if syn else 0)
        if syn:
            shown = [frame[f"tcp.options.{name}"] for name in ("mss_val", "wscale.shift")]
            assert shown == [str(mss), "14"]
            assert frame["tcp.options.sack_perm"]
    lengths = [int(frame["tcp.len"]) for frame in seen if frame["tcp.len"] != "0"]
    assert set(lengths[:-1]) <= {mss}
    assert lengths[-1] == last
    if size is not None:
        # The SYN and the FIN have separate numbers.
        assert sum(lengths) == size
        assert max(int(frame["tcp.ack_raw"]) for frame in seen) == size + 2


@needs_tshark
def test_timestamps_of_a_capture_give_the_run_s_own_rtts(tmp_path):
    run, left, seen = capture(tmp_path, "timestamps = true", buffer="6 pkt", link="s0->r0")
    assert run.summary["flows"][0]["lost_data_packets"] > 0
    samples = {round(row["time_s"], 9): row["rtt_s"] for row in run.table("rtts").to_pylist()}
    compared = 0
    for row, frame in zip(left, seen, strict=True):
        # The access link has ten times the rate, and a delay of 1 ms.
        at = round(row["time_s"] + row["size_bytes"] * 8 / 50e6 + 0.001, 9)
        if row["is_ack"] and not row["flags"] & 2 and at in samples:
            age = int(at * 1000) - int(frame["tcp.options.timestamp.tsecr"])
            assert abs(age - samples[at] * 1000) <= 1
            compared += 1
    assert compared > 100


@needs_tshark
def test_a_tap_that_was_recorded_alone_has_the_right_lengths_and_no_times(tmp_path):
    record = ', links = ["r1->r0"]'
    _, left, seen = capture(tmp_path, "timestamps = true", size=1461, record=record)
    assert [frame["frame.len"] for frame in seen[1:]] == ["52"] * (len(left) - 1)
    assert seen[-1]["tcp.ack_raw"] == "1463"
    for name in ("tsval", "tsecr"):
        assert {frame[f"tcp.options.timestamp.{name}"] for frame in seen} == {"0"}


@needs_tshark
def test_an_acknowledgement_made_longer_is_a_longer_frame(tmp_path):
    _, left, seen = capture(tmp_path, "ack_size = 60", size=100_000)
    acks = [frame for row, frame in zip(left, seen, strict=True) if row["is_ack"]][1:]
    assert {frame["frame.len"] for frame in acks} == {"60"}
    assert {(frame["ip.len"], frame["tcp.len"]) for frame in acks} == {("40", "0")}


def row(time_s, link, event, *, seq, is_ack):
    return {
        "time_s": time_s, "link": link, "event": event, "flow": "f", "seq": seq,
        "is_ack": is_ack, "flags": int(is_ack), "size_bytes": 125,
    }  # fmt: skip


def test_a_packet_keeps_the_time_of_its_sending_and_the_echo_is_that_of_what_arrived():
    # 125 B at 1 Mbps take 1 ms, the way another 4 ms.
    ways = {"a->b": Way("a", "b", 1e6, 0.004), "b->a": Way("b", "a", 1e6, 0.004)}
    rows = [
        row(0.010, "a->b", "arrival", seq=0, is_ack=False),
        row(0.0105, "a->b", "arrival", seq=0, is_ack=False),
        row(0.0117, "a->b", "arrival", seq=0, is_ack=False),
        row(0.0117, "a->b", "drop", seq=0, is_ack=False),
        row(0.020, "a->b", "departure", seq=0, is_ack=False),
        row(0.025, "b->a", "arrival", seq=1, is_ack=True),
        row(0.025, "b->a", "departure", seq=1, is_ack=True),
        row(0.029, "a->b", "arrival", seq=1, is_ack=False),
        row(0.030, "a->b", "arrival", seq=2, is_ack=False),
    ]
    found = stamps(rows, ways, {"f": ("a", "b")})
    assert [(stamp.value, stamp.echo) for stamp in found] == [
        (10, 0), (10, 0), (11, 0), (11, 0), (10, 0), (25, 10), (25, 10), (29, 0), (30, 25)
    ]  # fmt: skip
    assert stamps(rows, ways, {}) == [None] * len(rows)
