"""Logs of QUIC event by event: what each adds to events, series and round trips, by hand."""

import json
import math
from pathlib import Path

import pytest

from ackclock.captures.read.qlog import is_qlog, number_of, trace_of_qlog
from ackclock.captures.trace import KINDS, CaptureError

FILE = Path("a.qlog")


def packet(number, length=None, kind=None):
    header = {"packet_number": number}
    if kind:
        header["packet_type"] = kind
    data = {"header": header}
    return data if length is None else {**data, "raw": {"length": length}}


def sent(time, number, length=1000, kind=None):
    return {"time": time, "name": "quic:packet_sent", "data": packet(number, length, kind)}


def lost(time, number, kind=None):
    return {"time": time, "name": "recovery:packet_lost", "data": packet(number, None, kind)}


def acked(time, *ranges, kind=None, **frame):
    frames = [{"frame_type": "padding"}, {"frame_type": "ack", "acked_ranges": ranges, **frame}]
    data = {**packet(9, 50, kind), "frames": frames}
    return {"time": time, "name": "transport:packet_received", "data": data}


def metrics(time, **data):
    return {"time": time, "name": "recovery:metrics_updated", "data": data}


def read(*events, **trace):
    document = {"qlog_version": "0.3", "traces": [{"events": list(events), **trace}]}
    return trace_of_qlog(json.dumps(document).encode(), FILE)


def events_of(flow):
    columns = [flow.events[name].tolist() for name in ("time_s", "event", "start", "size_bytes")]
    return [(t, KINDS[kind], n, size) for t, kind, n, size in zip(*columns, strict=True)]


def series(flow, *names):
    return [flow.samples[name].tolist() for name in names]


def test_packets_are_sent_acknowledged_and_lost_with_their_lengths():
    trace = read(
        sent(0, 0, 1000), sent(100, 1, 500), sent(200, 2, 300), acked(250, [0, 0]), lost(300, 1),
        acked(400, [2]),
    )  # fmt: skip
    assert (trace.form, trace.facts) == ("qlog", {"traces": 1})
    (flow,) = trace.flows
    assert (flow.name, flow.protocol, flow.position) == ("1", "quic", "sender")
    assert events_of(flow) == [
        (0.0, "sent", 0, 1000), (0.1, "sent", 1, 500), (0.2, "sent", 2, 300),
        (0.25, "acknowledged", 0, 1000), (0.3, "lost", 1, 500), (0.4, "acknowledged", 2, 300),
    ]  # fmt: skip
    assert flow.events["end"].tolist() == [1, 2, 3, 1, 2, 3]
    assert series(flow, "delivered_bytes", "outstanding_bytes", "flight_bytes",
                  "retransmitted_packets") == [
        [0, 0, 0, 1000, 1000, 1300], [1000, 1500, 1800, 800, 300, 0],
        [1000, 1500, 1800, 800, 300, 0], [0, 0, 0, 0, 1, 1],
    ]  # fmt: skip
    assert flow.rtts["time_s"].tolist() == [0.25, 0.4]
    assert flow.rtts["rtt_s"].tolist() == pytest.approx([0.25, 0.2])
    assert flow.facts == {
        "stream_bytes": 1800, "rtt_samples": 2, "mss": None, "numbers_are_packets": True,
        "largest_payload_bytes": 1000,
    }  # fmt: skip
    assert flow.doubts == [
        "bytes of QUIC are those of packets, as the log does not have them of streams"
    ]


def test_a_round_trip_is_of_the_largest_number_that_is_new():
    (flow,) = read(
        *(sent(100 * i, i) for i in range(5)),
        acked(1000, [2, 3], [0, 0]), acked(1100, [0, 3]), acked(1200, [0, 4]),
    ).flows  # fmt: skip
    assert flow.rtts["rtt_s"].tolist() == pytest.approx([0.7, 0.8])
    # What is acknowledged late, of a lower number, is no sample (RFC 9002, section 5.1).
    assert [number for _, kind, number, _ in events_of(flow) if kind == "acknowledged"] == [
        2, 3, 0, 1, 4,
    ]  # fmt: skip


def test_a_range_may_be_of_one_number_and_what_is_none_is_passed_over():
    (flow,) = read(
        sent(0, 0), sent(0, 1), sent(0, 2), acked(100, [1], [], ["x"], 3, [2, None])
    ).flows
    assert [number for _, kind, number, _ in events_of(flow) if kind == "acknowledged"] == [1]


def test_numbers_are_of_spaces_and_grow_in_each():
    (flow,) = read(
        sent(0, 5, 100, "initial"), sent(10, 5, 200, "handshake"), sent(20, 5, 300, "1RTT"),
        sent(30, 5, 400), sent(40, 4, 400), sent(50, 6, 500, "0RTT"),
        acked(60, [5], kind="handshake"), acked(70, [5], kind="Initial"), acked(80, [5, 6]),
    ).flows  # fmt: skip
    assert [row for row in events_of(flow) if row[1] == "sent"] == [
        (0.0, "sent", 5, 100), (0.01, "sent", 5, 200), (0.02, "sent", 5, 300),
        (0.05, "sent", 6, 500),
    ]  # fmt: skip
    assert [size for _, kind, _, size in events_of(flow) if kind == "acknowledged"] == [
        200, 100, 300, 500,
    ]  # fmt: skip
    assert flow.rtts["rtt_s"].tolist() == pytest.approx([0.05, 0.07, 0.03])


def test_a_loss_of_a_packet_that_was_acknowledged_or_not_seen_takes_nothing_from_the_flight():
    (flow,) = read(sent(0, 0), sent(0, 1), acked(10, [0]), lost(20, 0), lost(30, 7)).flows
    assert series(flow, "flight_bytes", "retransmitted_packets") == [
        [1000, 2000, 1000, 1000, 1000], [0, 0, 0, 1, 2],
    ]  # fmt: skip
    assert events_of(flow)[-2:] == [(0.02, "lost", 0, 0), (0.03, "lost", 7, 0)]


def test_marks_are_noted_whenever_their_count_has_grown():
    (flow,) = read(
        sent(0, 0), acked(10, [0], ce=1), acked(20, ce=1), acked(30, ce=3), acked(40, ce=2)
    ).flows
    assert [(t, kind) for t, kind, _, _ in events_of(flow) if kind == "marked"] == [
        (0.01, "marked"), (0.03, "marked"),
    ]  # fmt: skip


def test_metrics_are_in_seconds_and_their_round_trips_come_before_computed_ones():
    (flow,) = read(
        sent(0, 0), metrics(10, congestion_window=12000, smoothed_rtt=40.5, min_rtt=20),
        acked(20, [0]), metrics(30, cwnd=13000, latest_rtt=35, bytes_in_flight=7),
    ).flows  # fmt: skip
    assert [v for v in flow.samples["cwnd_bytes"] if not math.isnan(v)] == [12000, 13000]
    assert flow.samples["srtt_s"][1] == 0.0405
    assert flow.samples["min_rtt_s"][1] == 0.02
    assert math.isnan(flow.samples["srtt_s"][3])
    # What the log has of packets counts, not its own number.
    assert flow.samples["flight_bytes"].tolist() == [1000, 1000, 0, 0]
    assert flow.rtts["rtt_s"].tolist() == [0.035]
    assert flow.facts["rtt_samples"] == 1


def test_without_packets_the_logs_own_flight_is_all_that_there_is():
    (flow,) = read(metrics(10, bytes_in_flight=7000, congestion_window=9000), metrics(20)).flows
    assert series(flow, "outstanding_bytes", "flight_bytes")[0][0] == 7000
    assert math.isnan(flow.samples["delivered_bytes"][0])
    assert math.isnan(flow.samples["flight_bytes"][1])
    assert flow.doubts[0] == "no acknowledgement of a logged packet: no round trips of packets"
    assert "largest_payload_bytes" not in flow.facts


def test_packets_without_lengths_are_counted_and_said():
    (flow,) = read(
        {"time": 0, "name": "packet_sent", "data": packet(0)},
        {"time": 5, "name": "packet_sent", "data": {"packet_number": 1, "packet_size": 70}},
        {"time": 9, "name": "packet_sent", "data": {"header": {"packet_number": 2,
                                                               "packet_size": 80}}},
    ).flows  # fmt: skip
    assert [size for *_, size in events_of(flow)] == [0, 70, 80]
    (flow,) = read({"time": 0, "name": "packet_sent", "data": packet(0, -5)}).flows
    assert "packets have no lengths: no rates and no flight" in flow.doubts


@pytest.mark.parametrize(
    ("trace", "times"),
    [
        ({}, [0.2, 0.5]),
        ({"configuration": {"time_units": "us"}}, [0.0002, 0.0005]),
        ({"configuration": {"time_units": "ms"}}, [0.2, 0.5]),
        ({"common_fields": {"time_format": "delta"}}, [0.2, 0.7]),
        ({"common_fields": {"time_format": "relative_to_previous_event"}}, [0.2, 0.7]),
        ({"common_fields": {"time_format": "relative"}}, [0.2, 0.5]),
        ({"common_fields": 3, "configuration": []}, [0.2, 0.5]),
    ],
    ids=str,
)
def test_times_are_of_the_unit_and_from_where_the_file_says(trace, times):
    (flow,) = read(sent(200, 0), sent(500, 1), **trace).flows
    assert flow.events["time_s"].tolist() == pytest.approx(times)


def test_absolute_times_are_counted_from_the_first_event():
    (flow,) = read(sent(1.7e12, 0), sent(1.7e12 + 250, 1)).flows
    assert flow.events["time_s"].tolist() == pytest.approx([0.0, 0.25])


def test_events_of_draft_01_are_lists_in_the_order_of_their_fields():
    document = {
        "qlog_version": "draft-01",
        "traces": [
            {
                "event_fields": ["relative_time", "CATEGORY", "event", "data"],
                "events": [
                    [5, "transport", "PACKET_SENT", packet(0, 10)],
                    [7, "transport", "packet_sent", packet(1, 20)],
                    [8, "transport"], 9, "x",
                ],
            }
        ],
    }  # fmt: skip
    (flow,) = trace_of_qlog(json.dumps(document).encode(), FILE).flows
    assert events_of(flow) == [(0.007, "sent", 1, 20)]


def test_a_sequence_is_read_line_by_line_and_what_is_no_json_is_counted():
    lines = [
        json.dumps({"qlog_version": "0.3", "trace": {"configuration": {"time_units": "us"}}}),
        json.dumps(sent(5000, 0)), "{broken", "[1]", json.dumps(sent(7000, 1)), "{also",
    ]  # fmt: skip
    for separator in ("\x1e", "", "\n"):
        data = "".join(f"{separator}{line}\n" for line in lines).encode()
        trace = trace_of_qlog(data, FILE)
        assert trace.flows[0].events["time_s"].tolist() == pytest.approx([0.005, 0.007])
        assert trace.doubts == ["2 lines are not JSON, or too deep, and were left out"]
        assert trace.facts == {"traces": 1}


def test_flows_are_numbered_and_traces_without_any_are_passed_over():
    of_tcp = {"events": [sent(0, 0)], "common_fields": {"protocol_type": ["TCP"]}}
    document = {
        "traces": [{"events": [sent(0, 0)]}, {"events": []}, 3, {}, {"events": "x"}, of_tcp]
    }
    trace = trace_of_qlog(json.dumps(document).encode(), FILE)
    assert [(flow.name, flow.protocol) for flow in trace.flows] == [("1", "quic"), ("2", "tcp")]
    assert trace.facts == {"traces": 6}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b'{"qlog_version": "0.3"}', 'a.qlog: the qlog has no list "traces"'),
        (b"[]", 'a.qlog: the qlog has no list "traces"'),
        (b'{"traces": []}', "a.qlog: the qlog has no packets and no metrics"),
        (b'{"traces": [{"events": [{"time": 1, "name": "x:other", "data": {}}]}]}',
         "a.qlog: the qlog has no packets and no metrics"),
    ],
)  # fmt: skip
def test_a_file_without_packets_is_refused_in_a_sentence(data, message):
    with pytest.raises(CaptureError) as caught:
        trace_of_qlog(data, FILE)
    assert str(caught.value) == message
    with pytest.raises(CaptureError, match=r"^a\.qlog: "):
        trace_of_qlog(b'{"traces": ', FILE)


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        (b'{"qlog_version": 1', True), (b'  \n{"qlog_format"', True), (b'\x1e{"qlog', True),
        (b'{"file_schema": "urn:ietf"', True), (b'{"trace', False), (b'["qlog"]', False),
        (b"qlog", False), (b"{" + b" " * 4096 + b"qlog", False),
    ],
)  # fmt: skip
def test_a_qlog_is_recognised_by_its_head(head, expected):
    assert is_qlog(head) is expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(3, 3.0), (2.5, 2.5), ("12", 12.0), ("1e3", 1000.0), (-4, -4.0), (9e17, 9e17)],
)
def test_numbers_may_be_text(value, expected):
    assert number_of(value) == expected


@pytest.mark.parametrize("value", [True, None, "x", "", 1e18, "1e18", math.inf, math.nan, [3]])
def test_what_is_no_finite_number_of_some_size_is_not_known(value):
    assert math.isnan(number_of(value))
