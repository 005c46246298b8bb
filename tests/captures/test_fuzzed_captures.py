"""Captures and logs of any content: read, or refused by a sentence, never by another error.

`ACKCLOCK_FUZZ_EXAMPLES` sets how many are tried of each.
"""

from __future__ import annotations

import base64
import json
import os
import random

import pytest
from build_capture import A, B, handshake, options, pcap, tcp
from test_logs import SS, qlog_events
from test_ns2 import small_trace

from ackclock.captures.calibrate.estimate import estimate
from ackclock.captures.calibrate.evidence import gather
from ackclock.captures.identify.features import features_of_flow
from ackclock.captures.read.reading import read
from ackclock.errors import AckclockError

COUNT = int(os.environ.get("ACKCLOCK_FUZZ_EXAMPLES", "300"))
SEED = int(os.environ.get("ACKCLOCK_FUZZ_SEED", "1"))


def capture():
    packets = [
        *handshake(),
        *[(0.1 + i / 1000, tcp(A, B, seq=1 + 1000 * i, ack=1, payload=1000)) for i in range(5)],
        (0.13, tcp(B, A, seq=1, ack=1001, opts=options(sacks=[(2001, 4001)], timestamps=(1, 2)))),
        (0.14, tcp(A, B, seq=1001, ack=1, payload=1000, opts=options(timestamps=(9, 9)))),
        (0.16, tcp(B, A, seq=1, ack=5001)),
    ]
    return pcap(packets, snap=200)


def pcapng(data):
    """The same packets as pcapng, with nothing from the writer that is tested elsewhere."""
    import struct

    def block(kind, body):
        body += b"\0" * (-len(body) % 4)
        return struct.pack("<II", kind, len(body) + 12) + body + struct.pack("<I", len(body) + 12)

    head = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    blocks = block(0x0A0D0D0A, head) + block(1, struct.pack("<HHI", 101, 0, 0))
    offset = 24
    while offset < len(data):
        seconds, fraction, stored, length = struct.unpack_from("<IIII", data, offset)
        micros = seconds * 10**6 + fraction // 1000
        body = struct.pack("<IIIII", 0, micros >> 32, micros & 0xFFFFFFFF, stored, length)
        blocks += block(6, body + data[offset + 16 : offset + 16 + stored])
        offset += 16 + stored
    return blocks


def sources():
    qlog = json.dumps({"qlog_version": "0.3", "traces": [{"events": qlog_events()}]}).encode()
    sequence = "".join(
        f"\x1e{json.dumps(line)}\n" for line in [{"file_schema": "qlog"}, *qlog_events()]
    ).encode()
    info = {"ElapsedTime": 1, "BytesAcked": 2, "RTT": 3, "SndMSS": 4, "Unacked": 5}
    iperf = {"intervals": [{"streams": [{"socket": 1, "end": 1, "bytes": 2, "rtt": 3}]}]}
    flent = {"x_values": [0, 1], "results": {"TCP upload::1": [1, 2]}, "raw_values": {}}
    ndt = {"Download": {"ServerMeasurements": [{"TCPInfo": info}]}}
    rows = [{"Snapshot": {"Timestamp": "2026-01-01T00:00:00Z", "TCPInfo": info}}] * 2
    text = base64.b64encode(bytes(range(232))).decode()
    entry = {"Timestamp": rows[0]["Snapshot"]["Timestamp"], "Attributes": [None, None, text]}
    archived = [{"Metadata": {}}, entry, entry]
    return {
        "pcap": capture(),
        "pcapng": pcapng(capture()),
        "qlog": qlog,
        "sequence": sequence,
        "ss": SS.encode(),
        "iperf3": json.dumps(iperf).encode(),
        "flent": json.dumps(flent).encode(),
        "ndt7": json.dumps(ndt).encode(),
        "tcp-info": "\n".join(map(json.dumps, rows)).encode(),
        "archive": "\n".join(map(json.dumps, archived)).encode(),
        "ns2": small_trace().encode(),
    }


PIECES = [
    b"\0", b"\xff", b"\xff\xff\xff\xff", b"\0\0\0\0", b"\x80\0\0\0", b"-1", b"1e999", b"null",
    b"[]", b"{}", b'"x"', b"NaN", b"99999999999999999999", b"true", b"\n", b"\x1e", b":", b"/",
]  # fmt: skip


def changed(data, rng):
    """A file with some bytes replaced, removed, doubled or cut."""
    data = bytearray(data)
    for _ in range(rng.randrange(1, 6)):
        begin = rng.randrange(len(data) + 1)
        end = min(len(data), begin + rng.randrange(12))
        match rng.randrange(5):
            case 0:
                data[begin:end] = rng.choice(PIECES)
            case 1:
                data[begin:begin] = rng.choice(PIECES)
            case 2:
                data[begin:end] = bytes(data[begin:end]) * 2
            case 3:
                data[begin:end] = rng.randbytes(end - begin)
            case 4:
                del data[begin:end]
    return bytes(data[: rng.randrange(len(data) + 1)] if rng.random() < 0.1 else data)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(sources()))
def test_a_changed_file_is_read_or_refused(name, tmp_path):
    rng = random.Random(f"{SEED} {name}")
    path = tmp_path / "x"
    source = sources()[name]
    outcomes = {True: 0, False: 0}
    for _ in range(COUNT):
        content = changed(source, rng)
        path.write_bytes(content)
        try:
            reading = read(path)
            str(reading)
            reading.to_dict()
            for flow in reading.trace.flows:
                estimate(gather(flow))
                features_of_flow(flow)
        except AckclockError as error:
            assert str(error).startswith(str(path))
            outcomes[False] += 1
        except BaseException:
            keep = os.environ.get("ACKCLOCK_FUZZ_KEEP")
            if keep:
                with open(keep, "wb") as file:  # noqa: PTH123
                    file.write(content)
            raise
        else:
            outcomes[True] += 1
    assert outcomes[True] > 0
