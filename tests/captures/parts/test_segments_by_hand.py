"""A connection packet by packet: what each adds to events, series and counts, by hand."""

import math

import pytest

from ackclock.captures.read.packets import CapturedSegment
from ackclock.captures.read.tcp import Direction
from ackclock.captures.trace import KINDS

ACK, SYN, ECE, CWR = 16, 2, 64, 128


def segment(seq=0, ack=0, payload=0, **more):
    plain = {
        "time_ns": 0, "point": 0, "source": (b"", 0), "target": (b"", 0), "flags": ACK, "seq": seq,
        "ack": ack, "window": 100, "payload": payload, "size": payload + 40, "ecn": 0, "tsval": -1,
        "tsecr": -1, "sacks": (), "ident": 0, "options": b"",
    }  # fmt: skip
    return CapturedSegment(**{**plain, **more})


class Wire:
    """Packets of 100 bytes by number, over a stream whose first byte has a number."""

    def __init__(self, first=1):
        self.first, self.direction = first, Direction(first)

    def byte(self, number):
        return (self.first + round(100 * number)) % 2**32

    def send(self, time_s, number, payload=100, **more):
        self.direction.send(time_s, segment(self.byte(number), payload=payload, **more))
        return self

    def ack(self, time_s, number, sacks=(), **more):
        blocks = tuple((self.byte(low), self.byte(high)) for low, high in sacks)
        self.direction.acknowledge(time_s, segment(ack=self.byte(number), sacks=blocks, **more))
        return self

    def events(self, *kinds):
        """Times, kinds and packets of events, of all kinds or of some."""
        rows = [(t, KINDS[kind], a / 100, b / 100) for t, kind, a, b, _ in self.direction.rows]
        return [row for row in rows if not kinds or row[1] in kinds]

    def last(self):
        """The last sample: bytes delivered, arrived, outstanding, in flight; sent again."""
        return self.direction.samples[-1][1:]


@pytest.mark.parametrize("first", [1, 2**32 - 150, 2**31 - 50], ids=["one", "wraps", "half"])
def test_a_transfer_without_loss_is_counted_byte_by_byte(first):
    wire = Wire(first)
    for number in range(3):
        wire.send(number / 10, number)
    assert wire.last() == (0, 300, 300, 300, 0)
    wire.ack(1.0, 2)
    assert wire.last() == (200, 300, 100, 100, 0)
    wire.ack(1.5, 3).ack(1.6, 3)
    assert wire.last() == (300, 300, 0, 0, 0)
    assert wire.events() == [
        (0.0, "sent", 0, 1), (0.1, "sent", 1, 2), (0.2, "sent", 2, 3),
        (1.0, "acknowledged", 0, 2), (1.5, "acknowledged", 2, 3),
    ]  # fmt: skip
    # Round trips are of the packet that ends where the acknowledgement does.
    assert wire.direction.rtts == [(1.0, pytest.approx(0.9)), (1.5, pytest.approx(1.3))]
    assert wire.direction.least_rtt == pytest.approx(0.9)
    flow = wire.direction.trace("7", (0.01, None))
    assert (flow.name, flow.protocol, flow.position) == ("7", "tcp", "sender")
    # The way to the sender and back is added.
    assert flow.rtts["rtt_s"].tolist() == pytest.approx([0.91, 1.31])
    assert flow.rtts["time_s"].tolist() == [1.0, 1.5]
    assert flow.samples["delivered_bytes"].tolist() == [0, 0, 0, 200, 300, 300]
    assert flow.samples["flight_bytes"].tolist() == [100, 200, 300, 100, 0, 0]
    assert flow.facts == {
        "to_sender_s": 0.01, "to_receiver_s": pytest.approx(0.9), "acknowledgements": 3,
        "largest_payload_bytes": 100, "unseen_bytes": 0, "echoed_marks": 0, "window_reductions": 0,
        "has_timestamps": False, "stream_bytes": 300, "rtt_samples": 2, "has_handshake": False,
    }  # fmt: skip


def test_an_acknowledgement_within_a_packet_has_no_round_trip():
    wire = Wire().send(0.0, 0).send(0.1, 1).ack(1.0, 1.5)
    assert wire.direction.rtts == []
    assert wire.last() == (150, 200, 50, 50, 0)


def test_what_a_sack_reports_is_delivered_once_and_no_longer_in_flight():
    wire = Wire()
    for number in range(5):
        wire.send(number / 10, number)
    wire.ack(1.0, 0, [(1, 2)])
    assert wire.last() == (100, 500, 500, 400, 0)
    assert wire.direction.rtts == [(1.0, pytest.approx(0.9))]
    wire.ack(1.1, 0, [(3, 4), (1, 2)])
    assert wire.last() == (200, 500, 500, 300, 0)
    wire.ack(1.2, 0, [(3, 5), (1, 2)])
    assert wire.last() == (300, 500, 500, 200, 0)
    assert wire.events("acknowledged") == [
        (1.0, "acknowledged", 1, 2), (1.1, "acknowledged", 3, 4), (1.2, "acknowledged", 4, 5),
    ]  # fmt: skip
    assert [rtt for _, rtt in wire.direction.rtts] == pytest.approx([0.9, 0.8, 0.8])
    # The rest is sent again; its acknowledgement is of no known copy.
    wire.send(1.3, 0).ack(2.3, 2, [(3, 5)])
    assert len(wire.direction.rtts) == 3
    assert wire.last() == (400, 500, 300, 100, 1)


def test_blocks_beyond_what_was_sent_or_of_absurd_length_are_none():
    wire = Wire().send(0.0, 0).send(0.1, 1)
    wire.ack(1.0, 0, [(1, 3)]).ack(1.0, 0, [(2**30 // 100, 1)])
    assert wire.direction.delivered == 0
    # One byte more is that of a FIN.
    wire.ack(1.1, 0, [(1, 2.01)])
    assert wire.direction.delivered == 101


def test_a_loss_and_its_repair():
    wire = Wire()
    for number in range(3):
        wire.send(number / 10, number)
    wire.ack(1.0, 0, [(1, 3)]).send(1.1, 0).ack(2.1, 3)
    assert wire.events("retransmitted", "lost", "spurious") == [
        (1.1, "retransmitted", 0, 1), (1.1, "lost", 0, 1),
    ]  # fmt: skip
    assert wire.last() == (300, 300, 0, 0, 1)
    assert wire.direction.again == 1
    assert wire.direction.trace("1", (None, None)).samples["retransmitted_packets"][-1] == 1


@pytest.mark.parametrize(
    ("sacks", "is_spurious"),
    [
        ([(0, 1)], True),  # below what is acknowledged
        ([(0, 1), (0, 5)], True),  # inside of the second block
        ([(3, 4), (3, 5)], False),  # of another packet
        ([(4, 5), (3, 4)], False),  # no report of two copies
    ],
)
def test_a_d_sack_says_that_both_copies_arrived(sacks, is_spurious):
    wire = Wire()
    for number in range(6):
        wire.send(number / 100, number)
    wire.ack(0.5, 0, [(1, 2)]).send(1.0, 0).ack(1.6, 2, sacks)
    kinds = [kind for _, kind, _, _ in wire.events("lost", "spurious")]
    assert kinds == ["spurious" if is_spurious else "lost"]


def test_an_answer_sooner_than_the_least_round_trip_is_of_the_first_copy():
    for wait, kind in ((0.49, "spurious"), (0.5, "lost"), (0.6, "lost")):
        wire = Wire().send(0.0, 0).ack(0.5, 1).send(1.0, 1).send(1.7, 1).ack(1.7 + wait, 2)
        assert [row[1] for row in wire.events("lost", "spurious")] == [kind]


def test_an_echo_older_than_the_second_copy_is_of_the_first():
    for echo, kind in ((20, "spurious"), (29, "spurious"), (30, "lost"), (31, "lost")):
        wire = Wire().send(0.0, 0, tsval=10).ack(0.1, 1, tsecr=10).send(1.0, 1, tsval=20)
        wire.send(1.7, 1, tsval=30).ack(2.9, 2, tsecr=echo)
        assert [row[1] for row in wire.events("lost", "spurious")] == [kind]
    # Their numbers begin anew after the last.
    wire = Wire().send(0.0, 0, tsval=1).ack(0.1, 1, tsecr=1).send(1.0, 1, tsval=2**32 - 2)
    wire.send(1.7, 1, tsval=3).ack(2.9, 2, tsecr=2**32 - 2)
    assert [row[1] for row in wire.events("lost", "spurious")] == ["spurious"]


def test_data_sent_again_after_all_of_it_was_acknowledged_was_not_missing():
    """The last that was acknowledged too; one behind it may be missing."""
    for number, kind in ((0, "spurious"), (1, "spurious"), (2, "lost")):
        wire = Wire().send(0.0, 0).send(0.0, 1).send(0.0, 2).ack(0.5, 2).send(0.6, number)
        assert [row[1] for row in wire.events("lost", "spurious")] == [kind]


@pytest.mark.parametrize(
    ("left", "late", "kind"),
    [
        ({"tsval": 10}, {"tsval": 9}, "reordered"),
        ({"tsval": 10}, {"tsval": 10}, "reordered"),
        ({"tsval": 10}, {"tsval": 11}, "retransmitted"),
        ({"tsval": 2**32 - 1}, {"tsval": 0}, "retransmitted"),
        ({"ident": 10}, {"ident": 9}, "reordered"),
        ({"ident": 3}, {"ident": 65535}, "reordered"),
        ({"ident": 10}, {"ident": 11}, "retransmitted"),
        ({}, {}, "retransmitted"),
    ],
)
def test_what_fills_a_gap_is_of_the_first_or_of_a_second_copy(left, late, kind):
    wire = Wire().send(0.0, 0).ack(1.0, 1).send(2.0, 2, **left).send(2.6, 1, **late)
    assert wire.events()[-2 if kind == "retransmitted" else -1][1] == kind
    assert wire.last()[1] == 300


def test_without_marks_what_fills_a_gap_within_half_of_the_least_round_trip_is_reordered():
    for wait, kind in ((0.49, "reordered"), (0.51, "retransmitted")):
        wire = Wire().send(0.0, 0).ack(1.0, 1).send(2.0, 2).send(2.0 + wait, 1)
        assert kind in [row[1] for row in wire.events()]
    # As long as none is known it is 3 ms.
    for wait, kind in ((0.0014, "reordered"), (0.0016, "retransmitted")):
        wire = Wire().send(0.0, 0).send(0.1, 2).send(0.1 + wait, 1)
        assert kind in [row[1] for row in wire.events()]


def test_a_packet_is_judged_by_the_gap_that_it_is_in():
    wire = Wire().send(0.0, 0, tsval=1).send(0.1, 2, tsval=10).send(0.2, 4, tsval=20)
    wire.send(0.3, 1, tsval=11).send(0.4, 3, tsval=15)
    assert [row[1] for row in wire.events("reordered", "retransmitted")] == [
        "retransmitted", "reordered",
    ]  # fmt: skip


def test_a_copy_of_the_capture_is_no_packet_that_was_sent_again():
    wire = Wire().send(0.0, 0, ident=5, tsval=7)
    for more, kind in (
        ({"ident": 5, "tsval": 7}, "duplicated"),
        ({"ident": 6, "tsval": 7}, "retransmitted"),
        ({"ident": 6, "tsval": 8}, "retransmitted"),
    ):
        assert wire.send(0.1, 0, **more).events()[-2 if kind == "retransmitted" else -1][1] == kind
    assert wire.direction.again == 2
    # An identification of 0 is none.
    assert Wire().send(0.0, 0).send(0.1, 0).direction.again == 1


def test_marks_are_events_where_they_are_seen_and_echoed():
    wire = Wire().send(0.0, 0, ecn=3).send(0.1, 1, ecn=2, flags=ACK | CWR).ack(0.5, 1)
    wire.ack(0.6, 1, flags=ACK | ECE)
    assert wire.events("marked") == [(0.0, "marked", 0, 1), (0.6, "marked", 1, 1)]
    facts = wire.direction.trace("1", (None, None)).facts
    assert (facts["echoed_marks"], facts["window_reductions"]) == (1, 1)


def test_duplicate_acknowledgements_without_sack_report_a_packet_each():
    wire = Wire()
    for number in range(6):
        wire.send(number / 10, number)
    wire.ack(1.0, 1)
    flights = [wire.last()[3]]
    for time_s in (1.1, 1.2, 1.3):
        flights.append(wire.ack(time_s, 1).last()[3])
    assert flights == [500, 400, 300, 200]
    assert wire.last()[0] == 400
    # Data, or another window, is no duplicate.
    wire.ack(1.4, 1, window=101).ack(1.5, 1, window=101, payload=10)
    assert wire.last()[3] == 200
    # The repair takes all but one of the packets that it acknowledges.
    wire.send(1.6, 1).ack(2.6, 5)
    assert wire.last() == (500, 600, 100, 100, 1)
    # No more than lie behind the missing one.
    for time_s in (3.0, 3.1, 3.2):
        wire.ack(time_s, 5)
    assert wire.last()[:4] == (500, 600, 100, 100)


def test_duplicates_do_not_count_where_sacks_do():
    wire = Wire()
    for number in range(4):
        wire.send(number / 10, number)
    wire.ack(1.0, 1).ack(1.1, 1)
    assert wire.direction.duplicates == 100
    wire.ack(1.2, 1, [(2, 3)])
    assert wire.direction.duplicates == 0
    assert wire.last()[:4] == (200, 400, 300, 200)


def test_bytes_that_the_capture_lacks_are_counted_and_a_fin_is_none():
    wire = Wire().send(0.0, 0).ack(0.5, 1.01)
    assert (wire.direction.unseen, wire.last()[0]) == (0, 100)
    wire.ack(0.6, 3)
    assert wire.direction.unseen == 200
    assert wire.last() == (300, 100, 0, 0, 0)
    # Acknowledgements of nothing that could have been sent are passed over.
    wire.ack(0.7, 2**30 // 100 + 4)
    assert wire.last() == (300, 100, 0, 0, 0)
    # What was acknowledged before the first packet of a capture was before it.
    late = Wire().ack(0.1, 5).send(0.2, 5).ack(0.3, 6)
    assert late.direction.unseen == 0
    assert late.last()[1:] == (100, 0, 0, 0)


def test_what_came_before_the_first_packet_was_neither_seen_nor_lost():
    wire = Wire().send(0.0, 3).send(0.1, 2)
    assert [row[1] for row in wire.events()] == ["sent", "retransmitted", "lost"]
    assert wire.direction.arrived == 100


def test_probes_syns_and_empty_packets_are_no_data():
    wire = Wire().send(0.0, 0).send(0.1, 0.99, payload=1).send(0.2, 1, payload=0)
    wire.send(0.3, 1, flags=SYN)
    assert len(wire.events()) == 1
    # A byte of data that is new, or the stream's first, is.
    wire.send(0.4, 1, payload=1)
    assert wire.direction.arrived == 101
    assert Wire().send(0.0, 0, payload=1).send(0.1, 0, payload=1).direction.again == 1
    wire.direction.acknowledge(0.5, segment(ack=wire.byte(1), flags=0))
    wire.direction.acknowledge(0.5, segment(ack=wire.byte(1), flags=ACK | SYN))
    assert wire.direction.acks == 0


def test_near_the_receiver_round_trips_are_of_what_echoes_an_acknowledgement():
    wire = Wire().send(0.0, 0, tsval=1, tsecr=0)
    wire.ack(0.001, 1, tsval=50, tsecr=1).ack(0.002, 1, tsval=50, tsecr=1)
    wire.send(0.201, 1, tsval=2, tsecr=50).send(0.3, 2, tsval=2, tsecr=50)
    wire.ack(0.202, 2, tsval=51, tsecr=2)
    flow = wire.direction.trace("1", (0.25, 0.001))
    assert flow.position == "receiver"
    # Once an echo, from the first acknowledgement that has it; 1 ms to the receiver is added.
    assert flow.rtts["rtt_s"].tolist() == pytest.approx([0.201])
    assert flow.rtts["time_s"].tolist() == [0.201]
    # There what arrives is delivered.
    assert flow.samples["delivered_bytes"].tolist() == [100, 100, 100, 200, 300, 300]
    assert flow.facts["to_sender_s"] == pytest.approx(0.2)
    assert flow.facts["has_timestamps"] is True
    assert flow.doubts == []


def test_without_timestamps_a_capture_near_the_receiver_has_the_handshake_alone():
    wire = Wire().send(0.0, 0).ack(0.001, 1)
    wire.direction.handshake = (0.0, 0.4)
    flow = wire.direction.trace("1", (None, None), position="receiver")
    assert flow.rtts["rtt_s"].tolist() == [0.4]
    assert flow.doubts == [
        "without timestamps a capture near the receiver has no round trips of data"
    ]
    assert flow.facts["has_handshake"] is True


@pytest.mark.parametrize(
    ("halves", "position"),
    [
        ((0.09, 0.91), "sender"), ((0.11, 0.89), "between"), ((0.89, 0.11), "between"),
        ((0.91, 0.09), "receiver"), ((0.1, 0.9), "between"), ((None, 0.9), "unknown"),
        ((0.1, None), "unknown"), ((0.0, 0.0), "unknown"),
    ],
)  # fmt: skip
def test_a_capture_is_near_an_end_from_which_a_tenth_of_the_round_trip_passes(halves, position):
    assert Direction(1).trace("1", halves).position == position


def test_a_flow_without_acknowledgements_delivers_what_arrives():
    flow = Wire().send(0.0, 0).send(0.5, 1).direction.trace("1", (None, None))
    assert flow.samples["delivered_bytes"].tolist() == [100, 200]
    assert flow.position == "unknown"
    assert flow.facts["to_receiver_s"] is None
    assert all(math.isnan(value) for value in flow.samples["cwnd_bytes"])


def test_a_packet_that_follows_leaves_no_gap():
    # The second copy joins what was missing with what came after it.
    wire = Wire().send(0.0, 0, tsval=1).send(0.1, 2, tsval=10).send(0.2, 3, tsval=20)
    wire.send(0.3, 1, payload=250, tsval=15)
    assert "retransmitted" in [row[1] for row in wire.events()]
    assert wire.direction.again == 1
