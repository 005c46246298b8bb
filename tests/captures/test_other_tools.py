"""What tshark and tcptrace count in the same captures, where they are installed."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess

import numpy as np
import pytest

from ackclock.captures.read.packets import read_packets
from ackclock.captures.read.reading import read


def tshark(path, *fields):
    command = ["tshark", "-r", str(path), "-T", "fields", "-E", "separator=;"]
    for field in fields:
        command += ["-e", field]
    output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return [line.split(";") for line in output.splitlines()]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_round_trips_and_bytes_in_flight_are_those_of_tshark(run_of_cubic):
    _, path = run_of_cubic
    reading = read(path)
    flow = reading.trace.flows[0]
    rows = tshark(
        path, "frame.time_epoch", "tcp.analysis.ack_rtt", "tcp.analysis.bytes_in_flight",
        "tcp.len", "tcp.analysis.retransmission", "tcp.analysis.out_of_order",
        "tcp.analysis.acks_frame", "frame.number", "tcp.seq", "tcp.options.sack_le",
        "tcp.options.sack_re",
    )  # fmt: skip
    data = [row for row in rows if row[3] not in ("", "0")]
    assert reading.flows[0]["sent_packets"] == len(data)
    # Wireshark has two names for what is below the highest number.
    again = sum(bool(row[4] or row[5]) for row in data)
    assert reading.flows[0]["retransmitted_packets"] == again
    half = flow.facts["to_sender_s"]
    times = np.round(flow.rtts["time_s"], 6)
    ours = dict(zip(times, flow.rtts["rtt_s"] - half, strict=True))
    # The answer to a segment sent twice has no round trip (Karn's rule), and one that was reported
    # by SACK had its own earlier; Wireshark gives both one.
    left_out = {int(row[8]) for row in data if row[4] or row[5]}
    first_byte = {row[7]: int(row[8]) for row in data}
    theirs = {}
    for row in rows:
        if row[1] and row[6] in first_byte and first_byte[row[6]] not in left_out:
            theirs[round(float(row[0]), 6)] = float(row[1])
        for low, high in zip(row[9].split(","), row[10].split(","), strict=True):
            if low:
                left_out.update(range(int(low), int(high), 1460))
    common = [(ours[time], rtt) for time, rtt in theirs.items() if time in ours]
    assert len(common) == len(theirs) > 3000
    assert max(abs(our - their) for our, their in common) < 2e-6
    times = np.round(flow.samples["time_s"], 6)
    outstanding = dict(zip(times, flow.samples["outstanding_bytes"], strict=True))
    # Wireshark subtracts the SACK blocks of the last acknowledgement.
    blocks, same = 0, []
    for row in rows:
        if row[2]:
            ours_now = outstanding.get(round(float(row[0]), 6), -1) - blocks
            same.append(ours_now == int(row[2]))
        elif row[3] == "0":
            bounds = zip(row[9].split(","), row[10].split(","), strict=True)
            blocks = sum(int(high) - int(low) for low, high in bounds if low)
    assert np.mean(same) > 0.95


@pytest.mark.skipif(shutil.which("tcptrace") is None, reason="tcptrace is not installed")
def test_bytes_and_retransmissions_are_those_of_tcptrace(run_of_cubic, tmp_path):
    _, path = run_of_cubic
    reading = read(path)
    figures = reading.flows[0]
    with path.open("rb") as file:
        assert read_packets(file, path).packets
    capture = tmp_path / "x.pcap"
    write_ethernet(path, capture)
    text = subprocess.run(
        ["tcptrace", "-l", "-r", "-C", str(capture)], check=True, capture_output=True, text=True
    ).stdout

    def first(label):
        return float(re.search(rf"{label}:\s+([0-9.]+)", text)[1])

    assert first("rexmt data pkts") == figures["retransmitted_packets"]
    assert first("actual data pkts") == figures["sent_packets"]
    assert first("unique bytes sent") == reading.trace.flows[0].facts["stream_bytes"]
    half = reading.trace.flows[0].facts["to_sender_s"]
    assert first("RTT max") == pytest.approx(
        1e3 * (reading.trace.flows[0].rtts["rtt_s"].max() - half), abs=0.1
    )


def write_ethernet(source, target):
    """The packets of a capture with an Ethernet header each: tcptrace reads no others."""
    from ackclock.captures.read import packets

    with source.open("rb") as file:
        file.read(4)
        result = packets.Packets("pcapng")
        frames = list(packets._pcapng_frames(file, result, source))
    data = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for time_ns, _, _, length, packet in frames:
        frame = b"\0" * 12 + b"\x08\0" + packet
        # tcptrace takes a time of zero for none.
        seconds, fraction = divmod(time_ns + 10**18, 10**9)
        data += struct.pack("<IIII", seconds, fraction // 1000, len(frame), length + 14) + frame
    target.write_bytes(data)
