"""Captures byte by byte, as RFC 791, 768, 9293, 7323, 2018 and the draft of pcapng have them."""

from __future__ import annotations

import struct
from array import array
from types import SimpleNamespace

import pyarrow as pa
import pytest

import ackclock as ac
from ackclock import _core
from ackclock.cli.main import main as cli
from ackclock.errors import UnsupportedError
from ackclock.results.formats import qlog
from ackclock.results.formats.pcapng import flow_row
from ackclock.results.formats.pcapng_blocks import interface, section, write_packet
from ackclock.results.formats.recorded import import_extra, require_any, rows_by, write_whole
from ackclock.results.formats.registry import FORMATS
from ackclock.results.formats.tcp_sizes import Segment, Sizes, TcpSizes
from ackclock.results.formats.tcp_timestamps import Stamp, Way, stamps

SENDER, RECEIVER = b"\x0a\x00\x00\x01", b"\x0a\x01\x02\x03"
ACK, SYN, ECT, CE, ECE, CWR, FIN, DATAGRAM = 1, 2, 4, 8, 16, 32, 256, 512


def words(data):
    """One's complement sum of 16-bit words (RFC 1071)."""
    data += bytes(len(data) % 2)
    total = sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def flow(settings=None, *, index=3, last=None, largest=0, has_syn=False, is_quic=False):
    sizes = Sizes(largest=largest, last=last, has_syn=has_syn)
    return flow_row(index, (1, 0x010203), sizes, settings, is_quic=is_quic)


def rows_of(rows):
    """The core's rows of packets that left link 0, of flow 0."""

    def column(name, code="I"):
        return array(code, [int(row.get(name, 0)) for row in rows])

    blocks = [f"sack{number}_{end}" for number in (1, 2, 3) for end in ("start", "end")]
    columns = {name: column(name) for name in ("flow", "link", "seq", "flags", "size_bytes")}
    columns |= {name: column(name) for name in ["sack_count", *blocks]}
    columns |= {"time_s": array("d", bytes(8 * len(rows))), "is_ack": column("is_ack", "B")}
    columns |= {"is_departure": array("B", [1] * len(rows))}
    if any("stamp" in row for row in rows):
        columns["stamp_value"] = array("I", [row["stamp"].value for row in rows])
        columns["stamp_echo"] = array("I", [row["stamp"].echo for row in rows])
    return _core.PacketRows(columns)


def write_packets(of, *rows):
    """Headers of packets of a flow, with their lengths on the wire."""
    content, place, packets = rows_of(rows).write([of], [(0, "x")], "", ""), 0, []
    while place < len(content):
        kind, length = struct.unpack_from("<II", content, place)
        if kind == 6:
            size, wire = struct.unpack_from("<II", content, place + 20)
            packets.append((content[place + 28 : place + 28 + size], wire))
        place += length
    return packets


def packet(of, flags=0, size=1500, *, seq=0, is_ack=False, stamp=None, **blocks):
    """Headers of a packet, taken apart; sums are checked."""
    row = {"flags": flags | ACK * is_ack, "size_bytes": size, "is_ack": is_ack, "seq": seq}
    stamped = {} if stamp is None else {"stamp": stamp}
    ((data, length),) = write_packets(of, {**row, **blocks, **stamped})
    assert words(data[:20]) == 0xFFFF
    version, ecn, total, number, fragment, ttl, protocol, _ = struct.unpack("!BBHHHBBH", data[:12])
    assert (version, fragment, ttl) == (0x45, 0x4000, 64)
    pseudo = data[12:20] + struct.pack("!BBH", 0, protocol, total - 20)
    assert words(pseudo + data[20:]) == 0xFFFF
    found = {
        "ip": total,
        "frame": length,
        "ecn": ecn,
        "id": number,
        "protocol": protocol,
        "ends": (data[12:16], data[16:20]),
        "ports": struct.unpack("!HH", data[20:24]),
    }
    if protocol == 6:
        sequence, acknowledged, offset, bits, window = struct.unpack("!IIBBH", data[24:36])
        assert window == 0xFFFF
        assert len(data) == 20 + (offset >> 4) * 4
        found |= {"seq": sequence, "ack": acknowledged, "bits": bits, "options": data[40:]}
    else:
        found["udp"] = struct.unpack("!H", data[24:26])[0]
        assert len(data) == 28
    return found


PLAIN = TcpSizes(mss=1000)
TIMED = TcpSizes(mss=1000, timestamps=True)


def test_data_and_acknowledgements_go_between_the_ends():
    of = flow(PLAIN)
    data = packet(of, size=1040, seq=2)
    assert data["ends"] == (SENDER, RECEIVER)
    assert data["ports"] == (1027, 5001)
    assert (data["ip"], data["frame"], data["seq"], data["ack"]) == (1040, 1040, 2001, 1)
    assert (data["bits"], data["options"], data["id"]) == (0x10, b"", 1)
    row = {"size_bytes": 40, "seq": 2}
    assert [data[4:6] for data, _ in write_packets(of, row, row)] == [b"\0\1", b"\0\2"]
    ack = packet(of, size=40, seq=3, is_ack=True)
    assert ack["ends"] == (RECEIVER, SENDER)
    assert ack["ports"] == (5001, 1027)
    assert (ack["ip"], ack["seq"], ack["ack"], ack["bits"]) == (40, 1, 3001, 0x10)
    # Of an acknowledgement that is made longer the frame is, not the packet.
    long = packet(of, size=90, seq=3, is_ack=True)
    assert (long["ip"], long["frame"]) == (40, 90)
    # Data shorter than its headers are headers.
    assert packet(of, size=30)["ip"] == 40
    assert packet(flow(PLAIN, index=60_001), size=30)["ports"] == (1025, 5001)


def test_bits_of_headers_are_those_of_the_wire():
    of = flow(PLAIN)
    assert packet(of, SYN)["bits"] == 0x02
    assert packet(of, SYN, is_ack=True)["bits"] == 0x12
    assert packet(of, FIN)["bits"] == 0x11
    assert packet(of, FIN, is_ack=True)["bits"] == 0x10
    assert packet(of, CWR | ECT)["bits"] == 0x90
    assert packet(of, ECE, is_ack=True)["bits"] == 0x50
    # RFC 3168: ECT(0) is 2 and CE 3.
    assert [packet(of, flags)["ecn"] for flags in (0, ECT, ECT | CE)] == [0, 2, 3]


def test_a_syn_has_its_options_and_no_data():
    syn = packet(flow(PLAIN), SYN, size=1040)
    assert (syn["seq"], syn["ack"]) == (0, 0)
    # MSS 1000, SACK permitted, three times no operation, window scale 14.
    assert syn["options"] == bytes.fromhex("020403e8 0402 010101 03030e")
    assert syn["ip"] == 20 + 20 + 12
    answer = packet(flow(TIMED), SYN, size=52, is_ack=True, stamp=Stamp(7, 5))
    assert (answer["seq"], answer["ack"]) == (0, 1)
    assert answer["options"] == bytes.fromhex("020403e8 0402 080a 00000007 00000005 01 03030e")
    assert packet(flow(TcpSizes(mss=70_000)), SYN)["options"][2:4] == b"\xff\xff"


def test_timestamps_and_blocks_are_options_of_four_bytes_each_word():
    of = flow(TIMED)
    assert packet(of, size=1052, stamp=Stamp(258, 3))["options"] == bytes.fromhex(
        "0101 080a 00000102 00000003"
    )
    # Without a value there are zeros, RFC 7323 section 3.2.
    assert packet(of, size=1052)["options"][4:] == bytes(8)
    ack = packet(
        flow(PLAIN), size=60, seq=1, is_ack=True,
        sack1_start=3, sack1_end=5, sack2_start=7, sack2_end=8, sack3_start=9, sack3_end=9,
    )  # fmt: skip
    assert ack["options"] == bytes.fromhex("0101 0512") + struct.pack(
        "!IIII", 3001, 5001, 7001, 8001
    )
    assert ack["ip"] == 20 + 20 + 20
    three = packet(
        of, size=72, is_ack=True, stamp=Stamp(1, 1),
        sack1_start=3, sack1_end=5, sack2_start=7, sack2_end=8, sack3_start=9, sack3_end=10,
    )  # fmt: skip
    assert three["options"][12:16] == bytes.fromhex("0101 051a")
    assert three["ip"] == 20 + 20 + 12 + 4 + 24


def test_the_acknowledgement_of_the_last_segment_counts_its_bytes_and_the_fin():
    # The segment 4 is the last, with 300 of 1000 bytes: 1 + 4000 + 300 and the FIN.
    of = flow(PLAIN, last=(4, 340))
    assert packet(of, size=340, seq=4)["seq"] == 4001
    assert packet(of, size=40, seq=4, is_ack=True)["ack"] == 4001
    assert packet(of, size=40, seq=5, is_ack=True)["ack"] == 4302
    assert packet(flow(TIMED, last=(4, 352)), size=52, seq=5, is_ack=True)["ack"] == 4302
    # Numbers turn round.
    assert packet(flow(PLAIN), size=1040, seq=4_294_968)["seq"] == (4_294_968_001) % 2**32


def test_segments_of_ns2_begin_behind_the_syn():
    # There the SYN is segment 0, and sizes are those that the table shows.
    of = flow(None, largest=1040, has_syn=True)
    assert [packet(of, size=1040, seq=seq)["seq"] for seq in (0, 1, 2)] == [1, 1, 1001]
    of = flow(None, largest=1040)
    assert [packet(of, size=1040, seq=seq)["seq"] for seq in (0, 1)] == [1, 1001]
    assert packet(flow(None), size=1500, seq=1)["seq"] == 1461
    assert packet(flow(None, largest=10), size=10, seq=3)["seq"] == 4


def test_datagrams_are_udp():
    for of, flags in ((flow(PLAIN), DATAGRAM), (flow(PLAIN, is_quic=True), 0)):
        found = packet(of, flags, size=1200)
        assert (found["protocol"], found["ip"], found["udp"]) == (17, 1200, 1180)
        assert packet(of, flags, size=5)["ip"] == 28


def test_a_udp_checksum_of_0_is_written_as_all_ones():
    """RFC 768: zero would mean that there is none. The payload is zeros: only headers sum up."""
    sizes = range(28, 65536)
    rows = [{"flags": DATAGRAM, "size_bytes": size} for size in sizes]
    packets = write_packets(flow(), *rows)
    ones = 0
    for size, (data, length) in zip(sizes, packets, strict=True):
        check = data[26:28]
        assert length == size
        assert check != b"\x00\x00", size
        if check == b"\xff\xff":
            ones += 1
        elif size % 997:
            continue
        pseudo = data[12:20] + bytes([0, 17]) + (size - 20).to_bytes(2, "big")
        assert words(pseudo + data[20:28]) == 0xFFFF, size
    # A size in twice 65535 sums gives the one that complements to 0.
    assert ones >= 1


def test_blocks_of_a_capture_are_padded_and_have_their_length_twice():
    made = section("abc", "x")
    # Options: user application 4, comment 1, end.
    body = bytes.fromhex("4d3c2b1a 0100 0000 ffffffffffffffff")
    body += (
        bytes.fromhex("0400 0300") + b"abc\0" + bytes.fromhex("0100 0100") + b"x\0\0\0" + bytes(4)
    )
    size = struct.pack("<I", 12 + len(body))
    assert made == bytes.fromhex("0a0d0d0a") + size + body + size
    made = interface("eth0")
    # Raw IP, no limit; name 2, resolution 9 of nanoseconds.
    body = bytes.fromhex("6500 0000 00000000 0200 0400") + b"eth0"
    body += bytes.fromhex("0900 0100 09000000 0000 0000")
    assert made == struct.pack("<II", 1, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))
    made = write_packet(1, (5 << 32) + 6, b"12345", 40)
    body = struct.pack("<IIIII", 1, 5, 6, 5, 40) + b"12345\0\0\0"
    assert made == struct.pack("<II", 6, 12 + len(body)) + body + struct.pack("<I", 12 + len(body))


TWO = """
duration = "0.5 s"
net = { kind = "dumbbell", pairs = 1, rate = "5 Mbps", rtt = "40 ms", buffer = "50 pkt" }
flows = [{ pair = 0, size = "5001 B" }]
tcp = { mss = 1000, timestamps = true }
record = { tables = ["packets"] }
"""


@pytest.fixture(scope="module")
def run():
    return ac.load(TWO).run()


def frames(content):
    """Interface, stamp and data of each packet of a capture; names of its interfaces."""
    at, found, names = 0, [], []
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == 1:
            count = struct.unpack_from("<H", content, at + 18)[0]
            names.append(content[at + 20 : at + 20 + count].decode())
        if kind == 6:
            number, high, low, size, _ = struct.unpack_from("<IIIII", content, at + 8)
            found.append((number, (high << 32) | low, content[at + 28 : at + 28 + size]))
        at += length
    return names, found


def test_a_capture_has_what_left_the_link_either_way(run, tmp_path):
    names, found = frames(run.to_pcapng(tmp_path / "x", link="r1->r0").read_bytes())
    assert names == ["r1->r0", "r0->r1"]
    rows = [row for row in run.packets.to_pylist() if row["event"] == "departure"]
    left = sorted(
        (row for row in rows if row["link"] in names), key=lambda row: float(row["time_s"])
    )
    assert [names[number] for number, _, _ in found] == [row["link"] for row in left]
    assert [stamp for _, stamp, _ in found] == [round(row["time_s"] * 1e9) for row in left]
    # The last segment has a byte, and the acknowledgement of all 5001 the FIN besides.
    assert max(struct.unpack_from("!I", data, 28)[0] for _, _, data in found) == 5003
    # Of the two directions, the one that more packets left is the first where none is named.
    busiest = max(
        {row["link"] for row in rows}, key=lambda name: sum(r["link"] == name for r in rows)
    )
    names, _ = frames(run.to_pcapng(tmp_path / "y").read_bytes())
    most = sum(row["link"] == names[0] for row in rows)
    assert most == sum(row["link"] == busiest for row in rows)
    with pytest.raises(UnsupportedError, match='there is no link "r1->r2"; did you'):
        run.to_pcapng(tmp_path / "z", link="r1->r2")
    assert not (tmp_path / "z").exists()


def test_settings_fit_a_flow_by_its_lengths():
    def see(rows):
        return Sizes(*rows_of(list(rows)).sizes(1)[0])

    def fit(settings, *packets):
        return see(
            {"flags": flags, "size_bytes": size, "is_ack": is_ack, "seq": 4}
            for flags, size, is_ack in packets
        ).fit(settings)

    assert (PLAIN.full, TIMED.full) == (1040, 1052)
    data, acks = (0, 1040, False), (ACK, 40, True)
    assert fit(PLAIN, data, acks)
    assert not fit(TIMED, data)
    assert not fit(TIMED, acks)
    assert fit(TIMED, (0, 1052, False), (ACK, 52, True))
    assert fit(TIMED)
    # The last segment may be short where there is no other.
    assert fit(PLAIN, (FIN, 540, False))
    assert not fit(PLAIN, (0, 540, False))
    assert not fit(PLAIN, (0, 540, False), (FIN, 300, False))
    assert not fit(PLAIN, (FIN, 1140, False))
    rows = [{"flags": ACK, "size_bytes": 60, "is_ack": True, "seq": 1, "sack_count": 2}]
    assert see(rows).bare == 40
    rows.append({"flags": SYN, "size_bytes": 52, "is_ack": False, "seq": 0})
    assert see(rows) == Sizes(largest=0, bare=52, last=None, has_syn=True)
    rows.append({"flags": FIN, "size_bytes": 500, "is_ack": False, "seq": 7})
    rows.append({"flags": 0, "size_bytes": 400, "is_ack": False, "seq": 6})
    assert see(rows) == Sizes(largest=500, bare=52, last=(7, 500), has_syn=True)


def seen(time_s, link, event, *, seq=0, is_ack=False, flags=0):
    return {
        "time_s": time_s, "link": link, "event": event, "flow": "f", "seq": seq,
        "is_ack": is_ack, "flags": flags | is_ack, "size_bytes": 125,
    }  # fmt: skip


def test_timestamps_follow_packets_over_two_links_and_echo_what_comes_in_order():
    ways = {
        "a->r": Way("a", "r", 1e6, 0.004), "r->b": Way("r", "b", 1e6, 0.004),
        "b->a": Way("b", "a", None, 0.0),
    }  # fmt: skip
    rows = [
        seen(0.0001, "a->r", "arrival", flags=SYN),
        seen(0.001, "a->r", "departure", flags=SYN),
        seen(0.007, "r->b", "arrival", flags=SYN),
        seen(0.0075, "r->b", "departure", flags=SYN),
        # At b at 12.5 ms; the answer at 13 is later, and of a way whose time is not known.
        seen(0.013, "b->a", "arrival", is_ack=True, flags=SYN),
        seen(0.0135, "b->a", "departure", is_ack=True, flags=SYN),
        seen(0.020, "a->r", "arrival", seq=1),
        # Marked on the way, it is the same packet.
        seen(0.0213, "a->r", "departure", seq=1, flags=CE),
    ]
    found = stamps(rows, ways, {"f": ("a", "b")})
    assert [(stamp.value, stamp.echo) for stamp in found] == [
        (1, 0), (1, 0), (1, 0), (1, 0), (13, 1), (13, 1), (20, 0), (20, 0),
    ]  # fmt: skip


def test_what_is_under_way_is_not_echoed_yet():
    # 125 B at 1 Mbit/s take 1 ms, and the way 4 ms: what leaves at 10 ms is there at 15.
    ways = {"a->b": Way("a", "b", 1e6, 0.004), "b->a": Way("b", "a", 1e9, 0.0)}
    for at, echo in ((0.0149, 0), (0.0151, 10)):
        rows = [
            seen(0.010, "a->b", "arrival"),
            seen(0.010, "a->b", "departure"),
            seen(at, "b->a", "arrival", is_ack=True),
        ]
        assert stamps(rows, ways, {"f": ("a", "b")})[2].echo == echo


def test_an_echo_is_of_the_segment_that_the_last_acknowledgement_left_open():
    # RFC 7323 section 4.3: beyond a gap no newer time is taken, and of a delayed one the first.
    ways = {"a->b": Way("a", "b", 1e9, 0.0), "b->a": Way("b", "a", 1e9, 0.0)}

    def sent(at, seq):
        return [seen(at, "a->b", event, seq=seq) for event in ("arrival", "departure")]

    def answered(at, seq):
        return [seen(at, "b->a", event, seq=seq, is_ack=True) for event in ("arrival", "departure")]

    rows = [
        *sent(0.010, 0), *sent(0.012, 1), *answered(0.020, 2), *sent(0.030, 3), *answered(0.031, 2),
        *sent(0.040, 2), *answered(0.041, 4), *sent(0.050, 4), *answered(0.051, 5),
    ]  # fmt: skip
    found = stamps(rows, ways, {"f": ("a", "b")})
    echoes = [s.echo for s, row in zip(found, rows, strict=True) if row["is_ack"]][::2]
    # The second segment has a newer time, but is beyond what had been acknowledged.
    assert echoes == [10, 10, 40, 50]
    heard = [s.echo for s, row in zip(found, rows, strict=True) if not row["is_ack"]][::2]
    assert heard == [0, 0, 20, 31, 41]


def test_a_qlog_numbers_transmissions_and_ranges_of_what_is_acknowledged():
    sender = qlog._Sender(Segment(1000, 40))

    def row(flags, seq, size=1040, **blocks):
        return {"flags": flags, "seq": seq, "size_bytes": size, "time_s": 1.0, **blocks}

    _, name, data = sender.send(row(SYN, 0, 60))
    assert (name, data["header"]) == (
        "transport:packet_sent", {"packet_type": "initial", "packet_number": 0},
    )  # fmt: skip
    assert (data["frames"], data["raw"]) == ([], {"length": 60, "payload_length": 0})
    for seq in range(4):
        _, _, data = sender.send(row(0, seq))
    assert data["header"] == {"packet_type": "1RTT", "packet_number": 4}
    assert data["frames"] == [
        {"frame_type": "stream", "stream_id": 0, "offset": 3000, "length": 1000}
    ]
    _, _, data = sender.send(row(FIN, 4, 240))
    assert data["frames"][0] == {
        "frame_type": "stream", "stream_id": 0, "offset": 4000, "length": 200, "fin": True,
    }  # fmt: skip
    assert data["raw"] == {"length": 240, "payload_length": 200}
    # The network loses the second; it is sent again under a new number.
    _, name, data = sender.lose(row(0, 1))
    assert (name, data["header"]["packet_number"]) == ("recovery:packet_lost", 2)
    assert sender.lose(row(0, 1)) is None
    assert sender.lose(row(0, 9)) is None
    at, name, data = sender.receive(row(ACK, 1, 60, sack1_start=2, sack1_end=4), 1.5)
    assert (at, name) == (1.5, "transport:packet_received")
    assert data["frames"] == [{"frame_type": "ack", "acked_ranges": [[1, 1], [3, 4]]}]
    assert data["header"]["packet_number"] == 0
    # The same again acknowledges nothing.
    _, _, data = sender.receive(row(ACK, 1, 60, sack1_start=2, sack1_end=4), 1.6)
    assert data["frames"] == [{"frame_type": "ack"}]
    assert data["header"]["packet_number"] == 1
    sender.send(row(0, 1))
    _, _, data = sender.receive(row(ACK, 5, 40), 1.7)
    assert data["frames"][0]["acked_ranges"] == [[5, 6]]
    assert data["raw"] == {"length": 40}
    assert sender.receive(row(SYN | ACK, 0, 40), 1.8)[2]["frames"] == []
    assert qlog._ranges([1, 2, 4, 5, 6, 9]) == [[1, 2], [4, 6], [9, 9]]
    # A packet shorter than headers has no payload, and a longer one no more than a segment.
    assert sender.send(row(0, 7, 20))[2]["raw"]["payload_length"] == 0
    assert sender.send(row(0, 8, 9000))[2]["raw"]["payload_length"] == 1000


def test_rows_are_split_by_name_in_their_order():
    table = pa.table(
        {
            "flow": pa.array(["b", "a", "b", "b"]).dictionary_encode(),
            "x": [1.0, 2.0, 3.0, 4.0],
            "state": ["p", "q", "r", "s"],
        }
    )
    found = rows_by(table, "flow")
    assert {name: set(columns) for name, columns in found.items()} == {
        "a": {"x", "state"},
        "b": {"x", "state"},
    }
    assert found["b"]["x"].tolist() == [1.0, 3.0, 4.0]
    assert found["b"]["state"].tolist() == ["p", "r", "s"]
    assert found["a"]["x"].tolist() == [2.0]


def test_a_file_appears_whole_and_what_is_missing_is_named(tmp_path):
    assert write_whole(tmp_path / "x", b"1") == tmp_path / "x"
    write_whole(tmp_path / "x", b"23")
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("x", b"23")]
    run = SimpleNamespace(tables={"b": 1})
    require_any(run, ("a", "b"))
    with pytest.raises(
        UnsupportedError, match=r'none of the tables "a", "c" was recorded; run with'
    ):
        require_any(run, ("a", "c"))
    with pytest.raises(ac.AckclockError, match=r'nothing is not installed; pip install "\.\[x\]"'):
        import_extra("nothing.of.it", "x")
    assert import_extra("json.decoder", "x").__name__ == "json.decoder"
    assert [name for name, form in FORMATS.items() if form.takes_link] == ["pcapng"]


@pytest.mark.parametrize("link", [None, "r1->r0"])
def test_the_command_line_records_one_link_and_writes_the_same_capture(link, tmp_path):
    text = TWO.replace(", timestamps = true", "").replace('record = { tables = ["packets"] }', "")
    scenario = ac.load(text)
    whole = scenario.run(record=["packets"]).to_pcapng(tmp_path / "whole", link=link)
    file = tmp_path / "two.toml"
    file.write_text(text)
    options = [] if link is None else ["--link", link]
    recorded = []
    with pytest.MonkeyPatch.context() as patch:
        simulate = ac.Scenario.run

        def run(scenario, **options):
            recorded.append(scenario.data.get("record", {}).get("links"))
            return simulate(scenario, **options)

        patch.setattr(ac.Scenario, "run", run)
        assert cli(["run", str(file), "--quiet", "--pcapng", str(tmp_path / "one"), *options]) == 0
    both = ["r0->r1", "r1->r0"] if link is None else ["r1->r0", "r0->r1"]
    assert recorded == [*([None] if link is None else []), both]
    assert (tmp_path / "one").read_bytes() == whole.read_bytes()
