"""Captures whose every packet is known."""

from __future__ import annotations

import pytest
from build_capture import ACK, ECE, SYN, A, B, handshake, options, pcap, tcp

from ackclock.captures.read.reading import read
from ackclock.captures.trace import CaptureError


@pytest.fixture
def flow(tmp_path):
    def read_first(packets, **arguments):
        path = tmp_path / "x.pcap"
        path.write_bytes(pcap(packets, **arguments))
        reading = read(path)
        return reading.trace.flows[0], reading.flows[0]

    return read_first


def data(time_s, number, first=0, **more):
    """Segment `number` of 1000 bytes from A."""
    return time_s, tcp(A, B, seq=first + 1 + 1000 * number, ack=1, payload=1000, **more)


def ack(time_s, number, first=0, **more):
    """B has all below segment `number`."""
    return time_s, tcp(B, A, seq=1, ack=first + 1 + 1000 * number, **more)


def block(low, high, first=0):
    return first + 1 + 1000 * low, first + 1 + 1000 * high


@pytest.mark.parametrize("first", [0, 2**32 - 1500], ids=["zero", "wraps"])
def test_bytes_round_trips_and_flight_of_a_transfer_without_loss(flow, first):
    packets = handshake(first)
    packets += [data(0.1 + 0.001 * i, i, first) for i in range(4)]
    packets += [ack(0.122, 2, first), ack(0.124, 4, first)]
    trace, figures = flow(packets)
    assert figures["delivered_bytes"] == 4000
    assert figures["sent_packets"] == 4
    assert figures["retransmitted_packets"] == figures["lost_packets"] == 0
    assert trace.position == "sender"
    # The handshake takes 21 ms; packets 1 and 3 are acknowledged after 21 ms, and 1 ms is before A.
    assert trace.rtts["rtt_s"].tolist() == pytest.approx([0.021, 0.022, 0.022])
    assert figures["flight_max_bytes"] == 4000


def test_a_packet_sent_again_is_lost_unless_a_d_sack_shows_both_copies(flow):
    head = [*handshake(), *[data(0.1, i) for i in range(3)]]
    lost = [*head, ack(0.12, 0, opts=options(sacks=[block(1, 3)])), data(0.121, 0), ack(0.142, 3)]
    _, figures = flow(lost)
    assert (figures["retransmitted_packets"], figures["lost_packets"]) == (1, 1)
    late = [
        *head, data(0.4, 0), ack(0.401, 1), ack(0.42, 3, opts=options(sacks=[block(0, 1)])),
    ]  # fmt: skip
    _, figures = flow(late)
    assert (figures["retransmitted_packets"], figures["lost_packets"]) == (1, 0)
    assert figures["spurious_retransmissions"] == 1


def test_an_answer_sooner_than_a_round_trip_is_of_the_first_copy(flow):
    packets = [*handshake(), data(0.1, 0), ack(0.12, 1), data(0.2, 1), data(0.4, 1), ack(0.405, 2)]
    _, figures = flow(packets)
    assert (figures["lost_packets"], figures["spurious_retransmissions"]) == (0, 1)


@pytest.mark.parametrize(
    ("late", "kind"),
    [
        ({"opts": options(timestamps=(100, 1))}, "reordered"),
        ({"opts": options(timestamps=(150, 1))}, "retransmitted"),
    ],
    ids=["older timestamp", "newer timestamp"],
)
def test_what_fills_a_gap_is_classified_by_timestamps(flow, late, kind):
    stamp = {"opts": options(timestamps=(101, 1))}
    packets = [*handshake(), data(0.1, 0, **stamp), data(0.102, 2, **stamp), data(0.103, 1, **late)]
    trace, figures = flow(packets)
    assert trace.count(kind) == 1
    assert figures["reordered_packets"] + figures["retransmitted_packets"] == 1


def test_timestamps_of_zero_are_none(flow):
    stamp = {"opts": options(timestamps=(0, 0))}
    head = [*handshake(), data(0.1, 0, ident=7, **stamp), data(0.13, 2, ident=9, **stamp)]
    assert flow([*head, data(0.17, 1, ident=10, **stamp)])[0].count("retransmitted") == 1


def test_what_fills_a_gap_is_classified_by_identification(flow):
    early = [*handshake(), data(0.1, 0, ident=7), data(0.13, 2, ident=9), data(0.17, 1, ident=8)]
    assert flow(early)[0].count("reordered") == 1
    again = [*early[:-1], data(0.17, 1, ident=10)]
    assert flow(again)[0].count("retransmitted") == 1


def test_without_either_what_comes_within_half_a_round_trip_is_reordered(flow):
    head = [*handshake(), data(0.1, 0), ack(0.12, 1), data(0.13, 2)]
    assert flow([*head, data(0.135, 1)])[0].count("reordered") == 1
    assert flow([*head, data(0.151, 1)])[0].count("retransmitted") == 1


def test_a_packet_seen_twice_is_no_retransmission(flow):
    trace, figures = flow(
        [*handshake(), data(0.1, 0, ident=5), data(0.1, 0, ident=5), ack(0.12, 1)]
    )
    assert trace.count("duplicated") == 1
    assert figures["retransmitted_packets"] == 0


def test_marks_are_counted_where_they_are_seen_and_where_they_are_echoed(flow):
    packets = [*handshake(), data(0.1, 0, ecn=3), ack(0.12, 1, flags=ACK | ECE)]
    assert flow(packets)[1]["marked_packets"] == 2


def test_a_probe_that_keeps_the_connection_alive_is_no_data(flow):
    probe = (5.0, tcp(A, B, seq=1000, ack=1, payload=1))
    assert flow([*handshake(), data(0.1, 0), ack(0.12, 1), probe])[1]["sent_packets"] == 1


@pytest.mark.parametrize(
    ("link_type", "before"),
    [
        (1, b"\0" * 12 + b"\x08\x00"),
        (1, b"\0" * 12 + b"\x81\x00\x00\x05\x08\x00"),
        (113, b"\0" * 14 + b"\x08\x00"),
        (276, b"\x08\x00" + b"\0" * 18),
        (0, b"\x02\0\0\0"),
    ],
    ids=["ethernet", "VLAN", "cooked", "cooked 2", "loopback"],
)
def test_headers_of_links_are_left_out(flow, link_type, before):
    packets = [*handshake(), data(0.1, 0), ack(0.12, 1)]
    _, figures = flow(packets, link_type=link_type, before=before, snap=100)
    assert figures["delivered_bytes"] == 1000


def test_what_a_capture_cannot_show_is_stated(flow):
    data_alone = [packet for packet in [*handshake(), data(0.1, 0)] if packet[1][12:16] == A]
    assert "no acknowledgements" in flow(data_alone)[1]["doubts"][0]
    unknown = [data(0.1, 0), ack(0.12, 1)]
    assert "neither a handshake nor timestamps" in flow(unknown)[1]["doubts"][0]
    at_receiver = [*handshake(rtt=0.001, near=0.02), data(0.1, 0), ack(0.1001, 1)]
    trace, figures = flow(at_receiver)
    assert trace.position == "receiver"
    assert "near the receiver" in figures["doubts"][0]
    large = [*handshake(), (0.1, tcp(A, B, seq=1, ack=1, payload=5000))]
    assert any("larger than a segment" in doubt for doubt in flow(large)[1]["doubts"])
    missing = [*handshake(), data(0.1, 0), ack(0.12, 3)]
    assert any("2,000 bytes were acknowledged" in doubt for doubt in flow(missing)[1]["doubts"])


def test_addresses_are_printed_on_request_alone(tmp_path):
    path = tmp_path / "x.pcap"
    path.write_bytes(pcap([*handshake(), data(0.1, 0), ack(0.12, 1)]))
    hidden = read(path)
    text = str(hidden) + repr(hidden.to_dict())
    assert "10.0.0" not in text
    assert "2000" not in text
    assert "10.0.0.1 port 1000 -> 10.0.0.2 port 2000" in str(read(path, keep_addresses=True))


def test_a_new_syn_of_the_same_ports_is_another_connection(tmp_path):
    path = tmp_path / "x.pcap"
    packets = [*handshake(), data(0.1, 0), ack(0.12, 1)]
    later = [(time + 1, packet) for time, packet in [*handshake(7000), data(0.1, 0, 7000)]]
    path.write_bytes(pcap(packets + later))
    assert [flow["sent_packets"] for flow in read(path).flows] == [1, 1]
    assert SYN == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "its format is not known"),
        (b"hello", "its format is not known"),
        (b"{}", "JSON of no known kind"),
        (b"[" * 100_000, "not JSON|nested"),
        (b"\xd4\xc3\xb2\xa1", "within the first header"),
        (b"\x0a\x0d\x0d\x0a" + b"\0" * 40, "byte order"),
        (b"\x1f\x8bxxxx", "cannot be unpacked"),
    ],
    ids=["empty", "text", "JSON", "deep", "cut", "pcapng", "gzip"],
)
def test_what_is_no_capture_is_refused_in_a_sentence(tmp_path, content, message):
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(CaptureError, match=message):
        read(path)


@pytest.mark.parametrize(("link_type", "before"), [(101, b""), (1, b"\0" * 12 + b"\x08\x00")])
def test_a_packet_whose_length_is_left_to_the_device_is_as_long_as_its_frame(
    flow, link_type, before
):
    """Segments that the device will cut have a length of 0 in the header of IP."""
    time_s, whole = data(0.1, 0)
    cut = time_s, whole[:2] + b"\0\0" + whole[4:]
    trace, figures = flow([*handshake(), cut, ack(0.12, 1)], link_type=link_type, before=before)
    assert figures["delivered_bytes"] == 1000
    assert trace.select("sent")["size_bytes"].tolist() == [1040]
